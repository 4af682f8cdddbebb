"""Launches that end for what is outside the agent are never counted as launches without progress."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import Process, World

MORE_THAN_ANY_GUARD_COUNTS = 7
A_DAY = 86_400


pytestmark = pytest.mark.crew(workers=1)


@pytest.mark.parametrize(
    "end",
    [
        pytest.param({"exit_code": 130, "error": "coordinator_stopped"}, id="the Coordinator leaves"),
        pytest.param({"exit_code": 1, "error": "quota", "quota_reset_seconds": 1800}, id="a quota is used up"),
        pytest.param({"exit_code": 1, "error": "rate_limited", "quota_reset_seconds": 60}, id="a rate limit"),
        pytest.param({"exit_code": 69, "error": "could_not_connect"}, id="the server was away"),
    ],
)
def test_work_that_is_interrupted_from_outside_again_and_again_goes_on(crew: World, end: dict[str, Any]) -> None:
    task = crew.task("w1")
    for _ in range(MORE_THAN_ANY_GUARD_COUNTS):
        crew.coordinator().exited(crew.start("w1").launch_id, **end)
        crew.advance(A_DAY)
    assert crew.status(task) == "in_progress"
    assert crew.why("w1") == "start has_in_progress_task"


@pytest.mark.parametrize("heeds", [True, False], ids=["the agent leaves", "the agent is stopped"])
def test_a_project_that_is_paused_again_and_again_goes_on(crew: World, heeds: bool) -> None:
    task = crew.task("w1")
    for _ in range(MORE_THAN_ANY_GUARD_COUNTS):
        process = crew.start("w1")
        crew.owner.call("pause_project", project_id=crew.project_id)
        _leave(crew, process) if heeds else _be_stopped(crew, process)
        crew.owner.call("resume_project", project_id=crew.project_id)
    assert crew.status(task) == "in_progress"
    assert crew.why("w1") == "start has_in_progress_task"


def test_an_agent_that_crashes_again_and_again_is_counted(crew: World) -> None:
    task = crew.task("w1")
    for _ in range(5):
        crew.coordinator().exited(crew.start("w1").launch_id, exit_code=1, error="crashed")
        crew.advance(A_DAY)
    assert crew.coordinator().starts() == []
    assert crew.status(task) == "blocked"


def _leave(crew: World, process: Process) -> None:
    process.call("get_notifications")
    assert process.action() == "exit"
    crew.coordinator().exited(process.launch_id, exit_code=0)


def _be_stopped(crew: World, process: Process) -> None:
    crew.advance(301)
    (stop,) = crew.coordinator().claim(running=[process.launch_id])["stop"]
    assert stop["reason"] == "project_paused"
    crew.coordinator().exited(process.launch_id, signal=15, error="stopped")

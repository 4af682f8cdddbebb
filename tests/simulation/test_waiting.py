"""What tasks wait for: an interval is split where a cause ends by itself, and every open task counts once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.simulation.conftest import Play, team
from toryo.simulation.waiting import WAITS, Waiting

TASKS: dict[str, dict[str, Any]] = {
    "wall": {"assignee_id": "mason", "project_id": "house", "dependencies": []},
    "roof": {"assignee_id": "mason", "project_id": "house", "dependencies": ["wall"]},
}


def at(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def event(seconds: float, kind: str, task_id: str | None = None, /, launch_id: str | None = None, **data: Any) -> Any:
    who = {"agent_id": "mason", "task_id": task_id, "launch_id": launch_id, "project_id": "house"}
    return {"at": at(seconds), "kind": kind, "data": data, **who}


def waited(*events: Any, until: float, slots: int = 3, started: frozenset[str] = frozenset({"mason"})) -> Any:
    waiting = Waiting(0.0, slots, TASKS, started)
    for each in events:
        waiting.take(each)
    waiting.until(until)
    return {cause: seconds for cause, seconds in waiting.seconds.items() if seconds}


def test_the_time_until_a_cooldown_ends_and_the_time_after_it_have_different_causes() -> None:
    found = waited(
        event(0, "task.created", "wall", status="in_progress"),
        event(0, "agent.cooling_down", until=at(60)),
        event(70, "launch.ordered", launch_id="l1", purpose="task", task_id="wall"),
        event(75, "session.started", launch_id="l1"),
        until=100,
    )

    assert found == {"cooldown": 60, "starting": 15}


def test_a_budget_that_is_used_up_is_waited_for_until_the_utc_day_ends() -> None:
    found = waited(
        event(0, "task.created", "wall", status="in_progress"), event(400, "project.budget_used_up"), until=86_400 + 100
    )

    assert found == {"starting": 500, "budget": 86_000}


def test_a_task_waits_for_others_until_the_last_of_them_is_completed() -> None:
    found = waited(
        event(0, "task.created", "wall", status="todo"),
        event(0, "task.created", "roof", status="todo"),
        event(10, "task.completed", "wall", to="completed"),
        event(40, "task.cancelled", "roof", to="cancelled"),
        until=100,
    )

    assert found == {"not_started": 10 + 30, "dependencies": 10}


def test_what_is_ready_waits_for_its_agent_while_that_works_on_another_task() -> None:
    found = waited(
        event(0, "task.created", "wall", status="in_progress"),
        event(0, "task.created", "roof", status="in_progress"),
        event(0, "launch.ordered", launch_id="l1", purpose="task", task_id="wall"),
        event(5, "session.started", launch_id="l1"),
        event(20, "launch.process_ended", launch_id="l1"),
        until=20,
    )

    assert found == {"starting": 10, "assignee_busy": 15}


def test_nobody_is_started_for_an_agent_without_a_program_and_no_slot_is_free_while_all_are_taken() -> None:
    created = event(0, "task.created", "wall", status="in_progress")

    assert waited(created, until=10, started=frozenset()) == {"no_program": 10}
    assert waited(created, until=10, slots=0) == {"no_slot": 10}


def test_a_crashing_worker_is_waited_for_in_cooldown_and_hardly_while_it_is_started(play: Play) -> None:
    _, found = play(team(1, tasks=1, agents={"w1": {"behaviour": "crashing", "share": 1.0}}, hours=8))

    waits = found.document["waiting_minutes"]
    assert waits["cooldown"] > 5 * waits["starting"] > 0


@pytest.mark.deep
def test_tasks_for_which_their_agent_has_no_room_wait_for_that(play: Play) -> None:
    arrivals = [{"title": "T {n}", "project": "house", "assignee": "w1", "count": 3}]
    _, found = play(team(1, tasks=0, arrivals=arrivals))

    work = 10 * 3  # the second waits for one task, the third for two
    assert found.document["waiting_minutes"]["no_room"] == pytest.approx(work, rel=0.2)
    assert set(found.document["waiting_minutes"]) <= set(WAITS)

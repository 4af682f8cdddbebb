"""kill -9 of a Coordinator, and of a server, at every step of a launch's start and end: whatever the step, the launch
has one process at most, its task is completed once, its end is told, and nobody is started for nothing.

The steps are those that a first telling of the story has passed (`failpoints.py`). A run takes a few of them by chance
(`TORYO_TEST_SEED`), for tests/coordinator and tests/operations kill at each. `TORYO_TEST_LAUNCH_KILLS_EVERY` says how
many: one of so many; with 1 all, for those who have time.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reliability.counting import injected
from tests.repositories import Repository
from tests.scenarios.conftest import Build
from tests.scenarios.failpoints import Failpoints
from tests.scenarios.programs import Program
from tests.scenarios.sites import Gate, Site
from tests.scenarios.stories import NO_BLAME, rules_broken
from toryo.client import Unreachable

EVERY = int(os.environ.get("TORYO_TEST_LAUNCH_KILLS_EVERY", "18"))
SEED = int(os.environ.get("TORYO_TEST_SEED", "17"))
STARTED = "process started"

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800, method="signal")]


class Story:
    """One launch after the other: a task is filed, done in a worktree of its own, and all is well."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.told = 0
        repository = Repository(site.directory / "repository")
        repository.commit("first", readme="hello\n")
        body = {"id": "house", "name": "house", "working_directory": str(repository.path)}
        site.people.rest("POST", "/projects", {**body, "settings": {"isolation": "worktree"}})
        site.hire("ann", "house")

    def begin(self, gate: Gate | None = None, again: Callable[[], object] | None = None) -> tuple[str, bool]:
        """The task; its command waits at the gate. And whether the server was killed meanwhile, by a late call of the
        launch before: then it is started `again`, and the task filed if it is not there."""
        self.told += 1
        bell = self.site.bell(f"bell-{self.told}")
        words = f"echo begun > {bell}; {gate or 'true'}; echo {self.told} > file-{self.told}"
        self.bell = bell
        title, context = f"Part {self.told}", {"command": words}
        how = {"assignee_id": "ann", "status": "in_progress", "context": context}
        try:
            return self.site.file("house", title, **how), False
        except Unreachable:
            if again is None:
                raise
            again()
            there = self.site.tasks("house").get(title)
            return there["task_id"] if there else self.site.file("house", title, **how), True

    def gate(self) -> Gate:
        return self.site.gate(f"gate-{self.told + 1}")

    def ends(self, task: str, step: str) -> None:
        """By itself: completed in one start, the end of its process is told, and the Coordinator is through with it:
        what is left to do would be taken for steps of the next launch."""
        self.site.until_status(task, "completed")
        self.site.until_idle()
        self.site.until("no record of a launch is left", lambda: not self._records())
        starts = self.site.history.starts(task_id=task)
        assert len(starts) == 1, (step, starts)
        launches = self.site.launches(agent_id="ann")
        assert {each["launch_id"] for each in launches if each["state"] in ("ordered", "signed_in")} == set(), step

    def _records(self) -> list[Path]:
        return list(self.site.data.glob("coordinators/*.launches/*.json"))

    def all_is_well(self) -> None:
        history = self.site.history
        history.read()
        assert len(history.of("launch.ordered")) == self.told, "nobody is started for nothing"
        assert history.double_launches() == []
        assert history.completed_twice() == []
        assert history.idle_starts() == []
        assert history.lost() == []
        assert rules_broken(self.site.database) == []


def of_these(steps: list[str]) -> list[str]:
    """Output is sent in two pieces at least; in how many more is left to chance."""
    known = [step for step in steps if not re.match(r"append_log .* ([3-9]|\d\d)$", step)]
    wanted = {*random.Random(SEED).sample(known, -(-len(known) // EVERY))}
    return [step for step in known if step in wanted]


@pytest.mark.parametrize("when", ["start", "end"])
def test_a_coordinator_that_is_killed_at_any_step_of_a_launch_leaves_nothing_undone_and_nothing_done_twice(
    when: str, build: Build
) -> None:
    site = build(**NO_BLAME)
    failing = Failpoints(site.directory / "failpoints")
    story = Story(site)
    coordinator = site.coordinator(command=failing.command)

    steps, begun = _steps(story, failing)
    assert STARTED in steps[:begun]
    for step in of_these(steps[:begun] if when == "start" else steps[begun:]):
        _told_with_a_kill(story, failing, coordinator, step, when, lambda: coordinator.start().says("connected to"))
        injected(f"Coordinator killed at a step of a launch's {when}")

    story.all_is_well()
    assert failing.started_beside_another == []


def test_agents_that_end_while_no_coordinator_runs_are_told_of_by_the_next_one_wherever_it_was_killed(
    build: Build,
) -> None:
    """From the moment a process was started: its end may come before anything about it was written down."""
    site = build(**NO_BLAME)
    failing = Failpoints(site.directory / "failpoints")
    story = Story(site)
    coordinator = site.coordinator(command=failing.command)

    steps, begun = _steps(story, failing)
    for step in of_these(steps[steps.index(STARTED) : begun]):
        failing.arm(step)
        task, _ = story.begin()
        _killed(coordinator, step)
        injected("Coordinator killed at a step of a launch's start")
        site.until_status(task, "completed")
        site.until("the process has ended", lambda: not site.agents())
        coordinator.start().says("connected to")
        story.ends(task, step)

    story.all_is_well()
    assert failing.started_beside_another == []


def test_a_server_that_is_killed_in_any_call_of_a_launch_leaves_nothing_undone_and_nothing_done_twice(
    database: str | None, build: Build, tmp_path: Path
) -> None:
    """Between receiving and commit, and between commit and answer, of each call of a Coordinator and of the agent."""
    failing = Failpoints(tmp_path / "failpoints")
    site = build(database=database, server_command=failing.command, **NO_BLAME)
    story = Story(site)
    site.coordinator()

    steps, begun = _steps(story, failing)
    assert {"claim_starts committed", "report_process_exit about to be committed"} <= set(steps)
    for when, some in (("start", steps[:begun]), ("end", steps[begun:])):
        for step in of_these(some):
            _told_with_a_kill(story, failing, site.server, step, when, site.serve)
            injected(f"server killed in a call of a launch's {when}")
    story.all_is_well()


def _steps(story: Story, failing: Failpoints) -> tuple[list[str], int]:
    """All of a launch, and how many of them are passed before its command has begun. The first launch of a program's
    life is left out, and what only one of two others passes: that would be waited for in vain.
    """
    _told(story, failing)
    each_time = set(_told(story, failing)[0])
    steps, begun = _told(story, failing)
    before = [step for step in steps[:begun] if step in each_time]
    return [*before, *(step for step in steps[begun:] if step in each_time)], len(before)


def _told(story: Story, failing: Failpoints) -> tuple[list[str], int]:
    failing.arm()
    gate = story.gate()
    task, _ = story.begin(gate)
    _at_work(story, failing)
    begun = len(failing.passed)
    gate.open()
    story.ends(task, "none")
    return failing.passed, begun


def _told_with_a_kill(
    story: Story, failing: Failpoints, program: Program, step: str, when: str, again: Callable[[], object]
) -> None:
    """The command of a launch that is killed in its end waits until nothing of its start is left to do; that of the
    others until the program runs again.
    """
    failing.arm(step)
    gate = story.gate()
    task, killed = story.begin(gate, again)
    if when == "end" and not killed:
        _at_work(story, failing)
        gate.open()
    if not killed:
        _killed(program, step)
        again()
    if when == "start" or killed:
        story.bell.rung(1)
        gate.open()
    story.ends(task, step)


def _at_work(story: Story, failing: Failpoints) -> None:
    """Its command has begun, and the first of its output has been sent."""
    story.bell.rung(1)
    said = {"append_log answered", "append_log committed"}
    story.site.until("what follows the start is done", lambda: said & set(failing.passed))


def _killed(program: Program, step: str) -> None:
    try:
        assert program.ended_with() == -signal.SIGKILL, step
    except subprocess.TimeoutExpired:
        pytest.fail(f"it has not come to this step: {step}")

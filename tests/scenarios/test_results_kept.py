"""What is finished is not done again: whatever is killed, or asleep, between the end of the work and its report."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from tests.scenarios import programs
from tests.scenarios.conftest import Build
from tests.scenarios.programs import Program
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

LEASE = 5


def at_work(site: Site, **how: object) -> tuple[str, Path]:
    """A task whose command stops at a gate, and the file that it then adds a line to."""
    gate, bell = site.gate(), site.bell()
    directory = site.project("house", **how)
    task = site.file(
        "house",
        "Build",
        assignee_id=site.hire("ann", "house"),
        status="in_progress",
        context={"command": f"echo at work > {bell}; {gate}; echo ran >> ran.txt; echo done > {bell}"},
    )
    bell.rung(1)
    site.history.read()
    return task, directory / "ran.txt"


def finished(site: Site) -> None:
    """The command goes on to its end."""
    site._gates[0].open()
    site._bells[0].rung(2)


def once(site: Site, task: str, ran: Path, starts: int = 1) -> None:
    site.until_status(task, "completed")
    site.until_idle()
    assert ran.read_text() == "ran\n"
    assert len(site.history.starts(task_id=task)) == starts


def _until(found: Callable[[], object], within: float = 100) -> None:
    """While the server is away, so that it cannot be asked."""
    limit = time.monotonic() + within
    while not found():
        assert time.monotonic() < limit
        Event().wait(0.02)


def away(seconds: float) -> None:
    Event().wait(seconds)


def killed(site: Site) -> None:
    """Every process of an agent, once its result is on disk."""
    _until(lambda: list((site.data / "workspaces").glob("*/unreported.json")))
    for agent in site.agents():
        agent.kill()


@pytest.mark.parametrize("also", ["the runner", "the runner and the Coordinator"])
def test_a_result_that_nobody_could_take_is_reported_before_anything_starts_again(build: Build, also: str) -> None:
    site = build(TORYO_SESSION__LEASE=str(LEASE))
    coordinator = site.coordinator()
    task, ran = at_work(site)
    site.server.kill()
    finished(site)
    if also != "the runner":
        coordinator.kill()
    killed(site)
    away(LEASE + 2)  # as long as it takes until everybody would be given up
    site.serve()
    if also != "the runner":
        coordinator.start().says("connected to")
    once(site, task, ran)


def test_a_runner_waits_for_its_server_with_a_finished_result(build: Build) -> None:
    site = build(TORYO_SESSION__LEASE=str(LEASE))
    site.coordinator()
    task, ran = at_work(site)
    site.server.kill()
    finished(site)
    away(LEASE + 2)
    site.serve()
    once(site, task, ran)


@pytest.mark.parametrize("first", ["the server", "the Coordinator"])
def test_after_a_sleep_of_everything_the_work_goes_on(build: Build, first: str) -> None:
    site = build(TORYO_SESSION__LEASE=str(LEASE))
    coordinator = site.coordinator()
    task, ran = at_work(site)
    asleep = [*programs.everything_of([site.url]), site.server.pid, coordinator.pid]
    for pid in asleep:
        os.kill(pid, signal.SIGSTOP)
    away(2 * LEASE + 2)
    order = asleep if first == "the Coordinator" else [site.server.pid, *asleep]
    for pid in order:
        os.kill(pid, signal.SIGCONT)
    away(2)  # the sweep comes every second
    finished(site)
    once(site, task, ran)
    assert not site.history.of("launch.lost")


def test_a_coordinator_that_alone_is_killed_is_followed_after_a_lease(build: Build) -> None:
    site = build(TORYO_SESSION__LEASE=str(LEASE))
    site.coordinator("one").says("connected to")
    task, ran = at_work(site)
    other: Program = site.coordinator("two")
    site.coordinators[0].kill()
    site.until("it is given up", lambda: site.history.of("launch.lost"), within=4 * LEASE)
    site.until("the other one has started it", lambda: len(site.history.starts(task_id=task)) == 2)
    assert other.alive and not ran.exists()
    programs.kill_everything_of([site.url])

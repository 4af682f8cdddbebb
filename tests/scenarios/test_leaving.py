"""Whoever is told to leave does so in order: a Coordinator takes its agents along and the next one goes on at once; a
server lets the calls go that it holds, and Coordinators and agents wait for the next one.
"""

from __future__ import annotations

import pytest

from tests.scenarios import programs
from tests.scenarios.sites import Gate, Site

pytestmark = pytest.mark.timeout(600, method="signal")

RESTARTS = 6
"""More than any guard counts."""


@pytest.fixture
def gate(site: Site) -> Gate:
    return site.gate()


@pytest.fixture
def task(site: Site, gate: Gate) -> str:
    """A task whose command stops at the gate; a Coordinator is at work."""
    site.project("yard")
    site.hire("sawyer", "yard")
    site.coordinator()
    command = f"echo at work; {gate}; echo sawn >> done.txt"
    return site.file("yard", "Saw", assignee_id="sawyer", status="in_progress", context={"command": command})


@pytest.mark.pitfall("F11")
def test_a_coordinator_that_leaves_takes_its_agents_along_and_the_next_goes_on_at_once(
    site: Site, gate: Gate, task: str
) -> None:
    launch_id = site.until_printed(task, "at work")
    (coordinator,) = site.coordinators

    assert coordinator.leave() == 0
    assert programs.everything_of([site.url]) == []
    site.until_idle()
    (ended,) = site.history.of("launch.process_ended", launch_id=launch_id)
    assert ended["data"]["error"] == "coordinator_stopped"
    assert site.status(task) == "in_progress"

    coordinator.start().says("connected to")
    site.until_printed(task, "at work", start=2)
    gate.open()
    site.until_status(task, "completed")
    site.until_idle()
    assert site.history.of("agent.cooling_down") == []
    assert len(site.history.starts(task_id=task)) == 2
    assert (site.directory / "projects" / "yard" / "done.txt").read_text() == "sawn\n"


@pytest.mark.deep
def test_coordinators_that_leave_again_and_again_are_never_counted_against_the_agent(
    site: Site, gate: Gate, task: str
) -> None:
    (coordinator,) = site.coordinators
    for times in range(1, RESTARTS + 1):
        site.until_printed(task, "at work", start=times)
        assert coordinator.leave() == 0
        assert site.status(task) == "in_progress", f"after {times} restarts"
        coordinator.start().says("connected to")
    site.until_printed(task, "at work", start=RESTARTS + 1)
    gate.open()
    site.until_status(task, "completed")
    assert site.history.of("agent.cooling_down", "guard.blocked") == []


def test_a_server_that_leaves_is_waited_for_by_agents_and_coordinator(site: Site, gate: Gate, task: str) -> None:
    site.until_printed(task, "at work")
    (agent,) = site.agents()
    (coordinator,) = site.coordinators

    assert site.server.leave() == 0
    coordinator.says("cannot work with the server")
    assert [each.pid for each in site.agents()] == [agent.pid]
    site.serve()
    gate.open()
    site.until_status(task, "completed")
    site.until_idle()
    assert coordinator.alive
    assert coordinator.said("cannot work with the server") == 1
    assert len(site.history.starts()) == 1
    assert site.history.lost() == []

"""kill -9 in the middle of a story: of a worker, of a manager, of the Coordinator, of the server. Afterwards everything
is completed, nothing twice, no event is missing, and nobody was started more often than the loss explains.
"""

from __future__ import annotations

import signal
from collections import Counter

import pytest

from tests.scenarios import programs
from tests.scenarios.conftest import Build
from tests.scenarios.sites import Gate, Site
from toryo.agents import env_vars
from toryo.coordinator import processes

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

LEASE = "10"
"""Seconds: soon enough to wait for, long enough that nobody who is at work on a busy machine is given up."""

PARTS = 3


def test_a_worker_that_is_killed_is_started_again_and_nobody_else(site: Site) -> None:
    gate = site.gate()
    main = story(site, gate)
    victims = at_work(site)
    victim = site.agent_of(victims["worker-1"])
    assert victim is not None
    started_by_it = programs.everything_of([site.url], victim.launch_id)

    victim.kill()
    site.until("the end is reported", lambda: site.history.of("launch.process_ended", launch_id=victim.launch_id))
    assert all(programs.gone(each, 5) for each in started_by_it)
    site.until_printed(_part_of(site, "worker-1"), "at work", start=2)
    gate.open()

    all_is_well(site, main)
    (ended,) = site.history.of("launch.process_ended", launch_id=victim.launch_id)
    assert (ended["data"]["signal"], ended["data"]["error"]) == (9, "killed")
    assert starts(site) == {"lead": 2, "worker-1": 2, "worker-2": 1, "worker-3": 1}


def test_a_manager_that_is_killed_goes_on_where_it_was(site: Site) -> None:
    """When it has created tasks; any other moment: tests/exploring."""
    gate = site.gate()
    gate.open()
    main = story(site, gate)
    launch_id = site.until("the manager is at it", lambda: _of_lead(site, "task.created"))
    victim = site.agent_of(launch_id)
    if victim is not None:
        victim.kill()

    all_is_well(site, main)
    hits = 0 if victim is None else 1
    assert sum(launch["exit_error"] == "killed" for launch in site.launches(agent_id="lead")) == hits
    started = starts(site)
    assert started.pop("lead") <= 2 + hits
    assert started == {"worker-1": 1, "worker-2": 1, "worker-3": 1}


@pytest.mark.pitfall("F11")
def test_work_whose_coordinator_stays_away_is_released_and_done_by_the_next_one(build: Build) -> None:
    site = build(TORYO_SESSION__LEASE=LEASE)
    gate = site.gate()
    main = story(site, gate)
    launches = at_work(site)
    (coordinator,) = site.coordinators
    old = site.agents()
    coordinator.kill()

    def released() -> bool:
        return len(site.history.of("session.ended", reason="lease_expired")) == PARTS

    site.until("the leases have run out", released)
    coordinator.start().says("connected to")
    for number in range(1, PARTS + 1):
        site.until_printed(_part_of(site, f"worker-{number}"), "at work", start=2)
    assert [agent for agent in site.agents() if agent.launch_id in launches.values()] == []
    assert all(each.gone(1) for each in old)
    gate.open()

    all_is_well(site, main)
    assert starts(site) == {"lead": 2, "worker-1": 2, "worker-2": 2, "worker-3": 2}


def test_reports_to_a_server_that_is_away_are_made_when_it_is_back(site: Site) -> None:
    """The agents end, and leave, while nobody listens; what they had to say is not lost."""
    gate, bell = site.gate(), site.bell()
    main = story(site, gate, f"echo $AGENT_ID > {bell}")
    at_work(site)

    site.server.kill()
    gate.open()
    assert sorted(bell.rung(PARTS)) == ["worker-1", "worker-2", "worker-3"]
    site.serve()

    all_is_well(site, main)
    assert starts(site) == {"lead": 2, "worker-1": 1, "worker-2": 1, "worker-3": 1}


def test_a_machine_that_crashes_goes_on_without_waiting_for_the_leases_of_its_agents(site: Site) -> None:
    gate = site.gate()
    main = story(site, gate)
    at_work(site)
    (coordinator,) = site.coordinators
    _noted(site)

    site.server.kill()
    coordinator.kill()
    programs.kill_everything_of([site.url])
    site.serve()
    coordinator.start().says("connected to")
    assert coordinator.said("adopted") == 0
    gate.open()

    all_is_well(site, main)
    assert starts(site) == {"lead": 2, "worker-1": 2, "worker-2": 2, "worker-3": 2}
    assert site.history.of("session.ended", reason="lease_expired") == []


@pytest.mark.parametrize("seen", [True, False])
def test_an_end_that_the_server_could_not_be_told_is_told_by_the_next_coordinator(site: Site, seen: bool) -> None:
    """The Coordinator leaves while the server is away, after it saw its agents end; or dies before they do."""
    gate = site.gate()
    main = story(site, gate)
    at_work(site)
    (coordinator,) = site.coordinators
    old = site.agents()
    _noted(site)

    site.server.kill()
    if not seen:
        coordinator.leave(signal.SIGKILL)
    for each in old:
        each.kill()
    assert all(each.gone(5) for each in old)
    if seen:
        coordinator.leave(signal.SIGTERM)
    site.serve()
    coordinator.start().says("connected to")
    for number in range(1, PARTS + 1):
        site.until_printed(_part_of(site, f"worker-{number}"), "at work", start=2)
    gate.open()

    all_is_well(site, main)
    assert starts(site) == {"lead": 2, "worker-1": 2, "worker-2": 2, "worker-3": 2}
    assert site.history.of("session.ended", reason="lease_expired") == []
    told = {each["data"]["error"] for each in site.history.of("launch.process_ended") if each["data"]["error"]}
    assert told == {"killed" if seen else "coordinator_stopped"}
    notes = site.data / "coordinators"
    site.until("nothing is left to be told", lambda: not list(notes.glob("*.launches/*")))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_check_whose_coordinator_ends_is_run_by_the_next_one(site: Site, how: signal.Signals) -> None:
    gate, bell = site.gate(), site.bell()
    site.project("shop")
    site.hire("joiner", "shop")
    command = f"echo begun > {bell}; {gate}; grep joint joint.txt"
    task = site.file("shop", "Join", assignee_id="joiner", context={"command": "echo joint > joint.txt"},
                     acceptance=[{"command": command}])  # fmt: skip
    coordinator = site.coordinator()
    site.move(task, "in_progress")
    bell.rung(1)
    first = _checking(site)

    coordinator.leave(how)
    coordinator.start().says("connected to")
    bell.rung(2)
    assert all(programs.gone(pid, 5) for pid in first), "two checks at once would tread on each other's files"
    assert _checking(site)
    gate.open()
    site.until_status(task, "completed")
    assert len(site.history.starts()) == 1, "what was finished is not done again"


def _checking(site: Site) -> list[int]:
    """The processes of checks that run now."""
    home = str(site.directory)
    return [pid for pid, each in processes.environments(env_vars.CHECK_ID) if each.get("HOME") == home]


def story(site: Site, gate: Gate, then: str = "true") -> str:
    """A manager with three workers whose commands stop at the gate; the Coordinator is at work. The main task."""
    site.project("story", commands_from="managers")
    parts = [
        {
            "id": f"part{number}",
            "title": f"Part {number}",
            "assignee": f"worker-{number}",
            "context": {"command": f"echo at work; {gate}; echo done > part-{number}; {then}"},
        }
        for number in range(1, PARTS + 1)
    ]
    site.lead("lead", "story", plans=[{"match": "Story", "subtasks": parts}])
    for number in range(1, PARTS + 1):
        site.hire(f"worker-{number}", "story", reports_to="lead")
    site.coordinator()
    return site.file("story", "Story", assignee_id="lead", status="in_progress")


def at_work(site: Site) -> dict[str, str]:
    """Waits until every worker's command was seen running and the manager has left; the launches, by agent."""
    found = {}
    for number in range(1, PARTS + 1):
        agent_id = f"worker-{number}"
        found[agent_id] = site.until_printed(_part_of(site, agent_id), "at work")
    site.until("the manager has left", lambda: len(site.agents()) == PARTS)
    return found


def _noted(site: Site) -> None:
    """Waits until the disk, however busy, has a note of each agent at work: a Coordinator that is killed before cannot
    tell its successor of them."""
    at_work, notes = {agent.launch_id for agent in site.agents()}, site.data / "coordinators"
    site.until("all are noted", lambda: at_work <= {path.stem for path in notes.glob("*.launches/*.json")})


def _part_of(site: Site, agent_id: str) -> str:
    """The task that an agent signed in for first."""
    started = site.until(f"{agent_id} has signed in", lambda: site.history.starts(agent_id=agent_id))
    return str(started[0]["data"]["task_id"])


def _of_lead(site: Site, kind: str) -> str | None:
    found = [each for each in site.history.of(kind) if each["launch_id"] and each["actor_id"] == "lead"]
    return str(found[0]["launch_id"]) if found else None


def starts(site: Site) -> Counter[str]:
    return Counter(start["agent_id"] for start in site.history.starts())


def all_is_well(site: Site, main: str) -> None:
    """All is completed and each once, nobody works any more, and the log of events is whole."""
    site.until_status(main, "completed")
    site.until_idle()
    assert {task["status"] for task in site.tasks("story").values()} == {"completed"}
    made = site.directory / "projects" / "story"
    assert sorted(path.name for path in made.iterdir()) == [f"part-{number}" for number in range(1, PARTS + 1)]
    assert site.history.completed_twice() == []
    assert site.history.double_launches() == []
    assert site.history.lost() == []

"""The way between a Coordinator and its server is cut, falls silent, or its name is not resolved any more. Agents that
run go on, nobody is started twice, and what happened meanwhile is reported afterwards.

The way leads through a proxy here; a Coordinator on a machine of its own is in `test_coordinator_elsewhere.py`.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.postgres_proxy import server_proxy
from tests.reliability.counting import injected
from tests.scenarios import programs
from tests.scenarios.conftest import Build
from tests.scenarios.sites import WITHIN, Bell, Gate, Site
from tests.scenarios.stories import rules_broken

pytestmark = pytest.mark.timeout(600, method="signal")

HANDS = ("ann", "ben")
FOR_THOSE_WHO_HAVE_TIME = pytest.mark.skipif(
    float(os.environ.get("TORYO_TEST_OUTAGE_SECONDS", "2")) < 20, reason="TORYO_TEST_OUTAGE_SECONDS is less than 20"
)


def at_work(site: Site, way: str, command: Sequence[str] = programs.TORYO) -> tuple[dict[str, str], Gate, Bell]:
    """Two commands ring when they have begun, wait at a gate and ring again; their tasks, the gate and the bell."""
    gate, bell = site.gate(), site.bell()
    site.project("house")
    for each in HANDS:
        site.hire(each, "house")
    site.coordinator(way=way, command=command)
    words = f"echo begun > {bell}; {gate}; echo done > {bell}; echo $AGENT_ID >> $AGENT_ID.txt"
    tasks = {
        each: site.file("house", each, assignee_id=each, status="in_progress", context={"command": words})
        for each in HANDS
    }
    assert bell.rung(2) == ["begun", "begun"]
    site.until("both are signed in", lambda: len(site.sessions()) == 2)
    return tasks, gate, bell


def all_is_well(site: Site, tasks: dict[str, str], within: float = WITHIN) -> None:
    for each in tasks.values():
        site.until_status(each, "completed", within=within)
    site.until_idle(within)
    assert Counter(start["agent_id"] for start in site.history.starts()) == dict.fromkeys(HANDS, 1)
    assert site.history.double_launches() == []
    assert site.history.completed_twice() == []
    assert site.history.lost() == []
    for each in HANDS:
        assert (site.directory / "projects" / "house" / f"{each}.txt").read_text() == f"{each}\n"
    assert rules_broken(site.database) == []


def test_a_coordinator_whose_connections_are_cut_reports_afterwards_what_ended_meanwhile(site: Site) -> None:
    with server_proxy(site.url) as wire:
        tasks, gate, bell = at_work(site, wire.url)
        before = {agent.pid for agent in site.agents()}
        injected("Coordinator cut off")
        wire.cut()
        assert {agent.pid for agent in site.agents()} == before
        gate.open()
        assert bell.rung(4).count("done") == 2
        wire.mend()
        all_is_well(site, tasks)
        assert site.coordinators[0].leave() == 0


@pytest.mark.deep
def test_packets_that_vanish_for_a_while_end_nobodys_work(site: Site) -> None:
    """Nobody is told: connections stay open on both sides, and what was sent arrives late."""
    with server_proxy(site.url) as wire:
        tasks, gate, bell = at_work(site, wire.url)
        injected("Coordinator half-open")
        wire.stand_still()
        gate.open()
        assert bell.rung(4).count("done") == 2
        wire.flow_again()
        all_is_well(site, tasks)
        assert site.coordinators[0].leave() == 0


@pytest.mark.deep
@FOR_THOSE_WHO_HAVE_TIME
def test_connections_that_nobody_will_ever_answer_are_given_up_and_made_anew(site: Site) -> None:
    """After 75 seconds of silence, for a proxy acknowledges what it does not pass on. What was said is said again."""
    with server_proxy(site.url) as wire:
        tasks, gate, bell = at_work(site, wire.url)
        injected("Coordinator half-open")
        wire.stand_still()
        wire.flow_anew()
        gate.open()
        assert bell.rung(4).count("done") == 2
        all_is_well(site, tasks, within=200)
        assert site.coordinators[0].leave() == 0


def test_a_name_that_is_not_resolved_for_a_while_ends_nobodys_work(build: Build) -> None:
    """The Coordinator has a hosts file of its own; with the name, its connections go too."""
    site = build(TORYO_ALLOWED_HOSTS="server.toryo.test")
    hosts = site.directory / "hosts"
    hosts.write_text("127.0.0.1 localhost server.toryo.test\n")
    command = _with_hosts(hosts)
    with server_proxy(site.url) as wire:
        way = wire.url.replace("127.0.0.1", "server.toryo.test")
        tasks, gate, bell = at_work(site, way, command)
        injected("DNS away")
        hosts.write_text("127.0.0.1 localhost\n")
        wire.cut()
        wire.mend()
        gate.open()
        assert bell.rung(4).count("done") == 2
        hosts.write_text("127.0.0.1 localhost server.toryo.test\n")
        all_is_well(site, tasks)
        assert site.coordinators[0].leave() == 0


def _with_hosts(hosts: Path) -> list[str]:
    """`toryo` in a mount namespace in which that file is /etc/hosts."""
    words = f"mount --bind '{hosts}' /etc/hosts && exec \"$@\""
    inside = ["unshare", "--mount", "--propagation", "private", "sh", "-c", words, "sh"]
    tried = subprocess.run([*inside, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"no file can be put in the place of /etc/hosts here: {tried.stderr.strip()}")
    return [*inside, *programs.TORYO]

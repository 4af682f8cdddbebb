"""A Coordinator and its agents on another machine (a network namespace), and the network between it and the server: the
cable is pulled, or packets vanish, both ways or one way. Agents that run go on, nobody is started twice, and what
happened meanwhile is reported afterwards.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import pytest

from tests.network_namespaces import Namespace, network_namespace
from tests.reliability.counting import injected
from tests.scenarios import programs
from tests.scenarios.conftest import Build
from tests.scenarios.sites import Site
from tests.scenarios.test_coordinator_cut_off import FOR_THOSE_WHO_HAVE_TIME, HANDS, all_is_well, at_work
from toryo.client.routes import SILENT_FOR

OUTAGE_SECONDS = float(os.environ.get("TORYO_TEST_OUTAGE_SECONDS", "2"))
LONGER_SECONDS = SILENT_FOR + 15
"""So that the kernel ends connections meanwhile; shorter than the lease of a session."""

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]


@pytest.fixture
def machine() -> Iterator[Namespace]:
    with network_namespace() as made:
        yield made


FAULTS: dict[str, tuple[str, Callable[[Namespace], None], Callable[[Namespace], None]]] = {
    "the cable is pulled": ("network cut", Namespace.cut, Namespace.mend),
    "packets vanish": ("network half-open", Namespace.silence, Namespace.hear_again),
    "answers vanish": ("network half-open", lambda machine: machine.silence(from_there=False), Namespace.hear_again),
}


def served_to(machine: Namespace, build: Build) -> tuple[Site, str]:
    """A site whose server listens on all addresses, and its address for that machine."""
    site = build(TORYO_HOST="0.0.0.0", TORYO_ALLOWED_HOSTS=machine.here, TORYO_AUTH__PEOPLE="tokens")
    return site, site.url.replace("127.0.0.1", machine.here)


def outlast(site: Site, seconds: float) -> None:
    over = time.monotonic() + seconds
    while time.monotonic() < over:
        site.history.read(wait_seconds=1)


@pytest.mark.parametrize("fault", FAULTS)
def test_what_ends_during_an_outage_of_the_network_is_reported_afterwards(
    fault: str, machine: Namespace, build: Build
) -> None:
    kind, begin, end = FAULTS[fault]
    site, way = served_to(machine, build)
    tasks, gate, bell = at_work(site, way, [*machine.inside, *programs.TORYO])
    injected(kind)
    begin(machine)
    gate.open()
    assert bell.rung(4).count("done") == 2
    outlast(site, OUTAGE_SECONDS)
    assert fault == "answers vanish" or site.history.of("task.completed") == [], "nothing was heard of it"
    end(machine)
    all_is_well(site, tasks)
    assert site.coordinators[0].leave() == 0


@FOR_THOSE_WHO_HAVE_TIME
@pytest.mark.parametrize("fault", FAULTS)
def test_what_ends_during_an_outage_that_no_connection_survives_is_reported_afterwards(
    fault: str, machine: Namespace, build: Build
) -> None:
    kind, begin, end = FAULTS[fault]
    site, way = served_to(machine, build)
    tasks, gate, bell = at_work(site, way, [*machine.inside, *programs.TORYO])
    injected(kind)
    begin(machine)
    gate.open()
    assert bell.rung(4).count("done") == 2
    outlast(site, LONGER_SECONDS)
    end(machine)
    all_is_well(site, tasks)
    assert site.coordinators[0].leave() == 0


@pytest.mark.parametrize("fault", FAULTS)
def test_tasks_that_are_filed_during_an_outage_of_the_network_are_started_after_it_and_once(
    fault: str, machine: Namespace, build: Build
) -> None:
    """The order to start is given to a Coordinator that never hears it."""
    kind, begin, end = FAULTS[fault]
    site, way = served_to(machine, build)
    site.project("house")
    for each in HANDS:
        site.hire(each, "house")
    site.coordinator(way=way, command=[*machine.inside, *programs.TORYO])
    injected(kind)
    begin(machine)
    words = {"command": "echo $AGENT_ID >> $AGENT_ID.txt"}
    tasks = {each: site.file("house", each, assignee_id=each, status="in_progress", context=words) for each in HANDS}
    outlast(site, OUTAGE_SECONDS)
    assert site.history.starts() == []
    end(machine)
    all_is_well(site, tasks)

"""What the sandbox of a launch has told of its network: which hosts it refused, and where its ports are reachable."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import Answer, Process, World

pytestmark = pytest.mark.crew(workers=1)

REFUSED = {"hosts": ["registry.example:443", "x\u202e.example"], "more": 2, "words": "A person can allow it: HOST"}


def working(world: World) -> Process:
    world.task("w1")
    return world.start("w1")


def shown(world: World, process: Process) -> Answer:
    found: Answer
    (found,) = world.owner.call("list_launches", agent_id="w1")["launches"]
    assert found["launch_id"] == process.launch_id
    return found


def why(world: World) -> Answer:
    decisions = world.owner.call("why", agent_id="w1")["decisions"]
    found: Answer = next(each for each in decisions if each["purpose"] == "task")
    return found


def test_the_hosts_that_were_refused_stand_beside_the_sentence_and_never_in_it(crew: World) -> None:
    process = working(crew)
    assert (shown(crew, process)["refused_hosts"], why(crew)["refused_hosts"]) == (None, None)
    crew.coordinator().exited(process.launch_id, exit_code=1, refused_hosts=REFUSED)
    assert shown(crew, process)["refused_hosts"] == REFUSED
    decision = why(crew)
    assert decision["refused_hosts"] == REFUSED
    assert "registry.example" not in decision["explanation"] + decision["summary"]


@pytest.mark.parametrize("hosts", [[], ["a"] * 21, ["a" * 301]])
def test_hosts_are_limited_in_number_and_length(crew: World, hosts: list[str]) -> None:
    process = working(crew)
    said: dict[str, Any] = {"launch_id": process.launch_id, "exit_code": 1, "refused_hosts": {"hosts": hosts}}
    assert crew.coordinator().ask("report_process_exit", **said).refused


def test_a_port_is_shown_where_it_really_is_as_long_as_its_program_runs(crew: World) -> None:
    process = working(crew)
    ports = {"3000": 41237, "3001": 3001}
    crew.coordinator().call("append_log", launch_id=process.launch_id, offset=0, text="", ports=ports)
    there = [
        {"port": 3000, "address": "http://127.0.0.1:41237"},
        {"port": 3001, "address": "http://127.0.0.1:3001"},
    ]
    assert (shown(crew, process)["ports"], why(crew)["ports"]) == (there, there)
    crew.coordinator().exited(process.launch_id, exit_code=0)
    assert (shown(crew, process)["ports"], why(crew)["ports"]) == ([], [])


@pytest.mark.parametrize("ports", [{"0": 1}, {"http": 1}, {"3000": 65_536}])
def test_what_is_no_port_is_refused(crew: World, ports: dict[str, int]) -> None:
    process = working(crew)
    crew.coordinator().refused(
        "append_log", "validationError", launch_id=process.launch_id, offset=0, text="", ports=ports
    )

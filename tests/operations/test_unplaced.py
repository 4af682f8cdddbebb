"""Work for which no Coordinator has the program is told at once, as one need for each program, with what helps."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents.test_pages import wrong as mistake_in
from tests.operations.test_queue import filed, key
from tests.stories import Answer, Caller, World

pytestmark = pytest.mark.crew(workers=2, decomposition="never")


def needs(caller: Caller, **wanted: Any) -> list[Answer]:
    found: list[Answer] = caller.call("needs_you", **wanted)["items"]
    assert [wrong for item in found for act in item["actions"] if (wrong := mistake_in(act["command"]))] == []
    return found


def acts(item: Answer) -> list[str]:
    return [action["name"] for action in item["actions"]]


def test_an_agent_whose_program_no_coordinator_has_is_told_at_once_until_one_has_it(crew: World) -> None:
    crew.worker("w3", "boss", provider="codex")
    crew.coordinator("m1").claim(free_slots=0, providers=["claude", "command"])
    assert needs(crew.owner) == []
    crew.task("w3")
    (item,) = needs(crew.owner)
    assert (item["kind"], item["title"]) == ("agent_cannot_start", "No Coordinator has codex: w3 cannot start")
    assert item["text"] == "Its provider codex is not available at m1 (available: claude, command)."
    assert acts(item) == ["change_program", "machines", "why"]
    assert item["actions"][0]["command"] == "toryo agent edit w3 --provider NAME"
    crew.coordinator("m2").claim(free_slots=0, providers=["codex"])
    assert needs(crew.owner) == []


def test_it_is_the_first_thing_that_the_overview_of_the_project_says_with_what_waits(crew: World) -> None:
    crew.worker("w3", "boss", provider="codex")
    crew.worker("w4", "boss", provider="codex")
    crew.coordinator("m1").claim(free_slots=0, providers=["claude"])
    first = crew.task("w3", title="First")
    crew.task("w4", title="Other")
    crew.task("w1", title="Then", status="todo", dependencies=[first])
    for asked in ({}, {"project_id": crew.project_id}):
        shown = crew.owner.call("show_overview", **asked)["needs"]
        assert [(each["kind"], each["blocks"]) for each in shown] == [("agent_cannot_start", 3)]
        assert shown[0]["title"] == "No Coordinator has codex: w3 and 1 more cannot start"


def test_one_need_tells_of_all_agents_with_a_program_and_stays_the_same_while_there_is_one(crew: World) -> None:
    for number in range(3, 9):
        crew.worker(f"w{number}", "boss", provider="codex" if number % 2 else "gemini")
    tasks = {number: crew.task(f"w{number}") for number in range(3, 9)}
    crew.coordinator("m1").claim(free_slots=0, providers=["claude"])
    before = {item["key"]: item["title"] for item in needs(crew.owner)}
    assert sorted(before.values()) == [
        "No Coordinator has codex: w3 and 2 more cannot start",
        "No Coordinator has gemini: w4 and 2 more cannot start",
    ]
    crew.move(tasks[3], "cancelled", "not needed")
    assert {item["key"] for item in needs(crew.owner)} == set(before)


def test_a_ready_queue_task_whose_agent_no_coordinator_can_start_is_told_too(crew: World) -> None:
    crew.worker("w3", "boss", provider="codex", agent_type="planning")
    crew.coordinator("m1").claim(free_slots=0, providers=["claude"])
    assert needs(crew.owner) == []
    filed(key(crew, "chief", orchestrator=True))
    assert [item["title"] for item in needs(crew.owner)] == ["No Coordinator has codex: w3 cannot start"]


def test_an_agent_that_is_told_for_another_reason_is_not_told_twice(crew: World) -> None:
    crew.owner.call("edit_agent", agent_id="w1", provider="gemni")
    crew.task("w1")
    crew.coordinator().claim(free_slots=0, providers=["claude"])
    assert [item["kind"] for item in needs(crew.owner)] == ["agent_cannot_start"]


def test_an_agent_with_a_mistake_is_told_in_each_project_that_it_is_a_member_of(crew: World) -> None:
    crew.owner.call("edit_agent", agent_id="w1", provider="gemni")
    crew.coordinator().claim(free_slots=0, providers=["claude"])
    other = crew.owner.call("create_project", name="Other", working_directory="/other")["project_id"]
    for project_id, many in ((crew.project_id, 1), (other, 0)):
        assert len(needs(crew.owner, project_id=project_id)) == many
        assert len(crew.owner.call("show_overview", project_id=project_id)["needs"]) == many


def test_who_may_not_change_an_agent_is_told_who_can(crew: World) -> None:
    lena = crew.member("lena")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="lena")
    crew.worker("w3", "lena", provider="codex")
    crew.task("w3")
    crew.coordinator("m1").claim(free_slots=0, providers=["claude"])
    (item,) = needs(lena)
    assert (acts(item), "An owner can change the agent." in item["text"]) == (["machines", "why"], True)


@pytest.mark.parametrize("left", ["paused", "no_task", "waits"])
def test_an_agent_that_is_not_due_is_not_told(crew: World, left: str) -> None:
    crew.coordinator("m1").claim(free_slots=0, providers=["claude"])
    crew.manager("deputy", "boss", provider="codex")
    if left == "paused":
        crew.task("deputy")
        crew.owner.call("pause_project", project_id=crew.project_id)
    if left == "waits":
        crew.owner.call("edit_agent", agent_id="deputy", provider="claude")
        crew.worker("w3", "deputy")
        crew.task("deputy")
        deputy = crew.start("deputy")
        deputy.begin(*deputy.assigned({"Part": "w3"}))
        deputy.wait()
        deputy.call("logout")
        crew.start("w3")
        crew.owner.call("edit_agent", agent_id="deputy", provider="codex")
    assert needs(crew.owner) == []


@pytest.mark.parametrize(
    ("offer", "title", "act"),
    [
        (None, "No Coordinator is running: w1 cannot start", "machines"),
        ({"agent_ids": ["w2"]}, "No Coordinator accepts w1", "machines"),
        ({"capabilities": ["rust"]}, "No Coordinator accepts w1", "correct"),
    ],
)
def test_what_is_missing_is_named_and_a_server_that_has_just_begun_waits_for_its_coordinators(
    crew: World, offer: dict[str, Any] | None, title: str, act: str
) -> None:
    crew.task("w1")
    assert needs(crew.owner) == []
    crew.advance(91)
    if offer is not None:
        crew.coordinator().claim(free_slots=0, **offer)
    (item,) = needs(crew.owner)
    assert (item["title"], acts(item)[0]) == (title, act)
    crew.coordinator().claim(free_slots=0)
    assert needs(crew.owner) == []


def test_a_coordinator_that_may_come_back_with_the_server_is_waited_for(crew: World) -> None:
    crew.worker("w3", "boss", provider="codex")
    crew.coordinator("m1").claim(free_slots=0, providers=["codex"])
    crew.task("w3")
    crew.advance(3600)
    crew.restart()
    crew.coordinator("m2").claim(free_slots=0, providers=["claude"])
    assert needs(crew.owner) == []
    crew.advance(91)
    crew.coordinator("m2").claim(free_slots=0, providers=["claude"])
    assert [item["title"] for item in needs(crew.owner)] == ["No Coordinator has codex: w3 cannot start"]


def test_two_accounts_that_no_coordinator_has_are_two_needs(crew: World) -> None:
    for number, account in ((3, "first"), (4, "second"), (5, "second")):
        crew.worker(f"w{number}", "boss", provider="codex", provider_options={"account": account})
        crew.task(f"w{number}")
    crew.coordinator("m1").claim(
        free_slots=0, providers=["codex"], accounts=[{"provider": "codex", "account": "third"}]
    )
    found = needs(crew.owner)
    assert len({item["key"] for item in found}) == len(found) == 2, [item["title"] for item in found]

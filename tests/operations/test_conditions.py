"""What is off in a project is told in one line, with what helps; the overview is calm only where all work goes on."""

from __future__ import annotations

import pytest

from tests.documents.test_pages import wrong as mistake_in
from tests.operations.test_programs import NAMED, end, start_of
from tests.operations.test_queue import filed, key
from tests.stories import Answer, Caller, World
from toryo.domain.conditions import Condition
from toryo.domain.times import iso, parse
from toryo.operations.overview.conditions import AGAIN

pytestmark = pytest.mark.crew(workers=2, decomposition="never")


def conditions(world: World, caller: Caller | None = None) -> list[Answer]:
    found: list[Answer] = (caller or world.owner).call("show_conditions", project_id=world.project_id)["conditions"]
    assert [wrong for each in found for act in each["actions"] if (wrong := mistake_in(act["command"]))] == []
    return found


def acts(condition: Answer) -> list[str]:
    return [action["name"] for action in condition["actions"]]


def calm(world: World) -> tuple[str, int]:
    """The same for the project and for everything, where there is but one."""
    one, whole = (
        world.owner.call("show_overview", **asked)["calm"] for asked in ({"project_id": world.project_id}, {})
    )
    assert one == whole
    return one["state"], one["tasks"]


def seen(world: World, **says: object) -> None:
    world.coordinator("m1").claim(free_slots=0, **says)


def test_a_project_in_which_all_is_well_has_none(crew: World) -> None:
    seen(crew)
    crew.task("w1")
    assert conditions(crew) == []
    assert calm(crew) == ("runs", 0)


def test_a_paused_project_says_by_whom_since_when_and_how_many_are_leaving(crew: World) -> None:
    crew.task("w1")
    crew.start("w1")
    crew.owner.call("pause_project", project_id=crew.project_id)
    (found,) = conditions(crew)
    name = crew.owner.call("show_agent", agent_id="owner")["agent"]["name"]
    assert found["text"] == f"This project is paused: no task is worked on. 1 agent is leaving. By {name}."
    assert (found["kind"], found["since"], acts(found)) == ("paused", iso(crew.now - 2), ["resume_project"])
    assert calm(crew)[0] == "paused"
    crew.owner.call("resume_project", project_id=crew.project_id)
    assert conditions(crew) == []


def test_an_archived_project_says_so_and_can_be_restored(crew: World) -> None:
    crew.owner.call("archive_project", project_id=crew.project_id)
    (found,) = conditions(crew)
    assert (found["kind"], acts(found)) == ("archived", ["restore"])
    assert crew.owner.call("show_overview", project_id=crew.project_id)["calm"]["state"] == "archived"
    assert crew.owner.call("show_conditions")["conditions"] == []


def test_a_project_without_an_agent_says_so(crew: World) -> None:
    for agent in ("boss", "w1", "w2"):
        crew.owner.call("remove_member", project_id=crew.project_id, agent_id=agent)
    (found,) = conditions(crew)
    assert (found["kind"], acts(found)) == ("no_team", ["add_agent"])
    assert calm(crew) == ("no_team", 0)


def test_a_missing_program_is_told_with_the_number_of_tasks_that_wait(crew: World) -> None:
    for agent in ("w3", "w4"):
        crew.worker(agent, "boss", provider="codex")
        crew.task(agent)
    seen(crew, providers=["claude"])
    (found,) = conditions(crew)
    assert (found["kind"], found["text"]) == ("program_missing", "No Coordinator has codex. 2 tasks wait.")
    assert (found["agent_id"], acts(found)) == ("w3", ["change_program", "machines"])
    assert calm(crew) == ("held", 2)
    assert {each["reason"] for each in crew.owner.call("show_overview")["queue"]["held"]} == {"no_provider"}


def test_a_coordinator_that_disappears_is_told_and_the_page_knows_when_to_look_again(crew: World) -> None:
    crew.task("w1")
    seen(crew)
    last = crew.now
    crew.advance(60)
    answer = crew.owner.call("show_conditions", project_id=crew.project_id)
    assert (answer["conditions"], answer["look_again_after"]) == ([], 30)
    assert crew.owner.call("show_overview")["look_again_after"] == 30
    crew.advance(30)
    answer = crew.owner.call("show_conditions", project_id=crew.project_id)
    assert answer["look_again_after"] == crew.owner.call("show_overview")["look_again_after"] == AGAIN
    (found,) = answer["conditions"]
    assert (found["kind"], found["text"]) == ("coordinator_gone", "No Coordinator is running. 1 task waits.")
    assert (found["since"], acts(found)) == (iso(last), ["machines"])
    seen(crew)
    assert conditions(crew) == []


def test_a_used_up_budget_is_told_until_midnight_while_work_waits(crew: World) -> None:
    seen(crew)
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"budget_per_day": 0})
    assert conditions(crew) == []
    crew.task("w1")
    (found,) = conditions(crew)
    assert (found["kind"], acts(found)) == ("budget_used_up", ["raise", "usage"])
    assert found["text"] == "Today's budget of $0.00 is used up. 1 task waits."
    assert found["until"].endswith("T00:00:00.000Z")
    assert calm(crew) == ("waits", 1)


def test_a_used_up_quota_is_told_until_it_is_renewed(crew: World) -> None:
    crew.task("w1")
    end(crew, start_of(crew, "w1"), "quota: resets after 23m", NAMED)
    seen(crew)
    (found,) = conditions(crew)
    assert found["text"] == "The quota of the account claude is used up. 1 task waits."
    assert (found["kind"], acts(found)) == ("quota_used_up", ["usage"])
    assert calm(crew) == ("waits", 1)
    assert crew.owner.call("show_overview")["calm"]["until"] == found["until"]


def test_all_used_up_accounts_of_an_agent_are_told_and_the_first_that_is_renewed_counts(crew: World) -> None:
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": {"provider": "gemini"}})
    crew.task("w1")
    end(crew, start_of(crew, "w1"), "quota: resets after 46m", 2 * NAMED)
    assert conditions(crew) == [], "its fallback works"
    until = end(crew, start_of(crew, "w1"), "quota: resets after 23m", NAMED)
    seen(crew)
    (found,) = conditions(crew)
    assert found["text"] == "The quotas of the accounts claude, gemini are used up. 1 task waits."
    assert parse(found["until"]) == until


def test_viewers_are_told_the_same_and_offered_nothing(crew: World) -> None:
    viewer = crew.member("vera", login="viewer")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="vera")
    crew.owner.call("pause_project", project_id=crew.project_id)
    (found,) = conditions(crew, viewer)
    assert (found["text"], acts(found)) == (conditions(crew)[0]["text"], [])


@pytest.mark.parametrize(
    ("story", "state"),
    [
        ("nothing", ("nothing_open", 0)),
        ("left", ("not_started", 1)),
        ("left beside", ("runs", 1)),
        ("blocked", ("held", 1)),
        ("unserved", ("held", 1)),
        ("inactive", ("held", 1)),
    ],
)
def test_where_nothing_is_needed_the_overview_says_why(crew: World, story: str, state: tuple[str, int]) -> None:
    seen(crew)
    if story.startswith("left"):
        crew.task("w1", status="todo")
    if story == "left beside":
        crew.task("w2")
    if story in ("blocked", "inactive"):
        task = crew.task("w1")
        if story == "blocked":
            crew.move(task, "blocked", "later")
        else:
            crew.owner.call("deactivate_agent", agent_id="w1")
    if story == "unserved":
        filed(key(crew, "chief", orchestrator=True))
    assert calm(crew) == state


def test_every_condition_has_a_test() -> None:
    assert set(Condition) == {
        *("archived", "paused", "no_team", "program_missing", "coordinator_gone", "budget_used_up", "quota_used_up")
    }

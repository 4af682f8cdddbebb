"""What is off in a project is told in one line, with what helps; the overview is calm only where all work goes on."""

from __future__ import annotations

import pytest

from tests.documents.test_pages import wrong as mistake_in
from tests.operations.test_programs import NAMED, end, start_of
from tests.operations.test_queue import filed, key, poller
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


def keeps(world: World, account: str = "claude", **given: object) -> str:
    """An account of which 900 of 1,000 tokens are used in a window that has just begun; when it ends."""
    world.owner.call("edit_quota", account=account, limit_5h=1_000, **given)
    task = world.task("w2", priority="critical")
    process = world.start("w2")
    process.report()
    usage = {"input_tokens": 900, "cached_tokens": 0, "output_tokens": 0}
    world.coordinator("m1").exited(process.launch_id, exit_code=0, usage=usage)
    assert world.status(task) == "completed"
    windows = world.owner.call("show_quota", account=account)["quota"]["windows"]
    return str(windows[0]["spare_at"] or windows[0]["ends_at"])


def test_a_quota_that_is_kept_is_told_with_its_account_how_many_wait_until_when_and_what_changes_it(
    crew: World,
) -> None:
    until = keeps(crew, reserve=20)
    crew.task("w1", priority="low")
    crew.task("w2")
    crew.task("boss", priority="high")
    seen(crew)
    (found,) = conditions(crew)
    assert found["text"] == (
        "What is left of the quota of the account claude is kept for tasks of high and critical priority. 2 tasks wait."
    )
    assert (found["kind"], found["account"], found["until"]) == ("quota_kept", "claude", until)
    assert acts(found) == ["edit_quota", "usage"]
    assert found["actions"][0]["command"] == "toryo quota edit claude --reserve PERCENT"
    overview = crew.owner.call("show_overview")
    assert overview["calm"] == {"state": "runs_in_part", "tasks": 2, "until": until}
    assert [(each["reason"], each["until"]) for each in overview["queue"]["held"]] == [("reserve_kept", until)] * 2
    assert "toryo" not in str(overview["queue"]["held"])
    assert overview["needs"] == []
    crew.owner.call("edit_quota", account="claude", reserve=5)
    assert conditions(crew) == []
    assert calm(crew) == ("runs", 0)


def test_where_all_work_waits_for_the_quota_the_overview_says_until_when(crew: World) -> None:
    until = keeps(crew, low_priority="spare")
    crew.task("w1", priority="low")
    seen(crew)
    (found,) = conditions(crew)
    assert found["text"] == "The account claude has no quota to spare for tasks of low priority. 1 task waits."
    assert found["actions"][0]["command"] == "toryo quota edit claude --low-priority any"
    assert found["until"] == until
    assert calm(crew) == ("waits", 1)
    crew.now = parse(until)
    seen(crew)
    assert conditions(crew) == []
    assert calm(crew) == ("runs", 0)


def queued(world: World, **given: object) -> None:
    world.owner.call("file_task", project_id=world.project_id, title="Grind", agent_type="mill", status="todo", **given)


@pytest.mark.parametrize("kept", [True, False])
def test_tasks_of_a_queue_wait_for_the_quota_too(crew: World, kept: bool) -> None:
    if kept:
        keeps(crew, reserve=20)
    else:
        crew.task("w1")
        end(crew, start_of(crew, "w1"), "quota: resets after 23m", NAMED)
        crew.move(crew.owner.call("show_overview")["queue"]["held"][0]["task_id"], "cancelled", "later")
    crew.owner.call("edit_agent", agent_id="w2", agent_type="mill")
    queued(crew)
    queued(crew, priority="low")
    seen(crew)
    (found,) = conditions(crew)
    assert found["kind"] == ("quota_kept" if kept else "quota_used_up")
    assert found["text"].endswith("2 tasks wait.")
    assert calm(crew) == ("waits", 2)
    queued(crew, priority="critical")
    assert calm(crew) == (("runs_in_part", 2) if kept else ("waits", 3))
    crew.worker("w3", "boss", provider="codex")
    crew.owner.call("edit_agent", agent_id="w3", agent_type="mill")
    assert conditions(crew) == []
    assert calm(crew) == ("runs", 0)


def test_a_queue_that_an_agent_polls_by_itself_waits_for_no_account(crew: World) -> None:
    keeps(crew, reserve=20)
    crew.owner.call("edit_agent", agent_id="w2", agent_type="mill")
    queued(crew)
    poller(crew, "grinder", "mill")
    seen(crew)
    assert conditions(crew) == []


def test_tasks_of_a_queue_wait_for_the_budget_too(crew: World) -> None:
    crew.owner.call("edit_agent", agent_id="w2", agent_type="mill")
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"budget_per_day": 0})
    queued(crew)
    seen(crew)
    assert calm(crew) == ("waits", 1)
    assert [each["reason"] for each in crew.owner.call("show_overview")["queue"]["held"]] == ["budget_exhausted"]


def test_what_waits_for_something_else_does_not_wait_for_the_quota(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    crew.person("lena", "boss")
    [part] = boss.assigned({"Ask around": "lena"})
    boss.begin(part)
    boss.wait()
    task = crew.task("w1")
    at_work = crew.start("w1")
    keeps(crew, reserve=20)
    seen(crew)
    assert at_work.next()["action"] != "exit"
    assert conditions(crew) == []
    crew.move(task, "blocked", "later")
    assert conditions(crew) == []
    crew.move(part, "done")
    assert [each["text"] for each in conditions(crew) if "1 task waits." in each["text"]] != []


def test_checks_that_no_coordinator_runs_are_told(crew: World) -> None:
    crew.task("w1", acceptance=[{"file": "hello.txt"}])
    worker = crew.start("w1")
    worker.refused("report_completed", "notNow", result="success", summary="done")
    seen(crew)
    last = crew.now
    assert (conditions(crew), calm(crew)) == ([], ("runs", 0))
    crew.advance(95)
    (found,) = conditions(crew)
    assert (found["kind"], found["since"]) == ("coordinator_gone", iso(last))
    assert found["text"] == "No Coordinator is running. 1 task waits."
    assert calm(crew) == ("held", 1)
    crew.task("w2")
    (found,) = conditions(crew)
    assert found["text"] == "No Coordinator is running. 2 tasks wait."
    seen(crew)
    assert conditions(crew) == []


def test_a_page_looks_again_when_a_kept_quota_is_free(crew: World) -> None:
    until = keeps(crew, reserve=20)
    crew.task("w1")
    crew.now = parse(until) - 7_000
    seen(crew)
    assert crew.owner.call("show_conditions")["look_again_after"] in (6, 7)


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
        *(
            "archived",
            "paused",
            "no_team",
            "program_missing",
            "coordinator_gone",
            "budget_used_up",
            "quota_used_up",
            "quota_kept",
        )
    }


def test_only_what_a_person_starts_counts_as_that(crew: World) -> None:
    """A part of what an agent works on is the agent's to start."""
    main = crew.task("boss")
    crew.task("w1", parent_task_id=main, status="todo")
    assert crew.owner.call("show_overview")["queue"]["to_start"] == 0
    crew.task("w1", status="todo")
    assert crew.owner.call("show_overview")["queue"]["to_start"] == 1

"""What cannot move by itself is told with its cause and with what helps; what was left on purpose is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents.test_pages import wrong as mistake_in
from tests.operations.test_queue import filed, key
from tests.stories import Answer, Caller, World
from toryo.domain.errors import Code

pytestmark = pytest.mark.crew(workers=2, decomposition="never")


def stuck(world: World) -> dict[str, Answer]:
    """What is listed as stuck, by task; every command exists."""
    items = [item for item in world.owner.call("needs_you")["items"] if item["kind"] == "stuck"]
    assert [wrong for item in items for act in item["actions"] if (wrong := mistake_in(act["command"]))] == []
    return {item["task_id"]: item for item in items}


def acts(item: Answer) -> list[str]:
    return [action["name"] for action in item["actions"]]


@pytest.mark.parametrize("end", ["cancelled", "failed"])
def test_a_task_that_waits_for_what_will_never_be_completed(crew: World, end: str) -> None:
    first = crew.task("w1", title="First")
    then = crew.task("w2", title="Then", status="todo", dependencies=[first])
    assert stuck(crew) == {}
    crew.move(first, end, "not needed")
    (item,) = stuck(crew).values()
    assert item["task_id"] == then
    assert item["text"] == f"It depends on “First” ({end}), which will not be completed."
    assert item["actions"][0]["command"] == f"toryo task edit {then} --no-longer-on {first}"
    crew.owner.call("edit_task", task_id=then, remove_dependencies=[first])
    assert stuck(crew) == {}


def test_a_task_that_waits_for_a_failure_about_which_somebody_is_asked_is_not_told_beside_it(crew: World) -> None:
    first = crew.task("w1", title="First")
    then = crew.task("w2", title="Then", status="todo", dependencies=[first])
    crew.start("w1").report("failed", "cannot")
    assert [item["task_id"] for item in crew.owner.call("needs_you")["items"]] == [first]
    crew.move(first, "cancelled", "given up")
    assert list(stuck(crew)) == [then]


def test_a_part_of_what_an_agent_leads_is_left_to_it(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    first, _ = boss.assigned({"First": "w1", "Then": "w2"})
    boss.call("cancel_task", task_id=first, reason="not needed")
    assert stuck(crew) == {}


def test_a_queue_that_nobody_serves_after_the_stall_time(crew: World) -> None:
    task = filed(key(crew, "chief", orchestrator=True))
    assert stuck(crew) == {}
    crew.advance(121)
    assert stuck(crew)[task]["text"] == "No agent serves the queue planning."
    crew.worker("w3", agent_type="planning")
    assert stuck(crew) == {}


def test_tasks_of_a_queue_that_nobody_serves_are_one_need_however_many_they_are(crew: World) -> None:
    orchestrator = key(crew, "chief", orchestrator=True)
    tasks = [filed(orchestrator, f"Plan {number}") for number in range(40)]
    other = filed(orchestrator, "Draw", agent_type="drawing")
    crew.advance(121)
    found = stuck(crew)
    assert set(found) == {tasks[0], other}
    assert found[tasks[0]]["title"] == "Stuck: Plan 0 and 39 more"
    assert found[tasks[0]]["text"] == "No agent serves the queue planning. The same applies to 39 more tasks."
    for task in tasks[:39]:
        crew.move(task, "cancelled", "not needed")
    left = stuck(crew)
    assert left[tasks[39]]["text"] == "No agent serves the queue planning."
    assert left[tasks[39]]["key"] == found[tasks[0]]["key"], "people are told of it once"


def test_tasks_that_wait_for_the_same_end_are_one_need(crew: World) -> None:
    first = crew.task("w1", title="First", status="todo")
    then = [crew.task("w2", title=f"Then {n}", status="todo", dependencies=[first]) for n in range(3)]
    crew.move(first, "cancelled", "not needed")
    (item,) = stuck(crew).values()
    assert (item["task_id"], item["title"]) == (then[0], "Stuck: Then 0 and 2 more")
    assert item["text"].endswith("The same applies to 2 more tasks.")
    crew.owner.call("edit_task", task_id=then[0], remove_dependencies=[first])
    (rest,) = stuck(crew).values()
    assert (rest["task_id"], rest["key"]) == (then[1], item["key"])
    assert rest["text"].endswith("The same applies to one more task.")


@pytest.mark.parametrize(
    ("by", "act"),
    [("deactivate_agent", "activate"), ("remove_member", "join"), ("edit_agent", "correct")],
)
def test_a_task_in_progress_whose_agent_does_nothing_any_more(crew: World, by: str, act: str) -> None:
    task = crew.task("w1")
    asked: dict[str, Answer] = {"remove_member": {"project_id": crew.project_id}, "edit_agent": {"provider": None}}
    crew.owner.call(by, agent_id="w1", **asked.get(by, {}))
    crew.advance(121)
    (item,) = stuck(crew).values()
    assert (item["task_id"], acts(item)[:2]) == (task, [act, "assign"])
    crew.owner.call("edit_task", task_id=task, assignee_id="w2")
    assert stuck(crew) == {}


def test_a_part_in_progress_of_what_its_agent_has_not_started(crew: World) -> None:
    whole = crew.task("w1", title="Whole", status="todo")
    part = crew.task("w1", title="Part", parent_task_id=whole)
    (item,) = stuck(crew).values()
    assert (item["task_id"], acts(item)[:2]) == (part, ["start", "put_back"])
    crew.move(whole, "in_progress")
    assert stuck(crew) == {}


def test_what_is_left_below_a_task_that_a_person_has_failed(crew: World) -> None:
    whole = crew.task("boss", title="Whole")
    crew.task("w1", title="Part", parent_task_id=whole, status="todo")
    crew.move(whole, "failed", "no use")
    (item,) = stuck(crew).values()
    assert (item["task_id"], acts(item)[:2]) == (whole, ["retry", "cancel"])
    crew.move(whole, "cancelled", "given up")
    assert stuck(crew) == {}


def test_managers_that_wait_for_each_others_room(crew: World) -> None:
    """Each waits for a part whose assignee is busy with what waits for the other."""
    crew.manager("deputy", "boss")
    crew.manager("chief")
    crew.worker("w3", "deputy")
    one, other = crew.task("boss", title="One"), crew.task("deputy", title="Other")
    crew.task("deputy", title="Part of one", parent_task_id=one, status="todo")
    crew.task("boss", title="Part of other", parent_task_id=other, status="todo")
    for each in ("boss", "deputy"):
        crew.start(each).wait()
    items = stuck(crew)
    assert set(items) == {one, other}
    assert items[one]["text"] == "It waits for “Other” (in_progress), which cannot continue either."


@pytest.mark.parametrize(
    "how", ["draft", "to do", "blocked by a person", "rejected", "paused", "a person's", "at work"]
)
def test_what_was_left_on_purpose_and_what_moves_are_not_told(crew: World, how: str) -> None:
    crew.person("ann")
    who = "ann" if how == "a person's" else "w1"
    task = crew.task(who, status={"draft": "backlog", "to do": "todo", "rejected": "todo"}.get(how, "in_progress"))
    crew.task("w2", title="Then", status="todo", dependencies=[task])
    if how == "blocked by a person":
        crew.move(task, "blocked", "later")
    elif how == "rejected":
        crew.owner.call("reject_task", task_id=task, reason="later")
    elif how == "paused":
        crew.owner.call("pause_project", project_id=crew.project_id)
    crew.advance(4000)
    crew.coordinator().claim(free_slots=0)
    assert stuck(crew) == {}


def test_it_is_told_in_the_overview_and_as_a_notice_too(crew: World) -> None:
    crew.task("w1")
    crew.owner.call("deactivate_agent", agent_id="w1")
    assert [need["kind"] for need in crew.owner.call("show_overview")["needs"]] == ["stuck"]


@pytest.mark.parametrize("end", ["cancelled", "failed"])
def test_nothing_new_depends_on_what_was_cancelled_or_has_failed(crew: World, end: str) -> None:
    over, task = crew.task("w1", title="Over"), crew.task("w2", status="todo")
    crew.move(over, end, "not needed")
    chief = key(crew, "chief", orchestrator=True)
    asked = {"project_id": crew.project_id, "title": "New", "dependencies": [over]}
    for caller, name, arguments in (
        (crew.owner, "file_task", asked),
        (crew.owner, "edit_task", {"task_id": task, "add_dependencies": [over]}),
        (chief, "create_task", {"agent_type": "planning", "task_description": "New", "dependencies": [over]}),
    ):
        refusal = caller.refused(name, Code.DEPENDENCY_NOT_MET, **arguments)
        assert (refusal["task_id"], end in refusal["message"]) == (over, True)


def test_what_could_not_go_on_when_its_block_ended_and_was_not_started_since(crew: World) -> None:
    """Its agent had begun with something else meanwhile."""
    main = crew.task("boss", title="First")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    boss.begin(part)
    crew.start("w1").report("blocked", "no key")
    boss.report("blocked", "no key")
    second = crew.task("boss", title="Second")
    crew.move(part, "in_progress")
    assert (crew.status(main), crew.status(second)) == ("todo", "in_progress")
    (item,) = stuck(crew).values()
    assert (item["task_id"], acts(item)) == (main, ["assign", "cancel", "show"])
    assert f"boss is working on {second}" in item["text"]
    crew.move(second, "cancelled", "not needed")
    (item,) = stuck(crew).values()
    assert (item["task_id"], acts(item)[0]) == (main, "unblock")
    crew.owner.call("pause_project", project_id=crew.project_id)
    assert stuck(crew) == {}
    crew.owner.call("resume_project", project_id=crew.project_id)
    crew.move(main, "in_progress")
    assert stuck(crew) == {}


def test_a_part_for_a_queue_that_goes_back_to_it_with_its_whole_is_served_again(crew: World) -> None:
    crew.worker("w3", agent_type="planning")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="owner")
    whole = crew.task("owner", title="Whole")
    part = crew.task(None, agent_type="planning", parent_task_id=whole, status="todo")
    process = crew.start("w3")
    crew.move(whole, "blocked", "later")
    process.call("logout")
    crew.move(whole, "in_progress")
    assert (crew.status(part), crew.why("w3"), stuck(crew)) == ("todo", "start has_ready_queue_task", {})


def test_an_agent_that_is_started_by_hand_is_stuck_after_the_stall_time(crew: World) -> None:
    crew.worker("h1", "boss", provider=None)
    task = crew.task("h1")
    assert stuck(crew) == {}
    crew.advance(121)
    item = stuck(crew)[task]
    assert (acts(item)[0], "Start one by hand" in item["text"]) == ("correct", True)
    passkey = crew.owner.call("renew_passkey", agent_id="h1")["passkey"]
    asked = {"agent_id": "h1", "project_id": crew.project_id, "passkey": passkey}
    token = Caller(crew, None).call("authenticate", **asked)["session_token"]
    assert stuck(crew) == {}
    Caller(crew, None, token).call("logout")
    assert stuck(crew) == {}
    crew.advance(121)
    assert list(stuck(crew)) == [task]


def test_members_are_told_that_an_owner_does_what_only_owners_may(crew: World) -> None:
    lena = crew.member("lena")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="lena")
    crew.worker("w3", "lena")
    crew.task("w3")
    crew.owner.call("deactivate_agent", agent_id="w3")
    (item,) = lena.call("needs_you")["items"]
    assert (acts(item), item["text"]) == (
        ["assign", "show"],
        "Its assignee w3 is inactive. An owner can activate it.",
    )


def test_what_somebody_has_unblocked_by_name_and_left_to_be_done_is_left_on_purpose(crew: World) -> None:
    task = crew.task("w1")
    crew.start("w1").report("blocked", "no key")
    crew.move(task, "todo")
    assert stuck(crew) == {}


def test_a_queue_task_that_an_inactive_agent_has_kept_goes_back_to_the_queue(crew: World) -> None:
    crew.worker("w3", agent_type="planning")
    task = filed(key(crew, "chief", orchestrator=True))
    process = crew.start("w3")
    crew.task("w1", parent_task_id=task, title="Part")
    assert process.action() == "wait_for_others"
    crew.owner.call("deactivate_agent", agent_id="w3")
    item = stuck(crew)[task]
    assert item["actions"][1]["command"] == f"toryo task move {task} todo"
    crew.move(task, "todo")
    crew.owner.call("activate_agent", agent_id="w3")
    assert crew.why("w3") == "start has_ready_queue_task"


def test_a_viewer_is_told_of_what_is_stuck_and_of_nothing_that_only_others_may_do(crew: World) -> None:
    viewer = crew.member("vera", login="viewer")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="vera")
    crew.owner.call("edit_agent", agent_id="w1", reports_to="vera")
    crew.owner.call("edit_agent", agent_id="w2", reports_to="vera")
    first = crew.task("w1", title="First", status="todo")
    crew.task("w2", title="Then", status="todo", dependencies=[first])
    crew.move(first, "cancelled", "not needed")
    crew.task("w1", title="Held")
    crew.start("w1").report("blocked", "no key")
    items = viewer.call("needs_you")["items"]
    assert {item["kind"] for item in items} == {"stuck", "blocked"}
    assert {act["name"] for item in items for act in item["actions"]} <= {"show", "list", "log", "why"}


def test_what_needs_somebody_costs_nothing_for_tasks_that_nobody_has_started(
    crew: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a statement nor a row more, however many there are; and what is found is what the overview finds."""
    first = crew.task("w1", title="First", status="todo")
    crew.task("w2", title="Then", status="todo", dependencies=[first])
    crew.move(first, "cancelled", "not needed")
    whole = crew.task("boss", title="Whole", status="todo")
    crew.task("boss", title="Part", parent_task_id=whole)
    read_for_needs(crew, monkeypatch)  # the directory is remembered from here on
    before = read_for_needs(crew, monkeypatch)
    for number in range(30):
        crew.task("w1", title=f"Later {number}", status="todo")
        parent = crew.task("w2", title=f"Later whole {number}", status="todo")
        crew.task("w2", title=f"Later part {number}", parent_task_id=parent, status="todo")
    assert read_for_needs(crew, monkeypatch) == before
    told = [{"blocks": 0, **item} for item in crew.owner.call("needs_you")["items"]]
    shown = [{**need, "blocks": 0} for need in crew.owner.call("show_overview")["needs"]]
    assert len(told) == 2
    assert sorted(told, key=lambda each: each["key"]) == sorted(shown, key=lambda each: each["key"])


def read_for_needs(world: World, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many statements are run, and how many rows are read."""
    counts: list[int] = []
    kind: Any = world.database.read(type)
    with monkeypatch.context() as patch:
        for name in ("all", "one"):
            patch.setattr(kind, name, _counting(getattr(kind, name), counts))
        world.owner.call("needs_you")
    return len(counts), sum(counts)


def _counting(original: Any, counts: list[int]) -> Any:
    def counted(connection: Any, statement: Any, **values: Any) -> Any:
        rows = original(connection, statement, **values)
        counts.append(len(rows) if isinstance(rows, list) else 1)
        return rows

    return counted

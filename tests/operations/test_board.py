"""The board of a project: every card with what it shows, and where it may be moved to, as moving it would say."""

from __future__ import annotations

import pytest

from tests.stories import Answer, World
from toryo.domain.tasks import Status
from toryo.operations.calls.pagination import cursor_of


def board(world: World) -> dict[str, Answer]:
    answer = world.owner.call("show_board", project_id=world.project_id)
    return {task["task_id"]: task for task in answer["tasks"]}


def moves(world: World, task_id: str) -> dict[str, Answer]:
    answer = world.owner.call("show_moves", task_id=task_id)
    return {move["status"]: move for move in answer["moves"]}


# --- cards -----------------------------------------------------------------------------------------------------------


def test_a_board_without_tasks_is_empty(crew: World):
    assert board(crew) == {}


def test_a_card_says_what_a_full_task_says_where_both_say_it(crew: World):
    first = crew.task("w1", title="First", priority="high")
    second = crew.task("w2", title="Second", status="todo", dependencies=[first], description="long words")
    cards = board(crew)
    for task_id in (first, second):
        full = crew.show(task_id)
        shared = cards[task_id].keys() & full.keys()
        assert {"title", "status", "priority", "dependencies", "version", "started_at", "approval", "checks"} <= shared
        assert {name: cards[task_id][name] for name in shared} == {name: full[name] for name in shared}
    assert cards[second]["dependencies"] == [first]
    assert "description" not in cards[second]


def test_a_card_waits_for_the_dependencies_that_are_not_completed(crew: World):
    first, second = crew.task("w1", title="First"), crew.task("w2", title="Second")
    last = crew.task("w2", title="Last", status="todo", dependencies=[first, second])
    assert board(crew)[last]["waits_for"] == 2
    before = crew.owner.call("show_board", project_id=crew.project_id)["last_event"]
    crew.owner.call("move_task", task_id=first, status="completed")
    news = crew.owner.call("show_board", project_id=crew.project_id, after=before)
    (card,) = [each for each in news["tasks"] if each["task_id"] == last]
    assert (card["waits_for"], card["dependencies"]) == (1, [first, second])


def test_a_card_says_what_its_task_cost_and_how_many_lines_it_changed(crew: World):
    task, other = crew.task("w1"), crew.task("w2")
    process = crew.start("w1")
    crew.coordinator().call("append_log", launch_id=process.launch_id, offset=0, text="", usage=USED)
    card = board(crew)[task]
    assert (card["cost_usd"], card["insertions"], card["deletions"]) == (0.25, None, None)
    assert board(crew)[other]["cost_usd"] is None


USED = {"input_tokens": 1200, "output_tokens": 300, "cost_usd": 0.25, "model": "oak-2"}


def test_the_most_important_cards_come_first_and_of_these_the_oldest(crew: World):
    low, later, high = (
        crew.task(None, title=each, status="todo", priority=each) for each in ("low", "medium", "critical")
    )
    last = crew.task(None, title="also medium", status="todo")
    assert list(board(crew)) == [high, later, last, low]


def test_a_column_has_its_first_tasks_its_true_count_and_the_rest_page_by_page(crew: World):
    """Also of tasks of several queues, and of those without one, in one order."""
    crew.owner.call("make_api_key", project_id=crew.project_id, agent_id="q", types=["paint", "sing"])
    wanted: list[tuple[str, str | None]] = [("low", None), ("high", "paint"), ("medium", "sing"), ("high", None)]
    filed = [
        crew.task(None, title=f"{n}", status="todo", priority=priority, **({"agent_type": queue} if queue else {}))
        for n, (priority, queue) in enumerate(wanted * 2)
    ]
    crew.task(None, title="later", status="backlog")
    whole = crew.owner.call("show_board", project_id=crew.project_id)
    order = [task["task_id"] for task in whole["tasks"] if task["status"] == "todo"]
    assert sorted(order) == sorted(filed)
    assert {each["status"]: (each["count"], each["more"]) for each in whole["columns"]} == {
        "backlog": (1, None),
        "todo": (8, None),
        "in_progress": (0, None),
        "blocked": (0, None),
    }
    page = crew.owner.call("show_board", project_id=crew.project_id, open=3)
    found = [task["task_id"] for task in page["tasks"] if task["status"] == "todo"]
    while more := todo(page)["more"]:
        assert todo(page)["count"] == 8
        page = crew.owner.call("show_board", project_id=crew.project_id, open=3, more=more)
        assert not page["whole"]
        assert {task["status"] for task in page["tasks"]} == {"todo"}
        found += [task["task_id"] for task in page["tasks"]]
    assert found == order


def todo(answer: Answer) -> Answer:
    [found] = [each for each in answer["columns"] if each["status"] == "todo"]
    return found  # type: ignore[no-any-return]


def test_a_change_of_a_card_that_a_board_does_not_begin_with_is_told_with_the_new_counts(crew: World):
    for n in range(4):
        last = crew.task(None, title=f"{n}", status="todo")
    begin = crew.owner.call("show_board", project_id=crew.project_id, open=2)
    assert last not in {task["task_id"] for task in begin["tasks"]}
    crew.owner.call("edit_task", task_id=last, title="Renamed")
    after = crew.owner.call("show_board", project_id=crew.project_id, open=2, after=begin["last_event"])
    assert [task["title"] for task in after["tasks"]] == ["Renamed"]
    assert todo(after) == {"status": "todo", "count": 4, "more": None}
    crew.move(last, "cancelled", "not needed")
    after = crew.owner.call("show_board", project_id=crew.project_id, open=2, after=after["last_event"])
    assert todo(after)["count"] == 3


def test_a_card_comes_with_its_tree_and_with_what_it_is_a_part_of_however_large_the_tree(
    crew: World, monkeypatch: pytest.MonkeyPatch
):
    main = crew.task("boss", priority="low")
    parts = [crew.task("w1", parent_task_id=main, title=f"Part {n}", status="todo") for n in range(4)]
    crew.task("boss", title="Other", priority="critical", status="todo")
    shown = crew.owner.call("show_board", project_id=crew.project_id, open=2)["tasks"]
    assert {main, *parts} <= {task["task_id"] for task in shown}
    monkeypatch.setattr("toryo.operations.tasks.board.MOST_OF_TREES", 1)
    shown = crew.owner.call("show_board", project_id=crew.project_id, open=2)["tasks"]
    found = {task["task_id"]: task["parent_task_id"] for task in shown}
    assert len(found.keys() & {*parts}) < len(parts)
    assert {parent for parent in found.values() if parent is not None} <= found.keys()


def test_a_cursor_of_something_else_is_refused(crew: World):
    for cursor in ("x", cursor_of("completed", 0, 0, 0, "tsk_1"), cursor_of(1, "tsk_1")):
        crew.owner.refused("show_board", "validationError", project_id=crew.project_id, more=cursor)


def test_a_card_counts_its_subtasks_without_the_cancelled_ones_and_those_that_are_done(crew: World):
    main = crew.task("boss")
    parts = [crew.task("w1", parent_task_id=main, title=f"Part {n}", status="todo") for n in range(3)]
    below = crew.task("w1", parent_task_id=parts[0], status="todo")
    crew.move(parts[1], "in_progress")
    crew.move(parts[1], "completed")
    crew.move(parts[2], "cancelled", "not needed")
    card = board(crew)[main]
    assert (card["children"], card["children_done"]) == (2, 1)
    assert board(crew)[below]["root_task_id"] == main
    assert board(crew)[below]["parent_task_id"] == parts[0]


def test_a_card_says_that_it_runs_only_while_somebody_is_signed_in_for_it(crew: World):
    task = crew.task("w1")
    assert not board(crew)[task]["running"]
    process = crew.start("w1")
    assert board(crew)[task]["running"]
    process.report()
    assert not board(crew)[task]["running"]


def test_what_happens_after_a_board_was_read_comes_after_its_last_event(crew: World):
    crew.task("w1")
    last = crew.owner.call("show_board", project_id=crew.project_id)["last_event"]
    assert crew.owner.call("read_events", after=last)["events"] == []
    crew.task("w2")
    assert crew.owner.call("read_events", after=last)["events"][0]["kind"] == "task.created"


def test_the_board_of_a_project_that_one_does_not_belong_to_is_not_found(crew: World):
    crew.member("zoe").refused("show_board", "projectNotFound", project_id=crew.project_id)


# --- moves -----------------------------------------------------------------------------------------------------------


def situations(world: World) -> dict[str, str]:
    """Tasks in every status, some of them hindered."""
    parent = world.task("boss", title="parent")
    tasks = {
        "draft": world.task("w1", status="backlog"),
        "draft of nobody": world.task(None, status="backlog"),
        "ready": world.task("w1", status="todo", title="ready"),
        "of nobody": world.task(None, status="todo"),
        "in progress": world.task("w2", title="in progress"),
        "checked": world.task("boss", status="todo", acceptance=[{"file": "a.txt"}]),
        "parent": parent,
        "part": world.task("boss", parent_task_id=parent, title="part"),
        "waits": world.task("w2", status="todo", dependencies=[parent], title="waits"),
        "over the limit": world.task("w2", status="todo", title="over the limit"),
    }
    for name, status in (("blocked", "blocked"), ("failed", "failed"), ("cancelled", "cancelled")):
        tasks[name] = world.task("w1", status="todo", title=name)
        if status == "failed":
            world.move(tasks[name], "in_progress")
        world.move(tasks[name], status, "because")
    tasks["done"] = world.task("w1", status="todo", title="done")
    world.move(tasks["done"], "in_progress")
    world.move(tasks["done"], "completed")
    return tasks


@pytest.mark.parametrize("to", [each.value for each in Status])
def test_what_is_foretold_of_a_move_is_what_moving_answers(crew: World, to: str):
    for name, task in situations(crew).items():
        foretold = moves(crew, task)[to]
        if foretold["allowed"]:
            crew.owner.call("move_task", task_id=task, status=to, reason="because")
            assert crew.status(task) == to, name
        else:
            refusal = crew.owner.refused("move_task", foretold["code"], task_id=task, status=to, reason="because")
            assert (refusal["message"], refusal["instruction"]) == (foretold["reason"], foretold["instruction"]), name


def test_asking_where_a_card_may_go_changes_nothing(crew: World):
    tasks = situations(crew)
    before = crew.rows()
    for task in tasks.values():
        moves(crew, task)
    assert crew.rows() == before


def test_who_is_no_owner_says_why_where_a_move_needs_a_reason(crew: World):
    zoe = crew.member("zoe")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="zoe")
    task = zoe.call("file_task", project_id=crew.project_id, title="Mine", assignee_id="w1")["task_id"]
    hers = {move["status"]: move for move in zoe.call("show_moves", task_id=task)["moves"]}
    assert hers["cancelled"]["allowed"]
    assert [name for name, her in hers.items() if her["needs_reason"]] == ["blocked", "failed", "cancelled"]
    assert not any(move["needs_reason"] for move in moves(crew, task).values())


def test_who_may_not_change_a_task_is_told_so_for_every_move(crew: World):
    task = crew.task("w1", status="todo")
    zoe = crew.member("zoe")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="zoe")
    hers = {move["status"]: move for move in zoe.call("show_moves", task_id=task)["moves"]}
    assert not any(her["allowed"] for her in hers.values())
    assert hers["in_progress"]["code"] == "permissionDenied"
    zoe.refused("move_task", "permissionDenied", task_id=task, status="in_progress")


def test_a_viewer_may_move_nothing_and_is_told_why(crew: World):
    task = crew.task("w1", status="todo")
    viewer = crew.member("vic", login="viewer")
    told = viewer.call("show_moves", task_id=task)["moves"]
    assert {(each["allowed"], each["code"]) for each in told} == {(False, "permissionDenied")}
    assert told[0]["reason"] == viewer.refused("move_task", "permissionDenied", task_id=task, status="todo")["message"]


# --- what was closed earlier -----------------------------------------------------------------------------------------


def closed(world: World, many: int) -> list[str]:
    """Tasks that were closed one after the other."""
    found = []
    for number in range(many):
        found.append(world.task(None, title=f"Done {number}", status="todo"))
        world.move(found[-1], "cancelled", "not needed")
        world.advance(1)
    return found


def test_a_board_has_the_open_tasks_and_leads_page_by_page_to_those_that_were_closed_earlier(crew: World):
    done = closed(crew, 5)
    still_open = crew.task("w1", status="todo")
    answer = crew.owner.call("show_board", project_id=crew.project_id, closed=2)
    assert {each["task_id"] for each in answer["tasks"]} == {still_open, *done[3:]}
    assert answer["whole"]
    pages = []
    while answer["older"] is not None:
        answer = crew.owner.call("show_board", project_id=crew.project_id, closed=2, older=answer["older"])
        assert not answer["whole"]
        pages.append([each["task_id"] for each in answer["tasks"]])
    assert pages == [done[1:3], done[:1]]


def test_closed_tasks_in_the_tree_of_an_open_one_are_always_there(crew: World):
    main = crew.task("boss")
    part = crew.task("w1", parent_task_id=main, status="todo")
    crew.move(part, "cancelled", "not needed")
    closed(crew, 3)
    answer = crew.owner.call("show_board", project_id=crew.project_id, closed=1)
    assert {main, part} <= {each["task_id"] for each in answer["tasks"]}
    assert answer["older"] is not None


def test_a_change_of_a_task_that_was_closed_earlier_is_in_the_delta(crew: World):
    task = crew.task("w1")
    crew.move(task, "failed", "it rained")
    closed(crew, 1)
    answer = crew.owner.call("show_board", project_id=crew.project_id, closed=1)
    crew.move(task, "todo")
    delta = crew.owner.call("show_board", project_id=crew.project_id, after=answer["last_event"])
    assert [(each["task_id"], each["status"]) for each in delta["tasks"]] == [(task, "todo")]
    assert delta["older"] is None


# --- lists -----------------------------------------------------------------------------------------------------------


def listed(world: World, **wanted: object) -> set[str]:
    answer = world.owner.call("list_project_tasks", project_id=world.project_id, **wanted)
    return {each["task_id"] for each in answer["tasks"]}


def test_a_list_has_a_hundred_tasks_a_page_unless_told_otherwise(crew: World):
    for number in range(101):
        crew.task(None, title=f"T{number}", status="todo")
    answer = crew.owner.call("list_project_tasks", project_id=crew.project_id)
    rest = crew.owner.call("list_project_tasks", project_id=crew.project_id, cursor=answer["next_cursor"])
    assert (len(answer["tasks"]), len(rest["tasks"]), "next_cursor" in rest) == (100, 1, False)


def test_a_list_of_a_tree_or_of_what_is_current_has_these_tasks_only(crew: World):
    main = crew.task("boss")
    part = crew.task("w1", parent_task_id=main, status="todo")
    crew.move(part, "cancelled", "not needed")
    [old] = closed(crew, 1)
    crew.advance(3600)
    [new] = closed(crew, 1)
    assert listed(crew, tree_of=part) == {main, part}
    assert listed(crew, tree_of=part, status="cancelled") == {part}
    since = crew.owner.call("show_task", task_id=new)["task"]["completed_at"]
    assert listed(crew, closed_since=since) == {main, part, new}
    assert listed(crew) == {main, part, old, new}


@pytest.mark.parametrize(("end", "way_on"), [("failed", "toryo task retry"), ("cancelled", "Create a new task.")])
def test_a_closed_task_is_not_edited_and_only_a_failed_one_can_be_taken_up_again(
    crew: World, end: str, way_on: str
) -> None:
    task = crew.task("w1", status="todo")
    crew.move(task, "in_progress")
    crew.move(task, end, "no")
    refusal = crew.owner.refused("edit_task", "invalidTransition", task_id=task, title="Other")
    assert way_on in refusal["instruction"]

"""Who may create which tasks, and how many: places, caps, the decomposition window, intents, doubles, batches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain import things
from tests.domain.things import (
    agent,
    at_work,
    cancelled,
    done,
    failed,
    outcome,
    project,
    refused,
    stuck,
    todo,
    tree_state,
)
from toryo.domain import creation_rules
from toryo.domain.agents import Agent, Role
from toryo.domain.creation_rules import Draft, Intent
from toryo.domain.errors import Code, Refusal
from toryo.domain.projects import CommandsFrom, Decomposition
from toryo.domain.tasks import Task
from toryo.domain.tree_state import TreeState

ANN, BOSS, HANA = things.ANN, things.BOSS, things.HANA
MAIN = at_work("main", "ann", by="boss")
PLAN = at_work("plan", "boss", by="hana")


def drafts(many: int, **fields: Any) -> list[Draft]:
    return [Draft(f"Part {number}", **fields) for number in range(many)]


# --- a worker --------------------------------------------------------------------------------------------------------


def by_worker(
    *children: Task, main: Task = MAIN, parent: Task | None = None, many: int = 1, fetched: bool = True, **more: Any
) -> Any:
    """What becomes of a worker's wish for so many subtasks: None if it may."""
    where = tree_state(main, *children, where=more.pop("where", None))
    wanted = drafts(many, **more)
    return outcome(creation_rules.refuse_worker, where, main, parent or main, ANN, wanted, fetched)


def own(name: str, **fields: Any) -> Task:
    return todo(name, "ann", below=MAIN, by="ann", **fields)


def code_of(answer: Any) -> Code | None:
    assert answer is None or isinstance(answer, Refusal)
    return answer.code if answer is not None else None


def test_a_worker_breaks_down_the_task_it_was_given() -> None:
    assert by_worker(many=5) is None
    assert by_worker(assignee_id="ann") is None
    assert by_worker(own("a"), own("b"), many=3) is None


def test_a_worker_creates_nowhere_but_directly_under_its_main_task() -> None:
    assert code_of(by_worker(own("a"), parent=own("a"))) is Code.PERMISSION_DENIED


def test_a_worker_assigns_nothing_to_others() -> None:
    answer = by_worker(assignee_id="bob")
    assert code_of(answer) is Code.PERMISSION_DENIED
    assert "request_task" in answer.instruction


def test_a_self_made_subtask_is_executed_and_not_decomposed_again() -> None:
    assert code_of(by_worker(main=at_work("t", "ann", by="ann", below=todo("up", "boss")))) is Code.NOT_NOW
    assert by_worker(main=at_work("t", "ann", by="ann")) is None


def test_nothing_is_decomposed_where_the_project_says_never() -> None:
    where = project(decomposition=Decomposition.NEVER)
    assert code_of(by_worker(where=where)) is Code.NOT_NOW
    for each in (Decomposition.OPTIONAL, Decomposition.REQUIRED):
        assert by_worker(where=project(decomposition=each)) is None


def test_the_window_opens_when_the_task_is_fetched() -> None:
    answer = by_worker(fetched=False)
    assert code_of(answer) is Code.NOT_NOW
    assert "get_my_task" in answer.instruction


def test_the_window_is_closed_once_a_child_of_this_attempt_has_left_todo() -> None:
    answer = by_worker(main=replace(MAIN, worked_attempt=1))
    assert code_of(answer) is Code.NOT_NOW
    assert "get_next_action" in answer.instruction
    assert by_worker(main=replace(MAIN, worked_attempt=1, attempt=2)) is None


def test_a_worker_has_five_subtasks_and_those_it_cancelled_count() -> None:
    children = [own("a"), own("b"), cancelled("c", "ann", below=MAIN, by="ann")]
    assert by_worker(*children, many=2) is None
    answer = by_worker(*children, many=3)
    assert code_of(answer) is Code.TOO_MANY_SUBTASKS
    assert (answer.details["limit"], answer.details["existing"]) == (5, 3)


def test_what_others_put_under_its_task_does_not_count_against_the_worker() -> None:
    others = [todo(f"o{number}", "ann", below=MAIN, by="boss") for number in range(9)]
    assert by_worker(*others, many=5) is None


def test_the_workers_cap_is_the_projects() -> None:
    where = project(worker_subtasks=2)
    assert by_worker(many=2, where=where) is None
    assert code_of(by_worker(many=3, where=where)) is Code.TOO_MANY_SUBTASKS


# --- a manager -------------------------------------------------------------------------------------------------------


def by_manager(*children: Task, parent: Task = PLAN, intent: Intent | None = None, **draft: Any) -> Any:
    where = tree_state(PLAN, *([] if parent is PLAN else [parent]), *children, **draft.pop("around", {}))
    return outcome(creation_rules.refuse_manager, where, parent, BOSS, drafts(1, **draft), intent)


def test_a_manager_plans_for_its_subordinates_or_for_nobody_yet() -> None:
    deep = [agent("sub", Role.MANAGER, reports_to="boss"), agent("eve", reports_to="sub")]
    assert by_manager() is None
    assert by_manager(assignee_id="ann") is None
    assert by_manager(assignee_id="eve", around={"crew": deep}) is None


@pytest.mark.parametrize("other", ["boss", "hana", "zoe", "paul", "unheard-of"])
def test_a_manager_assigns_to_nobody_else(other: str) -> None:
    answer = by_manager(assignee_id=other)
    assert code_of(answer) is Code.PERMISSION_DENIED
    assert "list_subordinates" in answer.instruction


def test_a_manager_assigns_to_active_members_only() -> None:
    away = {"crew": [agent("ann", active=False, reports_to="boss")]}
    assert code_of(by_manager(assignee_id="ann", around=away)) is Code.PERMISSION_DENIED
    assert code_of(by_manager(assignee_id="ann", around={"strangers": ["ann"]})) is Code.PERMISSION_DENIED


@pytest.mark.pitfall("F80")
def test_nothing_is_added_under_a_task_that_somebody_else_works_on() -> None:
    assert code_of(by_manager(parent=at_work("t", "ann", below=PLAN))) is Code.NOT_NOW
    assert by_manager(parent=todo("t", "ann", below=PLAN)) is None
    assert by_manager(parent=at_work("t", "boss", below=PLAN)) is None


@pytest.mark.parametrize("first", [todo, at_work, stuck])
def test_adding_to_open_subtasks_returns_them_and_asks_what_is_meant(first) -> None:
    there = first("t", "ann", below=PLAN)
    answer = by_manager(there)
    assert code_of(answer) is Code.DUPLICATE_SUBTASK
    assert [each["task_id"] for each in answer.details["existing"]] == ["t"]
    assert answer.message == "1 open subtask already exists; nothing was created."
    assert by_manager(there, todo("other", below=PLAN)).message.startswith("2 open subtasks already exist")
    for intent in Intent:
        assert intent.value in answer.instruction
        assert by_manager(there, intent=intent) is None


@pytest.mark.parametrize("over", [done, failed, cancelled])
def test_adding_where_nothing_is_open_needs_no_intent(over) -> None:
    assert by_manager(over("t", "ann", below=PLAN)) is None


# --- the place, for everybody ----------------------------------------------------------------------------------------


def place(where: TreeState, parent: Task = PLAN, wanted: list[Draft] | None = None, **how: Any) -> Any:
    settings = where.project.settings
    return outcome(
        creation_rules.refuse_place, settings, where.tree, parent, wanted or drafts(1), **{"capped": True, **how}
    )


@pytest.mark.parametrize("over", [done, failed, cancelled])
@pytest.mark.parametrize("capped", [True, False])
def test_nothing_is_created_below_what_is_closed_not_even_by_people(over, capped: bool) -> None:
    closed = over("closed", "boss")
    inside = todo("inside", "ann", below=closed)
    where = tree_state(closed, inside)
    for parent in (closed, inside):
        assert code_of(place(where, parent, capped=capped)) is Code.INVALID_TRANSITION


def test_a_tree_is_four_deep() -> None:
    third = todo("c", below=todo("b", below=PLAN))
    assert third.depth == 3
    fourth = todo("d", below=third)
    where = tree_state(PLAN, todo("b", below=PLAN), third, fourth)
    assert place(where, third) is None
    answer = place(where, fourth)
    assert code_of(answer) is Code.DEPTH_EXCEEDED
    assert answer.details["limit"] == 4
    assert place(where, fourth, capped=False) is None


def test_twenty_subtasks_may_be_open_and_sixty_may_ever_have_been() -> None:
    open_ = [todo(f"t{number}", below=PLAN) for number in range(18)]
    over = [done(f"d{number}", below=PLAN) for number in range(9)]
    where = tree_state(PLAN, *open_, *over)
    assert place(where, wanted=drafts(2)) is None
    assert code_of(place(where, wanted=drafts(3))) is Code.TOO_MANY_SUBTASKS
    assert place(where, wanted=drafts(3), capped=False) is None
    old = replace(PLAN, children_ever=59)
    assert place(tree_state(old), old) is None
    assert code_of(place(tree_state(old), old, drafts(2))) is Code.TOO_MANY_SUBTASKS
    assert place(tree_state(old), old, drafts(2), capped=False) is None


def test_replacing_makes_room_of_what_is_not_in_progress_only() -> None:
    children = [todo(f"t{number}", below=PLAN) for number in range(18)]
    running = [at_work("r1", "ann", below=PLAN), at_work("r2", "bob", below=PLAN)]
    where = tree_state(PLAN, *children, *running)
    assert place(where, wanted=drafts(18), replacing=True) is None
    assert code_of(place(where, wanted=drafts(19), replacing=True)) is Code.TOO_MANY_SUBTASKS
    assert code_of(place(where, wanted=drafts(1))) is Code.TOO_MANY_SUBTASKS


@pytest.mark.parametrize("title", ["Paint the wall", " paint  THE\twall "])
def test_a_title_like_an_open_siblings_is_refused_with_that_siblings_id(title: str) -> None:
    where = tree_state(PLAN, todo("t", below=PLAN, title="Paint the wall"))
    for capped in (True, False):
        answer = place(where, wanted=[Draft(title)], capped=capped)
        assert code_of(answer) is Code.DUPLICATE_SUBTASK
        assert answer.details["task_id"] == "t"
    assert place(tree_state(PLAN, done("t", below=PLAN, title="Paint the wall")), wanted=[Draft(title)]) is None


def test_two_of_one_call_are_not_called_the_same() -> None:
    for first, known in ((Draft("One", local_id="a"), "a"), (Draft("One"), "(this call)")):
        answer = place(tree_state(PLAN), wanted=[first, Draft("one")])
        assert (code_of(answer), answer.details["task_id"]) == (Code.DUPLICATE_SUBTASK, known)


def test_a_new_plan_may_repeat_a_title_that_it_replaces_but_not_one_in_progress() -> None:
    waiting = tree_state(PLAN, todo("t", below=PLAN, title="Paint"))
    running = tree_state(PLAN, at_work("t", "ann", below=PLAN, title="Paint"))
    assert place(waiting, wanted=[Draft("Paint")], replacing=True) is None
    assert code_of(place(running, wanted=[Draft("Paint")], replacing=True)) is Code.DUPLICATE_SUBTASK


# --- commands --------------------------------------------------------------------------------------------------------

IN_CONTEXT = Draft("Run it", context={"command": ["true"]})
IN_CHECKS = Draft("Run it", acceptance=({"file": "a"}, {"command": "true"}))


@pytest.mark.parametrize("draft", [IN_CONTEXT, IN_CHECKS], ids=["in the context", "in the acceptance checks"])
def test_commands_are_written_by_people_and_by_managers_where_the_project_says_so(draft: Draft) -> None:
    def may(by: Agent | None, who: CommandsFrom) -> bool:
        return (
            outcome(creation_rules.refuse_commands, tree_state(where=project(commands_from=who)), [draft], by) is None
        )

    assert [may(by, CommandsFrom.PEOPLE) for by in (None, HANA, BOSS, ANN)] == [True, True, False, False]
    assert [may(by, CommandsFrom.MANAGERS) for by in (None, HANA, BOSS, ANN)] == [True, True, True, False]


def test_everybody_may_do_without_commands() -> None:
    for draft in (
        Draft("Plain"),
        Draft("Told", context={"note": "command"}),
        Draft("Filed", acceptance=({"file": "a"},)),
    ):
        creation_rules.refuse_commands(tree_state(), [draft], ANN)


# --- batches ---------------------------------------------------------------------------------------------------------


def batch(**waits: list[str]) -> list[Draft]:
    return [Draft(name, local_id=name, dependencies=tuple(others)) for name, others in waits.items()]


def test_a_batch_may_name_its_own_tasks_in_any_order_and_existing_ones() -> None:
    order = creation_rules.in_order(batch(c=["b", "tsk_old"], a=[], b=["a"]))
    assert order == {"c": ("b",), "a": (), "b": ("a",)}


def test_drafts_without_local_ids_need_none() -> None:
    drafts = [Draft("x", dependencies=("tsk_old",)), *batch(a=[]), Draft("y", dependencies=("tsk_old",))]
    assert creation_rules.in_order(drafts) == {"a": ()}


def test_a_local_id_is_used_once() -> None:
    twice = [*batch(a=[], b=[]), *batch(a=[])]
    assert "twice: a." in refused(Code.VALIDATION_ERROR, creation_rules.in_order, twice).message


@pytest.mark.parametrize(
    ("waits", "cycle"),
    [
        ({"a": ["a"]}, ["a", "a"]),
        ({"a": ["b"], "b": ["a"]}, ["a", "b", "a"]),
        ({"x": ["a"], "a": ["b"], "b": ["c"], "c": ["a"]}, ["a", "b", "c", "a"]),
    ],
)
def test_tasks_of_a_batch_do_not_wait_in_a_circle_and_the_circle_is_named(waits: dict, cycle: list) -> None:
    assert refused(Code.DEPENDENCY_CYCLE, creation_rules.in_order, batch(**waits)).details["cycle"] == cycle


names = st.sampled_from("abcdefg")


@given(st.dictionaries(names, st.lists(names, max_size=3), min_size=1))
def test_a_batch_is_accepted_exactly_when_its_tasks_can_be_done_in_some_order(waits: dict[str, list[str]]) -> None:
    left = {name: set(others) & set(waits) for name, others in waits.items()}
    while ready := [name for name, others in left.items() if not others & set(left)]:
        for name in ready:
            del left[name]
    answer = outcome(creation_rules.in_order, batch(**waits))
    assert isinstance(answer, Refusal) == bool(left)
    if isinstance(answer, Refusal):
        cycle = answer.details["cycle"]
        assert set(cycle) <= set(left)
        assert cycle[0] == cycle[-1]


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_of_a_batch_does_not_matter(order: list[str]) -> None:
    waits = {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["c"]}
    creation_rules.in_order(batch(**{name: waits[name] for name in order}))
    creation_rules.in_order(batch(**{name: [*waits[name]] for name in reversed(order)}))

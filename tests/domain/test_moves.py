"""How a task changes its status: the table and its verbs, who may, the guards, what a move takes along, and how that is
undone.

Every refusal is checked to say what instead and to have changed nothing. Long random stories: `test_any_moves.py`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product, starmap

import pytest

from tests.domain.things import (
    GUARD,
    NOW,
    OWNER,
    actor,
    agent,
    at_work,
    cancelled,
    done,
    failed,
    move,
    moves,
    project,
    refused_move,
    statuses,
    stuck,
    task,
    todo,
    tree_state,
)
from toryo.domain import moves as rules
from toryo.domain.errors import Code
from toryo.domain.moves import MOVES, Actor, Order, refusal_to_judge, relation, verb
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.tasks import Approval, Checks, Status, Wait
from toryo.domain.tree_state import TreeState

BACKLOG, TODO, IN_PROGRESS = Status.BACKLOG, Status.TODO, Status.IN_PROGRESS
BLOCKED, COMPLETED, FAILED, CANCELLED = Status.BLOCKED, Status.COMPLETED, Status.FAILED, Status.CANCELLED

TABLE = {
    BACKLOG: {TODO, CANCELLED, IN_PROGRESS},
    TODO: {BACKLOG, IN_PROGRESS, BLOCKED, CANCELLED},
    IN_PROGRESS: {COMPLETED, FAILED, BLOCKED, CANCELLED, TODO},
    BLOCKED: {TODO, IN_PROGRESS, CANCELLED, FAILED},
    FAILED: {TODO, CANCELLED},
    COMPLETED: set(),
    CANCELLED: set(),
}
"""Concepts 3.1, row by row; a cascade also blocks a backlog task, and its undoing puts that one back there."""
EDGES = [(before, to) for before, row in TABLE.items() for to in sorted(row)]

BOSS, ANN, BOB, HANA, PAUL, ZOE = (actor(each) for each in ("boss", "ann", "bob", "hana", "paul", "zoe"))
MAIN = at_work("main", "boss")


def alone(status: Status, assignee: str = "ann", **fields) -> TreeState:
    """One task without a parent."""
    return tree_state(task("t", status, assignee, **fields))


def below_boss(status: Status, assignee: str = "ann", **fields) -> TreeState:
    """A subtask of boss's main task."""
    return tree_state(MAIN, task("t", status, assignee, below=MAIN, **fields))


# --- the table -------------------------------------------------------------------------------------------------------


def test_the_table_of_moves_is_the_specified_one() -> None:
    assert {status: set(MOVES[status]) for status in Status} == TABLE


def test_every_move_has_a_verb_and_coming_from_somewhere_else_may_have_another() -> None:
    verbs = dict(zip(EDGES, starmap(verb, EDGES), strict=True))
    assert all(verbs.values())
    assert {verbs[edge] for edge in EDGES if edge[1] is IN_PROGRESS} == {"started", "unblocked"}
    assert verbs[FAILED, TODO] == "retried"
    assert verbs[IN_PROGRESS, TODO] == "put_back"
    assert verb(BLOCKED, BACKLOG) == "unblocked"


@pytest.mark.parametrize(("before", "to"), EDGES)
def test_every_move_of_the_table_is_made_when_nothing_speaks_against_it(before: Status, to: Status) -> None:
    changes = moves(alone(before), "t", to)
    assert [(change.before.status, change.after.status) for change in changes] == [(before, to)]
    assert changes[0].verb
    assert changes[0].after.moved_at == changes[0].after.updated_at == NOW
    assert changes[0].after.moved_from is before


@pytest.mark.parametrize(("before", "to"), [each for each in product(Status, Status) if each not in EDGES])
def test_every_other_move_is_refused_with_the_list_of_possible_ones(before: Status, to: Status) -> None:
    refusal = refused_move(Code.INVALID_TRANSITION, alone(before), "t", to)
    assert refusal.details["current_status"] == before.value
    assert set(refusal.details["possible"]) == {each.value for each in TABLE[before]}


@pytest.mark.parametrize(
    ("before", "people", "agents"),
    [
        (FAILED, "todo (toryo task retry t), cancelled (toryo task cancel t)", "todo, cancelled"),
        (
            BLOCKED,
            "todo, in_progress, cancelled (toryo task cancel t), failed",
            "todo, in_progress, cancelled, failed",
        ),
        (BACKLOG, "todo, cancelled (toryo task cancel t), in_progress", "todo, cancelled"),
    ],
)
def test_people_are_told_the_commands_of_possible_moves_and_agents_their_names(
    before: Status, people: str, agents: str
) -> None:
    for who, names in ((HANA, people), (BOSS, agents)):
        refusal = refused_move(Code.INVALID_TRANSITION, below_boss(before), "t", COMPLETED, who)
        assert refusal.instruction == f"From {before} it can go to: {names}."


@pytest.mark.parametrize("over", [COMPLETED, CANCELLED])
def test_what_is_final_is_said_to_be(over: Status) -> None:
    refusal = refused_move(Code.INVALID_TRANSITION, below_boss(over), "t", TODO, BOSS)
    assert refusal.instruction == f"{over} is final. Create a new task instead."


def test_a_move_to_the_present_status_is_refused_as_such() -> None:
    assert "already" in refused_move(Code.INVALID_TRANSITION, alone(TODO), "t", TODO).message


def test_an_agent_puts_a_draft_on_the_board_first_and_is_not_offered_more() -> None:
    refusal = refused_move(Code.INVALID_TRANSITION, below_boss(BACKLOG), "t", IN_PROGRESS, BOSS)
    assert set(refusal.details["possible"]) == {"todo", "cancelled"}
    assert statuses(move(below_boss(BACKLOG), "t", IN_PROGRESS, HANA))["t"] == "in_progress"


@pytest.mark.parametrize("to", [BLOCKED, FAILED, CANCELLED])
@pytest.mark.parametrize("reason", [None, "", " \n"])
def test_blocked_failed_and_cancelled_need_a_reason(to: Status, reason: str | None) -> None:
    assert "reason" in refused_move(Code.VALIDATION_ERROR, below_boss(IN_PROGRESS), "t", to, BOSS, reason).instruction
    assert statuses(move(below_boss(IN_PROGRESS), "t", to, OWNER, reason))["t"] == to.value


def test_every_other_move_needs_no_reason() -> None:
    for before, to in EDGES:
        if to not in (BLOCKED, FAILED, CANCELLED) and (before, to) != (BACKLOG, IN_PROGRESS):
            assert statuses(move(below_boss(before), "t", to, BOSS, None))["t"] == to.value


# --- who may ---------------------------------------------------------------------------------------------------------

ASSIGNEE_MAY = {
    (BACKLOG, TODO),
    (TODO, IN_PROGRESS),
    (TODO, BLOCKED),
    (IN_PROGRESS, COMPLETED),
    (IN_PROGRESS, FAILED),
    (IN_PROGRESS, BLOCKED),
    (BLOCKED, TODO),
    (BLOCKED, IN_PROGRESS),
    (BLOCKED, FAILED),
}
"""Start, finish and block; the block is its own here."""
A_PERSON_MAY_TOO = {(BACKLOG, IN_PROGRESS), (IN_PROGRESS, TODO), (FAILED, TODO), (FAILED, CANCELLED)}
AGENTS_MAY = set(EDGES) - {(BACKLOG, IN_PROGRESS)}


@pytest.mark.pitfall("F69")
@pytest.mark.parametrize(
    ("where", "who", "may"),
    [
        (alone, OWNER, set(EDGES)),
        (alone, GUARD, set(EDGES)),
        (alone, HANA, set(EDGES)),
        (alone, BOSS, AGENTS_MAY),
        (below_boss, BOSS, AGENTS_MAY),
        (alone, ANN, ASSIGNEE_MAY),
        (below_boss, ANN, ASSIGNEE_MAY),
        (alone, BOB, set()),
        (alone, ZOE, set()),
        (alone, PAUL, set()),
    ],
    ids=[
        "the owner",
        "Toryo itself",
        "a person above the assignee",
        "an agent above the assignee",
        "the assignee of the task above",
        "the assignee",
        "the assignee of a subtask",
        "a colleague",
        "a stranger",
        "a person who has nothing to do with it",
    ],
)
def test_who_may_make_which_moves(where, who: Actor, may: set) -> None:
    for before, to in EDGES:
        if (before, to) in may:
            assert statuses(move(where(before), "t", to, who))["t"] == to.value
        else:
            denied = Code.INVALID_TRANSITION if (before, to) == (BACKLOG, IN_PROGRESS) and not who.person else None
            refused_move(denied or Code.PERMISSION_DENIED, where(before), "t", to, who)


def test_a_person_who_filed_a_task_may_move_it_and_an_agent_who_did_may_not() -> None:
    for before, to in EDGES:
        assert statuses(move(alone(before, by="paul"), "t", to, PAUL))["t"] == to.value
        if (before, to) != (BACKLOG, IN_PROGRESS):
            refused_move(Code.PERMISSION_DENIED, alone(before, by="zoe"), "t", to, ZOE)


def test_a_person_assigned_may_also_what_the_table_gives_to_persons() -> None:
    for before, to in EDGES:
        where = alone(before, "paul")
        if (before, to) in ASSIGNEE_MAY | A_PERSON_MAY_TOO:
            assert statuses(move(where, "t", to, PAUL))["t"] == to.value
        else:
            refused_move(Code.PERMISSION_DENIED, where, "t", to, PAUL)


def test_who_filed_a_task_for_itself_may_as_much_as_who_filed_it_for_another() -> None:
    for before, to in EDGES:
        assert statuses(move(alone(before, "paul", by="paul"), "t", to, PAUL))["t"] == to.value


def test_the_assignee_of_any_task_above_stands_above() -> None:
    part = at_work("part", "ann", below=MAIN)
    leaf = todo("leaf", "bob", below=part)
    where = tree_state(MAIN, part, leaf)
    assert relation(where, leaf, BOSS) == relation(where, leaf, ANN) == relation(where, leaf, HANA) == "ancestor"
    assert relation(where, leaf, BOB) == "assignee"
    assert relation(where, leaf, ZOE) is None
    assert relation(where, leaf, OWNER) == "everything"


def test_a_worker_may_do_everything_to_its_own_subtasks() -> None:
    main = at_work("main", "ann")
    for before, to in AGENTS_MAY:
        where = tree_state(main, task("t", before, "ann", below=main, by="ann"))
        assert statuses(move(where, "t", to, ANN))["t"] == to.value


# --- lifting a block -------------------------------------------------------------------------------------------------

BLOCKS = {"ann": ANN, "boss": BOSS, "hana": HANA, "guard": GUARD}
MAY_LIFT = {
    "ann": {ANN, BOSS, HANA, OWNER},
    "boss": {BOSS, HANA, OWNER},
    "hana": {HANA, OWNER},
    "guard": {HANA, OWNER},
}
"""By who blocked: the assignee lifts its own block; what a person or a guard blocked, only a person lifts."""


@pytest.mark.pitfall("F70")
@pytest.mark.parametrize("to", [TODO, IN_PROGRESS, FAILED])
@pytest.mark.parametrize("blocker", BLOCKS)
def test_who_may_lift_whose_block(blocker: str, to: Status) -> None:
    where = move(below_boss(IN_PROGRESS), "t", BLOCKED, BLOCKS[blocker])
    for who in (ANN, BOSS, HANA, OWNER):
        if who in MAY_LIFT[blocker]:
            assert statuses(move(where, "t", to, who))["t"] == to.value
        else:
            refusal = refused_move(Code.PERMISSION_DENIED, where, "t", to, who)
            assert refusal.details["blocked_by"] == BLOCKS[blocker].id


def test_whoever_blocked_lifts_it_even_if_a_person() -> None:
    where = move(alone(TODO, by="paul"), "t", BLOCKED, PAUL)
    refused_move(Code.PERMISSION_DENIED, where, "t", TODO, BOSS)
    assert statuses(move(where, "t", TODO, PAUL))["t"] == "todo"


def test_what_a_person_blocked_may_still_be_given_up_by_those_above() -> None:
    where = move(below_boss(IN_PROGRESS), "t", BLOCKED, HANA)
    assert statuses(move(where, "t", CANCELLED, BOSS))["t"] == "cancelled"
    refused_move(Code.PERMISSION_DENIED, where, "t", CANCELLED, ANN)


def test_a_block_says_who_when_why_and_whence_and_nothing_of_it_stays_when_it_is_lifted() -> None:
    before = below_boss(IN_PROGRESS)
    held = move(before, "t", BLOCKED, HANA, "the paint is missing").tree.tasks["t"]
    assert (held.blocked_by, held.blocked_by_person, held.blocked_by_guard) == ("hana", True, False)
    assert (held.blocked_reason, held.blocked_cause, held.blocked_from) == ("the paint is missing", None, IN_PROGRESS)
    assert move(before, "t", BLOCKED, GUARD).tree.tasks["t"].blocked_by_guard
    for to in (TODO, IN_PROGRESS, FAILED, CANCELLED):
        free = move(move(before, "t", BLOCKED, HANA), "t", to, HANA).tree.tasks["t"]
        assert not [name for name in free.__dataclass_fields__ if name.startswith("blocked") and getattr(free, name)]


# --- guard 1: start --------------------------------------------------------------------------------------------------

ROOT = cancelled("root", "olga")
HINDERED = {
    "an ancestor is closed": (
        tree_state(
            ROOT, at_work("mid", "boss", below=ROOT), todo("t", "ann", below=at_work("mid", "boss", below=ROOT))
        ),
        Code.INVALID_TRANSITION,
        ("closed_task_id", "root"),
    ),
    "the project rests": (
        tree_state(todo("t", "ann"), where=project(ProjectStatus.PAUSED)),
        Code.NOT_NOW,
        ("reason", "project_paused"),
    ),
    "the project is over": (
        tree_state(todo("t", "ann"), where=project(ProjectStatus.ARCHIVED)),
        Code.NOT_NOW,
        ("reason", "project_archived"),
    ),
    "approval is pending": (
        alone(TODO, approval=Approval.PENDING),
        Code.NOT_APPROVED,
        ("approval", "pending_approval"),
    ),
    "it was rejected": (alone(TODO, approval=Approval.REJECTED), Code.NOT_APPROVED, ("approval", "rejected")),
    "a dependency is at work": (
        tree_state(todo("t", "ann"), waits={"t": ["x", "y"]}, outside=[at_work("x", "bob"), done("y")]),
        Code.DEPENDENCY_NOT_MET,
        ("waiting_for", ["x"]),
    ),
    "a dependency was cancelled": (
        tree_state(todo("t", "ann"), waits={"t": ["x"]}, outside=[cancelled("x")]),
        Code.DEPENDENCY_NOT_MET,
        ("waiting_for", ["x"]),
    ),
    "nobody is assigned": (tree_state(todo("t", by="paul")), Code.INVALID_TRANSITION, None),
    "the assignee is inactive": (
        tree_state(todo("t", "ann"), crew=[agent("ann", active=False, reports_to="boss")]),
        Code.INVALID_TRANSITION,
        ("assignee_id", "ann"),
    ),
    "the assignee is no member": (
        tree_state(todo("t", "ann"), strangers=["ann"]),
        Code.INVALID_TRANSITION,
        ("assignee_id", "ann"),
    ),
    "the assignee is at its limit": (
        tree_state(todo("t", "ann"), elsewhere={"ann": 1}),
        Code.LIMIT_REACHED,
        ("running", ["other_ann_0"]),
    ),
}


@pytest.mark.parametrize("why", HINDERED)
@pytest.mark.parametrize("before", [BACKLOG, TODO, BLOCKED])
def test_guard_1_refuses_to_start_on_every_way_in_and_for_everybody(why: str, before: Status) -> None:
    where, code, detail = HINDERED[why]
    again = where.tree.changed(replace(where.tree.tasks["t"], status=before))
    refusal = refused_move(code, replace(where, tree=again), "t", IN_PROGRESS, OWNER)
    if detail is not None:
        assert refusal.details[detail[0]] == detail[1]


X, Y, Z = "x", "y", "z"
EARLIER = {
    "still to come": ([at_work(X)], "Complete those tasks first", "It can start when those are completed.*-on x"),
    "failed": ([failed(X)], "Retry x .*, remove the dependency", r"Retry it \(toryo task retry x\).*edit t .*-on x"),
    "cancelled": ([cancelled(X)], "never completed. Remove the dependency on x ", "never completed.*edit t .*-on x"),
    "one of each": (
        [at_work(X), failed(Y), cancelled(Z)],
        "never completed. Remove the dependency on z ",
        "Retry it .*retry y",
    ),
    "one to come and one cancelled": (
        [at_work(X), cancelled(Y)],
        "never completed. Remove the dependency on y ",
        "never completed.*edit t .*-on y",
    ),
    "several of them": (
        [failed(X), failed(Y), at_work(Z)],
        "Retry x, y ",
        "Retry it .*retry x",
    ),
}
"""Tasks that another one depends on, and what an agent and a person are told to do about them."""


@pytest.mark.parametrize("why", EARLIER)
@pytest.mark.parametrize("who", [ANN, HANA], ids=["an agent", "a person"])
def test_who_waits_for_other_tasks_is_told_what_can_be_done_about_them(why: str, who: Actor) -> None:
    others, for_agents, for_people = EARLIER[why]
    where = tree_state(todo("t", "ann"), waits={"t": [each.id for each in others]}, outside=others)
    refusal = refused_move(Code.DEPENDENCY_NOT_MET, where, "t", IN_PROGRESS, who)
    assert re.search(for_people if who.person else for_agents, refusal.instruction)
    assert refusal.details["waiting_for"] == [each.id for each in others]
    assert refusal.message.endswith(", ".join(f"{each.id} ({each.status})" for each in others) + ".")


def test_of_many_tasks_that_it_waits_for_ten_are_named() -> None:
    others = [failed(f"x{number:02}") for number in range(12)]
    where = tree_state(todo("t", "ann"), waits={"t": [each.id for each in others]}, outside=others)
    refusal = refused_move(Code.DEPENDENCY_NOT_MET, where, "t", IN_PROGRESS, ANN)
    assert refusal.details["waiting_for"] == [each.id for each in others[:10]]
    for said in (refusal.message, refusal.instruction):
        assert ("x09" in said, "x10" in said) == (True, False)


@pytest.mark.parametrize(
    ("queue", "who", "does"),
    [
        (None, ANN, "assign_task"),
        (None, HANA, "toryo task edit t --assignee"),
        ("build", ANN, "poll_tasks"),
        ("build", HANA, "toryo queue agents --project prj"),
    ],
)
def test_who_starts_a_task_of_nobody_is_told_who_can_take_it(queue: str | None, who: Actor, does: str) -> None:
    main = at_work("main", who.id)
    where = tree_state(main, todo("t", below=main, agent_type=queue))
    refusal = refused_move(Code.INVALID_TRANSITION, where, "t", IN_PROGRESS, who)
    assert does in refusal.instruction
    assert ("queue build" in refusal.message) is (queue is not None)


def test_a_limit_of_two_lets_two_main_tasks_run_and_no_third() -> None:
    crew = [agent("ann", reports_to="boss", parallel=2)]
    assert statuses(move(tree_state(todo("t", "ann"), crew=crew, elsewhere={"ann": 1}), "t", IN_PROGRESS))
    refused_move(Code.LIMIT_REACHED, tree_state(todo("t", "ann"), crew=crew, elsewhere={"ann": 2}), "t", IN_PROGRESS)


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (1, "ann is working on other_ann_0 and may have one task in progress"),
        (2, "ann is working on other_ann_0, other_ann_1 and may have 2 tasks in progress"),
    ],
)
def test_who_is_at_its_limit_is_named_with_all_that_it_does_and_how_much_it_may(limit: int, said: str) -> None:
    crew = [agent("ann", reports_to="boss", parallel=limit)]
    where = tree_state(todo("t", "ann"), crew=crew, elsewhere={"ann": limit})
    assert refused_move(Code.LIMIT_REACHED, where, "t", IN_PROGRESS).message.startswith(said)


def test_subtasks_of_the_same_agent_start_beside_its_main_task() -> None:
    main = at_work("main", "ann")
    where = tree_state(main, todo("t", "ann", below=main), at_work("other", "ann", below=main))
    assert statuses(move(where, "t", IN_PROGRESS, ANN))["t"] == "in_progress"


def test_only_the_first_start_sets_when_a_task_was_started() -> None:
    first = move(alone(TODO), "t", IN_PROGRESS, now=NOW + 1)
    again = move(move(first, "t", TODO, now=NOW + 2), "t", IN_PROGRESS, now=NOW + 3)
    assert first.tree.tasks["t"].started_at == again.tree.tasks["t"].started_at == NOW + 1


# --- guard 2: complete -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [BACKLOG, TODO, IN_PROGRESS, BLOCKED])
def test_success_is_refused_while_a_child_is_open_and_the_children_are_named(status: Status) -> None:
    where = tree_state(MAIN, task("t", status, "ann", below=MAIN), done("u", "ann", below=MAIN))
    refusal = refused_move(Code.SUBTASKS_OPEN, where, "main", COMPLETED)
    assert [open_subtask["task_id"] for open_subtask in refusal.details["open_subtasks"]] == ["t"]


@pytest.mark.parametrize(("who", "command"), [(OWNER, True), (BOSS, False)], ids=["a person", "an agent"])
def test_who_cannot_complete_it_is_told_what_to_do_first_by_their_own_means(who: Actor, command: bool) -> None:
    main = at_work("main", "boss")
    open_child = tree_state(main, todo("part", "ann", below=main))
    assert (
        "toryo task cancel" in refused_move(Code.SUBTASKS_OPEN, open_child, "main", COMPLETED, who).instruction
    ) is (command)
    waits = tree_state(main, open_delegations={"main": 1})
    assert ("get_next_action" in refused_move(Code.DELEGATION_OPEN, waits, "main", COMPLETED, who).instruction) is not (
        command
    )


def test_success_is_refused_while_an_awaited_delegation_is_open() -> None:
    refused_move(Code.DELEGATION_OPEN, tree_state(MAIN, open_delegations={"main": 1}), "main", COMPLETED)


@pytest.mark.parametrize(
    ("who", "does"), [(OWNER, "toryo task confirm t"), (ANN, "report")], ids=["a person", "an agent"]
)
@pytest.mark.parametrize(
    ("checks", "code"),
    [(Checks.NONE, Code.NOT_NOW), (Checks.RUNNING, Code.NOT_NOW), (Checks.FAILED, Code.CHECKS_FAILED)],
)
def test_success_is_refused_until_every_acceptance_check_has_passed(
    checks: Checks, code: Code, who: Actor, does: str
) -> None:
    where = alone(IN_PROGRESS, has_acceptance=True, checks=checks)
    refusal = refused_move(code, where, "t", COMPLETED, who)
    assert does in refusal.instruction
    assert ("have failed" in refusal.message) is (checks is Checks.FAILED)
    passed = alone(IN_PROGRESS, has_acceptance=True, checks=Checks.PASSED)
    assert move(passed, "t", COMPLETED).tree.tasks["t"].completed_at == NOW


@pytest.mark.parametrize("to", [FAILED, BLOCKED])
def test_failed_and_blocked_need_none_of_that(to: Status) -> None:
    main = replace(MAIN, has_acceptance=True, checks=Checks.FAILED)
    where = tree_state(main, todo("t", "ann", below=main), open_delegations={"main": 1})
    assert statuses(move(where, "main", to, BOSS)) == {"main": to.value, "t": "blocked"}


def test_completing_cancels_what_is_still_open_below() -> None:
    gone = failed("gone", "ann", below=MAIN)
    leaf = stuck("leaf", "ann", below=gone, blocked_cause="gone", blocked_from=TODO)
    where = tree_state(MAIN, gone, leaf, done("good", "bob", below=MAIN))
    changes = moves(where, "main", COMPLETED, BOSS)
    assert [(change.after.id, change.verb, change.caused_by) for change in changes] == [
        ("main", "completed", None),
        ("leaf", "cancelled", "main"),
    ]


# --- cascades --------------------------------------------------------------------------------------------------------


def house() -> TreeState:
    """Three levels below `root`, in every open status, and some closed ones."""
    root = at_work("root", "hana")
    left = at_work("left", "boss", below=root)
    right = todo("right", "boss", below=root, place=1)
    draft = task("draft", BACKLOG, "ann", below=left)
    part = at_work("part", "ann", below=left, place=1)
    own = at_work("own", "ann", below=part, by="ann")
    next_ = todo("next", "ann", below=part, by="ann", place=1)
    ready = done("ready", "ann", below=part, by="ann", place=2)
    held = stuck("held", "bob", below=left, blocked_reason="no paint", place=2)
    return tree_state(root, left, right, draft, part, own, next_, ready, held)


BEFORE = statuses(house())


@pytest.mark.pitfall("F93")
@pytest.mark.parametrize("to", [TODO, IN_PROGRESS])
def test_a_block_takes_everything_open_below_along_and_lifting_it_restores_exactly_that(to: Status) -> None:
    held = move(house(), "left", BLOCKED, HANA)
    assert statuses(held) == {
        **BEFORE,
        **dict.fromkeys(("left", "draft", "part", "own", "next"), "blocked"),
    }
    assert {name for name, each in held.tree.tasks.items() if each.blocked_cause == "left"} == {
        "draft",
        "part",
        "own",
        "next",
    }
    assert held.tree.tasks["held"].blocked_reason == "no paint"
    assert statuses(move(held, "left", to, HANA)) == {**BEFORE, "left": to.value}


def test_what_a_cascade_blocked_is_unblocked_at_its_cause() -> None:
    held = move(house(), "left", BLOCKED, BOSS)
    for who, instruction in (
        (ANN, "Unblock left first."),
        (BOSS, "Unblock left first."),
        (HANA, "Unblock that task first: toryo task move left todo."),
    ):
        refusal = refused_move(Code.NOT_NOW, held, "part", TODO, who)
        assert (refusal.details["cause"], refusal.instruction) == ("left", instruction)
    assert statuses(move(held, "part", CANCELLED, BOSS))["own"] == "cancelled"


def test_an_owner_may_free_one_part_before_its_cause_is_lifted_and_the_undoing_leaves_it_alone() -> None:
    freed = move(move(house(), "left", BLOCKED, BOSS), "next", TODO, OWNER)
    assert statuses(freed)["next"] == "todo"
    assert statuses(move(move(freed, "next", IN_PROGRESS, OWNER), "left", TODO, BOSS))["next"] == "in_progress"


def test_each_block_is_undone_at_its_own_level_only() -> None:
    inner = move(house(), "part", BLOCKED, BOSS)
    outer = move(inner, "root", BLOCKED, HANA)
    assert statuses(move(outer, "root", IN_PROGRESS, HANA)) == statuses(inner)
    assert statuses(move(move(outer, "root", IN_PROGRESS, HANA), "part", IN_PROGRESS, BOSS)) == BEFORE


def test_undoing_starts_again_only_what_guard_1_lets_start() -> None:
    held = move(house(), "left", BLOCKED, HANA)
    full = replace(held, busy={**held.busy, "ann": frozenset({"elsewhere"})})
    restored = move(full, "left", IN_PROGRESS, HANA)
    assert (statuses(restored)["part"], statuses(restored)["own"]) == ("todo", "in_progress")
    away = replace(held, members=held.members - {"ann"})
    assert statuses(move(away, "left", IN_PROGRESS, HANA)) == {**BEFORE, "part": "todo", "own": "todo"}


def test_undoing_starts_again_no_more_tasks_of_an_agent_than_it_may_do_by_now() -> None:
    main = at_work("main", "boss")
    parts = [at_work(name, "bob", below=main, place=place) for place, name in enumerate(("one", "two"))]
    held = move(tree_state(main, *parts, crew=[agent("bob", parallel=2)]), "main", BLOCKED, HANA)
    restored = statuses(move(held, "main", IN_PROGRESS, HANA))
    assert (restored["one"], restored["two"]) == ("in_progress", "in_progress")
    fewer = replace(held, agents={**held.agents, "bob": agent("bob")})
    restored = statuses(move(fewer, "main", IN_PROGRESS, HANA))
    assert (restored["one"], restored["two"]) == ("in_progress", "todo")


def test_only_main_tasks_count_when_undoing_starts_several_of_an_agent_again() -> None:
    main = at_work("main", "boss")
    parts = [at_work(name, "ann", below=main, place=place) for place, name in enumerate(("one", "two"))]
    own = [at_work(f"own-{each.id}", "ann", below=each, by="ann") for each in parts]
    where = tree_state(main, *parts, *own, crew=[agent("ann", parallel=2)])
    assert statuses(move(move(where, "main", BLOCKED, HANA), "main", IN_PROGRESS, HANA)) == statuses(where)


def test_what_ends_with_a_move_makes_room_for_what_the_move_lifts() -> None:
    """ann may do one task at a time: her report waits for what is cancelled, and so does her present task end."""
    main = at_work("main", "hana")
    old = at_work("old", "boss", below=main)
    now = at_work("now", "ann", below=old)
    key = stuck("key", "bob", below=old, place=1)
    later = stuck("later", "ann", below=main, place=1, blocked_on=("key",), blocked_from=IN_PROGRESS)
    assert statuses(move(tree_state(main, old, now, key, later), "old", CANCELLED, HANA)) == {
        "main": "in_progress",
        **dict.fromkeys(("old", "now", "key"), "cancelled"),
        "later": "in_progress",
    }


def test_a_failure_cascades_like_a_block_and_a_retry_restores_it() -> None:
    lost = move(house(), "left", FAILED, BOSS)
    assert {statuses(lost)[name] for name in ("draft", "part", "own", "next")} == {"blocked"}
    refused_move(Code.NOT_NOW, lost, "part", TODO, HANA)
    again = move(lost, "left", TODO, HANA)
    assert statuses(again) == {**BEFORE, "left": "todo"}
    assert again.tree.tasks["left"].attempt == 2


def test_a_blocked_task_that_fails_keeps_what_its_block_took_along_until_the_retry() -> None:
    lost = move(move(house(), "left", BLOCKED, BOSS), "left", FAILED, BOSS)
    assert statuses(lost)["part"] == "blocked"
    assert statuses(move(lost, "left", TODO, HANA)) == {**BEFORE, "left": "todo"}


def test_cancelling_takes_everything_open_below_along_for_good() -> None:
    over = move(house(), "left", CANCELLED, HANA)
    assert statuses(over) == {
        **BEFORE,
        **dict.fromkeys(("left", "draft", "part", "own", "next", "held"), "cancelled"),
    }
    assert all(over.tree.tasks[name].completed_at == NOW for name in ("left", "part", "held"))


def test_putting_back_takes_descendants_in_progress_along() -> None:
    changes = moves(house(), "left", TODO, HANA)
    assert [(change.after.id, change.verb, change.caused_by) for change in changes] == [
        ("left", "put_back", None),
        ("part", "put_back", "left"),
        ("own", "put_back", "left"),
    ]


@pytest.mark.pitfall("F93")
def test_what_is_taken_along_names_who_did_it_and_why() -> None:
    held = move(house(), "left", BLOCKED, HANA, "rain").tree.tasks
    assert {(held[name].blocked_by, held[name].blocked_reason) for name in ("left", "part", "own")} == {
        ("hana", "rain")
    }


# --- a block reported because of other blocks ------------------------------------------------------------------------


def reported(by: Actor = ANN) -> TreeState:
    """ann reports her main task blocked because two of its subtasks are."""
    main = at_work("main", "ann")
    one, two = stuck("one", "ann", below=main), stuck("two", "ann", below=main, place=1)
    go = at_work("go", "ann", below=main, place=2)
    return move(tree_state(main, one, two, go), "main", BLOCKED, by, because_of=("one", "two"))


def test_a_reported_block_is_lifted_with_the_last_of_its_causes() -> None:
    first = move(reported(), "one", TODO, HANA)
    assert statuses(first) == {"main": "blocked", "one": "todo", "two": "blocked", "go": "blocked"}
    assert first.tree.tasks["main"].blocked_on == ("two",)
    last = move(first, "two", TODO, HANA)
    assert statuses(last) == {"main": "in_progress", "one": "todo", "two": "todo", "go": "in_progress"}


def test_a_cause_that_is_cancelled_or_fails_is_no_block_any_more() -> None:
    assert statuses(move(move(reported(), "one", CANCELLED, HANA), "two", FAILED, HANA))["main"] == "in_progress"


@pytest.mark.parametrize("to", [BACKLOG, COMPLETED, FAILED, BLOCKED, CANCELLED, TODO])
def test_a_move_of_what_was_not_blocked_lifts_no_report(to: Status) -> None:
    """Also of one that a report names: it was lifted, and has been started again, since."""
    main = stuck("main", "ann", blocked_on=("one", "two"))
    start = TODO if to is BACKLOG else IN_PROGRESS
    where = tree_state(main, task("one", start, "bob", below=main), stuck("two", "bob", below=main, place=1))
    after = move(where, "one", to, OWNER)
    assert (after.tree.tasks["main"].status, after.tree.tasks["main"].blocked_on) == (BLOCKED, ("one", "two"))


def test_a_block_that_goes_on_lifts_no_report() -> None:
    """What changes in a blocked task is recorded as well: that its first draft closed the window, for one."""
    root = stuck("root", "boss", blocked_on=("main",))
    main = stuck("main", "ann", below=root)
    where = tree_state(root, main, todo("part", "ann", below=main, by="ann"))
    changes = moves(where, "part", BACKLOG, OWNER)
    assert "main" in {change.after.id for change in changes}
    assert "root" not in {change.after.id for change in changes}


def test_a_reported_block_is_lifted_to_todo_where_guard_1_does_not_hold() -> None:
    first = move(reported(), "one", TODO, HANA)
    full = replace(first, busy={"ann": frozenset({"other_ann_0"})})
    assert statuses(move(full, "two", TODO, HANA))["main"] == "todo"


def test_a_reported_block_may_be_lifted_by_itself_before_its_causes() -> None:
    lifted = move(reported(), "main", IN_PROGRESS, HANA)
    assert statuses(lifted) == {"main": "in_progress", "one": "blocked", "two": "blocked", "go": "in_progress"}
    assert lifted.tree.tasks["main"].blocked_on == ()


def test_lifting_goes_up_as_far_as_reports_lead() -> None:
    below = reported()
    root = at_work("root", "boss")
    tree = {"root": root, **{name: replace(each, root_id="root") for name, each in below.tree.tasks.items()}}
    tree["main"] = replace(tree["main"], parent_id="root")
    where = move(tree_state(*tree.values()), "root", BLOCKED, BOSS, because_of=("main",))
    where = move(move(where, "one", TODO, HANA), "two", TODO, HANA)
    assert statuses(where) == {
        "root": "in_progress",
        "main": "in_progress",
        "one": "todo",
        "two": "todo",
        "go": "in_progress",
    }


# --- trying again ----------------------------------------------------------------------------------------------------


def test_agents_try_again_up_to_the_retry_policy_and_people_as_often_as_they_like() -> None:
    for attempt in (1, 2):
        again = move(below_boss(FAILED, attempt=attempt), "t", TODO, BOSS).tree.tasks["t"]
        assert (again.attempt, again.status, again.completed_at) == (attempt + 1, TODO, None)
    third = below_boss(FAILED, attempt=3)
    assert refused_move(Code.ATTEMPTS_EXHAUSTED, third, "t", TODO, BOSS).details["attempt"] == 3
    assert move(third, "t", TODO, HANA).tree.tasks["t"].attempt == 4
    assert move(third, "t", TODO, OWNER).tree.tasks["t"].attempt == 4
    assert move(third, "t", TODO, GUARD).tree.tasks["t"].attempt == 4


def test_who_tries_the_task_above_again_has_what_failed_below_it_tried_as_often_again() -> None:
    """Otherwise its manager could do nothing about what had failed it."""
    main, lost = replace(MAIN, attempt=2), failed("t", "ann", below=MAIN)
    where = tree_state(main, replace(lost, attempt=5))
    assert move(where, "t", TODO, BOSS).tree.tasks["t"].attempt == 6
    refused_move(Code.ATTEMPTS_EXHAUSTED, tree_state(main, replace(lost, attempt=6)), "t", TODO, BOSS)
    made_since = replace(lost, attempt=3, parent_attempt=2)
    refused_move(Code.ATTEMPTS_EXHAUSTED, tree_state(main, made_since), "t", TODO, BOSS)


def test_what_has_not_failed_is_put_back_whatever_its_attempt() -> None:
    for before in (BACKLOG, BLOCKED):
        assert move(below_boss(before, attempt=3), "t", TODO, BOSS).tree.tasks["t"].attempt == 3


def test_the_retry_policy_is_the_projects() -> None:
    where = tree_state(MAIN, failed("t", "ann", below=MAIN), where=project(retry_attempts=1))
    refused_move(Code.ATTEMPTS_EXHAUSTED, where, "t", TODO, BOSS)


@pytest.mark.parametrize("over", [done, failed, cancelled])
def test_nothing_below_a_closed_task_is_tried_again_by_anybody(over) -> None:
    main = over("main", "boss")
    where = tree_state(main, failed("t", "ann", below=main))
    assert refused_move(Code.INVALID_TRANSITION, where, "t", TODO, OWNER).details["closed_task_id"] == "main"
    assert statuses(move(where, "t", CANCELLED, OWNER))["t"] == "cancelled"


def test_a_new_attempt_has_its_checks_before_it_and_its_window_open() -> None:
    lost = below_boss(FAILED, has_acceptance=True, checks=Checks.FAILED, check_id="chk", worked_attempt=1)
    again = move(lost, "t", TODO, BOSS).tree.tasks["t"]
    assert (again.checks, again.check_id) == (Checks.NONE, None)
    assert again.worked_attempt < again.attempt


# --- what ends with a status -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", [TODO, BLOCKED, FAILED, COMPLETED, CANCELLED])
def test_leaving_in_progress_ends_the_wait_and_what_guards_have_counted(to: Status) -> None:
    wait = Wait("workers", NOW - 5, 7)
    left = move(alone(IN_PROGRESS, wait=wait, unreported_ends=2, idle_launches=3), "t", to).tree.tasks["t"]
    assert (left.wait, left.unreported_ends, left.idle_launches) == (None, 0, 0)


def test_a_move_remembers_the_session_that_made_it_and_what_was_taken_along_none() -> None:
    changes = moves(house(), "part", BLOCKED, actor("ann", "ses_1"))
    assert [
        (change.after.id, change.after.moved_session) for change in changes if change.verb and not change.caused_by
    ] == [("part", "ses_1")]
    restored = moves(move(house(), "left", BLOCKED, BOSS), "left", TODO, BOSS)
    assert all(change.after.moved_session is None for change in restored if change.caused_by)


# --- the decomposition window ----------------------------------------------------------------------------------------


def window(status: Status, to: Status) -> bool:
    """Whether ann may still add subtasks to hers after one of them has moved."""
    main = at_work("main", "ann")
    where = tree_state(main, task("t", status, "ann", below=main, by="ann"))
    after = move(where, "t", to, OWNER).tree.tasks["main"]
    return after.worked_attempt < after.attempt


@pytest.mark.parametrize("to", [IN_PROGRESS, BLOCKED, CANCELLED, BACKLOG])
def test_the_window_closes_as_soon_as_a_child_has_left_todo(to: Status) -> None:
    assert not window(TODO, to)


def test_the_window_stays_open_while_drafts_come_and_go() -> None:
    assert window(BACKLOG, TODO)
    assert window(BACKLOG, CANCELLED)
    assert not window(BACKLOG, IN_PROGRESS)


def test_children_of_an_earlier_attempt_do_not_close_the_window() -> None:
    main = at_work("main", "ann", attempt=2)
    where = tree_state(main, todo("t", "ann", below=main, by="ann", parent_attempt=1))
    assert move(where, "t", IN_PROGRESS, ANN).tree.tasks["main"].worked_attempt == 0


def test_closing_the_window_is_no_change_of_status() -> None:
    main = at_work("main", "ann")
    changes = moves(tree_state(main, todo("t", "ann", below=main)), "t", IN_PROGRESS, ANN)
    assert [(change.after.id, change.verb) for change in changes] == [("t", "started"), ("main", "")]
    assert changes[1].after.moved_at == main.moved_at


def test_a_window_is_closed_once() -> None:
    main = at_work("main", "ann", worked_attempt=1)
    changes = moves(tree_state(main, todo("t", "ann", below=main)), "t", IN_PROGRESS, ANN)
    assert [change.after.id for change in changes] == ["t"]


# --- judging a request -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", list(Status))
def test_only_a_request_that_has_not_been_started_is_judged(status: Status) -> None:
    where = alone(status, approval=Approval.PENDING)
    refused = refusal_to_judge(where, where.tree.tasks["t"], OWNER)
    assert (refused is None) == (status in (BACKLOG, TODO, BLOCKED))


def test_toryo_itself_may_start_a_draft_as_people_may() -> None:
    for who in (OWNER, GUARD):
        assert statuses(move(alone(BACKLOG), "t", IN_PROGRESS, who)) == {"t": "in_progress"}


# --- tasks that nothing hangs on -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "to", "who"),
    [
        (TODO, IN_PROGRESS, ANN),
        (IN_PROGRESS, COMPLETED, ANN),
        (IN_PROGRESS, FAILED, ANN),
        (IN_PROGRESS, FAILED, GUARD),
        (IN_PROGRESS, TODO, GUARD),
    ],
)
@pytest.mark.parametrize("started_at", [None, NOW - 5])
def test_a_claimed_task_that_nothing_hangs_on_moves_as_any_other(
    before: Status, to: Status, who: Actor, started_at: int | None
) -> None:
    wait = Wait("subtasks", NOW - 1, 3)
    around = alone(before, agent_type="planning", started_at=started_at, wait=wait, unreported_ends=2)
    order = Order(around.tree.tasks["t"], to, who, NOW, "because")
    [planned] = rules.plan(around, order)
    change = rules.alone(order)
    assert change == replace(planned, after=replace(planned.after, version=planned.before.version + 1))

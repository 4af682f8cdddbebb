"""What next, for a worker: every row of the table with the smallest facts for which it wins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.domain.things import agent, at_work, cancelled, done, failed, project, stuck, task, todo, tree_state
from tests.workflow.scenes import JOB, fresh, session, snapshot, told
from toryo.domain.projects import Decomposition
from toryo.domain.tasks import Approval, Checks, Status, Task
from toryo.workflow import facts, next_action
from toryo.workflow.snapshot import RuleInput

FETCHED = session("ann", "job")
DELEGATED: dict[str, Any] = {"open_delegations": {"job": 1}}


def ann_is_told(*tasks: Task, main: Task = JOB, asking: Any = FETCHED, **around: Any) -> tuple[str, str]:
    """Row and action for ann, with these tasks below her main task."""
    step = told(tree_state(main, *tasks, **around), "ann", asking)
    return step.row, step.action


def own(name: str = "part", status: Status = Status.TODO, **fields: Any) -> Task:
    return task(name, status, "ann", **{"below": JOB, "by": "ann", **fields})


def test_1_task_not_fetched_in_this_session() -> None:
    signed_in = replace(fresh("ann", "job"), model_id="any")
    assert ann_is_told(asking=signed_in) == ("worker 1", "get_task")
    assert ann_is_told(own(status=Status.IN_PROGRESS), asking=signed_in) == ("worker 1", "get_task")


def test_2_it_never_had_subtasks_and_may_be_decomposed() -> None:
    assert ann_is_told() == ("worker 2", "create_subtasks")
    assert ann_is_told(main=at_work("job", "ann", by="boss", below=todo("up", "boss")))[1] == "create_subtasks"
    assert ann_is_told(main=at_work("job", "ann", by="ann")) == ("worker 2", "create_subtasks")
    assert ann_is_told(where=project(decomposition=Decomposition.OPTIONAL)) == ("worker 2", "create_subtasks")


@pytest.mark.parametrize(
    ("main", "around"),
    [
        (at_work("job", "ann", by="ann", below=todo("up", "boss")), {}),
        (replace(JOB, worked_attempt=1), {}),
        (replace(JOB, children_ever=1), {}),
        (replace(JOB, depth=4), {}),
        (JOB, {"where": project(decomposition=Decomposition.NEVER)}),
        (JOB, {"crew": [agent("ann", provider="command", reports_to="boss")]}),
    ],
    ids=[
        "it is self-made",
        "the window is closed",
        "it had subtasks once",
        "the tree is deep enough",
        "the project says never",
        "its program runs commands",
    ],
)
def test_2_nothing_is_decomposed_that_may_not_be(main: Task, around: dict[str, Any]) -> None:
    assert ann_is_told(main=main, **around) == ("worker 5", "execute_task")


def test_3_an_acceptance_check_failed_at_the_last_report() -> None:
    mend = replace(JOB, checks=Checks.FAILED, children_ever=1)
    step = told(tree_state(mend), "ann", FETCHED)
    assert (step.row, step.action, step.state) == ("worker 3", "execute_task", "fixing_checks")
    assert ann_is_told(own(status=Status.COMPLETED), main=mend) == ("worker 3", "execute_task")
    for checks in (Checks.NONE, Checks.RUNNING, Checks.PASSED):
        assert ann_is_told(main=replace(mend, checks=checks)) == ("worker 5", "execute_task")


REFUSED = replace(FETCHED, refused_for_delegation=True)
ALONE = replace(JOB, children_ever=1)


def test_4_no_subtasks_but_cancelled_ones_and_a_success_report_was_refused_only_for_a_delegation() -> None:
    over = own(status=Status.CANCELLED)
    for below in ([], [over]):
        assert ann_is_told(*below, main=ALONE, asking=REFUSED, **DELEGATED) == ("worker 4", "wait_for_delegation")
    assert ann_is_told(main=ALONE, asking=FETCHED, **DELEGATED) == ("worker 5", "execute_task")
    assert ann_is_told(main=ALONE, asking=REFUSED) == ("worker 5", "execute_task")


def test_5_no_subtasks_but_cancelled_ones() -> None:
    step = told(tree_state(ALONE), "ann", FETCHED)
    assert (step.row, step.action, step.state) == ("worker 5", "execute_task", "executing_task")
    assert ann_is_told(own(status=Status.CANCELLED)) == ("worker 5", "execute_task")


def test_6_every_subtask_completed_or_cancelled_and_at_least_one_completed_and_no_delegation_open() -> None:
    parts = own("a", Status.COMPLETED), own("b", Status.CANCELLED)
    assert ann_is_told(*parts) == ("worker 6", "report_completion")
    assert ann_is_told(*parts, **DELEGATED) == ("worker 9", "wait_for_delegation")


def test_7_an_own_subtask_in_progress() -> None:
    assert ann_is_told(own(status=Status.IN_PROGRESS), own("next")) == ("worker 7", "execute_subtask")
    assert ann_is_told(own(status=Status.IN_PROGRESS), **DELEGATED) == ("worker 7", "execute_subtask")


def test_8_an_own_startable_subtask() -> None:
    assert ann_is_told(own()) == ("worker 8", "start_subtask")
    assert ann_is_told(own(), at_work("bobs", "bob", below=JOB), **DELEGATED) == ("worker 8", "start_subtask")


def test_8_the_next_by_priority_then_order_and_only_what_can_be_started() -> None:
    parts = [own("a", place=0), own("b", place=1), own("c", place=2), own("d", Status.COMPLETED)]
    where = tree_state(JOB, *parts, waits={"a": ["b"], "c": ["d"]})
    found = facts.next_subtask(RuleInput(snapshot(where, "ann"), where, JOB, FETCHED))
    assert found is not None
    assert found.id == "b"


def test_9_an_awaited_delegation_is_open_and_nothing_else_can_be_done() -> None:
    for below in (own(status=Status.BLOCKED), own(status=Status.BACKLOG), at_work("bobs", "bob", below=JOB)):
        assert ann_is_told(below, **DELEGATED) == ("worker 9", "wait_for_delegation")


def test_10_a_subtask_of_another_able_agent_or_a_person_is_in_progress() -> None:
    for who in ("bob", "paul"):
        assert ann_is_told(at_work("theirs", who, below=JOB)) == ("worker 10", "wait_for_others")
        assert ann_is_told(at_work("theirs", who, below=JOB), own(status=Status.FAILED))[0] == "worker 10"


def test_10_an_approval_below_it_is_pending() -> None:
    asked = own(approval=Approval.PENDING)
    assert ann_is_told(asked) == ("worker 10", "wait_for_others")
    leaf = todo("leaf", "bob", below=own(status=Status.BLOCKED), approval=Approval.PENDING)
    assert ann_is_told(own(status=Status.BLOCKED), leaf) == ("worker 10", "wait_for_others")


def test_11_the_rest_at_least_one_are_blocked_or_failed() -> None:
    for below in (
        [own(status=Status.BLOCKED)],
        [own(status=Status.FAILED)],
        [own("a", Status.COMPLETED), own("b", Status.CANCELLED), stuck("c", "bob", below=JOB)],
    ):
        assert ann_is_told(*below) == ("worker 11", "review_and_resolve_blocks")


def test_12_always_open_subtasks_and_none_startable() -> None:
    away = [agent("bob", active=False)]
    waits = {"part": ["gone"]}
    for below, around in (
        ([own(status=Status.BACKLOG)], {}),
        ([todo("theirs", "bob", below=JOB)], {}),
        ([at_work("theirs", "bob", below=JOB)], {"crew": away}),
        ([own(), cancelled("gone", "ann", below=JOB)], {"waits": waits}),
        ([own(), failed("gone", "ann", below=JOB)], {"waits": waits}),
        ([own(), own("b", Status.BLOCKED)], {"waits": {"part": ["b"]}}),
    ):
        assert ann_is_told(*below, **around) == ("worker 12", "resolve_dependency_deadlock")


def test_as_soon_as_one_subtask_exists_creating_is_over() -> None:
    for status in Status:
        assert ann_is_told(own(status=status))[1] != "create_subtasks"


def test_what_is_below_subtasks_of_others_is_theirs() -> None:
    theirs = at_work("theirs", "bob", below=JOB)
    leaf = stuck("leaf", "bob", below=theirs)
    assert ann_is_told(theirs, leaf, done("part", "ann", below=JOB)) == ("worker 10", "wait_for_others")


def test_the_same_facts_give_the_same_answer() -> None:
    where = tree_state(JOB, own(), own("b", Status.BLOCKED))
    snap = snapshot(where, "ann", live=FETCHED)
    assert len({next_action.decide(snap, FETCHED) for _ in range(5)}) == 1

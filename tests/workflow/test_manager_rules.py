"""What next, for a manager: every row of the table with the smallest facts for which it wins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.domain.things import NOW, agent, at_work, cancelled, done, failed, stuck, todo, tree_state
from tests.workflow.scenes import MAIN, fresh, news, session, told
from toryo.domain.sessions import Choice
from toryo.domain.tasks import Approval, Checks, Task
from toryo.workflow.snapshot import News

FETCHED = session()
DELEGATED: dict[str, Any] = {"open_delegations": {"main": 1}}
PART = todo("part", "ann", below=MAIN)
RUNNING = at_work("running", "ann", below=MAIN)


def boss_is_told(
    *tasks: Task,
    main: Task = MAIN,
    chose: Choice | None = None,
    about: dict[str, tuple[News, ...]] | None = None,
    **around: Any,
) -> tuple[str, str]:
    """Row and action for boss, with these tasks below its main task."""
    step = told(tree_state(main, *tasks, **around), asking=replace(FETCHED, choice=chose), news=about or {})
    return step.row, step.action


def test_1_task_not_fetched_in_this_session() -> None:
    signed_in = replace(fresh(), model_id="any", choice=Choice.WAIT)
    for below in ([], [RUNNING], [done("d", "ann", below=MAIN)]):
        step = told(tree_state(MAIN, *below), asking=signed_in)
        assert (step.row, step.action) == ("manager 1", "get_task")


def test_2_no_subtasks() -> None:
    for chose in (None, *Choice):
        assert boss_is_told(chose=chose) == ("manager 2", "create_subtasks")
    assert boss_is_told(**DELEGATED) == ("manager 2", "create_subtasks")


ALL_DONE = done("a", "ann", below=MAIN), cancelled("b", "bob", below=MAIN)


def test_3_every_subtask_completed_or_cancelled_and_at_least_one_completed_and_no_delegation_open() -> None:
    for chose in (None, Choice.START, Choice.WAIT):
        assert boss_is_told(*ALL_DONE, chose=chose) == ("manager 3", "report_completion")
    assert boss_is_told(*ALL_DONE, chose=Choice.ADJUST) == ("manager 6", "adjust")
    assert boss_is_told(*ALL_DONE, **DELEGATED) == ("manager 8", "situational_awareness")
    assert boss_is_told(cancelled("b", "bob", below=MAIN)) == ("manager 8", "situational_awareness")


def test_3_not_while_an_acceptance_check_failed_and_nothing_below_has_changed_since() -> None:
    refuted = replace(MAIN, checks=Checks.FAILED, checked_at=NOW - 500)
    assert boss_is_told(*ALL_DONE, main=refuted) == ("manager 8", "situational_awareness")
    for checks in (Checks.NONE, Checks.RUNNING, Checks.PASSED):
        assert boss_is_told(*ALL_DONE, main=replace(refuted, checks=checks)) == ("manager 3", "report_completion")
    mended = done("c", "ann", below=MAIN, moved_at=NOW - 499)
    assert boss_is_told(*ALL_DONE, mended, main=refuted) == ("manager 3", "report_completion")


@pytest.mark.parametrize("fell", [stuck, failed])
def test_4_nothing_in_progress_nothing_dispatchable_nothing_outstanding_some_blocked_or_failed(fell) -> None:
    down = fell("down", "ann", below=MAIN)
    for below in ([down], [down, *ALL_DONE], [down, PART, stuck("c", "bob", below=MAIN)]):
        waits = {"part": ["down"]}
        for chose in (None, *Choice):
            assert boss_is_told(*below, waits=waits, chose=chose) == ("manager 4", "review_and_resolve_blocks")


@pytest.mark.parametrize(
    ("below", "around"),
    [
        ([RUNNING], {}),
        ([at_work("t", "bob", below=MAIN)], {"crew": [agent("bob", active=False)]}),
        ([PART], {}),
        ([], DELEGATED),
        ([todo("t", "bob", below=MAIN, approval=Approval.PENDING)], {}),
        ([todo("t", "bob", below=MAIN)], {"elsewhere": {"bob": 1}}),
    ],
    ids=[
        "a worker is at work",
        "somebody who cannot is at work",
        "a child can be dispatched",
        "a delegation is open",
        "an approval is pending",
        "the limit holds one back",
    ],
)
def test_4_not_while_anything_else_goes_on_beside_the_blocks(below: list[Task], around: dict[str, Any]) -> None:
    down = stuck("down", "ann", below=MAIN)
    assert boss_is_told(down, *below, **around) == ("manager 8", "situational_awareness")


def test_5_chose_start_and_something_is_dispatchable() -> None:
    assert boss_is_told(PART, chose=Choice.START) == ("manager 5", "start")
    assert boss_is_told(PART, RUNNING, chose=Choice.START, elsewhere={"ann": 1})[1] == "situational_awareness"
    assert boss_is_told(RUNNING, chose=Choice.START) == ("manager 8", "situational_awareness")


def test_6_chose_adjust() -> None:
    for below in ([PART], [RUNNING], [cancelled("b", "bob", below=MAIN)]):
        assert boss_is_told(*below, chose=Choice.ADJUST) == ("manager 6", "adjust")


def test_7_chose_wait_and_something_is_outstanding_and_nothing_is_new() -> None:
    assert boss_is_told(RUNNING, chose=Choice.WAIT) == ("manager 7", "wait")
    assert boss_is_told(PART, chose=Choice.WAIT) == ("manager 8", "situational_awareness")


@pytest.mark.parametrize("kind", ["blocked", "closed", "person", "delegation"])
def test_7_what_is_new_is_looked_at_before_leaving(kind: str) -> None:
    assert boss_is_told(RUNNING, chose=Choice.WAIT, about=news(kind, "running"))[1] == "situational_awareness"


def test_7_a_child_that_became_dispatchable_is_new_and_one_that_was_seen_is_not() -> None:
    free = todo("free", "bob", below=MAIN)
    assert boss_is_told(RUNNING, free, chose=Choice.WAIT) == ("manager 8", "situational_awareness")
    seen = replace(MAIN, look_dispatchable=("free",))
    assert boss_is_told(RUNNING, free, main=seen, chose=Choice.WAIT) == ("manager 7", "wait")


def test_8_always() -> None:
    assert boss_is_told(PART) == ("manager 8", "situational_awareness")
    assert boss_is_told(RUNNING) == ("manager 8", "situational_awareness")
    assert boss_is_told(RUNNING, about=news("closed", "other")) == ("manager 8", "situational_awareness")


@pytest.mark.pitfall("F59")
def test_three_children_and_one_dispatched_leaves_the_other_two_to_choose_from() -> None:
    others = todo("b", "bob", below=MAIN), todo("c", below=MAIN)
    assert boss_is_told(RUNNING, *others) == ("manager 8", "situational_awareness")
    assert boss_is_told(RUNNING, *others, chose=Choice.START) == ("manager 5", "start")

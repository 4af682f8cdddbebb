"""The words of the tables (*outstanding*, *new*, *able*, *waits*), one by one: what they are made of, and what not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.domain.things import agent, at_work, cancelled, done, failed, project, stuck, task, todo, tree_state
from tests.workflow.scenes import JOB, MAIN, case, news, session
from toryo.domain.agents import Role
from toryo.domain.projects import Decomposition
from toryo.domain.tasks import Approval, Checks, Status
from toryo.domain.tree_state import TreeState
from toryo.workflow import facts

PART = todo("part", "ann", below=MAIN)
RUNNING = at_work("running", "ann", below=MAIN)
AWAY = [agent("ann", active=False, reports_to="boss")]
BY_HAND = [agent("ann", provider=None, reports_to="boss")]

OUTSTANDING: dict[str, TreeState] = {
    "(a) a main task of an able agent below it is in progress": tree_state(MAIN, RUNNING),
    "(a) of an agent that a person has started": tree_state(MAIN, RUNNING, crew=BY_HAND, signed_in=frozenset({"ann"})),
    "(a) of a person": tree_state(MAIN, at_work("t", "paul", below=MAIN)),
    "(a) deep below": tree_state(MAIN, PART, at_work("leaf", "bob", below=PART)),
    "(b) its assignee is at the limit": tree_state(MAIN, PART, elsewhere={"ann": 1}),
    "(b) nobody's, and every able worker is at the limit": tree_state(
        MAIN, todo("t", below=MAIN), elsewhere={"ann": 1, "bob": 1}
    ),
    "(c) it waits for a task of another tree that is at work": tree_state(
        MAIN, PART, waits={"part": ["x"]}, outside=[at_work("x", "bob")]
    ),
    "(c) what waits is deep below": tree_state(
        MAIN,
        RUNNING,
        todo("leaf", "ann", below=RUNNING),
        waits={"leaf": ["x"]},
        outside=[at_work("x", "paul")],
        crew=AWAY,
    ),
    "(d) an awaited delegation is open": tree_state(MAIN, open_delegations={"main": 1}),
    "(e) an approval below it is pending": tree_state(MAIN, replace(PART, approval=Approval.PENDING)),
    "(e) of a draft": tree_state(MAIN, task("t", Status.BACKLOG, "ann", below=MAIN, approval=Approval.PENDING)),
    "(f) a queue task below it is ready, and its queue has an agent": tree_state(
        MAIN, PART, todo("leaf", below=PART, agent_type="builds"), served=frozenset({"builds"})
    ),
}

NOT_OUTSTANDING: dict[str, TreeState] = {
    "nothing is below it": tree_state(MAIN),
    "a child could be dispatched": tree_state(MAIN, PART),
    "who is at work cannot": tree_state(MAIN, RUNNING, crew=AWAY),
    "who is at work is not managed and nobody has started it": tree_state(MAIN, RUNNING, crew=BY_HAND),
    "only its own child is in progress": tree_state(MAIN, at_work("own", "boss", below=MAIN)),
    "only a subtask of a worker is in progress, and not the worker's task": tree_state(
        MAIN, stuck("t", "ann", below=MAIN), at_work("leaf", "ann", below=stuck("t", "ann", below=MAIN))
    ),
    "its own child is not held back by its own limit": tree_state(MAIN, todo("own", "boss", below=MAIN)),
    "nobody is able, so no limit holds anything back": tree_state(
        MAIN, todo("t", below=MAIN), crew=[*AWAY, agent("bob", active=False, reports_to="boss")]
    ),
    "what it waits for is not at work": tree_state(MAIN, PART, waits={"part": ["x"]}, outside=[todo("x", "bob")]),
    "who works on what it waits for cannot": tree_state(
        MAIN, PART, waits={"part": ["x"]}, outside=[at_work("x", "bob")], crew=[agent("bob", active=False)]
    ),
    "what waits for another tree is blocked itself": tree_state(
        MAIN, stuck("t", "ann", below=MAIN), waits={"t": ["x"]}, outside=[at_work("x", "bob")]
    ),
    "a delegation of another task is open": tree_state(MAIN, PART, open_delegations={"part": 1, "main": 0}),
    "what was not approved is closed": tree_state(MAIN, cancelled("t", "ann", below=MAIN, approval=Approval.PENDING)),
    "what was asked for was rejected": tree_state(MAIN, replace(PART, approval=Approval.REJECTED)),
    "a queue task is ready, and only another queue has an agent": tree_state(
        MAIN, todo("t", below=MAIN, agent_type="builds"), served=frozenset({"paints"})
    ),
    "a queue task is not ready": tree_state(
        MAIN,
        task("t", Status.BACKLOG, below=MAIN, agent_type="builds"),
        served=frozenset({"builds"}),
    ),
    "everything is blocked": tree_state(MAIN, stuck("t", "ann", below=MAIN)),
}


@pytest.mark.parametrize("what", OUTSTANDING)
def test_outstanding_is(what: str) -> None:
    assert facts.outstanding(case(OUTSTANDING[what]))


@pytest.mark.parametrize(
    ("where", "awaited"),
    [
        (tree_state(MAIN, RUNNING), {"running"}),
        (tree_state(MAIN, RUNNING, todo("t", "bob", below=MAIN), elsewhere={"bob": 1}), {"running", "other_bob_0"}),
        (
            tree_state(MAIN, todo("t", below=MAIN), elsewhere={"ann": 1, "bob": 2}),
            {"other_ann_0", "other_bob_0", "other_bob_1"},
        ),
        (tree_state(MAIN, PART, waits={"part": ["x"]}, outside=[at_work("x", "bob")]), {"x"}),
        (tree_state(MAIN, PART), set()),
        (tree_state(MAIN, RUNNING, open_delegations={"main": 1}), None),
        (tree_state(MAIN, RUNNING, todo("t", "bob", below=MAIN, approval=Approval.PENDING)), None),
        (
            tree_state(MAIN, RUNNING, todo("t", below=MAIN, agent_type="builds"), served=frozenset({"builds"})),
            None,
        ),
    ],
    ids=["at work", "at the limit", "nobody's", "outside", "nothing", "a delegation", "an approval", "a queue task"],
)
def test_one_of_these_tasks_must_proceed_unless_something_else_will_happen_anyway(
    where: TreeState, awaited: set[str] | None
) -> None:
    assert facts.awaited_tasks(case(where)) == awaited


@pytest.mark.parametrize(
    ("where", "elsewhere"),
    [
        (tree_state(MAIN, PART), False),
        (tree_state(MAIN, PART, elsewhere={"ann": 1}), True),
        (tree_state(MAIN, PART, crew=BY_HAND), True),
        (tree_state(MAIN, PART, crew=[agent("ann", provider=None, active=False, reports_to="boss")]), False),
        (tree_state(MAIN, PART, waits={"part": ["x"]}, outside=[todo("x", "bob")]), True),
        (tree_state(MAIN, PART, todo("next", "ann", below=MAIN), waits={"next": ["part"]}), False),
        (tree_state(MAIN, done("part", "ann", below=MAIN), waits={"part": ["x"]}, outside=[todo("x", "bob")]), False),
    ],
    ids=["nothing", "a busy agent", "one by hand", "an inactive one", "a task there", "a task here", "a closed task"],
)
def test_other_trees_can_change_a_decision_only_by_these(where: TreeState, elsewhere: bool) -> None:
    assert facts.depends_on_elsewhere(case(where)) is elsewhere


@pytest.mark.parametrize("what", NOT_OUTSTANDING)
def test_not_outstanding_is(what: str) -> None:
    assert not facts.outstanding(case(NOT_OUTSTANDING[what]))


# --- new -------------------------------------------------------------------------------------------------------------


def test_nothing_is_new_when_nothing_happened_and_everything_dispatchable_was_seen() -> None:
    assert not facts.something_new(case(tree_state(MAIN, RUNNING)))
    seen = replace(MAIN, look_dispatchable=("part", "gone"))
    assert not facts.something_new(case(tree_state(seen, PART)))


def test_a_child_that_can_be_dispatched_and_could_not_at_the_look_is_new() -> None:
    assert facts.newly_dispatchable(case(tree_state(MAIN, PART)))
    assert facts.plan_changed(case(tree_state(MAIN, PART)))
    assert not facts.newly_dispatchable(case(tree_state(MAIN, PART, elsewhere={"ann": 1})))


@pytest.mark.parametrize(
    ("kind", "wakes"),
    [("person", "plan_changed"), ("delegation", "plan_changed"), ("blocked", None), ("closed", None)],
)
def test_what_happened_is_new_and_some_of_it_changes_the_plan(kind: str, wakes: str | None) -> None:
    found = case(tree_state(MAIN, RUNNING), news=news(kind, "running"))
    assert facts.something_new(found)
    assert facts.plan_changed(found) is (wakes == "plan_changed")
    assert not facts.new_block(found)


def test_a_new_block_is_one_that_still_is() -> None:
    down = stuck("down", "ann", below=MAIN)
    assert facts.new_block(case(tree_state(MAIN, down), news=news("blocked", "down")))
    assert not facts.new_block(case(tree_state(MAIN, down), news=news("blocked", "other")))
    assert not facts.new_block(case(tree_state(MAIN, down)))
    assert facts.block_left_open(case(tree_state(MAIN, down)))


def test_news_of_another_main_task_is_not_news_here() -> None:
    assert not facts.something_new(case(tree_state(MAIN, RUNNING), news=news("person", "other", main="other")))


# --- done, stuck, startable ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        ([done], True),
        ([done, cancelled], True),
        ([cancelled], False),
        ([], False),
        ([done, failed], False),
        ([done, todo], False),
    ],
)
def test_all_done_is_completed_or_cancelled_and_at_least_one_completed(below: list, expected: bool) -> None:
    parts = [make(f"p{place}", "ann", below=MAIN) for place, make in enumerate(below)]
    assert facts.all_subtasks_done(case(tree_state(MAIN, *parts))) is expected
    assert not facts.all_subtasks_done(case(tree_state(MAIN, *parts, open_delegations={"main": 1})))


def test_the_rest_is_stuck_when_all_that_is_left_is_blocked_or_failed() -> None:
    left = stuck("a", "ann", below=JOB), failed("b", "ann", below=JOB), done("c", "ann", below=JOB)
    assert facts.rest_is_stuck(case(tree_state(JOB, *left), "ann"))
    assert not facts.rest_is_stuck(case(tree_state(JOB, *left, todo("d", "ann", below=JOB)), "ann"))
    assert not facts.rest_is_stuck(case(tree_state(JOB, left[2]), "ann"))


def test_a_failed_check_is_refuted_by_the_report_only_until_something_below_changes() -> None:
    main = replace(MAIN, checks=Checks.FAILED, checked_at=MAIN.moved_at)
    assert not facts.all_done_and_not_refuted(case(tree_state(main, done("a", "ann", below=main))))
    later = done("a", "ann", below=main, moved_at=MAIN.moved_at + 1)
    assert facts.all_done_and_not_refuted(case(tree_state(main, later)))


def test_may_be_decomposed_asks_for_the_window_even_before_there_is_a_session() -> None:
    assert facts.may_be_decomposed(case(tree_state(JOB), "ann"))
    found = replace(case(tree_state(JOB), "ann"), fetched=False)
    assert not facts.may_be_decomposed(found)
    assert facts.may_be_decomposed(replace(found, session=session("ann", "job")))
    never = tree_state(JOB, where=project(decomposition=Decomposition.NEVER))
    assert not facts.may_be_decomposed(case(never, "ann"))


# --- classes of children, each treated as its own --------------------------------------------------------------------


@pytest.mark.pitfall("F58")
def test_nobodys_own_workers_and_foreign_children_are_told_apart() -> None:
    """One child of each class: nobody's, the manager's own, a worker's, and one of somebody who cannot."""
    children = [
        todo("nobodys", below=MAIN),
        todo("own", "boss", below=MAIN, place=1),
        todo("workers", "ann", below=MAIN, place=2),
        todo("foreign", "zoe", below=MAIN, place=3),
        todo("lost", "gone", below=MAIN, place=4),
    ]
    crew: list[Any] = [agent("gone", active=False)]

    def dispatchable(**facts_: Any) -> list[str]:
        return [each.id for each in case(tree_state(MAIN, *children, crew=crew, **facts_)).dispatchable]

    assert dispatchable() == ["nobodys", "own", "workers", "foreign", "lost"]
    assert dispatchable(elsewhere={"ann": 1}) == ["nobodys", "own", "foreign", "lost"]
    assert dispatchable(elsewhere={"ann": 1, "bob": 1, "zoe": 1}) == ["own"]


def test_workers_below_a_subordinate_manager_can_take_what_is_nobodys() -> None:
    crew = [agent("sub", Role.MANAGER, reports_to="boss"), agent("eve", reports_to="sub")]
    busy = {"ann": 1, "bob": 1}
    assert not case(tree_state(MAIN, todo("t", below=MAIN), elsewhere=busy)).dispatchable
    assert case(tree_state(MAIN, todo("t", below=MAIN), elsewhere=busy, crew=crew)).dispatchable


def test_a_session_that_has_fetched_is_not_asked_to_again() -> None:
    found = replace(case(tree_state(MAIN)), fetched=False)
    assert facts.task_not_fetched(found)
    assert facts.task_not_fetched(replace(found, session=session(fetched_at=None)))
    assert not facts.task_not_fetched(replace(found, session=session()))


# --- what a worker waits for -----------------------------------------------------------------------------------------

REVIEWED = at_work("reviewed", "ann", below=JOB, checks=Checks.IN_REVIEW, open_questions=1)


def test_a_subtask_that_somebody_reviews_is_waited_for_and_not_worked_on() -> None:
    here = case(tree_state(JOB, REVIEWED, stuck("stuck", "bob", below=JOB)), "ann")
    assert facts.current_subtask(here) is None
    assert facts.others_at_work(here)
    assert [each.id for each in facts.at_work_for(here)] == ["reviewed"]
    assert facts.awaited_from_others(here) is None
    asked = case(tree_state(JOB, replace(REVIEWED, open_questions=0)), "ann")
    assert facts.current_subtask(asked) is not None
    assert not facts.others_at_work(asked)


def test_what_others_have_at_work_for_a_worker_is_what_it_waits_for() -> None:
    here = case(tree_state(JOB, at_work("theirs", "bob", below=JOB), todo("part", "ann", below=JOB)), "ann")
    assert facts.awaited_from_others(here) == frozenset({"theirs"})


def test_what_an_agent_that_is_gone_cannot_do_waits_for_everybody_who_could() -> None:
    lost, full = todo("lost", "gone", below=MAIN), {"ann": 1, "bob": 1}
    here = case(tree_state(MAIN, lost, crew=[agent("gone", active=False)], elsewhere=full))
    assert facts.awaited_tasks(here) == here.tree_state.busy["ann"] | here.tree_state.busy["bob"]


def test_only_a_subtask_in_progress_is_replaced_by_what_is_open_below_it() -> None:
    for begun, seen in ((at_work("part", "ann", below=JOB), "leaf"), (todo("part", "ann", below=JOB), "part")):
        here = case(tree_state(JOB, begun, todo("leaf", "ann", below=begun)), "ann")
        assert [each.id for each in here.front] == [seen]


def test_a_report_is_refused_only_for_its_delegation_where_no_subtask_is_open() -> None:
    refused = session("ann", "job", refused_for_delegation=True)
    for parts, expected in (
        ((), True),
        ((cancelled("t", "ann", below=JOB),), True),
        ((todo("t", "ann", below=JOB),), False),
    ):
        here = case(tree_state(JOB, *parts, open_delegations={"job": 1}), "ann")
        assert facts.refused_only_for_delegation(replace(here, session=refused)) is expected

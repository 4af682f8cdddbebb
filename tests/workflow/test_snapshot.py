"""What decisions read of one agent at one moment: its main tasks, what its queue offers it, and why it would chat."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.things import NOW, at_work, done, failed, stuck, todo, tree_state
from tests.workflow.scenes import MAIN, ordered, session, snapshot
from toryo.domain.launches import Purpose
from toryo.domain.tasks import Priority, Status, Task
from toryo.domain.tree_state import TreeState
from toryo.workflow.snapshot import ChatState, Snapshot, offers

READY = todo("q1", agent_type="build")
WITH_PARTS = todo("q2", agent_type="build")


def with_parts(*more: Task) -> tuple[Task, TreeState]:
    return WITH_PARTS, tree_state(WITH_PARTS, todo("part", "ann", below=WITH_PARTS, by="ann"), *more)


def test_a_queue_task_is_offered_in_the_state_after_the_claim() -> None:
    [(task, where)] = offers([with_parts()], "bob")
    assert (task.id, task.assignee_id, task.status) == ("q2", "bob", Status.IN_PROGRESS)
    assert where.tree.tasks["q2"] == task
    assert where.tree.tasks["part"].assignee_id == "bob", "what an earlier assignee made for itself goes along"


def test_more_is_offered_until_one_comes_that_nothing_below_can_hold_up() -> None:
    whole = READY, tree_state(READY)
    waits = READY, tree_state(READY, open_delegations={"q1": 1})
    last = todo("q3", agent_type="build")
    for ready, offered in (
        ([whole, with_parts()], ["q1"]),
        ([with_parts(), whole, (last, tree_state(last))], ["q2", "q1"]),
        ([waits, (last, tree_state(last)), with_parts()], ["q1", "q3"]),
        ([with_parts()], ["q2"]),
        ([], []),
    ):
        assert [task.id for task, _ in offers(ready, "bob")] == offered


# --- main tasks ------------------------------------------------------------------------------------------------------


def test_main_tasks_are_in_progress_the_agents_own_and_below_nothing_that_is_closed() -> None:
    closed = failed("closed", "hana")
    where = tree_state(
        MAIN,
        at_work("own", "boss", below=MAIN),
        at_work("another", "ann", below=MAIN),
        closed,
        at_work("below", "boss", below=closed),
        todo("later", "boss"),
        stuck("stuck", "boss"),
        done("done", "boss"),
        at_work("urgent", "boss", priority=Priority.HIGH, created_at=NOW),
    )
    assert [task.id for task, _ in snapshot(where).main_tasks] == ["urgent", "main"]
    assert all(state is where for _, state in snapshot(where).main_tasks)


def test_a_task_stands_in_the_state_of_its_tree() -> None:
    one, other = tree_state(MAIN), tree_state(READY)
    s = snapshot(tree_states=(one, other))
    assert (s.ground_of("main"), s.ground_of("q1"), s.ground_of("x"), s.ground_of(None)) == (one, other, None, None)


def test_other_sessions_and_launches_leave_the_rest_as_it_was() -> None:
    s = snapshot()
    live = {Purpose.TASK: session()}
    other = s.with_live(live, {Purpose.CHAT: ordered()})
    assert (s.sessions, s.launches) == ({}, {})
    assert (other.sessions, list(other.launches), other.agent) == (live, [Purpose.CHAT], s.agent)
    assert isinstance(other, Snapshot)


# --- chat ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "deliverable", "wanted", "answers"),
    [
        ({}, False, False, False),
        ({"undelivered": True}, True, True, False),
        ({"delegation_waits": True}, True, True, False),
        ({"invited": True}, True, True, True),
        ({"my_turn": True}, False, True, True),
        ({"opened_since": True}, False, True, False),
        ({"ending_untold": True}, True, False, False),
        ({"in_conversation": True, "in_hand": True, "watched": True}, False, False, False),
    ],
)
def test_what_is_delivered_what_starts_a_chat_and_who_is_answered(
    facts: dict[str, Any], *, deliverable: bool, wanted: bool, answers: bool
) -> None:
    talk = ChatState(**facts)
    assert (talk.deliverable, talk.wanted, talk.answers_somebody) == (deliverable, wanted, answers)

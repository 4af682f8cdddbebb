"""What next, asked by every session first: the rows before the worker's and the manager's tables.

Also which actions end a session, and which may ride along on other answers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.domain.things import NOW, agent, at_work, cancelled, done, project, stuck, todo, tree_state
from tests.workflow.scenes import JUST_NOW, LIMITS, MAIN, fresh, session, snapshot, told
from tests.workflow.test_tables import FIRST, written
from toryo.domain.agents import Role
from toryo.domain.launches import Purpose
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.sessions import Session
from toryo.workflow import next_action
from toryo.workflow.step import Step

HOUSE = tree_state(MAIN)
PAUSED = tree_state(MAIN, where=project(ProjectStatus.PAUSED))
INACTIVE = tree_state(MAIN, crew=[agent("boss", Role.MANAGER, active=False)])
TAKEN = tree_state(at_work("main", "ann"))


def first(where: Any = HOUSE, asking: Session | None = None, **facts: Any) -> tuple[str, str, str]:
    step = told(where, asking=asking, **facts)
    return step.row, step.action, step.reason


def test_1_a_session_that_is_over_leaves() -> None:
    assert first(asking=session(ended_at=JUST_NOW)) == ("first 1", "exit", "session_over")


@pytest.mark.parametrize(
    ("tripped", "reason"),
    [({"runaway": "refused_calls"}, "runaway"), ({"created_at": NOW - LIMITS.run_time}, "time_limit")],
)
def test_2_a_session_tripped_by_a_guard_leaves_for_that_reason(tripped: dict[str, Any], reason: str) -> None:
    assert first(asking=session(**tripped)) == ("first 2", "exit", reason)


def test_2_a_session_leaves_when_the_budget_is_used_up() -> None:
    assert first(budget_used_up=True) == ("first 2", "exit", "budget_exhausted")


def test_2_who_asks_is_not_silent_any_more() -> None:
    assert first(asking=session(heard_at=0, last_call_at=0))[0] == "manager 2"


def test_3_the_model_is_reported_once_in_each_session() -> None:
    assert first(asking=fresh()) == ("first 3", "report_model", "needs_model")
    assert first(asking=replace(fresh(), model_id="any"))[0] == "manager 1"


def test_4_an_undelivered_interrupt_is_fetched() -> None:
    assert first(interrupt_waiting=True) == ("first 4", "get_notifications", "interrupted")


def test_5_an_agent_that_is_no_longer_active_here_leaves() -> None:
    assert first(INACTIVE) == ("first 5", "exit", "agent_inactive")
    assert first(tree_state(MAIN, strangers=["boss"])) == ("first 5", "exit", "agent_inactive")
    assert first(agent=None, member=False) == ("first 5", "exit", "agent_inactive")


@pytest.mark.parametrize("status", [ProjectStatus.PAUSED, ProjectStatus.ARCHIVED])
def test_6_a_task_session_leaves_when_the_project_is_paused_or_archived(status: ProjectStatus) -> None:
    assert first(tree_state(MAIN, where=project(status))) == ("first 6", "exit", "project_paused")


ROOT = cancelled("root", "hana")
WITHDRAWN = {
    "put back": tree_state(todo("main", "boss")),
    "blocked": tree_state(stuck("main", "boss")),
    "somebody else's": TAKEN,
    "below a closed task": tree_state(ROOT, at_work("main", "boss", below=ROOT)),
    "completed by somebody else": tree_state(done("main", "boss", moved_session="ses_of_a_person")),
    "gone": tree_state(todo("other")),
}


@pytest.mark.parametrize("why", WITHDRAWN)
def test_7_a_task_session_leaves_when_its_main_task_is_not_its_own_any_more(why: str) -> None:
    assert first(WITHDRAWN[why]) == ("first 7", "exit", "task_withdrawn")


def test_7_a_session_that_closed_its_task_itself_is_told_so() -> None:
    for closed in (done, cancelled):
        own = tree_state(closed("main", "boss", moved_session="ses_boss"))
        assert first(own) == ("first 7", "exit", "task_closed")
    paused = tree_state(done("main", "boss", moved_session="ses_boss"), where=project(ProjectStatus.PAUSED))
    assert first(paused) == ("first 6", "exit", "project_paused")
    back = tree_state(todo("main", "boss", moved_session="ses_boss"))
    assert first(back) == ("first 7", "exit", "task_withdrawn")


def test_the_first_row_that_holds_wins_down_the_whole_table() -> None:
    """Everything holds at once; then one after the other is taken away."""
    everything: dict[str, Any] = {"where": TAKEN, "agent": INACTIVE.agents["boss"], "project": PAUSED.project}
    asking = session(ended_at=NOW, runaway="calls", model_id=None)
    seen = []
    reliefs: list[dict[str, Any]] = [{}, {"ended_at": None}, {"runaway": None}, {"model_id": "any"}]
    for relief in reliefs:
        asking = replace(asking, **relief)
        seen.append(first(asking=asking, interrupt_waiting=True, **everything)[0])
    for name, free in (("agent", HOUSE.agents["boss"]), ("project", HOUSE.project), ("where", HOUSE)):
        seen.append(first(asking=asking, **everything)[0])
        everything[name] = free
    assert seen == [f"first {row[0]}" for row in written(FIRST)]
    assert first(asking=asking, **everything)[0] == "manager 2"


def test_a_manager_is_led_by_its_table_and_everybody_else_by_the_workers() -> None:
    job = tree_state(at_work("main", "ann"))
    assert told(HOUSE).row == "manager 2"
    assert told(job, "ann", session("ann", "main")).row == "worker 2"


def test_a_step_says_its_row_in_the_words_of_the_table() -> None:
    assert told(HOUSE) == Step(
        "create_subtasks", "needs_subtask_creation", "needs_subtask_creation", "manager 2", "The task has no subtasks"
    )


# --- what ends a session, and what rides along -----------------------------------------------------------------------


def test_leaving_is_what_ends_a_session() -> None:
    assert {"exit", "logout", "wait", "wait_for_answer", "wait_for_others"} == next_action.ENDS_SESSION


def test_what_is_said_only_after_waiting_is_said_by_no_other_answer() -> None:
    assert {"wait_for_messages", "wait_for_delegation"} == next_action.WAITS
    assert next_action.WAITS <= next_action.ONLY_BY_ASKING
    assert next_action.ENDS_SESSION - {"exit"} <= next_action.ONLY_BY_ASKING


@pytest.mark.parametrize(
    ("action", "for_worker", "for_manager"),
    [
        ("report_model", True, True),
        ("get_task", True, True),
        ("execute_subtask", True, True),
        ("start", True, True),
        ("exit", True, True),
        ("situational_awareness", False, False),
        ("review_and_resolve_blocks", True, False),
        ("wait", False, False),
        ("wait_for_others", False, False),
        ("wait_for_delegation", False, False),
        ("get_pending_messages", True, True),
        ("wait_for_messages", False, False),
        ("logout", False, False),
    ],
)
def test_what_has_an_effect_when_told_does_not_ride_along(action: str, for_worker: bool, for_manager: bool) -> None:
    step = Step(action, action)
    assert next_action.may_ride(step, session(), Role.WORKER) is for_worker
    assert next_action.may_ride(step, session(), Role.MANAGER) is for_manager


def test_a_session_that_is_over_is_not_told_again_on_the_side() -> None:
    assert not next_action.may_ride(Step("exit", "exit"), session(ended_at=NOW), Role.WORKER)


def test_a_case_is_the_sessions_main_task_or_nothing_when_that_is_gone() -> None:
    found = next_action.case_of(snapshot(), session())
    assert found is not None
    assert found.main == MAIN
    assert next_action.case_of(snapshot(), session(task_id="gone")) is None
    assert next_action.case_of(snapshot(agent=None), session()) is None


def test_chat_sessions_skip_what_is_about_tasks() -> None:
    chatting = session(purpose=Purpose.CHAT, task_id=None, model_id=None)
    for where in (PAUSED, TAKEN):
        assert first(where, chatting)[0] == "first 3"
        rows = [rule.row for rule in next_action.FIRST_ROWS if rule.when((snapshot(where), chatting))]
        assert rows == ["first 3"]

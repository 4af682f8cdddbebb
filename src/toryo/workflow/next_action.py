"""The next action: selects the table by purpose and role, after the rows that apply to every session (section 3)."""

from __future__ import annotations

from collections.abc import Sequence

from toryo.domain.agents import Role
from toryo.domain.budgets import Whose
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Purpose
from toryo.domain.sessions import Session
from toryo.workflow import chat_rules, launch_rules, manager_rules, worker_rules
from toryo.workflow.rules import Rule, first_match
from toryo.workflow.snapshot import RuleInput, Snapshot
from toryo.workflow.step import Step

ENDS_SESSION = frozenset({"exit", "logout", "wait", "wait_for_answer", "wait_for_others"})
"""Actions that release the session when `get_next_action` returns them."""

WAITS = frozenset({"wait_for_messages", "wait_for_delegation"})
"""Actions that `get_next_action` returns only after it has waited for a different one."""

ONLY_BY_ASKING = frozenset({"situational_awareness", "wait", "wait_for_answer", "wait_for_others", "logout", *WAITS})
"""Returning these has an effect, so other answers that carry a next action say `get_next_action` instead."""

_Asking = tuple[Snapshot, Session]


def _guard(asking: _Asking) -> bool:
    return launch_rules.tripped(*asking) in ("runaway", "time_limit", *Whose)


def _inactive(asking: _Asking) -> bool:
    return launch_rules.inactive(asking[0]) or launch_rules.not_member(asking[0])


def _for_task(asking: _Asking) -> bool:
    return asking[1].purpose is Purpose.TASK


FIRST_ROWS: Sequence[Rule[_Asking, Step]] = (
    Rule("first 1", "The session has ended", lambda a: a[1].over, Step("exit", "exit", "session_over")),
    Rule(
        "first 2",
        "A guard stopped the session: too many calls without progress, the time limit, or a budget",
        _guard,
        Step("exit", "exit", "guard"),
    ),
    Rule(
        "first 3",
        "The agent has not reported its model in this session",
        lambda a: a[1].model_id is None,
        Step("report_model", "needs_model"),
    ),
    Rule(
        "first 4",
        "A notification that interrupts the agent has not been delivered yet",
        lambda a: a[0].interrupt_waiting,
        Step("get_notifications", "interrupted"),
    ),
    Rule(
        "first 5",
        "The agent is inactive, or no longer a member of the project",
        _inactive,
        Step("exit", "exit", "agent_inactive"),
    ),
    Rule(
        "first 6",
        "In a task session: the project is paused or archived",
        lambda a: _for_task(a) and launch_rules.project_not_active(a[0]),
        Step("exit", "exit", "project_paused"),
    ),
    Rule(
        "first 7",
        "In a task session: the main task was reassigned, is no longer in progress, or is below a closed task (reason "
        "task_closed if this session closed it)",
        lambda a: _for_task(a) and launch_rules.withdrawn(*a) is not None,
        Step("exit", "exit", "task_withdrawn"),
    ),
)


def decide(snapshot: Snapshot, session: Session) -> Step:
    """The next action of a session. The same facts give the same answer."""
    row = first_match(FIRST_ROWS, (snapshot, session))
    if row is not None:
        # The row's step; an exit names its cause.
        step = row.then.by(row.row, row.words)
        if step.reason == "guard":
            return replace(step, reason=launch_rules.tripped(snapshot, session) or "")
        if step.reason == "task_withdrawn" and _closed_by_itself(snapshot, session):
            return replace(step, reason="task_closed")
        return step
    if session.purpose is Purpose.CHAT:
        return chat_rules.decide(snapshot)
    tree_state = snapshot.ground_of(session.task_id)
    assert tree_state is not None, "row 'first 7' answers for a task that is gone"
    case = RuleInput(snapshot, tree_state, tree_state.tree.tasks[session.task_id or ""], session)
    return manager_rules.decide(case) if case.agent.role is Role.MANAGER else worker_rules.decide(case)


def _closed_by_itself(snapshot: Snapshot, session: Session) -> bool:
    tree_state = snapshot.ground_of(session.task_id)
    task = tree_state.tree.tasks[session.task_id or ""] if tree_state is not None else None
    return task is not None and task.closed and task.moved_session == session.id


def case_of(snapshot: Snapshot, session: Session) -> RuleInput | None:
    """The session's main task as rule input; None if the task is gone."""
    tree_state = snapshot.ground_of(session.task_id)
    if tree_state is None or snapshot.agent is None:
        return None
    return RuleInput(snapshot, tree_state, tree_state.tree.tasks[session.task_id or ""], session)


def may_ride(step: Step, session: Session, role: Role | None) -> bool:
    """Whether other answers may carry this step unchanged, because returning it has no effect."""
    looks = role is Role.MANAGER and step.action in manager_rules.LOOKS
    return not (looks or step.action in ONLY_BY_ASKING or (step.action == "exit" and session.over))

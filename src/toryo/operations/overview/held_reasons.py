"""Who lets go on what is held, for each reason: nobody (it moves by itself), or a person, who is told of it.

They are told as a need or as a condition of the project. What people have left on purpose, they start.

The overview is calm only while every reason is one that moves by itself. tests/operations/test_held_reasons.py compares
this table with all reasons that there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from toryo.domain.conditions import Condition
from toryo.domain.needs import Kind


class Moves(StrEnum):
    """What needs nobody."""

    BY_ITSELF = "by_itself"
    ON_PURPOSE = "on_purpose"
    """A person has not started it, or has nothing for the agent to do."""


RELEASE: Mapping[str, Moves | Kind | Condition] = {
    # Tasks to do
    "ancestor_closed": Kind.FAILED,
    "project_not_active": Condition.PAUSED,
    "not_approved": Kind.APPROVAL,
    "dependency": Moves.BY_ITSELF,  # one that will never be completed is told as stuck
    "unassigned": Moves.ON_PURPOSE,
    "assignee_not_active": Kind.STUCK,
    "parallel_limit": Moves.BY_ITSELF,
    "resting": Moves.BY_ITSELF,
    "no_agent_for_queue": Kind.STUCK,
    "blocked": Kind.BLOCKED,
    # Agents
    "project_paused": Condition.PAUSED,
    "project_archived": Condition.ARCHIVED,
    "agent_not_assigned": Kind.STUCK,
    "agent_inactive": Kind.STUCK,
    "not_managed": Kind.STUCK,
    "bad_options": Kind.AGENT_CANNOT_START,
    "task_withdrawn": Moves.BY_ITSELF,
    "runaway": Kind.RUNAWAY,
    "time_limit": Moves.BY_ITSELF,
    "silent": Moves.BY_ITSELF,
    "budget_exhausted": Condition.BUDGET_USED_UP,
    "agent_budget_exhausted": Kind.BUDGET_USED_UP,
    "task_budget_exhausted": Kind.BUDGET_USED_UP,
    "blocked_without_in_progress": Kind.BLOCKED,
    "already_running": Moves.BY_ITSELF,
    "start_pending": Moves.BY_ITSELF,
    "cooling_down": Moves.BY_ITSELF,  # what time does not help is told as "cannot start", an account as "quota used up"
    "reserve_kept": Condition.QUOTA_KEPT,
    "no_spare_quota": Condition.QUOTA_KEPT,
    "handing_over": Moves.BY_ITSELF,
    "may_conflict": Moves.BY_ITSELF,
    "waiting_for_merge": Kind.REVIEW,
    "worker_blocked": Moves.BY_ITSELF,
    "plan_changed": Moves.BY_ITSELF,
    "workers_finished": Moves.BY_ITSELF,
    "handled_blocked": Kind.BLOCKED,
    "waiting_for_workers": Moves.BY_ITSELF,
    "waiting_for_answer": Kind.QUESTION,
    "in_review": Moves.BY_ITSELF,  # what a person must review is told as a question
    "checking": Moves.BY_ITSELF,
    "waiting_for_delegation": Moves.BY_ITSELF,
    "waiting_for_approval": Kind.APPROVAL,
    "waiting_for_person": Kind.TASK,
    "has_in_progress_task": Moves.BY_ITSELF,
    "no_in_progress_task": Moves.ON_PURPOSE,
    "has_ready_queue_task": Moves.BY_ITSELF,
    "has_pending_purpose": Moves.BY_ITSELF,
    "no_chat_work": Moves.ON_PURPOSE,
    "internal_error": Kind.STUCK,
    # What keeps a due start from being carried out
    "none": Condition.COORDINATOR_GONE,
    "no_provider": Condition.PROGRAM_MISSING,
    "no_account": Condition.PROGRAM_MISSING,
    "not_listed": Condition.PROGRAM_MISSING,
    "no_capability": Condition.PROGRAM_MISSING,
    "no_labels": Condition.PROGRAM_MISSING,
    "files_busy": Moves.BY_ITSELF,
    "files_elsewhere": Moves.BY_ITSELF,
    "work_not_kept": Moves.BY_ITSELF,
}


def moves_by_itself(reason: str) -> bool:
    return RELEASE.get(reason) is Moves.BY_ITSELF

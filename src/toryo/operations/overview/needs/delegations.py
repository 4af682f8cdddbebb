"""Delegations whose awaited answer will not come, until the task is moved or delegates again."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.deeds import TO_SAY, deed
from toryo.domain.delegations import Delegation, DelegationStatus
from toryo.domain.needs import Kind, Need
from toryo.domain.wording import Worded, constant, say
from toryo.operations.overview.needs.view import BRIEF, View


def failed_delegations(view: View) -> Iterator[Need]:
    newest = {each.task_id: each for each in view.call.tx.needs.awaited_delegations()}
    failed = {task_id: each for task_id, each in newest.items() if each.status is DelegationStatus.FAILED}
    for task in view.here(view.call.tx.tasks.find_all(failed)):
        delegation = failed[task.id]
        yield from view.of_task(
            Kind.DELEGATION_FAILED,
            task,
            say("Delegation to {who} failed: {title}", who=view.name(delegation.target_agent_id), title=task.title),
            _failure(delegation),
            deed("tell", task_id=task.id, text=TO_SAY),
            since=delegation.ended_at or delegation.created_at,
            to=view.responsible(delegation.agent_id, task.project_id),
        )


def _failure(delegation: Delegation) -> Worded:
    why = delegation.result[:BRIEF] if isinstance(delegation.result, str) else constant("it was reported as failed")
    return say("Requested: {purpose} Reason for failure: {why}", purpose=delegation.purpose[:BRIEF], why=why)

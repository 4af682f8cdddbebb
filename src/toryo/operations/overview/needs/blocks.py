"""Blocks that a guard has set, and those that no agent above decides about. Where they lead to is left out."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.block_reasons import WORDS
from toryo.deeds import TO_SAY, Deed, deed
from toryo.domain import acceptance
from toryo.domain.needs import Kind, Need
from toryo.domain.tasks import Details, Task
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations.overview.needs.view import BRIEF, NO_REASON, View, left_to_agent, logs_of, said_by
from toryo.operations.tasks import above as above_tasks
from toryo.operations.tasks import remedies


def blocked_tasks(view: View) -> Iterator[Need]:
    blocked = view.here(view.call.tx.needs.blocked())
    above = above_tasks.ancestors(view.call, blocked)
    needing = {each.id: each for each in blocked if each.blocked_by_guard or not left_to_agent(view, each, above)}
    told = [each for each in needing.values() if not any(other in needing for other in each.blocked_on)]
    details = view.call.tx.tasks.details_of(each.id for each in told)
    logs = logs_of(view, [each for each in told if each.blocked_by_guard])
    for task in told:
        agent = view.agents.get(task.assignee_id or "")
        known = details.get(task.id, Details())
        remedy = remedies.of_block(view.call, task, agent, known.context)
        yield from _block(
            view, task, remedy, acceptance.failures_in_brief(task.checks, known.check_failures), logs.get(task.id)
        )


def _block(
    view: View, task: Task, remedy: remedies.Remedy | None, failures: Worded, log: Deed | None
) -> Iterator[Need]:
    reason = task.blocked_reason or constant(NO_REASON)
    guarded = task.blocked_by_guard
    words = constant(WORDS.get(reason) or reason[:BRIEF])
    said = words if guarded else said_by(view.name(task.blocked_by), reason)
    yield from view.of_task(
        Kind.BLOCKED_BY_GUARD if guarded else Kind.BLOCKED,
        task,
        say("Blocked by a guard: {title}" if guarded else "Blocked: {title}", title=task.title),
        together((together((said, remedy.words if remedy else "")), failures), "\n"),
        *(remedy.actions if remedy else ()),
        deed("unblock", task_id=task.id),
        deed("cancel", task_id=task.id, reason=TO_SAY),
        *((log,) if log is not None else ()),
        since=task.moved_at,
    )

"""What has failed and holds up nobody who would decide about it; of a queue: its dead letters.

A person who has moved a task to `failed` knows of it; what an agent failed to review, a person is asked to review.
"""

from __future__ import annotations

from collections.abc import Iterator

from toryo.deeds import TO_SAY, deed
from toryo.domain.needs import FAILED_WITHIN, Kind, Need
from toryo.domain.tasks import Details
from toryo.domain.wording import constant, say
from toryo.operations.overview.needs.view import NO_REASON, View, left_to_agent, logs_of, said_by
from toryo.operations.tasks import above as above_tasks

MOST_FAILED = 500


def failed_tasks(view: View) -> Iterator[Need]:
    newest = view.here(view.call.tx.needs.failed(view.now - FAILED_WITHIN, MOST_FAILED))
    failed = [each for each in newest if (each.for_queue or each.moved_session is not None) and each.review_of is None]
    above = above_tasks.ancestors(view.call, failed)
    open_ones = [each for each in failed if each.parent_id is None or above[each.parent_id].open]
    unminded = [task for task in open_ones if not left_to_agent(view, task, above)]
    details = view.call.tx.tasks.details_of(each.id for each in unminded)
    logs = logs_of(view, unminded)
    for task in unminded:
        why, log = details.get(task.id, Details()).error or constant(NO_REASON), logs.get(task.id)
        yield from view.of_task(
            Kind.DEAD_LETTER if task.for_queue else Kind.FAILED,
            task,
            say("Dead letter: {title}" if task.for_queue else "Failed: {title}", title=task.title),
            said_by(view.name(task.assignee_id) if task.assignee_id else "", why),
            deed("requeue" if task.for_queue else "retry", task_id=task.id),
            deed("cancel", task_id=task.id, reason=TO_SAY),
            *((log,) if log is not None else ()),
            since=task.completed_at or task.moved_at,
            about=f"{task.project_id} {task.agent_type}" if task.for_queue else task.id,
        )

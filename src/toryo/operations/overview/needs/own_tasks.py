"""What a person has to do themselves."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.deeds import TO_SAY, deed
from toryo.domain.needs import Kind, Need
from toryo.domain.wording import say
from toryo.operations.overview.needs.view import View


def own_tasks(view: View) -> Iterator[Need]:
    for task in view.here(view.call.tx.needs.in_progress_of(view.people)):
        yield from view.of_task(
            Kind.TASK,
            task,
            say("Your task: {title}", title=task.title),
            say("It is in progress and assigned to you. Created by {creator}.", creator=view.name(task.created_by)),
            deed("complete", task_id=task.id),
            deed("block", task_id=task.id, reason=TO_SAY),
            since=task.moved_at,
            to=[task.assignee_id or ""],
        )

"""Reported stalls since which nothing has happened in the tree."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.deeds import deed
from toryo.domain.needs import Kind, Need
from toryo.domain.wording import constant, say
from toryo.operations.overview.needs.view import View


def stalled_tasks(view: View) -> Iterator[Need]:
    for task in view.here(view.call.tx.needs.stalled()):
        if task.stalled_event == view.call.tx.events.last_fact(task.root_id):
            yield from view.of_task(
                Kind.STALLED,
                task,
                say("Stalled: {title}", title=task.title),
                constant("Some of its subtasks are ready to start, but no one has started them."),
                deed("list", project_id=task.project_id),
                *([deed("why", agent_id=task.assignee_id)] if task.assignee_id else []),
                since=task.moved_at,
            )

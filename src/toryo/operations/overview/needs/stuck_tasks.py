"""What cannot move by itself, where no other source says so."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from toryo.domain.fast_dataclasses import replace
from toryo.domain.needs import Kind, Need
from toryo.domain.wording import say, together
from toryo.operations.overview import stuck
from toryo.operations.overview.needs.view import View, of_task
from toryo.operations.overview.stuck import Stuck


def stuck_tasks(view: View, told: Collection[str]) -> Iterator[Need]:
    for each in stuck.found(view.picture, told):
        about = " ".join([each.task.project_id, *each.cause]) if each.cause else each.task.id
        for person_id in view.responsible(each.task.assignee_id, each.task.project_id):
            yield replace(_stuck(view, person_id, each), about=about)


def _stuck(view: View, person_id: str, it: Stuck) -> Need:
    owner = view.owns(person_id)
    (need,) = of_task(
        [person_id],
        Kind.STUCK,
        it.task,
        (
            say("Stuck: {title}", title=it.task.title),
            together((it.why, "" if owner or it.by_owner is None else it.by_owner)),
        ),
        *(it.for_owners if owner else ()),
        *it.actions,
        since=it.since,
    )
    return need

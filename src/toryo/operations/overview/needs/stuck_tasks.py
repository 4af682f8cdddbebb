"""What cannot move by itself, where no other source says so."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from toryo.domain.needs import Kind, Need
from toryo.domain.wording import say, together
from toryo.operations.overview import stuck
from toryo.operations.overview.needs.view import View


def stuck_tasks(view: View, told: Collection[str]) -> Iterator[Need]:
    for each in stuck.stuck_tasks(view.picture, told):
        for person_id in view.responsible(each.task.assignee_id, each.task.project_id):
            owner = view.owns(person_id)
            yield from view.of_task(
                Kind.STUCK,
                each.task,
                say("Stuck: {title}", title=each.task.title),
                together((each.why, "" if owner or each.by_owner is None else each.by_owner)),
                *(each.for_owners if owner else ()),
                *each.actions,
                since=each.since,
                to=[person_id],
                about=" ".join([each.task.project_id, *each.cause]) if each.cause else None,
            )

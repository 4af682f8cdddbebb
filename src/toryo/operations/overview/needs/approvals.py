"""Requests that nobody has judged: everybody who may is asked."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.deeds import TO_SAY, deed
from toryo.domain.needs import Kind, Need, Request, request_of
from toryo.domain.tasks import Details
from toryo.domain.wording import Worded, say, together
from toryo.operations.overview.needs.view import BRIEF, View


def requests(view: View) -> Iterator[Need]:
    waiting = view.here(view.call.tx.needs.unapproved())
    details = view.call.tx.tasks.details_of(each.id for each in waiting)
    for task in waiting:
        request = request_of(task, details.get(task.id, Details()))
        yield from view.of_task(
            Kind.APPROVAL,
            task,
            say("Approval requested: {title}", title=task.title),
            together((_asks(view, request), *_facts(request))),
            deed("approve", task_id=task.id),
            deed("reject", task_id=task.id, reason=TO_SAY),
            since=task.updated_at,
            request=request,
            to=view.judges(task.assignee_id, task.project_id),
        )


def _facts(request: Request) -> Iterator[Worded]:
    if request.commands:
        yield say("It runs {commands}.", commands=together((f"`{each[:BRIEF]}`" for each in request.commands), ", "))
    if request.context:
        yield say("Context: {context}", context=request.context[:BRIEF])
    if described := request.description[:BRIEF].strip():
        yield say("Description: {description}", description=described)


def _asks(view: View, request: Request) -> Worded:
    """Who requested it, on whose behalf, and who would be assigned."""
    asker, assignee = view.name(request.asked_by), view.name(request.assignee_id)
    if request.asked_for is None:
        return say("Requested by {asker}. Would be assigned to {assignee}.", asker=asker, assignee=assignee)
    return say(
        "Requested by {asker} for {person}. Would be assigned to {assignee}.",
        asker=asker,
        person=view.name(request.asked_for),
        assignee=assignee,
    )

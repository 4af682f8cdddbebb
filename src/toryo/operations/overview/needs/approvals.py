"""Requests that nobody has judged: everybody who may is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toryo.deeds import TO_SAY, deed
from toryo.domain.needs import Kind, Need, Request, requested
from toryo.domain.tasks import Details
from toryo.domain.wording import Worded, say, together
from toryo.operations.overview.needs.view import BRIEF, View, of_task


def requests(view: View) -> Iterator[Need]:
    waiting = view.here(view.call.tx.needs.unapproved())
    details = view.call.tx.tasks.details_of(each.id for each in waiting)
    for task in waiting:
        request = requested(task, details.get(task.id, Details()))
        described = request.description[:BRIEF].strip()
        yield from of_task(
            view.judges(task.assignee_id, task.project_id),
            Kind.APPROVAL,
            task,
            (
                say("Approval requested: {title}", title=task.title),
                together(
                    (
                        _asks(view, request),
                        say("It runs {commands}.", commands=_listed(request.commands)) if request.commands else "",
                        say("Context: {context}", context=request.context[:BRIEF]) if request.context else "",
                        say("Description: {description}", description=described) if described else "",
                    )
                ),
            ),
            deed("approve", task_id=task.id),
            deed("reject", task_id=task.id, reason=TO_SAY),
            since=task.updated_at,
            request=request,
        )


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


def _listed(commands: Iterable[str]) -> Worded:
    return together((f"`{command[:BRIEF]}`" for command in commands), ", ")

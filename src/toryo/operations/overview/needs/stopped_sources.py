"""Schedules and webhooks that have stopped themselves."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.deeds import Deed, deed
from toryo.domain.needs import Kind, Need
from toryo.domain.sources import Source
from toryo.domain.wording import constant, say
from toryo.operations.overview.needs.view import View


def schedules(view: View) -> Iterator[Need]:
    """Schedules that have stopped themselves."""
    for schedule in view.call.tx.schedules.stopped():
        if schedule.reason is not None:
            why: str = schedule.reason
        elif schedule.failures == 1:
            why = constant("A run failed. It creates no more tasks.")
        else:
            why = say("{count} runs failed in a row. It creates no more tasks.", count=schedule.failures)
        title = say("Schedule stopped: {name}", name=schedule.name)
        actions = deed("resume_schedule", schedule_id=schedule.id), deed("show_schedule", schedule_id=schedule.id)
        yield from _stopped(view, schedule, Kind.SCHEDULE_STOPPED, title, why, actions)


def webhooks(view: View) -> Iterator[Need]:
    """Webhooks that have stopped themselves."""
    for webhook in view.call.tx.webhooks.stopped():
        why: str = constant("A delivery failed. It creates no more tasks.")
        if webhook.failures > 1:
            why = say("{count} deliveries failed in a row. It creates no more tasks.", count=webhook.failures)
        title = say("Webhook stopped: {name}", name=webhook.name)
        actions = deed("resume_webhook", webhook_id=webhook.id), deed("show_webhook", webhook_id=webhook.id)
        yield from _stopped(view, webhook, Kind.WEBHOOK_STOPPED, title, why, actions)


def _stopped(view: View, source: Source, kind: Kind, title: str, why: str, actions: tuple[Deed, ...]) -> Iterator[Need]:
    """Who it runs as is told, or the owners."""
    if source.project_id not in view.projects:
        return
    asked = [source.runs_as] if view.can_be_asked(source.runs_as, source.project_id) else view.owners()
    for person_id in asked:
        yield Need(
            person_id=person_id,
            kind=kind,
            about=source.id,
            title=title,
            text=why,
            since=source.state_at or source.created_at,
            actions=actions,
            project_id=source.project_id,
        )

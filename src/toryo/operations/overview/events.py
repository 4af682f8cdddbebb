"""The event log: read from a sequence number, or waited for. Changes nothing."""

from __future__ import annotations

from typing import NotRequired

from pydantic import AwareDatetime, Field

from toryo.domain.events import Event
from toryo.domain.times import of_datetime
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls import rendering, schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later, Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result


class ReadEvents(Parameters):
    after: int = Field(0, ge=0, description="The last sequence number you have seen.")
    limit: int = Field(200, ge=1, le=1000, description="The limit.")
    wait_seconds: int = Field(0, ge=0, le=LONGEST_WAIT_SECONDS, description="How long to wait for the next one.")
    project_id: Id | None = Field(None, description="Only of this project.")
    task_id: Id | None = Field(None, description="Only about this task.")
    agent_id: Id | None = Field(None, description="Only about this agent.")
    correlation_id: str | None = Field(None, max_length=200, description="Only of this request.")
    actor_id: Id | None = Field(None, description="Only what this agent or person did.")
    kind: str | None = Field(
        None, pattern=r"^[a-z_]+\.([a-z_]+)?$", description="Only of this kind: task.failed, or task. for all of tasks."
    )
    since: AwareDatetime | None = Field(None, description="Only from this instant on.")
    until: AwareDatetime | None = Field(None, description="Only before this instant.")
    newest: bool = Field(False, description="The newest first; the next page is before `last`.")
    before: int | None = Field(None, ge=1, description="With newest: only before this sequence number.")


class EventsResult(Result):
    events: list[schemas.Event]
    last: int
    pruned_to: NotRequired[int]


@operation(
    "read_events",
    grant=Grant.PERSON,
    parameters=ReadEvents,
    route=Route("GET", "/events"),
    tool=False,
    reads=True,
    waits=True,
)
def read_events(call: Call, wanted: ReadEvents) -> EventsResult | Later:
    """What happened, in order, after a sequence number: who remembers the last one misses nothing. Or backwards.
    `pruned_to`: some events up to this number are no longer kept, and you asked for events among them."""
    found, visible = _page(call, wanted)
    if not found and wanted.wait_seconds and not wanted.newest and call.may_wait:
        return Later(frozenset({"events"}))
    last = found[-1].sequence if found else wanted.after
    answer: EventsResult = {"success": True, "events": [rendering.event(each) for each in visible], "last": last}
    horizon = call.tx.retention.state().horizon
    begins = last if wanted.newest and len(found) >= wanted.limit else wanted.after
    return {**answer, "pruned_to": horizon} if begins < horizon else answer


def _page(call: Call, wanted: ReadEvents) -> tuple[list[Event], list[Event]]:
    """What was looked at, and what of it the reader sees.

    Who asks about one thing is not told, by how far was looked, that there is such a thing which they do not see.
    """
    found = _matching(call, wanted)
    visible = [event for event in found if visibility.sees_event(call, event)]
    if not any((wanted.project_id, wanted.task_id, wanted.agent_id, wanted.actor_id, wanted.correlation_id)):
        return found, visible
    while found and not visible:
        further = {"before" if wanted.newest else "after": found[-1].sequence}
        found = _matching(call, wanted.model_copy(update=further))
        visible = [event for event in found if visibility.sees_event(call, event)]
    return visible, visible


def _matching(call: Call, wanted: ReadEvents) -> list[Event]:
    if not wanted.newest:
        return call.tx.events.after(wanted.after, wanted.limit, **_of(wanted))
    after = wanted.after or None
    return call.tx.events.newest(wanted.limit, before=wanted.before, after=after, **_of(wanted))


def _of(wanted: ReadEvents) -> dict[str, str | int | None]:
    """What the reader asks for, as the rows say it."""
    of_noun = wanted.kind is not None and wanted.kind.endswith(".")
    return {
        "project_id": wanted.project_id,
        "task_id": wanted.task_id,
        "agent_id": wanted.agent_id,
        "actor_id": wanted.actor_id,
        "correlation_id": wanted.correlation_id,
        "kind": None if of_noun else wanted.kind,
        "kinds_like": f"{wanted.kind}%" if of_noun else None,
        "since": of_datetime(wanted.since) if wanted.since is not None else None,
        "until": of_datetime(wanted.until) if wanted.until is not None else None,
    }

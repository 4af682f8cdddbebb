"""Looking: why an agent runs or not, what happened, who is signed in, what was launched. Changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NotRequired

from pydantic import AwareDatetime, Field

import toryo
from toryo.domain import ids, usages
from toryo.domain.errors import Code, Refusal
from toryo.domain.events import Event
from toryo.domain.launches import Launch, Purpose
from toryo.domain.times import DAY, iso, of_datetime
from toryo.domain.wording import constant, say
from toryo.operations.calls import did_you_mean, fault_isolation, rendering, schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later, NoParameters, Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cursor_of, cut, key_of, paged
from toryo.operations.calls.results import Result
from toryo.operations.overview import agent_diagnosis
from toryo.storage.coordinators import Seen

MOST_LAUNCHES = 500
"""Of one page, where no other limit is given."""


# --- why -------------------------------------------------------------------------------------------------------------


class Why(Parameters):
    agent_id: Id = Field(description="The agent.")
    project_id: Id | None = Field(None, description="Only in this project.")


class WhyResult(Result):
    agent_id: str
    decisions: list[schemas.Decision]


@operation(
    "why",
    grant=Grant.PERSON,
    parameters=Why,
    route=Route("GET", "/agents/{agent_id}/why"),
    tool=False,
    reads=True,
)
def why(call: Call, wanted: Why) -> WhyResult:
    """Why an agent is running or not: the row of the launch table that wins, and the facts it read."""
    agent = call.known_agent(wanted.agent_id)
    projects = [wanted.project_id] if wanted.project_id else call.tx.agents.projects_of(agent.id)
    visible = [call.project(each).id for each in projects if visibility.sees(call, each) or wanted.project_id]
    return {
        "success": True,
        "agent_id": agent.id,
        "decisions": [_told(call, agent.id, project, purpose) for project in visible for purpose in Purpose],
    }


def _told(call: Call, agent_id: str, project_id: str, purpose: Purpose) -> schemas.Decision:
    tell = partial(agent_diagnosis.told, call, agent_id, project_id, purpose, advise=True)
    unknown = agent_diagnosis.not_decided(project_id, purpose)
    return fault_isolation.fenced(call, "why", tell, unknown, agent_id=agent_id, project_id=project_id)


# --- events ----------------------------------------------------------------------------------------------------------


class ReadEvents(Parameters):
    after: int = Field(0, ge=0, description="The last sequence number you have seen.")
    limit: int = Field(200, ge=1, le=1000, description="At most so many.")
    wait_seconds: int = Field(0, ge=0, le=45, description="How long to wait for the next one.")
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
    """What happened, in order, after a sequence number: who remembers the last one misses nothing. Or backwards."""
    found, visible = _page(call, wanted)
    if not found and wanted.wait_seconds and not wanted.newest and call.may_wait:
        return Later(frozenset({"events"}))
    last = found[-1].sequence if found else wanted.after
    return {"success": True, "events": [_event(each) for each in visible], "last": last}


def _page(call: Call, wanted: ReadEvents) -> tuple[list[Event], list[Event]]:
    """What was looked at, and what of it the reader sees.

    Who asks about one thing is not told, by how far was looked, that there is such a thing which they do not see.
    """
    found = _found(call, wanted)
    visible = [event for event in found if visibility.sees_event(call, event)]
    if not any((wanted.project_id, wanted.task_id, wanted.agent_id, wanted.actor_id, wanted.correlation_id)):
        return found, visible
    while found and not visible:
        further = {"before" if wanted.newest else "after": found[-1].sequence}
        found = _found(call, wanted.model_copy(update=further))
        visible = [event for event in found if visibility.sees_event(call, event)]
    return visible, visible


def _found(call: Call, wanted: ReadEvents) -> list[Event]:
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


def _event(each: Event) -> schemas.Event:
    return {
        "sequence": each.sequence,
        "event_id": each.id,
        "at": iso(each.at),
        "kind": each.kind,
        "actor_id": each.actor_id,
        "by_person": bool(each.by_person),
        "project_id": each.project_id,
        "task_id": each.task_id,
        "agent_id": each.agent_id,
        "session_id": each.session_id,
        "launch_id": each.launch_id,
        "correlation_id": each.correlation_id,
        "data": _timed(_worded(each.data)),
    }


_MOMENTS = ("_at", "until", "since")
"""How the names of moments end."""


def _timed(data: dict[str, Any]) -> dict[str, Any]:
    """Moments are kept as numbers with an event, and told as everywhere."""
    return {name: iso(each) if name.endswith(_MOMENTS) and type(each) is int else each for name, each in data.items()}


def _worded(data: dict[str, Any]) -> dict[str, Any]:
    """The words of a row are kept in English with a decision, and said in the reader's language."""
    return {**data, "rule": constant(data["rule"])} if isinstance(data.get("rule"), str) else data


# --- sessions and launches -------------------------------------------------------------------------------------------


class ListSessions(Paged):
    live: bool = Field(True, description="Only those that are signed in now.")
    project_id: Id | None = Field(None, description="Only of this project.")


class SessionsResult(Page):
    sessions: list[schemas.Session]


@operation(
    "list_sessions",
    grant=Grant.PERSON,
    parameters=ListSessions,
    route=Route("GET", "/sessions"),
    tool=False,
    reads=True,
)
def list_sessions(call: Call, wanted: ListSessions) -> SessionsResult:
    """Who is signed in."""
    found = call.tx.sessions.live() if wanted.live else call.tx.sessions.newest()
    visible = [
        each
        for each in found
        if visibility.sees(call, each.project_id) and wanted.project_id in (None, each.project_id)
    ]
    shown, more = cut(visible, wanted, lambda each: each.id)
    answer: SessionsResult = {"success": True, "sessions": [rendering.session(each) for each in shown]}
    return paged(answer, more)


class ListLaunches(Paged):
    project_id: Id | None = Field(None, description="Only of this project.")
    agent_id: Id | None = Field(None, description="Only of this agent.")
    task_id: Id | None = Field(None, description="Only for this main task.")
    since: AwareDatetime | None = Field(None, description="Only what still lived then.")
    until: AwareDatetime | None = Field(None, description="Only what was ordered before.")


class LaunchesResult(Page):
    launches: list[schemas.Launch]


@operation(
    "list_launches",
    grant=Grant.PERSON,
    parameters=ListLaunches,
    route=Route("GET", "/launches"),
    tool=False,
    reads=True,
)
def list_launches(call: Call, wanted: ListLaunches) -> LaunchesResult:
    """What was started, the newest first."""
    limit, after = wanted.limit or MOST_LAUNCHES, key_of(wanted.cursor, str)
    since = of_datetime(wanted.since) if wanted.since is not None else None
    found = call.tx.launches.page(
        limit + 1,
        projects=visibility.visible_projects(call)
        if wanted.project_id is None
        else [call.project(wanted.project_id).id],
        agent_id=wanted.agent_id,
        task_id=wanted.task_id,
        since=since,
        not_before=since - call.context.limits.run_time - DAY if since is not None else None,
        until=of_datetime(wanted.until) if wanted.until is not None else None,
        after=after[0] if after is not None else None,
    )
    more = cursor_of(found[limit - 1].id) if len(found) > limit else None
    answer: LaunchesResult = {"success": True, "launches": [rendering.launch(each) for each in found[:limit]]}
    return paged(answer, more)


class ReadLog(Parameters):
    launch_id: Id = Field(description="The launch.")
    offset: int = Field(0, ge=0, description="How many characters you have read.")
    wait_seconds: int = Field(0, ge=0, le=45, description="How long to wait for more.")


class LogResult(Result):
    launch_id: str
    text: str
    next_offset: int
    ended: bool
    removed: NotRequired[str]
    launch: NotRequired[schemas.LaunchUsed]


@operation(
    "read_launch_log",
    grant=Grant.PERSON,
    parameters=ReadLog,
    route=Route("GET", "/launches/{launch_id}/log"),
    tool=False,
    reads=True,
    waits=True,
)
def read_launch_log(call: Call, wanted: ReadLog) -> LogResult | Later:
    """What the process of a launch has printed, from an offset. `removed` says so where it is not kept any more."""
    launch = call.tx.launches.find(wanted.launch_id)
    if launch is None or not visibility.sees(call, launch.project_id):
        raise Refusal(
            Code.LAUNCH_NOT_FOUND,
            say("There is no launch {launch_id}.", launch_id=wanted.launch_id),
            did_you_mean.hint(
                wanted.launch_id,
                ((each.id, "") for each in call.tx.launches.listed() if visibility.sees(call, each.project_id)),
                "Name an agent for its newest launch (toryo logs AGENT), or list the launches for their ids.",
            ),
        )
    parts = call.tx.launches.log(launch.id, wanted.offset)
    text = "".join(part[max(0, wanted.offset - start) :] for start, part in parts)
    ended = launch.exit_reported_at is not None
    if not text and not ended and wanted.wait_seconds and call.may_wait:
        return Later(frozenset({f"log:{launch.id}", f"launch:{launch.id}"}))
    tail, told_before = call.tx.launches.exit_record(launch.id)
    if not parts and wanted.offset == 0 and tail:
        text = tail
    usage = call.tx.usages.of_launch(launch.id)
    used = usage or usages.read(told_before or {})
    answer: LogResult = {
        "success": True,
        "launch_id": launch.id,
        "text": text,
        "next_offset": wanted.offset + len(text),
        "ended": ended,
        "launch": {**rendering.launch(launch), "usage": rendering.used(used)},
    }
    return {**answer, "removed": _removed(call, launch)} if _is_removed(call, launch, parts) else answer


def oldest_kept(call: Call) -> str:
    """Launches whose ids come before this one were ordered so long ago that their output is not kept."""
    return ids.make(ids.LAUNCH, max(0, call.now - call.context.settings.log_keep_days * DAY), 0)


def _is_removed(call: Call, launch: Launch, parts: Sequence[Any]) -> bool:
    """Nothing is left of what it printed: not even before the offset that is asked for."""
    old = launch.id < oldest_kept(call) and not launch.live
    return old and not parts and call.tx.launches.log_end(launch.id) == 0


def _removed(call: Call, launch: Launch) -> str:
    days = call.context.settings.log_keep_days
    where = f"the machine of its Coordinator ({launch.coordinator_id})" if launch.coordinator_id else "its machine"
    return (
        f"The output of this launch was removed: it is kept for {days} days here (TORYO_LOG_KEEP_DAYS). "
        f"Its file may still be on {where}: {launch.id}.log in the log directory there."
    )


# --- the server ------------------------------------------------------------------------------------------------------


class Status(Result):
    version: str
    database: str
    database_bytes: int
    coordinators: list[schemas.Coordinator]
    projects: int
    agents: int
    running: int
    last_event: int


@operation(
    "server_status",
    grant=Grant.PERSON,
    route=Route("GET", "/status"),
    tool=False,
    reads=True,
)
def server_status(call: Call, _: NoParameters) -> Status:
    """How the server stands: version, database, Coordinators seen, what runs. Members are told of what they may see."""
    seen = {each.id for each in call.tx.agents.all() if visibility.sees_agent(call, each)}
    return {
        "success": True,
        "version": toryo.__version__,
        "database": call.tx.connection.dialect,
        "database_bytes": call.tx.database_bytes(),
        "coordinators": [_coordinator(call, each, seen) for each in call.tx.coordinators.all()],
        "projects": sum(visibility.sees(call, each.id) for each in call.tx.projects.all()),
        "agents": len(seen),
        "running": sum(visibility.sees(call, each.project_id) for each in call.tx.sessions.live()),
        "last_event": call.tx.events.last(),
    }


def _coordinator(call: Call, seen: Seen, agents: set[str]) -> schemas.Coordinator:
    return {
        "coordinator_id": seen.id,
        "providers": seen.providers or [],
        "labels": seen.labels,
        "capabilities": seen.capabilities,
        "agents": seen.agents if seen.agents is None else [agent for agent in seen.agents if agent in agents],
        "running": seen.running,
        "seen_at": iso(seen.seen_at),
        "seconds_ago": (call.now - seen.seen_at) // 1000,
        "disk": rendering.disk(seen.disk),
    }

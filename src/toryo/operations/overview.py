"""Looking: why an agent runs or not, what happened, who is signed in, what was launched. Changes nothing."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

import orjson
from pydantic import Field

import toryo
from toryo.domain.errors import Code, Refusal
from toryo.domain.events import Event
from toryo.domain.launches import Purpose
from toryo.domain.times import iso, iso_or_none
from toryo.operations import explaining, launching, showing
from toryo.operations.call import Call
from toryo.operations.catalogue import Later, NoParameters, Parameters, Route, operation
from toryo.operations.permissions import Grant
from toryo.operations.results import Result

Id = Annotated[str, Field(min_length=1, max_length=64)]


# --- why -------------------------------------------------------------------------------------------------------------


class Why(Parameters):
    agent_id: Id = Field(description="The agent.")
    project_id: Id | None = Field(None, description="Only in this project.")


class WhyResult(Result):
    agent_id: str
    decisions: list[dict[str, Any]]


@operation(
    "why",
    grant=Grant.PERSON,
    parameters=Why,
    result=WhyResult,
    route=Route("GET", "/agents/{agent_id}/why"),
    tool=False,
    reads=True,
)
def why(call: Call, wanted: Why) -> dict[str, Any]:
    """Why an agent is running or not: the row of the launch table that wins, and the facts it read."""
    agent = call.known_agent(wanted.agent_id)
    projects = [wanted.project_id] if wanted.project_id else call.tx.agents.projects_of(agent.id)
    visible = [call.project(each).id for each in projects if call.sees(each) or wanted.project_id]
    return {
        "success": True,
        "agent_id": agent.id,
        "decisions": [_decision(call, agent.id, project, purpose) for project in visible for purpose in Purpose],
    }


def _decision(call: Call, agent_id: str, project_id: str, purpose: Purpose) -> dict[str, Any]:
    _, decision = launching.decide(call, agent_id, project_id, purpose, changes=False)
    last = call.tx.keeping.last_decision(agent_id, project_id, purpose.value)
    return {
        "project_id": project_id,
        "purpose": purpose.value,
        "action": decision.action.value,
        "reason": decision.reason,
        "row": decision.row,
        "rule": decision.words,
        "explanation": explaining.explained(decision),
        "facts": decision.facts,
        "task_id": decision.task_id,
        "since": iso(last[1]) if last is not None and last[0].split(" ")[1] == decision.reason else None,
        "until": iso_or_none(decision.until),
        "seconds_left": max(0, (decision.until - call.now) // 1000) if decision.until is not None else None,
    }


# --- events ----------------------------------------------------------------------------------------------------------


class ReadEvents(Parameters):
    after: int = Field(0, ge=0, description="The last sequence number you have seen.")
    limit: int = Field(200, ge=1, le=1000, description="At most so many.")
    wait_seconds: int = Field(0, ge=0, le=45, description="How long to wait for the next one.")
    project_id: Id | None = Field(None, description="Only of this project.")
    task_id: Id | None = Field(None, description="Only about this task.")
    agent_id: Id | None = Field(None, description="Only about this agent.")
    correlation_id: str | None = Field(None, max_length=200, description="Only of this request.")


class EventsResult(Result):
    events: list[dict[str, Any]]
    last: int


@operation(
    "read_events",
    grant=Grant.PERSON,
    parameters=ReadEvents,
    result=EventsResult,
    route=Route("GET", "/events"),
    tool=False,
    reads=True,
    waits=True,
)
def read_events(call: Call, wanted: ReadEvents) -> dict[str, Any] | Later:
    """What happened, in order, after a sequence number. Whoever remembers the last one misses nothing."""
    found = call.tx.events.after(
        wanted.after,
        wanted.limit,
        project_id=wanted.project_id,
        task_id=wanted.task_id,
        agent_id=wanted.agent_id,
        correlation_id=wanted.correlation_id,
    )
    visible = [each for each in found if each.project_id is None or call.sees(each.project_id)]
    if not visible and not found and wanted.wait_seconds and call.may_wait:
        return Later(frozenset({"events"}))
    last = found[-1].sequence if found else wanted.after
    return {"success": True, "events": [_event(each) for each in visible], "last": last}


def _event(each: Event) -> dict[str, Any]:
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
        "data": each.data,
    }


# --- sessions and launches -------------------------------------------------------------------------------------------


class ListSessions(Parameters):
    live: bool = Field(True, description="Only those that are signed in now.")
    project_id: Id | None = Field(None, description="Only of this project.")


class SessionsResult(Result):
    sessions: list[dict[str, Any]]


@operation(
    "list_sessions",
    grant=Grant.PERSON,
    parameters=ListSessions,
    result=SessionsResult,
    route=Route("GET", "/sessions"),
    tool=False,
    reads=True,
)
def list_sessions(call: Call, wanted: ListSessions) -> dict[str, Any]:
    """Who is signed in."""
    found = call.tx.sessions.live() if wanted.live else call.tx.sessions.newest()
    visible = [each for each in found if call.sees(each.project_id) and wanted.project_id in (None, each.project_id)]
    return {"success": True, "sessions": [showing.session(each) for each in visible]}


class ListLaunches(Parameters):
    project_id: Id | None = Field(None, description="Only of this project.")
    agent_id: Id | None = Field(None, description="Only of this agent.")
    task_id: Id | None = Field(None, description="Only for this main task.")


class LaunchesResult(Result):
    launches: list[dict[str, Any]]


@operation(
    "list_launches",
    grant=Grant.PERSON,
    parameters=ListLaunches,
    result=LaunchesResult,
    route=Route("GET", "/launches"),
    tool=False,
    reads=True,
)
def list_launches(call: Call, wanted: ListLaunches) -> dict[str, Any]:
    """What was started, the newest first."""
    found = call.tx.launches.listed(project_id=wanted.project_id, agent_id=wanted.agent_id, task_id=wanted.task_id)
    return {"success": True, "launches": [showing.launch(each) for each in found if call.sees(each.project_id)]}


class ReadLog(Parameters):
    launch_id: Id = Field(description="The launch.")
    offset: int = Field(0, ge=0, description="How many characters you have read.")
    wait_seconds: int = Field(0, ge=0, le=45, description="How long to wait for more.")


class LogResult(Result):
    launch_id: str
    text: str
    next_offset: int
    ended: bool
    launch: NotRequired[dict[str, Any]]


@operation(
    "read_launch_log",
    grant=Grant.PERSON,
    parameters=ReadLog,
    result=LogResult,
    route=Route("GET", "/launches/{launch_id}/log"),
    tool=False,
    reads=True,
    waits=True,
)
def read_launch_log(call: Call, wanted: ReadLog) -> dict[str, Any] | Later:
    """What the process of a launch has printed, from an offset."""
    launch = call.tx.launches.find(wanted.launch_id)
    if launch is None or not call.sees(launch.project_id):
        raise Refusal(
            Code.LAUNCH_NOT_FOUND,
            f"There is no launch {wanted.launch_id}.",
            "List the launches for their ids.",
        )
    parts = call.tx.launches.log(launch.id, wanted.offset)
    text = "".join(part[max(0, wanted.offset - start) :] for start, part in parts)
    ended = launch.exit_reported_at is not None
    if not text and not ended and wanted.wait_seconds and call.may_wait:
        return Later(frozenset({f"log:{launch.id}", f"launch:{launch.id}"}))
    tail, usage = call.tx.launches.exit_record(launch.id)
    if not parts and wanted.offset == 0 and tail:
        text = tail
    return {
        "success": True,
        "launch_id": launch.id,
        "text": text,
        "next_offset": wanted.offset + len(text),
        "ended": ended,
        "launch": {**showing.launch(launch), "usage": orjson.loads(usage) if usage else None},
    }


# --- the server ------------------------------------------------------------------------------------------------------


class Status(Result):
    version: str
    database: str
    coordinators: list[dict[str, Any]]
    projects: int
    agents: int
    running: int
    last_event: int


@operation(
    "server_status",
    grant=Grant.PERSON,
    result=Status,
    route=Route("GET", "/status"),
    tool=False,
    reads=True,
)
def server_status(call: Call, _: NoParameters) -> dict[str, Any]:
    """How the server stands: version, database, Coordinators seen, what runs."""
    return {
        "success": True,
        "version": toryo.__version__,
        "database": call.tx.connection.dialect,
        "coordinators": [
            {**each, "seen_at": iso(each["seen_at"]), "seconds_ago": (call.now - each["seen_at"]) // 1000}
            for each in call.tx.keeping.coordinators()
        ],
        "projects": len(call.tx.projects.all()),
        "agents": len(call.tx.agents.all()),
        "running": len(call.tx.sessions.live()),
        "last_event": call.tx.events.last(),
    }

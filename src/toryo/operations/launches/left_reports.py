"""Reports that their process can no longer make, made in its place: by the exit report that brings one, or when the
acceptance checks of a report have passed after its process has ended."""

from __future__ import annotations

from typing import Any

import orjson

from toryo.domain.errors import Refusal
from toryo.domain.launches import Launch
from toryo.operations.calls import session_hooks
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Caller, Kind
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.validation import parameters_of


def report(call: Call, launch: Launch, tool: str, arguments: dict[str, Any]) -> None:
    """As its session would have: what the process has finished counts, unless somebody else has begun."""
    session, told = call.tx.sessions.of_launch(launch.id), catalogue().get(tool)
    if session is None or told is None or told.grant is not Grant.TASK_SESSION:
        return
    parameters = parameters_of(told, arguments)
    if isinstance(parameters, Refusal):
        return
    agent = call.tx.agents.find(launch.agent_id)
    own = Call(call.tx, Caller(Kind.SESSION, agent=agent, session=session, launch=launch), call.now, call.context)
    events, hints = len(call.tx.events.collected), set(call.tx.hints)
    try:
        with call.tx.connection.savepoint():
            session_hooks.hooks().guard(own, told)
            told.handler(own, parameters)
            call.tx.sessions.save(own.stored_session, own.session)
    except Refusal:
        del call.tx.events.collected[events:]
        call.tx.hints.intersection_update(hints)


def after_checks(call: Call, launch_id: str, task_id: str) -> None:
    """The report that has waited for them, if its process is gone."""
    launch, session = call.tx.launches.find(launch_id), call.tx.sessions.of_launch(launch_id)
    if launch is None or session is None or not session.over or session.task_id != task_id or session.report is None:
        return
    waiting = orjson.loads(session.report)
    if "answer" not in waiting and waiting.get("report", {}).get("result") == "success":
        report(call, launch, "report_completed", waiting["report"])

"""Ends a session, or a launch that has not signed in, at a person's request."""

from __future__ import annotations

from pydantic import Field

from toryo.deeds import deed
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Launch, State
from toryo.domain.sessions import End
from toryo.domain.wording import say
from toryo.operations.calls import did_you_mean, visibility
from toryo.operations.calls.call import RIGHTS, Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.launches import end_of_session


class EndSession(Parameters):
    session_id: Id = Field(description="The session, or the launch: one that nobody has signed in for ends, too.")
    reason: Lines | None = Field(None, max_length=1000, description="Why.")


class SessionEnded(Result):
    session_id: str
    ended: bool


@operation(
    "end_session",
    grant=Grant.WRITER,
    parameters=EndSession,
    route=Route("DELETE", "/sessions/{session_id}"),
    tool=False,
)
def end_session(call: Call, wanted: EndSession) -> SessionEnded:
    """End a session by force. Its task stays in progress, and its agent is started again if there is work."""
    launch = call.tx.launches.find(wanted.session_id)
    if launch is not None and visibility.sees(call, launch.project_id) and _end_unsigned(call, launch):
        return {"success": True, "session_id": launch.id, "ended": True}
    session = call.tx.sessions.find(wanted.session_id) if launch is None else call.tx.sessions.of_launch(launch.id)
    if session is None or not visibility.sees(call, session.project_id):
        raise Refusal(
            Code.SESSION_NOT_FOUND,
            say("There is no session {session_id}.", session_id=wanted.session_id),
            did_you_mean.hint(
                wanted.session_id,
                ((each.id, "") for each in call.tx.sessions.live() if visibility.sees(call, each.project_id)),
                say("{deed:List the sessions for their ids (…).}", deed=deed("list_sessions")),
            ),
        )
    call.enter(session.project_id)
    if not session.over:
        end_of_session.end_session(call, session, End.ENDED_BY_PERSON)
        launch = call.tx.launches.find(session.launch_id)
        if launch is not None:  # its process is given no time to leave by itself
            call.tx.launches.save(launch, replace(launch, stop_reason=End.ENDED_BY_PERSON.value))
        call.tx.hint(RIGHTS)
    return {"success": True, "session_id": session.id, "ended": not session.over}


def _end_unsigned(call: Call, launch: Launch) -> bool:
    """Ends a launch that has not signed in; returns False if it has."""
    call.enter(launch.project_id)
    found = call.tx.launches.find(launch.id)
    if found is None or found.state is not State.ORDERED:
        return False
    ended = end_of_session.end_launch(call, found, State.EXITED, End.ENDED_BY_PERSON.value, told=True)
    call.tx.launches.save(ended, replace(ended, stop_reason=End.ENDED_BY_PERSON.value))
    call.tx.hint(RIGHTS)
    return True

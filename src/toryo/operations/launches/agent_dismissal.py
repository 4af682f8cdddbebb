"""Ends everything of an agent that has lost its right to work: sessions, process, claims.

All operations that take such a right away call this, so that nothing of the agent continues. What people have signed in
with is ended in `credential_revocation.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from toryo.domain.agents import Agent
from toryo.domain.fast_dataclasses import replace
from toryo.domain.sessions import End, Session
from toryo.operations.calls.call import RIGHTS, Call
from toryo.operations.launches import end_of_session
from toryo.operations.queue import claims


def dismiss(call: Call, agent: Agent, project_id: str | None = None) -> int:
    """Ends what an agent does in a project, or anywhere; answers how many sessions ended."""
    presence = call.tx.queues.presence(agent.id)
    if presence is not None and presence.online and project_id in (None, presence.project_id):
        claims.go_offline(call, presence, releases=True, counted=False)
    return _end_sessions(call, agent, lambda each: project_id in (None, each.project_id))


def dismiss_by_passkey(call: Call, agent: Agent) -> int:
    """Ends the sessions that were signed in with the agent's passkey; its Coordinator's processes go on."""
    return _end_sessions(call, agent, lambda each: _by_passkey(call, each))


def _by_passkey(call: Call, session: Session) -> bool:
    launch = call.tx.launches.find(session.launch_id)
    return launch is not None and launch.by_passkey


def _end_sessions(call: Call, agent: Agent, wanted: Callable[[Session], bool]) -> int:
    """Their processes are given no time to leave by themselves; their tasks stay as they are."""
    ended = [each for each in call.tx.sessions.live() if each.agent_id == agent.id and wanted(each)]
    for session in ended:
        end_of_session.end_session(call, session, End.DISMISSED)
        launch = call.tx.launches.find(session.launch_id)
        if launch is not None:
            call.tx.launches.save(launch, replace(launch, stop_reason=End.DISMISSED.value))
    call.tx.hint(RIGHTS)
    return len(ended)

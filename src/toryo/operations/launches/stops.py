"""Carrying out a stop: the session ends here and now; its process is ended by whoever started it, or leaves by itself.

Where a Coordinator reports a process as running, its next claim stops it. `overdue` is for the others: sessions that
were started by hand, or by a Coordinator that asks agent by agent.
"""

from __future__ import annotations

from dataclasses import replace

from toryo.domain.launches import Launch, Purpose, State
from toryo.domain.sessions import End
from toryo.failures import Failure
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.launches import cooldowns, start_decisions, termination
from toryo.workflow.launch import Action, Decision


def stop(call: Call, launch: Launch, decision: Decision) -> None:
    """Ends the launch's session for the reason of the decision."""
    session = call.tx.sessions.of_launch(launch.id)
    if session is not None and not session.over:
        termination.end_session(call, session, End.TOLD_TO_EXIT)
        call.event(
            "session.stopped",
            project_id=launch.project_id,
            agent_id=launch.agent_id,
            session_id=session.id,
            launch_id=launch.id,
            data={"reason": decision.reason, "row": decision.row},
        )
    if decision.reason in (Failure.SILENT, Failure.TIME_LIMIT):  # a runaway's session cools down however it ends
        cooldowns.cool(call, launch.agent_id, launch.purpose, decision.reason, None)
    ended = call.tx.launches.find(launch.id)
    if ended is not None:
        call.tx.launches.save(ended, replace(ended, stop_since=call.now, stop_reason=decision.reason))


_TAKEN_AWAY = frozenset({"task_withdrawn", "project_paused", "agent_inactive", "agent_not_assigned"})
"""Reasons of a stop that concern the work, not the process: of a process that nobody reports nothing else is known."""


def overdue(call: Call) -> int:
    """Stops the sessions whose work was taken away and whose processes nobody reports; answers how many."""
    unreported = (each for each in call.tx.launches.live() if each.coordinator_id is None or each.by_passkey)
    signed_in = [each for each in unreported if each.state is State.SIGNED_IN]
    return sum(each_fenced(call, "sweep", signed_in, lambda each: _stop_overdue(call, each)))


def _stop_overdue(call: Call, launch: Launch) -> bool:
    _, decision = start_decisions.decide(call, launch.agent_id, launch.project_id, launch.purpose)
    if decision.action is not Action.STOP or decision.reason not in _TAKEN_AWAY or launch.purpose is not Purpose.TASK:
        return False
    stop(call, launch, decision)
    return True

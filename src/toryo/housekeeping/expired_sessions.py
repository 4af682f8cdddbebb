"""Ends expired launches and sessions, and sessions whose task was taken away."""

from __future__ import annotations

from toryo.domain.launches import Launch, Purpose, State
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.launches import end_of_session, launch_decisions
from toryo.workflow.launch_rules import Action

SWEEP = "sweep"


def sweep(call: Call) -> int:
    """How many launches and sessions it ended."""
    sessions = each_fenced(
        call, SWEEP, call.tx.sessions.expired(call.now), lambda each: end_of_session.lapse(call, None, each)
    )
    ended = sum(sessions)
    ended += sum(each_fenced(call, SWEEP, call.tx.launches.live(), lambda each: end_of_session.lapse(call, each, None)))
    return ended + _stop_unreported(call)


_TAKEN_AWAY = frozenset({"task_withdrawn", "project_paused", "agent_inactive", "agent_not_assigned"})
"""Reasons of a stop that concern the work, not the process: of a process that nobody reports nothing else is known."""


def _stop_unreported(call: Call) -> int:
    """Stops the sessions whose work was taken away and whose processes nobody reports (started by hand, or by a
    Coordinator that asks agent by agent); answers how many. Where one reports them, its next claim stops them."""
    unreported = (each for each in call.tx.launches.live() if each.coordinator_id is None or each.by_passkey)
    signed_in = [each for each in unreported if each.state is State.SIGNED_IN]
    return sum(each_fenced(call, SWEEP, signed_in, lambda each: _stop_overdue(call, each)))


def _stop_overdue(call: Call, launch: Launch) -> bool:
    _, decision = launch_decisions.decide(call, launch.agent_id, launch.project_id, launch.purpose)
    if decision.action is not Action.STOP or decision.reason not in _TAKEN_AWAY or launch.purpose is not Purpose.TASK:
        return False
    end_of_session.stop(call, launch, decision)
    return True

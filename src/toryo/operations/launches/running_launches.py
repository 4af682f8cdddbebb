"""Handles a Coordinator's list of running launches: renews leases, and stops what should no longer run."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from typing_extensions import TypedDict

from toryo.domain.coordinators import is_gone
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Launch, State
from toryo.domain.times import SECOND, Millis
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.launches import end_of_session, launch_decisions
from toryo.operations.launches.claim_request import CLAIM, ClaimStarts
from toryo.workflow.launch_rules import Action

_TELL_AGAIN_AFTER: Millis = 15 * SECOND


def renew(call: Call, asked: ClaimStarts, running: Iterable[Launch]) -> None:
    """Processes that are seen keep their sessions alive."""
    own = [each for each in running if _belongs(call, each, asked.coordinator_id)]
    call.tx.launches.seen([each.id for each in own], asked.coordinator_id, call.now)
    for launch in own:
        session = call.tx.sessions.of_launch(launch.id) if launch.state is State.SIGNED_IN else None
        if session is None or session.over:
            continue
        lease = min(session.lease_seconds, call.context.settings.session.lease)
        until = max(session.expires_at, call.now + lease * SECOND)
        call.tx.sessions.save(session, replace(session, expires_at=until))


def _belongs(call: Call, launch: Launch, coordinator_id: str) -> bool:
    """Its own, nobody's, or one whose owner has not called for a while (adopted)."""
    if launch.coordinator_id in (None, coordinator_id):
        return True
    return is_gone(max(launch.seen_at or 0, launch.ordered_at), call.now)


class Stop(TypedDict):
    """A process to end after this many seconds."""

    launch_id: str
    reason: str
    grace_seconds: int


def stops_for(call: Call, asked: ClaimStarts, running: dict[str, Launch]) -> list[Stop]:
    found: list[Stop] = []
    for launch_id in asked.running:
        launch = running.get(launch_id)
        if launch is None:
            found.append(_stop(launch_id, "launch_unknown", 0))
        else:
            for stops in each_fenced(call, CLAIM, [launch], partial(_stop_one, call)):
                found.extend(stops)
    return found


def _stop_one(call: Call, launch: Launch) -> list[Stop]:
    return _stop_live(call, launch) if launch.live else _stop_over(call, launch)


def _stop(launch_id: str, reason: str, grace_seconds: int) -> Stop:
    return {"launch_id": launch_id, "reason": reason, "grace_seconds": grace_seconds}


def _stop_over(call: Call, launch: Launch) -> list[Stop]:
    """It outlives its launch: left alone for the rest of the grace time, then ended by its Coordinator.

    Told once, and again only after a while (the answer may have been lost): a claim would never wait otherwise.
    """
    if launch.stop_since is not None and call.now - launch.stop_since < _TELL_AGAIN_AFTER:
        return []
    reason = launch.stop_reason or ("not_signed_in" if launch.state is State.EXPIRED else "launch_over")
    call.tx.launches.save(launch, replace(launch, stop_since=call.now, stop_reason=reason))
    over = (launch.ended_at or call.now) + call.context.limits.stop_grace if reason == "launch_over" else call.now
    left = max(0, over - call.now)
    return [_stop(launch.id, reason, -(-left // SECOND))]  # rounded up: its last second belongs to the process, too


def _stop_live(call: Call, launch: Launch) -> list[Stop]:
    """What the launch decision says; a stopped session ends here, its process is ended by the Coordinator."""
    if launch.state is State.ORDERED:
        return _stop_unsigned(call, launch)
    _, decision = launch_decisions.decide(call, launch.agent_id, launch.project_id, launch.purpose)
    if decision.action is not Action.STOP:
        return []
    end_of_session.stop(call, launch, decision)
    return [_stop(launch.id, decision.reason, 0)]


def _stop_unsigned(call: Call, launch: Launch) -> list[Stop]:
    """A launch that nobody has signed in for ends at once when what it was for is over: its agent knows nothing yet."""
    _, decision = launch_decisions.decide(call, launch.agent_id, launch.project_id, launch.purpose)
    launch = reported_launch(call, launch.id)
    if not launch.live:  # It was cancelled in this call.
        return _stop_over(call, launch)
    reason = decision.reason if decision.reason in _NOT_WANTED else None
    task = call.tx.tasks.find(launch.task_id) if launch.task_id is not None else None
    mine = task is not None and task.in_progress and task.assignee_id == launch.agent_id
    if reason is None and launch.task_id is not None and not mine:
        reason = "task_withdrawn"
    if reason is None:
        return []
    end_of_session.end_launch(call, launch, State.EXITED, reason, told=True)
    ended = reported_launch(call, launch.id)
    call.tx.launches.save(ended, replace(ended, stop_since=call.now, stop_reason=reason))
    return [_stop(launch.id, reason, 0)]


_NOT_WANTED = frozenset({"project_paused", "agent_not_assigned", "agent_inactive", "not_managed"})
"""Reasons to hold an agent for which a launch that nobody has signed in for is ended, too."""


def reported_launch(call: Call, launch_id: str) -> Launch:
    """The launch that a Coordinator reports about."""
    launch = call.tx.launches.find(launch_id)
    if launch is None:
        raise Refusal(
            Code.LAUNCH_NOT_FOUND,
            f"There is no launch {launch_id}.",
            "Report only launches that claim_starts or get_agent_action returned.",
            launch_id=launch_id,
        )
    return launch

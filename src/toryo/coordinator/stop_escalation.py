"""Why a process must stop, and which signal is due when: grace time, then interrupt, terminate and kill.

One step at a time, each after the time of the previous one; kill is repeated until everything has ended. No clock, no
I/O, no logging: `processes.py` sends the signals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toryo.coordinator.launch_state import Seconds, Seen, Stage, State, Stop
from toryo.coordinator.limits import Limits
from toryo.coordinator.orders import Orders


@dataclass(frozen=True, slots=True)
class Output:
    """What a process has printed so far."""

    printed: int
    """Bytes."""
    turns: int
    troubled_since: Seconds | None = None
    """Since when the model's service has returned only errors."""
    in_vain: bool = False
    """Whether waiting does not fix what the service reports."""
    idle_turns: int = 0
    """Answers in a row that brought nothing new."""


MOST_IDLE_TURNS = 30
"""Each is paid for. Whatever it calls in turn, a model that goes round in circles is not started for that."""
IN_VAIN_FOR: Seconds = 15.0
"""How long a program may retry an error that waiting does not fix: a login may renew itself."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on the output of one process; None: no limit."""

    max_output: int
    patience: Seconds
    max_turns: int | None = None


def overstepped(output: Output, bounds: Bounds, now: Seconds) -> str | None:
    """Why a process must stop because of its output; None: it may continue."""
    if output.printed > bounds.max_output:
        return "output_flood"
    if bounds.max_turns is not None and output.turns > bounds.max_turns:
        return "turn_limit"
    if output.idle_turns >= MOST_IDLE_TURNS:
        return "no_progress"
    patience = min(bounds.patience, IN_VAIN_FOR) if output.in_vain else bounds.patience
    if output.troubled_since is not None and now - output.troubled_since >= patience:
        return "out_of_patience"
    return None


def new_stops(observed: Sequence[Seen], orders: Orders, limits: Limits, now: Seconds) -> dict[str, Stop]:
    """Processes with a first order to stop. A repeated order keeps the time of the first."""
    ordered = {order.launch_id: Stop(now, order.grace_seconds, order.reason) for order in orders.stop}
    if limits.leaving_since is not None:
        leaving = Stop(limits.leaving_since, 0.0, "coordinator_leaves")
        ordered = {seen.launch.launch_id: leaving for seen in observed}
    return {
        seen.launch.launch_id: ordered[seen.launch.launch_id]
        for seen in observed
        if seen.launch.launch_id in ordered and _sooner(ordered[seen.launch.launch_id], seen.stop)
    }


def _sooner(new: Stop, old: Stop | None) -> bool:
    return old is None or new.at + new.grace < old.at + old.grace


def with_stops(seen: Seen, stops: dict[str, Stop]) -> Seen:
    """The state after these stops are recorded."""
    new = stops.get(seen.launch.launch_id)
    return seen if new is None else replace(seen, stop=new)


def signals(seen: Sequence[Seen], limits: Limits, now: Seconds) -> dict[str, Stage]:
    """The signals due now: at most one step per process."""
    found = ((each.launch.launch_id, *next_signal(each, limits)) for each in seen)
    return {launch_id: stage for launch_id, stage, at in found if stage and at <= now}


def with_signals(seen: Seen, due: dict[str, Stage], now: Seconds) -> Seen:
    """The state after these signals are sent."""
    stage = due.get(seen.launch.launch_id)
    return seen if stage is None else replace(seen, stage=stage, signalled_at=now)


def next_signal(seen: Seen, limits: Limits) -> tuple[Stage, Seconds]:
    """The next stage and when it is due; (NONE, 0) if there is nothing to signal."""
    if seen.state is State.LEADERLESS:
        # No process is left that could clean up: kills the rest, again and again until nothing remains.
        if seen.stage < Stage.TERMINATE:
            return Stage.TERMINATE, seen.since
        return Stage.KILL, seen.signalled_at + limits.leftovers_for
    if seen.state is not State.RUNNING or seen.stop is None:
        return Stage.NONE, 0.0
    if seen.stage is Stage.NONE:
        return Stage.INTERRUPT, seen.stop.at + seen.stop.grace
    if seen.stage is Stage.INTERRUPT:
        return Stage.TERMINATE, seen.signalled_at + _step(seen.stop, limits.terminate_after)
    return Stage.KILL, seen.signalled_at + _step(seen.stop, limits.kill_after)


def _step(stop: Stop, usual: Seconds) -> Seconds:
    return usual if stop.step is None else min(stop.step, usual)

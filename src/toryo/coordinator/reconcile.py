"""Computes the plan that makes running processes match the orders: a pure function of state, orders, limits and time.

Combines `slots.py` (who gets a slot) and `stop_escalation.py` (who is signalled). No clock, no I/O, no logging:
`loop.py` carries the plan out. Planning twice is harmless: started launches are seen as running, signalled ones as
signalled, and an ended launch is never started again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from toryo.coordinator import slots, stop_escalation
from toryo.coordinator.launch_state import Seconds, Seen, Stage, State, Stop
from toryo.coordinator.limits import Limits
from toryo.coordinator.orders import Launch, Orders


@dataclass(frozen=True, slots=True)
class Plan:
    start: tuple[Launch, ...] = ()
    keep: tuple[Launch, ...] = ()
    """New orders, to be started when there is room (a slot, or the end of the previous process)."""
    drop: tuple[str, ...] = ()
    """Orders that are never started: too late, or stopped before."""
    stop: tuple[tuple[str, Stop], ...] = ()
    """To be stopped from now on."""
    signal: tuple[tuple[str, Stage], ...] = ()
    reap: tuple[str, ...] = ()
    free_slots: int = 0
    free_chat_slots: int = 0
    look_again_at: Seconds | None = None
    """When time alone changes the plan; None: never."""

    @property
    def does_nothing(self) -> bool:
        return not (self.start or self.keep or self.drop or self.stop or self.signal or self.reap)


def plan(
    observed: Sequence[Seen], orders: Orders, limits: Limits, now: Seconds, *, ended: Collection[str] = frozenset()
) -> Plan:
    """`ended` names past launches: an order for one of them results from a lost answer and is ignored."""
    known = {each.launch.launch_id for each in observed}
    fresh = tuple(each for each in _once(orders.start) if each.launch_id not in known and each.launch_id not in ended)
    stops = stop_escalation.new_stops(observed, orders, limits, now)
    seen = [
        *(stop_escalation.with_stops(each, stops) for each in observed),
        *(Seen(each, State.WAITING, now) for each in fresh),
    ]
    start, drop = slots.starts(seen, limits, now)
    due = stop_escalation.signals(seen, limits, now)
    signalled = [stop_escalation.with_signals(each, due, now) for each in seen]
    later = [at for stage, at in (stop_escalation.next_signal(each, limits) for each in signalled) if stage]
    later += [slots.too_late_at(each, limits) for each in seen if each.state is State.WAITING]
    settled = {each.launch_id for each in start} | set(drop)
    return Plan(
        start=start,
        keep=tuple(each for each in fresh if each.launch_id not in settled),
        drop=drop,
        stop=tuple(stops.items()),
        signal=tuple(due.items()),
        reap=tuple(each.launch.launch_id for each in observed if each.state is State.GONE),
        free_slots=slots.free(seen, drop, limits.max_concurrent, chat=False),
        free_chat_slots=slots.free(seen, drop, limits.max_chat, chat=True),
        look_again_at=min(later, default=None),
    )


def _once(launches: Iterable[Launch]) -> Iterable[Launch]:
    return {launch.launch_id: launch for launch in launches}.values()

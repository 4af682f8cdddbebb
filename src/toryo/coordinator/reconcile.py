"""What to do now so that what runs is what was ordered: a pure function of what is seen, the orders, limits and time.

Who gets a slot is decided in `slots.py`, who is signalled in `stop_escalation.py`; here both become one plan. No
clock, no I/O, no logging: `loop.py` carries the plan out. Asking twice is harmless: what was started is seen as
running, what was signalled as signalled, and what has ended once is never started again.
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
    """Newly ordered, to be started when there is room (a slot, or the end of the process before)."""
    drop: tuple[str, ...] = ()
    """Ordered and never to be started: too late, or told to stop before."""
    stop: tuple[tuple[str, Stop], ...] = ()
    """From now on to be ended."""
    signal: tuple[tuple[str, Stage], ...] = ()
    reap: tuple[str, ...] = ()
    free_slots: int = 0
    free_chat_slots: int = 0
    look_again_at: Seconds | None = None
    """When time alone makes the next plan different; None: never."""

    @property
    def does_nothing(self) -> bool:
        return not (self.start or self.keep or self.drop or self.stop or self.signal or self.reap)


def plan(
    observed: Sequence[Seen], orders: Orders, limits: Limits, now: Seconds, *, ended: Collection[str] = frozenset()
) -> Plan:
    """`ended` names launches of the past: an order for one of them comes from a lost answer and is passed over."""
    known = {each.launch.launch_id for each in observed}
    fresh = tuple(each for each in _once(orders.start) if each.launch_id not in known and each.launch_id not in ended)
    stops = stop_escalation.new_stops(observed, orders, limits, now)
    seen = [
        *(stop_escalation.told(each, stops) for each in observed),
        *(Seen(each, State.WAITING, now) for each in fresh),
    ]
    start, drop = slots.starts(seen, limits, now)
    due = stop_escalation.signals(seen, limits, now)
    signalled = [stop_escalation.signalled(each, due, now) for each in seen]
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

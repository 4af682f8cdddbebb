"""What to do now: a pure function of what is seen, what was ordered, the limits and the time.

No clock, no I/O, no logging: `loop.py` carries the plan out. Asking twice is harmless: what was started is seen as
running, what was signalled as signalled, and what has ended once is never started again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum

from toryo.coordinator.orders import Launch, Orders

Seconds = float
"""On any clock that only goes forward."""


class State(StrEnum):
    WAITING = "waiting"
    """Ordered, and not started yet."""
    STARTING = "starting"
    """Its worktree is being made: nothing can be signalled yet."""
    RUNNING = "running"
    LEADERLESS = "leaderless"
    """The process has ended, others of its group have not."""
    GONE = "gone"


class Stage(IntEnum):
    """How hard a process was asked to leave."""

    NONE = 0
    INTERRUPT = 1
    TERMINATE = 2
    KILL = 3


@dataclass(frozen=True, slots=True)
class Stop:
    """Since when a process should leave, and how long it may do so by itself."""

    at: Seconds
    grace: Seconds = 0.0
    reason: str = ""
    step: Seconds | None = None
    """Between interrupt, terminate and kill; None: as the limits say."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One launch as the Coordinator sees it. `since`: when it was ordered, started, or lost its leader."""

    launch: Launch
    state: State
    since: Seconds
    stop: Stop | None = None
    stage: Stage = Stage.NONE
    signalled_at: Seconds = 0.0


@dataclass(frozen=True, slots=True)
class Limits:
    """`leaving_since`: when the Coordinator itself was told to leave; its agents then leave, too."""

    max_concurrent: int = 3
    max_chat: int = 3
    terminate_after: Seconds = 10.0
    kill_after: Seconds = 5.0
    leftovers_for: Seconds = 2.0
    """How long what a process left behind in its group may take to end after SIGTERM."""
    start_within: Seconds = 100.0
    """An order older than this is not started any more: the server gives it up after 120 s."""
    leaving_since: Seconds | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """What a process has printed so far."""

    printed: int
    """Bytes."""
    turns: int
    troubled_since: Seconds | None = None
    """Since when the model's service says no and nothing good has followed."""
    in_vain: bool = False
    """Whether time does not mend what the service says."""


IN_VAIN_FOR: Seconds = 15.0
"""How long a program may go on asking where time does not mend what it is told: a login may be renewed by itself."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one process may print; None: no bound."""

    max_output: int
    patience: Seconds
    max_turns: int | None = None


def overstepped(output: Output, bounds: Bounds, now: Seconds) -> str | None:
    """Why a process is to be stopped for what it prints; None: it may go on."""
    if output.printed > bounds.max_output:
        return "output_flood"
    if bounds.max_turns is not None and output.turns > bounds.max_turns:
        return "turn_limit"
    patience = min(bounds.patience, IN_VAIN_FOR) if output.in_vain else bounds.patience
    if output.troubled_since is not None and now - output.troubled_since >= patience:
        return "out_of_patience"
    return None


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
    stops = _new_stops(observed, orders, limits, now)
    seen = [*(_told(each, stops) for each in observed), *(Seen(each, State.WAITING, now) for each in fresh)]
    start, drop = _starts(seen, limits, now)
    due = _signals(seen, limits, now)
    signalled = [_signalled(each, due, now) for each in seen]
    later = [at for stage, at in (_next_signal(each, limits) for each in signalled) if stage]
    later += [_too_late_at(each, limits) for each in seen if each.state is State.WAITING]
    settled = {each.launch_id for each in start} | set(drop)
    return Plan(
        start=start,
        keep=tuple(each for each in fresh if each.launch_id not in settled),
        drop=drop,
        stop=tuple(stops.items()),
        signal=tuple(due.items()),
        reap=tuple(each.launch.launch_id for each in observed if each.state is State.GONE),
        free_slots=_free(seen, drop, limits.max_concurrent, chat=False),
        free_chat_slots=_free(seen, drop, limits.max_chat, chat=True),
        look_again_at=min(later, default=None),
    )


def _once(launches: Iterable[Launch]) -> Iterable[Launch]:
    return {each.launch_id: each for each in launches}.values()


def _new_stops(observed: Sequence[Seen], orders: Orders, limits: Limits, now: Seconds) -> dict[str, Stop]:
    """Whoever is told to leave for the first time; an earlier order stands, its time is running."""
    ordered = {each.launch_id: Stop(now, each.grace_seconds, each.reason) for each in orders.stop}
    if limits.leaving_since is not None:
        leaving = Stop(limits.leaving_since, 0.0, "coordinator_leaves")
        ordered = {each.launch.launch_id: leaving for each in observed}
    return {
        each.launch.launch_id: ordered[each.launch.launch_id]
        for each in observed
        if each.launch.launch_id in ordered and _sooner(ordered[each.launch.launch_id], each.stop)
    }


def _sooner(new: Stop, old: Stop | None) -> bool:
    return old is None or new.at + new.grace < old.at + old.grace


def _told(seen: Seen, stops: dict[str, Stop]) -> Seen:
    new = stops.get(seen.launch.launch_id)
    return seen if new is None else replace(seen, stop=new)


_TAKES_PLACE = frozenset({State.STARTING, State.RUNNING, State.LEADERLESS})


def _starts(seen: Sequence[Seen], limits: Limits, now: Seconds) -> tuple[tuple[Launch, ...], tuple[str, ...]]:
    """Longest-waiting first; one process per agent, project and purpose; no more than there are slots."""
    taken = Counter(each.launch.seat for each in seen if each.state in _TAKES_PLACE)
    busy = Counter(_slot(each.launch) for each in seen if each.state in _TAKES_PLACE)
    room = {"task": limits.max_concurrent, "chat": limits.max_chat}
    start: list[Launch] = []
    drop: list[str] = []
    for each in sorted((one for one in seen if one.state is State.WAITING), key=lambda one: one.since):
        launch, slot = each.launch, _slot(each.launch)
        if each.stop is not None or limits.leaving_since is not None or now >= _too_late_at(each, limits):
            drop.append(launch.launch_id)
        elif not taken[launch.seat] and (slot is None or busy[slot] < room[slot]):
            start.append(launch)
            taken[launch.seat] += 1
            busy[slot] += 1
    return tuple(start), tuple(drop)


def _too_late_at(seen: Seen, limits: Limits) -> Seconds:
    return seen.since + limits.start_within


def _slot(launch: Launch) -> str | None:
    if not launch.takes_slot:
        return None
    return "chat" if launch.purpose == "chat" else "task"


def _free(seen: Sequence[Seen], drop: Collection[str], most: int, *, chat: bool) -> int:
    """What may be ordered on top of everything that was: running, starting and waiting for room."""
    slot = "chat" if chat else "task"
    live = (each for each in seen if each.state is not State.GONE and each.launch.launch_id not in drop)
    return max(0, most - sum(_slot(each.launch) == slot for each in live))


def _signals(seen: Sequence[Seen], limits: Limits, now: Seconds) -> dict[str, Stage]:
    """What is due now: at most one step further for each."""
    found = ((each.launch.launch_id, *_next_signal(each, limits)) for each in seen)
    return {launch_id: stage for launch_id, stage, at in found if stage and at <= now}


def _signalled(seen: Seen, due: dict[str, Stage], now: Seconds) -> Seen:
    stage = due.get(seen.launch.launch_id)
    return seen if stage is None else replace(seen, stage=stage, signalled_at=now)


def _next_signal(seen: Seen, limits: Limits) -> tuple[Stage, Seconds]:
    """The next stage and when it is due; (NONE, 0) where nobody is to be signalled."""
    if seen.state is State.LEADERLESS:
        return _next_for_leftovers(seen, limits)
    if seen.state is not State.RUNNING or seen.stop is None:
        return Stage.NONE, 0.0
    if seen.stage is Stage.NONE:
        return Stage.INTERRUPT, seen.stop.at + seen.stop.grace
    if seen.stage is Stage.INTERRUPT:
        return Stage.TERMINATE, seen.signalled_at + _step(seen.stop, limits.terminate_after)
    return Stage.KILL, seen.signalled_at + _step(seen.stop, limits.kill_after)


def _step(stop: Stop, usual: Seconds) -> Seconds:
    return usual if stop.step is None else min(stop.step, usual)


def _next_for_leftovers(seen: Seen, limits: Limits) -> tuple[Stage, Seconds]:
    """Nobody is left who could tidy up: what remains is ended, and killed again as long as anything is there."""
    if seen.stage < Stage.TERMINATE:
        return Stage.TERMINATE, seen.since
    return Stage.KILL, seen.signalled_at + limits.leftovers_for

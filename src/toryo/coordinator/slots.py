"""Assigns slots to ordered launches: for tasks and for chats, and one process per agent, project and purpose.

A slot is free again when all processes of a launch have ended, not when the order to stop arrives or its first process
ends. No clock, no I/O, no logging.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from toryo.coordinator.launch_state import Seconds, Seen, State
from toryo.coordinator.limits import Limits
from toryo.coordinator.orders import Launch

_TAKES_PLACE = frozenset({State.STARTING, State.RUNNING, State.LEADERLESS})


def starts(seen: Sequence[Seen], limits: Limits, now: Seconds) -> tuple[tuple[Launch, ...], tuple[str, ...]]:
    """The launches to start now, and those that never will be.

    Longest-waiting first; one process per agent, project and purpose; within the slots.
    """
    taken = Counter(each.launch.seat for each in seen if each.state in _TAKES_PLACE)
    busy = Counter(_slot(each.launch) for each in seen if each.state in _TAKES_PLACE)
    room = {"task": limits.max_concurrent, "chat": limits.max_chat}
    start: list[Launch] = []
    drop: list[str] = []
    for each in sorted((one for one in seen if one.state is State.WAITING), key=lambda one: one.since):
        launch, slot = each.launch, _slot(each.launch)
        if each.stop is not None or limits.leaving_since is not None or now >= too_late_at(each, limits):
            drop.append(launch.launch_id)
        elif not taken[launch.seat] and (slot is None or busy[slot] < room[slot]):
            start.append(launch)
            taken[launch.seat] += 1
            busy[slot] += 1
    return tuple(start), tuple(drop)


def free(seen: Sequence[Seen], drop: Collection[str], most: int, *, chat: bool) -> int:
    """How many more launches can be ordered beside those running, starting and waiting."""
    slot = "chat" if chat else "task"
    live = (each for each in seen if each.state is not State.GONE and each.launch.launch_id not in drop)
    return max(0, most - sum(_slot(each.launch) == slot for each in live))


def too_late_at(seen: Seen, limits: Limits) -> Seconds:
    """From when on an order is no longer started."""
    return seen.since + limits.start_within


def _slot(launch: Launch) -> str | None:
    if not launch.takes_slot:
        return None
    return "chat" if launch.purpose == "chat" else "task"

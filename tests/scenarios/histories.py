"""The event log as a reader sees who remembers the last sequence number, and what scenarios ask about it.

Everything is answered from events alone: who worked when, what was started how often and whether for something.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from toryo.client import Client

Event = dict[str, Any]

LOOKING = frozenset({"task.fetched", "task.waiting"})
"""A start is for changing tasks; signing in, looking and leaving to wait change none."""
ENDINGS = frozenset({"launch.exited", "launch.expired", "launch.lost"})


@dataclass
class History:
    """Every event so far, in order."""

    people: Client
    events: list[Event] = field(default_factory=list)

    @property
    def last(self) -> int:
        return int(self.events[-1]["sequence"]) if self.events else 0

    def read(self, wait_seconds: float = 0) -> list[Event]:
        """What has been added; waits so long (whole seconds) where nothing has."""
        new: list[Event] = []
        while True:
            params = {"after": self.last, "limit": 1000, "wait_seconds": 0 if new else int(wait_seconds)}
            found = self.people.rest("GET", "/events", params=params)["events"]
            new += found
            self.events += found
            if len(found) < 1000:
                return new

    def lost(self) -> list[Event]:
        """What was seen once and is not (or not so) in the log when it is read anew from the beginning."""
        fresh = History(self.people)
        fresh.read()
        return [seen for seen, now in zip_longest(self.events, fresh.events[: len(self.events)]) if seen != now]

    def of(self, *kinds: str, **wanted: Any) -> list[Event]:
        """Events of these kinds with these values, in the event itself or its data."""
        return [event for event in self.events if event["kind"] in kinds and _has(event, wanted)]

    def first(self, kind: str, **wanted: Any) -> int:
        """The sequence number of the first such event; fails where there is none."""
        found = self.of(kind, **wanted)
        assert found, f"no event {kind} with {wanted}"
        return int(found[0]["sequence"])

    def completed_twice(self) -> list[str]:
        """Tasks that were completed more than once."""
        counted = Counter(each["task_id"] for each in self.of("task.completed"))
        return [task_id for task_id, times in counted.items() if times > 1]

    def starts(self, **wanted: Any) -> list[Event]:
        """Sessions of agents' processes that were begun (project_id, agent_id, task_id)."""
        return self.of("session.started", **wanted)

    def idle_starts(self) -> list[str]:
        """Launches whose session changed no task, and that nobody ended before it could."""
        busy = {event["launch_id"] for event in self.events if _changes(event)}
        return [start["launch_id"] for start in self.starts() if start["launch_id"] not in busy]

    def double_launches(self) -> list[str]:
        """Where a launch was ordered while another of the same agent, project and purpose lived."""
        live: dict[tuple[str, str, str], str] = {}
        found = []
        for each in self.of("launch.ordered", *ENDINGS):
            seat = (each["agent_id"], each["project_id"], each["data"]["purpose"])
            if each["kind"] == "launch.ordered":
                if seat in live:
                    found.append(f"{each['launch_id']} beside {live[seat]} of {seat}")
                live[seat] = each["launch_id"]
            elif live.get(seat) == each["launch_id"]:
                del live[seat]
        return found

    def overlapped(self, one: str, other: str) -> bool:
        """Whether sessions of two agents lived at the same time."""
        return any(
            begin < other_end and other_begin < end
            for begin, end in self._spans(one)
            for other_begin, other_end in self._spans(other)
        )

    def _spans(self, agent_id: str) -> Iterator[tuple[int, int]]:
        for start in self.starts(agent_id=agent_id):
            ends = self.of("session.ended", session_id=start["session_id"])
            yield start["sequence"], ends[0]["sequence"] if ends else self.last + 1

    def told(self) -> list[str]:
        """The timeline, for people."""
        return [_told(event) for event in self.events]


def _has(event: Event, wanted: dict[str, Any]) -> bool:
    data = event["data"] or {}
    return all(event.get(name, data.get(name)) == value or data.get(name) == value for name, value in wanted.items())


def _changes(event: Event) -> bool:
    """Of a task, or what a person knows of it: who has asked, or whose work is checked, has not come for nothing."""
    worked = event["kind"].startswith("task.") and event["kind"] not in LOOKING
    return bool(event["launch_id"]) and (worked or event["kind"] in ("question.asked", "check.started"))


def _told(event: Event) -> str:
    who = " ".join(str(event[name]) for name in ("project_id", "agent_id", "task_id", "launch_id") if event.get(name))
    data = {name: value for name, value in (event["data"] or {}).items() if name not in ("facts", "rule")}
    return f"{event['sequence']:>5} {event['at'][11:23]} {event['kind']:<22} by {event['actor_id']} {who} {data}"

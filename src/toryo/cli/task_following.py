"""Follows tasks in the terminal, for `toryo demo` and `toryo run`: woken by events, then the tasks themselves are read,
and each change is told once, on a line. What is followed until when, and what is told beside it, is theirs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toryo.cli import output
from toryo.cli.command_context import Here

LOOK_SECONDS = 1
"""How long one call for events waits, and so how soon a dead process or the time limit is noticed."""

Task = Mapping[str, Any]
Event = Mapping[str, Any]


def newest_event(here: Here) -> int:
    return int(here.get("/status")["last_event"])


@dataclass
class Following:
    """The tasks of some projects, as they were when they were last read."""

    started: float
    """On the clock that only goes forward."""
    tasks: dict[str, list[Task]] = field(default_factory=dict)
    """By project."""
    after: int = 0
    """The last event that was heard."""
    finished: float | None = None

    @property
    def seconds(self) -> float:
        """Since the beginning, until the end."""
        return (time.monotonic() if self.finished is None else self.finished) - self.started

    def look(self, here: Here, projects: Iterable[str]) -> None:
        for project in projects:
            self.tasks[project] = [*here.every(f"/projects/{project}/tasks", "tasks")]

    def hear(self, server: Here, wait_seconds: int = LOOK_SECONDS) -> list[Event]:
        """The events since then; waits briefly for one. Who follows for long asks a patient one (`reconnecting`)."""
        heard = server.get("/events", after=self.after, wait_seconds=wait_seconds)
        self.after = heard["last"]
        events: list[Event] = heard["events"]
        return events


class Lines:
    """A line for each change of a task: `1.2 s  shop  ✔ completed   Bake  (baker)`."""

    def __init__(self, following: Following, say: Callable[[str], None], projects: Sequence[str] = ()) -> None:
        """`projects` are named in the lines, if there are several."""
        self._following, self._say = following, say
        self._said: dict[str, str] = {}
        self._width = max(map(len, projects), default=0) if len(projects) > 1 else 0

    def changed(self, task: Task, state: str | None = None, *, silent: bool = False) -> None:
        """`state` is what its status is called here. `silent`: it is not told, only what comes after it."""
        state = state or task["status"]
        if self._said.get(task["task_id"]) == state:
            return
        self._said[task["task_id"]] = state
        if silent:
            return
        mark = output.MARKS.get(state, output.MARKS["completed"])
        words = f"{mark} {state:<11} {task['title']}  ({task['assignee_id'] or '-'})"
        self.told(f"{task['project_id']:<{self._width}}  {words}" if self._width else words)

    def told(self, line: str) -> None:
        self._say(f"{output.duration(self._following.seconds):>8}  {line}")

"""The line by which people narrow tasks: `status:todo,blocked assignee:ada priority:high queue:review words`.

The dashboard reads and writes it in web/src/api/filter.ts; tests/domain/task_filter_lines.json has lines that both must
understand alike.
"""

from __future__ import annotations

from urllib.parse import unquote

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.tasks import Priority, Status

NOBODY = "-"
"""In the place of an assignee: nobody."""


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """What is empty narrows nothing. `words`: each must be in the title, the id or the reason why it is blocked."""

    statuses: tuple[Status, ...] = ()
    assignees: tuple[str, ...] = ()
    priorities: tuple[Priority, ...] = ()
    queues: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    root_id: str | None = None


def parse(line: str) -> TaskFilter:
    """What no filter has as its name is a word to look for. Unknown statuses and priorities count as none."""
    said: dict[str, list[str]] = {}
    words: list[str] = []
    for part in line.split():
        name, colon, values = part.partition(":")
        if colon and name in ("status", "assignee", "priority", "queue"):
            said[name] = [unquote(value) for value in values.split(",") if value]
        else:
            words.append(part.lower())
    return TaskFilter(
        statuses=tuple(each for each in Status if each.value in said.get("status", ())),
        assignees=tuple(said.get("assignee", ())),
        priorities=tuple(each for each in Priority if each.value in said.get("priority", ())),
        queues=tuple(said.get("queue", ())),
        words=tuple(words),
    )

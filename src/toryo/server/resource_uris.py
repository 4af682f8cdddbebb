"""Resource URIs (`toryo://…`): which operation reads each kind, and the conversion in both directions."""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import quote, unquote


class Kind(NamedTuple):
    """`parameter` is the operation's parameter for the id in the URI."""

    name: str
    template: str
    operation: str
    parameter: str
    title: str
    description: str

    def uri(self, of: str) -> str:
        return self.template.replace("{id}", quote(of, safe=""))


KINDS = {
    each.name: each
    for each in (
        Kind(
            "board",
            "toryo://project/{id}/board",
            "read_board",
            "project_id",
            "Board of a project",
            "The tasks of a project, in one column per status.",
        ),
        Kind(
            "task",
            "toryo://task/{id}",
            "read_task",
            "task_id",
            "Task",
            "One task in detail, with its subtasks, result and summary.",
        ),
        Kind(
            "inbox",
            "toryo://agent/{id}/inbox",
            "read_inbox",
            "agent_id",
            "Inbox of an agent",
            "The notifications that wait for the agent's session. Reading them does not mark them as delivered "
            "(get_notifications does).",
        ),
    )
}


class Reading(NamedTuple):
    """The operation that reads a URI, and its arguments."""

    operation: str
    arguments: dict[str, Any]


def reading(uri: str) -> Reading | None:
    """The reading of a URI; None for an unknown one."""
    for kind, pattern in _PATTERNS:
        found = pattern.fullmatch(uri)
        if found is not None:
            return Reading(kind.operation, {kind.parameter: unquote(found[1])})
    return None


def _pattern(template: str) -> re.Pattern[str]:
    before, after = template.split("{id}")
    return re.compile(f"{re.escape(before)}([^/?#]+){re.escape(after)}")


_PATTERNS = [(kind, _pattern(kind.template)) for kind in KINDS.values()]

"""What an agent does now, in a line: the newest call, result, sentence or printed line of its output.

No I/O and no time: when it was noticed is added where outputs are read (`logs.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

LONGEST = 80
"""Letters of the text."""
LONGEST_TOOL = 60
MOST_READ = 4000
"""Of a long text, only this much is looked at."""

Kind = Literal["called", "returned", "failed", "said", "printed"]

_TELLING = (
    *("command", "cmd", "file_path", "filePath", "absolute_path", "pattern", "query", "url", "path", "notebook_path"),
    *("title", "subject", "description", "summary", "progress", "message", "prompt", "task_id", "name"),
)
"""Arguments that say most about a call, the most telling first."""
_SERVER = re.compile(r"^(?:mcp__.+?__|mcp_[a-z0-9]+_|toryo[_-]|[a-z0-9_-]+\.)(?=[A-Za-z])")
"""How programs name the MCP server that has a tool."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)|[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Doing:
    kind: Kind
    text: str
    tool: str | None = None


def of_call(tool: str, arguments: str, mask: Callable[[str], str]) -> Doing:
    return Doing("called", line(mask(_telling(mask(arguments)))), _SERVER.sub("", line(tool))[:LONGEST_TOOL] or None)


def of_return(call: Doing | None, *, failed: bool) -> Doing:
    kind: Kind = "failed" if failed else "returned"
    return Doing(kind, call.text, call.tool) if call is not None else Doing(kind, "")


def of_text(text: str) -> Doing | None:
    """The last line of a text; None if there is none to show."""
    return _last("said", text)


def of_output(text: str) -> Doing | None:
    return _last("printed", text)


def line(text: str) -> str:
    """One line without what terminals are told, at most 80 letters."""
    flat = " ".join(_ESCAPES.sub("", text[:MOST_READ]).split())
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 1].rstrip()}…"


def _last(kind: Kind, text: str) -> Doing | None:
    for each in reversed(text[-MOST_READ:].split("\n")):
        if found := line(each.rpartition("\r")[2] or each):
            return Doing(kind, found)
    return None


def _telling(arguments: str) -> str:
    try:
        given: Any = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(given, dict):
        return "" if given is None else str(given)
    for name in _TELLING:
        value = given.get(name)
        if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
            value = " ".join(value)
        if isinstance(value, str) and value.strip():
            return value
    return next((each for each in given.values() if isinstance(each, str) and each.strip()), "")

"""What acceptance checks are called in their results: a Coordinator names them, and the server knows by it which were
run.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

LONGEST = 2000
_SHOWN = 5


def name_of(check: Mapping[str, Any]) -> str:
    """The name of a check: its file, its command, or its limits."""
    if isinstance(check.get("diff"), Mapping):
        return _limits(check["diff"])[:LONGEST]
    what = check.get("file") or check.get("command") or dict(check)
    return (shlex.join(map(str, what)) if isinstance(what, list) else str(what))[:LONGEST]


def _limits(limits: Mapping[str, Any]) -> str:
    """The limits in words: `changes: at most 50 files, nothing in *.lock, no secrets`."""
    parts = []
    if limits.get("max_files") is not None:
        parts.append(f"at most {counted(limits['max_files'], 'file')}")
    if limits.get("max_lines") is not None:
        parts.append(f"at most {counted(limits['max_lines'], 'line')}")
    if limits.get("forbidden_paths"):
        parts.append(f"nothing in {some([str(each) for each in limits['forbidden_paths']], _SHOWN)}")
    if limits.get("forbid_secrets"):
        parts.append("no secrets")
    return f"changes: {', '.join(parts)}"


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def some(names: Sequence[str], most: int = 10) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more

"""What an edit sends, and what is said of it: that something was updated, or that it was so already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toryo.cli import clearing
from toryo.cli.exit_codes import Misuse

_OF_EVERY_WRITE = frozenset({"version", "updated_at"})


def changes(kind: str, given: dict[str, Any], cleared: Iterable[str] | None, instead: str = "") -> dict[str, Any]:
    """What was given, and null for what is cleared. Raises Misuse if that is nothing; `instead` is what to do then."""
    body = clearing.cleared(kind, cleared, given)
    if not body:
        raise Misuse("Nothing to change.", instead or f"See `toryo {kind} edit --help`.")
    return body


def edit_line(name: str, before: Mapping[str, Any], after: Mapping[str, Any], changes: Iterable[str] = ()) -> str:
    """`before` and `after` are what the server shows of it; `changes` are in words."""
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    listed = [*changes]
    if not listed and changed <= _OF_EVERY_WRITE:
        return f"{name} has these values already; nothing was changed"
    return "; ".join([f"updated {name}", *listed])

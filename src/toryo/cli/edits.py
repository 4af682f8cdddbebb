"""What is said of an edit: that something was updated, or that it was so already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_OF_EVERY_WRITE = frozenset({"version", "updated_at"})


def told(name: str, before: Mapping[str, Any], after: Mapping[str, Any], changes: Iterable[str] = ()) -> str:
    """`before` and `after` are what the server shows of it; `changes` are in words."""
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    listed = [*changes]
    if not listed and changed <= _OF_EVERY_WRITE:
        return f"{name} has these values already; nothing was changed"
    return "; ".join([f"updated {name}", *listed])

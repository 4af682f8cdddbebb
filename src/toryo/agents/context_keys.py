"""What a task's context says under a key such as `ask`: one entry, or a list. A mistake is told, not passed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toryo.formats.command_templates import Unfit
from toryo.nearest import nearest


def read(
    context: Mapping[str, Any], key: str, names: Sequence[str], *, required: Sequence[str]
) -> list[Mapping[str, Any]]:
    """The entries, each with some of these names. Raises Unfit, whose text says what is wrong."""
    given = context.get(key)
    entries = given if isinstance(given, list) else [] if given is None else [given]
    for each in entries:
        _check(each, key, names, required)
    return entries


def _check(entry: object, key: str, names: Sequence[str], required: Sequence[str]) -> None:
    if not isinstance(entry, Mapping):
        raise Unfit(f"`{key}` in its context is neither an object nor a list of objects. Give {_listed(required)}.")
    for name in entry:
        if name not in names:
            meant = nearest(str(name), names)
            hint = f"Did you mean {meant}? " if meant else ""
            raise Unfit(f"`{key}` in its context has an unknown key {name!r}. {hint}Use some of: {', '.join(names)}.")
    for name in required:
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise Unfit(f"`{key}` in its context has no {name}. Give it as a text.")


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names)

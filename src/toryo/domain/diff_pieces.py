"""A diff as git prints it, file by file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping


def pieces_of(patch: str, files: Iterable[Mapping[str, object]]) -> Iterator[tuple[Mapping[str, object], str | None]]:
    """Each file of a diff with its part of the patch; None: the patch was cut before it."""
    pieces = _pieces(patch)
    in_order = list(pieces.values())
    for place, file in enumerate(files):
        path, old = str(file.get("path") or ""), file.get("old_path")
        piece = pieces.get(f"diff --git a/{old or path} b/{path}")
        if piece is None:  # git quotes unusual names
            piece = in_order[place] if place < len(in_order) else None
        yield file, piece


def _pieces(patch: str) -> dict[str, str]:
    """The part of each file, by its first line; a file whose type has changed has two, which belong together."""
    found: dict[str, str] = {}
    for piece in re.split(r"(?:\A|(?<=\n))(?=diff --git )", patch):
        first = piece.partition("\n")[0]
        if first.startswith("diff --git "):
            found[first] = found.get(first, "") + piece
    return found

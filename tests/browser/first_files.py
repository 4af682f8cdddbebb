"""Which scripts and styles a view loads first, and their sizes: read from what the build wrote down (`chunks.json`)."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable
from typing import Any

from toryo.server.dashboard_files import STATIC

PAGE = "index.html"


def first_files(view: str, language: str = "en") -> dict[str, int]:
    """The bytes of scripts and styles as the server sends them, by name: what the page needs for anything, the view,
    and its words."""
    chunks: dict[str, dict[str, Any]] = json.loads((STATIC / "chunks.json").read_text())
    wanted = [
        PAGE,
        f"src/views/{view}/index.tsx",
        f"src/views/{view}/words.ts?{language}",
        f"src/i18n/{language}.ts",
    ]
    needed = [chunks[name] for name in _needed(chunks, wanted)]
    named = re.findall(
        r"""<(?:script|link rel="stylesheet")[^>]* (?:src|href)="/([^"]+)""", (STATIC / PAGE).read_text()
    )
    files = {*named, *(each["file"] for each in needed), *(style for each in needed for style in each.get("css", ()))}
    return {name: len(gzip.compress((STATIC / name).read_bytes(), 6, mtime=0)) for name in sorted(files)}


def _needed(chunks: dict[str, dict[str, Any]], names: Iterable[str]) -> set[str]:
    """The chunks with these names, and what they import without being asked to."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += chunks[name].get("imports", [])
    return found

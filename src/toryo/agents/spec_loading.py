"""Loads a runner's document: one that a Coordinator has validated, or one that a person wrote."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toryo import untrusted_files
from toryo.agents.agent_loop import say

WRONG_CONFIGURATION = 78


def load_document(kind: str, parse: Callable[[str, str], dict[str, Any]]) -> dict[str, Any]:
    """The document of `--file`; ends the process before its sign-in if the document has mistakes."""
    path = _file(kind, sys.argv[1:])
    try:
        # JSON is the checked form that a Coordinator writes; YAML, as people write it, is checked here.
        text = untrusted_files.text(path, largest=untrusted_files.LARGEST_RECORD)
        if path.suffix == ".json":
            found: dict[str, Any] = json.loads(text)
            return found
        return parse(text, str(path))
    except Exception as wrong:
        if type(wrong).__name__ not in ("Mistakes", "JSONDecodeError") and not isinstance(wrong, OSError):
            raise
        say(f"error: {wrong}")
        sys.exit(WRONG_CONFIGURATION)


def _file(kind: str, words: list[str]) -> Path:
    """As a Coordinator writes it, without the import of argparse, which would cost as much as all others together."""
    if len(words) == 2 and words[0] == "--file":
        return Path(words[1])
    import argparse

    arguments = argparse.ArgumentParser(prog=f"toryo.agents.{kind}")
    arguments.add_argument("--file", type=Path, required=True, help=f"the {kind}: YAML, or JSON as checked before")
    found: Path = arguments.parse_args(words).file
    return found

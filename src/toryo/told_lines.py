"""Lines of JSON with which a command tells Toryo what it does: `{"toryo": "said", "text": "…"}`.

A command that asks a model is shown by them as a conversation, and what it used counts. The Coordinator reads them
(`coordinator/providers/command.py`); the summary of the task has only what is for people (`for_people`).
"""

from __future__ import annotations

import json
from typing import Any

MARK = "toryo"
SAID, CALLED, RETURNED, USED = "said", "called", "returned", "used"
KINDS = (SAID, CALLED, RETURNED, USED)


def parse(line: str) -> dict[str, Any] | None:
    """What a line tells; None if it is any other line."""
    if not line.lstrip().startswith("{") or f'"{MARK}"' not in line:
        return None
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) and document.get(MARK) in KINDS else None


def for_people(output: str) -> str:
    """An output with what was said as text, and without the other lines that tell Toryo something."""
    kept = []
    for line in output.splitlines(keepends=True):
        document = parse(line)
        if document is None:
            kept.append(line)
        elif document[MARK] == SAID and isinstance(document.get("text"), str):
            kept.append(f"{document['text']}\n")
    return "".join(kept)

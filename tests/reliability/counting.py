"""Counts the faults that tests inject, by kind, over all processes of a run: a line in a file for each.

Nothing is counted unless `TORYO_TEST_FAULTS` names that file.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

FILE = "TORYO_TEST_FAULTS"


def injected(kind: str, times: int = 1) -> None:
    """A fault was injected, `times` over. One write: lines of several processes do not mix."""
    file = os.environ.get(FILE)
    if file and times:
        with Path(file).open("ab", buffering=0) as lines:
            lines.write(f"{kind}\n".encode() * times)


def counted(file: Path) -> dict[str, int]:
    """How many of each kind there were, in the order of their names."""
    return dict(sorted(Counter(file.read_text().splitlines()).items()))

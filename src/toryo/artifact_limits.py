"""Limits on the files that acceptance checks leave as evidence: for Coordinators, which collect them, and servers."""

from __future__ import annotations

from toryo.shown_characters import is_a_line

MOST_PATTERNS = 5
"""Of one check."""
MOST_FILES = 10
"""Of one check."""
LARGEST = 2_000_000
"""Bytes of one file."""
LARGEST_OF_CHECK = 5_000_000
LARGEST_OF_RUN = 20_000_000
"""Bytes of all checks that run after one report."""
RUNS_KEPT = 5
"""For how many reports of one task the files are kept."""
PIECE = 300_000
"""Bytes that are sent at a time: a server accepts requests of 2 MB by default."""
LONGEST_NAME = 500
MOST_LEFT_OUT = 20
"""Notes about files that one check leaves out."""
LONGEST_NOTE = 1_000


def may_be_name(name: str) -> bool:
    """Whether it is a path below a directory, of characters that can be shown."""
    parts = name.split("/")
    return len(name) <= LONGEST_NAME and is_a_line(name) and not {"", ".", ".."} & set(parts) and "\\" not in name


def may_be_pattern(pattern: str) -> bool:
    """Whether files below a directory can match it."""
    return ".." not in pattern.split("/")

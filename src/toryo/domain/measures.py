"""What a server counts of itself for those who watch it."""

from __future__ import annotations

from typing import NamedTuple


class Measure(NamedTuple):
    name: str
    labels: dict[str, str]
    """What the count is of: project, status and the like."""
    value: int

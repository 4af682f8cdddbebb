"""Metrics that a server exports for monitoring."""

from __future__ import annotations

from typing import NamedTuple


class Measure(NamedTuple):
    name: str
    labels: dict[str, str]
    """What the count refers to: project, status and the like."""
    value: int

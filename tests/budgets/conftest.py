"""Fixtures of the budgets."""

from tests.stories import fresh, quiet, world

__all__ = ["fresh", "quiet", "world"]

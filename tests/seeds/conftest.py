"""Fixtures of the story kit."""

from tests.stories import crew, fresh, quiet, world

__all__ = ["crew", "fresh", "quiet", "world"]

"""Fixtures of the story kit."""

from tests.operations.talkers import pair
from tests.stories import crew, fresh, quiet, world

__all__ = ["crew", "fresh", "pair", "quiet", "world"]

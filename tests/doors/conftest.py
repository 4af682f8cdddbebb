"""Doors are tried without a line of the log for each call."""

from tests.stories import quiet

__all__ = ["quiet"]

"""Databases that stay for the whole run."""

from tests.stories import kept_sqlite, quiet

__all__ = ["kept_sqlite", "quiet"]

"""Fixtures of the story kit."""

from tests.stories import fresh, kept_database, kept_postgresql, kept_sqlite, quiet, world

__all__ = ["fresh", "kept_database", "kept_postgresql", "kept_sqlite", "quiet", "world"]

"""Fixtures of the story kit."""

from tests.stories import crew, fresh, kept_database, kept_postgresql, kept_sqlite, quiet, world

__all__ = ["crew", "fresh", "kept_database", "kept_postgresql", "kept_sqlite", "quiet", "world"]

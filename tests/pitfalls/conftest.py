"""Fixtures of the story kit, and sites of real processes."""

from tests.scenarios.conftest import build, pytest_runtest_makereport, site
from tests.stories import crew, fresh, kept_database, kept_postgresql, kept_sqlite, quiet, world

__all__ = [
    "build",
    "crew",
    "fresh",
    "kept_database",
    "kept_postgresql",
    "kept_sqlite",
    "pytest_runtest_makereport",
    "quiet",
    "site",
    "world",
]

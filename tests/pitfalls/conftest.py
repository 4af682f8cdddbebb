"""Fixtures of the story kit, and sites of real processes."""

from tests.scenarios.conftest import build, pytest_runtest_makereport, site
from tests.stories import fresh, kept_database, kept_url, quiet, world

__all__ = ["build", "fresh", "kept_database", "kept_url", "pytest_runtest_makereport", "quiet", "site", "world"]

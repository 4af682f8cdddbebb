"""Fixtures of the story kit, and sites of real processes."""

from tests.scenarios.conftest import build, pytest_runtest_makereport, site
from tests.stories import crew, fresh, quiet, world

__all__ = [
    "build",
    "crew",
    "fresh",
    "pytest_runtest_makereport",
    "quiet",
    "site",
    "world",
]

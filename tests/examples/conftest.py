"""The examples run on the building site of the scenarios."""

from __future__ import annotations

from tests.scenarios.conftest import build, pytest_runtest_makereport, site

__all__ = ["build", "pytest_runtest_makereport", "site"]

"""Fixtures that every test folder may use, and the order of tests."""

import pytest
from httpx._config import DEFAULT_TIMEOUT_CONFIG

from tests.databases import database, database_url, postgres_empty, postgres_server, redis_url

__all__ = ["database", "database_url", "postgres_empty", "postgres_server", "redis_url"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first: no process has it left at the end, and none takes half a file of it away."""
    items.sort(key=lambda each: each.get_closest_marker("slow") is None)


for phase in ("connect", "read", "write", "pool"):  # five seconds are a short time on a busy machine
    setattr(DEFAULT_TIMEOUT_CONFIG, phase, 100.0)

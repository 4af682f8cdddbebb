"""Fixtures that every test folder may use, and the order of tests."""

import pytest
from httpx._config import DEFAULT_TIMEOUT_CONFIG

from tests.databases import database, database_url, postgres_empty, postgres_server, redis_url

__all__ = ["database", "database_url", "postgres_empty", "postgres_server", "redis_url"]


SHARING = (
    *("tests/browser/", "tests/workflow/test_models_", "tests/transports/"),
    *("tests/cli/test_demo.py", "tests/cli/test_conversations.py", "tests/cli/test_worktrees.py"),
)
"""Files whose tests share something dear: a browser, servers, all worlds of a size. One process runs such a file."""


@pytest.hookimpl(tryfirst=True)  # before xdist looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first: no process has it left when the others are through."""
    for each in items:
        if each.nodeid.startswith(SHARING):
            each.add_marker(pytest.mark.xdist_group(each.nodeid.split("::")[0]))
    items.sort(key=lambda each: (not each.nodeid.startswith(SHARING), each.get_closest_marker("slow") is None))


for phase in ("connect", "read", "write", "pool"):  # five seconds are a short time on a busy machine
    setattr(DEFAULT_TIMEOUT_CONFIG, phase, 100.0)

"""Fixtures that every test folder may use, and the order of tests."""

import gc
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Generator

import pytest
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from hypothesis import HealthCheck, settings
from hypothesis.strategies import text

from tests import once
from tests.databases import (
    database,
    database_url,
    kept_database,
    kept_postgresql,
    kept_sqlite,
    postgres_empty,
    postgres_server,
    redis_url,
)

pytest_plugins = ["tests.suites", "tests.served_answers"]
__all__ = [
    "database",
    "database_url",
    "kept_database",
    "kept_postgresql",
    "kept_sqlite",
    "postgres_empty",
    "postgres_server",
    "redis_url",
]


settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")  # how long an example takes on a busy machine says nothing about it

os.environ.pop("TORYO_SANDBOX", None)  # agents' programs run in the sandbox that people get


def pytest_configure(config: pytest.Config) -> None:
    """What could not be had is remembered for this run, by all its workers (tests/once.py)."""
    if not hasattr(config, "workerinput"):
        run = tempfile.TemporaryDirectory(prefix="toryo-test-run-")
        os.environ[once.RUN] = run.name
        config.add_cleanup(run.cleanup)


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = report.failed or (report.when != "setup" and item.stash.get(FAILED, False))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """After a failure, what the tests of a file share is made anew: a second try (CI) starts as the first did."""
    if item.stash.get(FAILED, False):
        item.session._setupstate.teardown_exact(item.session)  # type: ignore[arg-type]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A second try (CI) does not hide why the first one failed."""
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.section(f"first try of {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)


DEAR = ("tests/browser/", "tests/clis/", "tests/scenarios/")
"""Folders whose files take long though none of their tests may."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take longest come first: no process has one left when the others are through.

    Each file is run by one process (`make test`): what its tests share, a server, a browser, an exploration of all
    small worlds, is made once.
    """
    deep = Counter(item.path for item in items if item.get_closest_marker("deep"))
    items.sort(key=lambda each: (not each.nodeid.startswith(DEAR), -deep[each.path]))


def pytest_collection_finish() -> None:
    """Tests that are collected stay to the end: the collector need not look at them again.

    Hypothesis reads all of Unicode once for a clone: that is no cost of the test that comes first.
    """
    text().validate()
    gc.collect()
    gc.freeze()


# In the background or under nohup: what the tests start would hear neither ^C nor a terminal that is closed.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

for phase in ("connect", "read", "write", "pool"):  # five seconds are a short time on a busy machine
    setattr(DEFAULT_TIMEOUT_CONFIG, phase, 100.0)

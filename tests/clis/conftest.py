"""What the tests with real agent programs share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clis import programs
from tests.clis.office import Office


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    """A server of the test's own."""
    with Office(tmp_path / "server") as opened:
        yield opened


@pytest.fixture(params=programs.PROGRAMS)
def name(request: pytest.FixtureRequest) -> str:
    """Each program in turn, installed: that takes no time of the test's own."""
    programs.installed(request.param)
    return str(request.param)


@pytest.fixture
def claude_and_codex() -> None:
    """The two that start quickest are installed."""
    programs.installed("claude")
    programs.installed("codex")

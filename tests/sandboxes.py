"""The sandbox that people get: whether this machine can make one, and a fixture for tests that need it."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest

from tests.databases import missing, required
from toryo.coordinator import sandbox


def works(environ: Mapping[str, str] = os.environ) -> bool:
    """Without one, stories are told as people without bubblewrap see them; where everything is required, they fail."""
    found = sandbox.looked_for(environ)
    if found.program is None and required():
        missing(f"no sandbox: {found.why_not}")
    return found.program is not None


@pytest.fixture(scope="session")
def sandboxed() -> None:
    """Skipped, loudly, where bubblewrap cannot make one."""
    found = sandbox.looked_for(os.environ)
    if found.program is None:
        missing(f"no sandbox: {found.why_not}")

"""A fixture for tests that need a sandbox: skipped, loudly, where bubblewrap cannot make one."""

from __future__ import annotations

import os

import pytest

from tests.databases import missing
from toryo.coordinator import sandbox


@pytest.fixture(scope="session")
def sandboxed() -> None:
    found = sandbox.looked_for(os.environ)
    if found.program is None:
        missing(f"no sandbox: {found.why_not}")

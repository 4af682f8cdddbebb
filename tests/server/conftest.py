"""A server of the test's own, in this process. Some files have one for all of their tests instead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from toryo.server import app
from toryo.server.app import Running
from toryo.settings import Settings


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with app.run_in_thread(Settings(port=0, data_dir=tmp_path)) as running:
        yield running

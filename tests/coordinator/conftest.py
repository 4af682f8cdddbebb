from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.fake_server import FakeServer, server
from tests.coordinator.orders import Orders
from tests.coordinator.teams import Team, coordinating
from toryo.server import app
from toryo.settings import Settings

__all__ = ["server"]


@pytest.fixture
def orders(server: FakeServer) -> Iterator[Orders]:
    made = Orders(server)
    yield made
    made.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("data")
    with app.run_in_thread(Settings(port=0, data_dir=directory)):
        yield directory


@pytest.fixture(scope="module")
def coordinator(data):
    with coordinating(data):
        yield


@pytest.fixture
def team(data, tmp_path, request, counter=itertools.count()):  # noqa: B008 - one count for all tests
    return Team(data, f"p{next(counter)}", tmp_path / "project")


@pytest.fixture
def quiet(tmp_path):
    """A team on a server of its own, where no other Coordinator takes its launches."""
    with app.run_in_thread(Settings(port=0, data_dir=tmp_path / "data")):
        yield Team(tmp_path / "data", "quiet", tmp_path / "project")

"""Databases for the engine's own tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.storage import tables
from tests.storage.makers import Store
from tests.stories import quiet  # noqa: F401 - a fixture
from toryo.storage.engine.database import Database
from toryo.storage.open_database import open_database


@pytest.fixture
def engine(database_url: str) -> Iterator[Database]:
    """An open database of each kind with the tables of `tables.py`."""
    with open_database(database_url) as opened:
        opened.write(tables.define)
        yield opened


@pytest.fixture
def sqlite_engine(tmp_path: Path) -> Iterator[Database]:
    """The same, on SQLite only and with little patience."""
    with open_database(f"sqlite:///{tmp_path / 'toryo.db'}", patience=0.1) as opened:
        opened.write(tables.define)
        yield opened


@pytest.fixture
def store(database: Database) -> Store:
    """A database of each kind with a project and three agents."""
    return Store(database)


@pytest.fixture
def at_once() -> Callable[..., list[Any]]:
    """Runs a function in many threads and answers what each returned or raised."""

    def run(threads: int, function: Callable[[int], Any]) -> list[Any]:
        outcomes: list[Any] = [None] * threads

        def note(position: int) -> None:
            try:
                outcomes[position] = function(position)
            except Exception as error:  # noqa: BLE001 - the test looks at it
                outcomes[position] = error

        started = [Thread(target=note, args=(position,)) for position in range(threads)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join(100)
            assert not thread.is_alive()
        return outcomes

    return run

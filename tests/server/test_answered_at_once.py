"""Calls that need no transaction, and reads of a few rows, are answered without passing them to another thread."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from toryo.domain.errors import Code
from toryo.operations.calls.callers import NOTHING_SHOWN, Credentials
from toryo.operations.calls.grants import Door
from toryo.server.app import Running
from toryo.storage.engine.executor import WorkerPool


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads that passed a work to the database's threads."""
    found: list[str] = []
    submit = WorkerPool.submit

    def noting(pool: WorkerPool, work: Any) -> None:
        found.append(threading.current_thread().name)
        submit(pool, work)

    monkeypatch.setattr(WorkerPool, "submit", noting)
    return found


def ask(server: Running, name: str, shown: Credentials = NOTHING_SHOWN, **arguments: Any) -> Any:
    return asyncio.run(server.app.dispatcher.perform_async(name, arguments, shown, door=Door.MCP))


def test_health_help_the_list_of_tools_and_refusals_of_strangers_pass_nothing_on(
    server: Running, submitted: list[str]
) -> None:
    known = Credentials(bearer=server.app.directory.token("coordinator.token"))
    for _ in range(2):
        assert ask(server, "health_check").result["status"] == "ok"
    assert ask(server, "health_check", known).result["status"] == "ok"
    assert ask(server, "help", known).result["tools"]
    assert ask(server, "get_my_task").refused
    assert asyncio.run(server.app.dispatcher.list_tools_async(known))
    assert submitted == []
    ask(server, "claim_starts", known, coordinator_id="c1", free_slots=1)
    assert submitted, "what writes is passed on: the list above notices it"


def test_a_lost_database_is_told_by_the_next_health_check(server: Running) -> None:
    before = ask(server, "health_check").result
    assert ask(server, "health_check").result | {"timestamp": ""} == before | {"timestamp": ""}
    database = Path(server.app.database.place)
    away = database.rename(database.with_suffix(".away"))
    try:
        told = ask(server, "health_check")
        assert (told.refused, told.result["error"]) == (True, Code.UNAVAILABLE)
    finally:
        away.rename(database)
    assert not ask(server, "health_check").refused

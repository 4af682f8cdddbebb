"""What several pitfalls need beside the story kit: people with a login, a waiting manager, polling, log lines."""

from __future__ import annotations

from typing import Any

import pytest
import structlog

from tests.stories import Answer, Caller, Process, World
from toryo.operations.calls import call_log
from toryo.operations.calls.credential_verification import digest
from toryo.storage.transaction import Transaction


def person(world: World, name: str, login: str = "member", **more: Any) -> Caller:
    """A person of that id with a token of their own; `login` is what they may do."""
    world.agent(name, "manager", kind="human", provider=None, **more)
    token = f"tpt_{name}"
    world.database.write(
        lambda connection: Transaction(connection).tokens.add(
            digest(token), "person", name, world.now, agent_id=name, login=login
        )
    )
    return Caller(world, token)


def left_waiting(world: World, **assigned: str) -> tuple[Process, list[str]]:
    """The manager `boss` has started these subtasks and has left to wait."""
    boss = world.start("boss")
    ids = boss.assigned(dict(assigned))
    boss.begin(*ids)
    boss.wait()
    return boss, ids


def starts(world: World, agent_id: str, seconds: int, every: int = 10) -> int:
    """How often the agent is started while a Coordinator asks every so many seconds."""
    coordinator = world.coordinator("poller")
    started = 0
    for _ in range(seconds // every):
        world.advance(every)
        started += coordinator.action(agent_id)["action"] == "start"
    return started


def log_lines(monkeypatch: pytest.MonkeyPatch, level: int) -> list[Answer]:
    """Every line about a call that is logged at that level or above from now on."""
    lines: list[Answer] = []

    def keep(_: Any, method: str, event: Any) -> Any:
        lines.append({"level": method, **event})
        raise structlog.DropEvent

    wrapper = structlog.make_filtering_bound_logger(level)
    monkeypatch.setattr(call_log, "calls", structlog.wrap_logger(None, processors=[keep], wrapper_class=wrapper))
    return lines

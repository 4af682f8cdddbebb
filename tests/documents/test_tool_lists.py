"""What agents read of tools is whole and said once. What it may cost stands in tests/budgets/ceilings.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.budgets.agent_costs import listed
from tests.documents.tool_story import examples
from tests.operations.samples import cast
from tests.stories import Process, World
from toryo.operations.calls.grants import Grant
from toryo.storage.engine.database import Database


@pytest.mark.parametrize("kept_database", ["sqlite"], indirect=True)
def test_a_session_is_shown_what_it_does_next_and_is_not_asked_for_a_token(database: Database) -> None:
    there = cast(World(database))
    for who in (Grant.TASK_SESSION, Grant.MANAGER, Grant.CHAT_SESSION):
        text = listed(there.world, there.callers[who].credentials)
        assert b'"get_next_action"' in text and b"session_token" not in text


def texts(value: Any) -> Iterator[str]:
    """The sentences in an answer."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from texts(each)
    elif isinstance(value, str) and len(value) >= 30 and " " in value:
        yield value


def test_no_answer_says_a_thing_twice() -> None:
    for name, example in examples().items():
        said = list(texts(example.answer))
        assert len(said) == len(set(said)), name


@pytest.mark.parametrize("kept_database", ["sqlite"], indirect=True)
def test_they_are_the_same_before_it_has_signed_in(database: Database) -> None:
    world = World(database)
    world.crew(1)
    world.task("w1")
    process: Process = world.started("w1")
    before = listed(world, process.credentials)
    process.sign_in()
    assert listed(world, process.credentials) == before

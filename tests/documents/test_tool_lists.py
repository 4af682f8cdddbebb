"""What an agent pays for its tools at every start (design: performance, T12)."""

from __future__ import annotations

import re

import orjson
import pytest

from tests.stories import Process, World
from toryo.server.mcp_sdk import tool
from toryo.storage.engine.database import Database

_PIECES = re.compile(r"(?:[^\r\n\w]|_)?[^\W\d_]+|\d{1,3}| ?(?:[^\s\w]|_)+|\s+")


def tokens(text: str) -> int:
    """An estimate on the high side, for want of a tokenizer: words and runs of punctuation, two for what is long."""
    return sum(1 if len(piece) <= (10 if piece[-1].isalpha() else 4) else 2 for piece in _PIECES.findall(text))


def shown(world: World, process: Process) -> str:
    """What a model sees of the tools that its process is given: names, descriptions and parameters."""
    them = [
        tool(list_tool).model_dump(by_alias=True, mode="json")
        for list_tool in world.dispatcher.list_tools(process.credentials)
    ]
    return orjson.dumps([{key: each[key] for key in ("name", "description", "inputSchema")} for each in them]).decode()


@pytest.mark.parametrize("kept_database", ["sqlite"], indirect=True)
def test_the_tools_of_an_agent_cost_no_more_than_they_may(database: Database) -> None:
    world = World(database)
    world.crew(1)
    for each in ("boss", "w1"):
        world.task(each)
    world.open_chat("w1")
    for process, most in (
        (world.start("w1"), 1_800),
        (world.start("boss"), 3_000),
        (world.start_chat("w1"), 1_800),
    ):
        text = shown(world, process)
        assert '"get_next_action"' in text and "session_token" not in text
        assert tokens(text) <= most, (process.launch["purpose"], process.agent_id, tokens(text))


@pytest.mark.parametrize("kept_database", ["sqlite"], indirect=True)
def test_they_are_the_same_before_it_has_signed_in(database: Database) -> None:
    world = World(database)
    world.crew(1)
    world.task("w1")
    process = world.started("w1")
    before = shown(world, process)
    process.sign_in()
    assert shown(world, process) == before

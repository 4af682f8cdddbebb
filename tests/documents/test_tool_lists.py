"""What an agent pays for its tools at every start, and for their answers (design: performance, T12).

The limits are bytes of the compact JSON of `tools` in the answer of `tools/list`; four bytes count as a token.
`benchmarks/tokens.py` prints these figures, and what a finished task costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests.documents.tool_story import examples
from tests.operations.samples import Cast, cast
from tests.stories import Process, World
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.grants import Grant
from toryo.server.mcp_tools import tool
from toryo.storage.engine.database import Database

WORKER, MANAGER, CHAT = 7_340, 9_020, 5_200
"""T12: 1,500, 2,000 and 1,300 tokens."""
QUEUE_AGENT, ORCHESTRATOR, QUEUE_TOOLSET, ANYONE = 3_400, 4_450, 5_000, 20_390
"""What was reached: nothing is set for them."""


def shown(world: World, credentials: Credentials, toolset: str | None = None) -> bytes:
    listed = world.dispatcher.list_tools(credentials, toolset)
    return orjson.dumps([tool(each).model_dump(by_alias=True, exclude_none=True, mode="json") for each in listed])


@pytest.fixture
def there(database: Database) -> Cast:
    return cast(World(database))


def of_sessions(there: Cast) -> Iterator[tuple[str, Credentials, int]]:
    yield "worker", there.callers[Grant.TASK_SESSION].credentials, WORKER
    yield "manager", there.callers[Grant.MANAGER].credentials, MANAGER
    yield "chat", there.callers[Grant.CHAT_SESSION].credentials, CHAT


@pytest.mark.parametrize("kept_database", ["sqlite"], indirect=True)
def test_the_tools_of_a_session_cost_no_more_than_they_may(there: Cast) -> None:
    for who, credentials, most in of_sessions(there):
        text = shown(there.world, credentials)
        assert b'"get_next_action"' in text and b"session_token" not in text
        assert len(text) <= most, (who, len(text))


@pytest.mark.parametrize("kept_database", ["sqlite"], indirect=True)
def test_the_tools_of_everyone_else_cost_no_more_than_they_did(there: Cast) -> None:
    world = there.world
    for orchestrates, most in ((False, QUEUE_AGENT), (True, ORCHESTRATOR)):
        key = world.owner.call("make_api_key", project_id=world.project_id, orchestrator=orchestrates)["token"]
        assert len(shown(world, Credentials(bearer=key))) <= most
    assert len(shown(world, Credentials(), "queue")) <= QUEUE_TOOLSET
    assert len(shown(world, Credentials())) <= ANYONE


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
    before = shown(world, process.credentials)
    process.sign_in()
    assert shown(world, process.credentials) == before

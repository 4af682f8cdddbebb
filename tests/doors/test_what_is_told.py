"""Every operation × every kind of caller × every door: nobody is pointed at what is not theirs.

No answer names the files with the tokens of a server, and what an agent is told in place of what it may not do is
something that it may do. That it is let in only where it may be is asked in `test_every_door.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.databases import empty
from tests.doors.callers import PEOPLE, Caller, House, Right
from tests.doors.test_every_door import PATIENT
from tests.stories import World
from toryo.domain.errors import Refusal
from toryo.first_prompt import BY_HAND, FIXED, STARTED
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation, catalogue, tools
from toryo.operations.calls.credential_verification import identify
from toryo.operations.calls.grants import Door
from toryo.operations.calls.permissions import is_allowed
from toryo.server import openapi, rest
from toryo.server.mcp_sdk import INSTRUCTIONS
from toryo.server.rest_answers import API
from toryo.settings import Settings
from toryo.storage.engine.database import Database
from toryo.storage.transaction import Transaction

NEAR_MISSES = ("get_nextaction", "approve_tasks", "poll_task", "list_subordinate", "sign")
TOKEN_FILES = ("owner.token", "coordinator.token")


@pytest.fixture
def world(kept_sqlite: Database, quiet: None) -> World:
    empty(kept_sqlite)
    return World(kept_sqlite, Settings(guards=PATIENT))


@pytest.fixture
def house(world: World) -> House:
    return House(world)


def credentials_of(caller: Caller) -> Credentials:
    return Credentials(bearer=caller.bearer, session_token=caller.arguments.get("session_token"))


def answers(world: World, caller: Caller) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the caller hears over MCP: of every operation, tool or not, and of names that there are not."""
    for name in (*catalogue(), *NEAR_MISSES):
        if name in ("logout", "authenticate", "unregister_agent", "register_agent"):
            continue  # they would end what the others need
        shown = credentials_of(caller)
        outcome = world.dispatcher.perform(name, dict(caller.arguments), shown, door=Door.MCP)
        if outcome.refused and outcome.result is not None:
            yield name, outcome.result


def told(answer: dict[str, Any]) -> str:
    return f"{answer.get('message')} {answer.get('instruction')}"


def named_tools(text: str) -> set[str]:
    return {tool.name for tool in tools() if re.search(rf"(?<![A-Za-z_]){tool.name}(?![A-Za-z_])", text)}


def may_call(world: World, caller: Caller, name: str) -> bool:
    def look(connection: Any) -> bool:
        who = identify(Transaction(connection), credentials_of(caller), world.now)
        return is_allowed(catalogue()[name], who)

    try:
        return bool(world.database.read(look))
    except Refusal:  # who shows what is worth nothing may do what nobody may
        return name in ("authenticate", "help", "health_check", "register_agent")


@pytest.mark.deep
def test_nobody_is_told_where_a_token_of_the_server_is(world: World, house: House) -> None:
    for caller in house.callers():
        for name, answer in answers(world, caller):
            assert not any(each in str(answer) for each in TOKEN_FILES), (caller.name, name)


def test_no_program_is_told_a_command_of_people(world: World, house: House) -> None:
    """It may have a shell, and would carry out the command as the person whose machine it is."""
    refused = set()
    for caller in house.callers():
        if caller.right in PEOPLE or "api_key" in caller.arguments or caller.right in refused:
            continue  # what is refused depends on the right, not on the way in which it is shown
        for name, answer in answers(world, caller):
            assert not re.search(r"\btoryo [a-z]", told(answer)), (caller.name, name, told(answer))
            refused.add(caller.right)
    assert len(refused) > 3, "whoever may not be told so was refused something"


@pytest.mark.deep
def test_what_is_named_in_place_of_what_one_may_not_do_may_be_done(world: World, house: House) -> None:
    for caller in house.callers():
        if caller.right in PEOPLE or "api_key" in caller.arguments:
            continue
        for name, answer in answers(world, caller):
            if answer["error"] == "validationError":
                continue  # it got in: the words are about its arguments
            shown = {list_tool.name for list_tool in world.dispatcher.list_tools(credentials_of(caller))}
            for tool in named_tools(str(answer.get("instruction"))) - {name}:
                if answer["error"] == "toolNotFound" and tool in shown:
                    continue  # a name that it has read, and written wrong
                assert may_call(world, caller, tool), (caller.name, name, told(answer))


def by_rest(world: World, caller: Caller, operation: Operation) -> dict[str, Any]:
    """What REST refuses this bearer, at the door or behind it."""
    assert operation.route is not None
    shown = Credentials(bearer=caller.bearer)
    try:
        rest.admit(operation, shown)
    except Refusal as refusal:
        return refusal.answer()
    outcome = world.dispatcher.perform(operation.name, {}, shown, door=Door.REST)
    assert outcome.refused
    assert outcome.result is not None
    return outcome.result


def test_rest_points_no_agent_at_what_people_come_in_by(world: World, house: House) -> None:
    for caller in house.callers():
        if caller.bearer is None or caller.right in PEOPLE:
            continue
        for operation in catalogue().values():
            if operation.route is None:
                continue
            answer = by_rest(world, caller, operation)
            assert not any(each in str(answer) for each in TOKEN_FILES), (caller.name, operation.name)
            if caller.right is not Right.INVALID:
                assert not re.search(r"\btoryo [a-z]", told(answer)), (caller.name, told(answer))


@pytest.mark.deep
def test_what_the_server_says_of_itself_names_no_file_with_tokens() -> None:
    """Tools, their parameters, the document of REST, prompts: whoever connects may read them."""
    document = openapi.document(catalogue().values(), API, rest.STREAM)
    listed = [(operation.summary, operation.input_schema) for operation in catalogue().values()]
    for told in (document, listed, FIXED, STARTED, BY_HAND, INSTRUCTIONS):
        assert not any(each in str(told) for each in TOKEN_FILES)

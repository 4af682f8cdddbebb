"""Every operation × every kind of caller × every door: a call gets in where the declaration says so, and nowhere else.

Only handlers are replaced, by one that notes that it was reached; doors, credentials, grants and sessions are the real
ones. An operation that is declared tomorrow is in the matrix tomorrow. Who may do what with which ids is not here.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from pydantic import ConfigDict

from tests.databases import empty
from tests.doors.callers import MAY, PEOPLE, Caller, House, Right
from tests.server.http import ENVELOPE, LIMIT, PLAIN, Headers, call, exchange, modern, request
from tests.stories import World
from tests.transports.wires import Wire, bridged, posting
from toryo.bus.in_process import InProcessBus
from toryo.operations.calls import catalogue as declared
from toryo.operations.calls.catalogue import Available, Operation, Parameters, catalogue
from toryo.operations.calls.grants import Door, Grant
from toryo.server import listeners
from toryo.server.allowed_hosts import Hosts
from toryo.server.edge import Edge
from toryo.server.listeners import Listener
from toryo.server.resource_uris import KINDS
from toryo.server.rest_answers import API
from toryo.settings import GuardSettings, Settings
from toryo.storage.engine.database import Database

NEVER = 1_000_000
HOUR = 3_600_000
"""Milliseconds between two looks at the clock: nobody signs in too often."""
JSON: Headers = (*PLAIN[:2], ("accept", "application/json"))
PATIENT = GuardSettings(
    same_answers=NEVER, refusals=NEVER, idle_calls=NEVER, calls=NEVER, run_time=NEVER, silence=NEVER
)
"""Thousands of calls of one session are no runaway here."""
OPEN_TO_NOBODY = {
    *("authenticate", "register_agent", "help", "health_check"),  # concepts.md, section 4
    *("sign_in", "ways_to_sign_in"),  # how people come in
    *("list_readable", "agent_start"),  # what an MCP client lists before it has signed in; both show the caller's own
}
"""What may be called without any credential. Whoever makes this longer has thought about it."""


class Anything(Parameters):
    model_config = ConfigDict(extra="allow")


@dataclass
class Doors:
    """An edge over a real dispatcher whose operations note that they were reached, and everybody who may call it."""

    edge: Edge
    callers: list[Caller]
    operations: dict[str, Operation]
    reached: list[str]

    async def reaches(self, name: str, asked: Callable[[], Any]) -> bool:
        """Whether a request carries out the operation of that name, and no other."""
        self.reached.clear()
        await asked()
        assert set(self.reached) <= {name}, f"{name} was asked for, {self.reached} carried out"
        return bool(self.reached)


@pytest.fixture
def world(kept_sqlite: Database, quiet: None) -> World:
    empty(kept_sqlite)
    return World(
        kept_sqlite, Settings(guards=PATIENT, auth={"oidc_issuer": "https://id.example", "oidc_client_id": "toryo"})
    )


@pytest.fixture
def site(world: World, monkeypatch: pytest.MonkeyPatch) -> Doors:
    callers = House(world).callers()
    reached: list[str] = []
    probes = {name: _probe(each, reached) for name, each in catalogue().items()}
    monkeypatch.setattr(declared._CATALOGUE, "operations", probes)
    edge = Edge(
        world.dispatcher,
        InProcessBus(),
        probes,
        Hosts("127.0.0.1"),
        1_000_000,
        now=partial(next, itertools.count(world.now, HOUR)),
    )
    return Doors(edge, callers, probes, reached)


def _probe(operation: Operation, reached: list[str]) -> Operation:
    def handler(_call: Any, _wanted: Any) -> dict[str, Any]:
        reached.append(operation.name)
        file = {"name": "a.txt", "media_type": "text/plain", "content": ""}
        return {"success": True, "resources": [], "etag": "1", "text": "", "description": "", **file}

    return replace(
        operation, handler=handler, parameters=Anything, beforehand=None, waits=False, leads=False, bare=None
    )


Ask = Callable[[Doors, str, Caller], Awaitable[Any]]


# --- what must be so -------------------------------------------------------------------------------------------------


def expected(operation: Operation, door: Door, caller: Caller) -> bool:
    """Whether this call is to be carried out, by the specification's table."""
    if door not in operation.doors:
        return False
    if caller.cookie is not None and (door is not Door.REST or operation.grant is Grant.OPEN):
        return Right.NONE in MAY[operation.grant]  # a browser's cookie is worth nothing there, and does no harm
    if caller.right is Right.STALE and not operation.tool:
        return False  # what streams and lists for strangers asks for nothing, or for something good
    right = Right.TASK if caller.right is Right.ENDED else caller.right
    if right not in MAY[operation.grant]:
        return False
    keyed = operation.grant in (Grant.FILER, Grant.QUEUE_AGENT, Grant.SHARER, Grant.REGISTRAR)
    if caller.tools is not None and keyed and operation.name not in caller.tools:
        return False
    if caller.right is Right.ENDED and operation.available is not Available.ALWAYS:
        return False
    if "api_key" in caller.arguments and not keyed:  # an argument like any other to those who take no key
        return Right.NONE in MAY[operation.grant]
    return door is not Door.REST or _expected_by_rest(operation, caller)


def _expected_by_rest(operation: Operation, caller: Caller) -> bool:
    """Agents' credentials open nothing there, not even what is open to all; `session_token` is no parameter."""
    if "session_token" in caller.arguments:
        return False
    if caller.bearer is not None:
        return caller.right in PEOPLE
    return caller.cookie is not None or operation.grant is Grant.OPEN


# --- the doors -------------------------------------------------------------------------------------------------------


def _bearer(caller: Caller, cookie: str = "toryo-8765") -> Headers:
    shown = [("authorization", f"Bearer {caller.bearer}")] if caller.bearer else []
    if caller.cookie:
        shown += [("cookie", f"{cookie}={caller.cookie}")]
    return [*shown, ("x-toryo", caller.page or "1")]


def by_tools_call(site: Doors, name: str, caller: Caller) -> Any:
    body = call(name, caller.arguments)
    return exchange(site.edge, body, headers=(*PLAIN, *_bearer(caller)))


def by_sdk(site: Doors, name: str, caller: Caller) -> Any:
    """A client that the server has not met: each of its requests is judged by the official SDK."""
    stranger = {**ENVELOPE, "io.modelcontextprotocol/clientInfo": {"name": f"{name} {caller.name}", "version": "1"}}
    body = call(name, caller.arguments, _meta=stranger)
    return exchange(site.edge, body, headers=(*modern(name), *_bearer(caller)))


def by_handshake(site: Doors, name: str, caller: Caller) -> Any:
    """The same in the era with a handshake."""
    message = orjson.loads(call(name, caller.arguments))
    message["params"]["task"] = None  # unusual, so not the short way
    return exchange(site.edge, orjson.dumps(message), headers=(*PLAIN, *_bearer(caller)))


def by_prompt_or_resource(site: Doors, name: str, caller: Caller) -> Any:
    if name == "list_readable":
        body = request("resources/list", {})
    elif kind := next((each for each in KINDS.values() if each.operation == name), None):
        body = request("resources/read", {"uri": kind.uri("x")})
    else:
        body = request("prompts/get", {"name": name, "arguments": caller.arguments})
    return exchange(site.edge, body, headers=(*PLAIN, *_bearer(caller)))


def by_rest(site: Doors, name: str, caller: Caller) -> Any:
    """By its route; an operation without one by every path somebody may think of."""
    operation = site.operations[name]
    method, path = (operation.route.method, operation.route.path) if operation.route else ("POST", f"/{name}")
    target = API + re.sub(r"\{\w+\}", "x", path)
    body = orjson.dumps(caller.arguments) if caller.arguments else b""
    return exchange(site.edge, body, method=method, target=target, headers=(*JSON, *_bearer(caller)))


WAYS: dict[str, tuple[Door, Ask]] = {
    "tools/call": (Door.MCP, by_tools_call),
    "tools/call judged by the SDK": (Door.MCP, by_sdk),
    "tools/call judged by the SDK, with a handshake": (Door.MCP, by_handshake),
    "prompts and resources": (Door.CONTEXT, by_prompt_or_resource),
    "REST": (Door.REST, by_rest),
}
SHARES = 12
COSTLY = (by_sdk, by_handshake, by_prompt_or_resource)
"""Ten times slower: one caller of each right is enough, all others go the same way with the same credentials."""


def _one_of_each(callers: Iterable[Caller]) -> list[Caller]:
    return list({caller.right: caller for caller in callers if not caller.arguments}.values())


async def _walk(site: Doors, door: Door, callers: list[Caller], ask: Ask, share: int | None = None) -> None:
    """Fails with every case that is not as declared. `share`: only of these operations."""
    asked = dict(list(site.operations.items())[share::SHARES]) if share is not None else site.operations
    wrong, got_in = [], 0
    for name, operation in asked.items():
        for caller in callers:
            reached = await site.reaches(name, partial(ask, site, name, caller))
            got_in += reached
            if reached is not expected(operation, door, caller):
                wrong.append(f"{name} ({operation.grant}) by {caller.name}: {'in' if reached else 'out'}")
    cases = len(asked) * len(callers)
    print(f"{cases} cases, {got_in} carried out")  # noqa: T201 - the size of the matrix, seen with -s
    assert not wrong, f"{len(wrong)} of {cases}: " + "\n".join(wrong[:60])
    somebody = any(expected(each, door, caller) for each in site.operations.values() for caller in callers)
    assert somebody, "nobody gets in anywhere: this proves nothing"


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=pytest.mark.deep) if ask in COSTLY else way for way, (_, ask) in WAYS.items()]
)
def test_an_operation_is_reached_by_those_whom_its_grant_names_and_by_nobody_else(
    site: Doors, way: str, share: int
) -> None:
    door, ask = WAYS[way]

    async def walk() -> None:
        await site.edge.start()
        try:
            await _walk(site, door, _one_of_each(site.callers) if ask in COSTLY else site.callers, ask, share)
        finally:
            await site.edge.close()

    asyncio.run(walk())


@pytest.mark.deep
@pytest.mark.parametrize("way", ["Unix socket", "stdio bridge"])
def test_the_same_holds_over_other_wires(site: Doors, way: str, tmp_path: Path) -> None:
    async def walk() -> None:
        async with _listening(site.edge, tmp_path / "socket") as url, contextlib.AsyncExitStack() as open_wires:
            wires: dict[str, Wire] = {}
            callers = [each for each in _one_of_each(site.callers) if each.cookie is None]
            for each in callers:
                token = {"TORYO_TOKEN": each.bearer} if each.bearer else {}
                bridge = {"TORYO_SERVER_URL": url, "TORYO_DATA_DIR": str(tmp_path / "none"), **token}
                wires[each.name] = await open_wires.enter_async_context(
                    posting("http://localhost:80", each.bearer, tmp_path / "socket")
                    if way == "Unix socket"
                    else bridged(bridge)
                )

            async def by_wire(_: Doors, name: str, caller: Caller) -> None:
                await wires[caller.name].ask("tools/call", {"name": name, "arguments": {}})

            await _walk(site, Door.MCP, callers, by_wire)

    asyncio.run(walk())


@contextlib.asynccontextmanager
async def _listening(edge: Edge, socket: Path) -> AsyncIterator[str]:
    """The edge on TCP, whose address is answered, and on a Unix socket."""
    ready = asyncio.Event()
    sockets = [listeners.tcp("127.0.0.1", 0), listeners.unix(socket)]
    listener = Listener(edge, ready.set, edge.stop_waiting)
    await edge.start()
    serving = asyncio.create_task(listener.serve(sockets))
    await asyncio.wait_for(ready.wait(), LIMIT)
    try:
        yield f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    finally:
        listener.stop()
        await serving
        await edge.close()


# --- the declarations themselves -----------------------------------------------------------------------------------


def test_nobody_in_particular_may_call_only_what_is_listed_here() -> None:
    found = {operation.name for operation in catalogue().values() if Right.NONE in MAY[operation.grant]}
    assert found == OPEN_TO_NOBODY


@pytest.mark.parametrize("grant", list(Grant))
def test_what_no_client_can_reach_is_no_operation(grant: Grant) -> None:
    """A planted operation that relies on nobody finding it does not even start: whoever adds a door opens it."""
    hidden = Operation(
        name="planted", summary="", grant=grant, parameters=Anything, result=dict, handler=lambda *_: {}, tool=False
    )
    with pytest.raises(ValueError, match="no client can reach it"):
        declared._Catalogue().add(hidden)


def test_a_planted_operation_that_is_open_to_all_is_noticed(site: Doors) -> None:
    """The matrix sees an operation that is more open than its declaration says."""
    name = next(
        name for name, operation in site.operations.items() if operation.grant is Grant.OWNER and operation.route
    )
    honest = site.operations[name]
    site.operations[name] = replace(honest, grant=Grant.OPEN, tool=True)
    nobody = next(caller for caller in site.callers if caller.right is Right.NONE)
    assert asyncio.run(site.reaches(name, lambda: by_tools_call(site, name, nobody)))
    assert not expected(honest, Door.MCP, nobody)

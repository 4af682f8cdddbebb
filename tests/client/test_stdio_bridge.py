"""The bridge between lines and HTTP, against a scripted server: headers, answers, streams, losses, sessions."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

import httpx
import orjson
import pytest

from toryo.client import Unreachable, async_connections
from toryo.client.server_discovery import Found
from toryo.client.stdio_bridge import Bridge

BOUND = 60.0
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
INITIALIZED = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}

Respond = Callable[[httpx.Request], Coroutine[None, None, httpx.Response]]


def message(method: str, params: Any = None, request_id: Any = 1) -> dict[str, Any]:
    found: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if request_id is not None:
        found["id"] = request_id
    return found if params is None else {**found, "params": params}


def result(request: httpx.Request, value: Any, **headers: str) -> httpx.Response:
    body = {"jsonrpc": "2.0", "id": orjson.loads(request.content).get("id"), "result": value}
    return httpx.Response(200, json=body, headers=headers)


class Desk:
    """A client's side of a bridge to a scripted server: says lines, and has what was written."""

    def __init__(self, bridge: Bridge) -> None:
        self.bridge = bridge
        self.written: asyncio.Queue[Any] = asyncio.Queue()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.running: asyncio.Task[None] | None = None

    def say(self, *messages: Any) -> None:
        for each in messages:
            self._lines.put_nowait(each if isinstance(each, bytes) else orjson.dumps(each))

    def hang_up(self) -> None:
        self._lines.put_nowait(None)

    async def hear(self) -> Any:
        return await asyncio.wait_for(self.written.get(), BOUND)

    async def ask(self, each: Any) -> Any:
        self.say(each)
        return await self.hear()

    async def write(self, line: bytes) -> None:
        assert b"\n" not in line
        self.written.put_nowait(orjson.loads(line))

    async def lines(self) -> AsyncIterator[bytes]:
        while (line := await self._lines.get()) is not None:
            yield line


class Scripted:
    """Connections to a server that answers by a function."""

    def __init__(self, root: str, respond: Respond) -> None:
        self._root, self._respond = root, respond

    @contextlib.asynccontextmanager
    async def stream(self, method, path, headers, body, timeout) -> AsyncIterator[ScriptedStream]:
        try:
            request = httpx.Request(method, f"{self._root}{path}", headers=headers, content=body or b"")
            yield ScriptedStream(await self._respond(request))
        except httpx.HTTPError as problem:
            raise Unreachable(str(problem), sent=not isinstance(problem, httpx.ConnectError)) from problem

    async def close(self) -> None:
        pass


class ScriptedStream:
    def __init__(self, response: httpx.Response) -> None:
        self.status, self.headers = response.status_code, response.headers
        self.pieces, self.read = response.aiter_bytes, response.aread


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`scripted(respond, story)`: runs a story at a desk whose server answers so."""

    def run(
        respond: Respond,
        story: Callable[[Desk], Awaitable[None]],
        *,
        find: Callable[[], Found] = lambda: Found("http://127.0.0.1:1", "tlc_mine"),
        patience_seconds: float = 0.0,
    ) -> None:
        monkeypatch.setattr(async_connections, "Connections", lambda where: Scripted(where.root, respond))

        async def tell() -> None:
            desk = Desk(None)  # type: ignore[arg-type]
            desk.bridge = Bridge(find, desk.write, patience_seconds=patience_seconds)
            running = asyncio.create_task(desk.bridge.run(desk.lines()))
            await asyncio.wait_for(story(desk), BOUND)
            desk.hang_up()
            await asyncio.wait_for(running, BOUND)

        asyncio.run(tell())

    return run


# --- carrying ------------------------------------------------------------------------------------------------------


def test_a_message_is_carried_as_it_came_with_the_credential(scripted) -> None:
    seen: list[httpx.Request] = []

    async def respond(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return result(request, {})

    line = b'{ "jsonrpc" : "2.0", "id":7, "method":"ping", "unknown": [1.50] }'

    async def story(desk: Desk) -> None:
        assert await desk.ask(line) == {"jsonrpc": "2.0", "id": 7, "result": {}}

    scripted(respond, story)
    assert seen[0].content == line
    assert seen[0].headers["authorization"] == "Bearer tlc_mine"
    assert seen[0].headers["host"] == "127.0.0.1:1"
    assert "text/event-stream" in seen[0].headers["accept"]


def test_without_a_handshake_each_request_names_its_version_and_where_it_goes(scripted) -> None:
    seen: list[httpx.Headers] = []

    async def respond(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers)
        return result(request, {})

    async def story(desk: Desk) -> None:
        await desk.ask(message("tools/call", {"name": "漢字", "_meta": META}))
        await desk.ask(message("resources/read", {"uri": "toryo://task/1", "_meta": META}))
        await desk.ask(message("tools/list", {"_meta": META}))

    scripted(respond, story)
    assert [each["mcp-protocol-version"] for each in seen] == ["2026-07-28"] * 3
    assert [each["mcp-method"] for each in seen] == ["tools/call", "resources/read", "tools/list"]
    assert seen[0]["mcp-name"] == f"=?base64?{base64.b64encode('漢字'.encode()).decode()}?="
    assert seen[1]["mcp-name"] == "toryo://task/1"
    assert "mcp-name" not in seen[2]
    assert all("mcp-session-id" not in each for each in seen)


def test_after_a_handshake_requests_name_the_version_and_the_session_it_agreed_on(scripted) -> None:
    seen: list[httpx.Request] = []

    async def respond(request: httpx.Request) -> httpx.Response:
        if request.method != "POST":
            return httpx.Response(405)
        seen.append(request)
        return result(request, INITIALIZED, **{"Mcp-Session-Id": "s-1"}) if len(seen) == 1 else result(request, {})

    async def story(desk: Desk) -> None:
        desk.say(message("initialize", {"protocolVersion": "2025-11-25"}, 0), message("tools/list"))
        assert (await desk.hear())["id"] == 0, "what follows the handshake waits for it"
        await desk.hear()

    scripted(respond, story)
    assert "mcp-session-id" not in seen[0].headers
    assert seen[1].headers["mcp-session-id"] == "s-1"
    assert seen[1].headers["mcp-protocol-version"] == "2025-11-25"


def test_a_notification_is_carried_and_never_answered(scripted) -> None:
    seen: list[str] = []

    async def respond(request: httpx.Request) -> httpx.Response:
        body = orjson.loads(request.content)
        seen.append(body["method"])
        return httpx.Response(202) if "id" not in body else result(request, {})

    async def story(desk: Desk) -> None:
        desk.say(message("notifications/roots/list_changed", request_id=None))
        assert (await desk.ask(message("ping")))["id"] == 1

    scripted(respond, story)
    assert sorted(seen) == ["notifications/roots/list_changed", "ping"]


def test_what_is_streamed_on_the_way_to_an_answer_is_passed_on_as_it_comes(scripted) -> None:
    go_on = asyncio.Event()

    async def respond(request: httpx.Request) -> httpx.Response:
        async def stream() -> AsyncIterator[bytes]:
            yield b": opened\r\n\r\nevent: message\r\ndata: " + orjson.dumps(
                message("notifications/progress", None, None)
            )
            yield b"\r\n\r\n"
            await go_on.wait()
            whole = orjson.dumps({"jsonrpc": "2.0", "id": 1, "result": {"text": "漢" * 100_000}})
            for start in range(0, len(whole), 1000):
                yield (b"data: " if start == 0 else b"") + whole[start : start + 1000]
            yield b"\n\n"

        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=stream())

    async def story(desk: Desk) -> None:
        desk.say(message("tools/call", {"name": "x"}))
        assert (await desk.hear())["method"] == "notifications/progress"
        go_on.set()
        assert len((await desk.hear())["result"]["text"]) == 100_000

    scripted(respond, story)


def test_an_answer_that_was_made_before_its_id_was_read_gets_it_back(scripted) -> None:
    async def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(
            413, json={"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "too large"}}
        )

    async def story(desk: Desk) -> None:
        answer = await desk.ask(message("tools/call", {"name": "x"}, "mine"))
        assert (answer["id"], answer["error"]["message"]) == ("mine", "too large")

    scripted(respond, story)


@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        (502, "text/html", b"<h1>Bad Gateway</h1>"),
        (421, "text/plain", b"not my name"),
        (200, "application/json", b"[]"),
    ],
)
def test_an_answer_of_somebody_who_is_no_toryo_server_is_an_error_with_its_words(scripted, status, kind, body) -> None:
    async def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, headers={"content-type": kind}, content=body)

    async def story(desk: Desk) -> None:
        answer = await desk.ask(message("tools/list"))
        assert answer["error"]["code"] == -32000
        assert str(status) in answer["error"]["message"]
        assert body.decode() in answer["error"]["message"]

    scripted(respond, story)


def test_a_slow_answer_holds_up_no_other(scripted) -> None:
    go_on = asyncio.Event()

    async def respond(request: httpx.Request) -> httpx.Response:
        if orjson.loads(request.content)["id"] == "slow":
            await go_on.wait()
        return result(request, {})

    async def story(desk: Desk) -> None:
        desk.say(message("tools/call", {"name": "x"}, "slow"))
        for number in range(20):
            assert (await desk.ask(message("ping", request_id=number)))["id"] == number
        go_on.set()
        assert (await desk.hear())["id"] == "slow"

    scripted(respond, story)


# --- losses --------------------------------------------------------------------------------------------------------


async def refuse(_: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("connection refused")


def test_where_nobody_listens_the_error_says_how_to_start_one(scripted) -> None:
    async def story(desk: Desk) -> None:
        error = (await desk.ask(message("tools/call", {"name": "x"})))["error"]
        assert error["code"] == -32000
        assert "toryo up" in error["message"]
        assert "repeat the request" in error["message"]

    scripted(refuse, story)


def test_while_nobody_listens_requests_are_tried_again_and_answered_when_somebody_does(scripted) -> None:
    tries: list[bytes] = []

    async def respond(request: httpx.Request) -> httpx.Response:
        tries.append(request.content)
        return await refuse(request) if len(tries) < 3 else result(request, {"done": True})

    async def story(desk: Desk) -> None:
        assert (await desk.ask(message("tools/call", {"name": "x"})))["result"] == {"done": True}

    scripted(respond, story, patience_seconds=5.0)
    assert len(tries) == 3


@pytest.mark.parametrize(
    ("method", "tries"),
    [("tools/call", 1), ("resources/subscribe", 1), ("tools/list", 2), ("resources/templates/list", 2), ("ping", 2)],
)
def test_a_request_whose_answer_was_lost_is_sent_again_only_if_it_reads(scripted, method, tries) -> None:
    seen: list[bytes] = []

    async def respond(request: httpx.Request) -> httpx.Response:
        seen.append(request.content)
        if len(seen) == 1:
            raise httpx.ReadError("connection reset")
        return result(request, {})

    async def story(desk: Desk) -> None:
        answer = await desk.ask(message(method, {"name": "x"}))
        assert ("result" in answer) == (tries == 2)
        if tries == 1:
            assert "may have been carried out" in answer["error"]["message"]

    scripted(respond, story, patience_seconds=5.0)
    assert len(seen) == tries


def test_a_stream_that_ends_before_the_answer_is_a_lost_answer(scripted) -> None:
    async def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=b": nothing\n\n")

    async def story(desk: Desk) -> None:
        assert "may have been carried out" in (await desk.ask(message("tools/call", {"name": "x"})))["error"]["message"]

    scripted(respond, story)


def test_the_server_is_looked_for_anew_once_it_was_lost(scripted) -> None:
    places = iter([None, "http://127.0.0.1:1", "http://127.0.0.1:2"])
    asked: list[int | None] = []

    def find() -> Found:
        place = next(places)
        if place is None:
            raise Unreachable("No server is running from here. Start one with `toryo up`.")
        return Found(place, None)

    async def respond(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.port)
        return await refuse(request) if request.url.port == 1 else result(request, {})

    async def story(desk: Desk) -> None:
        assert "No server is running" in (await desk.ask(message("ping")))["error"]["message"]
        assert "error" in await desk.ask(message("ping"))
        assert "result" in await desk.ask(message("ping"))
        assert "result" in await desk.ask(message("ping"))

    scripted(respond, story, find=find)
    assert asked == [1, 2, 2]


def test_a_defect_of_the_bridge_is_an_answer_and_not_its_end(scripted) -> None:
    async def respond(request: httpx.Request) -> httpx.Response:
        if orjson.loads(request.content)["id"] == 1:
            raise RuntimeError("a defect")
        return result(request, {})

    async def story(desk: Desk) -> None:
        assert (await desk.ask(message("ping")))["error"]["code"] == -32603
        assert "result" in await desk.ask(message("ping", request_id=2))

    scripted(respond, story)


# --- sessions ------------------------------------------------------------------------------------------------------


class Keeper:
    """A server of the era with a handshake that keeps sessions and may forget them."""

    def __init__(self) -> None:
        self.sessions: list[str] = []
        self.forgotten: set[str] = set()
        self.subscribed: list[tuple[str, str]] = []
        self.ended: list[str] = []
        self.streams: asyncio.Queue[asyncio.Queue[bytes | None]] = asyncio.Queue()

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        session = request.headers.get("mcp-session-id", "")
        if request.method == "DELETE":
            self.ended.append(session)
            return httpx.Response(200)
        if request.method == "GET":
            return self._stream(session)
        body = orjson.loads(request.content)
        if body["method"] == "initialize":
            self.sessions.append(f"s-{len(self.sessions)}")
            return result(request, INITIALIZED, **{"Mcp-Session-Id": self.sessions[-1]})
        if "id" not in body:
            return httpx.Response(202)
        if session in self.forgotten:
            error = {"jsonrpc": "2.0", "id": body["id"], "error": {"code": -32001, "message": "Session not found"}}
            return httpx.Response(200, json=error)
        self.subscribed.append((session, body["params"]["uri"]))
        return result(request, {})

    def _stream(self, session: str) -> httpx.Response:
        if session in self.forgotten:
            return httpx.Response(404)
        events: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.streams.put_nowait(events)

        async def stream() -> AsyncIterator[bytes]:
            while (event := await events.get()) is not None:
                yield b"data: " + event + b"\n\n"

        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=stream())


def subscription(uri: str, request_id: int) -> dict[str, Any]:
    return message("resources/subscribe", {"uri": uri}, request_id)


async def shake_hands(desk: Desk) -> None:
    await desk.ask(message("initialize", {"protocolVersion": "2025-11-25"}, 0))
    desk.say(message("notifications/initialized", request_id=None))


def test_what_the_server_says_by_itself_is_passed_on_and_the_session_is_ended_in_order(scripted) -> None:
    keeper = Keeper()

    async def story(desk: Desk) -> None:
        await shake_hands(desk)
        stream = await asyncio.wait_for(keeper.streams.get(), BOUND)
        stream.put_nowait(orjson.dumps(message("notifications/tools/list_changed", None, None)))
        assert (await desk.hear())["method"] == "notifications/tools/list_changed"

    scripted(keeper, story)
    assert keeper.ended == ["s-0"]


def test_a_session_that_the_server_forgot_is_begun_anew_with_its_subscriptions(scripted) -> None:
    keeper = Keeper()

    async def story(desk: Desk) -> None:
        await shake_hands(desk)
        stream = await asyncio.wait_for(keeper.streams.get(), BOUND)
        await desk.ask(subscription("toryo://task/1", 1))
        await desk.ask(subscription("toryo://task/2", 2))
        await desk.ask(message("resources/unsubscribe", {"uri": "toryo://task/2"}, 3))
        keeper.forgotten.add("s-0")
        stream.put_nowait(None)
        assert (await desk.hear())["params"] == {"uri": "toryo://task/1"}, "it may have changed meanwhile"
        await asyncio.wait_for(keeper.streams.get(), BOUND)

    scripted(keeper, story)
    assert keeper.subscribed[-1] == ("s-1", "toryo://task/1")
    assert keeper.ended == ["s-1"]


def test_a_subscription_that_finds_the_session_gone_is_made_in_a_new_one(scripted) -> None:
    keeper = Keeper()

    async def story(desk: Desk) -> None:
        await shake_hands(desk)
        keeper.forgotten.add("s-0")
        assert "result" in await desk.ask(subscription("toryo://task/1", 1))

    scripted(keeper, story)
    assert keeper.subscribed == [("s-1", "toryo://task/1")]


def test_a_server_without_such_streams_is_not_asked_again(scripted) -> None:
    gets: list[str] = []

    async def respond(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            gets.append("")
        if request.method != "POST":
            return httpx.Response(405)
        body = orjson.loads(request.content)
        if "id" not in body:
            return httpx.Response(202)
        return result(request, INITIALIZED, **{"Mcp-Session-Id": "s"})

    async def story(desk: Desk) -> None:
        await shake_hands(desk)
        for number in range(3):
            await desk.ask(message("ping", request_id=number))

    scripted(respond, story)
    assert len(gets) <= 1

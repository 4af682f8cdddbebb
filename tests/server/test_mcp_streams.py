"""Streams of sessions: who may open one, what is told on it, and when it ends. And following, which stands below."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from mcp.server.lowlevel.server import Server
from mcp_types import UnsubscribeRequestParams

from tests.server.http import PLAIN, edge, exchange
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.dispatch import Outcome
from toryo.server import mcp_resource_updates, mcp_streams
from toryo.server.mcp_resources import Resources
from toryo.server.mcp_streams import SESSION, Session, Streams, Subscribed

LIMIT = 100.0
ANN, BOB = Credentials(bearer="tpt_ann"), Credentials(bearer="tpt_bob")


class Reader:
    """A resource whose etag a test changes; a read with the known one waits for that."""

    def __init__(self) -> None:
        self.etag = "e0"
        self.refused: str | None = None
        self.reads = 0
        self.read_often = asyncio.Event()
        self.left = asyncio.Event()
        """Set when a read that waited was given up."""
        self._changed = asyncio.Event()

    def change(self, etag: str) -> None:
        self.etag = etag
        self._changed.set()

    def refuse(self, code: str) -> None:
        self.refused = code
        self._changed.set()

    async def __call__(self, seen: str | None, _seconds: int) -> Outcome:
        self.reads += 1
        if self.reads >= 3:
            self.read_often.set()
        while self.refused is None and seen == self.etag:
            self._changed.clear()
            try:
                await self._changed.wait()
            except asyncio.CancelledError:
                self.left.set()
                raise
        if self.refused is not None:
            return Outcome({"error": self.refused}, refused=True)
        return Outcome({"etag": self.etag})


class Get:
    """A GET on its way: what was sent, and leaving."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def leave(self) -> None:
        self._incoming.put_nowait({"type": "http.disconnect"})

    async def receive(self) -> dict[str, Any]:
        return await self._incoming.get()

    async def send(self, message: Any) -> None:
        self.sent.put_nowait(message)

    async def hear(self) -> bytes:
        """The next piece of the body that is no ping."""
        while True:
            message = await asyncio.wait_for(self.sent.get(), LIMIT)
            if message["type"] == "http.response.body" and message["body"] != b": ping\n\n":
                found: bytes = message["body"]
                return found

    async def status(self) -> int:
        message = await asyncio.wait_for(self.sent.get(), LIMIT)
        return int(message["status"])


class Desk:
    """Streams with a session of Ann's."""

    def __init__(self) -> None:
        self.stopping = asyncio.Event()
        self.streams = Streams(self.stopping)
        self.name = b""
        self.welcome = True

    async def begin(self, credentials: Credentials = ANN) -> Session:
        started: list[dict[str, Any]] = []

        async def send(message: Any) -> None:
            started.append(message)

        answer = self.streams.beginning(credentials, send)
        await answer({"type": "http.response.start", "status": 200, "headers": []})
        self.name = dict(started[0]["headers"])[SESSION]
        session = self.streams.session({SESSION: self.name}, credentials)
        assert session is not None
        return session

    def open(self, credentials: Credentials = ANN) -> tuple[Get, asyncio.Task[None]]:
        get = Get()
        headers = {SESSION: self.name}
        opened = self.streams.open(headers, credentials, get.receive, get.send, self._may_listen)
        return get, asyncio.create_task(opened)

    async def unsubscribe(self, uri: str) -> None:
        headers = [(SESSION, self.name), (b"authorization", f"Bearer {ANN.bearer}".encode())]
        context: Any = SimpleNamespace(request=SimpleNamespace(scope={"headers": headers}))
        resources = Resources(self, Server("desk"))  # type: ignore[arg-type]
        await resources._unsubscribe(context, UnsubscribeRequestParams(uri=uri))

    async def _may_listen(self) -> bool:
        return self.welcome

    def stop(self) -> None:
        self.stopping.set()
        self.streams.look_again()


def at_a_desk(story: Callable[[Desk], Awaitable[None]]) -> None:
    async def tell() -> None:
        await asyncio.wait_for(story(Desk()), LIMIT)

    asyncio.run(tell())


def updated(uri: str) -> bytes:
    message = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}
    return b"event: message\ndata: " + orjson.dumps(message) + b"\n\n"


def test_what_a_session_subscribed_to_before_and_after_opening_is_told_on_its_stream() -> None:
    async def story(desk: Desk) -> None:
        session = await desk.begin()
        before, after = Reader(), Reader()
        session.subscriptions["a"] = Subscribed(before, "e0")
        before.change("e1")  # between the subscription and the stream
        get, opened = desk.open()
        assert await get.status() == 200
        assert await get.hear() == updated("a")
        session.subscriptions["b"] = Subscribed(after, "e0")
        session.changed()
        after.change("e1")
        assert await get.hear() == updated("b")
        assert session.subscriptions["b"].etag == "e1"
        get.leave()
        await opened
        assert session.stream is None

    at_a_desk(story)


def test_after_an_unsubscription_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_streams, "PING", 10 * LIMIT)  # with each ping, a stream looks at its subscriptions anyway

    async def story(desk: Desk) -> None:
        session = await desk.begin()
        gone, kept = Reader(), Reader()
        session.subscriptions |= {"gone": Subscribed(gone, "e0"), "kept": Subscribed(kept, "e0")}
        get, opened = desk.open()
        kept.change("e1")
        assert await get.hear() == updated("kept")
        await desk.unsubscribe("gone")
        await gone.left.wait()
        gone.change("e1")
        kept.change("e2")
        assert await get.hear() == updated("kept")
        desk.stop()
        assert await get.hear() == b"", "the stream has ended in order"
        await opened

    at_a_desk(story)


def test_what_its_reader_may_no_longer_see_is_followed_no_more_and_the_stream_ends_with_the_last_of_it() -> None:
    async def story(desk: Desk) -> None:
        session = await desk.begin()
        gone, kept = Reader(), Reader()
        session.subscriptions |= {"gone": Subscribed(gone, "e0"), "kept": Subscribed(kept, "e0")}
        get, opened = desk.open()
        gone.refuse("projectNotFound")
        kept.change("e1")
        assert await get.hear() == updated("kept")
        assert list(session.subscriptions) == ["kept"]
        kept.refuse("projectNotFound")
        assert await get.hear() == b"", "the stream has ended in order"
        await opened
        assert session.subscriptions == {}

    at_a_desk(story)


def test_nobody_opens_ends_or_uses_the_session_of_another() -> None:
    async def story(desk: Desk) -> None:
        await desk.begin(ANN)
        get, opened = desk.open(BOB)
        assert await get.status() == 404
        await opened
        delete = Get()
        await desk.streams.end({SESSION: desk.name}, BOB, delete.send)
        assert await delete.status() == 404
        assert desk.streams.session({SESSION: desk.name}, BOB) is None
        assert desk.streams.session({SESSION: desk.name}, ANN) is not None
        assert desk.streams.session({SESSION: b"guessed"}, ANN) is None

    at_a_desk(story)


def test_a_stream_that_nothing_is_told_on_ends_when_its_client_may_not_listen_any_more() -> None:
    async def story(desk: Desk) -> None:
        session = await desk.begin()
        get, listening = desk.open()
        assert await get.status() == 200
        desk.welcome = False
        desk.streams.look_again()
        assert await get.hear() == b"", "the stream has ended in order"
        await listening
        assert session.stream is None

    at_a_desk(story)


def test_a_stream_ends_with_the_last_resource_that_its_client_may_read() -> None:
    async def story(desk: Desk) -> None:
        session = await desk.begin()
        session.subscriptions |= {"a": Subscribed(first := Reader(), "e0"), "b": Subscribed(last := Reader(), "e0")}
        get, listening = desk.open()
        first.refuse("taskNotFound")
        last.change("e1")
        assert await get.hear() == updated("b")
        last.refuse("taskNotFound")
        assert await get.hear() == b"", "the stream has ended in order"
        await listening
        assert session.subscriptions == {}

    at_a_desk(story)


def test_the_newest_stream_of_a_session_wins_and_ending_the_session_ends_it() -> None:
    async def story(desk: Desk) -> None:
        session = await desk.begin()
        session.subscriptions["a"] = Subscribed(reader := Reader(), "e0")
        _, first = desk.open()
        second, opened = desk.open()
        await first
        assert session.stream is not None, "that of the second one"
        reader.change("e1")
        assert await second.hear() == updated("a")
        delete = Get()
        assert not desk.streams.has_ended({SESSION: desk.name})
        await desk.streams.end({SESSION: desk.name}, ANN, delete.send)
        assert await delete.status() == 200
        await opened
        assert desk.streams.session({SESSION: desk.name}, ANN) is None
        assert desk.streams.has_ended({SESSION: desk.name})
        assert not desk.streams.has_ended({SESSION: b"of a server before this one"})
        assert not desk.streams.has_ended({})

    at_a_desk(story)


def test_only_so_many_sessions_are_remembered_and_those_with_a_stream_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_streams, "MOST_SESSIONS", 2)

    async def story(desk: Desk) -> None:
        await desk.begin()
        oldest = desk.name
        get, opened = desk.open()
        assert await get.status() == 200
        await desk.begin()
        idle = desk.name
        await desk.begin()
        assert desk.streams.session({SESSION: oldest}, ANN) is not None
        assert desk.streams.session({SESSION: idle}, ANN) is None
        desk.stop()
        await opened

    at_a_desk(story)


def test_only_an_answer_that_succeeds_begins_a_session() -> None:
    async def story(desk: Desk) -> None:
        get = Get()
        await desk.streams.beginning(ANN, get.send)({"type": "http.response.start", "status": 400, "headers": []})
        assert (await get.sent.get())["headers"] == []

    at_a_desk(story)


def test_what_a_client_answers_comes_to_who_has_asked_it() -> None:
    async def story(desk: Desk) -> None:
        async with edge() as app:
            desk.streams = app._mcp.streams
            session = await desk.begin()
            session.asked["q"] = asyncio.get_running_loop().create_future()
            headers = (*PLAIN, (SESSION.decode(), desk.name.decode()), ("authorization", f"Bearer {ANN.bearer}"))
            said = {"jsonrpc": "2.0", "id": "q", "result": {"action": "decline"}}
            assert (await exchange(app, orjson.dumps(said), headers=headers)).status == 202
            assert session.asked["q"].done()
            assert session.asked["q"].result() == said

    at_a_desk(story)


@pytest.mark.parametrize(
    ("body", "begins"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"initialize"}', True),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"initialize"}}', False),
        (b'["initialize"]', False),
        (b'"initialize" {', False),
        (b"", False),
    ],
)
def test_an_initialize_is_recognised(body: bytes, begins: bool) -> None:
    assert (mcp_streams.initialize(body) is not None) is begins


# --- following -------------------------------------------------------------------------------------------------------


def test_who_follows_hears_each_other_state_once_and_a_burst_as_one() -> None:
    async def story(_: Desk) -> None:
        reader, heard = Reader(), asyncio.Queue[str]()
        task = asyncio.create_task(mcp_resource_updates.follow(reader, "e0", heard.put, asyncio.Event()))
        reader.change("e1")
        assert await heard.get() == "e1"
        for number in range(2, 6):
            reader.change(f"e{number}")
        assert await heard.get() == "e5"
        task.cancel()
        assert heard.empty()

    at_a_desk(story)


def test_who_may_read_no_more_follows_no_more() -> None:
    async def story(_: Desk) -> None:
        reader, heard = Reader(), asyncio.Queue[str]()
        task = asyncio.create_task(mcp_resource_updates.follow(reader, "e0", heard.put, asyncio.Event()))
        reader.refuse("sessionExpired")
        await task
        assert heard.empty()

    at_a_desk(story)


def test_a_database_that_is_away_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_resource_updates, "AGAIN", 0.01)

    async def story(_: Desk) -> None:
        reader, heard = Reader(), asyncio.Queue[str]()
        task = asyncio.create_task(mcp_resource_updates.follow(reader, "e0", heard.put, asyncio.Event()))
        reader.refuse("unavailable")
        await reader.read_often.wait()
        reader.refused = None
        reader.change("e1")
        assert await heard.get() == "e1"
        task.cancel()

    at_a_desk(story)


def test_a_server_that_stops_ends_following_though_every_read_answers_at_once() -> None:
    async def story(_: Desk) -> None:
        stopping = asyncio.Event()

        async def read(seen: str | None, _seconds: int) -> Outcome:
            stopping.set()
            return Outcome({"etag": seen})

        await mcp_resource_updates.follow(read, "e0", asyncio.Queue[str]().put, stopping)

    at_a_desk(story)

"""What a connection may cost before its request is complete, over real TCP: bytes, seconds, and how many there are."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.server.http import LIMIT, Served, call, served
from toryo.server import app
from toryo.server.connection_limits import Bounds, Connections
from toryo.settings import Settings

SOON = 0.2
"""Seconds, where a test waits for a deadline to pass."""
HEAD = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: */*\r\n"


@contextlib.contextmanager
def bounded(bounds: Bounds, **how: object) -> Iterator[tuple[Served, Connections]]:
    crowd = Connections(bounds, **how)  # type: ignore[arg-type]
    with served(connections=crowd) as server:
        yield server, crowd


def connected(server: Served, first: bytes = b"") -> socket.socket:
    made = socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT)
    made.sendall(first)
    return made


def rest_of(connection: socket.socket) -> bytes:
    """Everything until the server closes."""
    pieces = []
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65_536):
            pieces.append(piece)
    return b"".join(pieces)


def pour(connection: socket.socket, piece: bytes, times: int) -> None:
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        for _ in range(times):
            connection.sendall(piece)


def request(arguments: bytes, *, keep: bool = True, token: str | None = None) -> bytes:
    end = b"" if keep else b"connection: close\r\n"
    end += b"" if token is None else b"authorization: Bearer " + token.encode() + b"\r\n"
    return HEAD + end + b"content-length: %d\r\n\r\n" % len(arguments) + arguments


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (HEAD, b"x-filler: " + b"a" * 8_000 + b"\r\n"),
        (HEAD + b"x-filler: ", b"a" * 8_000),
        (b"GET /", b"a" * 8_000),
        (HEAD, b"a:b\r\n" * 1_000),
    ],
    ids=["endless headers", "one endless header", "an endless address", "ever more headers"],
)
def test_a_head_that_does_not_end_is_refused_and_forgotten(begin: bytes, piece: bytes) -> None:
    with bounded(Bounds(lingering_seconds=SOON)) as (server, crowd), connected(server, begin) as connection:
        pour(connection, piece, 100)
        assert rest_of(connection).startswith(b"HTTP/1.1 431 ")
        until(lambda: len(crowd) == 0)
        assert crowd.unfinished_bytes == 0


@pytest.mark.parametrize(
    "head",
    [HEAD + b"x-filler: " + b"a" * 70_000 + b"\r\n\r\n", HEAD + b"a:b\r\n" * 101 + b"\r\n"],
    ids=["70 kB", "more than 100"],
)
def test_headers_that_are_too_large_are_refused_at_once_also_when_they_come_whole(head: bytes) -> None:
    with bounded(Bounds(lingering_seconds=2 * LIMIT)) as (server, _), connected(server, head) as connection:
        assert rest_of(connection).startswith(b"HTTP/1.1 431 ")


def test_a_silent_connection_is_closed_and_a_call_that_waits_is_not() -> None:
    with bounded(Bounds(head_seconds=SOON, body_seconds=SOON)) as (server, crowd):
        waiting = connected(server, request(call("await_bell", {"timeout_seconds": 45})))
        server.dispatcher.looks_made.acquire(timeout=LIMIT)
        with connected(server) as silent:
            assert rest_of(silent) == b""
        assert crowd.of("127.0.0.1") == 1
        waiting.close()


@pytest.mark.parametrize(
    "half",
    [HEAD, HEAD + b"content-length: 100\r\n\r\nhalf", HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\nhalf\n\r\n"],
    ids=["half a head", "half a body", "half a body in pieces"],
)
@pytest.mark.parametrize("before", [b"", request(call("echo", {"text": "x"}))], ids=["at once", "after another"])
def test_half_a_request_is_given_up_with_an_answer(half: bytes, before: bytes) -> None:
    with bounded(Bounds(head_seconds=SOON, body_seconds=SOON)) as (server, crowd):
        with connected(server, before + half) as connection:
            assert b"HTTP/1.1 408 " in rest_of(connection)
        until(lambda: len(crowd) == 0)
        assert crowd.unfinished_bytes == 0


def test_beside_too_many_connections_of_one_address_the_one_that_idled_longest_leaves() -> None:
    with bounded(Bounds(connections=6)) as (server, crowd):  # half of so few are reserved
        first, *others = [connected(server) for _ in range(3)]
        until(lambda: crowd.of("127.0.0.1") == 3)
        with connected(server, request(call("echo", {"text": "the newest"}), keep=False)) as newest:
            assert b"the newest" in rest_of(newest)
        assert rest_of(first) == b""
        for each in (first, *others):
            each.close()


def test_this_machine_may_have_all_connections_but_some_whatever_address_its_programs_choose() -> None:
    """Coordinators, agents and a proxy on it wait in many long polls at once."""
    crowd = app._connections(Settings(max_connections=100, max_connections_per_address=10))
    addresses = ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.3"]
    made = [_Silent(crowd, addresses[number % 4]) for number in range(100)]
    assert [each.entered for each in made] == [True] * 100
    assert sum(each.left for each in made) == 10
    for each in made:
        if not each.left:
            crowd.has_request(each)  # type: ignore[arg-type]
    assert not _Silent(crowd, "127.0.0.9").entered
    assert _Silent(crowd, "192.0.2.1").entered


def test_a_trusted_proxy_of_this_machine_speaks_for_many() -> None:
    crowd = app._connections(Settings(trusted_proxies=("127.0.0.1",)))
    assert crowd._open_handed("127.0.0.1")
    assert not crowd._open_handed("192.0.2.1")


class _Silent:
    """In place of a connection."""

    def __init__(self, crowd: Connections, address: str) -> None:
        self.left = False
        self.entered = crowd.enter(self, address)  # type: ignore[arg-type]

    def give_up(self) -> None:
        self.left = True


def test_who_does_not_read_an_answer_makes_room_for_others() -> None:
    """An agent that asks for much and reads nothing would hold a connection each."""
    with bounded(Bounds(connections=4)) as (server, crowd):
        first, second = (connected(server, request(call("echo", {"text": "x" * 1_000_000}))) for _ in range(2))
        until(lambda: len(crowd._idle) == 2)
        with connected(server, request(call("echo", {"text": "here"}), keep=False)) as owner:
            assert b"here" in rest_of(owner)
        for each in (first, second):
            each.close()


def test_who_reads_on_is_not_the_one_that_leaves() -> None:
    crowd = Connections(Bounds(of_one_address=2))
    reader, silent = (_Silent(crowd, "192.0.2.1") for _ in range(2))
    crowd.is_served(reader)  # type: ignore[arg-type]
    assert _Silent(crowd, "192.0.2.1").entered
    assert (reader.left, silent.left) == (False, True)


def test_no_more_are_open_than_there_may_be_whoever_they_come_from() -> None:
    crowd = Connections(Bounds(connections=2))
    for number in range(2):
        crowd.has_request(_Silent(crowd, f"192.0.2.{number}"))  # type: ignore[arg-type]
    assert not _Silent(crowd, "192.0.2.2").entered
    assert len(crowd) == 2


def test_calls_that_wait_are_never_the_ones_that_leave() -> None:
    with bounded(Bounds(connections=4)) as (server, crowd):
        waiting = [connected(server, request(call("await_bell", {"timeout_seconds": 45}))) for _ in range(2)]
        until(lambda: server.dispatcher.counted == len(waiting))  # a call that waits looks more than once
        with connected(server) as late:
            assert rest_of(late).startswith(b"HTTP/1.1 503 ")
        assert crowd.of("127.0.0.1") == 2
        for each in waiting:
            each.close()


def test_a_trusted_proxy_may_have_any_number() -> None:
    with bounded(Bounds(of_one_address=1), open_handed=lambda address: address == "127.0.0.1") as (server, crowd):
        made = [connected(server) for _ in range(5)]
        until(lambda: crowd.of("127.0.0.1") == 5)
        for each in made:
            each.close()


def test_the_unix_socket_is_not_counted(tmp_path: Path) -> None:
    crowd = Connections(Bounds(connections=1, of_one_address=1))
    with served(tmp_path / "s", connections=crowd):
        made = [socket.socket(socket.AF_UNIX) for _ in range(3)]
        for each in made:
            each.settimeout(LIMIT)
            each.connect(str(tmp_path / "s"))
        for each in made:
            each.sendall(request(call("echo", {"text": "here"}), keep=False))
            assert b"here" in rest_of(each)
            each.close()
        assert len(crowd) == 0


def test_half_requests_have_so_many_bytes_together_and_the_oldest_pays() -> None:
    half = HEAD + b"content-length: 50000\r\n\r\n" + b"x" * 20_000
    with bounded(Bounds(unfinished_bytes=50_000)) as (server, crowd):
        oldest = connected(server, half)
        until(lambda: crowd.unfinished_bytes >= 20_000)
        others = [connected(server, half) for _ in range(2)]
        assert rest_of(oldest) == b""
        until(lambda: len(crowd) == 2)
        assert crowd.unfinished_bytes <= 50_000
        for each in (oldest, *others):
            each.close()


def test_requests_far_ahead_of_their_answers_end_the_connection() -> None:
    first = request(call("await_bell", {"timeout_seconds": 45}))
    with bounded(Bounds(lingering_seconds=SOON)) as (server, crowd), connected(server, first) as connection:
        server.dispatcher.looks_made.acquire(timeout=LIMIT)
        pour(connection, b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" * 100, 1)
        assert b"429" in rest_of(connection)
        until(lambda: len(crowd) == 0)


def test_a_body_that_is_refused_is_not_read_for_ever() -> None:
    head = HEAD + b"content-length: 9000000000\r\n\r\n"
    bounds = Bounds(thrown_away_bytes=1_000_000, lingering_seconds=LIMIT)
    with bounded(bounds) as (server, crowd), connected(server, head) as connection:
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            connection.sendall(b"x" * 100_000_000)
        until(lambda: len(crowd) == 0)


@pytest.mark.parametrize("too_much", [0, 1])
def test_beside_a_body_in_pieces_so_much_may_come_and_not_a_byte_more(too_much: int) -> None:
    head = HEAD + b"transfer-encoding: chunked\r\n\r\n"
    bounds = Bounds(head_bytes=len(head), lingering_seconds=SOON)
    sizes = b"1;" + b"x" * (8 + too_much - len(b"1;\r\n")) + b"\r\n"  # eight beside each byte of the body
    with bounded(bounds) as (server, crowd), connected(server, head) as connection:
        until(lambda: crowd.unfinished_bytes == len(head))
        connection.sendall(sizes + b"y")
        if too_much:
            assert rest_of(connection).startswith(b"HTTP/1.1 400 ")
        else:
            until(lambda: crowd.unfinished_bytes == len(head + sizes + b"y") or len(crowd) == 0)
            assert len(crowd) == 1


def test_who_is_refused_need_not_wait_for_the_end_of_the_answer() -> None:
    with (
        bounded(Bounds(lingering_seconds=10 * LIMIT)) as (server, _),
        connected(server, b"nonsense\r\n\r\n") as connection,
    ):
        assert rest_of(connection).startswith(b"HTTP/1.1 400 ")


def test_trailers_are_no_way_around() -> None:
    head = HEAD + b"transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
    with bounded(Bounds(lingering_seconds=SOON)) as (server, crowd), connected(server, head) as connection:
        pour(connection, b"x-filler: " + b"a" * 8_000 + b"\r\n", 100)
        rest_of(connection)
        until(lambda: len(crowd) == 0)


def test_who_does_not_read_its_answers_loses_the_connection() -> None:
    large = request(call("echo", {"text": "x" * 1_900_000}))
    with bounded(Bounds(stalled_seconds=SOON)) as (server, crowd):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.settimeout(LIMIT)
        connection.connect(("127.0.0.1", server.port))
        sending = threading.Thread(target=pour, args=(connection, large, 10), daemon=True)
        sending.start()
        server.dispatcher.looks_made.acquire(timeout=LIMIT)
        until(lambda: len(crowd) == 0)
        with contextlib.suppress(OSError):  # closed while it is used, its number would be another socket's
            connection.shutdown(socket.SHUT_RDWR)
        sending.join(LIMIT)
        connection.close()

"""Lines from and to file descriptors, events of a stream, and what counts as a message: whole, however they arrive."""

from __future__ import annotations

import asyncio
import os
import threading

import orjson
import pytest

from toryo.client import jsonrpc, line_io
from toryo.client.jsonrpc import Malformed
from toryo.client.sse import Events

BOUND = 60.0


# --- lines -----------------------------------------------------------------------------------------------------------


def test_lines_of_any_length_are_read_whole_the_last_one_too() -> None:
    given = [b"first", b"", b"x" * 3_000_000, b"last"]

    async def story() -> list[bytes]:
        reading, writing = os.pipe()

        def write() -> None:
            with os.fdopen(writing, "wb") as end:
                end.write(b"\n".join(given))

        threading.Thread(target=write).start()
        try:
            return [line async for line in line_io.lines(reading)]
        finally:
            os.close(reading)

    assert asyncio.run(story()) == given


def test_lines_are_written_whole_and_in_order_though_a_writer_is_cancelled() -> None:
    lines = [str(number).encode() * 100_000 for number in range(5)]

    async def story() -> bytes:
        reading, writing = os.pipe()
        output = line_io.Output(writing)
        writers = [asyncio.create_task(output.write(line)) for line in lines]
        await asyncio.sleep(0)
        writers[1].cancel()
        heard = bytearray()
        while heard.count(b"\n") < len(lines):
            heard += await asyncio.wait_for(asyncio.to_thread(os.read, reading, 1 << 16), BOUND)
        await asyncio.gather(*writers, return_exceptions=True)
        os.close(reading)
        os.close(writing)
        return bytes(heard)

    assert asyncio.run(story()).splitlines() == lines


def test_a_reader_that_has_gone_is_noticed_and_stops_nobody() -> None:
    async def story() -> None:
        reading, writing = os.pipe()
        os.close(reading)
        output = line_io.Output(writing)
        await asyncio.wait_for(output.write(b"to nobody"), BOUND)
        assert output.broken.is_set()
        os.close(writing)

    asyncio.run(story())


# --- events ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_events_are_the_same_however_their_stream_is_cut(size: int, end: bytes) -> None:
    large = orjson.dumps({"large": "x" * 5_000})
    lines = [b": a comment", b"event: message", b"data: one", b"", b"data:two", b"data: lines", b"", b"id: 7", b"",
             b"data: " + large, b"", b"data: never ended"]  # fmt: skip
    stream = end.join(lines)
    events = Events()
    found = [each for start in range(0, len(stream), size) for each in events.take(stream[start : start + size])]
    assert found == [b"one", b"two\nlines", large]


# --- messages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"{", -32700, None),
        (b"\xff", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b'"text"', -32600, None),
        (b'{"id":1}', -32600, 1),
        (b'{"id":true,"method":"x"}', -32600, None),
        (b'{"id":1.5,"method":"x"}', -32600, None),
        (b'{"id":null,"method":"x"}', -32600, None),
        (b'{"id":"a","method":7}', -32600, "a"),
    ],
)
def test_a_line_that_is_no_message_is_answered_under_its_own_id_where_it_has_one(line, code, request_id) -> None:
    with pytest.raises(Malformed) as refused:
        jsonrpc.read(line)
    answer = orjson.loads(refused.value.answer)
    assert (answer["error"]["code"], answer["id"]) == (code, request_id)


def test_what_json_can_spell_and_nobody_can_store_is_left_to_the_server() -> None:
    message = jsonrpc.read(rb'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"half":"\ud800","n":1e999}}')
    assert (message.id, message.method) == (1, "tools/call")


def test_the_answer_of_a_client_is_carried_too() -> None:
    assert jsonrpc.read(b'{"jsonrpc":"2.0","id":4,"result":{}}').method is None


def test_a_message_over_several_lines_becomes_one() -> None:
    assert b"\n" not in jsonrpc.one_line(b'{\r\n  "a": "b"\n}')
    assert orjson.loads(jsonrpc.one_line(b'{\r\n  "a": "b"\n}')) == {"a": "b"}


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("get_task", "get_task"),
        ("a b", "a b"),
        (" a", "=?base64?IGE=?="),
        ("", "=?base64??="),
        ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
        ("\r\nEvil: 1", "=?base64?DQpFdmlsOiAx?="),
    ],
)
def test_no_name_breaks_out_of_its_header(value, header) -> None:
    line = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": value, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}})  # fmt: skip
    assert jsonrpc.headers(jsonrpc.read(line), None, None, None)["Mcp-Name"] == header

"""Head and body of an answer leave in one write; nothing is held back longer than one turn of the loop."""

from __future__ import annotations

import asyncio
from typing import Any

from toryo.server.coalesced_writes import CoalescingTransport

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"


class Pipe:
    """A transport that remembers."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        assert not self.closed
        self.written.append(data)

    def close(self) -> None:
        self.closed = True

    def get_write_buffer_size(self) -> int:
        return 0

    def get_extra_info(self, name: str) -> Any:
        return name

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def gathering() -> tuple[Pipe, CoalescingTransport]:
    pipe = Pipe()
    return pipe, CoalescingTransport(pipe, asyncio.get_running_loop())  # type: ignore[arg-type]


def test_a_head_and_the_body_that_follows_are_one_write() -> None:
    async def story() -> None:
        pipe, transport = await gathering()
        transport.write(HEAD)
        transport.write(b"ok")
        await asyncio.sleep(0)
        assert pipe.written == [HEAD + b"ok"]

    asyncio.run(story())


def test_a_head_whose_body_comes_later_does_not_wait_for_it() -> None:
    async def story() -> None:
        pipe, transport = await gathering()
        transport.write(HEAD)
        await asyncio.sleep(0)
        transport.write(b"ok")
        assert pipe.written == [HEAD, b"ok"]

    asyncio.run(story())


def test_closing_loses_nothing() -> None:
    async def story() -> None:
        pipe, transport = await gathering()
        transport.write(HEAD)
        transport.close()
        await asyncio.sleep(0)
        assert (pipe.written, pipe.closed) == ([HEAD], True)

    asyncio.run(story())


def test_everything_else_is_the_transports_own() -> None:
    async def story() -> None:
        pipe, transport = await gathering()
        assert transport.get_extra_info("peername") == "peername"
        assert transport.written is pipe.written

    asyncio.run(story())

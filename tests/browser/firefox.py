#!/usr/bin/env python3
"""Starts Firefox for Playwright, which takes this file for the browser: `TORYO_FIREFOX=PROGRAM firefox.py ARGUMENTS…`.

Playwright speaks WebDriver BiDi with Firefox. It sends commands that this release of Firefox does not know yet, and
gives up when one is refused. Here they are replaced on their way by a command that changes nothing (`session.status`).
Everything else passes as it is. Remove this file once the Firefox of Debian knows the commands.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import sys

UNKNOWN = (b'"emulation.setMediaFeaturesOverride"',)
"""Sets what a page hears of the person's colour scheme; the tests in Firefox are those in the light one."""
_SAYS = re.compile(rb"WebDriver BiDi listening on ws://127\.0\.0\.1:(\d+)")
_MOST = 1 << 24


async def main() -> int:
    firefox = await asyncio.create_subprocess_exec(
        os.environ["TORYO_FIREFOX"], *sys.argv[1:], stderr=asyncio.subprocess.PIPE, limit=_MOST
    )
    assert firefox.stderr is not None
    server = None
    async for line in firefox.stderr:
        said = _SAYS.search(line)
        if said is not None:
            server = await asyncio.start_server(Way(int(said[1])).go, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            line = line.replace(b":" + said[1], b":%d" % port)  # noqa: PLW2901 - this is where Playwright connects
        sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()
    if server is not None:
        server.close()
    return await firefox.wait()


class Way:
    """From Playwright to Firefox and back."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def go(self, theirs: asyncio.StreamReader, to_them: asyncio.StreamWriter) -> None:
        ours, to_us = await asyncio.open_connection("127.0.0.1", self._port)
        back = asyncio.create_task(self._back(ours, to_them))
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = await theirs.readuntil(b"\r\n\r\n")
            to_us.write(re.sub(rb"(?i)(?<=\r\nhost: 127\.0\.0\.1:)\d+", b"%d" % self._port, head))
            while True:
                to_us.write(await frame(theirs))
                await to_us.drain()
        to_us.close()
        await back

    async def _back(self, ours: asyncio.StreamReader, to_them: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while some := await ours.read(1 << 16):
                to_them.write(some)
                await to_them.drain()
        to_them.close()


async def frame(theirs: asyncio.StreamReader) -> bytes:
    """The next frame of a WebSocket, as it is to be sent on: of the same length (RFC 6455, section 5.2)."""
    head = await theirs.readexactly(2)
    length = head[1] & 0x7F
    if length >= 126:
        head += await theirs.readexactly(2 if length == 126 else 8)
        length = int.from_bytes(head[2:], "big")
    mask = await theirs.readexactly(4)
    payload = await theirs.readexactly(length)
    if length < 1000 and any(each in (plain := masked(payload, mask)) for each in UNKNOWN):
        payload = masked(harmless(plain), mask)
    return head + mask + payload


def masked(payload: bytes, mask: bytes) -> bytes:
    return bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))


def harmless(command: bytes) -> bytes:
    """A command with the same number and as many letters that changes nothing."""
    instead = json.dumps({"id": json.loads(command)["id"], "method": "session.status", "params": {}}).encode()
    return instead.ljust(len(command))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

"""The cost of strangers: a server with default settings under load from clients that have no credential.

All kinds run in parallel, from one address, in separate processes (niced, because they share the machine with the
server): calls with 90,000 unknown names, bodies of values only, headers that never end, silent connections, half
bodies, unread answers, wrong sign-ins, registrations, wrong hosts. Meanwhile a person creates tasks, one
every 50 ms. The floor is the same server without strangers: its memory, and the person's answers. The targets: 64 MiB
over idle, and p99 of a write below 250 ms.

    python benchmarks/strangers.py [--seconds 30] [--kinds names,headers]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx

HEAD = b"POST %b HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: */*\r\n"
UNREAD = b"GET /api/v1/openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
EVERY = 0.05
"""Seconds between two writes of the person."""
Kind = Callable[[int], Awaitable[None]]


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        server, port = _server(Path(folder))
        try:
            _measure(server.pid, port, Path(folder), options)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long the strangers come")
    parser.add_argument("--floor", type=float, default=8.0, help="how long the person works alone before")
    parser.add_argument("--kinds", default=",".join(KINDS), help="which strangers come")
    return parser.parse_args()


def _server(folder: Path) -> tuple[subprocess.Popen[str], int]:
    command = [sys.executable, "-m", "toryo", "server", "--port", "0", "--data-dir", str(folder)]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert started.stderr is not None
    line = next(each for each in started.stderr if each.startswith("ready "))
    threading.Thread(target=started.stderr.read, daemon=True).start()
    return started, int(line.rpartition(":")[2])


def _measure(pid: int, port: int, folder: Path, options: argparse.Namespace) -> None:
    person = Person(port, (folder / "owner.token").read_text().strip())
    alone = person.work(options.floor)
    idle, log = _memory(pid), _log_bytes(folder)
    kinds = [part for part in options.kinds.split(",") if part]
    strangers = [multiprocessing.Process(target=_come, args=(kind, port, options.seconds)) for kind in kinds]
    for stranger in strangers:
        stranger.start()
    most, over = [idle], threading.Event()
    watch = threading.Thread(target=_watch, args=(pid, most, over))
    watch.start()
    beside = person.work(options.seconds)
    for stranger in strangers:
        stranger.join(20)
        stranger.kill()
    over.set()
    watch.join()
    print(f"strangers: {', '.join(kinds)} for {options.seconds:g} s; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"a person's write alone:  p50 {_at(alone, 0.5):6.0f} ms, p99 {_at(alone, 0.99):6.0f} ms ({len(alone)})")
    print(f"a person's write beside: p50 {_at(beside, 0.5):6.0f} ms, p99 {_at(beside, 0.99):6.0f} ms ({len(beside)})")
    print(f"memory: idle {idle:.0f} MiB, most {max(most):.0f} MiB, over idle {max(most) - idle:.0f} MiB")
    print(f"log: {(_log_bytes(folder) - log) / 1000:.0f} kB, of which some is the person's")


def _memory(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def _watch(pid: int, seen: list[float], over: threading.Event) -> None:
    while not over.wait(0.1):
        seen.append(_memory(pid))


def _log_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in (folder / "logs").iterdir())


def _at(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000


class Person:
    """Creates tasks, one every 50 ms, on a connection that is kept."""

    def __init__(self, port: int, token: str) -> None:
        self._http = httpx.Client(
            base_url=f"http://127.0.0.1:{port}/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60
        )
        made = self._http.post("/projects", json={"name": "P", "working_directory": "/tmp"})
        self._project = made.json()["project_id"]

    def work(self, seconds: float) -> list[float]:
        took, until = [], time.perf_counter() + seconds
        while time.perf_counter() < until:
            began = time.perf_counter()
            self._write()
            took.append(time.perf_counter() - began)
            time.sleep(max(0.0, EVERY - took[-1]))
        return took

    def _write(self) -> None:
        for _ in range(3):
            with contextlib.suppress(httpx.TransportError):  # its idle connection may have made room: a new one
                answer = self._http.post(f"/projects/{self._project}/tasks", json={"title": "T"})
                answer.raise_for_status()
                return
        raise SystemExit("the person is not answered any more")


# --- strangers -------------------------------------------------------------------------------------------------------


def _come(kind: str, port: int, seconds: float) -> None:
    os.nice(10)
    with contextlib.suppress(TimeoutError):
        asyncio.run(asyncio.wait_for(KINDS[kind](port), seconds))


async def _again(port: int, request: bytes, *, many: int = 2, read: bool = True) -> None:
    """So many connections that send the same again and again, and anew when they were closed."""

    async def one() -> None:
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                while not reader.at_eof():
                    writer.write(request)
                    await writer.drain()
                    if read:
                        await _answer(reader)
                writer.close()

    await asyncio.gather(*(one() for _ in range(many)))


async def _answer(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(length)


async def _held(port: int, first: bytes, *, many: int, read: bool = True) -> None:
    """So many connections that send this much and nothing more; those that are closed come again."""

    async def one() -> None:
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
                writer.write(first)
                await (reader.read() if read else asyncio.sleep(60))
                writer.close()
            await asyncio.sleep(0.1)

    await asyncio.gather(*(one() for _ in range(many)))


def _post(path: bytes, body: bytes) -> bytes:
    return HEAD % path + b"content-length: %d\r\n\r\n" % len(body) + body


def _tool(name: str, arguments: object) -> bytes:
    params = {"name": name, "arguments": arguments}
    return _post(b"/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode())


KINDS: dict[str, Kind] = {
    "names": lambda port: _again(port, _tool("authenticate", {f"name{n}": 1 for n in range(90_000)})),
    "values": lambda port: _again(port, _tool("authenticate", {"x": [[]] * 450_000})),
    "headers": lambda port: _again(port, (HEAD % b"/mcp") + b"x-filler: " + b"a" * 1_000_000, read=False),
    "silent": lambda port: _held(port, b"", many=2_500),
    "halves": lambda port: _held(port, HEAD % b"/mcp" + b"content-length: 1000000\r\n\r\n" + b"x" * 500_000, many=100),
    "unread": lambda port: _held(
        port, b"GET /api/v1/openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n", many=100, read=False
    ),
    "sign-ins": lambda port: _again(port, _tool("authenticate", {"agent_id": "somebody", "passkey": "a guess"})),
    "registrations": lambda port: _again(port, _tool("register_agent", {"agent_id": "me", "api_key": "tqk_guess"})),
    "hosts": lambda port: _again(port, b"GET /health HTTP/1.1\r\nhost: evil.example\r\n\r\n"),
}


if __name__ == "__main__":
    main()

"""T11: calls per second of another MCP server for teams of agents, beside Toryo, in the same run.

The peer is installed with pip into its own environment, with its default configuration (SQLite, and an archive in git).
A write hands something durable to another agent: `create_task` for a queue, or `send_message`. A read is a look at what
is there: `get_task_status`, or `fetch_inbox`. Each client keeps one connection and calls one after the other. Where
several clients only make a peer fail, one writes.

    python benchmarks/mcp_peers.py [--clients 16] [--seconds 5] [--rounds 3] [--cache DIR]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import target_figures
from messages import databases, server
from queues import Bench, default_cache, installed

PEER = "mcp-agent-mail"
STARTS_WITHIN = 60
WRITES, READS = "writes", "reads"


@dataclass(frozen=True)
class Asked:
    tool: str
    arguments: dict[str, Any]


class Peer:
    """An MCP server over HTTP, what is asked of it, and how many clients may write: where more only fail, one does."""

    def __init__(self, port: int, path: str, token: str | None, writers: int | None = None) -> None:
        self.port, self.path, self.token, self.writers = port, path, token, writers
        self.asked: dict[str, Asked] = {}

    async def call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: Asked) -> Any:
        params = {"name": asked.tool, "arguments": asked.arguments}
        body = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        lines = [
            f"POST {self.path} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            *([f"Authorization: Bearer {self.token}"] if self.token else []),
            f"Content-Length: {len(body)}",
        ]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        told = await _answer(reader)
        answer = orjson.loads(told[told.index(b"{") : told.rindex(b"}") + 1])
        if "result" not in answer or answer["result"].get("isError"):
            raise RuntimeError(f"{asked.tool} was refused: {told[:400]!r}")
        return answer["result"]


async def _answer(reader: asyncio.StreamReader) -> bytes:
    """The body of a response, whether its length is given or it comes in chunks."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    for line in head.split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return await reader.readexactly(int(line[15:]))
    parts = []
    while size := int((await reader.readuntil(b"\r\n")).strip(), 16):
        parts.append((await reader.readexactly(size + 2))[:-2])
    await reader.readexactly(2)
    return b"".join(parts)


@contextlib.asynccontextmanager
async def _connected(peer: Peer) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", peer.port, limit=1 << 22)
    try:
        yield reader, writer
    finally:
        writer.close()


async def _rate(peer: Peer, kind: str, clients: int, seconds: float) -> float:
    done = 0

    async def client() -> None:
        nonlocal done
        async with _connected(peer) as (reader, writer):
            while time.perf_counter() < until:
                await peer.call(reader, writer, peer.asked[kind])
                done += 1

    began = time.perf_counter()
    until = began + seconds
    several = peer.writers or clients if kind == WRITES else clients
    await asyncio.gather(*(client() for _ in range(several)))
    return done / (time.perf_counter() - began)


async def _asked_once(peer: Peer, *calls: Asked) -> list[Any]:
    async with _connected(peer) as (reader, writer):
        return [await peer.call(reader, writer, asked) for asked in calls]


@contextlib.contextmanager
def toryo() -> Iterator[Peer]:
    with databases(None) as kinds:
        ((_, empty),) = kinds
        with empty() as url, server(url) as at:
            bench = Bench.on(at)
            key = bench.key("chief", "numbers")
            peer = Peer(int(at.url.rstrip("/").rpartition(":")[2]), "/mcp", key)
            write = Asked("create_task", {"agent_type": "numbers", "task_description": "Hello", "context": {"n": 1}})
            (made,) = asyncio.run(_asked_once(peer, write))
            read = Asked("get_task_status", {"task_id": made["structuredContent"]["task_id"]})
            peer.asked = {WRITES: write, READS: read}
            yield peer


@contextlib.contextmanager
def agent_mail(cache: Path) -> Iterator[Peer]:
    binaries = installed(PEER, (PEER,), cache)
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        environment = {
            **os.environ,
            "DATABASE_URL": f"sqlite+aiosqlite:///{folder}/mail.sqlite3",
            "STORAGE_ROOT": f"{folder}/mailboxes",
            "LLM_ENABLED": "false",  # it would look for a model on the network
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }
        program = [str(binaries / "python"), "-c", "from mcp_agent_mail.cli import app; app()"]
        words = [*program, "serve-http", "--port", str(port), "--path", "/mcp/"]
        with (Path(folder) / "log").open("w") as log:
            process = subprocess.Popen(words, env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
            try:
                _await_port(port, process)
                yield asyncio.run(_mailboxes(port, folder))
            finally:
                process.terminate()
                process.wait()


async def _mailboxes(port: int, folder: str) -> Peer:
    peer = Peer(port, "/mcp/", None, writers=1)  # several writers time out at the lock of its archive
    who = {"project_key": folder, "program": "bench", "model": "none"}
    await _asked_once(
        peer,
        Asked("ensure_project", {"human_key": folder}),
        Asked("register_agent", {**who, "name": "GreenLake"}),
        Asked("register_agent", {**who, "name": "BlueHill"}),
    )
    message = {"sender_name": "GreenLake", "to": ["BlueHill"], "subject": "Hello", "body_md": "Hello"}
    message["auto_contact_if_blocked"] = True
    inbox = {"project_key": folder, "agent_name": "BlueHill", "limit": 1}
    peer.asked = {
        WRITES: Asked("send_message", {"project_key": folder, **message}),
        READS: Asked("fetch_inbox", inbox),
    }
    return peer


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise RuntimeError("it did not start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cache", type=Path, default=default_cache(), help="where the peer is installed")
    given = parser.parse_args()
    print(f"{given.clients} clients, medians of {given.rounds} rounds of {given.seconds:g} s, calls/s")
    print(f"{'':<18}{'Toryo':>10}{PEER:>18}{'ratio':>9}")
    try:
        with toryo() as ours, agent_mail(given.cache) as theirs:
            for kind in (WRITES, READS):
                rates: list[list[float]] = [[], []]
                for _ in range(given.rounds):
                    for found, peer in zip(rates, (ours, theirs), strict=True):
                        found.append(asyncio.run(_rate(peer, kind, given.clients, given.seconds)))
                for own, other in zip(*rates, strict=True):
                    target_figures.note(f"T11 {kind}", own / other, f"{own:,.0f} and {other:,.1f} calls/s", other)
                own, other = map(statistics.median, rates)
                print(f"{kind:<18}{own:>10,.0f}{other:>18,.1f}{own / other:>8,.0f}x", flush=True)
    except RuntimeError as problem:
        print(f"{PEER}: SKIPPED: {problem}", flush=True)
        for kind in (WRITES, READS):
            target_figures.not_measured(f"T11 {kind}", f"{PEER} {problem}")


if __name__ == "__main__":
    main()

"""The server's CPU of one event for one browser that follows the events and reads its board's delta after each.

`python benchmarks/browsers.py [--browsers N] [--events N] [--people N] [--rounds N]`. Each browser has a stream and a
kept connection for the delta, as a dashboard has. Every round also files the same events while nobody looks, and
measures the bare ASGI call of `mcp_calls.py`: subtract the first, compare with the second.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mcp_calls
import orjson
import target_figures
import uvloop

from toryo.client import Client

WITHIN = 120


@dataclass
class Browser:
    """One that follows; `told` is the newest event it has heard of, `known` that of its board."""

    url: str
    token: str
    project: str
    delta: bool
    told: int = 0
    known: int = 0
    heard: asyncio.Condition = field(default_factory=asyncio.Condition)
    reads: int = 0

    async def follow(self, opened: asyncio.Event) -> None:
        reader, writer = await self._ask("/api/v1/events/stream?after=now")
        await reader.readuntil(b"\r\n\r\n")
        opened.set()
        board = asyncio.create_task(self._read_boards())
        try:
            while line := await reader.readline():
                if line.startswith(b"id: "):
                    async with self.heard:
                        self.told = int(line[4:])
                        self.heard.notify_all()
        finally:
            board.cancel()
            writer.close()

    async def _read_boards(self) -> None:
        """The delta after what is new, one request at a time; what comes meanwhile is in the next."""
        if not self.delta:
            return
        connection = None
        while True:
            async with self.heard:
                await self.heard.wait_for(lambda: self.told > self.known)
            after = f"?after={self.known}" if self.known else f"?after={self.told - 1}"
            connection = await self._ask(f"/api/v1/projects/{self.project}/board{after}", connection)
            reader, _ = connection
            head = await reader.readuntil(b"\r\n\r\n")
            answer = orjson.loads(await reader.readexactly(mcp_calls.length(head)))
            async with self.heard:
                self.known = answer["last_event"]
                self.reads += 1
                self.heard.notify_all()

    async def caught_up(self, sequence: int) -> None:
        async with self.heard:
            await self.heard.wait_for(lambda: (self.known if self.delta else self.told) >= sequence)

    async def _ask(self, path: str, connection: Any = None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, port = self.url.removeprefix("http://").split(":")
        reader, writer = connection or await asyncio.open_connection(host, int(port))
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", f"Authorization: Bearer {self.token}"]
        writer.write("\r\n".join([*lines, "Accept: application/json", "", ""]).encode())
        return reader, writer


async def measure(pid: int, browsers: list[Browser], file: Any, events: int) -> float:
    """Microseconds of the server's CPU for each event."""
    opened = [asyncio.Event() for _ in browsers]
    following = [asyncio.create_task(each.follow(one)) for each, one in zip(browsers, opened, strict=True)]
    async with asyncio.timeout(WITHIN):
        await asyncio.gather(*(each.wait() for each in opened))
        spent = mcp_calls.cpu_seconds(pid)
        for _ in range(events):
            last = await asyncio.to_thread(file)
            await asyncio.gather(*(each.caught_up(last) for each in browsers))
        used = mcp_calls.cpu_seconds(pid) - spent
    for each in following:
        each.cancel()
    await asyncio.gather(*following, return_exceptions=True)
    return used / events * 1e6


def run(count: int, events: int, people: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as running:
        floor, floor_url = mcp_calls.start(running, "raw", scratch)
        toryo, url = mcp_calls.start(running, "toryo", scratch)
        mcp_calls.pin(0)
        client = running.enter_context(Client(url, (Path(scratch) / "owner.token").read_text().strip()))
        project = client.rest("POST", "/projects", {"name": "bench", "working_directory": scratch})["project_id"]
        task = client.rest("POST", f"/projects/{project}/tasks", {"title": "T", "status": "backlog"})["task_id"]
        tokens = [_member(client, project, f"p{number}") for number in range(people)]
        names = iter(range(10**9))

        def change() -> int:
            client.rest("PATCH", f"/tasks/{task}", {"title": f"T {next(names)}"})
            return int(client.rest("GET", "/status")["last_event"])

        def some(*, delta: bool) -> list[Browser]:
            return [Browser(url, tokens[number % people], project, delta) for number in range(count)]

        rows: dict[str, list[float]] = {"raw": [], "nobody": [], "stream": [], "with delta": []}
        port = int(floor_url.rsplit(":", 1)[1])
        row = mcp_calls.Row("raw", port, floor.pid, mcp_calls.request(port, "health_check", {}))
        for _ in range(rounds):
            rows["raw"].append(uvloop.run(mcp_calls.measure(row, 8_000, 16)).cpu_us)
            rows["nobody"].append(uvloop.run(measure(toryo.pid, [], change, events)))
            rows["stream"].append(uvloop.run(measure(toryo.pid, some(delta=False), change, events)))
            rows["with delta"].append(uvloop.run(measure(toryo.pid, some(delta=True), change, events)))
    middle = {name: statistics.median(found) for name, found in rows.items()}
    print(f"{count} browsers of {people} people, {events} events, medians of {rounds} rounds\n")
    print(f"raw ASGI call: {middle['raw']:.0f} us; an event, nobody looks: {middle['nobody']:,.0f} us")
    for name in ("stream", "with delta"):
        spent = [(some - none) / count for some, none in zip(rows[name], rows["nobody"], strict=True)]
        if name == "with delta":
            for each, raw in zip(spent, rows["raw"], strict=True):
                target_figures.note("T15", each, floor=raw)
        cost = statistics.median(spent)
        print(f"a browser and an event, {name:<11}{cost:>8.0f} us = {cost / middle['raw']:.1f} x floor")


def _member(client: Client, project: str, name: str) -> str:
    client.rest("POST", "/agents", {"id": name, "role": "worker", "kind": "human", "projects": [project]})
    made = client.rest("POST", "/access-tokens", {"name": "bench", "person_id": name, "login": "member"})
    return str(made["token"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--browsers", type=int, default=50)
    parser.add_argument("--events", type=int, default=20)
    parser.add_argument("--people", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    run(given.browsers, given.events, given.people, given.rounds)


if __name__ == "__main__":
    main()

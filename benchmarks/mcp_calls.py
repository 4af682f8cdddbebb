"""Tool calls over MCP: the server's cost of one, compared with a bare ASGI application that returns the same bytes.

`python benchmarks/mcp_calls.py [--calls N] [--connections N] [--rounds N]`. With two cores, server and clients
get one each. Every round measures every row, so that other load affects all rows alike. Trust the ratios and
the CPU column: rates depend on the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import target_figures
import uvicorn
import uvloop

ANSWER = orjson.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "content": [{"type": "text", "text": '{"success":true,"status":"ok"}'}],
            "structuredContent": {"success": True, "status": "ok"},
            "isError": False,
        },
    }
)


@dataclass(frozen=True)
class Row:
    """One thing that is measured: a request, sent again and again to one of the servers."""

    name: str
    port: int
    pid: int
    request: bytes


@dataclass(frozen=True)
class Figures:
    per_second: float
    cpu_us: float
    p50_us: float
    p99_us: float


class Connection(asyncio.Protocol):
    """One keep-alive connection that sends its request, waits for the answer, and sends it again."""

    def __init__(self, request: bytes, calls: int) -> None:
        self.request = request
        self.left = calls
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.times: list[float] = []
        self.received = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.send()

    def send(self) -> None:
        self.sent_at = time.perf_counter()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, separator, body = self.received.partition(b"\r\n\r\n")
        if not separator or len(body) < length(head):
            return
        if not head.startswith(b"HTTP/1.1 200") or b'"isError":true' in body:
            self.done.set_exception(RuntimeError(f"refused: {self.received[:600]!r}"))
            self.transport.close()
            return
        self.times.append(time.perf_counter() - self.sent_at)
        self.received = b""
        self.left -= 1
        if self.left:
            self.send()
        else:
            self.transport.close()
            self.done.set_result(None)


def length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line[15:])
    raise RuntimeError(f"no length: {head!r}")


async def measure(row: Row, calls: int, connections: int) -> Figures:
    loop = asyncio.get_running_loop()
    each = max(1, calls // connections)
    spent, began = cpu_seconds(row.pid), time.perf_counter()
    opened = [Connection(row.request, each) for _ in range(connections)]
    for connection in opened:
        await loop.create_connection(lambda connection=connection: connection, "127.0.0.1", row.port)  # type: ignore[misc]
    await asyncio.gather(*(connection.done for connection in opened))
    took, cpu = time.perf_counter() - began, cpu_seconds(row.pid) - spent
    times = sorted(each for connection in opened for each in connection.times)
    count = len(times)
    return Figures(count / took, cpu / count * 1e6, times[count // 2] * 1e6, times[int(count * 0.99)] * 1e6)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# --- what is measured ------------------------------------------------------------------------------------------------


async def raw(_scope: Any, receive: Any, send: Any) -> None:
    """The floor: reads the body, answers the same bytes as a health check."""
    await receive()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(ANSWER))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})


def serve_raw() -> None:
    from toryo.server import listeners

    bound = listeners.tcp("127.0.0.1", 0)
    config = uvicorn.Config(raw, http="httptools", ws="none", lifespan="off", log_config=None, access_log=False)
    gc.collect()
    gc.freeze()
    print(listeners.url(bound, "127.0.0.1"), flush=True)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(uvicorn.Server(config).serve([bound]))


def serve_toryo(directory: Path) -> None:
    """The whole server on SQLite with full durability; only the guards against runaway agents are lifted."""
    from toryo.server import app
    from toryo.settings import GuardSettings, Settings

    lifted = GuardSettings(same_answers=10**9, refusals=10**9, idle_calls=10**9, calls=10**9)
    app.run(Settings(port=0, data_dir=directory, guards=lifted, log_level="info"))


@contextlib.contextmanager
def servers() -> Iterator[list[Row]]:
    """Both servers, started, and what is asked of them."""
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as running:
        floor, floor_url = start(running, "raw", scratch)
        toryo, toryo_url = start(running, "toryo", scratch)
        token = _session(toryo_url, Path(scratch))
        floor_port, port = int(floor_url.rsplit(":", 1)[1]), int(toryo_url.rsplit(":", 1)[1])
        yield [
            Row("raw ASGI, same bytes", floor_port, floor.pid, request(floor_port, "health_check", {})),
            Row("health_check", port, toryo.pid, request(port, "health_check", {})),
            Row("get_next_action", port, toryo.pid, request(port, "get_next_action", {}, token)),
            Row("save_progress", port, toryo.pid, request(port, "save_progress", {"progress": "half done"}, token)),
        ]


def start(running: contextlib.ExitStack, kind: str, scratch: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, __file__, "--serve", kind, scratch]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True)
    running.callback(process.wait)
    running.callback(process.terminate)
    assert process.stdout is not None
    for line in process.stdout:
        if "http://" in line:
            return process, line.strip().removeprefix("ready ")
    raise RuntimeError(f"the {kind} server did not start")


def _session(url: str, directory: Path) -> str:
    """A worker with a task in progress that has signed in: what its session token is."""
    from toryo.client import Client

    with Client(url, (directory / "owner.token").read_text().strip()) as people:
        project = people.rest("POST", "/projects", {"name": "bench", "working_directory": str(directory)})["project"]
        agent = {"id": "worker", "role": "worker", "provider": "command", "projects": [project["id"]]}
        passkey = people.rest("POST", "/agents", agent)["passkey"]
        task = {"title": "Measure", "assignee_id": "worker", "status": "in_progress"}
        people.rest("POST", f"/projects/{project['id']}/tasks", task)
    with Client(url) as agent_client:
        signed_in = agent_client.call("authenticate", agent_id="worker", passkey=passkey, project_id=project["id"])
        token = str(signed_in["session_token"])
        agent_client.call("report_model", session_token=token, provider="command", model_id="none")
        agent_client.call("get_my_task", session_token=token)
    return token


def request(port: int, tool: str, arguments: dict[str, Any], token: str | None = None) -> bytes:
    body = orjson.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    )
    lines = [
        "POST /mcp HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2025-11-25",
        *([f"Authorization: Bearer {token}"] if token else []),
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


# --- running it ------------------------------------------------------------------------------------------------------


def run(calls: int, connections: int, rounds: int) -> None:
    with servers() as rows:
        pin(0)
        found: dict[str, list[Figures]] = {row.name: [] for row in rows}
        for row in rows:
            uvloop.run(measure(row, calls // 10, connections))
        for _ in range(rounds):
            for row in rows:
                found[row.name].append(uvloop.run(measure(row, calls, connections)))
    _report(found, connections)


ROWS = {"health_check": "T3 no-op", "get_next_action": "T3 next action", "save_progress": "T3 write"}


def _report(found: dict[str, list[Figures]], connections: int) -> None:
    floors = [each.cpu_us for each in next(iter(found.values()))]
    print(f"{connections} keep-alive connections, medians of {len(floors)} rounds\n")
    print(f"{'':<22}{'calls/s':>9}{'CPU us':>9}{'x floor':>9}{'p50 us':>9}{'p99 us':>9}")
    for name, figures in found.items():
        ratios = [each.cpu_us / floor for each, floor in zip(figures, floors, strict=True)]
        middle = {
            key: statistics.median(getattr(figure, key) for figure in figures)
            for key in ("per_second", "cpu_us", "p50_us", "p99_us")
        }
        if name in ROWS:
            for each, ratio, floor in zip(figures, ratios, floors, strict=True):
                target_figures.note(ROWS[name], ratio, f"{each.cpu_us:.0f} us", floor)
        cost = f"{middle['per_second']:>9,.0f}{middle['cpu_us']:>9.1f}{statistics.median(ratios):>9.2f}"
        print(f"{name:<22}{cost}{middle['p50_us']:>9.0f}{middle['p99_us']:>9.0f}")


def pin(which: int) -> None:
    """This process, with the threads it will have, to a core of its own: 0 for clients, 1 for a server."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        os.sched_setaffinity(0, {cores[which]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=16_000)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is None:
        run(given.calls, given.connections, given.rounds)
        return
    pin(1)
    if given.serve[0] == "raw":
        serve_raw()
    else:
        serve_toryo(Path(given.serve[1]))


if __name__ == "__main__":
    main()

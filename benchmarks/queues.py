"""Queues over MCP: cycles per second, delay of a push, cost of idling; the same work in other systems (T4, T5, T10).

A cycle is create_task, poll_tasks, submit_result: three durable acts, three calls, unless the poll takes ten tasks.
`--rivals` runs other job queues in the same run: each in its own virtual environment in a cache folder (made with
pip), with its documented default configuration (see `rivals/*.py`), those on Redis with one that is started for it, as
it comes. What cannot be installed or started is skipped with a warning. Every job returns its number; "jobs/s" is from
the first enqueueing, by eight threads, to the start of the last job, or for Toryo to its last result handed in. Trust
the ratios; rates depend on the machine.

    python benchmarks/queues.py [--rounds 3] [--postgresql URL] [--rivals all|celery,taskiq…] [--cache DIR] [--jobs N]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_calls
import orjson
import pytest
import target_figures
import uvloop
from messages import Server, databases, server

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tests.redis_server import redis_server  # noqa: E402 - after the path to the tests' helpers

OTHERS, MANY = 100, 4_000
"""Polls of other queues that are held while a push is measured; from `MANY` on, memory for each is a figure of T8."""
PINGS, PING_SECONDS = 500, 0.002
SETTLED_SECONDS = 1.0
AGENTS = 100
"""Whose polls are held: each of them waits on many connections if there are more."""
SETTLES = 0.02
"""Seconds given to a poll to begin to wait at the server: nothing outside it tells when it does."""
IDLE_SECONDS = 5
ENQUEUERS = 8
WARM_UP = 50
TICK = os.sysconf("SC_CLK_TCK")


# --- calls -----------------------------------------------------------------------------------------------------------


class Line(asyncio.Protocol):
    """A kept connection to the server, for one call at a time; does as little as a client can."""

    def __init__(self, url: str, token: str) -> None:
        self.host, _, port = url.removeprefix("http://").rstrip("/").partition(":")
        self.port = int(port)
        self._head = "\r\n".join(
            [
                "POST /mcp HTTP/1.1",
                f"Host: {self.host}:{port}",
                "Content-Type: application/json",
                "Accept: application/json, text/event-stream",
                "MCP-Protocol-Version: 2025-11-25",
                f"Authorization: Bearer {token}",
                "Content-Length: ",
            ]
        ).encode()
        self._answer: asyncio.Future[dict[str, Any]] | None = None
        self._received = b""

    async def open(self) -> Line:
        self._transport, _ = await asyncio.get_running_loop().create_connection(lambda: self, self.host, self.port)
        return self

    def close(self) -> None:
        self._transport.close()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        body = orjson.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        )
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(b"%s%d\r\n\r\n%s" % (self._head, len(body), body))  # type: ignore[attr-defined]
        answer = await self._answer
        if answer["result"]["isError"]:
            raise RuntimeError(f"{tool} was refused: {answer['result']['structuredContent']}")
        told: dict[str, Any] = answer["result"]["structuredContent"]
        return told

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator or len(body) < _length(head):
            return
        self._received = b""
        assert self._answer is not None, "something was asked"
        self._answer.set_result(orjson.loads(body))


def _length(head: bytes) -> int:
    return next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))


@dataclass
class Bench:
    """A server with a project, and keys of agents that file and serve."""

    at: Server
    project: str
    pid: int

    @classmethod
    def on(cls, at: Server) -> Bench:
        made = at.send("/projects", name="Bench", working_directory=str(at.directory))
        pid = orjson.loads((at.directory / "server.json").read_bytes())["pid"]
        return cls(at, str(made["project"]["id"]), int(pid))

    def key(self, agent_id: str, agent_type: str) -> str:
        body = {"agent_id": agent_id, "types": [agent_type], "orchestrator": True}
        return str(self.at.send(f"/projects/{self.project}/keys", **body)["token"])

    async def line(self, agent_id: str, agent_type: str) -> Line:
        """A connection of an agent that has registered."""
        line = await Line(self.at.url, self.key(agent_id, agent_type)).open()
        await line.call("register_agent", agent_id=agent_id, agent_type=agent_type)
        return line

    def cpu(self) -> float:
        """Seconds of CPU that the server has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory(self) -> float:
        """KiB that the server has in memory."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith("VmRSS:")))


# --- cycles ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cycles:
    per_second: float
    cpu_us: float


def cycles(kinds: list[Any], rounds: int, seconds: float, clients: list[int]) -> None:
    print(f"\nQueue cycles over MCP, medians of {rounds} rounds")
    print(f"{'':<34}{'cycles/s':>10}{'CPU us':>9}{'x raw ASGI':>12}")
    for name, empty in kinds:
        with _raw() as raw, empty() as url, server(url) as at:
            asyncio.run(_cycles_of(Bench.on(at), name, raw, rounds, seconds, clients))


async def _cycles_of(
    bench: Bench, name: str, raw: mcp_calls.Row, rounds: int, seconds: float, counts: list[int]
) -> None:
    """Every round measures the floor and every case."""
    lines = [await bench.line(f"w{number}", "numbers") for number in range(max(counts))]
    cases = [(clients, many) for many in (1, 10) for clients in counts]
    floors: list[float] = []
    found: dict[tuple[int, int], list[Cycles]] = {case: [] for case in cases}
    for _ in range(rounds):
        floors.append((await asyncio.to_thread(uvloop.run, mcp_calls.measure(raw, 6_000, 16))).cpu_us)
        for clients, many in cases:
            found[clients, many].append(await _measured(bench, lines[:clients], many, seconds))
    for (clients, many), figures in found.items():
        ratios = [each.cpu_us / floor for each, floor in zip(figures, floors, strict=True)]
        if (clients, many) == (64, 1):
            for each, ratio, floor in zip(figures, ratios, floors, strict=True):
                told = f"{each.cpu_us:.0f} us, {each.per_second:,.0f} per s"
                target_figures.note(f"T4 {name}", ratio, told, floor)
        rate = statistics.median(figure.per_second for figure in figures)
        cpu = statistics.median(figure.cpu_us for figure in figures)
        row = f"{name}, {clients} client{'s' if clients > 1 else ''}, {many} a poll"
        print(f"{row:<34}{rate:>10,.0f}{cpu:>9.0f}{statistics.median(ratios):>12.1f}", flush=True)
    for line in lines:
        line.close()


@contextlib.contextmanager
def _raw() -> Iterator[mcp_calls.Row]:
    """A raw ASGI call, to be measured in this run."""
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as running:
        process, url = mcp_calls.start(running, "raw", scratch)
        port = int(url.rsplit(":", 1)[1])
        for _ in range(100):  # its address is printed before it listens
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield mcp_calls.Row("raw", port, process.pid, mcp_calls.request(port, "health_check", {}))


async def _measured(bench: Bench, lines: list[Line], many: int, seconds: float) -> Cycles:
    done = 0

    async def work(number: int, line: Line) -> None:
        nonlocal done
        while time.perf_counter() < until:
            for _ in range(many):
                await line.call("create_task", agent_type="numbers", task_description="Return it", context={"n": 1})
            left = many
            while left:
                got = (await line.call("poll_tasks", agent_id=f"w{number}", max_tasks=left))["result"]
                for each in got:
                    await line.call("submit_result", task_id=each["task_id"], status="completed", result=1)
                left -= len(got)
                done += len(got)

    spent, began = bench.cpu(), time.perf_counter()
    until = began + seconds
    await asyncio.gather(*(work(number, line) for number, line in enumerate(lines)))
    return Cycles(done / (time.perf_counter() - began), (bench.cpu() - spent) / done * 1e6)


# --- a push, and idling ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pushed:
    """Times are ms; `kib` is the growth of the server's memory for each poll that is held, with its connection."""

    whole: list[float]
    filed: list[float]
    pings: list[float]
    idle: float
    kib: float


def push(kinds: list[Any], times: int, held: list[int], rounds: int) -> None:
    print(f"\ncreate_task to the waiting poll's answer, while other polls are held (ms, medians of {rounds} x {times})")
    times_of = f"{'p50':>8}{'p99':>8}{'filed, p50':>12}{'ping p50':>10}{'p99':>7}"
    print(f"{'':<20}{'held':>7}{times_of}{'idle CPU':>10}{'KiB each':>10}")
    for name, empty in kinds:
        for others in held:
            with empty() as url, server(url) as at:
                found = asyncio.run(_pushes(Bench.on(at), times * rounds, others))
            many = "" if others == OTHERS else f", {others:,} held"
            parts = [found.whole[place : place + times] for place in range(0, times * rounds, times)]
            for percent in (50, 99):
                for part in parts:
                    target_figures.note(f"T5 p{percent}, {name}{many}", _at(part, percent))
            if others >= MANY:
                target_figures.note(f"T8 memory, {name}{many}", found.kib)
                target_figures.note(f"T8 ping, {name}{many}", _at(found.pings, 99))
            pings = f"{_at(found.pings, 50):>10.2f}{_at(found.pings, 99):>7.2f}"
            p50, p99 = (statistics.median(_at(part, percent) for part in parts) for percent in (50, 99))
            pushes = f"{p50:>8.2f}{p99:>8.2f}{_at(found.filed, 50):>12.2f}"
            print(f"{name:<20}{others:>7,}{pushes}{pings}{found.idle:>10.1%}{found.kib:>10.1f}", flush=True)


async def _pushes(bench: Bench, times: int, many: int) -> Pushed:
    names = [f"o{number}" for number in range(min(many, AGENTS))]
    keys = [bench.key(name, f"other-{name}") for name in names]
    for name, key in zip(names, keys, strict=True):
        line = await Line(bench.at.url, key).open()
        await line.call("register_agent", agent_id=name, agent_type=f"other-{name}")
        line.close()
    agent, chief = await bench.line("agent", "numbers"), await bench.line("chief", "numbers")
    before = bench.memory()
    others = [await Line(bench.at.url, keys[number % len(keys)]).open() for number in range(many)]
    held = [asyncio.create_task(_hold(line, names[number % len(names)])) for number, line in enumerate(others)]
    await _settled(bench)
    kib = (bench.memory() - before) / many
    whole, filed = [], []
    for _ in range(times):
        waiting = asyncio.create_task(agent.call("poll_tasks", agent_id="agent", wait_seconds=45))
        await asyncio.sleep(SETTLES)
        began = time.perf_counter()
        sent = asyncio.create_task(chief.call("create_task", agent_type="numbers", task_description="Return it"))
        sent.add_done_callback(lambda _, began=began: filed.append((time.perf_counter() - began) * 1000))
        (task,) = (await waiting)["result"]
        whole.append((time.perf_counter() - began) * 1000)
        await sent
        await agent.call("submit_result", task_id=task["task_id"], status="completed", result=1)
    pings = [await _ping(chief) for _ in range(PINGS)]
    spent = bench.cpu()
    await asyncio.sleep(IDLE_SECONDS)
    idle = (bench.cpu() - spent) / IDLE_SECONDS
    for each in held:
        each.cancel()
    for line in (*others, agent, chief):
        line.close()
    return Pushed(whole, filed, pings, idle, kib)


async def _settled(bench: Bench) -> None:
    """Until the server has taken all polls: it does nothing any more."""
    while True:
        spent = bench.cpu()
        await asyncio.sleep(SETTLED_SECONDS)
        if bench.cpu() - spent < SETTLED_SECONDS / 20:
            return


async def _ping(line: Line) -> float:
    await asyncio.sleep(PING_SECONDS)
    began = time.perf_counter()
    await line.call("health_check")
    return (time.perf_counter() - began) * 1000


async def _hold(line: Line, agent_id: str) -> None:
    while True:
        await line.call("poll_tasks", agent_id=agent_id, wait_seconds=45)


def _at(times: list[float], percent: int) -> float:
    return sorted(times)[min(len(times) - 1, len(times) * percent // 100)]


# --- rivals ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rival:
    """What is installed, what it needs, and how its worker is started (by a program of its environment)."""

    name: str
    packages: tuple[str, ...]
    needs: str
    worker: tuple[str, ...]
    ordinary: str


RIVALS = [
    Rival("celery", ("celery[redis]",), "redis", ("celery", "-A", "rival_celery", "worker", "-l", "ERROR"),
          "Redis broker and results, prefork, a process per core"),
    Rival("procrastinate", ("procrastinate",), "postgresql", ("python", "rival_procrastinate.py"),
          "PostgreSQL, one worker, one job at a time"),
    Rival("taskiq", ("taskiq", "taskiq-redis"), "redis",
          ("taskiq", "worker", "rival_taskiq:broker", "--log-level", "ERROR"),
          "Redis stream broker and results, two processes, jobs acknowledged"),
]  # fmt: skip


@dataclass(frozen=True)
class Figures:
    """Of each round; `idle`: milliseconds from enqueueing one job to its start, if there is nothing else to do."""

    rates: list[float]
    idle: list[float]

    @property
    def per_second(self) -> float:
        return statistics.median(self.rates)

    @property
    def idle_ms(self) -> float:
        return statistics.median(self.idle)


class Bell:
    """Every job rings it when it starts, with its number and the time: a datagram to a socket in the file system."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self._socket.bind(str(path))
        self.starts: dict[int, float] = {}
        self._news = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def wait(self, numbers: range, within: float = 40) -> float:
        """When the last of these was started."""
        with self._news:
            if not self._news.wait_for(lambda: all(number in self.starts for number in numbers), within):
                missing = sum(number not in self.starts for number in numbers)
                raise TimeoutError(f"{missing} of {len(numbers)} jobs were not done within {within:g} s")
        return max(self.starts[number] for number in numbers)

    def _listen(self) -> None:
        while True:
            number, at = struct.unpack("qd", self._socket.recv(16))
            with self._news:
                self.starts[number] = at
                if self._news._waiters and number >= 0:  # noqa: SLF001 - nobody is woken who does not wait
                    self._news.notify_all()


class Enqueuer:
    """Enqueues by number: the program in `rivals/` that is told `FROM TO` on stdin and answers when it began."""

    def __init__(self, words: list[str], environment: dict[str, str], directory: Path) -> None:
        self.process = subprocess.Popen(
            words, env=environment, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def enqueue(self, numbers: range) -> float:
        """When the first was about to be enqueued."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{numbers.start} {numbers.stop}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("it has ended")
        return float(answer)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


def compared(enqueue: Callable[[range], float], bell: Bell, jobs: int, rounds: int) -> Figures:
    place = 0

    def numbers(many: int) -> range:
        nonlocal place
        place += many
        return range(place - many, place)

    first = numbers(WARM_UP)
    enqueue(first)
    bell.wait(first)
    rates: list[float] = []
    idle: list[float] = []
    for _ in range(rounds):
        batch = numbers(jobs)
        began = enqueue(batch)
        rates.append(jobs / (bell.wait(batch) - began))
        waits = []
        for _ in range(20):
            one = numbers(1)
            time.sleep(SETTLES)
            began = enqueue(one)
            waits.append((bell.wait(one) - began) * 1000)
        idle.append(statistics.median(waits))
    return Figures(rates, idle)


def beside(rivals: list[Rival], cache: Path, postgresql: str | None, jobs: int, rounds: int) -> None:
    print(f"\nRivals: {jobs} jobs that return their number, {ENQUEUERS} enqueue at once, medians of {rounds} rounds")
    print(f"{'':<34}{'jobs/s':>9}{'idle ms':>9}   configuration", flush=True)
    found: dict[str, Figures] = {}
    with databases(postgresql) as kinds, contextlib.ExitStack() as running:
        redis, no_redis = _redis(running, rivals)
        for many in (1, 10):
            for kind, empty in kinds:
                with empty() as url, server(url) as at, tempfile.TemporaryDirectory() as scratch:
                    found[f"Toryo, {kind}, {many} a poll"] = _toryo(Bench.on(at), Path(scratch), many, jobs, rounds)
                    _print(found, f"2 QueueAgents, max_tasks {many}" + (", FULL" if kind == "SQLite" else ""))
        for rival in rivals:
            try:
                if rival.needs == "redis" and redis is None:
                    raise RuntimeError(no_redis)
                with tempfile.TemporaryDirectory() as scratch:
                    found[rival.name] = _rival(rival, cache, redis, dict(kinds), Path(scratch), jobs, rounds)
                _print(found, rival.ordinary)
            except Exception as problem:  # noqa: BLE001 - a rival that cannot be measured does not end the others
                print(f"{rival.name}: SKIPPED: {problem}", flush=True)
                for row, (_, other, _) in BESIDE.items():
                    if other == rival.name:
                        target_figures.not_measured(row, f"{rival.name}: {problem}")
    _ratios(found)


def _print(found: dict[str, Figures], ordinary: str) -> None:
    name, figures = list(found.items())[-1]
    print(f"{name:<34}{figures.per_second:>9,.0f}{figures.idle_ms:>9.1f}   {ordinary}", flush=True)


BESIDE = {
    "T10 celery": ("SQLite, 1 a poll", "celery", "rates"),
    "T10 celery batch": ("SQLite, 10 a poll", "celery", "rates"),
    "T10 procrastinate": ("PostgreSQL, 1 a poll", "procrastinate", "rates"),
    "T10 taskiq": ("SQLite, 1 a poll", "taskiq", "rates"),
    "T10 taskiq idle": ("SQLite, 1 a poll", "taskiq", "idle"),
}
"""Of each row of the targets: which of ours, beside whom, and which of the figures."""


def _ratios(found: dict[str, Figures]) -> None:
    ours = {name: each for name, each in found.items() if name.startswith("Toryo")}
    print("\njobs/s of Toryo by those of …, and its idle latency by theirs")
    print(f"{'':<16}" + "".join(f"{name.removeprefix('Toryo, '):>26}" for name in ours))
    for row, (own, other, what) in BESIDE.items():
        if f"Toryo, {own}" in found and other in found:
            both = (getattr(each, what) for each in (found[f"Toryo, {own}"], found[other]))
            for one, beside_it in zip(*both, strict=True):
                unit = "jobs/s" if what == "rates" else "ms"
                target_figures.note(row, one / beside_it, f"{one:,.4g} and {beside_it:,.4g} {unit}", beside_it)
    for name, each in found.items():
        if name not in ours:
            cells = (f"{o.per_second / each.per_second:.2f} x, {o.idle_ms / each.idle_ms:.2f} x" for o in ours.values())
            print(f"{name:<16}" + "".join(f"{cell:>26}" for cell in cells))


def _toryo(bench: Bench, scratch: Path, many: int, jobs: int, rounds: int) -> Figures:
    """As a user has it: the client for who files, two `QueueAgent` programs that serve."""
    bell = Bell(scratch / "bell")
    words = [sys.executable, str(HERE / "rivals" / "rival_toryo.py")]
    environment = {**os.environ, "BENCH_BELL": str(bell.path), "TORYO_SERVER_URL": bench.at.url}
    with contextlib.ExitStack() as running:
        for number in range(2):
            key = bench.key(f"agent-{number}", "numbers")
            settings = {"TORYO_API_KEY": key, "BENCH_AGENT": f"agent-{number}", "BENCH_MANY": str(many)}
            _started(running, [*words, "serve"], environment | settings, scratch)
        enqueuer = Enqueuer(words, environment | {"TORYO_API_KEY": bench.key("chief", "numbers")}, scratch)
        running.callback(enqueuer.close)
        return compared(enqueuer.enqueue, bell, jobs, rounds)


def _rival(
    rival: Rival, cache: Path, redis: str | None, kinds: dict[str, Any], scratch: Path, jobs: int, rounds: int
) -> Figures:
    binaries = installed(rival.name, rival.packages, cache)
    with contextlib.ExitStack() as running:
        url = ""
        if rival.needs == "redis":
            assert redis is not None
            url = redis
        elif rival.needs == "postgresql":
            if "PostgreSQL" not in kinds:
                raise RuntimeError("no --postgresql was given")
            url = running.enter_context(kinds["PostgreSQL"]())
        bell = Bell(scratch / "bell")
        environment = {**os.environ, "BENCH_BELL": str(bell.path), "BENCH_URL": url, "BENCH_FOLDER": str(scratch)}
        environment["PYTHONPATH"] = str(HERE / "rivals")
        program = f"rival_{rival.name.partition('-')[0]}.py"
        words = [str(binaries / "python"), str(HERE / "rivals" / program), "enqueue"]
        enqueuer = Enqueuer(words, environment, scratch)
        running.callback(enqueuer.close)
        first = rival.worker[1] if rival.worker[0] == "python" else None
        words = [str(binaries / rival.worker[0]), *([str(HERE / "rivals" / first)] if first else rival.worker[1:])]
        _started(running, words, environment, scratch)
        return compared(enqueuer.enqueue, bell, jobs, rounds)


def _started(running: contextlib.ExitStack, words: list[str], environment: dict[str, str], directory: Path) -> None:
    """A worker, in a group of its own, that ends with the measurement whatever it has started."""
    log = running.enter_context((directory / f"worker-{len(list(directory.iterdir()))}.log").open("w"))
    process = subprocess.Popen(
        words, env=environment, cwd=directory, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
    )

    def end() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()

    running.callback(end)


def installed(name: str, packages: tuple[str, ...], cache: Path) -> Path:
    """The programs of a rival's own environment, which is created now if it does not exist."""
    place = cache / name
    if not (place / "ready").exists():
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        words = [str(place / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *packages]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise RuntimeError(f"cannot be installed: {ran.stderr.strip()[-200:]}")
        (place / "ready").touch()
    return place / "bin"


def _redis(running: contextlib.ExitStack, rivals: list[Rival]) -> tuple[str | None, str]:
    """A Redis of this run's own as it comes, or why there is none."""
    if not any(rival.needs == "redis" for rival in rivals):
        return None, "no rival needs it"
    folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
    try:
        return running.enter_context(redis_server(folder, ())).url, ""
    except (pytest.skip.Exception, pytest.fail.Exception) as reason:
        return None, str(reason)


def rivals_named(words: str | None) -> list[Rival]:
    named = (words or "").split(",")
    return [each for each in RIVALS if words == "all" or each.name in named]


def default_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "toryo-benchmarks"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long one round of cycles lasts")
    parser.add_argument("--clients", default="1,16,64", help="how many do cycles at the same time")
    parser.add_argument("--pushes", type=int, default=200, help="in each round")
    parser.add_argument("--held", default=str(OTHERS), help="how many other polls are held: 100,4000,9500 for T8")
    parser.add_argument("--postgresql", help="URL of a database in which schemas may be made; default: SQLite alone")
    parser.add_argument("--rivals", help="all, or some: " + ", ".join(each.name for each in RIVALS))
    parser.add_argument("--cache", type=Path, default=default_cache(), help="where rivals are installed")
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--only", default="cycles,push,rivals")
    given = parser.parse_args()
    with databases(given.postgresql) as kinds:
        if "cycles" in given.only:
            cycles(kinds, given.rounds, given.seconds, [int(each) for each in given.clients.split(",")])
        if "push" in given.only:
            push(kinds, given.pushes, [int(each) for each in given.held.split(",")], given.rounds)
    if "rivals" in given.only and given.rivals:
        beside(rivals_named(given.rivals), given.cache, given.postgresql, given.jobs, given.rounds)


if __name__ == "__main__":
    main()

"""`make bench`: runs the benchmarks one after the other and writes the table of the targets (T1 to T16) and what each
printed into benchmarks/results.md, within 15 minutes on two cores.

Each runs for a short time; by itself it has options for longer ones. Figures come from `target_figures.note`. With
`--postgresql` (default: TORYO_TEST_POSTGRES) both databases are measured. What cannot run here is named, not left out.

    python benchmarks/report.py [--postgresql URL] [--only cycles,sweep] [--file benchmarks/results.md]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import orjson
import target_figures

HERE = Path(__file__).parent
LONGEST = 150
"""Seconds after which a benchmark is stopped."""


@dataclass(frozen=True)
class Bench:
    """A script, its options for a short run, and whether it takes `--postgresql`."""

    script: str
    options: tuple[str, ...] = ()
    databases: bool = False


BENCHES = (
    Bench("queue_cycles", ("--seconds", "1.5", "--rounds", "3"), databases=True),
    Bench("mcp_calls", ("--calls", "6000", "--rounds", "3")),
    Bench("queues", ("--rounds", "3", "--seconds", "1", "--pushes", "100"), databases=True),
    Bench("queues", ("--only", "rivals", "--rivals", "all", "--rounds", "2", "--jobs", "300"), databases=True),
    Bench("mcp_peers", ("--seconds", "3", "--rounds", "1")),
    Bench("sweep", ("--managers", "500")),
    Bench("growth", ("--times", "10")),
    Bench("browsers", ("--rounds", "2")),
    Bench("agents", ("--agents", "60", "--rounds", "1", "--trickle", "20")),
    Bench("tokens"),
    Bench("start_up"),
    Bench("dashboard", ("--rounds", "1")),
)


@dataclass(frozen=True)
class Target:
    """`most`: a figure must not be above the limit; otherwise it must not be below."""

    what: str
    limit: float
    unit: str
    most: bool = False


TARGETS = {
    "T1 1": Target("queue cycles in process, SQLite, 1 caller", 0.6, "x bare sqlite3"),
    "T1 8": Target("the same, 8 callers", 2.0, "x bare sqlite3"),
    "T1 64": Target("the same, 64 callers", 3.0, "x bare sqlite3"),
    "T2 64": Target("queue cycles in process, PostgreSQL, 64 callers", 2000, "per s"),
    "T2 256": Target("the same, 256 callers", 2500, "per s"),
    "T2 two servers, one queue": Target("two servers on one database, nothing lost", 1.3, "x one server"),
    "T3 no-op": Target("health_check over MCP", 1.7, "x raw ASGI", most=True),
    "T3 next action": Target("get_next_action over MCP", 250, "us of CPU", most=True),
    "T3 write": Target("a durable write over MCP (save_progress)", 200, "us of CPU", most=True),
    "T4 SQLite": Target("queue cycle over MCP, SQLite, 64 clients", 14, "x raw ASGI", most=True),
    "T4 PostgreSQL": Target("queue cycle over MCP, PostgreSQL, 64 clients", 14, "x raw ASGI", most=True),
    "T4 PostgreSQL rate": Target("the same, cycles per second", 1000, "per s"),
    "T5 p50, SQLite": Target("create_task to the answered poll, p50, SQLite", 1.5, "ms", most=True),
    "T5 p99, SQLite": Target("the same, p99", 8, "ms", most=True),
    "T5 p50, PostgreSQL": Target("create_task to the answered poll, p50, PostgreSQL", 1.5, "ms", most=True),
    "T5 p99, PostgreSQL": Target("the same, p99", 8, "ms", most=True),
    "T6 cold": Target("first sweep over 500 waiting managers", 100, "ms", most=True),
    "T6 warm": Target("the same, warm", 8, "ms", most=True),
    "T7 cycle": Target("cycle, many tasks against few", 1.1, "x", most=True),
    "T7 next action": Target("next action, many tasks against few", 1.1, "x", most=True),
    "T7 reads": Target("the slowest read of a person with many tasks", 50, "ms", most=True),
    "T9 sh": Target("starts per second, burst of `sh`", 600, "per s"),
    "T9 command": Target("starts per second, burst of `command`", 200, "per s"),
    "T10 celery": Target("jobs per second, one task a call, SQLite, by Celery's", 1.2, "x"),
    "T10 celery batch": Target("jobs per second, ten a poll, SQLite, by Celery's", 3.0, "x"),
    "T10 procrastinate": Target("jobs per second, PostgreSQL, by Procrastinate's", 3.0, "x"),
    "T10 pgqueuer": Target("jobs per second, PostgreSQL, by PgQueuer's", 1.0, "x"),
    "T10 taskiq": Target("jobs per second, one task a call, SQLite, by taskiq's", 1.0, "x"),
    "T11 writes": Target("writes over MCP, by mcp-agent-mail's", 500, "x"),
    "T11 reads": Target("reads over MCP, by mcp-agent-mail's", 20, "x"),
    "T12 worker": Target("tools/list of a worker", 1500, "tokens", most=True),
    "T12 manager": Target("tools/list of a manager", 2000, "tokens", most=True),
    "T12 chat": Target("tools/list of a chat session", 1300, "tokens", most=True),
    "T12 calls": Target("calls of a worker for a task without subtasks", 4, "calls", most=True),
    "T13 help": Target("toryo --help", 120, "ms", most=True),
    "T13 server": Target("toryo server until ready, CPU", 0.7, "s", most=True),
    "T15": Target("a browser and an event, with its board's delta", 100, "us of CPU", most=True),
    "T16 board": Target("scripts of the first view, gzip: board", 150, "kB", most=True),
    "T16 home": Target("the same, overview", 150, "kB", most=True),
    "T16 list": Target("the same, list", 150, "kB", most=True),
    "T16 frame": Target("the frame is seen, slow connection", 1, "s", most=True),
    "T16 slow board": Target("the board is there, slow connection", 5, "s", most=True),
    "T16 tabs": Target("connections of many tabs of one browser", 6, "connections", most=True),
    "T16 event": Target("an event to the changed card, p95, board of 5,000", 200, "ms", most=True),
    "T16 graph": Target("a graph of 5,000 tasks is ready", 1_000, "ms", most=True),
    "T16 long tasks": Target("tasks of the main thread over 100 ms, seven views of 5,000", 0, "tasks", most=True),
}


@dataclass(frozen=True)
class Figure:
    value: float
    told: str
    floor: float | None


def run(bench: Bench, postgresql: str | None, file: Path) -> str:
    """What the benchmark printed; its figures are in `file`."""
    words = [sys.executable, str(HERE / f"{bench.script}.py"), *bench.options]
    if bench.databases and postgresql:
        words += ["--postgresql", postgresql]
    environment = {**os.environ, target_figures.FILE: str(file)}
    try:
        ran = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired as late:
        shown = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        return f"{shown.strip()}\nStopped after {LONGEST} s."
    failed = f"\nFailed with exit code {ran.returncode}:\n{ran.stderr.strip()[-400:]}" if ran.returncode else ""
    return ran.stdout.strip() + failed


def read(file: Path) -> dict[str, Figure]:
    if not file.exists():
        return {}
    notes = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    return {note["row"]: Figure(note["value"], note["told"], note["floor"]) for note in notes}


def table(found: dict[str, Figure]) -> Iterable[str]:
    yield "| | what | figure | target | | floor of the run |"
    yield "|---|---|---|---|---|---|"
    for row, target in TARGETS.items():
        figure = found.get(row)
        sign = "≤" if target.most else "≥"
        wanted = f"{sign} {target.limit:,g} {target.unit}"
        if figure is None:
            yield f"| {row.split()[0]} | {target.what} | not measured | {wanted} | | |"
            continue
        reached = figure.value <= target.limit if target.most else figure.value >= target.limit
        ratio = target.limit / figure.value if target.most else figure.value / target.limit
        verdict = "reached" if reached else f"missed: {ratio:.2f} of it"
        told = f" ({figure.told})" if figure.told else ""
        floor = "" if figure.floor is None else f"{figure.floor:,.1f}"
        measured = f"{figure.value:,.4g} {target.unit}{told}"
        yield f"| {row.split()[0]} | {target.what} | {measured} | {wanted} | {verdict} | {floor} |"
    for row, figure in found.items():
        if row not in TARGETS:
            yield f"| {row.split()[0]} | {row.partition(' ')[2]} | {figure.value:,.4g} {figure.told} | | | |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--postgresql", default=os.environ.get("TORYO_TEST_POSTGRES"))
    parser.add_argument("--only", help="some of the scripts, with commas")
    parser.add_argument("--file", type=Path, default=HERE / "results.md")
    given = parser.parse_args()
    wanted = given.only.split(",") if given.only else {bench.script for bench in BENCHES}
    parts, began = [], time.monotonic()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        notes = Path(scratch) / "figures.jsonl"
        for bench in BENCHES:
            if bench.script not in wanted:
                continue
            command = " ".join(["python", f"benchmarks/{bench.script}.py", *bench.options])
            print(f"== {command}", flush=True)
            printed = run(bench, given.postgresql, notes)
            print(printed, flush=True)
            parts.append(f"## `{command}`\n\n```text\n{printed}\n```\n")
        found = read(notes)
    minutes = (time.monotonic() - began) / 60
    head = (
        "# Results of `make bench`\n\n"
        f"Written by benchmarks/report.py on {time.strftime('%Y-%m-%d')}, in {minutes:.0f} minutes, on "
        f"{os.cpu_count()} cores with a load of {load:.1f} at the start. Rates depend on the machine; trust ratios "
        "within one run, and CPU per call.\n\n"
    )
    given.file.write_text(head + "\n".join(table(found)) + "\n\n" + "\n".join(parts), encoding="utf-8")
    print(f"Wrote {given.file}")


if __name__ == "__main__":
    main()

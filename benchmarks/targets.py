"""What `make bench` is to reach: one row for each target, with the figure that counts, and what it is relative to.

Limits stand here and nowhere else. Ratios are to a floor or a rival that was measured in the same round, because rates
and microseconds differ by half from one machine to the next. Without `of` a figure is absolute. Targets that no
benchmark of `make bench` measures: T8 (`queues.py --held 9500`) and T14, the statements, which tests assert.
"""

from __future__ import annotations

from dataclasses import dataclass

POSTGRESQL, CHROMIUM = "PostgreSQL", "Chromium"


@dataclass(frozen=True)
class Target:
    what: str
    limit: float
    unit: str
    most: bool
    """It must not be above the limit; otherwise not below."""
    of: str
    needs: str

    @property
    def wanted(self) -> str:
        return f"{'≤' if self.most else '≥'} {self.limit:,g} {self.unit}"

    def reached_by(self, value: float) -> bool:
        return value <= self.limit if self.most else value >= self.limit


def _most(what: str, limit: float, unit: str = "x", of: str = "", needs: str = "") -> Target:
    return Target(what, limit, unit, most=True, of=of, needs=needs)


def _least(what: str, limit: float, unit: str = "x", of: str = "", needs: str = "") -> Target:
    return Target(what, limit, unit, most=False, of=of, needs=needs)


SQLITE3, PSYCOPG = "bare sqlite3, one at a time", "bare psycopg, one at a time"
RAW = "a raw ASGI call"
IMPORTS = "the CPU of importing starlette, uvicorn, sqlalchemy, pydantic, pydantic_settings"
MAIL = "mcp-agent-mail"

TARGETS = {
    "T1 1": _least("queue cycles in process, SQLite, 1 caller", 0.3, of=SQLITE3),
    "T1 8": _least("the same, 8 callers", 2, of=SQLITE3),
    "T1 64": _least("the same, 64 callers", 1.5, of=SQLITE3),
    "T1 20 projects": _least("the same, 64 callers in 20 projects", 0.95, of="one project"),
    "T2 1": _least("queue cycles in process, PostgreSQL, 1 caller", 0.3, of=PSYCOPG, needs=POSTGRESQL),
    "T2 64": _least("the same, 64 callers", 2, of=PSYCOPG, needs=POSTGRESQL),
    "T2 256": _least("the same, 256 callers", 2.5, of=PSYCOPG, needs=POSTGRESQL),
    "T2 20 projects": _least("the same, 64 callers in 20 projects", 0.95, of="one project", needs=POSTGRESQL),
    "T2 two servers": _least("two servers, one queue, nothing lost", 1.3, of="one server", needs=POSTGRESQL),
    "T3 no-op": _most("health_check over MCP, CPU", 1.7, of=RAW),
    "T3 next action": _most("get_next_action over MCP, CPU", 7.5, of=RAW),
    "T3 write": _most("a durable write over MCP (save_progress), CPU", 6, of=RAW),
    "T4 SQLite": _most("queue cycle over MCP, SQLite, 64 clients, CPU", 20, of=RAW),
    "T4 PostgreSQL": _most("queue cycle over MCP, PostgreSQL, 64 clients, CPU", 20, of=RAW, needs=POSTGRESQL),
    "T5 p50, SQLite": _most("create_task to the answered poll, p50, SQLite", 1.5, "ms"),
    "T5 p99, SQLite": _most("the same, p99", 8, "ms"),
    "T5 p50, PostgreSQL": _most("create_task to the answered poll, p50, PostgreSQL", 4, "ms", needs=POSTGRESQL),
    "T5 p99, PostgreSQL": _most("the same, p99", 20, "ms", needs=POSTGRESQL),
    "T6 cold": _most("first sweep over 500 waiting managers", 100, "ms"),
    "T6 warm": _most("the same, warm", 8, "ms"),
    "T7 cycle": _most("cycle with 100 k tasks", 1.1, of="with 10 k"),
    "T7 next action": _most("next action with 100 k tasks", 1.1, of="with 10 k"),
    "T7 reads": _most("the slowest read of a person with 100 k tasks", 50, "ms"),
    "T9 sh": _least("starts per second, burst of `sh`", 600, "per s"),
    "T9 command": _least("starts per second, burst of `command`", 200, "per s"),
    "T10 celery": _least("jobs per second, one task a call, SQLite", 1.2, of="Celery"),
    "T10 celery batch": _least("jobs per second, ten a poll, SQLite", 3, of="Celery"),
    "T10 procrastinate": _least("jobs per second, PostgreSQL", 3, of="Procrastinate", needs=POSTGRESQL),
    "T10 taskiq": _least("jobs per second, one task a call, SQLite", 1, of="taskiq"),
    "T10 taskiq idle": _most("from enqueueing to the start, nothing else to do, SQLite", 1, of="taskiq"),
    "T11 writes": _least("writes over MCP", 500, of=MAIL),
    "T11 reads": _least("reads over MCP", 20, of=MAIL),
    "T12 worker": _most("tools/list of a worker", 1500, "tokens"),
    "T12 manager": _most("tools/list of a manager", 2000, "tokens"),
    "T12 chat": _most("tools/list of a chat session", 1300, "tokens"),
    "T12 calls": _most("calls of a worker for a task without subtasks", 4, "calls"),
    "T12 subtask calls": _most("calls of a worker for a task with 3 subtasks", 11, "calls"),
    "T12 chain": _most("calls of a manager for each of six subtasks in a chain", 5, "calls"),
    "T13 help": _most("toryo --help", 120, "ms"),
    "T13 server": _most("toryo server until ready, a new database, CPU", 2, of=IMPORTS),
    "T13 settled": _most("toryo server until settled, CPU", 2, of=IMPORTS),
    "T15": _most("a browser and an event, with its board's delta", 100, "us of CPU"),
    "T16 board": _most("scripts of the first view, gzip: board", 150, "kB", needs=CHROMIUM),
    "T16 home": _most("the same, overview", 150, "kB", needs=CHROMIUM),
    "T16 list": _most("the same, list", 150, "kB", needs=CHROMIUM),
    "T16 frame": _most("the frame is seen, slow connection", 1, "s", needs=CHROMIUM),
    "T16 slow board": _most("the board is there, slow connection", 5, "s", needs=CHROMIUM),
    "T16 tabs": _most("connections of many tabs of one browser", 6, "connections", needs=CHROMIUM),
    "T16 event": _most("an event to the changed card, p95, board of 5,000", 200, "ms", needs=CHROMIUM),
    "T16 graph": _most("a graph of 5,000 tasks is ready", 1000, "ms", needs=CHROMIUM),
    "T16 long tasks": _most("tasks of the main thread over 100 ms, seven views of 5,000", 0, "tasks", needs=CHROMIUM),
    "T18": _most("twelve tasks in four chains, from the file to the last merge", 1.5, of="a shell loop"),
    "T18 idle": _most("launches of these without work", 0, "launches"),
}

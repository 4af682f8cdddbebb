"""Everything goes wrong for ten minutes: `python -m tests.soak --minutes 10 [--postgres]` (`make soak`).

20 agents (a manager, nine workers and ten queue agents) work off 200 tasks and more while servers, Coordinators and
agents are killed, services are away, people step in, and a stranger calls with nonsense. Without `--postgres` it is one
server on SQLite with one Coordinator; with it, two servers and three Coordinators on a PostgreSQL and a Redis of the
soak's own, which are killed and stand still too. Then it is calm, and all must be completed and every rule hold.

Servers are killed in the first half only. In the second half, memory and open files of the servers are sampled and must
not grow: accepted connections, connections to the database and all others are counted separately. The figures are
written to build/reliability/soak.json (with `--postgres`: soak-postgres.json); exits 1 if anything was broken. `--seed`
says what happens when.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from urllib.request import urlopen

from tests.open_handles import ACCEPTED, DATABASE, OTHER, open_handles
from tests.postgres_server import PostgreSQLServer, postgres_server
from tests.redis_server import RedisServer, redis_server
from tests.scenarios.programs import Program
from tests.scenarios.queues import Queue, insist
from tests.scenarios.sites import Site
from tests.scenarios.stories import NO_BLAME, PARTS, PROJECT, Stories, rules_broken
from toryo.client import Client, RefusalError, Unreachable

RESULTS = Path("build") / "reliability"
HANDS, POLLERS = 9, 10
"""With the lead: 20 agents."""
STORIES, QUEUE_TASKS = 12, 140
"""At least: 200 tasks. The storm goes on filing while it lasts."""
CALM_WITHIN = 600.0
PAUSES = 0.1
LONGEST_LULL, LONGEST_OUTAGE = 3.0, 5.0
KILLED = "server killed"
MOST_DATABASE = {"sqlite": 2 * (1 + 8 + 8) + 2, "postgresql": 8 + 4 + 1 + 2}
"""Handles of a server, made on demand. SQLite: two for each connection (one that writes, at most 8 and 8 that read),
and shared memory and a lock. PostgreSQL: at most 8 connections that write, 4 that read, the watch's and the bus's.
"""
MEMORY_ROOM = 0.05
"""Python gives memory back by whole arenas, and SQLite's page caches (up to 16 MiB for each connection that reads, 64
for the one that writes) fill while the data grows; so do psycopg's prepared statements (up to 500 for
each connection), after every outage of PostgreSQL anew.
"""
NONSENSE = ("", "{", "[]", '{"jsonrpc": "2.0"}', "\x00" * 2000, '{"jsonrpc":"2.0","id":1,"method":"tools/call"}')


class Sample(NamedTuple):
    """Of all servers together, in the second half."""

    at: float
    """Seconds since the begin."""
    memory: int
    """KiB."""
    accepted: int
    database: int
    other: int


class Soak:
    """One storm over its sites; `postgres` and `redis` are None on SQLite."""

    def __init__(
        self, sites: list[Site], chance: random.Random, postgres: PostgreSQLServer | None, redis: RedisServer | None
    ) -> None:
        self.sites, self.chance, self.postgres, self.redis = sites, chance, postgres, redis
        self.counts: Counter[str] = Counter()
        self.samples: list[Sample] = []
        self.calls: dict[int, int] = {}
        """Answered so far, by each life of a server (its process id), when it was last sampled."""
        self.stories = Stories(sites[0], workers=HANDS, at_once=3)
        for number in range(3 if postgres else 1):
            sites[number % len(sites)].coordinator(f"coordinator-{number}", max_concurrent=8)
        self.queue = Queue(*sites, seed=chance.randrange(1000))
        self.queue.start(POLLERS)

    @property
    def coordinators(self) -> list[Program]:
        return [each for site in self.sites for each in site.coordinators]

    def rage(self, seconds: float) -> None:
        """For so long, and until there were so many tasks as promised."""
        began = time.monotonic()
        faults = self._faults()
        while (gone := time.monotonic() - began) < seconds or len(self.stories.told) < STORIES:
            if gone >= seconds / 2:
                faults = [each for each in faults if each[0] != KILLED]
                self.sample(gone)
            self.stories.keep_busy()
            wanted = int(QUEUE_TASKS * gone / seconds) - len(self.queue.filed)
            self.queue.file(min(10, max(1, wanted)))
            self._strangers_call()
            self._people_step_in()
            kind, happens = self.chance.choice(faults)
            self.counts[kind] += 1
            happens()
            self._lull(self.chance.uniform(0, LONGEST_LULL))
            self._count_calls()
        self.queue.file(max(0, QUEUE_TASKS - len(self.queue.filed)))

    def calm_down(self) -> None:
        self.stories.calm_down(CALM_WITHIN)
        self.queue.until_completed(CALM_WITHIN)

    def broken(self) -> list[str]:
        """Everything that must not be. Work of queues that was done twice is none of it: a result is kept once."""
        return [
            *self.stories.promises_broken(),
            *self.queue.promises_broken(),
            *rules_broken(self.sites[0].database),
            *grown(self.samples, len(self.sites) * MOST_DATABASE["postgresql" if self.postgres else "sqlite"]),
        ]

    def sample(self, at: float) -> None:
        pids = [site.server.pid for site in self.sites]
        database = {self.postgres.port} if self.postgres else set()
        handles = sum((open_handles(pid, database) for pid in pids), Counter())
        memory = sum(_memory(pid) for pid in pids)
        self.samples.append(Sample(at, memory, handles[ACCEPTED], handles[DATABASE], handles[OTHER]))

    def _count_calls(self) -> None:
        for site in self.sites:
            with urlopen(f"{site.url}/metrics", timeout=60) as answer:
                lines = answer.read().decode().splitlines()
            told = [line for line in lines if line.startswith("toryo_calls_total{")]
            self.calls[site.server.pid] = int(sum(float(line.rpartition(" ")[2]) for line in told))

    def _faults(self) -> list[tuple[str, Callable[[], None]]]:
        agents = [("agent killed", self._kill_an_agent)] * 4 + [("queue agent killed", self._kill_a_poller)] * 3
        programs = [("Coordinator killed", self._kill_a_coordinator)] * 2 + [(KILLED, self._kill_a_server)]
        away: list[tuple[str, Callable[[], None]]] = []
        if self.postgres is not None and self.redis is not None:
            away = [
                ("PostgreSQL killed", lambda: self._away(self.postgres.kill, self.postgres.start)),  # type: ignore[union-attr]
                ("PostgreSQL hung", lambda: self._away(self.postgres.freeze, self.postgres.thaw)),  # type: ignore[union-attr]
                ("Redis killed", lambda: self._away(self.redis.stop, self.redis.start)),  # type: ignore[union-attr]
                ("Redis hung", lambda: self._away(self.redis.freeze, self.redis.thaw)),  # type: ignore[union-attr]
            ]
        return [*agents, *programs, *away]

    def _kill_an_agent(self) -> None:
        running = [agent for site in self.sites for agent in site.agents()]
        if running:
            self.chance.choice(running).kill()

    def _kill_a_poller(self) -> None:
        self.queue.kill_one()

    def _kill_a_coordinator(self) -> None:
        victim = self.chance.choice(self.coordinators)
        victim.kill()
        victim.start().says("connected to")

    def _kill_a_server(self) -> None:
        victim = self.chance.choice(self.sites)
        victim.server.kill()
        victim.serve()

    def _away(self, stop: Callable[[], None], start: Callable[[], None]) -> None:
        stop()
        self._lull(self.chance.uniform(1, LONGEST_OUTAGE), looking=False)
        start()
        self.counts["outages"] += 1

    def _people_step_in(self) -> None:
        """A person renames a hand, or now and then pauses the project for a moment: neither changes the outcome."""
        people = [site.people for site in self.sites]
        hand = self.chance.randrange(HANDS)
        insist(people, "rest", "PATCH", f"/agents/hand-{hand}", {"name": f"Hand {self.chance.randrange(1000)}"})
        self.counts["people's acts"] += 1
        if self.chance.random() < PAUSES:
            for what in ("pause", "resume"):
                self._insist_on(f"/projects/{PROJECT}/{what}")
            self.counts["people's acts"] += 2

    def _insist_on(self, path: str) -> None:
        """A second try may find it done."""
        with suppress(RefusalError):
            insist([site.people for site in self.sites], "rest", "POST", path, {})

    def _strangers_call(self) -> None:
        with Client(self.sites[-1].url, "tat_stranger") as stranger:
            for path in ("/tasks/tsk_1/move", "/../../etc/passwd", "/agents/%00/why"):
                try:
                    stranger.rest("POST", path, self.chance.choice(NONSENSE))
                except (RefusalError, Unreachable):
                    self.counts["refused strangers"] += 1
                except Exception as problem:  # noqa: BLE001 - an answer that is none of the API's, as a 404 page
                    self.counts[f"answered strangers with {type(problem).__name__}"] += 1

    def _lull(self, seconds: float, *, looking: bool = True) -> None:
        over = time.monotonic() + seconds
        while (left := over - time.monotonic()) > 0:
            if looking:
                self.stories.site.history.read(wait_seconds=1)
            else:
                self.queue.journal.until_news(left)


def _memory(pid: int) -> int:
    """KiB in RAM."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def grown(samples: list[Sample], most_database: int) -> list[str]:
    """What is more in every late sample than it was in any early one, and more connections to the database than there
    may be.
    """
    early, late = _thirds(samples)
    found = [
        f"{name} grow: {sorted({getattr(each, name) for each in early})} became "
        f"{sorted({getattr(each, name) for each in late})}"
        for name, room in (("memory", 1 + MEMORY_ROOM), ("accepted", 1), ("other", 1))
        if min(getattr(each, name) for each in late) > room * max(getattr(each, name) for each in early)
    ]
    most = max(each.database for each in samples)
    return [*found, *([f"{most} handles of the database, not {most_database}"] if most > most_database else [])]


def _thirds(samples: list[Sample]) -> tuple[list[Sample], list[Sample]]:
    """The first and the last."""
    third = max(1, len(samples) // 3)
    return samples[:third], samples[-third:]


def figures(soak: Soak, minutes: float, broken: list[str], command: str) -> dict[str, Any]:
    killed = {kind: times for kind, times in soak.counts.items() if kind.endswith("killed")}
    early, late = _thirds(soak.samples)
    return {
        "command": command,
        "date": datetime.now(UTC).date().isoformat(),
        "minutes": minutes,
        "tasks": len(soak.stories.told) * (1 + len(PARTS)) + len(soak.queue.filed),
        "kills": sum(killed.values()),
        "outages": soak.counts["outages"] + killed.get(KILLED, 0),
        "calls": sum(soak.calls.values()),
        "broken_invariants": len(broken),
        **{
            f"{name}_{when}": round(median(getattr(each, name) for each in samples))
            for name in Sample._fields[1:]
            for when, samples in (("first", early), ("last", late))
        },
        "samples": len(soak.samples),
        "slopes_per_minute": {
            name: round(slope([(each.at, getattr(each, name)) for each in soak.samples]) * 60, 2)
            for name in Sample._fields[1:]
        },
        "most": {name: max(getattr(each, name) for each in soak.samples) for name in Sample._fields[1:]},
        "by_kind": dict(sorted(soak.counts.items())),
        "broken": broken[:20],
    }


def slope(points: list[tuple[float, float]]) -> float:
    """Of the line nearest to these points (least squares); 0 if all are at one time."""
    middle_x, middle_y = (sum(each[axis] for each in points) / len(points) for axis in (0, 1))
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / spread if spread else 0.0


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long the storm lasts (10)")
    parser.add_argument("--postgres", action="store_true", help="2 servers, 3 Coordinators, PostgreSQL and Redis")
    parser.add_argument("--seed", type=int, default=17, help="of what is left to chance")
    asked = parser.parse_args(argv)
    command = " ".join(["python -m tests.soak", *(argv if argv is not None else sys.argv[1:])])
    with ExitStack() as standing:
        directory = Path(standing.enter_context(tempfile.TemporaryDirectory(prefix="toryo_soak_")))
        settings: dict[str, Any] = {**NO_BLAME, "TORYO_METRICS": "true"}
        postgres = redis = database = None
        if asked.postgres:
            postgres = standing.enter_context(postgres_server())
            redis = standing.enter_context(redis_server(directory))
            database, settings = postgres.url, {**settings, "TORYO_REDIS_URL": redis.url}
        names = ("", "-2") if asked.postgres else ("",)
        sites = [standing.enter_context(Site(directory, database=database, name=name, **settings)) for name in names]
        soak = Soak(sites, random.Random(asked.seed), postgres, redis)
        standing.enter_context(soak.queue)
        soak.rage(asked.minutes * 60)
        soak.calm_down()
        broken = soak.broken()
        found = figures(soak, asked.minutes, broken, command)
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=2, ensure_ascii=False)
    (RESULTS / ("soak-postgres.json" if asked.postgres else "soak.json")).write_text(f"{text}\n")
    sys.stdout.write(f"{text}\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

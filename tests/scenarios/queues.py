"""A queue under load: who files, agents that poll in processes of their own, and what all of them have seen.

What agents write down at once (`pollers.py`) is read here by a thread; everything else is told by events. What a queue
promises about both is asked in `promises_broken`.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

from tests.environments import clean_environment
from tests.scenarios import pollers
from tests.scenarios.programs import Program
from tests.scenarios.sites import Site
from toryo.client import Client, RefusalError, Unreachable

TYPE = "milling"
PROJECT = "mill"
LEASE_SECONDS = 5
"""So soon a killed agent's tasks are free again (after a rest of 5 s or more)."""
ATTEMPTS = 20
WORK_SECONDS = 0.02
EVERY_TENTH = 10
"""Depends on the two before it."""
PAUSE_SECONDS = 0.2

Line = dict[str, Any]


class Journal:
    """What the agents write down, in the order in which it came."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[Line] = []
        self._news = threading.Condition()
        os.mkfifo(path)
        self._held = os.open(path, os.O_RDWR)
        threading.Thread(target=self._read, daemon=True).start()

    def of(self, what: str, *, since: int = 0) -> list[Line]:
        return [line for line in self.lines[since:] if line["what"] == what]

    def until_news(self, within: float) -> None:
        """Something more is written, or the time is over."""
        with self._news:
            self._news.wait(within)

    def until(self, what: str, many: int, within: float = 200.0, since: int = 0) -> None:
        """So many lines of this kind. Fails where they do not come."""
        with self._news:
            came = self._news.wait_for(lambda: len(self.of(what, since=since)) >= many, within)
        assert came, f"{len(self.of(what, since=since))} {what!r} within {within:g} s, not {many}"

    def until_more(self, what: str, many: int, within: float = 200.0) -> None:
        """So many more than there are now."""
        self.until(what, many, within, len(self.lines))

    def catch_up(self) -> None:
        """Returns when what has been written so far is read."""
        marks = len(self.of("mark"))
        os.write(self._held, b'{"what": "mark", "agent_id": ""}\n')
        self.until("mark", marks + 1)

    def close(self) -> None:
        os.write(self._held, b"\n")

    def _read(self) -> None:
        with os.fdopen(self._held, "r", encoding="utf-8") as pipe:
            while line := pipe.readline().strip():
                with self._news:
                    self.lines.append(json.loads(line))
                    self._news.notify_all()


class Queue:
    """`with Queue(site, …) as queue:` has an orchestrator's key; agents come with `queue.start(…)`."""

    def __init__(self, *sites: Site, seed: int = 17) -> None:
        self.sites = sites
        self.site = sites[0]
        self.directory = self.site.directory
        self.chance = random.Random(seed)
        self.journal = Journal(self.directory / "journal")
        self.agents: list[Program] = []
        self.filed: list[str] = []
        self.killed: Counter[str] = Counter()
        self.frozen: Program | None = None
        self._since: dict[str, int] = {}
        """Of agents that were killed: where in the journal their present life begins."""
        self._ids = (f"agent-{number}" for number in itertools.count(1))
        self.site.project(PROJECT)
        self.chief = self.key("chief", orchestrator=True)
        self._filing: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for agent in self.agents:
            if agent.alive:
                agent.kill()
        if self._filing is not None:
            self._filing.join(200)
        self.journal.close()

    # --- agents ---------------------------------------------------------------------------------------------------

    def key(self, agent_id: str, **more: Any) -> str:
        body = {"agent_id": agent_id, **more}
        token: str = insist(self._people(), "rest", "POST", f"/projects/{PROJECT}/keys", body)["token"]
        return token

    def start(self, many: int) -> None:
        """So many more agents, each with the servers in an order of its own."""
        for agent_id in itertools.islice(self._ids, many):
            turned = len(self.agents) % len(self.sites)
            settings = {
                "urls": [site.url for site in self.sites[turned:] + self.sites[:turned]],
                "key": self.key(agent_id, types=[TYPE]),
                "agent_id": agent_id,
                "agent_type": TYPE,
                "journal": str(self.journal.path),
                "work_seconds": WORK_SECONDS,
            }
            command = [sys.executable, str(Path(pollers.__file__).resolve())]
            environment = clean_environment(self.directory)
            made = Program(agent_id, [json.dumps(settings)], environment, self.directory, command=command)
            self.agents.append(made.start())

    def kill_one(self) -> None:
        """Some agent at work; in its place comes itself again, or another one."""
        busy = self._busy()
        alive = [agent for agent in self.agents if agent.alive and agent is not self.frozen]
        victim = self.chance.choice([program for program in alive if program.name in busy] or alive)
        victim.kill()
        self.journal.catch_up()
        self._since[victim.name] = len(self.journal.lines)
        if self.chance.random() < 0.5:
            self.killed["itself again"] += 1
            victim.start()
        else:
            self.killed["replaced"] += 1
            self.start(1)

    def freeze_one(self) -> Program:
        """Some agent that holds several tasks stands still, as a machine does that sleeps; nobody kills it."""
        for program in itertools.islice(itertools.cycle(self.agents), 1_000):
            if program.alive and program.name in self._busy(2):
                os.kill(program.pid, signal.SIGSTOP)
                self.journal.catch_up()
                if program.name in self._busy(2):
                    self.frozen = program
                    return program
                os.kill(program.pid, signal.SIGCONT)
            self.journal.until_news(1)
        raise AssertionError("nobody holds several tasks")

    def thaw(self) -> None:
        assert self.frozen is not None, "it was frozen"
        os.kill(self.frozen.pid, signal.SIGCONT)
        self.frozen = None

    def _busy(self, least: int = 1) -> set[str]:
        """Agents that have taken so many more in this life than they were rid of, as far as they have written it."""
        left: Counter[str] = Counter()
        for number, line in enumerate(self.journal.lines):
            if number >= self._since.get(line["agent_id"], 0):
                left[line["agent_id"]] += {"took": 1, "holds": 1, "kept": -1, "refused": -1}.get(line["what"], 0)
        return {agent_id for agent_id, many in left.items() if many >= least}

    # --- the orchestrator ------------------------------------------------------------------------------------------

    def file(self, many: int, *sites: Site) -> None:
        """Files so many tasks, now here, now there (or at these sites); every tenth depends on the two before it."""
        ways = [Client(site.url, self.chief) for site in sites or self.sites]
        for number in range(len(self.filed), len(self.filed) + many):
            depends_on = self.filed[-2:] if number % EVERY_TENTH == EVERY_TENTH - 1 else []
            made = insist(
                ways[number % len(ways) :] + ways[: number % len(ways)],
                "call",
                "create_task",
                agent_type=TYPE,
                task_description=f"Grind {number}",
                dependencies=depends_on,
                timeout_seconds=LEASE_SECONDS,
                max_attempts=ATTEMPTS,
                idempotency_key=f"number {number}",
            )
            self.filed.append(made["task_id"])

    def file_meanwhile(self, many: int) -> None:
        """The same beside everything else."""
        self._filing = threading.Thread(target=self.file, args=(many,), daemon=True)
        self._filing.start()

    def all_filed(self) -> None:
        assert self._filing is not None, "it was begun"
        self._filing.join(200)
        assert not self._filing.is_alive(), f"only {len(self.filed)} tasks could be filed"

    # --- what has become of it -------------------------------------------------------------------------------------

    def until_completed(self, within: float) -> None:
        """Every task that was filed is completed."""
        self.site.until(
            "every task is completed", lambda: len(self.completed()) == len(self.filed) and bool(self.filed), within
        )

    def completed(self) -> set[str]:
        return {each["task_id"] for each in self.site.history.of("task.completed", project_id=PROJECT)}

    def promises_broken(self) -> list[str]:
        """Everything that a queue must not do and that has happened; asked when all is done."""
        self.site.history.read()
        self.journal.catch_up()
        return [
            *self._broken_by_events(),
            *self._broken_by_results(),
            *(f"lost event {each}" for each in self.site.history.lost()),
            *(f"{server.name}: {line}" for server in self._servers() for line in server.lines if "call_failed" in line),
            *(f"{agent.name}: {line}" for agent in self.agents for line in agent.lines if "Traceback" in line),
        ]

    def _broken_by_events(self) -> Iterator[str]:
        history = self.site.history
        done = Counter(each["task_id"] for each in history.of("task.completed", project_id=PROJECT))
        claims, losses = _attempts(history.of("claim.taken")), _attempts(history.of("claim.lost"))
        for task_id in self.filed:
            attempts = [attempt for attempt, _ in claims[task_id]]
            if done[task_id] != 1:
                yield f"{task_id} was completed {done[task_id]} times"
            if attempts != list(range(1, len(attempts) + 1)):
                yield f"{task_id} was claimed for attempts {attempts}"
            if losses[task_id] != claims[task_id][:-1]:
                yield f"{task_id} was claimed {claims[task_id]} and lost {losses[task_id]}"
        if extra := set(done) - set(self.filed):
            yield f"nobody has filed {extra}"

    def _broken_by_results(self) -> Iterator[str]:
        claims = _attempts(self.site.history.of("claim.taken"))
        late = _attempts(self.site.history.of("claim.late_result"))
        by_task = _by_task(self.journal.lines)
        for task_id, task in self._final().items():
            lines = by_task.get(task_id, [])
            kept = {(line["attempt"], line["result"]) for line in lines if line["what"] == "kept"}
            done = {(line["attempt"], line["result"]) for line in lines if line["what"] == "did"}
            stands = (task["attempt"], task["result"])
            if stands not in done:
                yield f"{task_id} has a result that nobody has handed in: {stands}"
            if kept - {stands}:
                yield f"{task_id}: {kept} were acknowledged, {stands} stands"
            if task["attempt"] != len(claims[task_id]):
                yield f"{task_id} is in attempt {task['attempt']} after {len(claims[task_id])} claims"
            for line in lines:
                if (line["attempt"], line["agent_id"]) not in claims[task_id]:
                    yield f"{task_id} was in other hands than its claims say: {line}"
                if line["what"] == "refused" and not _rightly(line, stands, late[task_id]):
                    yield f"{task_id}: a result was refused, {stands} stands: {line}"

    def _final(self) -> dict[str, Line]:
        with Client(self.site.url, self.chief) as client:
            return {each: client.call("get_task_status", task_id=each)["task"] for each in self.filed}

    def figures(self) -> str:
        """For who looks."""
        history, lines = self.site.history, self.journal.lines
        claimed, did = len(history.of("claim.taken")), self.journal.of("did")
        twice = len(did) - len({each["task_id"] for each in did})
        times = [line["at"] for line in lines if "at" in line]
        away = Counter(each["code"] for each in self.journal.of("away"))
        return (
            f"{len(self.filed)} tasks in {times[-1] - times[0]:.1f} s, {len(self.agents)} agents, "
            f"killed {dict(self.killed)}: {claimed} claims, {len(history.of('claim.lost'))} lost, "
            f"{twice} times work done again, {len(self.journal.of('refused'))} results refused as late, "
            f"{len(history.of('claim.late_result'))} kept as events; agents found servers away {dict(away)}"
        )

    def _servers(self) -> list[Program]:
        return [site.server for site in self.sites]

    def _people(self) -> list[Client]:
        return [site.people for site in self.sites]


def insist(ways: Iterable[Client], how: str, /, *arguments: Any, **named: Any) -> dict[str, Any]:
    """The answer of a call that may be made twice, from whichever server answers; a real no is raised."""
    for way in itertools.islice(itertools.cycle(ways), 600):
        try:
            answer: dict[str, Any] = getattr(way, how)(*arguments, **named)
        except Unreachable:
            pass
        except RefusalError as no:
            if no.code != "unavailable":
                raise
        else:
            return answer
        time.sleep(PAUSE_SECONDS)  # as every client does
    raise AssertionError(f"nobody answers {arguments}")


def _rightly(refused: Line, stands: tuple[int, str], late: list[tuple[int, str]]) -> bool:
    """It was late and is kept as an event; or what stands came from an earlier life in the same attempt."""
    if refused["code"] == "conflict":
        return stands[0] == int(refused["attempt"]) and stands[1] != str(refused["result"])
    return refused["code"] == "notNow" and (refused["attempt"], refused["agent_id"]) in late


def _attempts(events: list[Line]) -> defaultdict[str, list[tuple[int, str]]]:
    """Of each task, the attempts that these events are about, with their agents."""
    told: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for event in events:
        told[event["task_id"]].append((event["data"]["attempt"], event["agent_id"]))
    return told


def _by_task(lines: list[Line]) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    for line in lines:
        if "task_id" in line:
            found.setdefault(line["task_id"], []).append(line)
    return found

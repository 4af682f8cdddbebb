"""Queue calls that are carried out together do what each would do by itself, and what is not plain is left to that.

Histories left to chance (TORYO_TEST_SEEDS says how many) are run twice: once with all calls of a step at the same time,
once one after the other without batches, in the order that the batch answers for. Rows, events, answers, refusals and
hints must be the same, but for ids.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from tests.databases import empty
from tests.invariants import hold
from tests.operations.test_queue import key
from tests.stories import Answer, World, hold_to_promise, seeds
from toryo.domain.errors import Code
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.observers import Observed
from toryo.operations.queue import batched
from toryo.settings import AuthSettings, Settings
from toryo.storage import schema
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.events import Events
from toryo.storage.queue_batches import QueueBatches
from toryo.storage.transaction import Transaction

pytestmark = pytest.mark.both

QUEUES = ["alpha", "beta"]
AGENTS = ["one", "two", "three", "four"]
GROUPS = {
    "create_task": "create",
    "create_queue_tasks": "create",
    "submit_result": "submit",
    "submit_results": "submit",
}
SECONDS = 100
WITHOUT_WAITING = 8
"""Seconds: less than PostgreSQL waits for a lock."""
NUMBERS_OF_EVENTS = ("stalled_event", "look_event", "left_event")
_ID = re.compile(r"\b(?:tsk|evt|key|prj|agt)_[0-9a-z]{19}\b|\b[0-9a-f]{32}\b|\b[0-9a-f]{64}\b")


class Counting:
    """Ids in the order in which they are made, so that what was filed first comes first."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, bits: int) -> int:
        self.made += 1
        return self.made << max(0, bits - 40)


@dataclass
class Asked:
    """One call of a step. A task stands in `arguments` as the name of the call that filed it."""

    who: str
    tool: str
    arguments: Answer
    may_wait: bool = False


@dataclass
class Seen:
    """What a call was answered, and what observers heard of it; names in place of ids."""

    answer: Any
    refused: bool
    later: Any
    events: Any


@dataclass
class Told:
    """A world with a few queues, and the names of what was filed in it."""

    world: World
    keys: dict[str, str] = field(default_factory=dict)
    projects: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    observed: list[Observed] = field(default_factory=list)

    @classmethod
    def on(cls, database: Database, *, together: bool) -> Told:
        empty(database)
        told = cls(World(database, Settings(auth=AuthSettings(key_calls_per_minute=60)), tick=0))
        world = told.world
        object.__setattr__(world.dispatcher.context, "entropy", Counting())
        world.dispatcher.observers = (told.observed.append,)
        if not together:
            world.dispatcher.lines.of = lambda _: None  # type: ignore[method-assign, assignment]
        for number in (1, 2):
            project = world.project(name=f"P{number}", project_id=f"p{number}")
            world.project_id = project
            told.projects.append(project)
            told.keys[f"chief{number}"] = key(world, f"chief{number}", orchestrator=True).bearer or ""
            told.keys[f"nobody{number}"] = key(world, orchestrator=True).bearer or ""
            for name in AGENTS:
                agent = f"{name}{number}"
                told.keys[agent] = key(world, agent, orchestrator=name == "one").bearer or ""
                given = {"agent_id": agent, "agent_type": QUEUES[AGENTS.index(name) % 2]}
                told.world.perform("register_agent", given, Credentials(bearer=told.keys[agent]))
            world.owner.call("edit_agent", agent_id=f"four{number}", max_parallel_tasks=2)
        told.keys["late1"] = key(world, "late1").bearer or ""
        told.observed.clear()
        world.hints.clear()
        return told

    def name(self, name: str, task_id: str) -> None:
        self.names[task_id], self.ids[name] = name, task_id

    def given(self, arguments: Answer) -> Answer:
        """The arguments with ids in place of names."""
        found = dict(arguments)
        for field_name in ("task_id", "parent_task_id"):
            if field_name in found:
                found[field_name] = self.ids.get(found[field_name], "tsk_0000000000000000000")
        for several in ("tasks", "results"):
            if several in found:
                found[several] = [self.given(each) for each in found[several]]
        if "dependencies" in found:
            found["dependencies"] = [self.ids.get(each, "tsk_0000000000000000000") for each in found["dependencies"]]
        return found

    def plain(self, value: Any) -> Any:
        """The same with names in place of ids, and without random texts."""
        text = orjson.dumps(value, default=lambda each: sorted(each) if isinstance(each, frozenset) else repr(each))
        return orjson.loads(_ID.sub(lambda found: self.names.get(found[0], "(made)"), text.decode()))

    def seen(self, name: str, outcome: Outcome, events: Any) -> Seen:
        hold_to_promise("", outcome) if outcome.operation is None else hold_to_promise(outcome.operation.name, outcome)
        result = outcome.result or {}
        if not outcome.refused and outcome.operation is not None and outcome.operation.name == "create_task":
            self.name(self.names.get(result["task_id"], name), result["task_id"])
        if not outcome.refused and outcome.operation is not None and outcome.operation.name == "create_queue_tasks":
            for place, task_id in enumerate(result["task_ids"]):
                self.name(self.names.get(task_id, f"{name}.{place}"), task_id)
        later = outcome.later and (sorted(outcome.later.topics), outcome.later.at)
        return Seen(self.plain(result), outcome.refused, later, self.plain(events))

    def hints(self) -> set[str]:
        found = {each for some in self.world.hints for each in self.plain(sorted(some))}
        self.world.hints.clear()
        return found

    def rows(self) -> dict[str, list[Any]]:
        found = self.world.rows(
            schema.tasks, schema.claims, schema.dependencies, schema.presences, schema.batches, schema.sessions
        )
        return {table: sorted((self.plain(row) for row in rows), key=repr) for table, rows in found.items()}

    @staticmethod
    def differing(table: str, one: list[Any], other: list[Any]) -> dict[str, tuple[Any, Any]]:
        """The columns of a row that differ."""
        names = [column.name for column in schema.metadata.tables[table].columns]
        both = zip(names, one, other, strict=True)
        return {name: (a, b) for name, a, b in both if a != b and name not in NUMBERS_OF_EVENTS}

    def events(self) -> dict[str, list[Any]]:
        """By task, else by agent, in order."""
        found: dict[str, list[Any]] = defaultdict(list)
        for row in self.world.database.read(lambda connection: connection.all(_EVENTS)):
            each = self.plain(list(row))
            found[str(each[0] or each[1])].append(each)
        return dict(found)


_e = schema.events
_EVENTS = Statement(
    sa.select(
        _e.c.task_id, _e.c.agent_id, _e.c.kind, _e.c.at, _e.c.actor_id, _e.c.by_person, _e.c.fact, _e.c.project_id,
        _e.c.root_id, _e.c.session_id, _e.c.launch_id, _e.c.correlation_id, _e.c.data,
    ).order_by(_e.c.sequence)
)  # fmt: skip
_LIVE = Statement(
    sa.select(schema.claims.c.task_id, schema.claims.c.agent_id).where(schema.claims.c.ended_at.is_(None))
)
_STATUS = Statement(sa.select(schema.tasks.c.id, schema.tasks.c.status))


# --- histories -------------------------------------------------------------------------------------------------------


class Chance:
    """What happens next in a history."""

    def __init__(self, seed: int, told: Told) -> None:
        self.dice = random.Random(seed)
        self.told = told
        self.keys_used = 0

    def person(self) -> tuple[str, Answer]:
        """Something that a person does, or that time does (an empty name)."""
        tasks = sorted(self.told.ids)
        some = self.dice.choice(tasks) if tasks else "none"
        project = self.dice.choice(self.told.projects)
        agent = self.dice.choice(AGENTS) + project[-1]
        found: list[tuple[str, Answer]] = [
            ("", {"seconds": self.dice.choice([1, 4, 11, 30, 95])}),
            ("", {"seconds": self.dice.choice([2, 6, 700, 2000])}),
            ("pause_project", {"project_id": project}),
            ("resume_project", {"project_id": project}),
            ("resume_project", {"project_id": project}),
            ("move_task", {"task_id": some, "status": "blocked", "reason": "wait"}),
            ("move_task", {"task_id": some, "status": "todo"}),
            ("cancel_task", {"task_id": some, "reason": "not needed"}),
            ("requeue_task", {"task_id": some}),
            ("edit_task", {"task_id": some, "assignee_id": agent}),
            ("edit_task", {"task_id": some, "acceptance": [{"file": "a.txt"}]}),
            ("file_task", {"project_id": project, "title": "Below", "parent_task_id": some, "status": "todo"}),
            ("deactivate_agent", {"agent_id": agent}),
            ("activate_agent", {"agent_id": agent}),
            ("activate_agent", {"agent_id": agent}),
            ("remove_member", {"project_id": project, "agent_id": agent}),
            ("add_member", {"project_id": project, "agent_id": agent}),
            ("edit_project", {"project_id": project, "settings": {"approvals": "all"}}),
            ("edit_project", {"project_id": project, "settings": {"approvals": "requests"}}),
            ("edit_project", {"project_id": project, "settings": {"approvals": "requests"}}),
            ("housekeep", {}),
        ]
        return self.dice.choice(found)

    def batch(self) -> list[Asked]:
        claimed = [
            (self.told.names[task], agent)
            for task, agent in self.told.world.database.read(lambda connection: connection.all(_LIVE))
            if task in self.told.names
        ]
        claimed.sort()
        self.dice.shuffle(claimed)
        kinds = self.dice.choices(["create", "poll", "submit", "many"], [3, 3, 3, 1], k=self.dice.randint(1, 14))
        make = {"create": self._create, "poll": self._poll}
        return [
            make[kind]() if kind in make else self._many(claimed) if kind == "many" else self._submit(claimed)
            for kind in kinds
        ]

    def _many(self, claimed: list[tuple[str, str]]) -> Asked:
        """Several tasks or results in one call."""
        if self._rarely(2):
            several = [self._create() for _ in range(self.dice.randint(1, 3))]
            tasks = [dict(each.arguments) for each in several]
            keys = [key for each in tasks if (key := each.pop("idempotency_key", None)) is not None]
            more = {"idempotency_key": keys[0]} if keys else {}
            return Asked(several[0].who, "create_queue_tasks", {"tasks": tasks, **more})
        first = self._submit(claimed)
        if first.tool != "submit_result":
            return first
        others = [name for name, agent in claimed if agent == first.who][: self.dice.randint(0, 2)]
        claimed[:] = [each for each in claimed if each[0] not in others]
        results = [first.arguments, *({"task_id": each, "status": "completed"} for each in others)]
        for each in results:
            each.pop("agent_id", None)
        return Asked(first.who, "submit_results", {"results": results})

    def _create(self) -> Asked:
        number = self.dice.choice("12")
        own = sorted(self.told.ids)
        arguments: Answer = {
            "agent_type": self.dice.choice([*QUEUES, *QUEUES, "gamma"]),
            "task_description": self.dice.choice(["Do it\nwell", "  Plan", "x" * 400]),
            "priority": self.dice.choice(["low", "medium", "high", "critical", "urgent"]),
        }
        if self._rarely(3):
            arguments["context"] = self.dice.choice([{"n": 1}, [1, None], "text", {"command": "ls"}])
        if self._rarely(3) and own:
            arguments["dependencies"] = self.dice.choices(own, k=self.dice.randint(1, 2))
        if self._rarely(4):
            arguments["correlation_id"] = f"req-{self.dice.randint(1, 3)}"
        if self._rarely(3):
            arguments["timeout_seconds"] = self.dice.choice([1, 60])
        if self._rarely(2):
            arguments["max_attempts"] = self.dice.randint(1, 2)
        if self._rarely(4):
            self.keys_used += 1
            arguments["idempotency_key"] = f"k{self.dice.randint(max(0, self.keys_used - 3), self.keys_used)}"
        if self._rarely(8) and own:
            arguments["parent_task_id"] = self.dice.choice(own)
        if self._rarely(15):
            arguments["priority"] = "at once"
        who = self.dice.choice(["chief", "chief", "chief", "nobody", "one", "two"])
        return Asked(f"{who}{number}", "create_task", arguments)

    def _poll(self) -> Asked:
        agent = self.dice.choice(AGENTS) + self.dice.choice("12")
        if self._rarely(12):
            agent = "late1"
        arguments: Answer = {"agent_id": agent if not self._rarely(15) else "one1"}
        if self._rarely(2):
            arguments["max_tasks"] = self.dice.choice([1, 2, 3, 50])
        waits = self._rarely(3)
        if waits:
            arguments["wait_seconds"] = 5
        return Asked(agent, "poll_tasks", arguments, may_wait=waits)

    def _submit(self, claimed: list[tuple[str, str]]) -> Asked:
        if not claimed:
            return self._create()
        task, agent = claimed.pop() if not self._rarely(6) else self.dice.choice(claimed)
        if self._rarely(12):
            agent = self.dice.choice(AGENTS) + agent[-1]
        arguments: Answer = {"task_id": task, "status": self.dice.choice(["completed", "completed", "failed"])}
        if arguments["status"] == "failed":
            arguments["retryable"] = self.dice.choice([True, True, False])
            if self._rarely(2):
                arguments["error"] = "It broke"
        else:
            arguments["result"] = self.dice.choice([None, {"a": [1]}, "done", 0])
        if self._rarely(5):
            arguments["attempt"] = self.dice.choice([1, 2])
        if self._rarely(5):
            arguments["agent_id"] = agent
        return Asked(agent, "submit_result", arguments)

    def _rarely(self, one_in: int) -> bool:
        return self.dice.randrange(one_in) == 0


@dataclass
class Step:
    """What was done, and what was seen of it."""

    person: tuple[str, Answer] | None = None
    calls: list[Asked] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    together: int = 0
    seen: dict[int, Seen] = field(default_factory=dict)
    hints: set[str] = field(default_factory=set)
    left: dict[str, str] = field(default_factory=dict)


def step_in(told: Told, what: tuple[str, Answer]) -> None:
    name, arguments = what
    if name == "":
        told.world.advance(arguments["seconds"])
    elif name == "housekeep":
        told.world.housekeep()
    else:
        outcome = told.world.owner.ask(name, **told.given(arguments))
        if name == "file_task" and not outcome.refused and outcome.result is not None:
            told.name(f"filed {len(told.ids)}", outcome.result["task_id"])
    told.world.hints.clear()
    told.observed.clear()


def credentials(told: Told, number: int, asked: Asked) -> Credentials:
    """`remote` says which call of the step it is."""
    return Credentials(bearer=told.keys[asked.who], remote=str(number))


def carried_out_together(told: Told, step: Step, place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls of a step at once. Notes in which order that was as good as one after the other."""
    answered: dict[str, list[int]] = defaultdict(list)
    real = batched.QueueLine.carry_out

    def noting(line: batched.QueueLine, connection: Connection, batch: Any) -> Any:
        answers, adopted = real(line, connection, batch)
        answered.clear()
        for asked, answer in zip(batch.asked, answers, strict=True):
            if answer is not None:
                answered[GROUPS.get(asked.operation.name, "poll")].append(int(asked.credentials.remote))
        return answers, adopted

    async def all_at_once() -> list[Outcome]:
        return await asyncio.gather(
            *(
                told.world.dispatcher.perform_async(
                    asked.tool, told.given(asked.arguments), credentials(told, number, asked), may_wait=asked.may_wait
                )
                for number, asked in enumerate(step.calls)
            )
        )

    with monkeypatch.context() as patched:
        patched.setattr(batched.QueueLine, "carry_out", noting)
        outcomes = asyncio.run(all_at_once())
    first = [*answered["create"], *answered["submit"], *answered["poll"]]
    step.together = len(first)
    step.order = first + [number for number in range(len(step.calls)) if number not in first]
    note(told, step, place, dict(enumerate(outcomes)))


def carried_out_alone(told: Told, step: Step, place: int) -> Step:
    mine = replace(step, seen={}, hints=set())
    outcomes = {}
    for number in step.order:
        asked = step.calls[number]
        outcomes[number] = told.world.dispatcher.perform(
            asked.tool, told.given(asked.arguments), credentials(told, number, asked), may_wait=asked.may_wait
        )
    note(told, mine, place, outcomes)
    return mine


def note(told: Told, step: Step, place: int, outcomes: dict[int, Outcome]) -> None:
    events: dict[Any, list[Any]] = defaultdict(list)
    for heard in told.observed:
        events[heard.operation, heard.outcome].append([each.kind for each in heard.events])
    told.observed.clear()
    for number in step.order:
        outcome = outcomes[number]
        step.seen[number] = told.seen(f"call {place}.{number}", outcome, None)
    step.hints = told.hints()
    step.left = {"observed": repr({key: sorted(kinds) for key, kinds in sorted(events.items())})}


def history(told: Told, seed: int, length: int, monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    chance, steps = Chance(seed, told), []
    for place in range(length):
        step = Step()
        if chance.dice.random() < 0.35:
            step.person = chance.person()
            step_in(told, step.person)
        else:
            step.calls = chance.batch()
            carried_out_together(told, step, place, monkeypatch)
        told.world.advance(0.001 * chance.dice.randint(1, 50))
        step.left["now"] = str(told.world.now)
        steps.append(step)
    return steps


def again_one_by_one(told: Told, steps: Sequence[Step]) -> Iterator[Step]:
    for place, step in enumerate(steps):
        if step.person is not None:
            step_in(told, step.person)
            yield step
        else:
            yield carried_out_alone(told, step, place)
        told.world.now = int(step.left["now"])


def compared(together: Step, alone: Step) -> None:
    for number, seen in together.seen.items():
        other = alone.seen[number]
        assert (other.refused, other.later) == (seen.refused, seen.later), together.calls[number]
        differing = {name for name in {*seen.answer, *other.answer} if seen.answer.get(name) != other.answer.get(name)}
        assert {name: (seen.answer.get(name), other.answer.get(name)) for name in differing} == {}
    assert alone.left["observed"] == together.left["observed"]
    assert together.hints <= alone.hints
    # Nobody is woken for what was handed out in the same commit.
    assert all(each.startswith("queue:") for each in alone.hints - together.hints)


@pytest.mark.parametrize("seed", seeds(1, 4))
def test_calls_of_a_batch_do_what_each_would_do_by_itself(
    fresh: Database, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told.on(fresh, together=True)
    steps = history(told, seed, 40, monkeypatch)
    rows, events = told.rows(), told.events()
    hold(told.world)
    assert sum(step.together for step in steps) > 50, "most calls are plain"
    alone = Told.on(fresh, together=False)
    for step, other in zip(steps, again_one_by_one(alone, steps), strict=True):
        if step.calls:
            compared(step, other)
    for table, wanted in alone.rows().items():
        differing = (told.differing(table, *pair) for pair in zip(rows[table], wanted, strict=True))
        assert [each for each in differing if each] == [], table
    assert alone.events() == events


# --- many at once ----------------------------------------------------------------------------------------------------


@dataclass
class Crowd:
    """Agents that file, poll and submit, each with a key of its own."""

    world: World
    keys: dict[str, Credentials]

    @classmethod
    def of(cls, world: World, agents: int, projects: int = 1) -> Crowd:
        names = [world.project(name=f"P{number}") for number in range(projects)]
        found = {}
        for number in range(agents):
            world.project_id = names[number % projects]
            agent = key(world, f"a{number}", orchestrator=True)
            agent.call("register_agent", agent_id=f"a{number}", agent_type="numbers")
            found[f"a{number}"] = agent.credentials
        return cls(world, found)

    def at_once(self, tool: str, **arguments: Any) -> list[Answer]:
        """Each agent calls it, all at the same time; an argument that is a list has one value for each."""
        return asyncio.run(self._all(tool, arguments))

    async def _all(self, tool: str, arguments: Answer) -> list[Answer]:
        outcomes = await asyncio.gather(
            *(
                self.call(agent, tool, **{name: self._one(value, place) for name, value in arguments.items()})
                for place, agent in enumerate(self.keys)
            )
        )
        return list(outcomes)

    @staticmethod
    def _one(value: Any, place: int) -> Any:
        return value[place] if isinstance(value, list) else value

    async def call(self, agent: str, tool: str, **arguments: Any) -> Answer:
        outcome = await self.world.dispatcher.perform_async(tool, arguments, self.keys[agent])
        hold_to_promise(tool, outcome)
        assert not outcome.refused and outcome.result is not None, outcome.result
        return outcome.result

    def cycle(self) -> None:
        self.at_once("create_task", agent_type="numbers", task_description="Return it")
        got = self.at_once("poll_tasks", agent_id=list(self.keys))
        assert all(len(each["result"]) == 1 for each in got)
        self.at_once("submit_result", task_id=[each["result"][0]["task_id"] for each in got], status="completed")


@pytest.fixture
def statements(fresh: Database, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that the database is sent, BEGIN, COMMIT and locks too."""
    kind: Any = fresh.read(type)
    ran: list[str] = []

    def noting(name: str) -> Any:
        real = getattr(kind, name)

        def run(self: Any, *given: Any, **more: Any) -> Any:
            ran.append(repr(given[0]))
            return real(self, *given, **more)

        return run

    for name in ("all", "one", "run", "many", "command"):
        monkeypatch.setattr(kind, name, noting(name))
    return ran


@pytest.mark.parametrize("projects", [1, 20])
def test_a_cycle_of_64_callers_is_half_a_statement_however_many_projects_there_are(
    fresh: Database, statements: list[str], projects: int
) -> None:
    crowd = Crowd.of(World(fresh), 64, projects)
    crowd.cycle()
    statements.clear()
    crowd.cycle()
    assert len(statements) <= 32, statements


def test_a_lone_caller_needs_no_more_statements_than_without_batches(fresh: Database, statements: list[str]) -> None:
    crowd = Crowd.of(World(fresh), 1)
    crowd.cycle()
    statements.clear()
    crowd.cycle()
    together = len(statements)
    crowd.world.dispatcher.lines.of = lambda _: None  # type: ignore[method-assign, assignment]
    statements.clear()
    crowd.cycle()
    assert together <= 35 and together < len(statements)


def test_callers_of_every_kind_at_once_claim_each_task_once(fresh: Database) -> None:
    """Each agent files, polls and submits at its own pace, so that batches hold calls of every kind."""
    world = World(fresh)
    crowd = Crowd.of(world, 12, projects=2)
    claimed: list[str] = []

    async def serve(agent: str) -> None:
        for number in range(6):
            await crowd.call(agent, "create_task", agent_type="numbers", task_description=f"{agent} {number}")
            got = await crowd.call(agent, "poll_tasks", agent_id=agent, max_tasks=1 + number % 3)
            claimed.extend(each["task_id"] for each in got["result"])
            for each in got["result"]:
                await crowd.call(agent, "submit_result", task_id=each["task_id"], status="completed", result=number)

    async def all_of_them() -> None:
        await asyncio.gather(*(serve(agent) for agent in crowd.keys))

    asyncio.run(all_of_them())
    assert len(claimed) == len(set(claimed)) == 72
    assert {row[7] for row in world.rows(schema.tasks)["tasks"]} == {"completed"}
    hold(world)


@pytest.mark.parametrize("undone", [False, True])
def test_calls_of_one_key_at_the_same_time_count_once_each_even_if_their_batch_is_undone(
    fresh: Database, monkeypatch: pytest.MonkeyPatch, undone: bool
) -> None:
    world = World(fresh, Settings(auth=AuthSettings(key_calls_per_minute=20)))
    crowd = Crowd.of(world, 1)  # whose registration is the first call
    real, broken = QueueBatches.add_tasks, list[int]()

    def failing(rows: Any, tasks: Sequence[Any]) -> None:
        real(rows, tasks)
        if undone and not broken:
            broken.append(len(tasks))
            rows._connection.run(Statement(sa.insert(schema.claims).values(task_id="none", attempt=1)))

    async def at_once(count: int) -> list[Outcome]:
        create = {"agent_type": "numbers", "task_description": "Return it"}
        return await asyncio.gather(
            *(world.dispatcher.perform_async("create_task", create, crowd.keys["a0"]) for _ in range(count))
        )

    monkeypatch.setattr(QueueBatches, "add_tasks", failing)
    assert not any(each.refused for each in asyncio.run(at_once(10)))
    assert bool(broken) is undone
    refused = [each.result for each in asyncio.run(at_once(20)) if each.refused]
    assert [each and each["error"] for each in refused] == [Code.RATE_LIMITED] * 11
    assert len(world.rows(schema.tasks)["tasks"]) == 19


@pytest.mark.parametrize(
    ("writer", "fails"),
    [(QueueBatches, name) for name in ("add_tasks", "start", "add_claims", "end_claims")] + [(Events, "flush")],
)
def test_a_batch_with_a_failing_statement_is_undone_and_each_of_its_calls_gets_its_own_answer(
    fresh: Database, monkeypatch: pytest.MonkeyPatch, writer: type[Any], fails: str
) -> None:
    world = World(fresh)
    crowd = Crowd.of(world, 5)
    crowd.at_once("create_task", agent_type="numbers", task_description="First")
    (held, *_) = crowd.at_once("poll_tasks", agent_id=list(crowd.keys))
    real, broken = getattr(writer, fails), list[str]()

    def failing(rows: Any, *values: Sequence[Any]) -> None:
        real(rows, *values)
        if not broken and all(values):
            broken.append(fails)
            rows._connection.run(Statement(sa.insert(schema.claims).values(task_id="none", attempt=1)))

    async def at_once() -> tuple[Outcome, ...]:
        perform, keys = world.dispatcher.perform_async, crowd.keys
        (mine,) = held["result"]
        return await asyncio.gather(
            perform("create_task", {"agent_type": "numbers", "task_description": "Second"}, keys["a1"]),
            perform("create_task", {"agent_type": "numbers", "task_description": " "}, keys["a2"]),
            perform("submit_result", {"task_id": mine["task_id"], "status": "completed", "result": 1}, keys["a0"]),
            perform("submit_result", {"task_id": mine["task_id"], "status": "completed"}, keys["a4"]),
            perform("poll_tasks", {"agent_id": "a3"}, keys["a3"]),
        )

    with monkeypatch.context() as patched:
        patched.setattr(writer, fails, failing)
        created, invalid, submitted, foreign, polled = asyncio.run(at_once())
    assert broken
    assert [each.refused for each in (created, invalid, submitted, foreign, polled)] == [
        False,
        True,
        False,
        True,
        False,
    ]
    assert created.result is not None and polled.result is not None
    assert [each["task_id"] for each in polled.result["result"]] == [created.result["task_id"]]
    assert len(world.rows(schema.tasks)["tasks"]) == 6
    hold(world)


def test_many_tasks_and_many_results_of_one_call_cost_no_more_statements_than_one(
    fresh: Database, statements: list[str]
) -> None:
    crowd = Crowd.of(World(fresh), 1)
    crowd.cycle()
    statements.clear()
    tasks = [{"agent_type": "numbers", "task_description": f"No. {number}"} for number in range(40)]
    (made,) = crowd.at_once("create_queue_tasks", tasks=[tasks], idempotency_key="forty")
    (got,) = crowd.at_once("poll_tasks", agent_id="a0", max_tasks=40)
    assert [each["task_id"] for each in got["result"]] == made["task_ids"], "in the order in which they were named"
    results = [{"task_id": each, "status": "completed", "result": each} for each in made["task_ids"]]
    (submitted,) = crowd.at_once("submit_results", results=[results])
    assert all(each["accepted"] for each in submitted["results"])
    assert len(statements) <= 35
    (again,) = crowd.at_once("create_queue_tasks", tasks=[tasks], idempotency_key="forty")
    assert again["task_ids"] == made["task_ids"]
    (repeated,) = crowd.at_once("submit_results", results=[results])
    assert repeated == submitted


def test_of_many_results_the_refused_ones_change_nothing_and_the_others_are_kept(world: World) -> None:
    world.project()
    crowd = Crowd.of(world, 2)
    crowd.at_once("create_task", agent_type="numbers", task_description="Return it")
    mine, foreign = (each["result"][0]["task_id"] for each in crowd.at_once("poll_tasks", agent_id=["a0", "a1"]))
    results = [{"task_id": each, "status": "completed"} for each in (foreign, mine, "tsk_none")]
    answer = world.perform("submit_results", {"results": results}, crowd.keys["a0"]).result
    assert answer is not None
    assert [(each["accepted"], each.get("error")) for each in answer["results"]] == [
        (False, "permissionDenied"),
        (True, None),
        (False, "taskNotFound"),
    ]
    assert (world.status(mine), world.status(foreign)) == ("completed", "in_progress")


def test_of_many_tasks_none_is_created_if_one_is_refused(world: World) -> None:
    world.project()
    crowd = Crowd.of(world, 1)
    task = {"agent_type": "numbers", "task_description": "Return it"}
    asked = {"tasks": [task, {**task, "dependencies": ["tsk_none"]}], "idempotency_key": "k"}
    refused = world.perform("create_queue_tasks", asked, crowd.keys["a0"])
    assert refused.refused and refused.result is not None
    assert (refused.result["error"], refused.result["place"]) == ("taskNotFound", 1)
    assert world.rows(schema.tasks)["tasks"] == []
    assert world.perform("create_queue_tasks", {**asked, "tasks": [task]}, crowd.keys["a0"]).refused is False


def test_the_same_idempotency_key_at_the_same_time_creates_one_task(fresh: Database) -> None:
    world = World(fresh)
    crowd = Crowd.of(world, 1)

    async def at_once() -> list[Answer]:
        asked = {"agent_type": "numbers", "task_description": "Once", "idempotency_key": "k"}
        return list(await asyncio.gather(*(crowd.call("a0", "create_task", **asked) for _ in range(5))))

    answers = asyncio.run(at_once())
    assert len({each["task_id"] for each in answers}) == 1 == len(world.rows(schema.tasks)["tasks"])


@pytest.mark.postgresql
def test_a_project_that_somebody_has_locked_does_not_delay_the_calls_of_others(kept_postgresql: Database) -> None:
    """The call that waits is answered by itself, as soon as it can be."""
    told = Told.on(kept_postgresql, together=True)
    held, release = Event(), Event()

    def stands_still(connection: Connection) -> None:
        Transaction(connection).lock_project("p1")
        held.set()
        release.wait(SECONDS)

    async def story() -> None:
        holding = asyncio.create_task(told.world.database.write_async(stands_still))
        assert await asyncio.to_thread(held.wait, SECONDS)
        asked = {"agent_type": "alpha", "task_description": "Do it"}
        here, there = (
            asyncio.create_task(
                told.world.dispatcher.perform_async("create_task", asked, Credentials(bearer=told.keys[chief]))
            )
            for chief in ("chief1", "chief2")
        )
        try:
            assert not (await asyncio.wait_for(there, WITHOUT_WAITING)).refused
            assert not here.done()
        finally:
            release.set()
        assert not (await here).refused
        await holding

    asyncio.run(story())

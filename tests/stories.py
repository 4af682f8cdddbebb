"""The story kit: a world with people, Coordinators and agents' processes on one dispatcher, in process, on one clock.

Every call goes the whole path of `Dispatcher.perform`, and every answer is held to its promise on the way: a success
answers the operation's output schema, a refusal has its four keys. What agents do by themselves stands in
`tests/obedience.py`, what must never be broken in `tests/invariants.py`.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from itertools import compress
from typing import Any
from unittest.mock import patch

import orjson
import pytest
import sqlalchemy as sa
import structlog
from jsonschema_rs import Draft202012Validator

from tests.process_costs import for_others_too
from toryo.domain.errors import Code
from toryo.domain.times import SECOND, iso
from toryo.housekeeping.runner import CHORES
from toryo.operations.calls import call_log
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation, catalogue
from toryo.operations.calls.credential_verification import digest
from toryo.operations.calls.dispatch import Dispatcher, Outcome
from toryo.operations.overview import event_feed
from toryo.operations.people.credential_revocation import bootstrap
from toryo.settings import Settings
from toryo.storage import schema
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.transaction import Transaction

catalogue()  # read now: otherwise the test that comes first would pay for it

Answer = dict[str, Any]

STARTED_AT = 1_800_000_000_000
COORDINATOR_TOKEN, OWNER_TOKEN = "tct_coordinator", "tpt_owner"
_CODES = frozenset(code.value for code in Code)
_USUAL = Settings()
_STANDARD = ("success", "error", "message", "instruction")


class Refused(AssertionError):
    """A call that the story expects to succeed was refused."""

    def __init__(self, name: str, answer: Answer) -> None:
        super().__init__(f"{name} was refused: {answer}")
        self.answer = answer


class World:
    """One dispatcher on one database, and everybody who calls it. The clock stands still but for a tick per call."""

    def __init__(
        self,
        database: Database,
        settings: Settings | None = None,
        *,
        seed: int = 0,
        tick: int = 1,
        now: int = STARTED_AT,
    ) -> None:
        self.database = database
        self.now = now
        self.tick = tick
        self.hints: list[frozenset[str]] = []
        self._settings = settings or _USUAL
        self._entropy = random.Random(seed)
        self.restart()
        bootstrap(self.dispatcher, COORDINATOR_TOKEN, OWNER_TOKEN)
        self.owner = Caller(self, OWNER_TOKEN)
        self.nobody = Caller(self, None)
        self.passkeys: dict[str, str] = {}
        self.faulty = False
        """Whether this story is about faults of Toryo itself."""
        self.project_id = ""

    def restart(self) -> None:
        """The server begins, or was killed and begins anew: its memory is lost, and the database is as it was."""
        self.dispatcher = Dispatcher(
            self.database,
            self._settings,
            self._clock,
            self._entropy.getrandbits,
            lambda them: self.hints.append(frozenset(them)),
        )

    def _clock(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += int(seconds * SECOND)

    def iso(self) -> str:
        return iso(self.now)

    def perform(self, name: str, arguments: Answer, credentials: Credentials, *, may_wait: bool = False) -> Outcome:
        self.now += self.tick
        outcome = self.dispatcher.perform(name, arguments, credentials, may_wait=may_wait)
        hold_to_promise(name, outcome)
        self._hold_no_fault()
        return outcome

    def _hold_no_fault(self) -> None:
        """A fault that a fence has caught is one all the same."""
        assert self.faulty or not self.dispatcher.context.faults.total, self.dispatcher.context.faults.lasting(self.now)

    def housekeep(self) -> None:
        """One round of every chore; a chore that fails fails the story."""
        for _, chore in CHORES:
            self.dispatcher.housekeep(chore)
        self._hold_no_fault()

    # --- what people set up --------------------------------------------------------------------------------------

    def project(self, *, name: str = "House", project_id: str | None = None, **settings: Any) -> str:
        """A project of that name; the world's own one is the first."""
        asked: Answer = {"name": name, "working_directory": "/srv/house", "settings": settings}
        if project_id is not None:
            asked["id"] = project_id
        made: str = self.owner.call("create_project", **asked)["project_id"]
        self.project_id = self.project_id or made
        return made

    def agent(self, agent_id: str, role: str, reports_to: str | None = None, **more: Any) -> str:
        """An agent that a Coordinator starts, a member of the world's project."""
        asked: Answer = {"id": agent_id, "role": role, "provider": "claude", "projects": [self.project_id], **more}
        if reports_to is not None:
            asked["reports_to"] = reports_to
        made = self.owner.call("create_agent", **{key: value for key, value in asked.items() if value is not None})
        self.passkeys[agent_id] = made["passkey"]
        return agent_id

    def manager(self, agent_id: str = "boss", reports_to: str | None = None, **more: Any) -> str:
        return self.agent(agent_id, "manager", reports_to, **more)

    def worker(self, agent_id: str = "w1", reports_to: str | None = None, **more: Any) -> str:
        return self.agent(agent_id, "worker", reports_to, **more)

    def crew(self, workers: int = 2, **settings: Any) -> None:
        """A project, a manager `boss`, and workers `w1`, `w2`, … below it."""
        self.project(**settings)
        self.manager()
        for number in range(1, workers + 1):
            self.worker(f"w{number}", "boss")

    def member(self, agent_id: str, login: str = "member") -> Caller:
        """A person whose login role is member (or another one), of no project yet."""
        self.owner.call("create_agent", id=agent_id, role="worker", kind="human")
        token = f"tpt_{agent_id}"

        def work(connection: Connection) -> None:
            tokens = Transaction(connection).tokens
            tokens.add(digest(token), "person", agent_id, self.now, agent_id=agent_id, login=login)

        self.database.write(work)
        return Caller(self, token)

    def task(self, assignee_id: str | None = None, *, status: str = "in_progress", **more: Any) -> str:
        asked: Answer = {"project_id": self.project_id, "title": "Build the house", "status": status, **more}
        if assignee_id is not None:
            asked["assignee_id"] = assignee_id
        made: str = self.owner.call("file_task", **asked)["task_id"]
        return made

    def move(self, task_id: str, status: str, reason: str | None = None) -> Answer:
        more = {} if reason is None else {"reason": reason}
        return self.owner.call("move_task", task_id=task_id, status=status, **more)

    # --- who works -------------------------------------------------------------------------------------------------

    def coordinator(self, coordinator_id: str = "c1") -> Coordinator:
        return Coordinator(self, coordinator_id)

    def process(self, launch: Answer) -> Process:
        """The process that a Coordinator starts for a launch; it has not signed in."""
        return Process(self, launch)

    def start(self, agent_id: str) -> Process:
        """Starts the agent by a Coordinator; the process has signed in, reported its model and fetched its task."""
        process = self.started(agent_id)
        process.sign_in()
        process.call("report_model", provider="claude", model_id="model-1")
        process.call("get_my_task")
        return process

    def started(self, agent_id: str) -> Process:
        """Starts the agent by a Coordinator; the process has not signed in."""
        (launch,) = self.coordinator().claim(agent_ids=[agent_id], free_slots=1)["start"]
        return self.process(launch)

    def say(self, agent_id: str, content: str, **more: Any) -> str:
        """The owner (or `as_person`) writes to an agent; answers the message's id."""
        asked = {"project_id": self.project_id, "agent_id": agent_id, "content": content, **more}
        message_id: str = self.owner.call("send_chat_message", **asked)["message"]["message_id"]
        return message_id

    def open_chat(self, agent_id: str, **more: Any) -> Answer:
        """The owner opens an agent's chat (or keeps it open)."""
        return self.owner.call("open_chat", project_id=self.project_id, agent_id=agent_id, **more)

    def thread(self, agent_id: str, **more: Any) -> list[Answer]:
        """What the owner and an agent have said to each other."""
        found: list[Answer] = self.owner.call(
            "read_chat", project_id=self.project_id, agent_id=agent_id, limit=200, **more
        )["messages"]
        return found

    def person(self, agent_id: str, reports_to: str | None = None, role: str = "worker", **more: Any) -> str:
        """A person, a member of the world's project."""
        return self.agent(agent_id, role, reports_to, kind="human", provider=None, **more)

    def start_chat(self, agent_id: str) -> Process:
        """Starts the agent's chat by a Coordinator; the process has signed in and reported its model."""
        (launch,) = self.coordinator().claim(agent_ids=[agent_id], free_slots=0, free_chat_slots=1)["start"]
        assert launch["purpose"] == "chat", launch
        process = self.process(launch)
        process.sign_in()
        process.call("report_model", provider="claude", model_id="model-1")
        return process

    def why_chat(self, agent_id: str) -> str:
        """The chat decision about an agent now, as `action reason`."""
        decisions = self.owner.call("why", agent_id=agent_id)["decisions"]
        (chat,) = [
            decision
            for decision in decisions
            if decision["purpose"] == "chat" and decision["project_id"] == self.project_id
        ]
        return f"{chat['action']} {chat['reason']}"

    @property
    def dialect(self) -> str:
        name: str = self.database.read(lambda connection: connection.dialect)
        return name

    # --- looking -----------------------------------------------------------------------------------------------------

    def show(self, task_id: str) -> Answer:
        task: Answer = self.owner.call("show_task", task_id=task_id)["task"]
        return task

    def status(self, task_id: str) -> str:
        status: str = self.show(task_id)["status"]
        return status

    def why(self, agent_id: str) -> str:
        """The task decision about an agent now, as `action reason`."""
        decisions = self.owner.call("why", agent_id=agent_id)["decisions"]
        (task,) = [
            decision
            for decision in decisions
            if decision["purpose"] == "task" and decision["project_id"] == self.project_id
        ]
        return f"{task['action']} {task['reason']}"

    def events(self, *kinds: str, **wanted: Any) -> list[Answer]:
        """The events of these kinds (all of them without), oldest first."""
        found: list[Answer] = []
        after = 0
        while page := self.owner.call("read_events", after=after, limit=1000, **wanted)["events"]:
            found.extend(page)
            after = page[-1]["sequence"]
        return [each for each in found if not kinds or each["kind"] in kinds]

    def sessions(self) -> list[Answer]:
        live: list[Answer] = self.owner.call("list_sessions")["sessions"]
        return live

    def launches(self, **wanted: Any) -> list[Answer]:
        found: list[Answer] = self.owner.call("list_launches", **wanted)["launches"]
        return found

    @contextmanager
    def statements(self) -> Iterator[list[tuple[str, int]]]:
        """What is asked of the database within: verb and table of each statement (`SELECT tasks`), and how many rows
        it read or wrote. Locks are left out: SQLite has none."""
        ran: list[tuple[str, int]] = []
        kind: Any = self.database.read(type)
        with ExitStack() as patches:
            for name in ("fetch_all", "fetch_one", "run", "many"):
                patches.enter_context(patch.object(kind, name, _noting(getattr(kind, name), ran)))
            yield ran

    def rows(self, *tables: sa.Table) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of these tables (of all of them without), sorted: what must not change when nothing changes."""
        return rows_of(self.database, *tables)


def rows_of(database: Database, *tables: sa.Table) -> dict[str, list[tuple[Any, ...]]]:
    """As `World.rows`."""

    def work(connection: Connection) -> dict[str, list[tuple[Any, ...]]]:
        return {
            table.name: sorted(connection.all(_everything(table)), key=repr)
            for table in tables or schema.metadata.sorted_tables
        }

    return database.read(work)


class Following:
    """Streams that follow every event they may see, as the server has them."""

    def __init__(self, world: World, shown: Iterable[Credentials]) -> None:
        self._world = world
        self._readers: dict[Credentials, event_feed.Reader | None] = dict.fromkeys(shown)
        self._last = int(world.owner.call("read_events", newest=True, limit=1)["last"])
        assert self.read().keys() == self._readers.keys()

    def read(self) -> dict[Credentials, list[int]]:
        """What is new for each of them; who may no longer read is not among them."""
        step = partial(event_feed.read, after=self._last, readers=self._readers, again=False)
        news = asyncio.run(self._world.dispatcher.as_server(step, reads=True))
        self._last, self._readers = news.last, {**news.readers}
        sequences = [sequence for sequence, _ in news.events]
        return {shown: [*compress(sequences, seen)] for shown, seen in news.seen.items()}


class Caller:
    """Somebody with a credential. `call` expects success, `refused` a refusal, `ask` takes what comes."""

    def __init__(self, world: World, bearer: str | None, session_token: str | None = None) -> None:
        self.world = world
        self.bearer = bearer
        self.session_token = session_token

    @property
    def credentials(self) -> Credentials:
        return Credentials(bearer=self.bearer, session_token=self.session_token)

    def ask(self, name: str, /, **arguments: Any) -> Outcome:
        return self.world.perform(name, arguments, self.credentials)

    def call(self, name: str, /, **arguments: Any) -> Answer:
        outcome = self.ask(name, **arguments)
        assert outcome.result is not None
        if outcome.refused:
            raise Refused(name, outcome.result)
        return outcome.result

    def refused(self, name: str, code: Code | str | None = None, /, **arguments: Any) -> Answer:
        """The refusal (with that code, if one is named)."""
        outcome = self.ask(name, **arguments)
        assert outcome.refused, f"{name} was not refused: {outcome.result}"
        assert outcome.result is not None
        said = outcome.result.get("code", outcome.result["error"])
        assert code is None or said == str(code), f"{name}: {outcome.result}"
        return outcome.result


class Browser(Caller):
    """A person who shows what their browser has in its cookie, and what the page has kept."""

    def __init__(self, world: World, signed_in: Answer) -> None:
        super().__init__(world, signed_in["browser_token"])
        self.page = signed_in["page_secret"]

    @property
    def credentials(self) -> Credentials:
        return Credentials(cookie=self.bearer, page=self.page)


class Coordinator(Caller):
    """A Coordinator of that name; `running` are the launch ids that it reports with each claim."""

    def __init__(self, world: World, coordinator_id: str = "c1") -> None:
        super().__init__(world, COORDINATOR_TOKEN)
        self.id = coordinator_id
        self.running: list[str] = []

    def claim(self, *, free_slots: int = 10, **more: Any) -> Answer:
        asked = {"coordinator_id": self.id, "free_slots": free_slots, "running": list(self.running), **more}
        return self.call("claim_starts", **asked)

    def starts(self, **more: Any) -> list[str]:
        """The agents that one claim starts; their processes run from then on."""
        launches = self.claim(**more)["start"]
        self.running += [launch["launch_id"] for launch in launches]
        return [launch["agent_id"] for launch in launches]

    def action(self, agent_id: str, **more: Any) -> Answer:
        return self.call("get_agent_action", agent_id=agent_id, **more)

    def reason(self, agent_id: str, **more: Any) -> str:
        """The answer of `get_agent_action` as `action reason`."""
        said = self.action(agent_id, **more)
        return f"{said['action']} {said['reason']}"

    def exited(self, launch_id: str, **more: Any) -> Answer:
        self.running = [each for each in self.running if each != launch_id]
        return self.call("report_process_exit", launch_id=launch_id, **more)


class Process(Caller):
    """An agent's process, with the credential of its launch on the connection."""

    def __init__(self, world: World, launch: Answer) -> None:
        super().__init__(world, launch["credential"])
        self.launch = launch
        self.launch_id: str = launch["launch_id"]
        self.agent_id: str = launch["agent_id"]
        self.signed_in: Answer = {}

    def sign_in(self) -> Answer:
        self.signed_in = self.call("authenticate")
        return self.signed_in

    def next(self) -> Answer:
        return self.call("get_next_action")

    def action(self) -> str:
        """The next action, told."""
        action: str = self.next()["action"]
        return action

    def batch(self, *titles: str, **more: Any) -> list[str]:
        """Creates subtasks of these titles below the main task; answers their ids in order."""
        tasks = [{"local_id": title, "title": title, "description": f"Do {title}."} for title in titles]
        made = self.call("create_tasks_batch", tasks=tasks, **more)["local_id_to_real_id"]
        return [made[title] for title in titles]

    def assigned(self, wanted: dict[str, str | None], **more: Any) -> list[str]:
        """Creates subtasks by title with their assignees; answers their ids in order."""
        tasks = [
            {"local_id": each, "title": each, "description": f"Do {each}.", **({"assignee_id": to} if to else {})}
            for each, to in wanted.items()
        ]
        made = self.call("create_tasks_batch", tasks=tasks, **more)["local_id_to_real_id"]
        return [made[each] for each in wanted]

    def set(self, task_id: str, status: str, reason: str | None = None) -> Answer:
        more = {} if reason is None else {"reason": reason}
        return self.call("update_task_status", task_id=task_id, status=status, **more)

    def begin(self, *task_ids: str) -> None:
        """As a manager: chooses start and starts these tasks."""
        self.call("get_next_action")
        self.call("select_action", action="start")
        for each in task_ids:
            self.set(each, "in_progress")

    def wait(self) -> Answer:
        """As a manager: looks, chooses wait, is told to wait (and so has left)."""
        self.call("get_next_action")
        self.call("select_action", action="wait")
        told = self.next()
        assert told["action"] == "wait", told
        return told

    def fetch(self) -> Answer:
        """As a chat session: everything that is there."""
        return self.call("get_pending_messages")

    def turn(self, conversation_id: str, content: str) -> Answer:
        return self.call("respond_conversation_message", conversation_id=conversation_id, content=content)

    def report(self, result: str = "success", summary: str = "done", **more: Any) -> Answer:
        return self.call("report_completed", result=result, summary=summary, **more)


# --- promises ------------------------------------------------------------------------------------------------------


def hold_to_promise(name: str, outcome: Outcome) -> None:
    """A success answers its schema; a refusal has a known code, words, and the next step. Both are plain JSON."""
    result = outcome.result
    if outcome.later is not None:
        assert result is None
        return
    assert result is not None
    plain = orjson.loads(orjson.dumps(result))
    if outcome.refused:
        _hold_refusal(name, result)
        return
    assert result["success"] is True, (name, result)
    assert outcome.operation is not None
    problems = list(_validator(outcome.operation).iter_errors(plain))
    assert not problems, f"{name} answers what its schema does not promise: {problems[0].message}"
    if name == "get_next_action" or "next" in result:
        _hold_next(result.get("next", result))


def _hold_refusal(name: str, result: Answer) -> None:
    missing = [key for key in _STANDARD if key not in result]
    assert not missing, f"the refusal of {name} lacks {missing}: {result}"
    assert result["success"] is False
    assert result.get("code", result["error"]) in _CODES, result
    assert result["message"].strip() and result["instruction"].strip(), result
    echoed = any("{" in str(each.get("parameter")) for each in result.get("errors", ()))  # the caller's own
    assert echoed or "{" not in re.split(r"\(|Example: ", result["instruction"])[0], f"words left unfilled: {result}"
    _hold_calls(result["instruction"])
    if name == "authenticate":
        assert result["action"] == "exit", result
    if "next" in result:
        _hold_next(result["next"])


def _hold_next(said: Answer) -> None:
    """The next action names tools that exist, and its words name no others."""
    assert said["tools"], said
    assert said["instruction"].strip(), said
    unknown = [tool for tool in said["tools"] if tool not in catalogue()]
    assert not unknown, said
    _hold_calls(said["instruction"])


_CALL = re.compile(r"\b([a-z_]+)\(([^()]*)\)")


def _hold_calls(instruction: str) -> None:
    """Calls that are written out in an instruction name parameters and choices that exist."""
    for name, arguments in _CALL.findall(instruction):
        if name not in catalogue():
            continue
        properties = catalogue()[name].input_schema.get("properties", {})
        for parameter, value in re.findall(r"([a-z_]+)\s*=\s*\"([^\"]*)\"", arguments):
            assert parameter in properties, instruction
            choices = properties[parameter].get("enum")
            assert choices is None or value in choices, instruction


@lru_cache(maxsize=256)
def _validator(operation: Operation) -> Draft202012Validator:
    with for_others_too():
        return Draft202012Validator(closed(operation.output_schema))


def closed(schema: Any) -> Any:
    """The schema without room for what it does not declare; clients leave that room, the product does not take it."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(each) for key, each in schema.items()}
    declares = schema.get("type") == "object" and isinstance(schema.get("properties"), dict)
    return {"additionalProperties": False, **inner} if declares else inner


_TABLE = re.compile(r"(?:FROM|INTO|UPDATE)\s+(\w+)")
_WRITTEN = re.compile(r"\((INSERT|UPDATE)(?: INTO)? (\w+)")
"""Of rows that are written together (`many_rows.py`)."""


def _noting(original: Callable[..., Any], ran: list[tuple[str, int]]) -> Callable[..., Any]:
    def noted(connection: Connection, statement: Statement, *rows: Any, **values: Any) -> Any:
        answer = original(connection, statement, *rows, **values)
        text = statement.sqlite.text
        table = _TABLE.search(text)
        if text.startswith("WITH") and (written := _WRITTEN.findall(text)):
            ran.extend((f"{verb} {name}", 1) for verb, name in written)
        elif table is not None:
            many = answer if isinstance(answer, list) else rows[0] if rows and isinstance(rows[0], list) else [answer]
            ran.append((f"{text.split(maxsplit=1)[0]} {table[1]}", len(many)))
        return answer

    return noted


@lru_cache(maxsize=64)
def _everything(table: sa.Table) -> Statement:
    return Statement(sa.select(table))


def seeds(first: int, usual: int = 2) -> list[Any]:
    """The seeds of stories that are left to chance; TORYO_TEST_SEEDS says how many of each kind are told.

    `make test` tells the first of them.
    """
    others = range(first + 1, first + int(os.environ.get("TORYO_TEST_SEEDS", usual)))
    return [first, *(pytest.param(seed, marks=pytest.mark.deep) for seed in others)]


# --- fixtures ------------------------------------------------------------------------------------------------------


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No log line per call: thousands of calls would be mostly printing."""
    silent = structlog.wrap_logger(None, wrapper_class=structlog.make_filtering_bound_logger(50))
    monkeypatch.setattr(call_log, "calls", silent)


@pytest.fixture
def fresh(database: Database, quiet: None) -> Database:
    """An empty database of each kind, and no line of the log for each call."""
    return database


@pytest.fixture
def world(fresh: Database) -> World:
    """An empty world on a database of each kind."""
    return World(fresh)


@pytest.fixture
def crew(world: World, request: pytest.FixtureRequest) -> World:
    """A manager `boss` with the workers `w1` and `w2` below it, or what the mark `crew` of the file or test says."""
    asked = request.node.get_closest_marker("crew")
    world.crew(**(asked.kwargs if asked else {"workers": 2}))
    return world

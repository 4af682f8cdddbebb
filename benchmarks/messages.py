"""Chat: how fast a message reaches a waiting agent, the cost of a look, and that this cost does not grow.

Five parts, each beside its floor or in two sizes: a push over each way to the server, looks into mailboxes of growing
projects (with the indexes that PostgreSQL and SQLite use), many writers in parallel, conversations in turns, and the
chat part of `claim_starts`. Trust the ratios; times depend on the machine.

    python benchmarks/messages.py [--full] [--postgresql URL] [--only push,looks,writers,turns,claims]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import logging
import os
import random
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import psycopg
import sqlalchemy as sa
import structlog
from psycopg.conninfo import conninfo_to_dict

from toryo.client import AsyncClient, Client
from toryo.domain.conversations import MOST_TURNS
from toryo.domain.messages import Message, MessageKind, thread_of
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.dispatch import Dispatcher
from toryo.operations.people.credential_revocation import bootstrap
from toryo.settings import AuthSettings, ChatSettings, GuardSettings, Settings
from toryo.storage import messages as stored
from toryo.storage import schema
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.open_database import open_database, upgrade
from toryo.storage.transaction import Transaction

OWNER, COORDINATOR = Credentials(bearer="tpt_benchmark"), Credentials(bearer="tct_benchmark")
LIFTED = {
    "guards": GuardSettings(same_answers=10**9, refusals=10**9, idle_calls=10**9, calls=10**9),
    "auth": AuthSettings(key_calls_per_minute=10**9),
    "max_connections": 20_000,
    "max_connections_per_address": 20_000,
    "chat": ChatSettings(messages_per_minute=2_000, conversations_per_hour=100_000, viewer_lease=3_600),
}
"""Only what keeps runaway agents and floods down is lifted."""
OTHERS = 50
"""Agents that wait for messages of their own while a push is measured."""
WRITERS = 4
SETTLES = 0.02
"""Seconds given to a call to begin to wait at the server: nothing outside it tells when it does."""

Call = Callable[..., Awaitable[dict[str, Any]]]


# --- databases and servers -------------------------------------------------------------------------------------------


@contextlib.contextmanager
def databases(
    postgresql: str | None,
) -> Iterator[list[tuple[str, Callable[[], contextlib.AbstractContextManager[str]]]]]:
    """Name, and what gives the URL of an empty database of that kind."""
    with tempfile.TemporaryDirectory() as folder:
        names = itertools.count(1)

        @contextlib.contextmanager
        def file() -> Iterator[str]:
            yield f"sqlite:///{folder}/{next(names)}.db"

        kinds: list[Any] = [("SQLite", file)]
        if postgresql is not None:
            kinds.append(("PostgreSQL", lambda: _schema(postgresql)))
        yield kinds


@contextlib.contextmanager
def _schema(url: str) -> Iterator[str]:
    """A new schema in that database, dropped afterwards."""
    name = f"bench_{secrets.token_hex(4)}"
    parts = conninfo_to_dict(url)
    host, port = parts.get("host", "127.0.0.1"), parts.get("port", 5432)
    user, database = parts.get("user"), parts.get("dbname", "")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        try:
            yield f"postgresql://{f'{user}@' if user else ''}{host}:{port}/{database}?options=-csearch_path%3D{name}"
        finally:
            connection.execute(f"DROP SCHEMA {name} CASCADE")


@dataclass
class Server:
    """A whole server in a separate process."""

    url: str
    directory: Path
    people: Client

    @property
    def socket(self) -> str:
        return f"unix://{self.directory / 'toryo.sock'}"

    def token(self, role: str) -> str:
        return (self.directory / f"{role}.token").read_text().strip()

    def send(self, path: str, **body: Any) -> dict[str, Any]:
        return self.people.rest("POST", path, body)


@contextlib.contextmanager
def server(database: str) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--serve", folder, database]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            assert process.stdout is not None
            line = next(each for each in process.stdout if "http://" in each)
            url = line.strip().removeprefix("ready ")
            with Client(url, (Path(folder) / "owner.token").read_text().strip()) as people:
                yield Server(url, Path(folder), people)
        finally:
            process.terminate()
            process.wait()


def serve(folder: str, database: str) -> None:
    from toryo.server import app

    app.run(Settings(port=0, data_dir=Path(folder), socket=Path(folder) / "toryo.sock", database=database, **LIFTED))


def chatting(at: Server, project: str, names: list[str]) -> dict[str, str]:
    """Agents whose chat sessions have signed in, in panels that are open: the credential of each."""
    for name in names:
        at.send("/agents", id=name, role="worker", provider="none", projects=[project])
        at.send(f"/projects/{project}/chats/{name}/open")
    with Client(at.url, at.token("coordinator")) as coordinator:
        claimed = coordinator.call("claim_starts", coordinator_id="bench", free_slots=0, free_chat_slots=len(names))
    credentials = {each["agent_id"]: each["credential"] for each in claimed["start"]}
    for credential in credentials.values():
        with Client(at.url, credential) as agent:
            agent.call("authenticate")
            agent.call("report_model", provider="none", model_id="none")
    return credentials


def _project(at: Server) -> str:
    made = at.send("/projects", name="Bench", working_directory=str(at.directory))
    return str(made["project"]["id"])


# --- a push ----------------------------------------------------------------------------------------------------------


def push(kinds: list[Any], full: bool) -> None:
    """From the person's request to the answer of the agent's call, with others waiting for messages of their own."""
    times = 400 if full else 60
    print(
        f"\nA message, from its writer's request to the waiting agent's answer; {OTHERS} others wait ({times} each, ms)"
    )
    print(f"{'':<26}{'p50':>8}{'p99':>8}   floor: its writer answered, p50")
    for name, empty in kinds:
        with empty() as url, server(url) as at:
            project = _project(at)
            names = [f"a{number}" for number in range(OTHERS + 1)]
            credentials = chatting(at, project, names)
            for way in ("TCP", "Unix socket", "stdio bridge"):
                whole, written = asyncio.run(_pushes(at, way, project, credentials, times))
                print(f"{name + ', ' + way:<26}{_at(whole, 50):>8.2f}{_at(whole, 99):>8.2f}{_at(written, 50):>10.2f}")


async def _pushes(
    at: Server, way: str, project: str, credentials: dict[str, str], times: int
) -> tuple[list[float], list[float]]:
    whole, written = [], []
    path = f"/projects/{project}/chats/a0/messages"
    async with contextlib.AsyncExitStack() as open_:
        agent = await open_.enter_async_context(reached(at, way, credentials["a0"]))
        person = await open_.enter_async_context(AsyncClient(at.url, at.token("owner")))
        others = [
            await open_.enter_async_context(AsyncClient(at.url, credentials[f"a{n}"])) for n in range(1, OTHERS + 1)
        ]
        held = [asyncio.create_task(_idle(other)) for other in others]
        await agent("get_pending_messages")
        for _ in range(times):
            waiting = asyncio.create_task(agent("get_pending_messages", timeout_seconds=45))
            await asyncio.sleep(SETTLES)
            began = time.perf_counter()
            sent = asyncio.create_task(person.rest("POST", path, {"content": "Are you there?"}))
            sent.add_done_callback(lambda _, began=began: written.append((time.perf_counter() - began) * 1000))
            assert (await waiting)["pending_messages"]
            whole.append((time.perf_counter() - began) * 1000)
            await sent
        for each in held:
            each.cancel()
        await asyncio.gather(*held, return_exceptions=True)
    return whole, written


async def _idle(agent: AsyncClient) -> None:
    while True:
        await agent.call("get_next_action", timeout_seconds=45)


@contextlib.asynccontextmanager
async def reached(at: Server, way: str, credential: str) -> AsyncIterator[Call]:
    """What calls a tool on that way to the server."""
    if way == "stdio bridge":
        async with _bridge(at.url, credential) as call:
            yield call
        return
    async with AsyncClient(at.socket if way == "Unix socket" else at.url, credential) as client:
        yield client.call


@contextlib.asynccontextmanager
async def _bridge(url: str, credential: str) -> AsyncIterator[Call]:
    """`toryo mcp` in a separate process; one call at a time."""
    pipe = asyncio.subprocess.PIPE
    known = {**os.environ, "TORYO_SERVER_URL": url, "TORYO_TOKEN": credential}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toryo", "mcp"), env=known, stdin=pipe, stdout=pipe, limit=1 << 24
    )
    assert process.stdin is not None and process.stdout is not None
    requests, answers, numbers = process.stdin, process.stdout, itertools.count(1)

    async def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
        params = {"name": tool, "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": next(numbers), "method": "tools/call", "params": params}
        requests.write(orjson.dumps(request) + b"\n")
        result = orjson.loads(await answers.readline())["result"]
        assert not result["isError"], result
        return dict(result["structuredContent"])

    try:
        yield call
    finally:
        requests.close()
        await process.wait()


# --- looks -----------------------------------------------------------------------------------------------------------

SCRIBES = 40
"""People who write in turn, so that none writes more than is allowed."""


@dataclass
class Team:
    """A dispatcher in process, with agents of one project; `noted` are the statements of its last call."""

    dispatcher: Dispatcher
    database: Database
    project: str
    noted: list[tuple[Statement, dict[str, Any]]]

    @classmethod
    def of(cls, url: str, held: contextlib.ExitStack) -> Team:
        database = held.enter_context(open_database(url))
        upgrade(database)
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        noting = _Noting(database)
        dispatcher = Dispatcher(noting, Settings(data_dir=folder, **LIFTED), _now, random.getrandbits, lambda _: None)
        bootstrap(dispatcher, "tct_benchmark", "tpt_benchmark")
        made = _call(dispatcher, "create_project", OWNER, name="Bench", working_directory=str(folder))
        return cls(dispatcher, database, made["project_id"], noting.noted)

    def agent(self, name: str, **more: Any) -> None:
        asked = {"id": name, "role": "worker", "provider": "none", "projects": [self.project], **more}
        _call(self.dispatcher, "create_agent", OWNER, **asked)

    def chatting(self, name: str) -> Credentials:
        """A chat session that has signed in, in a panel that is open."""
        _call(self.dispatcher, "open_chat", OWNER, project_id=self.project, agent_id=name)
        who = {"coordinator_id": "bench", "agent_ids": [name]}
        (launch,) = _call(self.dispatcher, "claim_starts", COORDINATOR, **who, free_slots=0, free_chat_slots=1)["start"]
        mine = Credentials(bearer=launch["credential"])
        _call(self.dispatcher, "authenticate", mine)
        _call(self.dispatcher, "report_model", mine, provider="none", model_id="none")
        return mine

    def fill(self, total: int) -> None:
        """So many messages that were delivered long ago, between the owner and `a` and among others."""

        def work(connection: Connection) -> None:
            chats = Transaction(connection).chat
            rows = [stored.MESSAGES.values(self._old(sequence)) for sequence in range(1, total + 1)]
            connection.many(Statement(sa.insert(schema.messages), columns=stored.MESSAGES.names), rows)
            chats.save_mailbox(replace(chats.mailbox(self.project, "a"), cursor=total, newest=total))

        self.database.write(work)
        if self.database.dialect == "postgresql":
            self.database.write(lambda connection: connection.run(Statement(sa.text("ANALYZE messages"))))

    def _old(self, sequence: int) -> Message:
        one, other = (("owner", "a"), ("a", "owner"), ("owner", "b"))[sequence % 3]
        return Message(
            id=f"msg_{sequence}", project_id=self.project, sequence=sequence, thread=thread_of(one, other),
            from_agent_id=one, to_agent_id=other, kind=MessageKind.MESSAGE, content="x" * 200,
            conversation_id=None, related_task_id=None, created_at=sequence,
        )  # fmt: skip


class _Noting:
    """A database that notes the statements of each call."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.noted: list[tuple[Statement, dict[str, Any]]] = []
        self.on = False

    def write(self, work: Any) -> Any:
        if not self.on:
            return self._database.write(work)
        self.noted.clear()
        return self._database.write(lambda connection: work(_Noted(connection, self.noted)))

    read = write


class _Noted:
    def __init__(self, connection: Connection, noted: list[tuple[Statement, dict[str, Any]]]) -> None:
        self._connection = connection
        self._noted = noted

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._connection, name)
        if name not in ("all", "one", "run", "value"):
            return found

        def noting(statement: Statement, **params: Any) -> Any:
            self._noted.append((statement, params))
            return found(statement, **params)

        return noting


def looks(kinds: list[Any], full: bool) -> None:
    """One call each, in process, commit included; projects of all sizes in turn, so that noise disturbs all alike."""
    sizes = (100, 10_000, 100_000) if full else (100, 100_000)
    rounds = 300 if full else 100
    print(f"\nCalls of a chat session, in process (medians of {rounds}, us), by messages in the project")
    print(f"{'':<42}" + "".join(f"{size:>10,}" for size in sizes) + f"{'ratio':>8}")
    for name, empty in kinds:
        with contextlib.ExitStack() as held:
            teams = [_team(held.enter_context(empty()), held, size) for size in sizes]
            for what, figures in _looks(teams, rounds).items():
                shown = "".join(f"{figure:>10.0f}" for figure in figures)
                print(f"{f'{name}, {what}':<42}{shown}{figures[-1] / figures[0]:>8.2f}")
            print(f"{name}: {_plans(*teams[-1])}")


def _team(url: str, held: contextlib.ExitStack, size: int) -> tuple[Team, Credentials]:
    team = Team.of(url, held)
    for each in ("a", "b"):
        team.agent(each)
    for number in range(SCRIBES):
        team.agent(f"p{number}", kind="human", provider=None)
    mine = team.chatting("a")
    team.fill(size)
    return team, mine


def _looks(teams: list[tuple[Team, Credentials]], rounds: int) -> dict[str, list[float]]:
    """The median of each call, by team."""
    scribes = itertools.cycle(f"p{number}" for number in range(SCRIBES))
    acts: dict[str, Callable[[Team, Credentials, str], object]] = {
        "next action, nothing to do": lambda team, mine, _: _call(
            team.dispatcher, "get_next_action", mine, timeout_seconds=0
        ),
        "unread check, nothing there": lambda team, mine, _: _call(team.dispatcher, "get_pending_messages", mine),
        "a look that waits on": lambda team, mine, _: team.dispatcher.perform(
            "get_next_action", {}, mine, may_wait=True
        ),
        "storing a message": lambda team, _, scribe: _write(team, scribe),
        "fetching one": lambda team, mine, _: _call(team.dispatcher, "get_pending_messages", mine),
    }
    times: dict[str, list[list[float]]] = {what: [[] for _ in teams] for what in acts}
    for _ in range(rounds):
        scribe = next(scribes)
        for what, act in acts.items():
            for place, (team, mine) in enumerate(teams):
                began = time.perf_counter()
                act(team, mine, scribe)
                times[what][place].append((time.perf_counter() - began) * 1e6)
    return {what: [statistics.median(each) for each in found] for what, found in times.items()}


def _write(team: Team, scribe: str) -> None:
    asked = {"project_id": team.project, "agent_id": "a", "content": "Are you there?", "as_person": scribe}
    _call(team.dispatcher, "send_chat_message", OWNER, **asked)


def _plans(team: Team, mine: Credentials) -> str:
    """How many statements a look that waits on runs, and by which indexes it and a fetch read the tables of talk."""
    noting: Any = team.dispatcher.database
    noting.on = True
    team.dispatcher.perform("get_next_action", {}, mine, may_wait=True)
    looked = list(team.noted)
    _call(team.dispatcher, "get_pending_messages", mine)
    noting.on = False
    found: list[str] = []
    for statement, params in looked + team.noted:
        text = (statement.sqlite if team.database.dialect == "sqlite" else statement.postgresql).text
        if re.search(r"\bFROM (mailboxes|messages|conversations|delegations|viewers)\b", text):
            plan = team.database.write(lambda connection, text=text, params=params: _plan(connection, text, params))
            found += plan
    return f"{len(looked)} statements in a look that waits on; read by {', '.join(dict.fromkeys(found))}"


def _plan(connection: Connection, text: str, params: dict[str, Any]) -> list[str]:
    """The indexes that a statement uses, or `SCAN table`."""
    if connection.dialect == "sqlite":
        rows = connection.all(Statement(sa.text(f"EXPLAIN QUERY PLAN {text}")), **params)
        pattern, said = r"INDEX (\w+)|SCAN (\w+)(?! USING)", " ".join(str(row[3]) for row in rows)
    else:
        connection.run(Statement(sa.text("SET LOCAL enable_seqscan = off")))  # a table of a few rows is read whole
        named = re.sub(r"%\((\w+)\)s", r":\1 ", text)
        rows = connection.all(Statement(sa.text(f"EXPLAIN {named}")), **params)
        pattern, said = r"(?:using|Bitmap Index Scan on) (\w+)|Seq Scan on (\w+)", " ".join(str(row[0]) for row in rows)
    return [index or f"SCAN {table}" for index, table in re.findall(pattern, said)]


# --- writers ---------------------------------------------------------------------------------------------------------


def writers(kinds: list[Any], full: bool) -> None:
    """Over HTTP, each writer's messages one after the other, all to the same agent; then the agent fetches them.

    The floor is as many writers that file tasks, one after the other: a durable create as well.
    """
    each = 1_000 if full else 250
    print(f"\n{WRITERS} writers, {each:,} messages each to one agent, which then fetches them")
    for name, empty in kinds:
        with empty() as url, server(url) as at:
            project = _project(at)
            credential = chatting(at, project, ["a"])["a"]
            floor = asyncio.run(_post_all(at, f"/projects/{project}/tasks", "title", each))
            rate = asyncio.run(_post_all(at, f"/projects/{project}/chats/a/messages", "content", each))
            fetched, lost, in_order = asyncio.run(_fetch_all(at, credential, each))
            print(
                f"{name}: {rate:,.0f} stored/s ({rate / floor:.2f} x filing tasks), {fetched:,.0f} fetched/s, "
                f"{lost} lost, each once and in order: {in_order}"
            )


async def _post_all(at: Server, path: str, name: str, each: int) -> float:
    """How many a second."""

    async def post(writer: int) -> None:
        async with AsyncClient(at.url, at.token("owner")) as person:
            for number in range(each):
                await person.rest("POST", path, {name: f"{writer}:{number}"})

    began = time.perf_counter()
    await asyncio.gather(*(post(writer) for writer in range(WRITERS)))
    return WRITERS * each / (time.perf_counter() - began)


async def _fetch_all(at: Server, credential: str, each: int) -> tuple[float, int, bool]:
    """How many a second, how many are missing, and whether each writer's came once and in order."""
    began, got = time.perf_counter(), []
    async with AsyncClient(at.url, credential) as agent:
        while page := (await agent.call("get_pending_messages"))["pending_messages"]:
            got += [message["content"] for message in page]
    rate = len(got) / (time.perf_counter() - began)
    wanted = [[f"{writer}:{number}" for number in range(each)] for writer in range(WRITERS)]
    order = [[one for one in got if one.startswith(f"{writer}:")] for writer in range(WRITERS)]
    return rate, WRITERS * each - len(set(got)), order == wanted


# --- turns -----------------------------------------------------------------------------------------------------------


def turns(kinds: list[Any], full: bool) -> None:
    """Over MCP on TCP: each turn is a call that sends it and the partner's waiting call that it ends."""
    rounds = 10 if full else 3
    print(f"\nConversations of 40 turns over MCP, {rounds} one after the other in each pair (turns/s in all)")
    for name, empty in kinds:
        with empty() as url, server(url) as at:
            project = _project(at)
            names = [f"a{number}" for number in range(16)]
            credentials = chatting(at, project, names)
            rates = [asyncio.run(_converse(at, credentials, pairs, rounds)) for pairs in (1, 8)]
            print(f"{name}: one pair {rates[0]:,.0f}, eight pairs {rates[1]:,.0f}")


async def _converse(at: Server, credentials: dict[str, str], pairs: int, rounds: int) -> float:
    began = time.perf_counter()
    said = await asyncio.gather(*(_pair(at, credentials, 2 * pair, rounds) for pair in range(pairs)))
    return sum(said) / (time.perf_counter() - began)


async def _pair(at: Server, credentials: dict[str, str], first: int, rounds: int) -> int:
    names = (f"a{first}", f"a{first + 1}")
    async with AsyncClient(at.url, credentials[names[0]]) as one, AsyncClient(at.url, credentials[names[1]]) as other:
        sides, said = (one, other), 0
        for _ in range(rounds):
            hello = {"target_agent_id": names[1], "initial_message": "1", "max_turns": MOST_TURNS}
            heard = asyncio.create_task(other.call("get_pending_messages", timeout_seconds=45))
            conversation = (await one.call("start_conversation", **hello))["conversation_id"]
            said += 1
            for turn in range(2, MOST_TURNS + 1):
                speaker, listener = sides[(turn - 1) % 2], sides[turn % 2]
                await heard
                heard = asyncio.create_task(listener.call("get_pending_messages", timeout_seconds=45))
                await speaker.call("respond_conversation_message", conversation_id=conversation, content=str(turn))
                said += 1
            await heard
            for side in sides:
                await side.call("get_pending_messages")  # the ending
    return said


# --- claims ----------------------------------------------------------------------------------------------------------


def claims(kinds: list[Any], full: bool) -> None:
    """`claim_starts` over many agents of whom few or none have somebody to talk to, without a slot to start them."""
    many, rounds = 1_000, 200 if full else 50
    print(f"\nOne claim_starts over {many:,} agents, in process (medians of {rounds}, ms), by chats that are wanted")
    for name, empty in kinds:
        with contextlib.ExitStack() as held:
            team = Team.of(held.enter_context(empty()), held)
            for number in range(many):
                team.agent(f"a{number}")
            none = _claim(team, rounds)
            for wanted in range(10):
                asked = {"project_id": team.project, "agent_id": f"a{wanted}", "content": "Are you there?"}
                _call(team.dispatcher, "send_chat_message", OWNER, **asked)
            ten = _claim(team, rounds)
            print(f"{name}: none {none:.2f}, ten {ten:.2f} ({ten / none:.2f} x)")


def _claim(team: Team, rounds: int) -> float:
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        _call(team.dispatcher, "claim_starts", COORDINATOR, coordinator_id="bench", free_slots=1, free_chat_slots=0)
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


# --- running it ------------------------------------------------------------------------------------------------------

PARTS = {"push": push, "looks": looks, "writers": writers, "turns": turns, "claims": claims}


def _now() -> int:
    return int(time.time() * 1000)


def _at(times: list[float], percent: int) -> float:
    return sorted(times)[min(len(times) - 1, len(times) * percent // 100)]


def _call(dispatcher: Dispatcher, tool: str, who: Credentials, /, **arguments: object) -> dict[str, Any]:
    outcome = dispatcher.perform(tool, dict(arguments), who)
    assert not outcome.refused and outcome.result is not None, outcome.result
    return outcome.result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="more rounds and sizes: minutes instead of one")
    parser.add_argument("--postgresql", help="URL of a database in which schemas may be made; default: SQLite alone")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        serve(*given.serve)
        return
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with databases(given.postgresql) as kinds:
        for name in given.only.split(","):
            PARTS[name](kinds, given.full)


if __name__ == "__main__":
    main()

"""Everybody who can call a server, each with what they show and where: the rows of the matrix in `test_every_door.py`.

They are made by the real operations on a real database; what each may do is written here in words of the
specification (`Right`), not taken from the code under test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from tests.stories import COORDINATOR_TOKEN, OWNER_TOKEN, Process, World
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.grants import Grant


class Right(StrEnum):
    """What a credential makes of its caller. `NONE` is somebody without any, `INVALID` somebody with a wrong one."""

    NONE = "nobody"
    INVALID = "invalid"
    STALE = "a session that nobody knows"
    """As good as nobody, where anybody may call."""
    LAUNCH = "launch"
    ENDED = "ended session"
    TASK = "task session"
    CHAT = "chat session"
    MANAGER = "manager's task session"
    ORCHESTRATING = "orchestrator's task session"
    KEY = "API key"
    ORCHESTRATOR = "orchestrator's API key"
    COORDINATOR = "Coordinator"
    VIEWER = "viewer"
    MEMBER = "member"
    OWNER = "owner"


SESSIONS = {Right.TASK, Right.CHAT, Right.MANAGER, Right.ORCHESTRATING}
TASK_SESSIONS = SESSIONS - {Right.CHAT}
KEYS = {Right.KEY, Right.ORCHESTRATOR}
PEOPLE = {Right.VIEWER, Right.MEMBER, Right.OWNER}

MAY: dict[Grant, set[Right]] = {
    Grant.OPEN: set(Right) - {Right.INVALID},
    Grant.COORDINATOR: {Right.COORDINATOR},
    Grant.ANY_SESSION: SESSIONS,
    Grant.TASK_SESSION: TASK_SESSIONS,
    Grant.CHAT_SESSION: {Right.CHAT},
    Grant.MANAGER: {Right.MANAGER},
    Grant.LEADING: TASK_SESSIONS,
    Grant.FILER: TASK_SESSIONS | {Right.ORCHESTRATOR},
    Grant.QUEUE_AGENT: KEYS | {Right.ORCHESTRATING},
    Grant.SHARER: SESSIONS | KEYS,
    Grant.REGISTRAR: KEYS | {Right.NONE},
    Grant.READER: SESSIONS | PEOPLE,
    Grant.PERSON: PEOPLE,
    Grant.WRITER: {Right.MEMBER, Right.OWNER},
    Grant.OWNER: {Right.OWNER},
}
"""The table of `concepts.md`, section 4. A grant that is added and not here fails the matrix."""


@dataclass(frozen=True)
class Caller:
    """`bearer` goes into the Authorization header, `cookie` and `page` are shown by a browser, `arguments` go into the
    call."""

    name: str
    right: Right
    bearer: str | None = None
    cookie: str | None = None
    page: str | None = None
    arguments: dict[str, str] = field(default_factory=dict)
    tools: frozenset[str] | None = None
    """To which an API key is limited; None: to nothing."""


class House:
    """One project with every kind of agent, session, key, token and browser; `callers()` are they."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.project()
        self.manager = world.manager()
        for worker in ("w1", "w2", "talker", "planner", "waiting"):
            world.worker(worker, "boss", capabilities=["orchestrator"] if worker == "planner" else [])
        for name in ("boss", "w1", "w2", "planner", "waiting"):
            world.task(name, title=f"For {name}")

    def callers(self) -> list[Caller]:
        return [*self._outside(), *self._agents(), *self._keys(), *self._people()]

    def _outside(self) -> Iterator[Caller]:
        yield Caller("nobody", Right.NONE)
        yield Caller("a bearer that nobody gave out", Right.INVALID, bearer="x" * 40)
        for prefix in ("tct_", "tpt_", "tlc_", "tqk_", "tbs_"):
            yield Caller(f"an invented {prefix}", Right.INVALID, bearer=prefix + "0" * 48)
        yield Caller("an invented tst_", Right.STALE, bearer="tst_" + "0" * 48)
        yield Caller("the Coordinator", Right.COORDINATOR, bearer=COORDINATOR_TOKEN)

    def _agents(self) -> Iterator[Caller]:
        rights = {"boss": Right.MANAGER, "w1": Right.TASK, "planner": Right.ORCHESTRATING}
        for agent, right in rights.items():
            process = self.world.start(agent)
            yield Caller(f"{agent} by its launch", right, bearer=process.bearer)
            yield Caller(f"{agent} by its session", right, bearer=process.signed_in["session_token"])
            token = {"session_token": process.signed_in["session_token"]}
            yield Caller(f"{agent} by an argument", right, arguments=token)
        chat = self._chat("talker")
        yield Caller("a chat by its launch", Right.CHAT, bearer=chat.bearer)
        yield Caller("a chat by an argument", Right.CHAT, arguments={"session_token": chat.signed_in["session_token"]})
        yield Caller("a process that has not signed in", Right.LAUNCH, bearer=self.world.started("waiting").bearer)
        over = self.world.start("w2")
        over.report()
        self.world.advance(3600)
        yield Caller("a session that is over", Right.ENDED, bearer=over.signed_in["session_token"])

    def _chat(self, agent: str) -> Process:
        self.world.open_chat(agent)
        self.world.say(agent, "hello")
        return self.world.start_chat(agent)

    def _keys(self) -> Iterator[Caller]:
        make = self.world.owner.call
        project = {"project_id": self.world.project_id}
        bound = make("make_api_key", **project, agent_id="runner")["token"]
        yield Caller("a bound key", Right.KEY, bearer=bound)
        yield Caller("a bound key by an argument", Right.KEY, arguments={"api_key": bound})
        yield Caller("an unbound key", Right.KEY, bearer=make("make_api_key", **project)["token"])
        files = make("make_api_key", **project, agent_id="filer", orchestrator=True)["token"]
        yield Caller("an orchestrator's key", Right.ORCHESTRATOR, bearer=files)
        one = make("make_api_key", **project, agent_id="narrow", tools=["poll_tasks"])
        yield Caller("a narrow key", Right.KEY, bearer=one["token"], tools=frozenset({"poll_tasks"}))
        gone = make("make_api_key", **project, agent_id="gone")
        make("revoke_api_key", key_id=gone["key"]["key_id"])
        yield Caller("a revoked key", Right.INVALID, bearer=gone["token"])

    def _people(self) -> Iterator[Caller]:
        make = self.world.owner.call
        yield Caller("owner.token", Right.OWNER, bearer=OWNER_TOKEN)
        own, other = (self._browser("the owner's browser", Right.OWNER) for _ in range(2))
        yield own
        # What a browser sends by itself, which reaches whatever runs at another port of the host:
        yield Caller("the cookie of the owner's browser alone", Right.INVALID, cookie=own.cookie)
        yield Caller("the same with the page of another browser", Right.INVALID, cookie=own.cookie, page=other.page)
        for right in (Right.VIEWER, Right.MEMBER, Right.OWNER):
            person = f"p-{right.value}"
            make("add_person", person_id=person, login=right.value, projects=[self.world.project_id])
            token = make("make_access_token", name="x", person_id=person)["token"]
            yield Caller(f"a token of an added {right.value}", right, bearer=token)
            yield self._browser(f"a browser of an added {right.value}", right, person_id=person)
            less = make("make_access_token", name="less", login=right.value)["token"]
            yield Caller(f"a token of the owner as {right.value}", right, bearer=less)
            yield self._browser(f"a browser of the owner as {right.value}", right, login=right.value)
        make("add_person", person_id="left", login="owner")
        token = make("make_access_token", name="x", person_id="left")["token"]
        browser = self._browser("", Right.INVALID, person_id="left")
        make("remove_person", person_id="left")
        yield Caller("a token of a removed owner", Right.INVALID, bearer=token)
        yield Caller("a browser of a removed owner", Right.INVALID, cookie=browser.cookie, page=browser.page)

    def _browser(self, name: str, right: Right, **link: str) -> Caller:
        code = self.world.owner.call("make_sign_in_link", **link)["code"]
        signed_in = self.world.perform("sign_in", {"code": code}, Credentials()).result or {}
        return Caller(name, right, cookie=signed_in["browser_token"], page=signed_in["page_secret"])

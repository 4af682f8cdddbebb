"""The one path of every call: find, identify, ask the grant, validate, transaction, handler, events, commit, hints.

Synchronous: nothing runs between two statements of a transaction. A `Refusal` anywhere changes nothing and becomes an
answer. Waiting happens at the edge, which performs again after a hint.
"""

from __future__ import annotations

import asyncio
import difflib
import itertools
import logging
import math
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
import structlog
from pydantic import BaseModel, ValidationError

from toryo.domain import chat
from toryo.domain.agents import OWNER_ID, Agent, Role, Status
from toryo.domain.agents import Kind as AgentKind
from toryo.domain.errors import Code, Refusal
from toryo.domain.events import Event
from toryo.domain.projects import Language
from toryo.domain.queue import ApiKey
from toryo.domain.times import SECOND, Millis
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations import credentials, gate, leading, listing, masking, passwords, repeating, talking
from toryo.operations.call import Call, Context, TokenFiles
from toryo.operations.catalogue import MOST_NAMES, Later, NoParameters, Operation, Parameters, catalogue, tools
from toryo.operations.identity import TWO_CALLERS, identify
from toryo.operations.observing import Observed, Observer
from toryo.operations.pacing import Pace
from toryo.operations.permissions import KEYED, Caller, Credentials, Door, Grant, Kind, allowed, refuse
from toryo.operations.results import Result
from toryo.settings import Settings
from toryo.storage.database import Connection, Database
from toryo.storage.errors import ConstraintBroken, DatabaseUnavailable, Unstorable
from toryo.storage.shared import InDatabase, Shared
from toryo.storage.transaction import Transaction
from toryo.workflow.instructions import words
from toryo.workflow.snapshot import Limits

_calls = structlog.get_logger("toryo.calls")

_LONGEST_NAME = 100
_LEAVE = "logout"
_NO_TOOL = "no_such_tool"
"""How a call of what does not exist is counted, whatever its name."""
_OF_PEOPLE = frozenset({Grant.PERSON, Grant.WRITER, Grant.OWNER})
_NOBODY = Caller(Kind.NOBODY)
_STRANGER = {"stranger": True}
"""Marks log lines that callers cause who have proven nothing: anybody could fill the log with them."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`result` is plain JSON data; None while `later` says that there is nothing to say yet."""

    result: dict[str, Any] | None
    refused: bool = False
    later: Later | None = None
    operation: Operation | None = None


class _RollBack(Exception):
    """A refusal after the first write: nothing of the work may stay."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


@dataclass
class _Done:
    """What a work hands out of its transaction."""

    outcome: Outcome
    hints: frozenset[str]
    caller: Caller | None
    events: tuple[Event, ...] = ()
    """What happened, for observers; empty where there are none."""


class Office:
    """Performs calls for one server process. `clock` answers epoch milliseconds, `entropy` so many random bits."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Callable[[], Millis],
        entropy: Callable[[int], int],
        publish: Callable[[Iterable[str]], None],
        limits: Limits | None = None,
        shared: Callable[[Transaction], Shared] = InDatabase,
        observers: Sequence[Observer] = (),
        tokens: TokenFiles | None = None,
    ) -> None:
        self.database = database
        self.settings = settings
        self.clock = clock
        self.publish = publish
        self.observers = tuple(observers)
        self._name, self._asked_so_far = uuid.uuid4().hex, itertools.count()
        self.context = Context(
            settings,
            limits or _limits(settings),
            entropy,
            talk=_talk(settings),
            shared=shared,
            keys=_pace_of_keys(settings),
            tokens=tokens,
        )

    # --- the path --------------------------------------------------------------------------------------------------

    def perform(
        self,
        name: str,
        arguments: dict[str, Any],
        credentials: Credentials,
        *,
        door: Door = Door.OWN,
        may_wait: bool = False,
    ) -> Outcome:
        """Carries out one call and answers after its commit. Never raises for what a caller did wrong.

        `door`: by which way it came in. Whoever passes on a name that a client has sent says by which.
        """
        asked = self._asked(name, arguments, credentials, door, may_wait)
        if isinstance(asked, Outcome):
            return asked
        started = time.perf_counter()
        if (refused := asked.refused_unseen()) is not None:
            return self._finish(asked, refused, started)
        try:
            try:
                asked = asked.with_prepared(self._prepare(asked))
                done = self._run(asked)(asked.work)
            except _RollBack as after_write:
                done = self.database.write(asked.refusing(after_write.refusal))
        except Exception as error:  # noqa: BLE001 - faults of the database become answers, others are raised on
            done = _Done(Outcome(_fault(error).answer(), True, operation=asked.operation), frozenset(), None)
        return self._finish(asked, done, started)

    async def perform_async(
        self,
        name: str,
        arguments: dict[str, Any],
        credentials: Credentials,
        *,
        door: Door = Door.OWN,
        may_wait: bool = False,
        again: bool = False,
    ) -> Outcome:
        """As `perform`, for the edges that live on an event loop. `again`: a call that waits looks once more."""
        asked = self._asked(name, arguments, credentials, door, may_wait, again=again)
        if isinstance(asked, Outcome):
            return asked
        started = time.perf_counter()
        if (refused := asked.refused_unseen()) is not None:
            return self._finish(asked, refused, started)
        run = self.database.read_async if asked.operation.reads else self.database.write_async
        try:
            try:
                if asked.operation.beforehand is not None:
                    loop = asyncio.get_running_loop()
                    asked = asked.with_prepared(await loop.run_in_executor(passwords.pool(), self._prepare, asked))
                done = await run(asked.work)
            except _RollBack as after_write:
                done = await self.database.write_async(asked.refusing(after_write.refusal))
        except Exception as error:  # noqa: BLE001 - as in `perform`
            done = _Done(Outcome(_fault(error).answer(), True, operation=asked.operation), frozenset(), None)
        return self._finish(asked, done, started)

    def _prepare(self, asked: _Asked) -> Any:
        """What takes long, done outside of any transaction: others write meanwhile."""
        if asked.operation.beforehand is None:
            return None
        todo = self.database.read(asked.look)
        return todo() if todo is not None else None

    def _run(self, asked: _Asked) -> Callable[[Callable[[Connection], _Done]], _Done]:
        return self.database.read if asked.operation.reads else self.database.write

    def _asked(
        self,
        name: str,
        arguments: dict[str, Any],
        credentials: Credentials,
        door: Door,
        may_wait: bool,
        *,
        again: bool = False,
    ) -> _Asked | Outcome:
        operation = catalogue().get(name)
        arguments = dict(arguments)
        if operation is None or door not in operation.doors:
            operation = _nothing_of_that_name(name, door)
            arguments = {key: arguments[key] for key in ("session_token", "api_key") if key in arguments}
        if operation.grant in KEYED or operation.name == _NO_TOOL:
            api_key = arguments.pop("api_key", None)
            if isinstance(api_key, str) and api_key:
                if credentials.bearer not in (None, api_key):
                    return Outcome(_two_callers().answer(), True, operation=operation)
                credentials = replace(credentials, bearer=api_key)
        token = arguments.pop("session_token", None)
        if isinstance(token, str) and token:
            credentials = replace(credentials, session_token=token)
        once = f"{self._name}:{next(self._asked_so_far)}"
        parameters = parameters_of(operation, arguments)
        if operation.name == _NO_TOOL and credentials.anonymous:
            parameters = _unknown(name, door, _NOBODY)
        return _Asked(
            self, operation, arguments, parameters, credentials, may_wait and operation.waits, self.clock(), once, again
        )

    def _finish(self, asked: _Asked, done: _Done, started: float) -> Outcome:
        if done.hints:
            self.publish(done.hints)
        if done.outcome.later is None:
            seconds = time.perf_counter() - started
            _log(asked, done, seconds)
            if self.observers:
                self._tell_observers(asked, done, seconds)
        return done.outcome

    def _tell_observers(self, asked: _Asked, done: _Done, seconds: float) -> None:
        observed = _observed(asked, done, seconds)
        for each in self.observers:
            try:
                each(observed)
            except Exception as error:  # noqa: BLE001 - who measures must not break what is measured
                _calls.warning("observer_failed", error=str(error))

    # --- beside calls ----------------------------------------------------------------------------------------------

    def list_tools(self, credentials: Credentials, toolset: str | None = None) -> list[Operation]:
        """The tools that `tools/list` shows this caller. Raises nothing: who is not known sees what nobody sees."""
        return self.database.read(lambda connection: self._listed(connection, credentials, toolset))

    async def list_tools_async(self, credentials: Credentials, toolset: str | None = None) -> list[Operation]:
        return await self.database.read_async(lambda connection: self._listed(connection, credentials, toolset))

    def _listed(self, connection: Connection, credentials: Credentials, toolset: str | None) -> list[Operation]:
        try:
            caller = identify(Transaction(connection), credentials, self.clock())
        except Refusal:
            caller = Caller(Kind.NOBODY)
        return listing.tools_for(caller, toolset)

    def bootstrap(self, coordinator_token: str, owner_token: str) -> None:
        """Makes the two tokens of a data directory known, and the person who owns the server. Repeatable.

        Other tokens of this directory are revoked: they have stood in its files before. A token that was revoked
        before is not good again because its file is back: the file gets a new one.
        """

        def work(call: Call) -> None:
            if call.tx.agents.find(OWNER_ID) is None:
                call.tx.agents.add(_owner(call.now), None)
            credentials.make_known(call, credentials.COORDINATOR, coordinator_token)
            credentials.make_known(call, credentials.OWNER, owner_token)

        self.housekeep(work)

    def housekeep(self, chore: Callable[[Call], Any]) -> Any:
        """Runs a chore of housekeeping in a transaction of its own, as Toryo itself."""
        now = self.clock()

        def work(connection: Connection) -> tuple[Any, frozenset[str]]:
            tx = Transaction(connection)
            tx.lock_everything()
            result = chore(Call(tx, Caller(Kind.NOBODY), now, self.context))
            tx.events.flush()
            return result, frozenset(tx.hints)

        result, hints = self.database.write(work)
        if hints:
            self.publish(hints)
        return result


@dataclass(frozen=True, slots=True)
class _Asked:
    """One call on its way. `work` may run more than once; it changes nothing but through its connection."""

    office: Office
    operation: Operation
    arguments: dict[str, Any]
    parameters: BaseModel | Refusal
    """Judged before any transaction: whoever sends nonsense keeps nobody else waiting."""
    credentials: Credentials
    may_wait: bool
    now: Millis
    once: str
    """Names this call among all: a work that runs again is known by it."""
    again: bool = False
    """A further look of a call that waits: it was counted at the first."""
    prepared: Any = None

    def with_prepared(self, prepared: Any) -> _Asked:
        return self if prepared is None else replace(self, prepared=prepared)

    def refused_unseen(self) -> _Done | None:
        """The refusal of a caller without a credential that no look into the database would change."""
        if not self.credentials.anonymous:
            return None
        try:
            refuse(self.operation, _NOBODY)
        except Refusal as refusal:
            return self._to_nobody(refusal)
        return self._to_nobody(self.parameters) if isinstance(self.parameters, Refusal) else None

    def _to_nobody(self, refusal: Refusal) -> _Done:
        if self.operation.name == _LEAVE:
            return self._left(_NOBODY)
        return _Done(Outcome(self._told(refusal), True, operation=self.operation), frozenset(), _NOBODY)

    def _told(self, refusal: Refusal) -> dict[str, Any]:
        result = refusal.answer()
        if self.operation.name == "authenticate":
            result.setdefault("action", "exit")
        return result

    def look(self, connection: Connection) -> Callable[[], Any] | None:
        """What is to be prepared; nothing for a call that will be refused."""
        tx = Transaction(connection)
        assert self.operation.beforehand is not None
        try:
            caller = self._identified(tx)
            refuse(self.operation, caller)
            if isinstance(self.parameters, Refusal):
                return None
            return self.operation.beforehand(self._call(tx, caller), self.parameters)
        except Refusal:
            return None

    def work(self, connection: Connection) -> _Done:
        tx = Transaction(connection)
        caller: Caller | None = None
        made: Mapping[str, str] = {}
        try:
            caller = self._caller(tx)
            if caller.access_token is not None:
                self.office.context.uses.note(caller.access_token, self.now)
            if caller.key is not None and not self.again:
                self._refuse_too_often(caller.key)
            refuse(self.operation, caller)
            if isinstance(self.parameters, Refusal):  # not raised: it would keep its arguments from being freed
                return self._refused(tx, caller, self.parameters)
            call = self._call(tx, caller)
            made = call.made
            if call.has_session:
                if not self.operation.reads:
                    talking.confirm(call)
                gate.refuse(call, self.operation)
            key = self.credentials.idempotency_key
            result = repeating.carried_out(call, self.operation, self.parameters, self.arguments, key)
        except Refusal as refused:
            refusal = refused.without(made) if made else refused
            if tx.wrote:
                raise _RollBack(refusal) from None
            return self._refused(tx, caller, refusal)
        return self._answered(tx, call, result)

    def refusing(self, refusal: Refusal) -> Callable[[Connection], _Done]:
        """After a rollback: the work that counts the refusal and answers with it."""

        def work(connection: Connection) -> _Done:
            tx = Transaction(connection)
            return self._refused(tx, self._caller(tx), refusal)

        return work

    def _refuse_too_often(self, key: ApiKey) -> None:
        seconds = math.ceil(self.office.context.keys.wait_seconds(key.id, self.now / SECOND))
        if seconds:
            raise Refusal(
                Code.RATE_LIMITED,
                "This API key calls too often.",
                say("Wait {seconds} seconds, and call less often: poll_tasks waits by itself.", seconds=seconds),
                retry_after=seconds,
            )

    def _caller(self, tx: Transaction) -> Caller:
        """Who calls; within a project, once nobody else changes it."""
        caller = self._identified(tx)
        if caller.project_id is not None and not self.operation.reads and tx.lock_project(caller.project_id):
            caller = self._identified(tx)
        return caller

    def _identified(self, tx: Transaction) -> Caller:
        forgiving = self.operation.tool and (self.operation.grant is Grant.OPEN or self.operation.name == _LEAVE)
        return identify(tx, self.credentials, self.now, forgiving=forgiving)

    def _call(self, tx: Transaction, caller: Caller) -> Call:
        return Call(
            tx,
            caller,
            self.now,
            self.office.context,
            may_wait=self.may_wait,
            correlation_id=self.credentials.correlation_id,
            once=self.once,
            browser=self.credentials.browser,
            remote=self.credentials.remote,
            signed_in_before=self.credentials.signed_in_before,
            prepared=self.prepared,
        )

    def _answered(self, tx: Transaction, call: Call, result: dict[str, Any] | Later) -> _Done:
        if isinstance(result, Later):
            self._store(tx, call)
            return _Done(Outcome(None, later=result, operation=self.operation), frozenset(tx.hints), call.caller)
        refused = result.get("success") is False
        if call.has_session and not self.operation.reads:
            gate.touch(call, refused=refused)
            result = self._accompanied(call, result)
        events = tuple(tx.events.collected) if self.office.observers else ()
        happened = bool(tx.events.collected)
        self._store(tx, call)
        if happened and call.has_session:
            result = leading.dated(call, result)
        return _Done(Outcome(result, refused, None, self.operation), frozenset(tx.hints), call.caller, events)

    def _left(self, caller: Caller | None) -> _Done:
        """Who has no session (any more) has left: that always succeeds."""
        result = {"success": True, "instruction": words("logged_out", Language.ENGLISH)}
        return _Done(Outcome(result, operation=self.operation), frozenset(), caller)

    def _refused(self, tx: Transaction, caller: Caller | None, refusal: Refusal) -> _Done:
        tx.events.collected.clear()
        tx.hints.clear()
        if self.operation.name == _LEAVE and (caller.session is None if caller else refusal.message != TWO_CALLERS):
            return self._left(caller)
        result = self._told(refusal)
        if caller is not None and caller.session is not None and not self.operation.reads:
            call = self._call(tx, caller)
            talking.confirm(call)
            gate.touch(call, refused=True)
            if refusal.code is Code.RUNAWAY and call.session.runaway is None and not call.session.over:
                call.adopt_counts(gate.trip(call, call.session, "restless"))
            result = self._accompanied(call, result)
            self._store(tx, call)
        return _Done(Outcome(result, True, None, self.operation), frozenset(tx.hints), caller)

    def _accompanied(self, call: Call, result: dict[str, Any]) -> dict[str, Any]:
        """What rides along: `next` on the answers that lead on, and how many notices wait."""
        session = call.session
        if session.over or session.ended_at is not None:
            return result
        if self.operation.leads:
            result = {**result, "next": leading.riding(call)}
        waiting = call.tx.handovers.count_waiting(session.id)
        return {**result, "notifications_pending": waiting} if waiting else result

    def _store(self, tx: Transaction, call: Call) -> None:
        """The caller's session as it has become, and what happened."""
        if call.has_session and not self.operation.reads:
            tx.sessions.save(call.stored_session, call.session)
        tx.events.flush()


# --- arguments -------------------------------------------------------------------------------------------------------


def parameters_of(operation: Operation, arguments: dict[str, Any]) -> BaseModel | Refusal:
    """The arguments as the declared parameters, or what names each mistake and the nearest valid name."""
    try:
        if len(arguments) <= MOST_NAMES:
            _refuse_unstorable(operation, arguments)
        return operation.parameters.model_validate(arguments)
    except Refusal as refusal:
        return refusal
    except ValidationError as invalid:
        return _invalid(operation, invalid, arguments)


def _refuse_unstorable(operation: Operation, arguments: dict[str, Any]) -> None:
    """What JSON can hold but no column, log line or answer: seen here once, not where it would break something."""
    try:
        dumped = orjson.dumps(arguments)
    except TypeError as error:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say(
                "{operation_name}: the arguments hold what cannot be stored ({error}).",
                operation_name=operation.name,
                error=str(error),
            ),
            "Leave out half characters, numbers beyond 64 bits, and JSON nested more than 250 levels deep.",
        ) from None
    # what programs print is a Coordinator's to report as it is; those operations make it readable themselves
    if b"\\u0000" in dumped and operation.grant is not Grant.COORDINATOR and _has_nul(dumped):
        raise Refusal(
            Code.VALIDATION_ERROR,
            say(
                "{operation_name}: a text holds a NUL character, which cannot be stored.", operation_name=operation.name
            ),
            "Leave NUL characters out, and call it again.",
        )


def _has_nul(dumped: bytes) -> bool:
    """Whether JSON as orjson writes it holds an escaped NUL, and not just an escaped backslash before `u0000`."""
    return b"\\u0000" in dumped.replace(b"\\\\", b"")


def _invalid(operation: Operation, invalid: ValidationError, arguments: Mapping[str, Any]) -> Refusal:
    """How many mistakes there can be is bounded by the declarations: of names, of items of a list (`Parameters`)."""
    errors = invalid.errors(include_url=False, include_input=False)
    too_long = all(each["type"] in ("string_too_long", "too_long") for each in errors)
    mistakes = [
        {"parameter": ".".join(_short(part) for part in each["loc"]), "problem": _problem(each)} for each in errors[:20]
    ]
    known = list(operation.parameters.model_fields)
    meant = operation.parameters.names_for(arguments) if issubclass(operation.parameters, Parameters) else known
    unknown = (_short(each["loc"][0]) for each in errors if each["type"] == "extra_forbidden" and each["loc"])
    hints = [_nearest(name, known) for name in itertools.islice(unknown, 5)]
    listed = (
        say("{parameter}: {problem}", parameter=each["parameter"], problem=each["problem"])
        if each["parameter"]
        else each["problem"]
        for each in mistakes[:5]
    )
    told = together(listed, "; ")
    instruction = together(hints) or constant("Call it again with these mended.")
    return Refusal(
        Code.TOO_LARGE if too_long else Code.VALIDATION_ERROR,
        say("{operation_name}: {told}.", operation_name=operation.name, told=told),
        say("{instruction} Its parameters: {names}.", instruction=instruction, names=", ".join(meant) or "none"),
        errors=mistakes,
    )


def _short(name: object) -> str:
    """A name as an answer repeats it, and as near ones are looked for: both cost by its length."""
    return str(name)[:_LONGEST_NAME]


def _problem(mistake: Mapping[str, Any]) -> Worded:
    """What is wrong with one value: pydantic's words, and by its type of mistake those of other languages."""
    told = mistake["msg"].removeprefix("Value error, ")
    return Worded(told, f"pydantic {mistake['type']}", dict(mistake.get("ctx", {})))


def _nearest(name: str, known: list[str]) -> Worded:
    close = difflib.get_close_matches(name, known, 1)
    if not close:
        return say("Leave out {name}.", name=name)
    return say("Did you mean {close} instead of {name}?", close=close[0], name=name)


def _two_callers() -> Refusal:
    return Refusal(
        Code.INVALID_CREDENTIALS,
        "The connection's credential and api_key are two different callers.",
        "Leave api_key out, or the Authorization header.",
    )


def _nothing_of_that_name(name: str, door: Door) -> Operation:
    """What is carried out in place of what does not exist behind this door: it refuses, once it is known who asks."""

    def handler(call: Call, _: NoParameters) -> dict[str, Any]:
        raise _unknown(name, door, call.caller)

    return Operation(_NO_TOOL, "", Grant.OPEN, NoParameters, Result, handler, reads=True)


def _unknown(name: str, door: Door, caller: Caller) -> Refusal:
    """Near names are those of tools that this caller is shown or may call; what only people do is said to be theirs."""
    known = catalogue().get(name)
    if door is Door.MCP and known is not None and known.grant in _OF_PEOPLE and not caller.is_person:
        try:
            refuse(known, caller)
        except Refusal as refusal:
            return refusal
    shown = {each.name for each in listing.tools_for(caller)}
    names = [each.name for each in tools() if each.name in shown or allowed(each, caller)]
    close = difflib.get_close_matches(_short(name), names, 3)
    instruction = (
        say("Did you mean {names}?", names=" or ".join(close)) if close else "Call help for the tools there are."
    )
    return Refusal(Code.TOOL_NOT_FOUND, say("There is no tool {name!r}.", name=_short(name)), instruction)


# --- what goes wrong -------------------------------------------------------------------------------------------------


def _fault(error: Exception) -> Refusal:
    """Faults of the database as answers; anything else is a defect and is raised on."""
    if isinstance(error, DatabaseUnavailable):
        return Refusal(Code.UNAVAILABLE, error.message, error.instruction)
    if isinstance(error, Unstorable):
        return Refusal(Code.VALIDATION_ERROR, str(error), "Leave such characters and numbers out.")
    if isinstance(error, ConstraintBroken):
        return Refusal(
            Code.CONFLICT, "Somebody else changed the same thing at the same time.", "Look again, and repeat."
        )
    raise error


def _limits(settings: Settings) -> Limits:
    """The guards of the settings (seconds) as decisions take them (milliseconds)."""
    guards = settings.guards.model_dump()
    return Limits(**{name: value * SECOND if name in _IN_SECONDS else value for name, value in guards.items()})


def _pace_of_keys(settings: Settings) -> Pace:
    """A minute's calls at once, then as many as become free."""
    a_minute = settings.auth.key_calls_per_minute
    return Pace(a_minute, 60 / a_minute)


def _talk(settings: Settings) -> chat.Limits:
    """The chat settings (seconds) as the rules about talk take them (milliseconds)."""
    counts = ("delegation_attempts", "messages_per_minute", "conversations_per_hour")
    given = settings.chat.model_dump()
    return chat.Limits(**{name: value if name in counts else value * SECOND for name, value in given.items()})


_IN_SECONDS = frozenset({"stop_grace", "pause_grace", "silence", "run_time", "cooldown", "longest_cooldown"})


def _owner(now: Millis) -> Agent:
    return Agent(
        id=OWNER_ID,
        name="Owner",
        kind=AgentKind.HUMAN,
        role=Role.OWNER,
        reports_to=None,
        status=Status.ACTIVE,
        provider=None,
        model=None,
        agent_type=None,
        capabilities=(),
        max_parallel_tasks=1,
        system_prompt="",
        provider_options={},
        created_at=now,
        updated_at=now,
    )


# --- the log line ----------------------------------------------------------------------------------------------------


def _log(asked: _Asked, done: _Done, seconds: float) -> None:
    """One structured line per tool call; polling and reading at debug, so that an idle hour writes next to nothing."""
    operation, caller, result = asked.operation, done.caller, done.outcome.result or {}
    polls = operation.grant is Grant.COORDINATOR and (operation.waits or result.get("action") == "hold")
    paced = result.get("code", result.get("error")) in (Code.LOCKED, Code.RATE_LIMITED)  # not a line for each try
    idle = operation.reads or paced or (polls and not done.outcome.refused)
    if idle and not _calls.is_enabled_for(logging.DEBUG):
        return
    write = _calls.debug if idle else _calls.info
    session = caller.session if caller is not None else None
    agent_id, task_id, correlation_id = _about(asked, done)
    write(
        "tool_call",
        agent_id=agent_id,
        task_id=task_id,
        correlation_id=correlation_id,
        duration_ms=round(seconds * 1000, 2),
        metadata={
            "tool": operation.name,
            "session": session.id if session is not None else None,
            "purpose": session.purpose.value if session is not None else None,
            "project": caller.project_id if caller is not None else None,
            "outcome": str(result.get("code", result.get("error"))) if done.outcome.refused else "ok",
            "arguments": masking.shown(operation.parameters, asked.arguments),
        },
        **_STRANGER if caller is None or caller.kind is Kind.NOBODY else {},
    )


def _about(asked: _Asked, done: _Done) -> tuple[str | None, str | None, str | None]:
    """Which agent, task and request a call belongs to: a session's, or what a queue agent's answer names."""
    caller, result = done.caller, done.outcome.result or {}
    if caller is not None and caller.session is not None:
        return caller.session.agent_id, caller.session.task_id, caller.session.correlation_id
    if caller is not None and caller.key is not None:
        return caller.key.agent_id, result.get("task_id"), result.get("correlation_id")
    agent = caller.agent if caller is not None else None
    return agent.id if agent is not None else None, None, asked.credentials.correlation_id


def _observed(asked: _Asked, done: _Done, seconds: float) -> Observed:
    session = done.caller.session if done.caller is not None else None
    agent_id, task_id, correlation_id = _about(asked, done)
    result = done.outcome.result or {}
    return Observed(
        operation=asked.operation.name,
        outcome=str(result.get("code", result.get("error"))) if done.outcome.refused else "ok",
        seconds=seconds,
        ended_at=time.time(),
        agent_id=agent_id,
        session_id=session.id if session is not None else None,
        task_id=task_id,
        correlation_id=correlation_id,
        events=done.events,
    )

"""The one path of every call.

`validate → identify → admit → guard → replay or handle → count, accompany → record → commit → hint`

What is stored by then is counted, too (`stored_limits.py`).

Calls that arrive at the same time are carried out in one transaction where the handler takes many (`batches.py`): the
same steps, each for all of them.

Arguments are judged before any transaction; what takes long is prepared outside of one (`beforehand`). Synchronous:
nothing runs between two statements of a transaction. A `Refusal` anywhere changes nothing and becomes an answer.
Waiting happens at the edge, which performs again after a hint. The path knows no operation by its name: what is
peculiar to one stands in its declaration (`catalogue.operation`), what sessions need in `session_hooks`.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from toryo.domain.errors import Code, Refusal
from toryo.domain.events import Event
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.projects import Isolation
from toryo.domain.times import SECOND, Millis
from toryo.domain.wording import say
from toryo.operations.calls import (
    batches,
    call_log,
    context,
    idempotency,
    keyless,
    session_hooks,
    stored_limits,
    together,
    toolsets,
    validation,
)
from toryo.operations.calls.awake import Awake
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import NOTHING_SHOWN, Caller, Credentials, Kind
from toryo.operations.calls.catalogue import Later, NoParameters, Operation, Proof, catalogue
from toryo.operations.calls.credential_verification import SESSION, KnownKeys, TwoCallers, digest, identify
from toryo.operations.calls.forecasting import Forecasting
from toryo.operations.calls.grants import KEYED, Door, Grant
from toryo.operations.calls.observers import Observed, Observer
from toryo.operations.calls.permissions import refuse
from toryo.operations.calls.proofs import refuse_unproven
from toryo.operations.calls.results import JsonObject, Result
from toryo.settings import Settings
from toryo.storage.engine.database import Connection, Database
from toryo.storage.errors import ConstraintBroken, DatabaseUnavailable, Unstorable
from toryo.storage.shared_state import InDatabase, Shared
from toryo.storage.transaction import Transaction
from toryo.workflow.guard_limits import Limits

_NO_TOOL = "no_such_tool"
"""How a call of what does not exist is counted, whatever its name."""
_NOBODY = Caller(Kind.NOBODY)
_SLOW_AT_ONCE = 2
"""How many slow preparations (password hashes) run at a time, so that a flood of sign-ins uses at most two cores."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome:
    """`result` is plain JSON data; None with `later`, when there is no result yet."""

    result: JsonObject | None
    refused: bool = False
    later: Later | None = None
    operation: Operation | None = None


class _RollBack(Exception):
    """A refusal after the first write: the transaction must be rolled back."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


@dataclass
class Answered:
    """What a work returns from its transaction."""

    outcome: Outcome
    hints: frozenset[str]
    caller: Caller | None
    events: tuple[Event, ...] = ()
    """What happened, for observers; empty where there are none."""

    @property
    def later(self) -> Later | None:
        return self.outcome.later


class Dispatcher:
    """Performs calls for one server process. `clock` returns epoch milliseconds, `entropy(n)` n random bits."""

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
        tokens: context.TokenFiles | None = None,
        forecasts: Forecasting | None = None,
    ) -> None:
        self.database = database
        self.settings = settings
        self.clock = clock
        self.publish = publish
        self.observers = tuple(observers)
        self._name, self._asked_so_far = uuid.uuid4().hex, itertools.count()
        self.context = context.Context(
            settings,
            limits or context.limits_of(settings),
            entropy,
            talk=context.chat_limits_of(settings),
            shared=shared,
            keys=context.pace_of_keys(settings),
            tokens=tokens,
            forecasts=forecasts,
            awake=Awake(clock()),
        )
        self.keys = KnownKeys()
        self.batches = batches.Batches(self.context, self.keys)
        self.gatherings = together.Gatherings(database, self.batches.carry_out, publish)
        self._after_gap: Callable[[Call], None] | None = None

    # --- gaps ------------------------------------------------------------------------------------------------------

    def watch_for_gaps(self, afterwards: Callable[[Call], None]) -> None:
        """From now on nothing is decided after a gap before `afterwards`; the first gap is that before the start."""
        self._after_gap = afterwards
        self._resume(self.database.write(self._itself(self._alone(afterwards), NOTHING_SHOWN)))

    def notice_gap(self) -> None:
        """Whether nobody has looked for too long: then what could not be said meanwhile counts as said."""
        if (afterwards := self._missed()) is not None:
            self._resume(self.database.write(self._itself(self._alone(afterwards), NOTHING_SHOWN)))

    async def _notice_gap_async(self) -> None:
        if (afterwards := self._missed()) is not None:
            self._resume(await self.database.write_async(self._itself(self._alone(afterwards), NOTHING_SHOWN)))

    def _missed(self) -> Callable[[Call], None] | None:
        if self._after_gap is None or (passed := self.context.awake.gap(self.clock())) is None:
            return None
        call_log.calls.warning("time_passed_unseen", seconds=passed // SECOND)
        return self._after_gap

    def _resume(self, done: tuple[None, frozenset[str], tuple[Event, ...]]) -> None:
        self.context.awake.watch(self.clock(), self.settings.session.lease * SECOND)
        if done[1]:
            self.publish(done[1])

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
        """Carries out one call and returns its answer after the commit. Never raises for a caller's mistake.

        `door`: the transport by which the call came in; required if the name came from a client.
        """
        asked = self._asked(name, arguments, credentials, door, may_wait)
        if isinstance(asked, Outcome):
            return asked
        started = time.perf_counter()
        if (answered := asked.answered_unseen()) is not None:
            return self._finish(asked, answered, started)
        try:
            self.notice_gap()
            try:
                done = self._carried_out(asked)
            except _RollBack as after_write:
                done = self.database.write(asked.refusing(after_write.refusal))
        except Exception as error:  # noqa: BLE001 - faults of the database become answers, others are raised on
            done = Answered(Outcome(_fault(error).answer(), True, operation=asked.operation), frozenset(), None)
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
        held: together.Held | None = None,
    ) -> Outcome:
        """As `perform`, for the edges that live on an event loop. `again`: a call that waits looks once more.

        `held`: between the looks of a call that waits, others may be carried out together with it.
        """
        asked = self._asked(name, arguments, credentials, door, may_wait, again=again)
        if isinstance(asked, Outcome):
            return asked
        started = time.perf_counter()
        if (answered := asked.answered_unseen()) is not None:
            return self._finish(asked, answered, started)
        if held is not None and isinstance(given := await held.answered(), Answered):
            return self._finish(asked, given, started)
        try:
            await self._notice_gap_async()
            try:
                done = await self._carried_out_async(asked, held)
            except _RollBack as after_write:
                done = await self.database.write_async(asked.refusing(after_write.refusal))
        except Exception as error:  # noqa: BLE001 - as in `perform`
            done = Answered(Outcome(_fault(error).answer(), True, operation=asked.operation), frozenset(), None)
        return self._finish(asked, done, started)

    def _carried_out(self, asked: Request) -> Answered:
        asked = asked.with_prepared(self._prepare(asked))
        return self._run(asked)(asked.work)

    async def _carried_out_async(self, asked: Request, held: together.Held | None) -> Answered:
        """As `_carried_out`, together with the other calls that wait."""
        if self.batches.takes(asked):
            calls = self.gatherings.here()
            answer, counted = await calls.carried_out(asked)
            if answer is not None:
                assert isinstance(answer, Answered)
                if held is not None and answer.later is not None:
                    held.wait_at(calls, replace(asked, again=True), answer.later.topics)
                return answer
            asked = replace(asked, again=asked.again or counted)
        if asked.operation.beforehand is not None:
            loop = asyncio.get_running_loop()
            asked = asked.with_prepared(await loop.run_in_executor(_slow(), self._prepare, asked))
        return await self._run_async(asked)(asked.work)

    def _prepare(self, asked: Request) -> Any:
        """What takes long, done outside of any transaction: others write meanwhile."""
        if asked.operation.beforehand is None:
            return None
        todo = self.database.read(asked.look)
        return todo() if todo is not None else None

    def _run(self, asked: Request) -> Callable[[Callable[[Connection], Answered]], Answered]:
        return self.database.read if asked.operation.reads else self.database.write

    def _run_async(self, asked: Request) -> Callable[[Callable[[Connection], Answered]], Awaitable[Answered]]:
        if asked.operation.little:
            return self.database.read_little_async
        return self.database.read_async if asked.operation.reads else self.database.write_async

    def _asked(
        self,
        name: str,
        arguments: dict[str, Any],
        credentials: Credentials,
        door: Door,
        may_wait: bool,
        *,
        again: bool = False,
    ) -> Request | Outcome:
        operation = catalogue().get(name)
        arguments = dict(arguments)
        if operation is None or door not in operation.doors:
            operation = _nothing_of_that_name(name, door)
            arguments = {key: arguments[key] for key in ("session_token", "api_key") if key in arguments}
        if operation.grant in KEYED or operation.name == _NO_TOOL:
            api_key = arguments.pop("api_key", None)
            if isinstance(api_key, str) and api_key:
                if credentials.bearer not in (None, api_key):
                    return Outcome(_key_and_bearer_differ().answer(), True, operation=operation)
                credentials = replace(credentials, bearer=api_key)
        token = arguments.pop("session_token", None)
        if isinstance(token, str) and token:
            credentials = replace(credentials, session_token=token)
        once = f"{self._name}:{next(self._asked_so_far)}"
        parameters, ignored = (
            validation.meant_by(operation, arguments)
            if door is Door.MCP
            else (validation.parameters_of(operation, arguments), ())
        )
        if operation.name == _NO_TOOL and credentials.anonymous:
            parameters = validation.no_such_tool(name, door, _NOBODY)
        return Request(
            self,
            operation,
            arguments,
            parameters,
            credentials,
            may_wait and operation.waits,
            self.clock(),
            once,
            again,
            ignored=ignored,
        )

    def _finish(self, asked: Request, done: Answered, started: float) -> Outcome:
        if done.hints:
            self.publish(done.hints)
        if done.outcome.later is None and (self.observers or not call_log.silent(asked.operation)):
            call = call_log.Finished(
                asked.operation,
                asked.arguments,
                done.caller,
                done.outcome.result or {},
                done.outcome.refused,
                time.perf_counter() - started,
                asked.credentials.correlation_id,
                done.events,
            )
            call_log.write(call)
            if self.observers:
                self._tell_observers(call_log.observed(call))
        return done.outcome if not asked.ignored else _naming(asked.ignored, done.outcome)

    def _tell_observers(self, observed: Observed) -> None:
        for observer in self.observers:
            try:
                observer(observed)
            except Exception as error:  # noqa: BLE001 - who measures must not break what is measured
                call_log.calls.warning("observer_failed", error=str(error))

    # --- beside calls ----------------------------------------------------------------------------------------------

    def list_tools(self, credentials: Credentials, toolset: str | None = None) -> list[Operation]:
        """The tools that `tools/list` shows this caller. Raises nothing: who is not known sees what nobody sees."""
        return self.database.read(lambda connection: self._listed(connection, credentials, toolset))

    async def list_tools_async(self, credentials: Credentials, toolset: str | None = None) -> list[Operation]:
        return await self.database.read_little_async(lambda connection: self._listed(connection, credentials, toolset))

    async def why_unknown_async(self, credentials: Credentials) -> Refusal | None:
        """What is said to a caller whose bearer token proves nobody; None for all others, while the database is away,
        and for the token of a session: who has an old one signs in again with it."""
        if credentials.bearer is None or credentials.bearer.startswith(SESSION):
            return None
        with contextlib.suppress(DatabaseUnavailable):
            return await self.database.read_little_async(lambda connection: self._why_unknown(connection, credentials))
        return None

    def _why_unknown(self, connection: Connection, credentials: Credentials) -> Refusal | None:
        try:
            identify(Transaction(connection), credentials, self.clock())
        except Refusal as refusal:
            return refusal if refusal.code is Code.INVALID_CREDENTIALS else None
        return None

    def _listed(self, connection: Connection, credentials: Credentials, toolset: str | None) -> list[Operation]:
        tx = Transaction(connection)
        try:
            caller = identify(tx, credentials, self.clock())
        except Refusal:
            caller = Caller(Kind.NOBODY)
        task_id = caller.launch.task_id if caller.launch is not None else None
        task = tx.tasks.find(task_id) if task_id is not None else None
        if caller.kind is Kind.NOBODY and credentials.keyless and toolset is None:
            return toolsets.tools_without_key(caller)
        project = tx.projects.find(task.project_id) if task is not None else None
        return toolsets.tools_for(
            caller,
            toolset,
            reviews=task is not None and task.review_of is not None,
            worktrees=project is not None and project.settings.isolation is Isolation.WORKTREE,
            tries_checks=toolsets.tries_checks(tx, caller, task, project, self.clock()),
            runs_commands=toolsets.runs_commands(tx, caller, self.clock()),
        )

    def housekeep(self, chore: Callable[[Call], T]) -> T:
        """Runs a chore of housekeeping in a transaction of its own, as Toryo itself, while nobody else writes."""

        self.notice_gap()
        result, hints, _ = self.database.write(self._itself(self._alone(chore), NOTHING_SHOWN))
        if hints:
            self.publish(hints)
        return result

    @staticmethod
    def _alone(chore: Callable[[Call], T]) -> Callable[[Call], T]:
        def alone(call: Call) -> T:
            call.tx.lock_everything()
            call.tx.connection.directory()  # a newer server may have upgraded the tables, and nobody else looks here
            return chore(call)

        return alone

    def in_passing(self, step: Callable[[Call], T], *, reads: bool = False) -> T:
        """A step of a chore that has many: as Toryo itself, while others write. What it changes, it locks itself."""
        run = self.database.read if reads else self.database.write
        result, hints, _ = run(self._itself(step, NOTHING_SHOWN))
        if hints:
            self.publish(hints)
        return result

    async def as_server(
        self, step: Callable[[Call], T], shown: Credentials = NOTHING_SHOWN, *, reads: bool = False
    ) -> T:
        """A step of the server's own within a request, which no client can call: one transaction, as Toryo itself.

        `shown`: what the request brought; it proves nothing here. Raises Refusal, and then nothing was done.
        """
        started, run = time.perf_counter(), self.database.read_async if reads else self.database.write_async
        try:
            result, hints, events = await run(self._itself(step, shown))
        except Refusal as refusal:
            self._tell_of_step(step, refusal.code.value, started)
            raise
        except Exception as error:  # noqa: BLE001 - as in `perform`
            raise _fault(error) from None
        if hints:
            self.publish(hints)
        self._tell_of_step(step, "ok", started, events)
        return result

    def _tell_of_step(
        self, step: Callable[[Call], Any], outcome: str, started: float, events: tuple[Event, ...] = ()
    ) -> None:
        seconds = time.perf_counter() - started
        self._tell_observers(Observed(step_name(step), outcome, seconds, time.time(), events=events))

    def _itself(
        self, work: Callable[[Call], T], shown: Credentials
    ) -> Callable[[Connection], tuple[T, frozenset[str], tuple[Event, ...]]]:
        now = self.clock()

        def carry_out(connection: Connection) -> tuple[T, frozenset[str], tuple[Event, ...]]:
            tx = Transaction(connection)
            call = Call(
                tx,
                Caller(Kind.SERVER),
                now,
                self.context,
                correlation_id=shown.correlation_id,
                browser=shown.browser,
                remote=shown.remote,
            )
            result = work(call)
            events = tuple(tx.events.collected)
            tx.events.flush()
            return result, frozenset(tx.hints), events

        return carry_out


def _naming(ignored: tuple[str, ...], outcome: Outcome) -> Outcome:
    """The answer, and what of the call had no effect."""
    if outcome.result is None or outcome.refused:
        return outcome
    return replace(outcome, result={**outcome.result, "ignored": [*ignored]})


@dataclass(frozen=True, slots=True)
class Request:
    """One call in progress. `work` may run more than once and has effects only through its connection."""

    dispatcher: Dispatcher
    operation: Operation
    arguments: dict[str, Any]
    parameters: BaseModel | Refusal
    """Validated before any transaction, so that invalid calls do not delay others."""
    credentials: Credentials
    may_wait: bool
    now: Millis
    once: str
    """Names this call among all: a work that runs again is known by it."""
    again: bool = False
    """A further look of a call that waits: it was counted at the first."""
    prepared: Any = None
    ignored: tuple[str, ...] = ()
    """Names among the arguments that are no parameters."""

    def with_prepared(self, prepared: Any) -> Request:
        return self if prepared is None else replace(self, prepared=prepared)

    def answered_unseen(self) -> Answered | None:
        """What a caller without a credential is answered where no look into the database would change it: a refusal, or
        what the operation says by itself.
        """
        if not self.credentials.anonymous:
            return None
        try:
            refuse(self.operation, _NOBODY)
        except Refusal as refusal:
            return self._to_nobody(refusal)
        if isinstance(self.parameters, Refusal):
            return self._to_nobody(self.parameters)
        if self.operation.unseen is None:
            return None
        try:
            result = self.operation.unseen(self.dispatcher.context, self.dispatcher.database, self.now)
        except Exception as error:  # noqa: BLE001 - as in `perform`
            return self._to_nobody(_fault(error))
        return None if result is None else Answered(Outcome(result, operation=self.operation), frozenset(), _NOBODY)

    def _to_nobody(self, refusal: Refusal) -> Answered:
        instead = self._instead_of(refusal, _NOBODY)
        return instead or Answered(Outcome(self._told(refusal), True, operation=self.operation), frozenset(), _NOBODY)

    def _told(self, refusal: Refusal) -> JsonObject:
        return {**self.operation.refusals_carry, **refusal.answer()}

    def _instead_of(self, refusal: Refusal, caller: Caller | None) -> Answered | None:
        """What the declaration answers in place of a refusal (leaving without a session succeeds)."""
        if self.operation.instead is None or isinstance(refusal, TwoCallers):
            return None
        if caller is not None and caller.session is not None:
            return None
        return Answered(Outcome(dict(self.operation.instead()), operation=self.operation), frozenset(), caller)

    def look(self, connection: Connection) -> Callable[[], Any] | None:
        """The slow preparation of this call; None if there is none or the call will be refused."""
        tx = Transaction(connection)
        assert self.operation.beforehand is not None
        try:
            caller = self._identified(tx)
            self._refuse(caller)
            if isinstance(self.parameters, Refusal):
                return None
            return self.operation.beforehand(self.call_of(tx, caller), self.parameters)
        except Refusal:
            return None

    def work(self, connection: Connection) -> Answered:
        tx = Transaction(connection)
        caller: Caller | None = None
        made: Mapping[str, str] = {}
        try:
            caller = self._identify(tx)
            self._admit(caller)
            if isinstance(self.parameters, Refusal):  # not raised: it would keep its arguments from being freed
                return self._refused(tx, caller, self.parameters)
            call = self.call_of(tx, caller)
            made = call.made
            if call.has_session:
                session_hooks.hooks().guard(call, self.operation)
            stored_limits.refuse_full(call, self.operation, self.arguments)
            # What the handler answers; with an idempotency key that was used before, what it answered then.
            key = self.credentials.idempotency_key
            result = idempotency.carried_out(call, self.operation, self.parameters, self.arguments, key)
            if not isinstance(result, Later):
                stored_limits.count(call, self.operation, self.arguments)
        except Refusal as refusal:
            told = refusal.without(made) if made else refusal
            if tx.wrote:
                raise _RollBack(told) from None
            return self._refused(tx, caller, told)
        if isinstance(result, Later):
            self._record(tx, call)
            return Answered(Outcome(None, later=result, operation=self.operation), frozenset(tx.hints), call.caller)
        refused = result.get("success") is False
        # A caller that has waited, and calls again as it is told, does not go round in circles.
        result = self._count(call, result, refused=refused and not self.again)
        events = tuple(tx.events.collected) if self.dispatcher.observers else ()
        happened = bool(tx.events.collected)
        self._record(tx, call)
        if happened and call.has_session:
            # The state_version that this very call has caused: known only once its events are stored.
            result = session_hooks.hooks().recorded(call, result)
        return Answered(Outcome(result, refused, None, self.operation), frozenset(tx.hints), call.caller, events)

    def answered(self, answer: Mapping[str, Any] | Later, call: Call) -> Answered:
        """By a batch."""
        if isinstance(answer, Later):
            outcome = Outcome(None, later=answer, operation=self.operation)
        else:
            outcome = Outcome(cast("JsonObject", answer), operation=self.operation)
        return Answered(outcome, frozenset(), call.caller, tuple(call.told))

    def at(self, now: Millis) -> Request:
        return replace(self, now=now)

    def refusing(self, refusal: Refusal) -> Callable[[Connection], Answered]:
        """After a rollback: the work that counts the refusal and answers with it."""

        def work(connection: Connection) -> Answered:
            tx = Transaction(connection)
            return self._refused(tx, self._identify(tx), refusal)

        return work

    # --- its steps -------------------------------------------------------------------------------------------------

    def _identify(self, tx: Transaction) -> Caller:
        """Who calls; within a project, once nobody else changes it."""
        if self.operation.reads:
            return self._identified(tx)
        keys, bearer = self.dispatcher.keys, self.credentials.bearer
        if (known := keys.project_of(bearer)) is not None:
            tx.lock_project(known)
        caller = self._identified(tx)
        if caller.project_id not in (None, known):
            if caller.key is not None and bearer is not None:
                keys.learn({digest(bearer): caller.project_id})
            if tx.lock_project(caller.project_id):
                caller = self._identified(tx)
        return caller

    def _identified(self, tx: Transaction) -> Caller:
        forgiving = self.operation.tool and (self.operation.grant is Grant.OPEN or self.operation.instead is not None)
        caller = identify(tx, self.credentials, self.now, forgiving=forgiving)
        if caller.kind is Kind.NOBODY and self.credentials.keyless and self.operation.grant in KEYED:
            agent_id, task_id = (getattr(self.parameters, each, None) for each in ("agent_id", "task_id"))
            return keyless.caller(tx, agent_id, task_id, self.now)
        return caller

    def _admit(self, caller: Caller) -> None:
        """May this caller call this, and not too often? Raises Refusal."""
        memory = self.dispatcher.context
        if caller.access_token is not None:
            memory.uses.note(caller.access_token, self.now)
        if caller.key is not None and not self.again:
            seconds = math.ceil(memory.keys.wait_seconds(caller.key.id, self.now / SECOND))
            if seconds:
                raise Refusal(
                    Code.RATE_LIMITED,
                    "Too many calls with this API key.",
                    say(
                        "Wait {seconds} seconds, then call less often. poll_tasks itself waits for tasks.",
                        seconds=seconds,
                    ),
                    retry_after=seconds,
                )
        self._refuse(caller)

    def _refuse(self, caller: Caller) -> None:
        refuse(self.operation, caller)
        if self.operation.proof is Proof.ALWAYS:
            refuse_unproven(caller, self.now)

    def _count(self, call: Call, result: JsonObject, *, refused: bool, refusal: Refusal | None = None) -> JsonObject:
        """Counts the call for the guards of its session; returns the answer with the next action."""
        if not call.has_session or self.operation.reads:
            return result
        # Count renews the lease and may stop a runaway; accompany adds `next` and waiting notifications.
        hooks = session_hooks.hooks()
        hooks.count(call, refused=refused, refusal=refusal)
        return hooks.accompany(call, self.operation, result)

    def _record(self, tx: Transaction, call: Call) -> None:
        """The caller's session as it has become, and what happened."""
        if call.has_session and not self.operation.reads:
            tx.sessions.save(call.stored_session, call.session)
        tx.events.flush()

    def _refused(self, tx: Transaction, caller: Caller | None, refusal: Refusal) -> Answered:
        tx.events.collected.clear()
        tx.hints.clear()
        if (instead := self._instead_of(refusal, caller)) is not None:
            return instead
        result = self._told(refusal)
        if caller is not None and caller.session is not None and not self.operation.reads:
            call = self.call_of(tx, caller)
            result = self._count(call, result, refused=True, refusal=refusal)
            self._record(tx, call)
        return Answered(Outcome(result, True, None, self.operation), frozenset(tx.hints), caller)

    def call_of(self, tx: Transaction, caller: Caller) -> Call:
        return Call(
            tx,
            caller,
            self.now,
            self.dispatcher.context,
            may_wait=self.may_wait,
            correlation_id=self.credentials.correlation_id,
            once=self.once,
            browser=self.credentials.browser,
            remote=self.credentials.remote,
            signed_in_before=self.credentials.signed_in_before,
            page=self.credentials.page,
            prepared=self.prepared,
        )


def step_name(step: Callable[[Call], Any]) -> str:
    """What a step of the server's own is called in logs and metrics: its function."""
    return str(getattr(step, "__name__", None) or getattr(getattr(step, "func", None), "__name__", "step"))


def _key_and_bearer_differ() -> Refusal:
    return Refusal(
        Code.INVALID_CREDENTIALS,
        "The connection's credential and api_key belong to different callers.",
        "Omit api_key or the Authorization header.",
    )


def _nothing_of_that_name(name: str, door: Door) -> Operation:
    """What is carried out in place of what does not exist behind this door: it refuses, once it is known who asks."""

    def handler(call: Call, _: NoParameters) -> Result:
        raise validation.no_such_tool(name, door, call.caller)

    return Operation(name=_NO_TOOL, summary="", grant=Grant.OPEN, result=Result, handler=handler, reads=True)


def _fault(error: Exception) -> Refusal:
    """Faults of the database as answers; anything else is a defect and is raised on."""
    if isinstance(error, DatabaseUnavailable):
        return Refusal(Code.UNAVAILABLE, error.message, error.instruction)
    if isinstance(error, Unstorable):
        return Refusal(Code.VALIDATION_ERROR, str(error), "Remove the characters or numbers that cannot be stored.")
    if isinstance(error, ConstraintBroken):
        return Refusal(Code.CONFLICT, "Someone else changed this at the same time.", "Read it again, then retry.")
    raise error


@lru_cache(maxsize=1)
def _slow() -> ThreadPoolExecutor:
    """The threads that run `beforehand`, so that quick calls do not wait for slow preparations."""
    return ThreadPoolExecutor(_SLOW_AT_ONCE, thread_name_prefix="toryo-slow")

"""Calls that are carried out together: what a handler of many is given, and what a batch does around its handlers.

A handler under `in_batches` takes the calls of its operation that arrived at the same time (`together.py`); called with
one, it carries out a batch of one, on the path of every call (`dispatch.py`). Of several calls it answers those that
need nothing but its few statements for all. The others it leaves, having done nothing for them: each is carried out by
itself, which is also how it is refused, if it must be. So is every call of a batch that failed.

A batch takes calls of all projects. It answers as if it had carried out its operations in the order of the catalogue,
those that wait for others last (calls that arrive together have no order). It knows callers by their API keys alone.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from toryo.domain.errors import Refusal
from toryo.domain.projects import Project
from toryo.domain.times import SECOND, Millis
from toryo.operations.calls import idempotency, permissions, stored_limits
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Caller
from toryo.operations.calls.catalogue import Later, catalogue
from toryo.operations.calls.context import Context
from toryo.operations.calls.credential_verification import QUEUE, KnownKeys, digest, holder_of
from toryo.operations.calls.together import Answer, Batch, Request
from toryo.storage.engine.database import Connection
from toryo.storage.queues import KeyHolder
from toryo.storage.stored_amounts import Amount, Owner
from toryo.storage.transaction import Transaction

P = TypeVar("P")
A = TypeVar("A", bound="Mapping[str, Any] | Later")
T = TypeVar("T")


class Left(Exception):
    """Raised in `Calls.each`: this call meets another one of its batch, so it is carried out by itself."""


class Asked(Generic[P]):
    """One call, and what it wants."""

    __slots__ = ("_project", "call", "wanted")

    def __init__(self, call: Call, wanted: P) -> None:
        self.call = call
        self.wanted = wanted
        self._project: Project | None = None

    @property
    def project(self) -> Project:
        """The caller's. Raises Refusal."""
        if self._project is None:
            self._project = self.call.project(self.call.caller.project_id or "")
        return self._project

    @property
    def member(self) -> bool:
        """Whether the calling agent is one of the project now."""
        return _is_member(self.call.tx.agents.membership(self.call.caller.project_id or "", self.call.agent.id))


class _AmongOthers(Asked[P]):
    """One of several, whose caller was read together with theirs."""

    __slots__ = ("_holder", "owners", "request", "stores")

    def __init__(self, call: Call, wanted: P, request: Request, holder: KeyHolder) -> None:
        super().__init__(call, wanted)
        self.request = request
        self._holder = holder
        self._project = holder.project
        self.stores = stored_limits.counts(request.operation, call.caller)
        """Whether what it stores is counted, and whose counts it adds to."""
        self.owners = stored_limits.owners(holder.project.id, call.caller.actor_id)

    @property
    def member(self) -> bool:
        return _is_member(self._holder.membership)


def _is_member(membership: tuple[Millis, Millis | None] | None) -> bool:
    return membership is not None and membership[1] is None


class Calls(Generic[P]):
    """The calls of one operation that are carried out together; mostly it is one."""

    def __init__(self, tx: Transaction, asked: Sequence[Asked[P]], batch: _Work | None = None) -> None:
        self.tx = tx
        self._asked = asked
        self._batch = batch
        self._offered: Counter[str] = Counter() if batch is None else batch.offered
        self._exhausted: set[str] = set() if batch is None else batch.exhausted

    def __iter__(self) -> Iterator[Asked[P]]:
        return iter(self._asked)

    def each(self, asked: Iterable[Asked[P]], judge: Callable[[Asked[P]], T]) -> list[tuple[Asked[P], T]]:
        """The calls that are not refused by `judge`, which writes nothing. In a batch of one the refusal is raised."""
        if self._batch is None:
            return [(each, judge(each)) for each in asked]
        found = []
        for each in asked:
            try:
                found.append((each, judge(each)))
            except (Left, Refusal):  # by itself it is refused in its own words
                continue
        return found

    def alone(self, answered: Mapping[Asked[P], Any]) -> Iterator[Asked[P]]:
        """The call that has no answer yet, if it is carried out by itself: anything may be done for it."""
        return (each for each in self._asked if self._batch is None and each not in answered)

    def leave(self) -> None:
        """Within `each`: among others, this call is not carried out here."""
        if self._batch is not None:
            raise Left

    def has_room(self, asked: Asked[P], tasks: int, events: int) -> bool:
        """Whether what it adds certainly fits (`stored_limits.py`); from now on it is taken into account. A call by
        itself is judged afterwards."""
        return self._batch is None or not isinstance(asked, _AmongOthers) or self._batch.has_room(asked, tasks, events)

    # what waiting calls are woken for

    def offer(self, topic: str) -> None:
        """Something is there for a call that waits for this topic."""
        self._offered[topic] += 1

    def exhaust(self, topic: str) -> None:
        """Nothing of what was offered is left: nobody need look."""
        self._exhausted.add(topic)

    def wake(self) -> None:
        self.tx.hint(*(self._offered.keys() - self._exhausted))


class InBatches(Generic[P, A]):
    """A handler that carries out many calls. Called with one, it carries out a batch of one."""

    def __init__(self, carry_out: Callable[[Calls[P]], Mapping[Asked[P], A]]) -> None:
        functools.update_wrapper(self, carry_out)
        self.carry_out = carry_out

    def __call__(self, call: Call, wanted: P) -> A:
        calls = Calls(call.tx, [Asked(call, wanted)])
        (answer,) = self.carry_out(calls).values()
        calls.wake()
        return answer


def in_batches(carry_out: Callable[[Calls[P]], Mapping[Asked[P], A]]) -> InBatches[P, A]:
    """Below `operation`: its calls that arrive at the same time are carried out together. The handler answers those
    that it does not leave."""
    return InBatches(carry_out)


class Batches:
    """The batches of one dispatcher."""

    def __init__(self, context: Context, keys: KnownKeys) -> None:
        self.context = context
        self.keys = keys

    @staticmethod
    def takes(request: Request) -> bool:
        """Of valid arguments, with an API key and nothing else."""
        shown = request.credentials
        return (
            isinstance(request.operation.handler, InBatches)
            and shown.bearer is not None
            and shown.bearer.startswith(QUEUE)
            and not shown.session_token
            and not isinstance(request.parameters, Refusal)
            and (shown.idempotency_key is None or not idempotency.applies(request.operation))
        )

    def carry_out(self, connection: Connection, batch: Batch) -> tuple[list[Answer | None], list[Answer | None]]:
        """An answer for each call of the batch, and for each that it adopted; None: it has done nothing for this one.

        Raises if nothing of the batch may be kept.
        """
        return _Work(self, connection, batch).carried_out()


class _Work:
    """One batch, in its transaction."""

    def __init__(self, batches: Batches, connection: Connection, batch: Batch) -> None:
        self.batches = batches
        self.batch = batch
        self.tx = Transaction(connection)
        self.offered: Counter[str] = Counter()
        self.exhausted: set[str] = set()
        self.answers: dict[Asked[Any], Mapping[str, Any] | Later] = {}
        self.amounts: dict[Owner, Amount] = {}
        """What is stored, and what this batch adds."""

    def carried_out(self) -> tuple[list[Answer | None], list[Answer | None]]:
        asked = self._identified(list(self.batch.asked))
        known = [each for each in asked if each is not None]
        self._learn_amounts(known)
        self._carry_out([each for each in known if not each.request.operation.waits])
        adopted = self._identified(self._adopted())
        waiting = [each for each in (*adopted, *known) if each is not None and each.request.operation.waits]
        self._carry_out(waiting)
        Calls(self.tx, [], self).wake()
        self._count_stored(known)
        answers, given = [*map(self._answered, asked)], [*map(self._answered, adopted)]
        self.tx.events.flush()
        if (first := next((each for each in (*answers, *given) if each is not None), None)) is not None:
            first.hints = frozenset(self.tx.hints)  # of the whole batch: they are sent together
        return answers, given

    def _carry_out(self, asked: Sequence[_AmongOthers[Any]]) -> None:
        """By the handlers of their operations, in the order of the catalogue."""
        wanted: dict[str, list[_AmongOthers[Any]]] = {}
        for each in asked:
            wanted.setdefault(each.request.operation.name, []).append(each)
        for name in sorted(wanted, key=[*catalogue()].index) if len(wanted) > 1 else wanted:
            handler = catalogue()[name].handler
            assert isinstance(handler, InBatches)
            self.answers |= handler.carry_out(Calls(self.tx, wanted[name], self))

    def _adopted(self) -> list[Request]:
        """The calls that wait for what is offered now."""
        waiting = [each for topic, count in self.offered.items() for each in self.batch.adopt(topic, count)]
        now = max((request.now for request in self.batch.asked), default=0)
        return [each.at(now) for each in waiting]

    def _answered(self, asked: _AmongOthers[Any] | None) -> Answer | None:
        if asked is None or asked not in self.answers:
            return None
        return asked.request.answered(self.answers[asked], asked.call)

    # who calls

    def _identified(self, requests: Sequence[Request]) -> list[_AmongOthers[Any] | None]:
        """Each call with its caller, once nobody else changes their projects; None where it may not be made, or not
        now."""
        if not requests:
            return []
        hashes = [digest(each.credentials.bearer or "") for each in requests]
        holders = self._holders(dict.fromkeys(hashes))
        return [self._asked(request, holders.get(each)) for request, each in zip(requests, hashes, strict=True)]

    def _holders(self, hashes: Iterable[str]) -> dict[str, KeyHolder]:
        known, queues = self.batches.keys.projects, self.tx.queues
        if unknown := [each for each in hashes if each not in known]:
            self.batches.keys.learn({each: holder.project.id for each, holder in queues.holders(unknown).items()})
        here = [each for each in hashes if each in known]
        self.tx.lock_projects({known[each] for each in here})
        return queues.holders(here)

    def _asked(self, request: Request, holder: KeyHolder | None) -> _AmongOthers[Any] | None:
        if holder is None:
            return None
        try:
            caller = holder_of(holder.key, holder.agent, holder.membership)
        except Refusal:
            return None
        if not permissions.is_allowed(request.operation, caller) or not self._counted(request, caller):
            return None
        return _AmongOthers(request.call_of(self.tx, caller), request.parameters, request, holder)

    def _counted(self, request: Request, caller: Caller) -> bool:
        """Whether its key may call now; each call counts once."""
        assert caller.key is not None
        if request.again or request.once in self.batch.counted:
            return True
        if self.batches.context.keys.wait_seconds(caller.key.id, request.now / SECOND):
            return False
        self.batch.counted.add(request.once)
        return True

    # how much may be stored

    def _learn_amounts(self, asked: Sequence[_AmongOthers[Any]]) -> None:
        storing = {owner for each in asked if each.stores for owner in each.owners}
        self.amounts = dict(self.tx.stored_amounts.of(storing)) if storing else {}

    def has_room(self, asked: _AmongOthers[Any], tasks: int, events: int) -> bool:
        more = Amount(stored_limits.size_of(asked.request.arguments, events), tasks)
        both, settings = asked.owners, self.batches.context.settings
        if not all(stored_limits.fits(settings, each[1], self.amounts.get(each, Amount()), more) for each in both):
            return False
        for each in both:
            self.amounts[each] = self.amounts.get(each, Amount()).plus(more)
        return True

    def _count_stored(self, asked: Sequence[_AmongOthers[Any]]) -> None:
        """As `stored_limits.count`, for all calls at once."""
        stored: dict[Owner, Amount] = {}
        for each in asked:
            if (events := each.call.told) and each.stores:
                more = Amount(
                    stored_limits.size_of(each.request.arguments, len(events)), stored_limits.count_created(events)
                )
                for owner in each.owners:
                    stored[owner] = stored.get(owner, Amount()).plus(more)
        self.tx.stored_amounts.add(stored)

"""How much API keys and agents' sessions may store, and how many open tasks keys may have: counted by the path of every
call, whatever the operation.

What a call stores is taken to be its arguments and a fixed amount for each event. A key's count is a row that each such
call adds to, under the lock of its project; a session's is a column of its own row, which every call writes anyway, and
its project's row gets it in blocks. How counts become smaller again is in `storage/stored_amounts.py`. People and
Coordinators are not limited. Of the calls of a batch, `batches.py` adds up what each stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from toryo.deeds import terminal
from toryo.domain.errors import Code, Refusal
from toryo.domain.events import Event
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import SECOND
from toryo.domain.wording import say
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Caller, Kind
from toryo.operations.calls.catalogue import Operation
from toryo.settings import Settings
from toryo.storage.stored_amounts import PROJECT, Amount, Owner

EVENT = 500
"""Bytes that an event counts as, with the rows that it tells of."""
SMALL = 4_096
"""Bytes: calls that store no more go on until an eighth above the limit, so that agents can finish and report."""
BLOCK = 1_048_576
"""Bytes by which a project is told what its sessions store."""
OF_PROJECT = 4
"""How many times as much a project may have as one key."""
OF_SESSION = 32
"""A session may store this part of what a key may."""
_COUNTED_PER_MILLISECOND = 100
"""Open tasks: a limit that was reached is not looked at again for as long as counting them takes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes and open tasks of one holder; 0: no limit."""

    bytes: int
    tasks: int


def limits_of(settings: Settings, holder: str) -> Limits:
    """Of a project, or of one holder of a key in it."""
    times = OF_PROJECT if holder == PROJECT else 1
    return Limits(times * settings.max_stored_bytes_per_key, times * settings.max_open_tasks_per_key)


def counts(operation: Operation, caller: Caller) -> bool:
    """Whether what this caller stores by this operation is counted."""
    return operation.counted and not operation.reads and caller.kind in (Kind.QUEUE, Kind.SESSION)


def size_of(arguments: Mapping[str, Any], events: int) -> int:
    """Bytes that a call is taken to store."""
    return len(orjson.dumps(arguments, default=str)) + EVENT * events


def refuse_full(call: Call, operation: Operation, arguments: Mapping[str, Any]) -> None:
    """Before anything is done. Raises Refusal for who has just been refused for as much."""
    if not call.context.full.anybody or not counts(operation, call.caller) or call.caller.key is None:
        return
    for holder in (call.actor.id, PROJECT):
        what = (call.caller.project_id or "", holder, operation.name)
        if (refusal := call.context.full.refusal(what, call.now, size_of(arguments, 1))) is not None:
            raise refusal


def count(call: Call, operation: Operation, arguments: Mapping[str, Any]) -> None:
    """Adds what the call has stored. Raises Refusal if that is more than its caller, or the project, may store."""
    happened = call.tx.events.collected
    if not happened or not counts(operation, call.caller):
        return
    size = size_of(arguments, len(happened))
    if call.caller.key is not None:
        _count_key(call, operation, call.caller.project_id or "", Amount(size, count_created(happened)))
    elif call.has_session:
        _count_session(call, operation, size)


def count_created(events: Iterable[Event]) -> int:
    """How many tasks were."""
    return sum(event.kind == "task.created" for event in events)


def _count_key(call: Call, operation: Operation, project_id: str, more: Amount) -> None:
    both = owners(project_id, call.actor.id)
    present = call.tx.stored_amounts.of(both)
    for owner in both:
        _refuse(call, operation, owner, present.get(owner, Amount()), more)
    call.tx.stored_amounts.add(dict.fromkeys(both, more))


def _count_session(call: Call, operation: Operation, size: int) -> None:
    session, most = call.session, call.context.settings.max_stored_bytes_per_key // OF_SESSION
    after = session.stored_bytes + size
    if call.context.settings.max_stored_bytes_per_key and _too_much(after, most, size):
        raise Refusal(
            Code.LIMIT_REACHED,
            say("This session has stored {stored:,} bytes; the limit is {most:,}.", stored=after - size, most=most),
            say(
                "Nothing was stored. Write less: keep large data in files and name their paths. A person can raise "
                "{setting}; a session may store 1/{part} of it.",
                setting=_BYTES,
                part=OF_SESSION,
            ),
            limit=most,
            setting=_BYTES,
        )
    blocks = after // BLOCK - session.stored_bytes // BLOCK
    if blocks:
        more, project = Amount(blocks * BLOCK), (session.project_id, PROJECT)
        present = call.tx.stored_amounts.of([project]).get(project, Amount())
        _refuse(call, operation, project, present, more)
        call.tx.stored_amounts.add({project: more})
    call.change_session(stored_bytes=after)


_BYTES, _TASKS = "TORYO_MAX_STORED_BYTES_PER_KEY", "TORYO_MAX_OPEN_TASKS_PER_KEY"


def fits(settings: Settings, holder: str, present: Amount, more: Amount) -> bool:
    """Whether there is certainly room."""
    limits = limits_of(settings, holder)
    return not (limits.bytes and _too_much(present.bytes + more.bytes, limits.bytes, more.bytes)) and not (
        more.tasks and limits.tasks and present.tasks + more.tasks > limits.tasks
    )


def _too_much(after: int, most: int, size: int) -> bool:
    return after > (most + most // 8 if size <= SMALL else most)


def _refuse(call: Call, operation: Operation, owner: Owner, present: Amount, more: Amount) -> None:
    """Raises Refusal if there is no room, after a look at what is there."""
    project_id, holder = owner
    limits, what = limits_of(call.context.settings, holder), (project_id, holder, operation.name)
    if limits.bytes and _too_much(present.bytes + more.bytes, limits.bytes, more.bytes):
        refusal = _too_many_bytes(holder, present.bytes, limits.bytes)
        call.context.full.note(what, call.now + SECOND, more.bytes, refusal)
        raise refusal
    if not more.tasks or not limits.tasks or present.tasks + more.tasks <= limits.tasks:
        return
    there = call.tx.stored_amounts.open_tasks(project_id, holder)  # with the new ones
    if there > limits.tasks:
        refusal = _too_many_tasks(holder, there - more.tasks, limits.tasks)
        until = call.now + limits.tasks // _COUNTED_PER_MILLISECOND
        call.context.full.note(what, until, more.bytes, refusal)
        raise refusal
    call.tx.stored_amounts.tasks_are(project_id, holder, there - more.tasks)


def _too_many_bytes(holder: str, stored: int, most: int) -> Refusal:
    return Refusal(
        Code.LIMIT_REACHED,
        say(
            "The API keys and agents of this project have stored {stored:,} bytes; the limit is {most:,}.",
            stored=stored,
            most=most,
        )
        if holder == PROJECT
        else say("This API key has stored {stored:,} bytes; the limit is {most:,}.", stored=stored, most=most),
        say(
            "Nothing was stored. Tell the person who runs this server: they can raise {setting}, or delete old tasks"
            "{prune: (…)}, which counts within an hour.",
            setting=_BYTES,
            prune=terminal("db prune"),
        ),
        limit=most,
        stored=stored,
        setting=_BYTES,
    )


def _too_many_tasks(holder: str, there: int, most: int) -> Refusal:
    return Refusal(
        Code.LIMIT_REACHED,
        say("This project has {there:,} open tasks; API keys may create tasks up to {most:,}.", there=there, most=most)
        if holder == PROJECT
        else say("{there:,} tasks of this API key are open; the limit is {most:,}.", there=there, most=most),
        say(
            "Nothing was created. Create more when some are completed, or tell the person who runs this server: they "
            "can raise {setting}.",
            setting=_TASKS,
        ),
        limit=most,
        open_tasks=there,
        setting=_TASKS,
    )


def owners(project_id: str, holder: str) -> Sequence[Owner]:
    """Whose counts a key's calls add to."""
    return ((project_id, holder), (project_id, PROJECT))

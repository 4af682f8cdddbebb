"""New events for all who follow them: read once, with who sees which of them in the same snapshot.

Who a reader is and which projects they see is remembered from one reading to the next. That is exact, because whatever
changes it leaves an event: after an event of these kinds, and where a credential has run out, readers are looked up
again in the snapshot in which the event was found. How streams work is not here (`server/event_stream.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import orjson

from toryo.domain.errors import Refusal
from toryo.domain.events import Event
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import Millis
from toryo.operations.calls import rendering, schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Caller, Credentials
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.calls.credential_verification import good_until, identify
from toryo.operations.calls.permissions import refuse
from toryo.storage.transaction import Transaction

AT_ONCE = 500
"""Events of one reading."""
_CHANGING_RIGHTS = ("agent.", "person.", "project.", "server.")
"""Kinds of events after which somebody may see more or less than before."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who may read events; `until` is when their credential runs out."""

    caller: Caller
    until: Millis | None
    sees: dict[str, bool] = field(default_factory=dict, hash=False)
    """What is known of the projects they see."""


@dataclass(frozen=True, slots=True)
class News:
    """`events` are sequence numbers with what a stream sends of each; `seen` says of each whether a reader sees it.

    Who may read nothing any longer is in neither of the mappings.
    """

    last: int
    events: list[tuple[int, bytes]]
    readers: Mapping[Credentials, Reader]
    seen: Mapping[Credentials, tuple[bool, ...]]


def read(call: Call, after: int, readers: Mapping[Credentials, Reader | None], *, again: bool) -> News:
    """The events after one, for these readers (None: not yet known). `again`: all of them are looked up."""
    found = call.tx.events.after(after, AT_ONCE)
    again = again or any(event.kind.startswith(_CHANGING_RIGHTS) for event in found)
    known = {shown: _known(call, shown, None if again else reader) for shown, reader in readers.items()}
    still = {shown: reader for shown, reader in known.items() if reader is not None}
    return News(
        found[-1].sequence if found else after,
        [(event.sequence, message(rendering.event(event))) for event in found],
        still,
        {shown: tuple(_sees(call, reader, event) for event in found) for shown, reader in still.items()},
    )


@dataclass(frozen=True, slots=True)
class Signs:
    """What agents do now: for each change when it was stored, and what a stream sends of it; who sees which."""

    last: Millis
    told: dict[str, tuple[Millis, bytes]]
    seen: Mapping[Credentials, frozenset[str]]


def signs(call: Call, since: Millis, readers: Mapping[Credentials, Reader]) -> Signs:
    """Of the live launches of which something was stored since, by their ids."""
    found = call.tx.launches.doing_since(since)
    return Signs(
        max((launch.doing_at or 0 for launch in found), default=since),
        {launch.id: (launch.doing_at or 0, sign(rendering.launch(launch))) for launch in found},
        {
            shown: frozenset(
                each.id for each in found if visibility.sees(_Looking(call.tx, reader.caller), each.project_id)
            )
            for shown, reader in readers.items()
        },
    )


def sign(launch: schemas.Launch) -> bytes:
    """What an agent does now, as a stream sends it: of a type of its own and without an id, for it is no event."""
    names = ("launch_id", "agent_id", "project_id", "task_id", "purpose", "doing")
    return b"event: doing\ndata: %s\n\n" % orjson.dumps({name: launch[name] for name in names})  # type: ignore[literal-required]


def message(event: schemas.Event) -> bytes:
    """An event as a stream sends it."""
    return b"id: %d\ndata: %s\n\n" % (event["sequence"], orjson.dumps(event))


def _known(call: Call, shown: Credentials, reader: Reader | None) -> Reader | None:
    if reader is not None and (reader.until is None or call.now < reader.until):
        return reader
    try:
        caller = identify(call.tx, shown, call.now)
        refuse(catalogue()["read_events"], caller)
    except Refusal:
        return None
    if caller.access_token is not None:
        call.context.uses.note(caller.access_token, call.now)
    return Reader(caller, good_until(call.tx, caller))


@dataclass(slots=True)
class _Looking:
    tx: Transaction
    caller: Caller


def _sees(call: Call, reader: Reader, event: Event) -> bool:
    looking = _Looking(call.tx, reader.caller)
    if event.project_id is None:
        return visibility.sees_event(looking, event)
    if event.project_id not in reader.sees:
        reader.sees[event.project_id] = visibility.sees_event(looking, event)
    return reader.sees[event.project_id]

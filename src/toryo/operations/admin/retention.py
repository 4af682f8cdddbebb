"""Retention: how long what is over is kept, how much of it is due to be deleted, and deleting it now. For owners.

The server deletes by itself, in the same steps (`housekeeping/retention.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from typing_extensions import TypedDict

from toryo.domain.retention import PERIOD_OF, Cutoffs, Kind, cutoffs
from toryo.domain.times import iso, iso_or_none
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import NoParameters, Route, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.storage.retention import Part, Standing


class KindStanding(TypedDict):
    kind: str
    days: int | None
    setting: str
    rows: int | None
    oldest: str | None
    due: int


class RetentionResult(Result):
    automatic: bool
    begins_at: str | None
    database_bytes: int
    kinds: list[KindStanding]


class Pruned(Result):
    deleted: dict[str, int]
    more: bool


@operation(
    "show_retention",
    grant=Grant.OWNER,
    route=Route("GET", "/retention"),
    tool=False,
    reads=True,
)
def show_retention(call: Call, _: NoParameters) -> RetentionResult:
    """How long each kind of data is kept (`days`; null: indefinitely), how many rows it has, since when, and how many
    are due to be deleted. `begins_at`: the server deletes nothing by itself before then. `rows` is null where a kind is
    counted with another one: queue tasks with tasks, audit with events."""
    limits = _cutoffs(call)
    standing = call.tx.retention.standing(limits)
    begins_at = call.tx.retention.state().begins_at
    return {
        "success": True,
        "automatic": call.context.settings.retention.automatic,
        "begins_at": iso(begins_at) if begins_at > call.now else None,
        "database_bytes": call.tx.database_bytes(),
        "kinds": [_as_answer(call, kind, standing[kind]) for kind in Kind],
    }


def _as_answer(call: Call, kind: Kind, standing: Standing) -> KindStanding:
    name = PERIOD_OF[kind]
    return {
        "kind": kind.value,
        "days": getattr(call.context.settings.retention, name) or None,
        "setting": f"TORYO_RETENTION__{name.upper()}",
        "rows": standing.rows,
        "oldest": iso_or_none(standing.oldest),
        "due": standing.due,
    }


def _look(call: Call, _: NoParameters) -> Callable[[], Part | None]:
    """What the next step is, found while others write."""
    found = find(call)
    return lambda: found


@operation(
    "prune",
    grant=Grant.OWNER,
    route=Route("POST", "/retention/prune"),
    tool=False,
    beforehand=_look,
)
def prune(call: Call, _: NoParameters) -> Pruned:
    """Delete the next part of what is older than its period: a few hundred rows. Repeat it while `more` is true. Export
    the events before, if you want to keep them."""
    part: Part | None = call.prepared
    deleted = delete(call, part) if part is not None else {}
    told = {kind.value: many for kind, many in deleted.items() if many}
    if told:
        call.event("database.pruned", data=dict(told))
    return {"success": True, "deleted": told, "more": part is not None}


def find(call: Call, kinds: Sequence[Kind] = tuple(Kind)) -> Part | None:
    """The next part of the first of these kinds of which anything is due."""
    return call.tx.retention.find(_cutoffs(call), kinds)


def delete(call: Call, part: Part) -> dict[Kind, int]:
    """Deletes what is still due of it; while nobody else changes its project."""
    if part.project_id is not None:
        call.enter(part.project_id)
    return call.tx.retention.delete(part, _cutoffs(call))


def _cutoffs(call: Call) -> Cutoffs:
    return cutoffs(call.context.settings.retention.model_dump(exclude={"automatic"}), call.now)


__all__ = ["Part", "delete", "find", "prune", "show_retention"]

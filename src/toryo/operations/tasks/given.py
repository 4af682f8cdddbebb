"""What callers say of a task, in whichever form, as the domain takes it.

A form has the domain's names: what a `Draft` and the form of a tool both have is taken over, and nothing lists it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from datetime import datetime
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field

from toryo.domain import pools
from toryo.domain.clearable_fields import nullable
from toryo.domain.conflict_forecast import patterns
from toryo.domain.creation_rules import Draft
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.tasks import Pool, Start, Task, priority_named
from toryo.domain.times import Millis, of_datetime
from toryo.domain.wording import say
from toryo.operations.calls.catalogue import Parameters
from toryo.operations.tasks import acceptance_checks, assignees

Noun = TypeVar("Noun")

READ: Mapping[str, Callable[[Any], Any]] = {
    "priority": priority_named,
    "dependencies": tuple,
    "acceptance": acceptance_checks.stored_checks,
    "touches": patterns,
    "start": lambda start: start and Start(start),
    "not_before": lambda time: time and _instant(time),
    "pool": lambda pool: pools.of(pool.capabilities),
}
"""How the domain reads a field that is written in another way than it is kept. All others are kept as they are."""


_LAST_YEAR = 9998


def _instant(given: str) -> Millis:
    try:
        moment = datetime.fromisoformat(given.strip())
        if moment.tzinfo is not None and moment.year <= _LAST_YEAR:
            return of_datetime(moment)
    except (ValueError, OverflowError):
        pass
    raise Refusal(
        Code.VALIDATION_ERROR,
        say("not_before: {given!r} is not a time with an offset from UTC.", given=given),
        "Example: 2027-01-31T09:30+01:00.",
    )


class GivenPool(Parameters):
    capabilities: list[Annotated[str, Field(max_length=100)]] = Field(
        default_factory=list, max_length=50, description="All that its agent needs to have; none: any worker."
    )


def draft(wanted: BaseModel) -> Draft:
    """The task that is described. Raises Refusal."""
    found = noun(Draft, wanted)
    pool = pools.written(found.assignee_id)
    if pool is None:
        return found
    assignees.refuse_both(found.assignee_id, None, found.pool)
    return replace(found, assignee_id=None, pool=pool)


def taker(wanted: BaseModel, now: Task) -> tuple[str | None, Pool | None]:
    """Who has a task after an edit: its assignee, or the pool if it has none. Raises Refusal."""
    said: Any = wanted
    if {"assignee_id", "pool"} <= wanted.model_fields_set:
        assignees.refuse_both(said.assignee_id, None, said.pool)
    if "assignee_id" in wanted.model_fields_set:
        pool = pools.written(said.assignee_id)
        return (said.assignee_id, None) if pool is None else (None, pool)
    if "pool" in wanted.model_fields_set:
        return (None, READ["pool"](said.pool)) if said.pool is not None else (now.assignee_id, None)
    return now.assignee_id, now.pool if now.assignee_id is None else None


def noun(kind: Callable[..., Noun], wanted: BaseModel) -> Noun:
    """What is said, by its fields; null says nothing. Raises Refusal."""
    return kind(**_read(wanted, _shared(kind, type(wanted)), frozenset()))


_TAKERS = frozenset({"assignee_id", "pool"})


def edit(wanted: BaseModel) -> dict[str, Any]:
    """What becomes different, but for who does it; null only clears what it can clear. Raises Refusal."""
    said = [name for name in _shared(Draft, type(wanted)) if name in wanted.model_fields_set and name not in _TAKERS]
    return _read(wanted, said, nullable("edit_task"))


def _read(wanted: BaseModel, names: Collection[str], cleared: frozenset[str]) -> dict[str, Any]:
    said = [(name, value) for name in names if (value := getattr(wanted, name)) is not None or name in cleared]
    return {name: READ[name](value) if name in READ else value for name, value in said}


@cache
def _shared(kind: Any, form: type[BaseModel]) -> tuple[str, ...]:
    of_noun = {field.name for field in fields(kind)}
    return tuple(name for name in form.model_fields if name in of_noun)

"""What callers say of a task, in whichever form, as the domain takes it.

A form has the domain's names: what a `Draft` and the form of a tool both have is taken over, and nothing lists it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field

from toryo.clearable_fields import nullable
from toryo.domain import pools
from toryo.domain.conflict_forecast import patterns
from toryo.domain.creation_rules import Draft
from toryo.domain.fast_dataclasses import replace
from toryo.domain.tasks import Pool, Start, Task, priority_named
from toryo.operations.calls.catalogue import Parameters
from toryo.operations.tasks import acceptance_checks, mutations

Noun = TypeVar("Noun")

READ: Mapping[str, Callable[[Any], Any]] = {
    "priority": priority_named,
    "dependencies": tuple,
    "acceptance": acceptance_checks.stored_checks,
    "touches": patterns,
    "start": lambda start: start and Start(start),
    "pool": lambda pool: pools.of(pool.capabilities),
}
"""How the domain reads a field that is written in another way than it is kept. All others are kept as they are."""


class GivenPool(Parameters):
    capabilities: list[Annotated[str, Field(max_length=100)]] = Field(
        default_factory=list, max_length=50, description="All that its agent needs to have; none: any worker."
    )


def draft(wanted: BaseModel) -> Draft:
    """The task that is described. Raises Refusal."""
    found = noun(Draft, wanted)
    pool = pools.written(found.assignee_id)
    return found if pool is None else replace(found, assignee_id=None, pool=pool)


def taker(wanted: BaseModel, now: Task) -> tuple[str | None, Pool | None]:
    """Who has a task after an edit: its assignee, or the pool if it has none."""
    said: Any = wanted
    if "assignee_id" in wanted.model_fields_set:
        pool = pools.written(said.assignee_id)
        return (said.assignee_id, None) if pool is None else (None, pool)
    if "pool" in wanted.model_fields_set:
        return (None, READ["pool"](said.pool)) if said.pool is not None else (now.assignee_id, None)
    return now.assignee_id, now.pool if now.assignee_id is None else None


def noun(kind: Callable[..., Noun], wanted: BaseModel) -> Noun:
    """What is said, by its fields; null says nothing. Raises Refusal."""
    return kind(**_read(wanted, _shared(kind, type(wanted)), frozenset()))


def edit(wanted: BaseModel) -> mutations.Edit:
    """What becomes different; null only clears what it can clear. Raises Refusal."""
    said = [name for name in mutations.Edit.__annotations__ if name in wanted.model_fields_set]
    changes: Any = _read(wanted, said, nullable("edit_task"))
    found: mutations.Edit = changes
    return found


def _read(wanted: BaseModel, names: Collection[str], cleared: frozenset[str]) -> dict[str, Any]:
    said = [(name, value) for name in names if (value := getattr(wanted, name)) is not None or name in cleared]
    return {name: READ[name](value) if name in READ else value for name, value in said}


@cache
def _shared(kind: Any, form: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.name in form.model_fields)

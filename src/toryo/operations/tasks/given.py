"""What callers say of a task, in whichever form, as the domain takes it.

A form has the domain's names: what a `Draft` and the form of a tool both have is taken over, and nothing lists it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel

from toryo.domain.clearable_fields import nullable
from toryo.domain.conflict_forecast import patterns
from toryo.domain.creation_rules import Draft
from toryo.domain.tasks import Start, priority_named
from toryo.operations.tasks import acceptance_checks

Noun = TypeVar("Noun")

READ: Mapping[str, Callable[[Any], Any]] = {
    "priority": priority_named,
    "dependencies": tuple,
    "acceptance": acceptance_checks.kept,
    "touches": patterns,
    "start": lambda start: start and Start(start),
}
"""How the domain reads a field that is written in another way than it is kept. All others are kept as they are."""


def draft(wanted: BaseModel) -> Draft:
    """The task that is described. Raises Refusal."""
    return noun(Draft, wanted)


def noun(kind: Callable[..., Noun], wanted: BaseModel) -> Noun:
    """What is said, by its fields; null says nothing. Raises Refusal."""
    return kind(**_read(wanted, _shared(kind, type(wanted)), frozenset()))


def edit(wanted: BaseModel) -> dict[str, Any]:
    """What becomes different, but for who does it; null only clears what it can clear. Raises Refusal."""
    said = [name for name in _shared(Draft, type(wanted)) if name in wanted.model_fields_set and name != "assignee_id"]
    return _read(wanted, said, nullable("edit_task"))


def _read(wanted: BaseModel, names: Collection[str], cleared: frozenset[str]) -> dict[str, Any]:
    said = [(name, value) for name in names if (value := getattr(wanted, name)) is not None or name in cleared]
    return {name: READ[name](value) if name in READ else value for name, value in said}


@cache
def _shared(kind: Any, form: type[BaseModel]) -> tuple[str, ...]:
    of_noun = {field.name for field in fields(kind)}
    return tuple(name for name in form.model_fields if name in of_noun)

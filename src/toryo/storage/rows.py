"""Maps entities to rows and back: columns are the fields, in the same order.

The functions that do it are generated for each entity, because a task has fifty fields and a call reads and writes
several of them: a loop over the fields costs three to five times as much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property, lru_cache
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.tables import Codec, codecs, stored

Noun = TypeVar("Noun")


class Rows(Generic[Noun]):
    """Maps one dataclass to the columns of a table that have its fields' names. `own`: the converters of fields that
    are stored in another way than their annotations say (`tables.py`)."""

    def __init__(self, noun: type[Noun], table: sa.Table, own: Mapping[str, Codec] | None = None) -> None:
        self.noun = noun
        self.table = table
        self.names = list(stored(noun))
        self.columns = [table.c[name] for name in self.names]
        used = {**codecs(noun), **(own or {})}
        self._to = {name: codec[0] for name, codec in used.items()}
        self._back = {name: codec[1] for name, codec in used.items()}

    def select(self) -> sa.Select[Any]:
        return sa.select(*self.columns)

    @cached_property
    def noun_of(self) -> Callable[[tuple[Any, ...]], Noun]:
        """The entity of a row."""
        row = "".join(f"{name}, " for name in self.names)
        given = [(name, f"from_{name}({name})" if name in self._back else name) for name in self.names]
        named = {field.name for field in fields(self.noun) if field.kw_only}  # type: ignore[arg-type]  # a dataclass
        arguments = ", ".join(
            [value for name, value in given if name not in named]
            + [f"{name}={value}" for name, value in given if name in named]
        )
        made: Callable[[tuple[Any, ...]], Noun] = self._generated(
            f"def noun_of(row):\n    {row}= row\n    return noun({arguments})"
        )
        return made

    def nouns(self, rows: Iterable[tuple[Any, ...]]) -> list[Noun]:
        return [*map(self.noun_of, rows)]

    def read(self, name: str, value: Any) -> Any:
        """One column, as its field has it."""
        return self._back[name](value) if name in self._back else value

    def one(self, row: tuple[Any, ...] | None) -> Noun | None:
        return None if row is None else self.noun_of(row)

    @cached_property
    def values(self) -> Callable[[Noun], dict[str, Any]]:
        """All columns of an entity, as stored."""
        columns = ", ".join(f"{name!r}: {self._stored(name, 'noun')}" for name in self.names)
        made: Callable[[Noun], dict[str, Any]] = self._generated(f"def values(noun):\n    return {{{columns}}}")
        return made

    def tuple_of(self, names: Sequence[str]) -> Callable[[Noun], tuple[Any, ...]]:
        """A function that answers these columns of an entity, as stored, in their order."""
        row = "".join(f"{self._stored(name, 'noun')}, " for name in names)
        made: Callable[[Noun], tuple[Any, ...]] = self._generated(f"def tuple_of(noun):\n    return ({row})")
        return made

    @cached_property
    def changes(self) -> Callable[[Noun, Noun], dict[str, Any]]:
        """The columns that differ between two entities, as stored after the change."""
        lines = [
            f"    if after.{name} is not before.{name} and after.{name} != before.{name}:\n"
            f"        changed[{name!r}] = {self._stored(name, 'after')}"
            for name in self.names
        ]
        made: Callable[[Noun, Noun], dict[str, Any]] = self._generated(
            "\n".join(["def changes(before, after):", "    changed = {}", *lines, "    return changed"])
        )
        return made

    def value(self, name: str, value: Any) -> Any:
        """A value of this column, as stored."""
        convert = self._to.get(name)
        return value if convert is None else convert(value)

    def _stored(self, name: str, noun: str) -> str:
        return f"to_{name}({noun}.{name})" if name in self._to else f"{noun}.{name}"

    def _generated(self, source: str) -> Any:
        """The function that this source defines; only names of fields stand in it."""
        names: dict[str, Any] = {"noun": self.noun}
        names |= {f"to_{name}": convert for name, convert in self._to.items()}
        names |= {f"from_{name}": convert for name, convert in self._back.items()}
        exec(source, names)  # noqa: S102
        return names[source.partition("(")[0].removeprefix("def ")]


@lru_cache(maxsize=1024)
def update_by_id(table: sa.Table, columns: tuple[str, ...]) -> Statement:
    """UPDATE of these columns of the row whose id is the parameter `this_id`."""
    values = {name: sa.bindparam(name, type_=table.c[name].type) for name in columns}
    return Statement(table.update().where(table.c.id == sa.bindparam("this_id")).values(values))


def save_changes(connection: Connection, table: sa.Table, rows: Rows[Any], before: Any, after: Any) -> None:
    """Writes the columns in which two values of one id differ, if any."""
    changes = rows.changes(before, after)
    if changes:
        connection.run(update_by_id(table, tuple(changes)), this_id=after.id, **changes)

"""The columns and codecs of a noun follow from its fields; and every noun comes back as it was stored."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum, StrEnum
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest
import sqlalchemy as sa

from toryo import storage
from toryo.domain.projects import Settings
from toryo.domain.shape import Filled, Key, ProjectId, Small, TaskId
from toryo.domain.times import Millis
from toryo.storage.rows import Rows
from toryo.storage.tables import columns


def all_rows() -> dict[str, Rows[Any]]:
    modules = [each.name for each in pkgutil.iter_modules(storage.__path__) if each.name != "shared_state_redis"]
    every = [vars(importlib.import_module(f"{storage.__name__}.{name}")).values() for name in modules]
    found = {id(each): each for values in every for each in values if isinstance(each, Rows)}
    return {f"{rows.noun.__name__} in {rows.table.name}": rows for rows in found.values()}


ROWS = all_rows()


def sample(noun: type[Any], *, full: bool) -> Any:
    """One with a value in every field, or with as little as there can be."""
    hints = get_type_hints(noun)
    return noun(**{field.name: value(hints[field.name], field.name, full=full) for field in fields(noun)})


def value(hint: Any, name: str, *, full: bool) -> Any:
    allowed = get_args(hint)
    if NoneType in allowed:
        return value(next(each for each in allowed if each is not NoneType), name, full=full) if full else None
    if get_origin(hint) is tuple:
        return (name, "日本語") if full else ()
    if hint is Any:
        return {name: [1, None, "日本語"]} if full else None
    kind = get_origin(hint) or hint
    if issubclass(kind, dict):
        return {name: 1} if full else {}
    if isinstance(hint, type) and is_dataclass(hint):
        return Settings() if hint is Settings else sample(hint, full=full)
    if issubclass(hint, Enum):
        return list(hint)[-1] if full else next(iter(hint))
    plain = {str: name, int: len(name), bool: True, float: 1.5}
    return plain[hint] if full else hint()


@pytest.mark.parametrize("full", [True, False], ids=["full", "empty"])
@pytest.mark.parametrize("name", ROWS)
def test_a_noun_comes_back_as_it_was_stored(name: str, full: bool):
    rows = ROWS[name]
    noun = sample(rows.noun, full=full)
    stored = rows.values(noun)
    assert list(stored) == [field.name for field in sorted(fields(rows.noun), key=lambda each: each.kw_only is True)]
    assert rows.noun_of(tuple(stored.values())) == noun
    for column, kept in stored.items():
        assert isinstance(kept, str | int | float | NoneType), column
        assert kept is not None or rows.table.c[column].nullable, column


# --- the rules --------------------------------------------------------------------------------------------------------


class Size(StrEnum):
    LARGE = "large"
    TINY = "tiny"

    @property
    def rank(self) -> int:
        return len(self.value)


@dataclass(frozen=True)
class Label:
    text: str


@dataclass(frozen=True)
class Thing:
    project_id: Annotated[ProjectId, Key]
    number: Annotated[int, Key]
    task_id: TaskId | None
    name: str | None
    weight: float
    seen_at: Millis | None
    hidden: bool
    place: Annotated[int, Small]
    size: Size
    rank: Annotated[Size, Small]
    parts: tuple[str, ...]
    skills: Annotated[tuple[str, ...], Filled]
    label: Label | None
    options: dict[str, int]
    outcome: Any


THING = Thing("prj_1", 1, None, None, 0.5, None, False, 3, Size.TINY, Size.TINY, (), (), None, {}, None)
THINGS = sa.Table("things", sa.MetaData(), *columns(Thing))


@pytest.mark.parametrize(
    ("field", "kind", "null", "refers"),
    [
        ("project_id", "TEXT", False, "projects.id"),
        ("number", "BIGINT", False, ""),
        ("task_id", "TEXT", True, "tasks.id"),
        ("name", "TEXT", True, ""),
        ("weight", "FLOAT", False, ""),
        ("seen_at", "BIGINT", True, ""),
        ("hidden", "BOOLEAN", False, ""),
        ("place", "INTEGER", False, ""),
        ("size", "TEXT", False, ""),
        ("rank", "INTEGER", False, ""),
        ("parts", "TEXT", True, ""),
        ("skills", "TEXT", False, ""),
        ("label", "TEXT", True, ""),
        ("options", "TEXT", False, ""),
        ("outcome", "TEXT", True, ""),
    ],
)
def test_the_column_of_a_field_follows_from_its_annotation(field: str, kind: str, null: bool, refers: str):
    column = THINGS.c[field]
    assert (str(column.type), column.nullable) == (kind, null)
    assert "".join(key.target_fullname for key in column.foreign_keys) == refers


def test_columns_stand_in_the_order_of_the_fields_and_the_marked_ones_are_the_key():
    assert [column.name for column in THINGS.columns] == [field.name for field in fields(Thing)]
    assert [column.name for column in THINGS.primary_key] == ["project_id", "number"]
    assert [column.name for column in columns(Thing, but=["number"], before={"name": sa.Column("mine")})][:4] == [
        "project_id",
        "task_id",
        "mine",
        "name",
    ]


@pytest.mark.parametrize(
    ("field", "value", "kept"),
    [
        ("size", Size.LARGE, "large"),
        ("rank", Size.LARGE, 5),
        ("parts", (), None),
        ("parts", ("a", "b"), '["a","b"]'),
        ("skills", (), "[]"),
        ("label", Label("red"), '{"text":"red"}'),
        ("label", None, None),
        ("options", {"a": 1}, '{"a":1}'),
        ("outcome", [None], "[null]"),
        ("outcome", None, None),
    ],
)
def test_what_is_no_number_or_text_is_stored_as_one_and_comes_back(field: str, value: Any, kept: str | int | None):
    rows = Rows(Thing, THINGS)
    noun = replace(THING, **{field: value})
    assert rows.values(noun)[field] == kept
    assert rows.noun_of(tuple(rows.values(noun).values())) == noun


def test_a_field_that_no_rule_stores_is_refused():
    @dataclass
    class Unknown:
        id: str
        tags: set[str]

    with pytest.raises(TypeError, match="set"):
        columns(Unknown)

"""What the fields of a noun are in the database: columns of their names, with types and codecs by their annotations.

A text, number or flag is a column of that type. An enum is its value; a tuple is a JSON list, or null where it is
empty; a dict, a dataclass and whatever else JSON can say is JSON. What may be None may be null. The marks of
`domain/shape.py` say the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

import orjson
import sqlalchemy as sa

from toryo.domain.shape import Filled, Key, Small, To

Codec = tuple[Callable[[Any], Any], Callable[[Any], Any]]
"""Converters to the database and back."""


def to_json(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()


def from_json(text: str | None) -> Any:
    return None if text is None else orjson.loads(text)


JSON: Codec = (to_json, from_json)
TUPLE: Codec = (
    lambda value: to_json(list(value)) if value else None,
    lambda text: tuple(orjson.loads(text) or ()) if text else (),
)
_FILLED: Codec = (lambda value: to_json(list(value)), TUPLE[1])


class Stored(NamedTuple):
    """How a field is stored: the type of its column, whether that may be null, its marks, and its converters if it
    needs any."""

    type: Any
    null: bool
    marks: tuple[Any, ...]
    codec: Codec | None = None

    def column(self, name: str, *, key: bool) -> sa.Column[Any]:
        refers = [sa.ForeignKey(f"{mark.table}.id") for mark in self.marks if isinstance(mark, To)]
        counts: Any = False if key and self.type is sa.BigInteger else "auto"
        return sa.Column(name, self.type, *refers, primary_key=key, nullable=self.null, autoincrement=counts)


_PLAIN: dict[Any, Any] = {
    str: sa.Text,
    int: sa.BigInteger,
    float: sa.Float,
    bool: sa.Boolean(create_constraint=False),
}


def columns(
    noun: type[Any], *, but: Collection[str] = (), before: Mapping[str, sa.Column[Any]] | None = None
) -> list[sa.Column[Any]]:
    """Of its fields, in their order, but for those that the table has elsewhere. `before`: a column that is no field,
    by the field that comes after it."""
    shape = stored(noun)
    keys = {name for name, field in shape.items() if Key in field.marks} or {"id"}
    others, found = before or {}, []
    for name, field in shape.items():
        if name in others:
            found.append(others[name])
        if name not in but:
            found.append(field.column(name, key=name in keys))
    return found


def codecs(noun: type[Any]) -> dict[str, Codec]:
    """Of the fields that need one."""
    return {name: field.codec for name, field in stored(noun).items() if field.codec}


def stored(noun: type[Any]) -> dict[str, Stored]:
    """By field, those that are given by name last. Raises TypeError for a type that no rule stores."""
    in_order = sorted(fields(noun), key=lambda field: field.kw_only is True)
    return {field.name: _written(str(field.type), _module(noun, field.name)) for field in in_order}


def _module(noun: type[Any], field: str) -> str:
    """Where the annotation of a field is written: that of the class which brought it."""
    return next(each.__module__ for each in noun.__mro__[::-1] if field in getattr(each, "__dataclass_fields__", ()))


@cache
def _written(annotation: str, module: str) -> Stored:
    """By the text of an annotation: `get_type_hints` compiles the same few again and again, for 15 ms of each start."""
    return _stored(eval(annotation, vars(sys.modules[module])))  # noqa: S307


def _stored(hint: Any) -> Stored:
    if get_origin(hint) in (Union, UnionType):
        (allowed,) = (each for each in get_args(hint) if each is not NoneType)
        return _stored(allowed)._replace(null=True)
    marks = getattr(hint, "__metadata__", ())
    kind = hint.__origin__ if marks else hint
    kind = get_origin(kind) or kind
    column = sa.Integer if Small in marks else _PLAIN.get(kind, sa.Text)
    null = kind is Any or (kind is tuple and Filled not in marks)
    return Stored(column, null, marks, None if kind in _PLAIN else _codec(kind, marks))


def _codec(kind: Any, marks: Collection[Any]) -> Codec:
    if kind is tuple:
        return _FILLED if Filled in marks else TUPLE
    if issubclass(kind, Enum):
        return _ranked(kind) if Small in marks else _enum(kind)
    if is_dataclass(kind):
        return _dataclass(kind)
    if kind is Any or issubclass(kind, dict):
        return JSON
    raise TypeError(f"No rule of storage/tables.py stores a {kind}.")


def _enum(kind: Any) -> Codec:
    """By value; None stays None."""
    return (lambda each: None if each is None else each.value), {each.value: each for each in kind}.get


def _ranked(kind: Any) -> Codec:
    return (lambda each: each.rank), {each.rank: each for each in kind}.__getitem__


def _dataclass(kind: Any) -> Codec:
    """As an object of its fields, lists as tuples; None stays None."""

    def read(text: str | None) -> Any:
        return text and kind(**{name: tuple(it) if type(it) is list else it for name, it in orjson.loads(text).items()})

    return to_json, read

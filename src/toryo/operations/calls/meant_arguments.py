"""Arguments as they are meant: what models and their clients add, leave empty, or write as text. For calls by MCP.

- null for what has no null of its own is left out.
- A text that is a JSON list or object is read as one where one is expected, or where data of any shape is.
- A name that is not declared is ignored, and the answer names it. If it is like one that is declared, or if something
  is missing, it is a mistake.

A model gets nothing to send again, so nothing that a person may set is decided by what was read here: it is validated
as if it had been written so.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, get_args

import orjson
from pydantic import BaseModel, ValidationError

from toryo import exact_json
from toryo.nearest import nearest

ADDED_BY_CLIENTS = frozenset({"wait_for_previous"})
"""What a client offers its model for every tool, so that no answer needs to speak of it: Gemini CLI 0.61."""
AS_MEANT: Mapping[str, bool] = {"as_meant": True}
"""The context of a validation in which data of any shape is read from its text."""
_NOT_TEXT = frozenset({"list_type", "tuple_type", "set_type", "dict_type", "model_type", "model_attributes_type"})
_UNKNOWN = "extra_forbidden"
_ROUNDS = 4
"""What was a text may hold others."""

_MOST_IGNORED = 20
"""Names in one call: more are a mistake, because near ones are looked for to each."""
_LONGEST = 100
"""Characters of a name as an answer repeats it."""

Path = tuple[int | str, ...]


class Meant(NamedTuple):
    parameters: BaseModel
    ignored: tuple[str, ...]
    """Names that are not declared, in the order in which they were sent."""


def read(declared: type[BaseModel], arguments: dict[str, Any]) -> Meant:
    """Raises ValidationError for what cannot be meant otherwise."""
    try:
        return Meant(declared.model_validate(arguments, context=AS_MEANT), ())
    except ValidationError as invalid:
        return _read(declared, copy.deepcopy(arguments), invalid)


def _read(declared: type[BaseModel], arguments: dict[str, Any], invalid: ValidationError) -> Meant:
    for _ in range(_ROUNDS):
        mended = [_mended(arguments, error) for error in invalid.errors(include_url=False)]
        if not any(mended):
            break
        try:
            return Meant(declared.model_validate(arguments, context=AS_MEANT), ())
        except ValidationError as left:
            invalid = left
    errors = invalid.errors(include_url=False)
    if len(errors) > _MOST_IGNORED or any(
        error["type"] != _UNKNOWN or _near(declared, error["loc"]) for error in errors
    ):
        raise invalid
    for error in errors:
        _drop(arguments, error["loc"], error["input"])
    ignored = dict.fromkeys(str(error["loc"][-1])[:_LONGEST] for error in errors)
    return Meant(declared.model_validate(arguments, context=AS_MEANT), (*ignored,))


def _mended(arguments: dict[str, Any], error: Mapping[str, Any]) -> bool:
    """Whether the value that is wrong could be read otherwise."""
    path, given = error["loc"], error["input"]
    if error["type"] == _UNKNOWN:
        return path[-1] in ADDED_BY_CLIENTS and _drop(arguments, path, given)
    if given is None and error["type"] != "missing":
        return _drop(arguments, path, None)
    found = structured(given) if error["type"] in _NOT_TEXT else given
    return found is not given and _put(arguments, path, found)


def structured(value: Any) -> Any:
    """The list or object that a text is as JSON; otherwise the value itself, also if that could not be stored."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        found = exact_json.loads(value.encode())
        storable = b"\\u0000" not in orjson.dumps(found)
    except (TypeError, ValueError, RecursionError):
        return value
    return found if storable else value


def _drop(arguments: dict[str, Any], path: Path, value: Any) -> bool:
    holder, name = _holder(arguments, path)
    if not isinstance(holder, dict) or holder[name] is not value:
        return False
    del holder[name]
    return True


def _put(arguments: dict[str, Any], path: Path, value: Any) -> bool:
    holder, name = _holder(arguments, path)
    if holder is not None:
        holder[name] = value
    return holder is not None


def _holder(arguments: dict[str, Any], path: Path) -> tuple[Any, Any]:
    """What holds the value at a path of pydantic's, and its name in it; two times None if it is gone. Such a path also
    names which type of several a value was tried as."""
    value: Any = arguments
    found: tuple[Any, Any] = (None, None)
    for step in path:
        if _is_in(value, step):
            found, value = (value, step), value[step]
    return found


def _is_in(value: Any, step: int | str) -> bool:
    return step in value if isinstance(value, dict) else isinstance(value, list) and step in range(len(value))


def _near(declared: type[BaseModel], path: Path) -> bool:
    """Whether a name is like one that is declared where it stands."""
    models: list[type[BaseModel]] = [declared]
    for step in path[:-1]:
        inner = [each for model in models for each in _fields(model).get(str(step), ())]
        models = inner or models  # a place in a list, or one type of several
    names = {name for model in models for name in _fields(model)}
    return nearest(str(path[-1])[:_LONGEST], names) is not None


@cache
def _fields(model: type[BaseModel]) -> dict[str, tuple[type[BaseModel], ...]]:
    """By the name that is sent: the objects that its value holds."""
    return {field.alias or name: tuple(_models(field.annotation)) for name, field in model.model_fields.items()}


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _models(each)

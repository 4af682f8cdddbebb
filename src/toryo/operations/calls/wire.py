"""Answers about an entity, made of its fields: one function for each pair of an entity and its answer.

The answer's keys are those of its TypedDict that are always there, in that order. A key is the field of the same name
unless another one is named: a moment becomes ISO 8601, an enum its value, a tuple a list, anything else stays. Such a
function is generated, because that costs what a written dict costs; a loop over the fields costs ten times as much.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_origin

from toryo.domain.times import iso, iso_or_none

Noun = TypeVar("Noun")
Answer = TypeVar("Answer")


class Pair(NamedTuple):
    """`own`: keys that are told in another way. `later`: keys that who asks fills in."""

    noun: Any
    answer: Any
    later: tuple[str, ...]
    own: dict[str, str | Callable[..., Any]]


PAIRS: list[Pair] = []
"""All that there are; tests compare their types."""


def wire(
    noun: type[Noun], answer: type[Answer], /, *later: str, **own: str | Callable[[Noun], Any]
) -> Callable[[Noun], Answer]:
    """`own`, by key: the name of another field, or what makes the value of the entity. `later`: keys that are null
    until the caller has filled them in. Raises TypeError for a key that is nothing of these."""
    PAIRS.append(Pair(noun, answer, later, dict(own)))
    names: dict[str, Any] = {"iso": iso, "iso_or_none": iso_or_none}
    parts = []
    for key, hint in answer.__annotations__.items():
        optional = getattr(hint, "__forward_arg__", "").startswith("NotRequired[")
        if optional and key not in (*later, *own, *noun.__dataclass_fields__):  # type: ignore[attr-defined]
            continue
        how = own.get(key, key)
        if callable(how):
            names[f"told_{key}"] = how
        told = "None" if key in later else f"told_{key}(noun)" if callable(how) else _told(noun, how)
        parts.append(f"{key!r}: {told}")
    exec(f"def shown(noun):\n    return {{{', '.join(parts)}}}", names)  # noqa: S102
    made: Callable[[Noun], Answer] = names["shown"]
    return made


def _told(noun: type[Any], name: str) -> str:
    field, (written, module) = f"noun.{name}", _written(noun, name)
    plain = written.removesuffix(" | None")
    null = plain != written
    if plain == "Millis":
        return f"iso_or_none({field})" if null else f"iso({field})"
    if plain in _STAYS:
        return field
    kind = _kind(plain, module)
    if kind is tuple:
        return f"list({field})"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"{field}.value if {field} is not None else None" if null else f"{field}.value"
    return field


_STAYS = frozenset({"str", "int", "float", "bool", "Any"})


@cache
def _kind(annotation: str, module: str) -> Any:
    """The type without its marks and its parts."""
    hint = eval(annotation, vars(sys.modules[module]))  # noqa: S307
    hint = hint.__origin__ if hasattr(hint, "__metadata__") else hint
    return get_origin(hint) or hint


def _written(noun: type[Any], name: str) -> tuple[str, str]:
    """The annotation of a field or of a property, as text, and where it is written. Raises TypeError."""
    for each in noun.__mro__:
        if name in vars(each).get("__annotations__", ()):
            return str(each.__annotations__[name]), each.__module__
    found = getattr(noun, name, None)
    if not isinstance(found, property) or found.fget is None:
        raise TypeError(f"{noun.__name__} has no field {name}.")
    return str(found.fget.__annotations__["return"]), found.fget.__module__

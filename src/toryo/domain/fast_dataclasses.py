"""`dataclass`, `replace` and `cached_property` for the server's entities: as in the standard library, but cheap at run
time.

To a type checker they are the standard ones: assigning to a field of a frozen dataclass is an error, and `replace`
knows the fields. At run time nothing refuses the assignment, because that guard is most of what an entity costs: a
frozen dataclass sets its fields one by one through `object.__setattr__`, and `dataclasses.replace` looks at each field.
Equality, hash, repr, order, slots, `fields` and pickling are those of the standard library.

Python 3.11, in one run, a class with 50 fields (the size of a task):

                                         made        replaced
    dataclass(frozen=True, slots=True)   16.0 us     81.5 us
    this module                           1.1 us      3.2 us
    msgspec.Struct(frozen=True)           0.2 us      0.9 us

msgspec was left out: it would be a compiled dependency of the domain, has no fields without hash or comparison, and a
type checker does not know the fields of its `replace`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
    from functools import cached_property

__all__ = ["cached_property", "dataclass", "replace"]


def _dataclass(cls: type[Any] | None = None, /, *, frozen: bool = False, **options: Any) -> Any:
    """A class that is frozen keeps its hash and loses the guard; any other is left to the standard library."""
    if cls is None:
        return lambda decorated: _dataclass(decorated, frozen=frozen, **options)
    return dataclasses.dataclass(unsafe_hash=frozen, **options)(cls)


def _replace(entity: Any, /, **changes: Any) -> Any:
    kind = type(entity)
    copy = _copies.get(kind)
    if copy is None:
        if not _copyable(kind):
            return dataclasses.replace(entity, **changes)
        copy = _copies.setdefault(kind, _copy_function(kind))
    copied = copy(entity)
    for name, value in changes.items():
        if name not in kind.__dataclass_fields__:
            raise TypeError(f"{kind.__name__} has no field {name!r}.")
        setattr(copied, name, value)
    return copied


_copies: dict[type[Any], Callable[[Any], Any]] = {}
"""By class; made at the first `replace`. Threads that make one at the same time make the same."""


def _copyable(kind: type[Any]) -> bool:
    """Whether its fields can be assigned, and are all that it takes to make one."""
    return (
        dataclasses.is_dataclass(kind)
        and not kind.__dataclass_params__.frozen  # type: ignore[attr-defined]  # as `fields`, which keeps no frozen
        and not hasattr(kind, "__post_init__")
        and all(field.init for field in dataclasses.fields(kind))
    )


def _copy_function(kind: type[Any]) -> Callable[[Any], Any]:
    """Copies the fields, and not what the entity has cached beside them."""
    copied = [f"    copied.{field.name} = entity.{field.name}" for field in dataclasses.fields(kind)]
    source = "\n".join(["def copy(entity):", "    copied = new(kind)", *copied, "    return copied"])
    names: dict[str, Any] = {"new": object.__new__, "kind": kind}
    exec(source, names)  # noqa: S102 - only names of fields, as the standard library does for __init__
    function: Callable[[Any], Any] = names["copy"]
    return function


class _CachedProperty:
    """As that of the standard library, whose lock (until Python 3.12) costs more than most of what is kept."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def __get__(self, entity: Any, owner: type[Any] | None = None) -> Any:
        if entity is None:
            return self
        found = vars(entity)[self._name] = self._function(entity)
        return found


if not TYPE_CHECKING:
    cached_property, dataclass, replace = _CachedProperty, _dataclass, _replace

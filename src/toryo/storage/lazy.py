"""Mappings and sets that are read from the database at their first use: most rules use little of a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

from toryo.domain.fast_dataclasses import cached_property

K = TypeVar("K")
V = TypeVar("V")


class LazyMapping(Mapping[K, V]):
    """`read` returns all of it, `read_one` (if given) the value of one key; None: the mapping has no such key."""

    def __init__(self, read: Callable[[], Mapping[K, V]], read_one: Callable[[K], V | None] | None = None) -> None:
        self._read = read
        self._read_one = read_one

    @cached_property
    def _all(self) -> Mapping[K, V]:
        return self._read()

    def __getitem__(self, key: K) -> V:
        found = self._found(key)
        if found is None:
            raise KeyError(key)
        return found

    def get(self, key: K, default: Any = None) -> Any:
        """As of any mapping; what rules ask for is mostly not there, and an exception for each costs more than they."""
        found = self._found(key)
        return default if found is None else found

    def __contains__(self, key: object) -> bool:
        return self._found(key) is not None

    def _found(self, key: Any) -> V | None:
        return self._all.get(key) if self._read_one is None or "_all" in vars(self) else self._read_one(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


class LazySet(AbstractSet[str]):
    """`read` returns all of it, `read_one` (if given) whether it contains this value."""

    def __init__(self, read: Callable[[], AbstractSet[str]], read_one: Callable[[str], bool] | None = None) -> None:
        self._read = read
        self._read_one = read_one

    @classmethod
    def _from_iterable(cls, it: Iterable[K]) -> AbstractSet[K]:
        return frozenset(it)

    @cached_property
    def _all(self) -> AbstractSet[str]:
        return self._read()

    def __contains__(self, item: object) -> bool:
        if self._read_one is None or "_all" in vars(self):
            return item in self._all
        return isinstance(item, str) and self._read_one(item)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

"""A table of rules: the first row that holds wins, the last row always holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Seen = TypeVar("Seen")
Said = TypeVar("Said")


@dataclass(frozen=True, slots=True)
class Rule(Generic[Seen, Said]):
    """One row: its answer when the fact holds. `words` are those of the contract; the documentation prints them."""

    row: str
    words: str
    when: Callable[[Seen], bool]
    then: Said


def first_match(rules: Sequence[Rule[Seen, Said]], seen: Seen) -> Rule[Seen, Said] | None:
    """The first row that holds; None if none does."""
    return next((rule for rule in rules if rule.when(seen)), None)


def always(_: object) -> bool:
    return True

"""A table of rules: the first row that holds wins, the last row always holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Seen = TypeVar("Seen")
Said = TypeVar("Said")


@dataclass(frozen=True, slots=True)
class Rule(Generic[Seen, Said]):
    """One row: what is said when the fact holds. `words` are the spec's, and the documentation prints them."""

    row: str
    words: str
    when: Callable[[Seen], bool]
    then: Said


def first_match(rules: Sequence[Rule[Seen, Said]], seen: Seen) -> Rule[Seen, Said] | None:
    """The first row that holds; None only for a table without a last row that always does."""
    return next((rule for rule in rules if rule.when(seen)), None)


def always(_: object) -> bool:
    return True

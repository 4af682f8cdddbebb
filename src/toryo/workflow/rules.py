"""A table of rules: the first row whose condition is true wins; the last row of a table is always true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from toryo.domain.fast_dataclasses import dataclass

Seen = TypeVar("Seen")
Said = TypeVar("Said")


@dataclass(frozen=True, slots=True)
class Rule(Generic[Seen, Said]):
    """One row. `words` say the condition to people who have not seen the code: the documentation, `toryo why` and the
    dashboard print them. `then` is the answer if `when` is true.
    """

    row: str
    words: str
    when: Callable[[Seen], bool]
    then: Said


def first_match(rules: Sequence[Rule[Seen, Said]], seen: Seen) -> Rule[Seen, Said] | None:
    """The first row whose condition is true; None if there is none."""
    for rule in rules:
        if rule.when(seen):
            return rule
    return None


def always(_: object) -> bool:
    return True

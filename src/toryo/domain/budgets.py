"""Budgets: what may be spent, in US dollars and in tokens, and whether it is used up.

A project and an agent have one for each UTC day, a task one for as long as it lives, its subtasks included. Each is a
`Budget`, and all are used up by the same rule. Only people give a task one: `PeoplesForm` in `task_forms.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Task
from toryo.domain.usages import Spent
from toryo.provider_options import is_amount

A_DAY: Mapping[str, str] = {"usd": "budget_per_day", "tokens": "tokens_per_day"}
"""The names of a day's budget, of a project and of an agent."""
OF_TASK: Mapping[str, str] = {"usd": "budget_usd", "tokens": "budget_tokens"}
"""The names of a task's budget."""


class Whose(StrEnum):
    """Whose budget it is; the reason of the launch table that it gives."""

    PROJECT = "budget_exhausted"
    AGENT = "agent_budget_exhausted"
    TASK = "task_budget_exhausted"


@dataclass(frozen=True, slots=True)
class Budget:
    """`tokens` counts all input, from a cache too, and output. None: no limit."""

    usd: float | None = None
    tokens: int | None = None

    @property
    def limits(self) -> bool:
        return self.usd is not None or self.tokens is not None

    @property
    def money_only(self) -> bool:
        """Whether it limits nothing but what has a price."""
        return self.usd is not None and self.tokens is None

    def left(self, spent: Spent) -> Budget:
        """What of it is not spent."""
        return Budget(
            None if self.usd is None else max(0.0, round(self.usd - spent.usd, 6)),
            None if self.tokens is None else max(0, self.tokens - spent.tokens),
        )

    def least(self, other: Budget) -> Budget:
        """What both of them allow."""
        usd = [each for each in (self.usd, other.usd) if each is not None]
        tokens = [each for each in (self.tokens, other.tokens) if each is not None]
        return Budget(min(usd, default=None), min(tokens, default=None))

    def used_up(self, spent: Spent) -> str | None:
        """`usd` or `tokens`, whichever is used up; None if agents may continue."""
        if self.usd is not None and spent.usd >= self.usd:
            return "usd"
        if self.tokens is not None and spent.tokens >= self.tokens:
            return "tokens"
        return None


def of_agent(options: Mapping[str, Any]) -> Budget:
    """That of an agent, for a day, from its `provider_options`; what is no amount counts as nothing."""
    usd: Any = options.get(A_DAY["usd"])
    tokens: Any = options.get(A_DAY["tokens"])
    return Budget(float(usd) if is_amount(usd) else None, int(tokens) if is_amount(tokens, whole=True) else None)


def of_task(task: Task) -> Budget:
    return Budget(task.budget_usd, task.budget_tokens)


def limiting_tasks(tree: Tree, task: Task) -> Iterable[Task]:
    """The tasks whose budgets limit the work on this one: itself, and those above it, of which it is a part."""
    return (each for each in (task, *tree.ancestors(task)) if of_task(each).limits)

"""What a task's success must pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from toryo.domain import review_checks
from toryo.domain.tasks import AcceptanceCheck, Task
from toryo.domain.texts import quoted
from toryo.domain.tree_state import TreeState
from toryo.operations.calls.call import Call


def all_of(call: Call, tree_state: TreeState, task: Task) -> list[AcceptanceCheck]:
    """The checks that the project requires, then the task's own; each once."""
    own = call.tx.tasks.details(task.id).acceptance if task.has_acceptance else ()
    found: list[AcceptanceCheck] = []
    found.extend(each for each in (*required_of(tree_state, task), *own) if each not in found)
    return found


def required_of(tree_state: TreeState, task: Task) -> tuple[AcceptanceCheck, ...]:
    """Those that the project requires of this task."""
    return tree_state.project.settings.required_checks if tree_state.project_checks_apply(task) else ()


def required_among(tree_state: TreeState, task: Task, checks: Iterable[AcceptanceCheck]) -> int:
    """How many of these, which are in the order of `all_of`, the project requires: the first ones."""
    required = required_of(tree_state, task)
    return sum(each in required for each in checks)


def run_by_program(call: Call, tree_state: TreeState, task: Task) -> list[AcceptanceCheck]:
    """Those that a Coordinator runs."""
    return review_checks.run_by_program(all_of(call, tree_state, task))


def names_of(failures: Iterable[Mapping[str, Any]], most: int = 5) -> str:
    """The checks that failed, for a sentence: what they printed stands beside it as data."""
    return ", ".join(quoted(str(failure.get("check"))) for failure in islice(failures, most))


def reviews(call: Call, tree_state: TreeState, task: Task) -> list[AcceptanceCheck]:
    """Those that a reviewer decides, in order: of what an agent was given to do, as its main task."""
    if not tree_state.given_to_agent(task):
        return []
    return review_checks.reviews_among(all_of(call, tree_state, task))

"""T12: the tokens that Toryo costs the agents: the list of tools and the first prompt at every start, then
the arguments and answers of calls until a task is done.

How it is counted stands in tests/budgets/agent_costs.py; tests/budgets/ceilings.py has what may not be exceeded.

    python benchmarks/tokens.py [--subtasks 3] [--minutes 10]
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog
import target_figures

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.budgets import agent_costs  # noqa: E402 - after the path to the tests' helpers
from tests.budgets.agent_costs import Counted, Counting  # noqa: E402
from toryo.first_prompt import first_words  # noqa: E402
from toryo.storage.open_database import open_database, upgrade  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subtasks", type=int, default=3)
    parser.add_argument("--minutes", type=int, default=10, help="that a chat agent is idle")
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    print(f"{'bytes / 4 as tokens':<44}{'calls':>8}{'bytes':>9}{'tokens':>9}")
    with world() as here:
        for name, size in agent_costs.lists(here).items():
            row(f"tools/list, {name}", size)
    row("first prompt", len(first_words("w1").encode()))
    tell("task without subtasks, worker", agent_costs.worker(world, decomposition="never"))
    titles = tuple(f"Part {n}" for n in range(given.subtasks))
    tell(f"task with {given.subtasks} subtasks, worker", agent_costs.worker(world, titles))
    for name, chained in (("at once", False), ("in a chain", True)):
        few, many = (agent_costs.manager(world, given.subtasks + more, chained=chained) for more in (0, 1))
        tell(f"task with {given.subtasks} subtasks {name}, manager", few)
        one_more = many.less(few)
        row(f"  one more subtask {name}", one_more.size, one_more.calls)
    flowing = agent_costs.manager(world, CHAIN, chained=True, flows=True)
    tell(f"{CHAIN} subtasks that start by themselves, manager", flowing)
    row("  each of these subtasks", flowing.size / CHAIN, flowing.calls / CHAIN)
    answered, idle = agent_costs.chat(world, given.minutes)
    tell("chat, one message answered", answered)
    row(f"chat, {given.minutes} idle minutes", idle.size, idle.calls)


CHAIN = 6
"""Subtasks of a chain that start by themselves."""
NOTED = {
    "tools/list, worker": "T12 worker",
    "tools/list, manager": "T12 manager",
    "tools/list, chat session": "T12 chat",
}
NOTED_CALLS = {
    "task without subtasks, worker": "T12 calls",
    "task with 3 subtasks, worker": "T12 subtask calls",
    "  each of these subtasks": "T12 chain",
}


def row(name: str, size: float | None = None, calls: float | None = None) -> None:
    shown = [f"{calls:.4g}" if calls is not None else ""]
    shown += [f"{size:,.0f}", f"{size / 4:,.0f}"] if size is not None else ["", ""]
    print(f"{name:<44}{shown[0]:>8}{shown[1]:>9}{shown[2]:>9}")
    if name in NOTED and size is not None:
        target_figures.note(NOTED[name], size / 4)
    if name in NOTED_CALLS and calls is not None:
        target_figures.note(NOTED_CALLS[name], calls)


def tell(name: str, counted: Counted) -> None:
    row(name, counted.size, counted.calls)
    row("  instructions, median", statistics.median(counted.instructions))
    row("  instructions, longest", max(counted.instructions))


@contextmanager
def world() -> Iterator[Counting]:
    with tempfile.TemporaryDirectory() as folder, open_database(f"sqlite:///{Path(folder) / 'toryo.db'}") as database:
        upgrade(database)
        yield Counting(database)


if __name__ == "__main__":
    main()

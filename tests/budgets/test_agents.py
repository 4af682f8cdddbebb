"""The tokens and calls that agents pay for: what they are told at each start, and until a task is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

import pytest

from tests.budgets import agent_costs
from tests.budgets.agent_costs import Counted, Counting, Worlds
from tests.budgets.ceilings import hold
from tests.databases import empty
from tests.workflow import test_instructions as told
from toryo.domain.projects import Language
from toryo.first_prompt import first_words, reminder
from toryo.storage.engine.database import Database
from toryo.workflow import instructions

LISTS = ("worker", "reviewer", "manager", "chat session", "queue agent", "orchestrator", "queue toolset", "anyone")
PROMPTS = {
    "tokens of the first prompt": first_words("w1"),
    "tokens of the first prompt, in Japanese": first_words("w1", "ja"),
    "tokens of the first prompt, started by hand": first_words("w1", by_hand=True),
    "tokens of the reminder": reminder("w1"),
}


def managed(chained: bool) -> Callable[[Worlds], tuple[Counted, Counted]]:
    """Of 3 subtasks, and of one more: that does not depend on what the task itself costs."""

    def run(worlds: Worlds) -> tuple[Counted, Counted]:
        few, many = (agent_costs.manager(worlds, subtasks, chained=chained) for subtasks in (3, 4))
        return few, many.less(few)

    return run


STORIES: dict[str, tuple[Callable[[Worlds], tuple[Counted, ...]], tuple[str, ...]]] = {
    "worker": (lambda worlds: (agent_costs.worker(worlds, decomposition="never"),), ("worker: task without subtasks",)),
    "worker with 3": (
        lambda worlds: (agent_costs.worker(worlds, ("Part 0", "Part 1", "Part 2")),),
        ("worker: task with 3 subtasks",),
    ),
    "manager at once": (managed(chained=False), ("manager: 3 subtasks at once", "manager: one more subtask at once")),
    "manager in a chain": (
        managed(chained=True),
        ("manager: 3 subtasks in a chain", "manager: one more subtask in a chain"),
    ),
    "manager in a line": (
        lambda worlds: (agent_costs.manager(worlds, 6, chained=True, flows=True),),
        ("manager: 6 subtasks in a chain that start by themselves",),
    ),
    "chat": (lambda worlds: agent_costs.chat(worlds, 10), ("chat: one message answered", "chat: 10 idle minutes")),
}
"""What is run, and how what it counts is called."""
LANGUAGES = {"in English": Language.ENGLISH, "in Japanese": Language.JAPANESE}

ROWS: dict[str, list[str]] = {
    "lists": [f"tokens of the tool list: {who}" for who in LISTS],
    "prompts": list(PROMPTS),
    **{
        name: [f"{unit} of a {row}" for row in rows for unit in ("calls", "tokens")]
        for name, (_, rows) in STORIES.items()
    },
    **{
        f"instructions {language}": [
            f"tokens of an instruction, median, {language}",
            f"tokens of the longest instruction, {language}",
        ]
        for language in LANGUAGES
    },
    "instructions of a worker": ["tokens of the instructions of a worker with 3 subtasks"],
}


@pytest.fixture
def worlds(kept_sqlite: Database, quiet: None) -> Worlds:
    @contextmanager
    def one() -> Iterator[Counting]:
        empty(kept_sqlite)
        yield Counting(kept_sqlite)

    return one


@pytest.mark.parametrize("name", ["lists"])
def test_a_list_of_tools_costs_no_more_tokens_than_it_may(worlds: Worlds, name: str) -> None:
    with worlds() as here:
        found = agent_costs.lists(here)
    assert tuple(found) == LISTS
    hold(ROWS[name], *map(agent_costs.tokens, found.values()))


@pytest.mark.parametrize("name", ["prompts"])
def test_a_prompt_costs_no_more_tokens_than_it_may(name: str) -> None:
    hold(ROWS[name], *(agent_costs.tokens(len(text.encode())) for text in PROMPTS.values()))


@pytest.mark.parametrize("name", STORIES)
def test_a_task_costs_no_more_calls_and_tokens_than_it_may(worlds: Worlds, name: str) -> None:
    run, _ = STORIES[name]
    hold(ROWS[name], *(value for counted in run(worlds) for value in (counted.calls, counted.tokens)))


def test_a_chain_that_starts_by_itself_needs_its_manager_twice_however_long_it_is(worlds: Worlds) -> None:
    """To create it, and to report; a chain that it starts itself needs it once more for each part."""
    assert [agent_costs.manager(worlds, parts, chained=True, flows=True).starts for parts in (2, 4)] == [2, 2]
    assert agent_costs.manager(worlds, 2, chained=True).starts == 3


# --- instructions ----------------------------------------------------------------------------------------------------


def spoken(text: str) -> float:
    """An estimate, for want of a tokenizer: four letters of Latin script a token, one sign of any other."""
    return sum(1 if ord(sign) > 0x2E80 else 0.25 for sign in text)


@pytest.mark.parametrize("name", [f"instructions {language}" for language in LANGUAGES])
def test_instructions_cost_no_more_tokens_than_they_may(name: str) -> None:
    texts = told.TEXTS[LANGUAGES[name.removeprefix("instructions ")]]
    costs = [spoken(texts[key]) for key in {*instructions.TOOLS, *told.HANDED_OUT}]
    hold(ROWS[name], math.ceil(median(costs)), math.ceil(max(costs)))


@pytest.mark.parametrize("name", ["instructions of a worker"])
def test_the_instructions_of_a_story_cost_no_more_tokens_than_they_may(name: str) -> None:
    story = ["report_model", "get_task", "create_subtasks.worker", *["start_subtask", "execute_subtask"] * 3]
    hold(ROWS[name], math.ceil(sum(spoken(instructions.TEXTS[key]) for key in [*story, "report_completion"])))

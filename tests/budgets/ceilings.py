"""Every budget that can be counted: what it may cost at most, and who pays. Each number stands here and nowhere else.

A commit that costs more raises its ceiling here, in the same commit; one that costs less lowers it. Seconds are no
budgets: they depend on the machine (benchmarks/).

A file of tests/budgets has `ROWS`: the name of each of its measurements, and the rows that it fills. test_table.py
proves that every row is filled by one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

HERE = "tests/budgets/ceilings.py"


class Ceiling(NamedTuple):
    most: int
    paid: str
    """By whom, or how often."""
    spare: float = 0.0
    """The share of it that may be unused: 0 where each one counts, more where any other commit moves it a little."""


Rows = Mapping[str, Sequence[str]]

_LIST = "every start of such an agent, and every call of its model after that"
_PROMPT = "every start of an agent"
_STORY = "every such task, in the tokens of a model"
_TALK = "every chat session, in the tokens of a model"
_TOLD = "every next action, in the tokens of a model"
_VIEW = "every first page load on a slow line"
_START = "every start of one, before it does anything"
_GIT = "every task in a worktree, of about 4 ms of a CPU each"

_STATEMENTS = {
    # operation: on SQLite, on PostgreSQL
    "get_next_action of a worker": (6, 12),
    "get_next_action of a manager with 5 subtasks running": (8, 14),
    "get_my_task, first": (12, 18),
    "get_my_task": (10, 16),
    "create_task of a subtask": (10, 17),
    "update_task_status to in_progress": (13, 20),
    "update_task_status to completed": (17, 24),  # what depends on it, and the line of its agent
    "create_tasks_batch of 5": (10, 16),
    "assign_task": (11, 17),
    "report_completed": (19, 23),  # the same
    "save_progress": (7, 11),
    "logout": (10, 15),
    "authenticate": (12, 17),
    "report_model": (7, 13),
    "poll_tasks, empty": (3, 3),
    "poll_tasks of 1": (6, 6),
    "poll_tasks of 10": (6, 6),
    "create_task in a queue": (6, 5),
    "submit_result": (7, 7),
    "get_pending_messages, none": (10, 12),
    "get_pending_messages, one": (16, 18),
    "start_conversation": (22, 26),
    "send_chat_message of a person": (17, 17),
    "append_log": (5, 6),
    "append_log with what it does": (6, 7),
    "move_task to completed, nothing is ready": (17, 18),
    "move_task to completed, one of 6 starts": (27, 28),
    "claim_starts, nothing new": (19, 19),
    "claim_starts of 5": (78, 83),
}

_GIT_PROCESSES = {
    "make its worktree": 16,
    "keep its work": 28,
    "check it out": 12,
    "look whether it can be merged": 18,
    "merge it": 10,
    "clear up": 15,
}

CEILINGS: dict[str, Ceiling] = {
    # Tokens: bytes / 4. A list is the compact JSON of `tools` in the answer of tools/list.
    "tokens of the tool list: worker": Ceiling(1_500, _LIST, 0.02),
    "tokens of the tool list: reviewer": Ceiling(1_480, _LIST, 0.03),
    "tokens of the tool list: manager": Ceiling(2_000, _LIST, 0.02),
    "tokens of the tool list: chat session": Ceiling(1_300, _LIST, 0.06),
    "tokens of the tool list: queue agent": Ceiling(819, _LIST),
    "tokens of the tool list: orchestrator": Ceiling(1_090, _LIST),
    "tokens of the tool list: queue toolset": Ceiling(1_235, _LIST),
    "tokens of the tool list: anyone": Ceiling(4_911, _LIST),
    "tokens of the first prompt": Ceiling(181, _PROMPT),
    "tokens of the first prompt, in Japanese": Ceiling(293, _PROMPT),
    "tokens of the first prompt, started by hand": Ceiling(197, "every start of an agent by hand"),
    "tokens of the reminder": Ceiling(84, "every agent that stops without a report"),
    # What agents send and read until a task is done: scripts that do only what they are told. Numbers of events have
    # more digits the more a process has tested before.
    "calls of a worker: task without subtasks": Ceiling(4, _STORY),
    "tokens of a worker: task without subtasks": Ceiling(622, _STORY, 0.03),
    "calls of a worker: task with 3 subtasks": Ceiling(11, _STORY),
    "tokens of a worker: task with 3 subtasks": Ceiling(2_255, _STORY, 0.03),
    "calls of a manager: 3 subtasks at once": Ceiling(20, _STORY),
    "tokens of a manager: 3 subtasks at once": Ceiling(3_210, _STORY, 0.03),
    "calls of a manager: one more subtask at once": Ceiling(1, _STORY),
    "tokens of a manager: one more subtask at once": Ceiling(334, _STORY, 0.03),
    "calls of a manager: 3 subtasks in a chain": Ceiling(42, _STORY),
    "tokens of a manager: 3 subtasks in a chain": Ceiling(6_755, _STORY, 0.03),
    "calls of a manager: one more subtask in a chain": Ceiling(12, _STORY),
    "tokens of a manager: one more subtask in a chain": Ceiling(2_521, _STORY, 0.03),
    "calls of a manager: 6 subtasks in a chain that start by themselves": Ceiling(14, _STORY),
    "tokens of a manager: 6 subtasks in a chain that start by themselves": Ceiling(3_060, _STORY, 0.03),
    "calls of a chat: one message answered": Ceiling(6, _TALK),
    "tokens of a chat: one message answered": Ceiling(677, _TALK, 0.03),
    "calls of a chat: 10 idle minutes": Ceiling(14, _TALK),
    "tokens of a chat: 10 idle minutes": Ceiling(990, _TALK, 0.03),
    # Instructions: four Latin letters are a token, a sign of any other script is one.
    "tokens of an instruction, median, in English": Ceiling(39, _TOLD),
    "tokens of the longest instruction, in English": Ceiling(90, _TOLD),
    "tokens of an instruction, median, in Japanese": Ceiling(66, _TOLD),
    "tokens of the longest instruction, in Japanese": Ceiling(234, _TOLD),
    "tokens of the instructions of a worker with 3 subtasks": Ceiling(407, _STORY),
    # Statements, without BEGIN, COMMIT, savepoints and locks: two or more for each transaction.
    **{
        f"statements on {database}: {operation}": Ceiling(most, "every such call, while others wait for the database")
        for operation, both in _STATEMENTS.items()
        for database, most in zip(("SQLite", "PostgreSQL"), both, strict=True)
    },
    # Those that git starts itself are not counted.
    **{f"git processes of a task: {act}": Ceiling(most, _GIT) for act, most in _GIT_PROCESSES.items()},
    # Of the larger of the two languages, as they are sent (gzip). Files: the page, its scripts and its styles.
    "bytes of the scripts and styles of the first view: board": Ceiling(145_000, _VIEW, 0.04),
    "files of the first view: board": Ceiling(26, _VIEW, 0.1),
    "bytes of the scripts and styles of the first view: home": Ceiling(145_000, _VIEW, 0.04),
    "files of the first view: home": Ceiling(22, _VIEW, 0.1),
    "bytes of the scripts and styles of the first view: list": Ceiling(145_000, _VIEW, 0.04),
    "files of the first view: list": Ceiling(16, _VIEW, 0.1),
    # Modules outside of the standard library.
    "modules of toryo --help": Ceiling(43, "every command that is typed"),
    "modules of a server until it is ready": Ceiling(848, "every start of a server, in time and memory", 0.02),
    "modules of a command agent": Ceiling(25, _START),
    "modules of a playbook agent": Ceiling(26, _START),
    "modules of a script agent": Ceiling(34, _START),
    # Per language.
    "sentences of the server in Japanese": Ceiling(1_360, "every translator, and the memory of every server", 0.03),
    "lines of words of the dashboard, both languages": Ceiling(
        5_198, "every translator, and in part every page load", 0.03
    ),
    "bytes of the wheel": Ceiling(3_100_000, "every installation and every image", 0.03),
}


def hold(rows: Sequence[str], *measured: int) -> None:
    """Raises AssertionError for a value above its ceiling, or so far below it that the ceiling has to follow."""
    wrong = [told for row, value in zip(rows, measured, strict=True) if (told := judged(row, CEILINGS[row], value))]
    assert not wrong, "\n".join(wrong)


def judged(row: str, ceiling: Ceiling, measured: int) -> str | None:
    """What is wrong with it, in words; None if it is within its budget."""
    at_least = ceiling.most * (1 - ceiling.spare)
    if at_least <= measured <= ceiling.most:
        return None
    off = f"{row}: {measured:,} measured, the ceiling is {ceiling.most:,}; paid by {ceiling.paid}."
    if measured > ceiling.most:
        return f"{off} Make it cheaper, or raise the ceiling in this commit: {HERE}."
    return f"{off} That is lower: lower the ceiling in this commit, too: {HERE}."

"""The next action of a manager: the table, in the order and the words of docs/reference/tables.md."""

from __future__ import annotations

from collections.abc import Sequence

from toryo.workflow import facts
from toryo.workflow.rules import Rule, always, first_match
from toryo.workflow.snapshot import RuleInput
from toryo.workflow.step import Step

MANAGER_ROWS: Sequence[Rule[RuleInput, Step]] = (
    Rule("1", "task not fetched in this session", facts.task_not_fetched, Step("get_task", "needs_task")),
    Rule("2", "no subtasks", facts.no_subtasks, Step("create_subtasks", "needs_subtask_creation")),
    Rule(
        "3",
        "every subtask completed or cancelled, at least one completed, no awaited delegation open, and no acceptance "
        "check failed at the last report (or something below it has changed since)",
        facts.all_done_and_not_refuted,
        Step("report_completion", "needs_completion"),
    ),
    Rule(
        "4",
        "nothing in progress, nothing dispatchable, nothing outstanding, some blocked or failed",
        facts.only_stuck_left,
        Step("review_and_resolve_blocks", "needs_review"),
    ),
    Rule(
        "5",
        "chose start in this session, has not acted on it yet, and something is dispatchable",
        facts.chose_start,
        Step("start", "start"),
    ),
    Rule(
        "6",
        "chose adjust in this session, and has not acted on it yet",
        facts.chose_adjust,
        Step("adjust", "adjust"),
    ),
    Rule(
        "7",
        "chose wait in this session, something is outstanding and nothing is new",
        facts.chose_wait,
        Step("wait", "waiting_for_workers"),
    ),
    Rule(
        "8",
        "always (any other choice is void)",
        always,
        Step("situational_awareness", "situational_awareness"),
    ),
)

MAY_CHOOSE = frozenset({"start", "adjust", "wait", "situational_awareness"})
"""The actions (its last four rows) under which `select_action` is accepted."""

LOOKS = frozenset({"situational_awareness", "review_and_resolve_blocks"})
"""The actions that count as a look: earlier events are no longer new after them."""


def decide(case: RuleInput) -> Step:
    row = first_match(MANAGER_ROWS, case)
    assert row is not None, "the last row always holds"
    return row.then.by(f"manager {row.row}", row.words)

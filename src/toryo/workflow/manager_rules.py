"""The next action of a manager: the table that docs/reference/tables.md prints."""

from __future__ import annotations

from collections.abc import Sequence

from toryo.workflow import facts
from toryo.workflow.rules import Rule, always, first_match
from toryo.workflow.snapshot import RuleInput
from toryo.workflow.step import Step

MANAGER_ROWS: Sequence[Rule[RuleInput, Step]] = (
    Rule(
        "1", "The agent has not read its task in this session", facts.task_not_fetched, Step("get_task", "needs_task")
    ),
    Rule(
        "1a",
        "A person has not answered yet what the manager has asked, and no subtask is open",
        facts.waits_for_answer,
        Step("wait_for_answer", "waiting_for_answer"),
    ),
    Rule(
        "1b",
        "The manager has reported success, and a reviewer has not decided yet",
        facts.in_review,
        Step("wait_for_answer", "in_review"),
    ),
    Rule("2", "The task has no subtasks", facts.no_subtasks, Step("create_subtasks", "needs_subtask_creation")),
    Rule(
        "3",
        "Every subtask is completed or cancelled, at least one is completed, no awaited delegation is open, no "
        "acceptance check failed at the last report (or a task below has changed since), and the manager has not "
        "chosen adjust",
        facts.all_done_and_accepted,
        Step("report_completion", "needs_completion"),
    ),
    Rule(
        "4",
        "Some subtasks are blocked or failed, no subtask is in progress or can be started, and nothing is left to wait "
        "for",
        facts.only_stuck_left,
        Step("review_and_resolve_blocks", "needs_review"),
    ),
    Rule(
        "5",
        "The manager chose start in this session and has not acted on it yet, and a subtask can be started",
        facts.chose_start,
        Step("start", "start"),
    ),
    Rule(
        "6",
        "The manager chose adjust in this session and has not acted on it yet",
        facts.chose_adjust,
        Step("adjust", "adjust"),
    ),
    Rule(
        "7",
        "The manager chose wait in this session, there is something to wait for, and nothing has changed since its "
        "last look",
        facts.chose_wait,
        Step("wait", "waiting_for_workers"),
    ),
    Rule(
        "8",
        "The manager has not chosen, or what it chose is not possible now",
        always,
        Step("situational_awareness", "situational_awareness"),
    ),
)

MAY_CHOOSE = frozenset({"start", "adjust", "wait", "situational_awareness"})
"""The actions (its last four rows) under which `select_action` is accepted."""

MAY_ADJUST = MAY_CHOOSE | {"report_completion"}
"""Those under which `adjust` is: what has ended last may be bad, too."""

LOOKS = frozenset({"situational_awareness", "review_and_resolve_blocks"})
"""The actions that count as a look: earlier events are no longer new after them."""


def decide(case: RuleInput) -> Step:
    row = first_match(MANAGER_ROWS, case)
    assert row is not None, "the last row is always true"
    return row.then.by(f"manager {row.row}", row.words)

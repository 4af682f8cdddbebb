"""The next action of a worker: the table that docs/reference/tables.md prints."""

from __future__ import annotations

from collections.abc import Sequence

from toryo.workflow import facts
from toryo.workflow.rules import Rule, always, first_match
from toryo.workflow.snapshot import RuleInput
from toryo.workflow.step import Step

WORKER_ROWS: Sequence[Rule[RuleInput, Step]] = (
    Rule(
        "1", "The agent has not read its task in this session", facts.task_not_fetched, Step("get_task", "needs_task")
    ),
    Rule(
        "1a",
        "A person has not answered yet what the agent has asked",
        facts.waits_for_answer,
        Step("wait_for_answer", "waiting_for_answer"),
    ),
    Rule(
        "1b",
        "The agent has reported success, and a reviewer has not decided yet",
        facts.in_review,
        Step("wait_for_answer", "in_review"),
    ),
    Rule(
        "1c",
        "The task is a review of other work, and no open subtask or delegation prevents the report",
        facts.review_due,
        Step("execute_task", "reviewing"),
    ),
    Rule(
        "2",
        "The task never had subtasks, and the worker may split it",
        facts.may_be_decomposed,
        Step("create_subtasks", "needs_subtask_creation"),
    ),
    Rule(
        "3",
        "An acceptance check failed at the last report, and no open subtask or delegation prevents the next one",
        facts.fixing_due,
        Step("execute_task", "fixing_checks"),
    ),
    Rule(
        "4",
        "The task has no subtasks (or only cancelled ones), and only an open delegation prevents the report of success",
        facts.refused_only_for_delegation,
        Step("wait_for_delegation", "waiting_for_delegation"),
    ),
    Rule(
        "5",
        "The task has no subtasks (or only cancelled ones)",
        facts.no_subtasks_but_cancelled,
        Step("execute_task", "executing_task"),
    ),
    Rule(
        "6",
        "Every subtask is completed or cancelled, at least one is completed, and no awaited delegation is open",
        facts.all_subtasks_done,
        Step("report_completion", "needs_completion"),
    ),
    Rule(
        "7",
        "One of the worker's own subtasks is in progress, nobody reviews it, and it has no open subtasks (open ones "
        "are looked at instead)",
        facts.own_subtask_in_progress,
        Step("execute_subtask", "executing_subtask"),
    ),
    Rule(
        "8",
        "One of the worker's own subtasks can be started",
        facts.own_startable_subtask,
        Step("start_subtask", "needs_start"),
    ),
    Rule(
        "9",
        "An awaited delegation is open, and nothing else can be done",
        facts.delegation_open,
        Step("wait_for_delegation", "waiting_for_delegation"),
    ),
    Rule(
        "10",
        "Another agent or a person works on a subtask or reviews it, or a subtask of others starts by itself, or a "
        "task below waits for approval",
        facts.others_at_work,
        Step("wait_for_others", "waiting_for_workers"),
    ),
    Rule(
        "11",
        "All remaining subtasks are blocked or failed",
        facts.rest_is_stuck,
        Step("review_and_resolve_blocks", "needs_review"),
    ),
    Rule(
        "12",
        "Subtasks are open, but none can be started",
        always,
        Step("resolve_dependency_deadlock", "dependency_deadlock"),
    ),
)


def decide(case: RuleInput) -> Step:
    row = first_match(WORKER_ROWS, case)
    assert row is not None, "the last row is always true"
    return row.then.by(f"worker {row.row}", row.words)

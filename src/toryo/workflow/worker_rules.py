"""The next action of a worker: the table, in the order and the words of docs/reference/tables.md."""

from __future__ import annotations

from collections.abc import Sequence

from toryo.workflow import facts
from toryo.workflow.rules import Rule, always, first_match
from toryo.workflow.snapshot import RuleInput
from toryo.workflow.step import Step

WORKER_ROWS: Sequence[Rule[RuleInput, Step]] = (
    Rule("1", "task not fetched in this session", facts.task_not_fetched, Step("get_task", "needs_task")),
    Rule(
        "2",
        "it never had subtasks and may be decomposed",
        facts.may_be_decomposed,
        Step("create_subtasks", "needs_subtask_creation"),
    ),
    Rule(
        "3",
        "an acceptance check failed at the last report",
        facts.check_failed,
        Step("execute_task", "fixing_checks"),
    ),
    Rule(
        "4",
        "no subtasks but cancelled ones, and a success report was refused only for an open delegation",
        facts.refused_only_for_delegation,
        Step("wait_for_delegation", "waiting_for_delegation"),
    ),
    Rule(
        "5",
        "no subtasks but cancelled ones",
        facts.no_subtasks_but_cancelled,
        Step("execute_task", "executing_task"),
    ),
    Rule(
        "6",
        "every subtask completed or cancelled, at least one completed, no awaited delegation open",
        facts.all_subtasks_done,
        Step("report_completion", "needs_completion"),
    ),
    Rule(
        "7",
        "an own subtask in progress, below which nothing is open (else: what is open there)",
        facts.own_subtask_in_progress,
        Step("execute_subtask", "executing_subtask"),
    ),
    Rule("8", "an own startable subtask", facts.own_startable_subtask, Step("start_subtask", "needs_start")),
    Rule(
        "9",
        "an awaited delegation is open and nothing else can be done",
        facts.delegation_open,
        Step("wait_for_delegation", "waiting_for_delegation"),
    ),
    Rule(
        "10",
        "a subtask of another able agent or a person is in progress, or an approval below it is pending",
        facts.others_at_work,
        Step("wait_for_others", "waiting_for_workers"),
    ),
    Rule(
        "11",
        "the rest, at least one, are blocked or failed",
        facts.rest_is_stuck,
        Step("review_and_resolve_blocks", "needs_review"),
    ),
    Rule(
        "12",
        "always (open subtasks, none startable)",
        always,
        Step("resolve_dependency_deadlock", "dependency_deadlock"),
    ),
)


def decide(case: RuleInput) -> Step:
    row = first_match(WORKER_ROWS, case)
    assert row is not None, "the last row always holds"
    return row.then.by(f"worker {row.row}", row.words)

"""Whether a task in line starts now: Toryo's own decision, as a table over the facts of its agent.

`domain/task_readiness.py` has what prevents every start (guard 1). These rows keep in the line what would leave it only
to wait for money, an account, or the files of another task.
"""

from __future__ import annotations

from collections.abc import Sequence

from toryo.domain import task_readiness
from toryo.domain.task_readiness import StartBlocker
from toryo.workflow import launch_rules
from toryo.workflow.launch_rules import Verdict, hold
from toryo.workflow.rules import Rule, first_match
from toryo.workflow.snapshot import RuleInput

OWN_PART = "own_part"
"""Of a part of its agent's own task: the agent begins it when it comes to it. No reason that people read."""


def hindrance(case: RuleInput) -> StartBlocker | None:
    """What guard 1 finds first."""
    return next(task_readiness.hindrances(case.tree_state, case.main), None)


LINE_ROWS: Sequence[Rule[RuleInput, Verdict]] = (
    Rule(
        "L0",
        "A task above it is in the backlog, or has not been started",
        lambda c: bool(task_readiness.not_begun_above(c.tree_state, c.main)),
        hold("above_waits"),
    ),
    Rule(
        "L1",
        "Its agent is in cooldown after a failure, or the quota of its account is used up",
        lambda c: launch_rules.cooling_down(c.snapshot),
        hold("cooling_down"),
    ),
    Rule("L2", "Today's budget is used up", lambda c: c.snapshot.budget_used_up, hold("budget_exhausted")),
    Rule(
        "L2",
        "The agent's own budget of today is used up",
        lambda c: c.snapshot.agent_budget_used_up,
        hold("agent_budget_exhausted"),
    ),
    Rule(
        "L2",
        "The budget of the task, or of one above it, is used up",
        launch_rules.over_budget,
        hold("task_budget_exhausted"),
    ),
    Rule(
        "L3",
        "The project holds back what may conflict (conflict_policy), and it would change the same files as a task that "
        "an agent works on",
        launch_rules.held_back_by_running,
        hold("may_conflict"),
    ),
    Rule(
        "L3",
        "The same, with a completed task whose work is not merged yet",
        launch_rules.held_back_by_unmerged,
        hold("waiting_for_merge"),
    ),
    Rule(
        "L4",
        "The project lets tasks wait until what they depend on is merged (dependencies), and the work of a task that "
        "it depends on is not",
        lambda c: c.main.id in c.snapshot.unmerged,
        hold("dependency_unmerged"),
    ),
)
"""After guard 1, whose reasons come first, and before rows 16 and 17 of the launch decision."""

OF_ITSELF = frozenset(
    {
        StartBlocker.ANCESTOR_CLOSED.value,
        StartBlocker.NOT_BEFORE.value,
        "above_waits",
        "task_budget_exhausted",
        "dependency_unmerged",
    }
)
"""What keeps a task in line regardless of who does it."""

OF_ONE_TASK = OF_ITSELF | {OWN_PART, "may_conflict", "waiting_for_merge"}
"""What keeps one task in line, and says nothing about those behind it."""


def decide(case: RuleInput) -> str | None:
    """Why the task stays in line; None: it starts."""
    if not case.tree.is_main(case.main):
        return OWN_PART
    if (hindered := hindrance(case)) is not None:
        return hindered.value
    row = first_match(LINE_ROWS, case)
    if row is not None:
        return row.then.reason
    kept = first_match(launch_rules.START_ROWS, (case.snapshot, case.main))
    return None if kept is None else kept.then.reason

"""Counts the usage of a launch, and records an event when it uses up a budget: of its project, agent or task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toryo.domain import budgets, usages
from toryo.domain.budgets import Budget
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.launches import Launch, Purpose
from toryo.domain.tasks import Task
from toryo.domain.usages import Spent, Usage
from toryo.operations.calls.call import WORK, Call
from toryo.operations.tasks import requested_changes
from toryo.storage.snapshots import spent_for


@dataclass(frozen=True, slots=True)
class Limit:
    """A budget, as it was before a report. `event`: what is recorded when it is used up by it."""

    event: str
    subject: dict[str, Any]
    budget: Budget
    names: Any
    before: Spent


def count_usage(call: Call, launch: Launch, told: dict[str, Any] | None) -> None:
    """What its program used so far. Wakes who has to stop when a budget is used up by it, and tells that once."""
    usage = usages.read(told or {})
    known = call.tx.usages.of_launch(launch.id)
    if usage is not None and known is not None:
        usage = known.and_then(usage)
    if usage is None or usage == known:
        return
    before = list(limits(call, launch))
    call.tx.usages.put(launch, usage, call.now)
    more = _tokens(usage) - _tokens(known)
    _count_quota(call, launch, more)
    cost = (usage.cost_usd or 0.0) - (known.cost_usd or 0.0 if known is not None else 0.0)
    for limit in before:
        after = Spent(limit.before.tokens + more, limit.before.usd + cost)
        used_up = limit.budget.used_up(after)
        if used_up is not None and limit.budget.used_up(limit.before) is None:
            call.event(limit.event, data={limit.names[used_up]: getattr(limit.budget, used_up)}, **limit.subject)
            call.tx.hint(WORK)
    limited = [limit.subject["task"].id for limit in before if "task" in limit.subject]
    _count_for_changes(call, limited, Spent(more, cost))


def limits(call: Call, launch: Launch) -> Iterator[Limit]:
    """The budgets for which it counts; of what has none, nothing is read."""
    today, started = usages.day_of(call.now), usages.day_of(launch.ordered_at)
    project, agent = call.tx.projects.find(launch.project_id), call.tx.agents.find(launch.agent_id)
    if project is not None and project.settings.has_budget and started == today:
        spent = call.tx.usages.spent_by(project.id, today)
        subject: dict[str, Any] = {"project_id": project.id}
        yield Limit("project.budget_used_up", subject, project.settings.budget, budgets.A_DAY, spent)
    own = budgets.of_agent(agent.provider_options) if agent is not None else Budget()
    if own.limits and started == today:
        spent = call.tx.usages.spent_by_agent(launch.agent_id, today)
        subject = {"agent_id": launch.agent_id, "project_id": launch.project_id}
        yield Limit("agent.budget_used_up", subject, own, budgets.A_DAY, spent)
    for task, spent in _tasks(call, launch):
        yield Limit("task.budget_used_up", {"task": task}, budgets.of_task(task), budgets.OF_TASK, spent)


def _tasks(call: Call, launch: Launch) -> Iterator[tuple[Task, Spent]]:
    if launch.task_id is None or launch.purpose is not Purpose.TASK:
        return
    root_id = call.tx.tasks.budgeted_root(launch.task_id)
    tree = call.tx.tasks.tree(root_id) if root_id is not None else None
    if tree is not None and launch.task_id in tree.tasks:
        for task in budgets.limiting_tasks(tree, tree.tasks[launch.task_id]):
            yield task, spent_for(call.tx, tree, task)


def _count_for_changes(call: Call, task_ids: list[str], spent: Spent) -> None:
    """What the work on these tasks has used after changes to it were requested is not left for the changes."""
    for changes in requested_changes.all_standing(call, task_ids):
        left = budgets.of_task(changes).left(spent)
        call.tx.tasks.save(changes, replace(changes, budget_usd=left.usd, budget_tokens=left.tokens))


def _tokens(usage: Usage | None) -> int:
    return 0 if usage is None else usage.input_tokens + usage.output_tokens


def _count_quota(call: Call, launch: Launch, tokens: int) -> None:
    """Adds to the windows of the account that the launch uses."""
    if tokens > 0 and launch.account is not None:
        call.tx.quota_windows.count(launch.account, tokens, call.now)

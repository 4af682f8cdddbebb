"""Counts the usage of a launch, and records an event when it uses up a project's daily budget."""

from __future__ import annotations

from typing import Any

from toryo.domain import usages
from toryo.domain.launches import Launch
from toryo.operations.calls.call import WORK, Call


def count_usage(call: Call, launch: Launch, told: dict[str, Any] | None) -> None:
    """What its program used so far. Wakes who has to stop when today's budget is used up by it, and tells that once."""
    usage = usages.read(told or {})
    known = call.tx.usages.of_launch(launch.id)
    if usage is not None and known is not None:
        usage = known.and_then(usage)
    if usage is None or usage == known:
        return
    project = call.tx.projects.find(launch.project_id)
    budget = project.settings.budget_per_day if project is not None else None
    today = usages.day_of(call.now)
    before = call.tx.usages.cost_of_day(launch.project_id, today) if budget is not None else 0.0
    call.tx.usages.put(launch, usage, call.now)
    if budget is not None and before < budget <= call.tx.usages.cost_of_day(launch.project_id, today):
        call.event("project.budget_used_up", project_id=launch.project_id, data={"budget_per_day": budget})
        call.tx.hint(WORK)

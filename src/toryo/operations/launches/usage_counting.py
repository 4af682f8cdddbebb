"""Counts the usage of a launch, and records an event when it uses up a project's daily budget."""

from __future__ import annotations

from typing import Any

from toryo.domain import usages
from toryo.domain.launches import Launch
from toryo.domain.projects import Settings
from toryo.domain.usages import Usage
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
    settings = project.settings if project is not None else Settings()
    before = _used_up_budget(call, launch.project_id, settings)
    call.tx.usages.put(launch, usage, call.now)
    _count_quota(call, launch, _tokens(usage) - _tokens(known))
    now_used_up = _used_up_budget(call, launch.project_id, settings) if before is None else None
    if now_used_up is not None:
        data = {now_used_up: getattr(settings, now_used_up)}
        call.event("project.budget_used_up", project_id=launch.project_id, data=data)
        call.tx.hint(WORK)


def _tokens(usage: Usage | None) -> int:
    return 0 if usage is None else usage.input_tokens + usage.output_tokens


def _count_quota(call: Call, launch: Launch, tokens: int) -> None:
    """Adds to the windows of the account that the launch uses."""
    if tokens > 0 and launch.account is not None:
        call.tx.quota_windows.count(launch.account, tokens, call.now)


def _used_up_budget(call: Call, project_id: str, settings: Settings) -> str | None:
    """Without a budget, nothing is read."""
    if not settings.has_budget:
        return None
    return settings.used_up_budget(call.tx.usages.spent_by(project_id, usages.day_of(call.now)))

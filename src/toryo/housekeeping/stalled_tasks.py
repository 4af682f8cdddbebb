"""Detects stalls: a task in progress with startable children, no running agent, and nothing outstanding.

Each is reported once (until the facts of its tree change), as an event for its owner.
"""

from __future__ import annotations

from functools import partial

from toryo.domain import task_readiness
from toryo.domain.fast_dataclasses import replace
from toryo.domain.times import SECOND
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import fenced
from toryo.workflow import facts
from toryo.workflow.snapshot import RuleInput


def notice(call: Call) -> list[str]:
    """The main tasks whose stall was reported now."""
    found: list[str] = []
    for agent_id, project_id in call.tx.tasks.at_work():
        look = partial(_notice_of, call, agent_id, project_id)
        found += fenced(call, "stalls", look, [], agent_id=agent_id, project_id=project_id)
    return found


def _notice_of(call: Call, agent_id: str, project_id: str) -> list[str]:
    snapshot = call.snapshot(agent_id, project_id)
    if snapshot.agent is None or snapshot.project is None or not snapshot.project.active or snapshot.sessions:
        return []
    found: list[str] = []
    for main, tree_state in snapshot.main_tasks:
        if _stalls(call, RuleInput(snapshot, tree_state, main, fetched=True)):
            newest = call.tx.events.last_fact(main.root_id)
            call.tx.tasks.save(main, replace(main, stalled_event=newest))
            startable = [
                child.id for child in tree_state.tree.children(main) if task_readiness.startable(tree_state, child)
            ]
            call.event("task.stalled", task=main, data={"startable": startable})
            found.append(main.id)
    return found


def _stalls(call: Call, case: RuleInput) -> bool:
    newest = call.tx.events.last_fact(case.main.root_id)
    if case.main.stalled_event == newest:
        return False
    quiet_since = max(
        [case.main.moved_at, call.context.awake.since, *(descendant.moved_at for descendant in case.descendants)]
    )
    if call.now - quiet_since < case.tree_state.project.settings.stall_seconds * SECOND:
        return False
    waiting = any(task_readiness.startable(case.tree_state, child) for child in case.children)
    return (
        waiting and not facts.outstanding(case) and not any(descendant.in_progress for descendant in case.descendants)
    )

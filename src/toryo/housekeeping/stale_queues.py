"""Ends expired claims, and detects agents that are gone and queues without an agent."""

from __future__ import annotations

from functools import partial

from toryo.domain.fast_dataclasses import replace
from toryo.domain.times import HOUR, SECOND, Millis
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced, fenced
from toryo.operations.queue import claims
from toryo.storage import snapshots

QUEUES = "queues"

FORGET_AFTER: Millis = 24 * HOUR
"""How long an expired shared value is remembered, so that readers learn that it has expired."""


def tidy(call: Call) -> int:
    """How many claims, agents and unserved queues it dealt with."""
    done = claims.lapse(call, *(project.id for project in call.tx.projects.all()))
    done += sum(each_fenced(call, QUEUES, call.tx.queues.all_online(), partial(claims.lapse_presence, call)))
    call.tx.queues.forget_expired(call.now - FORGET_AFTER)
    return done + _notice_unserved(call)


def _notice_unserved(call: Call) -> int:
    """A task that is ready and whose queue has no agent is told once (until its facts change)."""
    return sum(
        fenced(call, QUEUES, partial(_notice, call, project_id, agent_type, since), 0, project_id=project_id)
        for project_id, agent_type, since in call.tx.queues.ready_types(call.now)
    )


def _notice(call: Call, project_id: str, agent_type: str, since: Millis) -> int:
    project = call.tx.projects.find(project_id)
    if (
        project is None
        or not project.active
        or call.now - max(since, call.context.awake.since) < project.settings.stall_seconds * SECOND
    ):
        return 0
    if agent_type in snapshots.served_queues(call.tx, project_id):
        return 0
    found = 0
    for task in call.tx.queues.ready(project_id, agent_type, call.now, 100):
        newest = call.tx.events.last_fact(task.root_id)
        if task.stalled_event != newest:
            call.tx.tasks.save(task, replace(task, stalled_event=newest))
            call.event("task.no_agent", task=task, data={"agent_type": agent_type})
            found += 1
    return found

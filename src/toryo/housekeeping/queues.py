"""Ends claims that have run out, notices agents that are gone, and queues that nobody serves."""

from __future__ import annotations

from dataclasses import replace

from toryo.domain.times import HOUR, SECOND, Millis
from toryo.operations.calls.call import Call
from toryo.operations.queue import claims

FORGET_AFTER: Millis = 24 * HOUR
"""A shared value that has expired is remembered so long, so that whoever reads it hears that it has."""


def tidy(call: Call) -> int:
    """How many claims, agents and unserved queues it dealt with."""
    done = claims.lapse(call)
    done += sum(claims.lapse_presence(call, each) for each in call.tx.queues.all_online())
    call.tx.queues.forget_expired(call.now - FORGET_AFTER)
    return done + _notice_unserved(call)


def _notice_unserved(call: Call) -> int:
    """A task that is ready and whose queue has no agent is told once (until its facts change)."""
    found = 0
    for project_id, agent_type, since in call.tx.queues.ready_types(call.now):
        project = call.tx.projects.find(project_id)
        if project is None or not project.active or call.now - since < project.settings.stall_seconds * SECOND:
            continue
        served = set(call.tx.queues.online(project_id).values()) | call.tx.agents.queues_of(project_id)
        if agent_type in served:
            continue
        for task in call.tx.queues.ready(project_id, agent_type, call.now, 100):
            newest = call.tx.events.last_fact(task.root_id)
            if task.stalled_event != newest:
                call.tx.tasks.save(task, replace(task, stalled_event=newest))
                call.event("task.no_agent", task=task, data={"agent_type": agent_type})
                found += 1
    return found

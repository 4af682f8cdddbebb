"""Lets merge queues go on where nothing else did: after a time to try again, and after a Coordinator came back."""

from __future__ import annotations

from functools import partial

from toryo.domain.projects import MergeQueue
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import fenced
from toryo.operations.worktrees import merge_queue

MERGE_QUEUES = "merge_queues"


def advance(call: Call) -> int:
    """How many projects were looked at."""
    waiting = {entry.project_id for entry in call.tx.merge_queue.waiting()}
    automatic = {
        project.id
        for project in call.tx.projects.all()
        if project.active and project.settings.merge_queue is MergeQueue.AUTOMATIC
    }
    for project_id in sorted(waiting | automatic):
        fenced(
            call,
            MERGE_QUEUES,
            partial(merge_queue.advance, call, project_id, even_off=True),
            None,
            project_id=project_id,
        )
    return len(waiting | automatic)

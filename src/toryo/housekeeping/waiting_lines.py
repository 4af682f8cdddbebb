"""Starts what is in line where nothing else did: after a cooldown, with the budget of a new day, or when another task
lets go of the same files."""

from __future__ import annotations

from functools import partial

from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import fenced
from toryo.operations.tasks import mutations

LINES = "lines"


def go_on(call: Call) -> int:
    """How many lines were looked at."""
    lines = call.tx.tasks.lines()
    for project_id, agent_id in lines:
        fenced(call, LINES, partial(mutations.start_line, call, project_id, agent_id), None, project_id=project_id)
    return len(lines)

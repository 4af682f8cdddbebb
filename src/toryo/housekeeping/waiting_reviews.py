"""Starts the tasks of reviews whose agent was busy, and leaves to a person what their agent cannot do."""

from __future__ import annotations

from functools import partial

from toryo.domain.tasks import Status, Task
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.tasks import mutations

REVIEWS = "reviews"
MOST = 2_000
"""Waiting reviews that are looked at in a round."""


def start(call: Call) -> int:
    """How many could be started, or were left to a person."""
    first: dict[tuple[str, str | None, Status], Task] = {}
    for each in call.tx.tasks.reviews_to_look_after(MOST):
        first.setdefault((each.project_id, each.assignee_id, each.status), each)  # the others wait for this one
    return sum(each_fenced(call, REVIEWS, first.values(), partial(mutations.start_review, call)))

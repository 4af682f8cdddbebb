"""Starts the tasks of reviews whose agent was busy when the review was asked for."""

from __future__ import annotations

from functools import partial

from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.tasks import review_rounds

REVIEWS = "reviews"
AT_ONCE = 50


def start(call: Call) -> int:
    """How many could be started."""
    waiting = call.tx.tasks.reviews_to_start(AT_ONCE)
    return sum(each_fenced(call, REVIEWS, waiting, partial(review_rounds.start_waiting, call)))

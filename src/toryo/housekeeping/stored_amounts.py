"""Takes off what was deleted from the counts of what keys and projects have stored, where half of the limit is used.

It is measured while others write, by who reads only; an hour passes before the same count is measured again.
"""

from __future__ import annotations

from functools import partial

from toryo.domain.times import HOUR
from toryo.operations.calls.call import Call
from toryo.operations.calls.dispatch import Dispatcher
from toryo.operations.calls.stored_limits import limits_of
from toryo.storage.stored_amounts import PROJECT, Due

AT_ONCE = 5
"""Counts of one round: each reads all that a project has."""


def measure(dispatcher: Dispatcher) -> int:
    """How many counts were measured."""
    for done in range(AT_ONCE):
        found = dispatcher.in_passing(_measured, reads=True)
        if found is None:
            return done
        dispatcher.in_passing(partial(_take_off, found=found))
    return AT_ONCE


def _measured(call: Call) -> tuple[Due, int] | None:
    settings = call.context.settings
    if not settings.max_stored_bytes_per_key:
        return None
    of_key, of_project = limits_of(settings, "a key").bytes // 2, limits_of(settings, PROJECT).bytes // 2
    due = call.tx.stored_amounts.due(of_key, of_project, call.now - HOUR)
    return None if due is None else (due, call.tx.measured_bytes(due))


def _take_off(call: Call, found: tuple[Due, int]) -> None:
    due, measured = found
    call.enter(due.project_id)
    call.tx.stored_amounts.take_off(due, measured, call.now)

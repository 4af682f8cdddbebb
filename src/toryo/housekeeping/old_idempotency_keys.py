"""Deletes old idempotency keys with their answers."""

from __future__ import annotations

from toryo.domain.times import DAY, Millis
from toryo.operations.calls import idempotency
from toryo.operations.calls.call import Call

OF_PEOPLE: Millis = DAY
"""Programs of people send a create again at once, or not at all."""
OF_AGENTS: Millis = 30 * DAY
"""An agent may go on with its task weeks later, when its quota is there again: its batch is still the same one."""


def forget(call: Call) -> None:
    call.tx.idempotency_keys.forget(call.now - OF_PEOPLE, idempotency.SCOPE)
    call.tx.idempotency_keys.forget(call.now - OF_AGENTS)

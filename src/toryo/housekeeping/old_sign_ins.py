"""Stores when access tokens were last used, and deletes sign-ins and links that ended long ago, and the push
subscriptions of sign-ins that are over."""

from __future__ import annotations

from toryo.domain import people
from toryo.operations.calls.call import Call


def tidy(call: Call) -> None:
    for token_id, day in call.context.uses.taken().items():
        call.tx.people.used(token_id, day)
    call.tx.push.forget(call.now)
    call.tx.people.forget_sign_ins(call.now - people.KEPT_FOR)
    call.tx.people.forget_links(call.now)
    call.tx.people.forget_departures(call.now)

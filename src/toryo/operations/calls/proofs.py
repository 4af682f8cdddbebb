"""Proving again who one is: what a browser may do only shortly after its person has signed in.

`Operation.proof` declares where.
"""

from __future__ import annotations

from toryo.deeds import terminal
from toryo.domain import people
from toryo.domain.errors import Code, Refusal
from toryo.domain.times import Millis
from toryo.domain.wording import say
from toryo.operations.calls.callers import Caller


def refuse_unproven(caller: Caller, now: Millis) -> None:
    """A browser may have been left open, or be led by somebody else: what outlives it needs its person."""
    if caller.proved_at is not None and now - caller.proved_at >= people.PROVEN_FOR:
        raise Refusal(
            Code.PROOF_REQUIRED,
            "This makes a credential or widens rights, and you signed in more than ten minutes ago.",
            say(
                "Prove that it is you: give your password, open a new link{open: (…)}, or sign in with your identity "
                "provider. Then do it again.",
                open=terminal("open"),
            ),
        )

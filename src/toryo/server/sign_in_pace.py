"""How often one address may try to sign in: with a password, or by leaving for the identity provider.

The codes of links are not counted: nobody guesses 192 bits, and who tries must not keep others of the machine from
using theirs (`toryo open`). What wrong passwords lead to is decided in `operations/calls/sign_in_lockout.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from starlette.requests import Request

from toryo.domain.errors import Code, Refusal
from toryo.domain.times import SECOND, Millis
from toryo.domain.wording import say
from toryo.operations.calls.rate_limits import Pace


class SignInPace:
    def __init__(self, now: Callable[[], Millis]) -> None:
        self._pace = Pace()
        self._now = now

    def count(self, request: Request) -> None:
        """Raises Refusal where there were too many."""
        seconds = math.ceil(self._pace.wait_seconds_at(_address(request), self._now() / SECOND))
        if seconds:
            raise Refusal(
                Code.RATE_LIMITED,
                "Too many sign-in attempts from one address.",
                say("Wait {seconds} seconds, then try again.", seconds=seconds),
                retry_after=seconds,
            )

    def succeeded(self, request: Request) -> None:
        """Only those that fail are slowed down."""
        self._pace.give_back_at(_address(request))


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else "unix"

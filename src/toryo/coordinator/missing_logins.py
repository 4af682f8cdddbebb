"""Logins that a process has found missing: looked for again and again, more and more rarely, and reported once there.

Only a login that was seen to be missing is looked for: a program may say that it is logged in with a key that its
service refuses, and its agents would be started again and again. Nothing depends on the report: without it, they wait
for the end of their cooldown, or for a person.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from toryo import backoff
from toryo.client import ProtocolError, RefusalError, Unreachable
from toryo.coordinator import environment
from toryo.coordinator.provider import Provider

FIRST = 15.0
LONGEST = 300.0
"""Seconds, the first and the longest, between two looks: each starts the program."""


@dataclass(frozen=True, slots=True)
class MissingLogin:
    """The login of a program, by the account for which the server has named it."""

    provider: str
    account: str | None


class MissingLogins:
    """`run` looks and reports; it may be cancelled at any time."""

    def __init__(self, inherited: Mapping[str, str], *, first: float = FIRST, longest: float = LONGEST) -> None:
        self._inherited = inherited
        self._pauses = (first, longest)
        self._missing: dict[MissingLogin, Provider] = {}
        self._news = asyncio.Event()
        self._looks = 0

    def failed(self, login: MissingLogin, provider: Provider) -> None:
        """A process has ended because it was not logged in; `provider` is its own, with the login of the account."""
        if provider.login is not None and login not in self._missing:
            self._missing[login] = provider
            self._looks = 0
            self._news.set()

    async def run(self, tell: Callable[[MissingLogin], Awaitable[None]]) -> None:
        """Until it is cancelled. Reports that fail are sent again after the next look."""
        seen: set[MissingLogin] = set()
        while True:
            self._news.clear()
            for login, provider in list(self._missing.items()):
                there = await asyncio.to_thread(self._is_there, provider)
                if login not in seen and there is not False:
                    del self._missing[login]
                elif there is False:
                    seen.add(login)
                elif there:
                    with contextlib.suppress(Unreachable, RefusalError, ProtocolError):
                        await tell(login)
                        del self._missing[login]
                        seen.discard(login)
            self._looks += 1
            wait = backoff.pause(self._looks, *self._pauses) if self._missing else None
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), wait)

    def _is_there(self, provider: Provider) -> bool | None:
        """None: it cannot be told without asking the model's service."""
        assert provider.login is not None
        try:
            return provider.login(
                {**environment.allowed_variables(self._inherited, provider.env), **provider.settings}
            ).ok
        except OSError:  # its files cannot be read now
            return None

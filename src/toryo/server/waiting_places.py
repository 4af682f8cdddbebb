"""How many calls may wait, and streams be open, at the same time: each holds a connection, and may for long.

Bounded for each credential, and for all programs of agents together: the rest of the connections is for people and
Coordinators. Who finds no place is answered at once, as if its time to wait had ended. Idle connections need no place:
they make room (`connection_limits.py`). Whether a credential is good is not known here; a bad one never waits.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from toryo.domain.errors import Code, Refusal
from toryo.operations.calls.callers import Credentials
from toryo.secret_patterns import COORDINATOR, LAUNCH, QUEUE, SESSION

_OF_AGENTS = (LAUNCH, QUEUE, SESSION)
_OF_ONE = 4
"""One credential has this part of all connections."""
_RESERVED = 10
"""Programs of agents leave this part of all connections, and at least LEAST."""
LEAST = 5


def reserved_places(connections: int) -> int:
    """How many connections programs of agents leave to others."""
    return min(max(connections // _RESERVED, LEAST), connections // 2)


class Places:
    """Belongs to one event loop. `connections`: how many the server may have."""

    def __init__(self, connections: int = 10_000) -> None:
        self.of_one = max(connections // _OF_ONE, 2)
        self.of_agents = connections - reserved_places(connections)
        self._taken: Counter[str] = Counter()
        self._by_agents = 0

    def __len__(self) -> int:
        return sum(self._taken.values())

    @contextlib.contextmanager
    def taken(self, credentials: Credentials, arguments: Mapping[str, Any] | None = None) -> Iterator[bool]:
        """Whether there is a place, which is the caller's until the end of the block."""
        shown = _shown(credentials, arguments or {})
        by_agent = shown.startswith(_OF_AGENTS)
        too_many = self._taken.get(shown, 0) >= self.of_one and not shown.startswith(COORDINATOR)  # which all share
        if too_many or (by_agent and self._by_agents >= self.of_agents):
            yield False
            return
        self._taken[shown] += 1
        self._by_agents += by_agent
        try:
            yield True
        finally:
            self._by_agents -= by_agent
            self._taken[shown] -= 1
            if not self._taken[shown]:
                del self._taken[shown]


def too_many() -> Refusal:
    """Of a stream, for which there is no place."""
    return Refusal(
        Code.RATE_LIMITED,
        "Too many streams and waiting calls are open with this credential.",
        "Close some of them, then open it again.",
        retry_after=5,
    )


def _shown(credentials: Credentials, arguments: Mapping[str, Any]) -> str:
    """The secret by which a caller is told from others. What its connection carries comes first: who has a credential
    there could name another one in each call, and be counted as many."""
    carried = (credentials.bearer, credentials.session_token, credentials.cookie)
    for given in (*carried, arguments.get("session_token"), arguments.get("api_key")):
        if isinstance(given, str) and given:
            return given
    return ""

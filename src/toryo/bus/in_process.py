"""The bus of a server that uses its database alone: hints stay in the process."""

from __future__ import annotations

from collections.abc import Iterable

from toryo.bus.bus import Subscription, Subscriptions


class InProcessBus:
    """See `Bus`."""

    def __init__(self) -> None:
        self._subscriptions = Subscriptions()

    def publish(self, topics: Iterable[str]) -> None:
        self._subscriptions.hint(topics)

    def subscribe(self, topics: Iterable[str]) -> Subscription:
        return self._subscriptions.add(topics)

    async def start(self) -> None:
        """Does nothing: there is no other server."""

    async def close(self) -> None:
        self._subscriptions.hint_all()

"""The bus of servers that share one PostgreSQL database: hints go by NOTIFY, and within a process directly."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

import psycopg
from psycopg import conninfo

from toryo.bus.remote import RemoteBus

_LISTEN = "LISTEN toryo"
_NOTIFY = "SELECT pg_notify('toryo', payload) FROM unnest(%s::text[]) AS payload"
_KEEPALIVES = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15000,
    "connect_timeout": 5,
}


class PostgresBus(RemoteBus[psycopg.AsyncConnection]):
    failures = (psycopg.Error,)
    longest_payload = 7_900  # PostgreSQL accepts at most 7999.

    def __init__(self, url: str) -> None:
        super().__init__()
        scheme, _, rest = url.partition("://")
        self._conninfo = conninfo.make_conninfo(f"{scheme.partition('+')[0]}://{rest}", **_KEEPALIVES)

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[psycopg.AsyncConnection]:
        one = await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True)
        try:
            yield one
        finally:
            await one.close()  # not as `async with`, which asks a silent server to roll back first

    async def listen(self, connection: psycopg.AsyncConnection) -> AsyncIterator[str | None]:
        await connection.execute(_LISTEN)
        yield None
        async for notification in connection.notifies():
            yield notification.payload

    async def notify(
        self,
        connection: psycopg.AsyncConnection,
        payloads: list[str],
        topics: Collection[str],  # noqa: ARG002
    ) -> None:
        await connection.execute(_NOTIFY, [payloads])

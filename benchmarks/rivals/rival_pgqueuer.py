"""PgQueuer as its quickstart shows it: PostgreSQL, one worker. `bulk`: enqueues all numbers in one call."""

from __future__ import annotations

import asyncio
import os
import sys

import asyncpg
from bell import AT_ONCE, enqueuing_async, enqueuing_in_bulk, ring
from pgqueuer import PgQueuer, Queries
from pgqueuer.models import Job

URL = os.environ["BENCH_URL"]


async def enqueue(in_bulk: bool) -> None:
    async with asyncpg.create_pool(URL, min_size=AT_ONCE, max_size=AT_ONCE) as pool:
        queries = Queries.from_asyncpg_pool(pool)
        while not await queries.has_table("pgqueuer"):  # noqa: ASYNC110 - the worker creates the tables, in a process
            await asyncio.sleep(0.1)
        if in_bulk:
            await enqueuing_in_bulk(
                lambda numbers: queries.enqueue(
                    ["number"] * len(numbers), [b"%d" % number for number in numbers], [0] * len(numbers)
                )
            )
        else:
            await enqueuing_async(lambda number: queries.enqueue("number", b"%d" % number))


async def work() -> None:
    connection = await asyncpg.connect(URL)
    await Queries.from_asyncpg_connection(connection).install()
    queue = PgQueuer.from_asyncpg_connection(connection)

    @queue.entrypoint("number")
    async def number(job: Job) -> None:
        ring(int(job.payload or b"0"))

    await queue.run()


if __name__ == "__main__":
    asyncio.run(enqueue("bulk" in sys.argv) if "enqueue" in sys.argv else work())

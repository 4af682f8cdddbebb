"""Huey as its guide shows it, with SQLite or Redis; results are stored. Worker: `huey_consumer rival_huey.huey`."""

from __future__ import annotations

import os

from bell import enqueuing, ring
from huey import RedisHuey, SqliteHuey

URL = os.environ["BENCH_URL"]
huey = RedisHuey(url=URL) if URL else SqliteHuey(filename=os.environ["BENCH_FOLDER"] + "/huey.db")


@huey.task()
def number(given: int) -> int:
    return ring(given)


if __name__ == "__main__":
    import rival_huey  # by the name that the worker knows it by

    enqueuing(rival_huey.number)

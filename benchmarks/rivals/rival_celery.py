"""Celery as its first steps show it: Redis for messages and results. Worker: `celery -A rival_celery worker`."""

from __future__ import annotations

import os

from bell import enqueuing, ring
from celery import Celery

app = Celery("numbers", broker=os.environ["BENCH_URL"], backend=os.environ["BENCH_URL"])


@app.task
def number(given: int) -> int:
    return ring(given)


if __name__ == "__main__":
    import rival_celery  # by the name that the worker knows it by

    enqueuing(rival_celery.number.delay)

"""Dramatiq as its guide shows it: Redis for messages, no results. Worker: `dramatiq rival_dramatiq`."""

from __future__ import annotations

import os

import dramatiq
from bell import enqueuing, ring
from dramatiq.brokers.redis import RedisBroker

dramatiq.set_broker(RedisBroker(url=os.environ["BENCH_URL"]))


@dramatiq.actor
def number(given: int) -> None:
    ring(given)


if __name__ == "__main__":
    enqueuing(number.send)

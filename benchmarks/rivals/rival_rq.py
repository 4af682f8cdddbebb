"""RQ as its documentation shows it: one worker, a fork for each job, results kept in Redis."""

from __future__ import annotations

import logging
import os
import sys

from bell import enqueuing, ring
from redis import Redis
from rq import Queue, Worker

if __name__ == "__main__":
    connection = Redis.from_url(os.environ["BENCH_URL"])
    queue = Queue(connection=connection)
    if "enqueue" in sys.argv:
        enqueuing(lambda number: queue.enqueue(ring, number))
    else:
        Worker([queue], connection=connection).work(logging_level=logging.ERROR)

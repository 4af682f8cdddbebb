"""Toryo beside its rivals: a `QueueAgent` that serves, or a client that files."""

from __future__ import annotations

import os
import sys

from bell import enqueuing, ring

from toryo.client import Client, QueueAgent


def serve() -> None:
    QueueAgent(
        lambda task: ring(task["context"]["number"]),
        agent_type="numbers",
        agent_id=os.environ["BENCH_AGENT"],
        max_tasks=int(os.environ["BENCH_MANY"]),
    ).run()


def file() -> None:
    with Client(os.environ["TORYO_SERVER_URL"], os.environ["TORYO_API_KEY"]) as client:
        enqueuing(
            lambda number: client.call(
                "create_task", agent_type="numbers", task_description="Return it", context={"number": number}
            )
        )


if __name__ == "__main__":
    if "serve" in sys.argv:
        serve()
    else:
        file()

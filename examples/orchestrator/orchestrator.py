"""Has a request planned, implemented and tested by agents that serve queues, and prints the results.

    TORYO_API_KEY=TOKEN python orchestrator.py "Implement user authentication" [CORRELATION_ID]

Each task has an idempotency key: if you run it again with the same id, it continues where it stopped.
"""

from __future__ import annotations

import os
import secrets
import sys
from typing import Any

from toryo.client import Client, RefusalError, server_discovery

CLOSED = ("completed", "failed", "cancelled")
WAIT_SECONDS = 45


class Orchestrator:
    def __init__(self, client: Client, correlation_id: str) -> None:
        self.client = client
        self.correlation_id = correlation_id

    def run(self, request: str) -> None:
        plan = self.result(self.create("plan", "planning", request))["execution_plan"]
        print(f"{plan['plan_id']}: {len(plan['tasks'])} tasks")
        created = self.create_all(plan["tasks"])
        for name, task_id in created.items():
            print(f"{name}: {self.result(task_id)}")

    def create_all(self, planned: list[dict[str, Any]]) -> dict[str, str]:
        """Creates all tasks of a plan without waiting: the server observes the dependencies. Task ids by plan name."""
        created: dict[str, str] = {}
        for each in planned:
            dependencies = [created[name] for name in each["dependencies"]]
            try:
                created[each["task_id"]] = self.create(
                    each["task_id"],
                    each["agent_type"],
                    each["description"],
                    dependencies=dependencies,
                    context=each["context"],
                )
            except RefusalError:
                for task_id in dependencies:
                    self.result(task_id)  # ends with the one that has failed already
                raise
        return created

    def create(self, name: str, agent_type: str, description: str, **more: Any) -> str:
        created = self.client.call(
            "create_task",
            agent_type=agent_type,
            task_description=description,
            correlation_id=self.correlation_id,
            idempotency_key=f"{self.correlation_id}/{name}",
            **more,
        )
        return str(created["task_id"])

    def result(self, task_id: str) -> Any:
        """Waits until a task is closed and returns its result."""
        while True:
            task = self.client.call("get_task_status", task_id=task_id, wait_seconds=WAIT_SECONDS)
            if task["status"] == "completed":
                return task["result"]
            if task["status"] in CLOSED or task["dependency_failed"]:
                why = task["error"] or "a task that it depends on was not completed"
                raise SystemExit(f"{task['title']} ({task_id}): {why}")
            if task["no_agent"]:
                print(f"No agent serves {task['agent_type']} yet", file=sys.stderr)


def main() -> None:
    if len(sys.argv) not in (2, 3) or "TORYO_API_KEY" not in os.environ:
        raise SystemExit(__doc__)
    request = sys.argv[1]
    correlation_id = sys.argv[2] if len(sys.argv) > 2 else f"req-{secrets.token_hex(4)}"
    found = server_discovery.find(token=os.environ["TORYO_API_KEY"], role=None)
    print(f"request {correlation_id}", flush=True)
    with Client(found.url, found.token, patience_seconds=30, repeat_lost=True) as client:
        Orchestrator(client, correlation_id).run(request)
    print(f"Show the request: toryo trace {correlation_id}")


if __name__ == "__main__":
    main()

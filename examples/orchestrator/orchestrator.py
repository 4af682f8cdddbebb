"""Has a request planned, implemented and tested by agents that serve queues, and says what came of it.

    TORYO_API_KEY=KEY python orchestrator.py "Implement user authentication" [CORRELATION_ID]

Every task is filed under an idempotency key: run again with the same id, it goes on where it was.
"""

from __future__ import annotations

import os
import secrets
import sys
from typing import Any

from toryo.client import Client, server_discovery

CLOSED = ("completed", "failed", "cancelled")
WAIT_SECONDS = 45


class Orchestrator:
    def __init__(self, client: Client, correlation_id: str) -> None:
        self.client = client
        self.correlation_id = correlation_id

    def run(self, request: str) -> None:
        plan = self.result(self.file("plan", "planning", request))["execution_plan"]
        print(f"{plan['plan_id']}: {len(plan['tasks'])} tasks")
        filed = self.file_all(plan["tasks"])
        for name, task_id in filed.items():
            print(f"{name}: {self.result(task_id)}")

    def file_all(self, planned: list[dict[str, Any]]) -> dict[str, str]:
        """Files a whole plan at once: who waits for whom is the server's to see to. Ids by the plan's own names."""
        filed: dict[str, str] = {}
        for each in planned:
            after = [filed[name] for name in each["dependencies"]]
            filed[each["task_id"]] = self.file(
                each["task_id"], each["agent_type"], each["description"], dependencies=after, context=each["context"]
            )
        return filed

    def file(self, name: str, agent_type: str, description: str, **more: Any) -> str:
        filed = self.client.call(
            "create_task",
            agent_type=agent_type,
            task_description=description,
            correlation_id=self.correlation_id,
            idempotency_key=f"{self.correlation_id}/{name}",
            **more,
        )
        return str(filed["task_id"])

    def result(self, task_id: str) -> Any:
        """Waits until a task is closed; what came of it."""
        while True:
            task = self.client.call("get_task_status", task_id=task_id, wait_seconds=WAIT_SECONDS)
            if task["status"] == "completed":
                return task["result"]
            if task["status"] in CLOSED or task["dependency_failed"]:
                why = task["error"] or "what it waits for has not been completed"
                raise SystemExit(f"{task['title']} ({task_id}): {why}")
            if task["no_agent"]:
                print(f"nobody serves {task['agent_type']} yet", file=sys.stderr)


def main() -> None:
    if len(sys.argv) not in (2, 3) or "TORYO_API_KEY" not in os.environ:
        raise SystemExit(__doc__)
    request = sys.argv[1]
    correlation_id = sys.argv[2] if len(sys.argv) > 2 else f"req-{secrets.token_hex(4)}"
    found = server_discovery.find(token=os.environ["TORYO_API_KEY"], role=None)
    print(f"request {correlation_id}", flush=True)
    with Client(found.url, found.token, patience_seconds=30, repeat_lost=True) as client:
        Orchestrator(client, correlation_id).run(request)
    print(f"See it: toryo trace {correlation_id}")


if __name__ == "__main__":
    main()

"""Takes the place of an agent's program on the PATH: tells its version and login, and works as an obedient MCP client.

`fakes.py` writes a small program that calls `main` with a plan of how it is to behave. As an agent it does what the
first task that `toryo init` writes asks for: the lead has TOUR.md written, then checked.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Said = Mapping[str, Any]
RESULT = "TOUR.md"
ASKS = ("auth", "login")
"""The first word of a question about its login."""


def main(plan: Mapping[str, Any]) -> int:
    """`version` and `login` are `[exit code, what is printed]`; `hangs` is for ever, with a child that does, too."""
    if plan["hangs"]:
        subprocess.run([sys.executable, "-c", "import threading; threading.Event().wait()"], check=False)
    words = sys.argv[1:]
    if words == ["--version"]:
        return _says(*plan["version"])
    if words and words[0] in ASKS:
        return _says(*plan["login"])
    return _works()


def _says(code: int, text: str) -> int:
    sys.stdout.write(text)
    return code


def _works() -> int:
    from toryo.client import Client

    prompt = sys.stdin.read()
    agent = os.environ["AGENT_ID"]
    assert f"You are the agent {agent}." in prompt, prompt
    with Client(os.environ["TORYO_SERVER_URL"], os.environ["TORYO_LAUNCH_CREDENTIAL"]) as client:
        mind = Lead(client) if agent == "lead" else Worker(client)
        said = mind.follow(client.call("authenticate"))
        while said["action"] not in ("exit", "logout"):
            act = getattr(mind, f"do_{said['action']}", None)
            said = mind.follow(act(said) if act else {})
    return 0


class Worker:
    """Does its task whole."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def call(self, tool: str, **arguments: Any) -> Said:
        answer: Said = self.client.call(tool, **arguments)
        return answer

    def follow(self, answer: Said) -> Said:
        """What comes next: what rode along or was told, or what is told when asked."""
        riding = answer.get("next")
        if isinstance(riding, dict) and riding.get("action") not in (None, "get_next_action"):
            return riding
        return answer if answer.get("action") else self.call("get_next_action")

    def do_report_model(self, said: Said) -> Said:
        return self.call("report_model", provider="fake", model_id="fake-1")

    def do_get_task(self, said: Said) -> Said:
        return self.call("get_my_task")

    def do_create_subtasks(self, said: Said) -> Said:
        return self.do_execute_task(said)

    def do_execute_task(self, said: Said) -> Said:
        with Path(RESULT).open("a", encoding="utf-8") as file:
            file.write(f"{os.environ['AGENT_ID']} by {Path(sys.argv[0]).name}\n")
        return self.report()

    def do_report_completion(self, said: Said) -> Said:
        return self.report()

    def do_wait(self, said: Said) -> Said:
        self.call("logout")
        return {"action": "exit"}

    def report(self) -> Said:
        return self.call("report_completed", result="success", summary=f"{RESULT} is as it should be")


class Lead(Worker):
    """Two parts, one after the other; starts what is ready, and waits."""

    def do_create_subtasks(self, said: Said) -> Said:
        self.call("list_subordinates")
        parts: list[dict[str, Any]] = [
            {"local_id": "a", "title": "Write it", "description": RESULT, "assignee_id": "builder"},
            {
                "local_id": "b",
                "title": "Check it",
                "description": RESULT,
                "assignee_id": "reviewer",
                "dependencies": ["a"],
            },
        ]
        return self.call("create_tasks_batch", tasks=parts)

    def do_situational_awareness(self, said: Said) -> Said:
        return self.call("select_action", action="start" if self.ready() else "wait")

    def do_start(self, said: Said) -> Said:
        for each in self.ready():
            self.call("update_task_status", task_id=each["task_id"], status="in_progress")
        return {}

    def ready(self) -> list[Said]:
        main = self.call("get_my_task")["task"]["task_id"]
        parts = self.call("list_tasks", parent_task_id=main)["tasks"]
        over = {part["task_id"] for part in parts if part["status"] == "completed"}
        return [part for part in parts if part["status"] == "todo" and set(part["dependencies"]) <= over]

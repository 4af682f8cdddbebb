"""A manager without a model that thinks: `python thinking_lead.py GATE BELL PLAN`. It gives the tasks of PLAN (JSON) to
workers, rings, and looks again only when the gate is open, however long the others are finished. What PLAN says is not
good enough (`back`: the reason) it sends back once.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from toryo.client import Client, RefusalError

MOST_STEPS = 60


class Lead:
    def __init__(self, gate: str, bell: str, plan: list[dict[str, Any]]) -> None:
        self._client = Client(os.environ["TORYO_SERVER_URL"], os.environ["TORYO_LAUNCH_CREDENTIAL"])
        self._gate, self._bell = gate, bell
        self._plan = [{name: value for name, value in each.items() if name != "back"} for each in plan]
        self._back = {f"Changes to: {each['title']}": each["back"] for each in plan if "back" in each}
        self._main = ""
        self._started = False

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        try:
            answer = self._client.call(tool, **arguments)
        except RefusalError as no:
            answer = {"success": False, "error": no.code, "message": no.message, **no.data}
        print(tool, json.dumps(answer), flush=True)  # noqa: T201 - for the log that people read
        return answer

    def work(self) -> None:
        self.call("authenticate")
        for _ in range(MOST_STEPS):
            step = self.call("get_next_action", timeout_seconds=45)
            action = str(step.get("action"))
            if action in ("exit", "logout", "wait", "wait_for_answer"):
                break
            getattr(self, f"do_{action}", self.do_nothing)()
        self.call("logout")

    def do_nothing(self) -> None:
        pass

    def do_report_model(self) -> None:
        self.call("report_model", provider="thinker", model_id="thinker")

    def do_get_task(self) -> None:
        self._main = self.call("get_my_task")["task"]["task_id"]

    def do_create_subtasks(self) -> None:
        self.call("create_tasks_batch", parent_task_id=self._main, tasks=self._plan)

    def do_situational_awareness(self) -> None:
        if self._started:
            self.call("select_action", action="wait", reason="they work")
        else:
            self.call("select_action", action="start", reason="all of them")

    def do_start(self) -> None:
        for each in self.call("list_tasks", parent_task_id=self._main)["tasks"]:
            if each["status"] == "todo":
                self.call("update_task_status", task_id=each["task_id"], status="in_progress")
        self._started = True
        Path(self._bell).write_text("started\n")
        with open(self._gate) as gate:  # noqa: PTH123 - a named pipe
            gate.readline()

    def do_review_and_resolve_blocks(self) -> None:
        self.call("report_completed", result="blocked", summary="It is stuck.")

    def do_report_completion(self) -> None:
        below = {each["title"]: each["task_id"] for each in self.call("list_tasks", parent_task_id=self._main)["tasks"]}
        for title in self._back.keys() - below.keys():
            named = below[title.removeprefix("Changes to: ")]
            self.call("request_changes", task_id=named, reason=self._back[title])
            self._started = True
            return
        self.call("report_completed", result="success", summary="Both parts are done.")


if __name__ == "__main__":
    Lead(sys.argv[1], sys.argv[2], json.loads(Path(sys.argv[3]).read_text())).work()

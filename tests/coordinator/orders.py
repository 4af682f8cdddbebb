"""A server of scripted answers that gives orders to a Coordinator."""

from __future__ import annotations

import threading
from typing import Any

from tests.client.fake_server import BOUND, Call, FakeServer


class Orders:
    """What the scripted server answers to claims: a queue; with an empty one, a claim waits."""

    def __init__(self, server: FakeServer) -> None:
        self._server = server
        self._news = threading.Condition()
        self._answers: list[dict[str, Any]] = []
        self._newest: dict[str, Call] = {}
        self.closed = False
        server.on("claim_starts", self._claim)
        server.on("report_process_exit", {"released": []})
        server.on("report_check_result", {})
        server.on("append_log", lambda call: {"success": True, "next_offset": self._end(call)})
        self.logs: dict[str, str] = {}

    def give(self, *start: dict[str, Any], stop: list[dict[str, Any]] | None = None, checks: Any = ()) -> None:
        with self._news:
            self._answers.append({"start": list(start), "stop": stop or [], "checks": list(checks)})
            self._news.notify_all()

    def _claim(self, call: Call) -> dict[str, Any]:
        """Only the newest claim of a Coordinator is answered with orders: older ones were given up."""
        asker = call.arguments["coordinator_id"]
        with self._news:
            self._newest[asker] = call
            self._news.notify_all()
            newest = lambda: self._newest[asker] is call  # noqa: E731
            self._news.wait_for(lambda: self._answers or self.closed or not newest(), BOUND)
            answer = self._answers.pop(0) if self._answers and newest() else {"start": [], "stop": []}
            return {"success": True, **answer}

    def _end(self, call: Call) -> int:
        so_far = self.logs.get(call.arguments["launch_id"], "")[: call.arguments["offset"]]
        self.logs[call.arguments["launch_id"]] = so_far + call.arguments["text"]
        return len(self.logs[call.arguments["launch_id"]])

    def close(self) -> None:
        with self._news:
            self.closed = True
            self._news.notify_all()

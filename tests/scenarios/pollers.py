"""An agent that serves a queue, as a process that may be killed: polls, works for a moment, hands in, without end.

`python pollers.py '{"urls": […], "key": …, "agent_id": …, "agent_type": …, "journal": PATH, "work_seconds": …}'`.
What it takes, has done, and gets acknowledged it writes to the journal (a named pipe) at once, each line in one write:
a kill leaves whole lines. It is given several addresses: where one is away, or says `unavailable`, it goes to the next,
and tries again for ever. It knows nothing about the tests.
"""

from __future__ import annotations

import itertools
import json
import os
import secrets
import sys
import time
from typing import Any

from toryo.client import Client, RefusalError, Unreachable

PAUSE_SECONDS = 0.2
"""Between two tries."""
WAIT_SECONDS = 30


class Poller:
    def __init__(
        self, urls: list[str], key: str, agent_id: str, agent_type: str, journal: str, work_seconds: float
    ) -> None:
        self._ways = itertools.cycle([Client(url, key) for url in urls])
        self._client = next(self._ways)
        self._agent_id = agent_id
        self._agent_type = agent_type
        self._journal = os.open(journal, os.O_WRONLY)
        self._work_seconds = work_seconds

    def serve(self) -> None:
        while True:
            for claim in self._insist("register_agent", agent_type=self._agent_type)["claims"]:
                self._write("holds", claim)  # of an earlier life, or of a poll whose answer was lost
                self._do(claim)
            self._poll_on()

    def _poll_on(self) -> None:
        """Until an answer is lost: it may have had tasks in it, and registering tells which."""
        while True:
            try:
                found = self._client.call(
                    "poll_tasks", agent_id=self._agent_id, max_tasks=3, wait_seconds=WAIT_SECONDS
                )["result"]
            except (Unreachable, RefusalError) as error:
                self._go_elsewhere(error)
                return
            for each in found:
                self._write("took", each)
            for each in found:
                self._do(each)

    def _do(self, task: dict[str, Any]) -> None:
        time.sleep(self._work_seconds)  # this is the work
        result = secrets.token_hex(8)
        self._write("did", task, result=result)
        try:
            self._insist(
                "submit_result",
                task_id=task["task_id"],
                status="completed",
                attempt=task["attempt"],
                result=result,
            )
        except RefusalError as no:
            self._write("refused", task, result=result, code=no.code)
        else:
            self._write("kept", task, result=result)

    def _insist(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The answer of a call that may be made twice, however often it must be; raises RefusalError for a real no."""
        while True:
            try:
                return self._client.call(tool, agent_id=self._agent_id, **arguments)
            except (Unreachable, RefusalError) as error:
                self._go_elsewhere(error)

    def _go_elsewhere(self, error: Unreachable | RefusalError) -> None:
        if isinstance(error, RefusalError) and error.code != "unavailable":
            raise error
        self._write("away", None, code=getattr(error, "code", "unreachable"))
        self._client = next(self._ways)
        time.sleep(PAUSE_SECONDS)

    def _write(self, what: str, task: dict[str, Any] | None, **more: Any) -> None:
        about = {name: task[name] for name in ("task_id", "attempt")} if task is not None else {}
        line = json.dumps({"what": what, "agent_id": self._agent_id, **about, **more, "at": time.time()})
        os.write(self._journal, line.encode() + b"\n")


if __name__ == "__main__":
    Poller(**json.loads(sys.argv[1])).serve()

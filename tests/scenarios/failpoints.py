"""`toryo …` that kills itself (SIGKILL) at a step that a test names: `python failpoints.py DIRECTORY WORDS …`.

A step is a place where the program speaks with the world: before and after each call to the server, each file that says
what is being done, each process, each git command; at the server, before and after each commit of a call. Steps are
enumerated by doing, not listed here: what was passed since the last `arm` is written to a file, so a test tells a story
once, reads the steps, and tells it again for each. `Failpoints` is the test's side.
"""

from __future__ import annotations

import functools
import os
import runpy
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

ARMED, PASSED, TWICE = "armed", "passed", "twice"
NOTHING = "nothing"
"""Is armed where steps are only to be written down."""


class Failpoints:
    """What a test says to programs that were started with `command`, and what they have written down."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self._directory = directory
        self.command = (sys.executable, str(Path(__file__).resolve()), str(directory))

    def arm(self, step: str = NOTHING) -> None:
        """From now on steps are counted anew, and at this one the program is killed."""
        (self._directory / PASSED).unlink(missing_ok=True)
        new = self._directory / "arming"
        new.write_text(step)
        new.replace(self._directory / ARMED)

    def disarm(self) -> None:
        (self._directory / ARMED).unlink(missing_ok=True)

    @property
    def passed(self) -> list[str]:
        """Each step once, in the order in which it was passed first."""
        with (self._directory / PASSED).open() as steps:
            return list(dict.fromkeys(steps.read().splitlines()))

    @property
    def started_beside_another(self) -> list[str]:
        """Launches of which a process was started while another one lived."""
        file = self._directory / TWICE
        return file.read_text().splitlines() if file.exists() else []


# --- the program's side ----------------------------------------------------------------------------------------------


class _Steps:
    """Passed by any thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._armed: tuple[int, int] | None = None
        self._counts: Counter[str] = Counter()

    def passed(self, name: str) -> None:
        """The so-manyth of that name since it was armed: `NAME`, `NAME 2`, …"""
        with self._lock:
            try:
                armed = self._directory / ARMED
                known = (armed.stat().st_ino, armed.stat().st_mtime_ns)
                wanted = armed.read_text()
            except FileNotFoundError:
                return
            if known != self._armed:
                self._armed = known
                self._counts.clear()
            self._counts[name] += 1
            number = self._counts[name]
            step = name if number == 1 else f"{name} {number}"
            with (self._directory / PASSED).open("a") as file:
                file.write(f"{step}\n")
            if step == wanted:
                (self._directory / ARMED).unlink()
                os.kill(os.getpid(), signal.SIGKILL)

    def started_beside_another(self, launch_id: str) -> None:
        with (self._directory / TWICE).open("a") as file:
            file.write(f"{launch_id}\n")


def _around(steps: _Steps, original: Callable[..., Any], before: str, after: str) -> Callable[..., Any]:
    @functools.wraps(original)
    def stepping(*given: Any, **named: Any) -> Any:
        steps.passed(before)
        answer = original(*given, **named)
        steps.passed(after)
        return answer

    return stepping


def of_coordinator(steps: _Steps, patches: ExitStack) -> None:
    from toryo.agents.env_vars import LAUNCH_ID
    from toryo.coordinator import logs, processes, server_api, workspaces
    from toryo.coordinator.launch_journal import Journal
    from toryo.coordinator.worktrees.git import Git

    places: list[tuple[Any, str, str, str]] = [
        (workspaces.Workspaces, "make", "directory about to be made", "directory made"),
        (workspaces.Workspaces, "write", "files about to be written", "files written"),
        (workspaces.Workspaces, "remove", "directory about to be removed", "directory removed"),
        (logs, "create", "output about to be opened", "output opened"),
        (processes, "start", "process about to be started", "process started"),
        (processes.Process, "_reap", "process has ended", "its exit status is known"),
        (Journal, "_write", "record about to be written", "record written"),
        (Journal, "_remove", "record about to be deleted", "record deleted"),
    ]
    for owner, name, before, after in places:
        patches.enter_context(patch.object(owner, name, _around(steps, getattr(owner, name), before, after)))

    ask, call, start = Git.ask, server_api.Server._call, processes.start

    def asking(git: Git, *words: str, **how: Any) -> Any:
        return _around(steps, ask, f"git {words[0]} about to be run", f"git {words[0]} has run")(git, *words, **how)

    async def calling(server: Any, tool: str, /, **arguments: Any) -> Any:
        if tool in (
            "claim_starts",
            "health_check",
            "report_disk",
            "report_login",
        ):  # not about a launch, unless one is given
            answer = await call(server, tool, **arguments)
            if answer.get("start"):
                steps.passed("a start is given")
            return answer
        steps.passed(f"{tool} about to be called")
        answer = await call(server, tool, **arguments)
        steps.passed(f"{tool} answered")
        return answer

    def starting(*given: Any, env: dict[str, str], **named: Any) -> Any:
        for pid, each in processes.environments():
            if each.get(LAUNCH_ID) == env[LAUNCH_ID] and not processes.has_ended(pid, None):
                steps.started_beside_another(env[LAUNCH_ID])
        return start(*given, env=env, **named)

    patches.enter_context(patch.object(Git, "ask", asking))
    patches.enter_context(patch.object(server_api.Server, "_call", calling))
    patches.enter_context(patch.object(processes, "start", starting))


OF_A_LAUNCH = (
    *("claim_starts", "report_worktree", "append_log", "report_process_exit"),
    *("authenticate", "get_next_action", "report_completed", "logout"),
)
"""The calls of a Coordinator and of an agent by which a launch starts and ends."""


def of_server(steps: _Steps, patches: ExitStack) -> None:
    from toryo.operations.calls.dispatch import Request
    from toryo.storage.engine.postgresql import PostgreSQLConnection
    from toryo.storage.engine.sqlite import SQLiteConnection

    within = _Within()
    patches.enter_context(patch.object(Request, "work", _working(steps, within, Request.work)))
    for kind in (SQLiteConnection, PostgreSQLConnection):
        patches.enter_context(patch.object(kind, "command", _committing(steps, within, kind.command)))


class _Within(threading.local):
    """The calls that this thread has carried out in its present transaction."""

    def __init__(self) -> None:
        self.calls: list[str] = []


def _working(steps: _Steps, within: _Within, work: Callable[..., Any]) -> Callable[..., Any]:
    def working(request: Any, connection: Any) -> Any:
        name = request.operation.name
        if name not in OF_A_LAUNCH:
            return work(request, connection)
        claims = name == "claim_starts"  # of interest where it gives a start, which is known afterwards
        if not claims:
            steps.passed(f"{name} received")
        answered = work(request, connection)
        if not claims or (answered.outcome.result or {}).get("start"):
            within.calls.append(name)
        return answered

    return working


def _committing(steps: _Steps, within: _Within, command: Callable[..., Any]) -> Callable[..., Any]:
    def committing(connection: Any, text: Any) -> Any:
        if text not in ("COMMIT", b"COMMIT"):
            return command(connection, text)
        calls, within.calls = within.calls, []
        for name in calls:
            steps.passed(f"{name} about to be committed")
        answer = command(connection, text)
        for name in calls:
            steps.passed(f"{name} committed")
        return answer

    return committing


if __name__ == "__main__":
    del sys.path[0]  # this folder
    with ExitStack() as all_patches:
        failing = _Steps(Path(sys.argv[1]))
        sys.argv[1:] = sys.argv[2:]
        (of_server if sys.argv[1] == "server" else of_coordinator)(failing, all_patches)
        runpy.run_module("toryo", run_name="__main__", alter_sys=True)

"""The agent without a model: runs `context.command` of its task and reports how that went.

Exit 0 is success (and every path of `context.outputs` must exist then); the end of the output is the summary.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toryo.coordinator.runners import shell
from toryo.coordinator.runners.session import (
    Answer,
    Session,
    command_environment,
    common,
    follow,
    main,
    say,
    working_directory,
)

RUNS_AT_MOST = 2
"""Once, and once more where an acceptance check failed: the same command again rarely mends more than that."""


class CommandRunner:
    def __init__(self, session: Session, environ: Mapping[str, str]) -> None:
        self._session = session
        self._environ = environ
        self._runs = 0

    def work(self) -> None:
        doing = dict.fromkeys(("execute_task", "create_subtasks", "start_subtask", "execute_subtask"), self.execute)
        stuck = dict.fromkeys(("review_and_resolve_blocks", "resolve_dependency_deadlock"), self.give_up)
        follow(self._session, {**common(self._session), **doing, **stuck, "report_completion": self.complete})

    def execute(self, step: Answer) -> Answer:
        task = self._session.task
        context = task.get("context") or {}
        command = context.get("command") if isinstance(context, Mapping) else None
        if not command:
            return self._session.report(
                "blocked", "This task has no context.command, and nothing else can be run here."
            )
        if self._runs >= RUNS_AT_MOST:
            return self._session.report("failed", f"The command succeeds, but {_failed_checks(step)}")
        self._runs += 1
        result, summary = self._run(command, context, working_directory(task, self._environ))
        return self._session.report(result, summary)

    def complete(self, _: Answer) -> Answer:
        return self._session.report("success", "All subtasks are completed.")

    def give_up(self, step: Answer) -> Answer:
        return self._session.report("blocked", str(step.get("instruction") or "The subtasks cannot go on."))

    def _run(self, command: Any, context: Mapping[str, Any], directory: Path) -> tuple[str, str]:
        if not directory.is_dir():
            return "blocked", f"The working directory {directory} does not exist on this machine."
        say(f"$ {command if isinstance(command, str) else ' '.join(map(str, command))}")
        limit = context.get("timeout_seconds")
        ran = shell.run(command, directory, command_environment(self._environ), float(limit) if limit else None)
        missing = [str(each) for each in context.get("outputs") or () if not (directory / str(each)).exists()]
        if ran.ok and missing:
            ran = shell.Ran(ran.tail, f"The command succeeded, but did not make {', '.join(missing)}.")
        return ("success" if ran.ok else "failed"), ran.words()


def _failed_checks(step: Answer) -> str:
    failed = [f"{each.get('check')}: {each.get('message')}" for each in step.get("failed_checks") or ()]
    return "its acceptance checks do not hold: " + ("; ".join(failed) or str(step.get("instruction")))


if __name__ == "__main__":
    main("command", lambda session: CommandRunner(session, os.environ).work())

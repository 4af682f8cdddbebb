"""The agent without a model: runs `context.command` of its task and reports how that went.

Exit 0 is success (and every path of `context.outputs` must exist then); the end of the output is the summary. What
`context.ask` wants to know from people is asked before, and what `context.delegate` wants said to others is delegated:
the command finds answers and results in its environment. Without a command the results are the summary. A command can
tell what it does while it runs (`told_lines.py`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toryo import told_lines
from toryo.agents import delegations, questions, shell
from toryo.agents.agent_loop import (
    Answer,
    Handler,
    Session,
    command_environment,
    common,
    follow,
    main,
    say,
    working_directory,
)
from toryo.agents.delegations import Delegating
from toryo.agents.questions import Asking
from toryo.formats.command_templates import Unfit

RUNS_AT_MOST = 2
"""Once, and once more where an acceptance check failed: running the same command again rarely fixes more than that."""


OTHERWISE = (
    "I am {{agent_name}}, an agent without a model. I run the command of a task, and cannot chat. You can give "
    "me a task with a context.command."
)


class Job(NamedTuple):
    """The work of a task: what to tell others, and a command; one of the two may be missing."""

    command: Any
    context: Mapping[str, Any]
    wanted: Sequence[Mapping[str, Any]]
    asked: Sequence[Mapping[str, Any]]


class CommandRunner:
    def __init__(self, session: Session, environ: Mapping[str, str]) -> None:
        self._session = session
        self._environ = environ
        self._delegating = Delegating(session)
        self._asking = Asking(session)
        self._runs = 0

    def work(self) -> None:
        follow(self._session, self.handlers(), self.chat)

    def handlers(self) -> dict[str, Handler]:
        doing = dict.fromkeys(("execute_task", "create_subtasks", "start_subtask", "execute_subtask"), self.execute)
        stuck = dict.fromkeys(("review_and_resolve_blocks", "resolve_dependency_deadlock"), self.give_up)
        return {**common(self._session), **doing, **stuck, "report_completion": self.complete}

    def chat(self) -> dict[str, Handler]:
        """Imported only here: workers, which nearly all are, must not pay for it."""
        from toryo.agents import script_rules
        from toryo.agents.chat_session import Talk

        return Talk(self._session, script_rules.plain(OTHERWISE)).handlers()

    def job(self) -> Job:
        """Raises Unfit."""
        context = self._session.task.get("context")
        context = context if isinstance(context, Mapping) else {}
        asked = questions.wanted_by(context)
        return Job(context.get("command"), context, delegations.wanted_by(context), asked)

    def execute(self, step: Answer) -> Answer:
        try:
            job = self.job()
        except Unfit as wrong:
            return self._session.report("blocked", str(wrong))
        if refused := self._asking.ask(job.asked):
            return self._session.report("blocked", f"This could not be asked: {refused.get('message')}")
        if self._asking.waits:
            return self._session.wait(step)
        if refused := self._delegating.ask(job.wanted):
            return self._session.report("blocked", f"This could not be delegated: {refused.get('message')}")
        if not (job.command or job.wanted):
            return self._session.report(
                "blocked", "This task has no command to run: `command` is missing in its context."
            )
        if self._runs >= RUNS_AT_MOST:
            return self._session.report("failed", f"The command succeeded, but {_failed_checks(step)}")
        waiting = self._delegating.outstanding(job.wanted)
        if waiting is not None:
            return waiting  # it carries the next action: wait again, or something else has happened
        return self._session.report(*(self._executed(job) if job.command else self._answered(job)))

    def _executed(self, job: Job) -> tuple[str, str]:
        self._runs += 1
        return self._run(job.command, job.context, working_directory(self._session.task, self._environ))

    def _answered(self, job: Job) -> tuple[str, str]:
        """Nothing was to be done but to have something said: what came of it."""
        result = "failed" if self._delegating.failed(job.wanted) else "success"
        return result, self._delegating.summary(job.wanted) or "Delegated without waiting for the result."

    def complete(self, _: Answer) -> Answer:
        return self._session.report("success", "All subtasks are completed.")

    def give_up(self, step: Answer) -> Answer:
        return self._session.report("blocked", str(step.get("instruction") or "The subtasks cannot continue."))

    def _run(self, command: Any, context: Mapping[str, Any], directory: Path) -> tuple[str, str]:
        if not directory.is_dir():
            return "blocked", f"The working directory {directory} does not exist on this machine."
        say(f"$ {command if isinstance(command, str) else ' '.join(map(str, command))}")
        limit = context.get("timeout_seconds")
        with _values_told({**self._delegating.environment(), **self._asking.environment()}) as told:
            env = {**command_environment(self._environ), **told}
            ran = shell.run(command, directory, env, float(limit) if limit else None)
        ran = ran._replace(tail=told_lines.for_people(ran.tail))
        missing = [str(output) for output in context.get("outputs") or () if not (directory / str(output)).exists()]
        if ran.ok and missing:
            ran = shell.Ran(ran.tail, f"The command succeeded, but did not create {', '.join(missing)}.")
        return ("success" if ran.ok else "failed"), ran.words()


@contextlib.contextmanager
def _values_told(found: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The values for an environment, and each in a file that is named there: what is too long for an environment is in
    its file only."""
    if not found:
        yield {}
        return
    import tempfile  # most commands are told nothing

    from toryo import argument_limits

    told = {}
    with tempfile.TemporaryDirectory(prefix="toryo-") as beside:
        for name, value in found.items():
            file = Path(beside) / name
            file.write_text(value, encoding="utf-8", errors="replace")
            told[f"{name}_FILE"] = str(file)
            if argument_limits.size(value) <= argument_limits.LONGEST:
                told[name] = value
            else:
                say(f"· {name} is too long for the environment of a command: read the file that {name}_FILE names")
        yield told


def _failed_checks(step: Answer) -> str:
    """Their names: what each of them found is beside it, with the evidence of the task."""
    failed = [str(check.get("check")) for check in step.get("failed_checks") or ()]
    return f"its acceptance checks failed: {'; '.join(failed) or step.get('instruction')}"


if __name__ == "__main__":
    main("command", lambda session: CommandRunner(session, os.environ).work())

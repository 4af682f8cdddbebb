"""A worker with a playbook: divides its own task into the steps of the plan and executes each step's `run` itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toryo.coordinator.runners import shell
from toryo.coordinator.runners.planned import Planned
from toryo.coordinator.runners.plays import NoPlan, Step
from toryo.coordinator.runners.session import Answer, Handler, Session, command_environment, say, working_directory


class Worker(Planned):
    def __init__(self, session: Session, playbook: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        super().__init__(session, playbook)
        self._environ = environ
        self._whole_runs = 0

    def handlers(self) -> dict[str, Handler]:
        return {
            "create_subtasks": self.divide,
            "start_subtask": self.start,
            "execute_subtask": self.execute,
            "execute_task": self.execute_whole,
            "report_completion": self.report_done,
            "review_and_resolve_blocks": self.review,
            "resolve_dependency_deadlock": self.give_up,
        }

    def divide(self, step: Answer) -> Answer:
        answer = self.create(assign=False)
        refused_here = ("tooManySubtasks", "limitReached", "depthExceeded", "permissionDenied", "validationError")
        return self.execute_whole(step) if answer.get("error") in refused_here else answer

    def start(self, step: Answer) -> Answer:
        subtask = step.get("subtask") or {}
        return self._session.try_to("update_task_status", task_id=subtask.get("task_id"), status="in_progress")

    def execute(self, step: Answer) -> Answer:
        subtask = step.get("subtask") or {}
        ran = self._run(self.step_of(subtask), str(subtask.get("title")))
        how: Answer = {"status": "completed"} if ran.ok else {"status": "failed", "reason": ran.words()}
        return self._session.try_to("update_task_status", task_id=subtask.get("task_id"), **how)

    def execute_whole(self, step: Answer) -> Answer:
        """Without subtasks: every step in the order of the plan, one after the other, until one fails."""
        if self._whole_runs > 1:
            return self._session.report("failed", f"Done twice, and still: {step.get('instruction')}")
        self._whole_runs += 1
        try:
            ordered = in_order(self.steps())
        except NoPlan as none:
            return self._session.report("blocked", str(none))
        for each in ordered:
            ran = self._run(each, each.title)
            if not ran.ok:
                return self._session.report("failed", f"{each.title}: {ran.words()}")
        return self._session.report("success", "\n".join(f"- {each.title}: completed" for each in ordered))

    def review(self, _: Answer) -> Answer:
        again = self.to_try_again(self.subtasks())
        if again and (answer := self.try_again(again)).get("success"):
            return answer
        return self.report_stuck(self.subtasks())

    def give_up(self, _: Answer) -> Answer:
        return self.report_stuck(self.subtasks(), "These subtasks wait for each other:")

    def _run(self, step: Step | None, title: str) -> shell.Ran:
        command = step.run or (step.context or {}).get("command") if step is not None else None
        if step is None or not command:
            return shell.Ran("", f"The playbook says nothing to run for {title!r}.")
        say(f"$ {command if isinstance(command, str) else ' '.join(map(str, command))}")
        directory = working_directory(self._session.task, self._environ)
        limit = step.timeout_seconds or (step.context or {}).get("timeout_seconds")
        ran = shell.run(command, directory, command_environment(self._environ), float(limit) if limit else None)
        return _with_outputs(ran, step, directory)


def in_order(steps: tuple[Step, ...]) -> list[Step]:
    """Each after what it depends on; else as written (a checked playbook has no circles)."""
    done: dict[str, Step] = {}
    while len(done) < len(steps):
        ready = [each for each in steps if each.id not in done and set(each.depends_on) <= set(done)]
        done.update({each.id: each for each in ready or steps})
    return list(done.values())


def _with_outputs(ran: shell.Ran, step: Step, directory: Path) -> shell.Ran:
    promised: Any = (step.context or {}).get("outputs") or ()
    missing = [str(each) for each in promised if not (directory / str(each)).exists()]
    if not ran.ok or not missing:
        return ran
    return shell.Ran(ran.tail, f"The command succeeded, but did not make {', '.join(missing)}.")

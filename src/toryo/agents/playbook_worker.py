"""A worker with a playbook: divides its own task into the steps of the plan and executes each step's `run` itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toryo.agents import conditions, plan_choice, shell
from toryo.agents.agent_loop import Answer, Handler, Session, command_environment, say, working_directory
from toryo.agents.conditions import LeaveOut, Situation, Standing
from toryo.agents.plan_choice import NoPlan, Step
from toryo.agents.playbook_session import CLOSED_WELL, Planned


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
            "resolve_dependency_deadlock": self.free,
        }

    def divide(self, step: Answer) -> Answer:
        answer = self.create(assign=False)
        refused_here = ("tooManySubtasks", "limitReached", "depthExceeded", "permissionDenied", "validationError")
        return self.execute_whole(step) if answer.get("error") in refused_here else answer

    def start(self, step: Answer) -> Answer:
        if settled := self.settle(self.subtasks()):
            return settled
        subtask = step.get("subtask") or {}
        return self._session.try_to("update_task_status", task_id=subtask.get("task_id"), status="in_progress")

    def execute(self, step: Answer) -> Answer:
        subtask = step.get("subtask") or {}
        ran = self._run(self.step_of(subtask), str(subtask.get("title")))
        status = "completed" if ran.ok else "failed"
        said = {"reason": ran.words()} if ran.words() else {}
        return self._session.try_to("update_task_status", task_id=subtask.get("task_id"), status=status, **said)

    def execute_whole(self, step: Answer) -> Answer:
        """Without subtasks: runs the steps of the plan in order, except those that cannot be done."""
        if self._whole_runs > 1:
            return self._session.report("failed", f"Done twice, but the server still says: {step.get('instruction')}")
        self._whole_runs += 1
        try:
            ordered = plan_choice.in_order(self.steps())
        except NoPlan as none:
            return self._session.report("blocked", str(none))
        whole = Whole(ordered, lambda each: self._run(each, each.title))
        return self._session.report(*whole.done())

    def review(self, step: Answer) -> Answer:
        """Tries again; else does what the plan has for failures; else reports."""
        again = self.to_try_again(self.subtasks())
        if again and (answer := self.try_again(again)).get("success"):
            return answer
        subtasks = self.subtasks()
        if settled := self.settle(subtasks):
            return settled
        return self.report_stuck(subtasks) if self.unfixed(subtasks) else self.report_done(step)

    def free(self, _: Answer) -> Answer:
        """After a failure: retries the step, or continues with the steps whose conditions allow it."""
        again = self.to_try_again(self.subtasks())
        if again and (answer := self.try_again(again)).get("success"):
            return answer
        subtasks = self.subtasks()
        return self.settle(subtasks) or self.report_stuck(subtasks, "These subtasks wait for each other:")

    def _run(self, step: Step | None, title: str) -> shell.Ran:
        command = step.run or (step.context or {}).get("command") if step is not None else None
        if step is None or not command:
            return shell.Ran("", f"The playbook has no command for {title!r}.")
        say(f"$ {command if isinstance(command, str) else ' '.join(map(str, command))}")
        directory = working_directory(self._session.task, self._environ)
        limit = step.timeout_seconds or (step.context or {}).get("timeout_seconds")
        ran = shell.run(command, directory, command_environment(self._environ), float(limit) if limit else None)
        promised: Any = (step.context or {}).get("outputs") or ()
        missing = [str(each) for each in promised if not (directory / str(each)).exists()]
        if not ran.ok or not missing:
            return ran
        return shell.Ran(ran.tail, f"The command succeeded, but did not create {', '.join(missing)}.")


class Whole:
    """A plan carried out within one task: the same conditions and retries, in memory instead of on the board."""

    def __init__(self, steps: Sequence[Step], run: Callable[[Step], shell.Ran]) -> None:
        self._steps = steps
        self._run = run
        self._standings = {
            step.id: Standing(step.title, "todo", waits_for=frozenset(conditions.comes_after(step))) for step in steps
        }
        self._endings: dict[str, str] = {}

    def done(self) -> tuple[str, str]:
        """Does all that can be done; the result and the summary to report."""
        while (step := self._next()) is not None:
            ran = self._run(step)
            for _ in range(step.retry):
                if ran.ok:
                    break
                say(f"retrying: {step.title}")
                ran = self._run(step)
            status = "completed" if ran.ok else "failed"
            self._endings[step.id] = status if ran.ok else f"failed: {ran.words()}"
            self._change(step.id, status=status, over=True, summary=ran.words())
        situation = Situation(self._steps, self._standings)
        fixed = [each.id for each in self._steps if self._ended_well(each) or situation.provided_for(each.id)]
        lines = [f"- {each.title}: {self._endings.get(each.id, 'not done')}" for each in self._steps]
        return "success" if len(fixed) == len(self._steps) else "failed", "\n".join(lines)

    def _next(self) -> Step | None:
        """The first that no longer waits, once what conditions say has been done."""
        while (decision := next(Situation(self._steps, self._standings).decisions(), None)) is not None:
            if isinstance(decision, LeaveOut):
                say(f"left out: {self._standings[decision.id].title}: {decision.reason}")
                self._endings[decision.id] = f"left out: {decision.reason}"
                self._change(decision.id, status="cancelled", over=True)
            else:
                self._change(decision.id, waits_for=self._standings[decision.id].waits_for - set(decision.without))
        return next((step for step in self._steps if self._ready(self._standings[step.id])), None)

    def _ready(self, it: Standing) -> bool:
        waits = any(self._standings[step_id].status != "completed" for step_id in it.waits_for)
        return it.status == "todo" and not waits

    def _ended_well(self, step: Step) -> bool:
        return self._standings[step.id].status in CLOSED_WELL

    def _change(self, step_id: str, **changes: Any) -> None:
        self._standings[step_id] = self._standings[step_id]._replace(**changes)

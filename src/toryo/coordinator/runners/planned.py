"""What a manager and a worker with a playbook share: the plan for the task, its subtasks, trying again, the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toryo.coordinator.runners import plays
from toryo.coordinator.runners.plays import NoPlan, Step
from toryo.coordinator.runners.session import Answer, Session, say

CLOSED_WELL = ("completed", "cancelled")
LONGEST_OUTCOME = 300


class Planned:
    """One session's view of its main task and the subtasks that its plan has for it."""

    def __init__(self, session: Session, playbook: Mapping[str, Any]) -> None:
        self._session = session
        self._playbook = playbook
        self._hopeless: dict[str, str] = {}
        """Subtasks that may not be tried again, and why."""

    # --- the plan -----------------------------------------------------------------------------------------------------

    @property
    def main_id(self) -> str:
        return str(self._session.task.get("task_id") or "")

    def steps(self) -> tuple[Step, ...]:
        """Raises NoPlan."""
        return plays.plan_for(self._playbook, self._session.task)

    def step_of(self, subtask: Mapping[str, Any]) -> Step | None:
        """The step that a subtask was made from, found by its title (a restarted runner knows no ids)."""
        try:
            return next((each for each in self.steps() if each.title == subtask.get("title")), None)
        except NoPlan:
            return None

    def create(self, *, assign: bool) -> Answer:
        """All subtasks of the plan in one call; the same call again creates nothing more."""
        try:
            steps = self.steps()
        except NoPlan as none:
            return self._session.report("blocked", str(none))
        return self._session.try_to(
            "create_tasks_batch",
            parent_task_id=self.main_id,
            tasks=[_task(each, assign=assign) for each in steps],
            idempotency_key=f"playbook-{self._session.task.get('attempt') or 1}",
        )

    # --- the subtasks -------------------------------------------------------------------------------------------------

    def subtasks(self) -> list[Answer]:
        return list(self._session.try_to("list_tasks", parent_task_id=self.main_id).get("tasks") or ())

    def to_try_again(self, subtasks: Sequence[Answer]) -> list[Answer]:
        """Failed and blocked ones whose step still has tries left."""
        return [each for each in subtasks if each["status"] in ("failed", "blocked") and self._tries_left(each)]

    def try_again(self, subtasks: Sequence[Answer]) -> Answer:
        """Puts them back; what was blocked fails first, so that the try is counted. Answers the last answer."""
        answer: Answer = {}
        for each in subtasks:
            answer = self._put_back(each)
        return answer

    def _put_back(self, subtask: Answer) -> Answer:
        task_id, title = subtask["task_id"], subtask.get("title")
        if subtask["status"] == "blocked":
            why = subtask.get("blocked_reason") or "blocked"
            failed = self._session.try_to("update_task_status", task_id=task_id, status="failed", reason=why)
            if not failed.get("success"):
                self._hopeless[task_id] = str(failed.get("message"))
                return failed
        answer = self._session.try_to("update_task_status", task_id=task_id, status="todo", reason="tried again")
        if answer.get("success"):
            say(f"trying again: {title}")
        else:
            self._hopeless[task_id] = str(answer.get("message"))
        return answer

    def _tries_left(self, subtask: Answer) -> bool:
        step = self.step_of(subtask)
        used = int(subtask.get("attempt") or 1) - 1
        return step is not None and subtask["task_id"] not in self._hopeless and used < step.retry

    # --- the report ---------------------------------------------------------------------------------------------------

    def report_done(self, _: Answer) -> Answer:
        subtasks = self.subtasks()
        lines = [f"- {each['title']}{_outcome(each)}" for each in subtasks if each["status"] in CLOSED_WELL]
        return self._session.report("success", "\n".join([f"{len(lines)} subtasks:", *lines]))

    def report_stuck(self, subtasks: Sequence[Answer], why: str = "") -> Answer:
        """Failed if anything failed for good, else blocked; each open end with its reason."""
        ends = [each for each in subtasks if each["status"] not in CLOSED_WELL]
        lines = [f"- {each['title']} is {each['status']}{_outcome(each)}" for each in ends]
        result = "failed" if any(each["status"] == "failed" for each in ends) else "blocked"
        return self._session.report(result, "\n".join([why or "These subtasks cannot go on:", *lines]))


def _task(step: Step, *, assign: bool) -> Answer:
    found: Answer = {
        "local_id": step.id,
        "title": step.title,
        "description": step.description or step.title,
        "priority": step.priority,
        "dependencies": list(step.depends_on),
    }
    if assign and step.assignee:
        found["assignee_id"] = step.assignee
    if step.context:
        found["context"] = dict(step.context)
    if step.acceptance:
        found["acceptance"] = [dict(each) for each in step.acceptance]
    return found


def _outcome(subtask: Mapping[str, Any]) -> str:
    """`: ` and the beginning of what is known about how it ended, in one line; nothing where nothing is."""
    known = (subtask.get(name) for name in ("summary", "error", "blocked_reason"))
    words = " ".join(next((str(each) for each in known if each), "").split())
    if len(words) > LONGEST_OUTCOME:
        words = f"{words[:LONGEST_OUTCOME]}…"
    return f": {words}" if words else ""

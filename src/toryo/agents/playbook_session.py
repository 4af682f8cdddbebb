"""What managers and workers with a playbook share: the plan of the task, its subtasks, conditions, retries, the
report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toryo.agents import conditions, plan_choice
from toryo.agents.agent_loop import Answer, Session, say
from toryo.agents.conditions import Decision, LeaveOut, Situation, Standing
from toryo.agents.plan_choice import NoPlan, Step

CLOSED_WELL = ("completed", "cancelled")
LONGEST_OUTCOME = 300
MOST = 200
"""Subtasks that are looked at: more than a task may ever have."""


class Planned:
    """One session's view of its main task and the subtasks that its plan has for it."""

    def __init__(self, session: Session, playbook: Mapping[str, Any]) -> None:
        self._session = session
        self._playbook = playbook
        self._hopeless: dict[str, str] = {}
        """Subtasks that may not be tried again, and why."""
        self._refused_decisions: set[Decision] = set()
        """What conditions decided, and the server refused: it is not asked again."""

    # --- the plan -----------------------------------------------------------------------------------------------------

    @property
    def main_id(self) -> str:
        return str(self._session.task.get("task_id") or "")

    def steps(self) -> tuple[Step, ...]:
        """Raises NoPlan."""
        return plan_choice.plan_for(self._playbook, self._session.task)

    def _steps_if_any(self) -> tuple[Step, ...]:
        try:
            return self.steps()
        except NoPlan:
            return ()

    def step_of(self, subtask: Mapping[str, Any]) -> Step | None:
        """The step that a subtask was made from, found by its title (a restarted runner knows no ids)."""
        return next((step for step in self._steps_if_any() if step.title == subtask.get("title")), None)

    def create(self, *, assign: bool) -> Answer:
        """All subtasks of the plan in one call; the same call again creates nothing more."""
        try:
            steps = self.steps()
        except NoPlan as none:
            return self._session.report("blocked", str(none))
        return self._session.try_to(
            "create_tasks_batch",
            parent_task_id=self.main_id,
            tasks=[_task(step, assign=assign) for step in steps],
            idempotency_key=f"playbook-{self._session.task.get('attempt') or 1}",
        )

    # --- the subtasks -------------------------------------------------------------------------------------------------

    def subtasks(self) -> list[Answer]:
        listed = self._session.try_to("list_tasks", parent_task_id=self.main_id, limit=MOST).get("tasks") or ()
        return [self._whole(each) for each in listed]

    def _whole(self, listed: Answer) -> Answer:
        """A list cuts long texts; conditions read them whole."""
        if not any(str(listed.get(name) or "").endswith("…") for name in ("summary", "error")):
            return listed
        return {**listed, **self._session.try_to("get_task", task_id=listed["task_id"]).get("task", {})}

    def to_try_again(self, subtasks: Sequence[Answer]) -> list[Answer]:
        """Failed and blocked ones whose step still has tries left."""
        return [
            subtask for subtask in subtasks if subtask["status"] in ("failed", "blocked") and self._tries_left(subtask)
        ]

    def try_again(self, subtasks: Sequence[Answer]) -> Answer:
        """Puts them back; what was blocked fails first, so that the try is counted. Answers the last answer."""
        answer: Answer = {}
        for subtask in subtasks:
            answer = self._put_back(subtask)
        return answer

    def _put_back(self, subtask: Answer) -> Answer:
        task_id, title = subtask["task_id"], subtask.get("title")
        if subtask["status"] == "blocked":
            why = subtask.get("blocked_reason") or "blocked"
            failed = self._session.try_to("update_task_status", task_id=task_id, status="failed", reason=why)
            if not failed.get("success"):
                self._hopeless[task_id] = str(failed.get("message"))
                return failed
        answer = self._session.try_to("update_task_status", task_id=task_id, status="todo", reason="retried")
        if answer.get("success"):
            say(f"retrying: {title}")
        else:
            self._hopeless[task_id] = str(answer.get("message"))
        return answer

    def _tries_left(self, subtask: Answer) -> bool:
        """Each attempt of the whole has the tries that the plan gives: who retries it wants what has failed retried."""
        step = self.step_of(subtask)
        if step is None or subtask["task_id"] in self._hopeless:
            return False
        tries = (step.retry + 1) * int(self._session.task.get("attempt") or 1)
        return int(subtask.get("attempt") or 1) < tries

    # --- conditions ---------------------------------------------------------------------------------------------------

    def situation(self, subtasks: Sequence[Answer]) -> Situation:
        """The states of the plan's steps."""
        steps = {subtask["task_id"]: step.id for subtask in subtasks if (step := self.step_of(subtask)) is not None}
        standings = {
            steps[subtask["task_id"]]: self._standing(subtask, steps)
            for subtask in subtasks
            if subtask["task_id"] in steps
        }
        return Situation(self._steps_if_any(), standings)

    def settle(self, subtasks: Sequence[Answer]) -> Answer:
        """Leaves out steps that are not needed and continues with the others, until nothing changes. Returns the last
        answer, or None if there was nothing to do."""
        last: Answer = {}
        while todo := [
            decision for decision in self.situation(subtasks).decisions() if decision not in self._refused_decisions
        ]:
            last = self._settle_one(todo[0], subtasks) or last
            subtasks = self.subtasks()
        return last

    def _settle_one(self, decision: Decision, subtasks: Sequence[Answer]) -> Answer:
        tasks = {step.id: subtask for subtask in subtasks if (step := self.step_of(subtask)) is not None}
        task_id, title = tasks[decision.id]["task_id"], tasks[decision.id]["title"]
        if isinstance(decision, LeaveOut):
            say(f"left out: {title}: {decision.reason}")
            answer = self._session.try_to("cancel_task", task_id=task_id, reason=f"Left out: {decision.reason}.")
        else:
            without = [tasks[each]["task_id"] for each in decision.without]
            answer = self._session.try_to("update_task_dependencies", task_id=task_id, remove_dependencies=without)
        if not answer.get("success"):
            self._refused_decisions.add(decision)
            return {}
        return answer

    def unfixed(self, subtasks: Sequence[Answer]) -> list[Answer]:
        """What has not ended well, without the failures that the plan provides for."""
        situation = self.situation(subtasks)
        return [
            subtask
            for subtask in subtasks
            if subtask["status"] not in CLOSED_WELL
            and not ((step := self.step_of(subtask)) is not None and situation.provided_for(step.id))
        ]

    def _standing(self, subtask: Answer, steps: Mapping[str, str]) -> Standing:
        status = str(subtask["status"])
        known = (subtask.get(name) for name in ("summary", "error"))
        return Standing(
            title=str(subtask.get("title")),
            status=status,
            over=status in CLOSED_WELL or (status == "failed" and not self._tries_left(subtask)),
            summary=next((str(each) for each in known if each), ""),
            waits_for=frozenset(
                steps[dependency] for dependency in subtask.get("dependencies") or () if dependency in steps
            ),
        )

    # --- the report ---------------------------------------------------------------------------------------------------

    def report_done(self, _: Answer) -> Answer:
        subtasks = self.subtasks()
        situation = self.situation(subtasks)
        lines = [f"- {subtask['title']}{self._ending(subtask, situation)}" for subtask in subtasks]
        return self._session.report("success", "\n".join([f"{len(lines)} subtasks:", *lines]))

    def _ending(self, subtask: Answer, situation: Situation) -> str:
        step = self.step_of(subtask)
        if step is not None and subtask["status"] == "cancelled":
            why = situation.left_out(step.id) or situation.in_vain(step.id)
            return f" was left out: {why}" if why else " was cancelled"
        failed = " failed, which the plan allows" if subtask["status"] == "failed" else ""
        return failed + _outcome(subtask)

    def report_stuck(self, subtasks: Sequence[Answer], why: str = "") -> Answer:
        """Failed if anything failed for good, else blocked; each open end with its reason."""
        ends = self.unfixed(subtasks)
        lines = [f"- {end['title']} is {end['status']}{_outcome(end)}" for end in ends]
        result = "failed" if any(end["status"] == "failed" for end in ends) else "blocked"
        return self._session.report(result, "\n".join([why or "These subtasks cannot continue:", *lines]))


def _task(step: Step, *, assign: bool) -> Answer:
    found: Answer = {
        "local_id": step.id,
        "title": step.title,
        "description": step.description or step.title,
        "priority": step.priority,
        "dependencies": list(conditions.comes_after(step)),
    }
    if assign and step.assignee:
        found["assignee_id"] = step.assignee
    if step.context:
        found["context"] = dict(step.context)
    return {**found, **step.said}


def _outcome(subtask: Mapping[str, Any]) -> str:
    """`: ` and the first words of how it ended, in one line; empty if nothing is known."""
    known = (subtask.get(name) for name in ("summary", "error", "blocked_reason"))
    words = " ".join(next((str(each) for each in known if each), "").split())
    if len(words) > LONGEST_OUTCOME:
        words = f"{words[:LONGEST_OUTCOME]}…"
    return f": {words}" if words else ""

"""Why tasks were not completed, in the server's words: those that failed or are blocked, and those that are still open.

Tasks with the same reason are told together, the most frequent reason first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toryo import block_reasons
from toryo.agents.playbook_manager import NO_WORKERS
from toryo.domain.wording import constant
from toryo.simulation.run import Run
from toryo.simulation.waiting import OPEN

Task = Mapping[str, Any]
_NOT_STARTED = constant("Nobody has started it.")
_NOBODY_FREE = constant("Nobody who could do it is free.")
_NO_REASON = constant("No reason was given.")
_OTHER_TASKS = constant("It waits for other tasks.")
_NO_PROGRAM = constant("Its assignee is a person, or has no program.")
_IN_WORDS = {**block_reasons.WORDS, NO_WORKERS: constant("Its manager has no workers.")}
"""Reasons that are written as codes."""
_AT_WORK = constant("Its agent was at work.")


def unfinished_tasks(run: Run, tasks: Iterable[Task]) -> list[dict[str, Any]]:
    """`tasks` says how many have this status for this reason, `example` the title of one."""
    tasks = list(tasks)
    completed = {task["task_id"] for task in tasks if task["status"] == "completed"}
    look = _Look(run, completed)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for task in tasks:
        if task["status"] in OPEN or task["status"] == "failed":
            status, reason = task["status"], look.reason(task)
            same = found.setdefault(
                (status, reason), {"status": status, "reason": reason, "tasks": 0, "example": task["title"]}
            )
            same["tasks"] += 1
    return sorted(found.values(), key=lambda each: -int(each["tasks"]))


class _Look:
    def __init__(self, run: Run, completed: set[str]) -> None:
        self._run, self._completed = run, completed
        self._decisions: dict[tuple[str, str], str] = {}
        self._at_work = {(each.launch.agent_id, each.launch.project_id) for each in run.coordinator.entries.values()}

    def reason(self, task: Task) -> str:
        status, assignee = task["status"], task["assignee_id"]
        if status == "failed":
            return _first_line(task.get("error"))
        if status == "blocked":
            reason = _first_line(task.get("blocked_reason"))
            return _IN_WORDS.get(reason, reason)
        if not self._completed.issuperset(task.get("dependencies") or ()):
            return _OTHER_TASKS
        if status != "in_progress":
            return _NOBODY_FREE if status == "todo" and assignee is None and "pool" in task else _NOT_STARTED
        if (assignee, task["project_id"]) in self._at_work:
            return _AT_WORK
        if not self._run.agents.get(assignee, {}).get("provider"):
            return _NO_PROGRAM
        return self._decision(assignee, task["project_id"])

    def _decision(self, agent_id: str, project_id: str) -> str:
        """Why no program of the agent runs for it."""
        key = agent_id, project_id
        if key not in self._decisions:
            decisions = self._run.world.owner("why", agent_id=agent_id, project_id=project_id)["decisions"]
            said = next((each["explanation"] for each in decisions if each["purpose"] == "task"), None)
            self._decisions[key] = _first_line(said)
        return self._decisions[key]


def _first_line(said: str | None) -> str:
    """What follows is advice for a server that runs."""
    return (said or "").strip().partition("\n")[0] or _NO_REASON

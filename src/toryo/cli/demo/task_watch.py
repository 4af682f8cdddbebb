"""Watches the demo's tasks until all are closed: woken by events, then reads the tasks themselves."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toryo.cli.command_context import Here
from toryo.cli.demo.answers import Answers
from toryo.cli.demo.stories import Story, Task
from toryo.cli.exit_codes import Failure
from toryo.domain.tasks import CLOSED

FAILED = "agent.cooling_down"
QUIET_WITHIN_SECONDS = 5
LOOK_SECONDS = 1
"""How long one call for events waits, and so how soon a dead process or the time limit is noticed."""


@dataclass
class Seen:
    """The state of the stories: their main tasks, and every task of their projects."""

    started: float
    main: dict[str, str]
    """The main task of each project."""
    tasks: dict[str, list[Task]] = field(default_factory=dict)
    after: int = 0
    older: frozenset[str] = frozenset()
    """The tasks that were there before: a directory that is used again also has those of the last run."""
    answers: Answers | None = None
    """What a person does meanwhile."""
    finished: float | None = None

    @property
    def seconds(self) -> float:
        """From the creation of the tasks until the last one was closed."""
        return (time.monotonic() if self.finished is None else self.finished) - self.started

    @property
    def over(self) -> bool:
        """Whether every main task is closed, also those that agents requested, and nothing waits for a person. The
        tasks below a completed one are closed, too."""
        roots = [task for project in self.tasks for task in self.roots(project)]
        done = all(task["status"] in CLOSED or task.get("approval") == "rejected" for task in roots)
        return bool(roots) and done and (self.answers is None or self.answers.over)

    def task(self, project: str) -> Task:
        return next(each for each in self.tasks[project] if each["task_id"] == self.main[project])

    def roots(self, project: str) -> list[Task]:
        """The main task, then the others that belong to no task."""
        others = [each for each in self.tasks[project] if each.get("parent_task_id") is None]
        return sorted(others, key=lambda each: each["task_id"] != self.main[project])

    def parts(self, task: Task) -> list[Task]:
        return [each for each in self.tasks[task["project_id"]] if each.get("parent_task_id") == task["task_id"]]


def newest_event(here: Here) -> int:
    return int(here.get("/status")["last_event"])


def file_tasks(here: Here, stories: Sequence[Story], pause: float) -> Seen:
    """Files every story's main tasks, in progress at once, and writes to agents: a person does that at the beginning.

    `pause`: seconds between two steps of an agent.
    """
    older = frozenset(task["task_id"] for story in stories for task in _all(here, story.project))
    person = here.get("/me")["person_id"]
    seen = Seen(time.monotonic(), {}, after=newest_event(here), older=older)
    for story in stories:
        for agent, text in story.says.items():
            here.send("POST", f"/projects/{story.project}/chats/{agent}/messages", {"content": text})
        filed = [here.send("POST", f"/projects/{story.project}/tasks", task) for task in story.tasks(person, pause)]
        seen.main[story.project] = filed[0]["task_id"]
    look(here, seen)
    return seen


def look(here: Here, seen: Seen) -> None:
    for project in seen.main:
        seen.tasks[project] = [task for task in _all(here, project) if task["task_id"] not in seen.older]


def _all(here: Here, project: str) -> list[dict[str, Any]]:
    return here.every(f"/projects/{project}/tasks", "tasks")


def until_over(
    here: Here, seen: Seen, limit_seconds: float, changed: Callable[[], None], died: Callable[[], str | None]
) -> None:
    """Returns when all main tasks are closed or the time is up; raises Failure if a process has died meanwhile."""
    while not seen.over and seen.seconds < limit_seconds:
        if _heard(here, seen):
            look(here, seen)
            changed()
        if seen.answers is not None:
            seen.answers.look(seen.tasks[seen.answers.project])
        ended = died()
        if ended is not None:
            raise Failure(f"{ended}.", "See its log in the demo's directory.")
    seen.finished = time.monotonic()
    # Waits until no agent works: an unnecessary start after the end would count, too.
    until = time.monotonic() + QUIET_WITHIN_SECONDS
    while seen.over and time.monotonic() < until and here.get("/status")["running"]:
        _heard(here, seen)


def _heard(here: Here, seen: Seen) -> bool:
    """Waits briefly for an event. Whether there was one."""
    heard = here.get("/events", after=seen.after, wait_seconds=LOOK_SECONDS)
    seen.after = heard["last"]
    for event in heard["events"]:
        if event["kind"] == FAILED:
            # The team itself does not fail: something on this machine prevents its work, and the log says what.
            agent = event["agent_id"]
            [launch, *_] = here.get("/launches", agent_id=agent)["launches"]
            log = here.get(f"/launches/{launch['launch_id']}/log")["text"].strip()
            last = log.splitlines()[-1] if log else launch.get("exit_error") or "nothing"
            raise Failure(
                f"{agent} cannot work on this machine. Its process printed: {last}", "Check this machine: toryo doctor"
            )
    return bool(heard["events"])

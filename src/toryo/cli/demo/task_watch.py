"""Watches the demo's tasks until all are closed (`cli/task_following.py`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from toryo.cli.command_context import Here
from toryo.cli.demo.answers import Answers
from toryo.cli.demo.stories import Story, Task
from toryo.cli.exit_codes import Failure
from toryo.cli.task_following import Following, newest_event
from toryo.domain.tasks import CLOSED

FAILED = "agent.cooling_down"
QUIET_WITHIN_SECONDS = 5


@dataclass
class Seen(Following):
    """The state of the stories: their main tasks, and every task of their projects."""

    main: dict[str, str] = field(default_factory=dict)
    """The main task of each project."""
    older: frozenset[str] = frozenset()
    """The tasks that were there before: a directory that is used again also has those of the last run."""
    answers: Answers | None = None
    """What a person does meanwhile."""

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


def file_tasks(here: Here, stories: Sequence[Story], pause: float) -> Seen:
    """Files every story's main tasks, in progress at once, and writes to agents: a person does that at the beginning.

    `pause`: seconds between two steps of an agent.
    """
    before = Following(time.monotonic())
    before.look(here, [story.project for story in stories])
    older = frozenset(task["task_id"] for tasks in before.tasks.values() for task in tasks)
    person = here.get("/me")["person_id"]
    seen = Seen(time.monotonic(), after=newest_event(here), older=older)
    for story in stories:
        for agent, text in story.says.items():
            here.send("POST", f"/projects/{story.project}/chats/{agent}/messages", {"content": text})
        filed = [here.send("POST", f"/projects/{story.project}/tasks", task) for task in story.tasks(person, pause)]
        seen.main[story.project] = filed[0]["task_id"]
    look(here, seen)
    return seen


def look(here: Here, seen: Seen) -> None:
    seen.look(here, seen.main)
    for project, tasks in seen.tasks.items():
        seen.tasks[project] = [task for task in tasks if task["task_id"] not in seen.older]


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
    heard = seen.hear(here)
    for event in heard:
        if event["kind"] == FAILED:
            # The team itself does not fail: something on this machine prevents its work, and the log says what.
            agent = event["agent_id"]
            [launch, *_] = here.get("/launches", agent_id=agent)["launches"]
            log = here.get(f"/launches/{launch['launch_id']}/log")["text"].strip()
            last = log.splitlines()[-1] if log else launch.get("exit_error") or "nothing"
            raise Failure(
                f"{agent} cannot work on this machine. Its process printed: {last}", "Check this machine: toryo doctor"
            )
    return bool(heard)

"""Checks the demo: every task completed, every file correct, and no unnecessary start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toryo.block_reasons import in_words
from toryo.cli import events
from toryo.cli.command_context import Here
from toryo.cli.demo.answers import REVIEW
from toryo.cli.demo.stories import Happened, Story, Task
from toryo.cli.demo.task_watch import Seen
from toryo.cli.output import seconds_between

LOOKING = frozenset({"task.fetched", "task.waiting"})
"""Events that do not justify a start. A useful session changes a task or says something."""
_CHANGES = ("task.", "conversation.", "delegation.completed", "message.sent")


@dataclass(frozen=True)
class Start:
    """One process: its agent, why it was started, how long it was signed in, and its changes by kind of event."""

    agent: str
    project: str
    task: str | None
    reason: str
    seconds: float | None
    changes: dict[str, int]

    @property
    def idle(self) -> bool:
        return not self.changes


@dataclass(frozen=True)
class Outcome:
    """How one story ended."""

    story: Story
    tasks: list[Task]
    made: list[str]
    wrong: list[str]
    conversations: list[Task] = field(default_factory=list)

    @property
    def completed(self) -> int:
        return sum(task["status"] == "completed" for task in self.tasks)

    @property
    def ok(self) -> bool:
        return not self.wrong


@dataclass(frozen=True)
class Verdict:
    seconds: float
    stories: list[Outcome]
    starts: list[Start] = field(default_factory=list)

    @property
    def filed(self) -> int:
        return sum(len(story.tasks) for story in self.stories)

    @property
    def completed(self) -> int:
        return sum(story.completed for story in self.stories)

    @property
    def wrong(self) -> list[str]:
        stories = [f"{each.story.name}: {what}" for each in self.stories for what in each.wrong]
        return stories + [
            f"{start.agent} was started for no reason ({start.reason})" for start in self.starts if start.idle
        ]

    @property
    def ok(self) -> bool:
        return not self.wrong

    def document(self, directory: Path) -> dict[str, Any]:
        """The demo's answer for scripts."""
        return {
            "ok": self.ok,
            "success": self.ok,
            "seconds": round(self.seconds, 2),
            "directory": str(directory),
            "stories": [
                {
                    "name": outcome.story.name,
                    "project": outcome.story.project,
                    "ok": outcome.ok,
                    "wrong": outcome.wrong,
                    "tasks": list(outcome.tasks),
                    "conversations": outcome.conversations,
                    "files": [str(directory / outcome.story.project / name) for name in outcome.made],
                }
                for outcome in self.stories
            ],
            "starts": [
                {
                    "agent_id": start.agent,
                    "project_id": start.project,
                    "task_id": start.task,
                    "reason": start.reason,
                    "seconds": start.seconds,
                    "changes": start.changes,
                    "idle": start.idle,
                }
                for start in self.starts
            ],
            "idle_starts": sum(start.idle for start in self.starts),
        }


def judge(here: Here, seen: Seen, stories: Sequence[Story], directory: Path, since: int) -> Verdict:
    """Checks the tasks, the files and the events after `since`, and collects the problems."""
    seconds = seen.seconds
    launches = {story.project: _launches(here, story.project, since) for story in stories}
    outcomes = [_outcome(here, story, seen, directory / story.project, launches[story.project]) for story in stories]
    # By launch: the number of changes and messages of its session, by kind.
    counted: dict[str, Counter[str]] = {}
    for event in _events(here, since):
        kind = event["kind"]
        if event["launch_id"] and kind.startswith(_CHANGES) and kind not in LOOKING:
            counted.setdefault(event["launch_id"], Counter())[kind.removeprefix("task.")] += 1
    changes = {launch: dict(kinds) for launch, kinds in counted.items()}
    in_order = sorted((each for found in launches.values() for each in found), key=lambda each: each["ordered_at"])
    starts = [_start(launch, changes.get(launch["launch_id"], {})) for launch in in_order]
    return Verdict(seconds, outcomes, starts)


def _outcome(here: Here, story: Story, seen: Seen, directory: Path, launches: list[Task]) -> Outcome:
    tasks = seen.tasks[story.project]
    made = [name for name in story.promised if (directory / name).is_file()]
    by_people = seen.answers.by_people if seen.answers is not None else frozenset[str]()
    wrong = [_not_completed(task) for task in tasks if task["status"] != "completed" and task["approval"] != "rejected"]
    if not (story.in_git and REVIEW in by_people):
        wrong += [f"{name} is missing" for name in story.promised if name not in made]
    # The conversations of a project with their messages, oldest first.
    found = here.get(f"/projects/{story.project}/conversations")["conversations"]
    shown = [here.get(f"/conversations/{each['conversation_id']}") for each in reversed(found)]
    talks: list[Task] = [{**each["conversation"], "messages": each["messages"]} for each in shown]
    happened = Happened(directory, tasks, launches, talks, by_people)
    return Outcome(story, tasks, made, wrong or story.check(happened), talks)


def _not_completed(task: Task) -> str:
    """The task, its status, and the first line of the reason."""
    said = in_words((task.get("blocked_reason") or task.get("error") or task.get("summary") or "").strip())
    return f"{task['title']!r} is {task['status']}" + (f": {said.splitlines()[0]}" if said else "")


def _launches(here: Here, project: str, since: int) -> list[Task]:
    """The launches of one project that were ordered after an event, in order."""
    ordered = {event["launch_id"] for event in _events(here, since, project_id=project) if event.get("launch_id")}
    found = here.get("/launches", project_id=project)["launches"]
    return sorted((each for each in found if each["launch_id"] in ordered), key=lambda each: each["ordered_at"])


def _events(here: Here, after: int, **only: str) -> list[dict[str, Any]]:
    return events.all_after(here, after, only)[0]


def _start(launch: Task, changes: dict[str, int]) -> Start:
    return Start(
        agent=launch["agent_id"],
        project=launch["project_id"],
        task=launch.get("task_id"),
        reason=launch["reason"],
        seconds=seconds_between(launch.get("signed_in_at"), launch.get("ended_at")),
        changes=changes,
    )

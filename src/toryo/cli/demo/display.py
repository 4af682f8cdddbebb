"""The output of the demo: a live tree of tasks (plain lines without a terminal), then the results."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from toryo.cli import output, task_following
from toryo.cli.command_context import Here
from toryo.cli.demo.stories import STORIES, Task
from toryo.cli.demo.task_watch import Seen
from toryo.cli.demo.verdict import Verdict
from toryo.cli.why import why_lines
from toryo.domain.tasks import CLOSED
from toryo.operations.launches import reason_texts

if TYPE_CHECKING:
    from rich.console import Group
    from rich.tree import Tree

STATUS_WIDTH = 14


class Progress:
    """`changed` is called after each read; it draws the tree or prints which tasks have moved."""

    def __init__(self, seen: Seen, *, live: bool) -> None:
        self._seen = seen
        self._live = live
        self._lines = task_following.Lines(seen, output.say, [story.project for story in STORIES])
        self._notes: list[str] = []

    @contextmanager
    def shown(self) -> Iterator[None]:
        if not self._live:
            self.changed()
            yield
            return
        from rich.live import Live

        with Live(get_renderable=self._drawn, console=output.messages(), refresh_per_second=8):
            yield

    def changed(self) -> None:
        if self._live:
            return
        for tasks in self._seen.tasks.values():
            for task in tasks:
                self._lines.changed(task)

    def told(self, line: str) -> None:
        """What waits for a person, and who settled it."""
        self._notes.append(line)
        if not self._live:
            self._lines.told(line)

    def _drawn(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        notes = [Text(line, "dim" if line.startswith(" ") else "yellow") for line in self._notes]
        return Group(self._tree(), *([Text(), *notes] if notes else []))

    def _tree(self) -> Tree:
        from rich.tree import Tree

        tree = Tree(f"[bold]Toryo demo[/]  {self._seen.seconds:.1f} s", guide_style="dim")
        for story in STORIES:
            branch = tree.add(f"[bold]{story.name}[/]")
            if story.project in self._seen.tasks:
                for task in self._seen.roots(story.project):
                    self._grow(branch, task)
        return tree

    def _grow(self, branch: Tree, task: Task) -> None:
        from rich.text import Text

        mark, style = output.status(task["status"])
        taken = output.seconds_between(task.get("started_at"), task.get("completed_at"))
        # No space: the number stays with its unit when the line wraps.
        line = Text.assemble(
            (f"{mark:<{STATUS_WIDTH}}", style),
            f" {output.on_one_line(task['title'])}",
            (f"  {task['assignee_id'] or 'nobody'}", "cyan"),
            ("" if taken is None else f"  {taken:.1f}s", "dim"),
        )
        below = branch.add(line)
        for part in self._seen.parts(task):
            self._grow(below, part)


def result(verdict: Verdict) -> None:
    """The final tables: files, launches, conversations and problems."""
    console = output.console()
    console.print()
    output.table(
        ("STORY", "TASKS", "FILES", "RESULT"),
        [
            (
                outcome.story.name,
                f"{outcome.completed}/{len(outcome.tasks)}",
                ", ".join(outcome.made),
                "✔" if outcome.ok else "✘",
            )
            for outcome in verdict.stories
        ],
        empty="",
    )
    console.print()
    output.table(
        ("START", "AGENT", "PROJECT", "WHY", "SECONDS", "CHANGES"),
        [
            (
                number,
                start.agent,
                start.project,
                reason_texts.in_short(start.reason),
                "" if start.seconds is None else f"{start.seconds:.1f}",
                "none (idle)" if start.idle else ", ".join(_times(*change) for change in start.changes.items()),
            )
            for number, start in enumerate(verdict.starts, 1)
        ],
        empty="No agent was started.",
    )
    console.print()
    for conversation in (each for story in verdict.stories for each in story.conversations):
        output.done(f"Conversation between {conversation['initiator_id']} and {conversation['partner_id']}:")
        for message in conversation["messages"]:
            output.done(f"  {message['from_agent_id']}: {message['content']}")
        console.print()
    for line in verdict.wrong:
        output.done(f"✘ {line}")
    idle = sum(start.idle for start in verdict.starts)
    mark = "✔" if verdict.ok else "✘"
    output.done(
        f"{mark} {verdict.completed} of {verdict.filed} tasks completed in {verdict.seconds:.1f} s with "
        f"{len(verdict.starts)} launches, {idle} of them idle"
    )


def _times(kind: str, number: int) -> str:
    words = kind.replace(".", " ")
    return words if number == 1 else f"{words} x{number}"


def stuck(here: Here, seen: Seen, limit_seconds: float) -> None:
    """After the time limit: which tasks are still open, and why no agent works on them."""
    output.say(f"Not finished after {limit_seconds:.0f} s. Still open:")
    left = [each for tasks in seen.tasks.values() for each in tasks if each["status"] not in CLOSED]
    for task in left:
        output.say(f"  {task['title']} ({task['status']}, {task['assignee_id'] or 'nobody'})")
    for agent in dict.fromkeys(each["assignee_id"] for each in left if each["assignee_id"]):
        for line in why_lines(here.get(f"/agents/{agent}/why")):
            output.say(f"  {line}")


def where(directory: Path, data: Path) -> None:
    typed, at = output.program(), shlex.quote(str(data))
    output.done("", f"The files are in {directory}. To look at the history again, run this in another terminal:")
    output.commands(f"  {typed} up --data-dir {at}")
    output.done("and in another one:")
    output.commands(
        *(
            f"  {typed} {each} --data-dir {at}"
            for each in ("events --after 0", "task list --project translation", "why lead")
        )
    )


def say_removed() -> None:
    output.done("", "The files were removed. To keep them, choose a directory:")
    output.commands(f"  {output.program()} demo --dir DIR")

"""Which tasks of a toryo.yaml do not start by themselves, and what starts them: told before and after it is applied."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from toryo.cli import output, task_lookup
from toryo.cli.manifest import Task
from toryo.domain.tasks import Start
from toryo.domain.texts import one_line

NAMED = 3
"""How many tasks are named of each kind."""
WAITING = {
    "backlog": ("is in the backlog", "are in the backlog", "task move TASK todo"),
    "unassigned": ("has no assignee", "have no assignee", "task edit TASK --assignee AGENT"),
    "person": ("is for a person", "are for people", "task move TASK in_progress"),
    "manual": ("starts when you start it", "start when you start them", "task move TASK in_progress"),
}
"""Why a task does not start by itself, of one and of several, and the command that changes it."""
HOW_TO_START_ALL = "To let them start by themselves, add to the settings of {project}: start: when_ready"


@dataclass(frozen=True)
class Waiting:
    """Tasks of one project that do not start by themselves, for one reason of `WAITING`."""

    project: str
    reason: str
    titles: list[str]

    def document(self) -> dict[str, Any]:
        return {**asdict(self), "command": f"toryo {WAITING[self.reason][2]}"}


def waiting(
    tasks: Iterable[tuple[Task, Mapping[str, Any] | None]], setting: Callable[[str], str], people: Collection[str]
) -> list[Waiting]:
    """Of tasks of the file, each with the one on the server that it means. `setting`: how a project starts its tasks;
    `people`: the agents that are persons. What only follows such a task starts by itself."""
    found: dict[tuple[str, str], list[str]] = {}
    for task, there in tasks:
        reason = _reason(task, there, setting, people)
        if reason is not None:
            found.setdefault((task.project, reason), []).append(task.title)
    return [Waiting(project, reason, titles) for (project, reason), titles in found.items()]


def _reason(
    task: Task, there: Mapping[str, Any] | None, setting: Callable[[str], str], people: Collection[str]
) -> str | None:
    known = there or {}
    status, assignee = known.get("status", task.status or "todo"), task.assignee or known.get("assignee_id")
    if there is not None and status not in ("backlog", "todo"):
        return None  # it was started
    if status == "backlog":
        return "backlog"
    if assignee is None:
        return None if known.get("agent_type") or known.get("pool") else "unassigned"
    if task_lookup.is_anyone(assignee):
        return None  # the first free agent starts it, in every project
    if assignee in people:
        return "person"
    if status == "in_progress" or known.get("review_of"):
        return None
    start = task.start or known.get("start") or setting(task.project)
    return None if start == Start.WHEN_READY.value else "manual"


def told(found: Sequence[Waiting]) -> Iterator[str]:
    """For each project and reason a line, and the command."""
    for each in found:
        count = len(each.titles)
        one, several, command = WAITING[each.reason]
        named = ", ".join(f"“{one_line(title)}”" for title in each.titles[:NAMED])
        more = f" and {count - NAMED} more" if count > NAMED else ""
        tasks = "1 task does not start by itself" if count == 1 else f"{count} tasks do not start by themselves"
        yield f"{tasks}: {named}{more} {one if count == 1 else several}."
        yield f"  {output.program()} {command}"
        if each.reason == "manual":
            yield f"  {HOW_TO_START_ALL.format(project=each.project)}"

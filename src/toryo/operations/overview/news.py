"""What happened while a person was away, task by task: completed, failed, asked, decided, merged, and what it cost.

The overview has the counts (`home.py`); this is read when somebody looks at them one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import AwareDatetime, Field
from typing_extensions import TypedDict

from toryo.domain import usages
from toryo.domain.events import Event
from toryo.domain.projects import Status
from toryo.domain.times import DAY, Millis, iso, of_datetime
from toryo.operations.calls import schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result

What = Literal["completed", "failed", "cancelled", "asked", "blocked", "decided", "sent_back", "merged", "discarded"]

_WHAT: dict[str, What] = {
    "task.completed": "completed",
    "task.failed": "failed",
    "task.cancelled": "cancelled",
    "task.approval_asked": "asked",
    "task.blocked": "blocked",
    "task.approved": "decided",
    "task.rejected": "decided",
    "task.unblocked": "decided",
    "task.retried": "decided",
    "worktree.changes_requested": "sent_back",
    "worktree.merged": "merged",
    "worktree.discarded": "discarded",
}
_PAGE = 1_000
_MOST_EVENTS = 20_000
"""Of each project: events older than these are not read."""
_MOST_TASKS = 200


class ShowNews(Parameters):
    project_id: Id | None = Field(None, description="Only this project.")
    since: AwareDatetime | None = Field(None, description="Since when you have been away; default: your last visit.")


class NewsMove(TypedDict):
    """Something that happened to a task; `sequence` is the number of its event."""

    sequence: int
    at: str
    what: What
    actor_id: str
    by_person: bool
    reason: str | None


class TaskNews(TypedDict):
    """`cost_usd` and `tokens`: what launches for it, as their main task, have used since."""

    task_id: str
    title: str
    project_id: str
    status: schemas.StatusName
    assignee_id: str | None
    cost_usd: float | None
    tokens: int
    moves: list[NewsMove]


class News(Result):
    """`since` is null where nobody was away. Not `complete`: there is more than is told."""

    since: str | None
    tasks: list[TaskNews]
    complete: bool


@operation(
    "show_news",
    grant=Grant.PERSON,
    parameters=ShowNews,
    route=Route("GET", "/news"),
    tool=False,
    reads=True,
)
def show_news(call: Call, wanted: ShowNews) -> News:
    """What happened since your last visit, by task: the one that changed last comes first."""
    since = of_datetime(wanted.since) if wanted.since is not None else call.tx.glances.last_visit(call.agent.id)
    if since is None:
        return {"success": True, "since": None, "tasks": [], "complete": True}
    projects = _projects(call, wanted.project_id)
    complete, moves = True, dict[str, list[Event]]()
    for project_id in projects:
        found = _since(call, project_id, since)
        complete = complete and len(found) < _MOST_EVENTS
        for event in reversed(found):  # the oldest first
            if event.kind in _WHAT and event.task_id is not None:
                moves.setdefault(event.task_id, []).append(event)
    tasks = sorted(call.tx.tasks.find_all(moves), key=lambda task: -moves[task.id][-1].sequence)
    spent = call.tx.glances.spent_by_task(projects, since, usages.day_of(since - DAY))
    return {
        "success": True,
        "since": iso(since),
        "tasks": [
            {
                "task_id": task.id,
                "title": task.title,
                "project_id": task.project_id,
                "status": task.status.value,
                "assignee_id": task.assignee_id,
                "cost_usd": spent.get(task.id, (None, 0))[0],
                "tokens": spent.get(task.id, (None, 0))[1],
                "moves": [_move(each) for each in moves[task.id]],
            }
            for task in tasks[:_MOST_TASKS]
        ],
        "complete": complete and len(tasks) <= _MOST_TASKS,
    }


def _projects(call: Call, only: str | None) -> Sequence[str]:
    if only is not None:
        return [call.project(only).id]
    visible = visibility.visible_projects(call)
    going_on = [project.id for project in call.tx.projects.all() if project.status is not Status.ARCHIVED]
    return going_on if visible is None else [each for each in going_on if each in visible]


def _since(call: Call, project_id: str, since: Millis) -> list[Event]:
    """A project's events after an instant, the newest first."""
    return [event for page in _pages(call, project_id, since) for event in page if event.at > since]


def _pages(call: Call, project_id: str, since: Millis) -> Iterator[list[Event]]:
    """Backwards from the newest: no more is read than what happened since, and one page."""
    before: int | None = None
    for _ in range(_MOST_EVENTS // _PAGE):
        page = call.tx.events.newest(_PAGE, project_id=project_id, before=before)
        yield page
        if len(page) < _PAGE or page[-1].at <= since:
            return
        before = page[-1].sequence


def _move(event: Event) -> NewsMove:
    reason = event.data.get("reason")
    return {
        "sequence": event.sequence,
        "at": iso(event.at),
        "what": _WHAT[event.kind],
        "actor_id": event.actor_id,
        "by_person": bool(event.by_person),
        "reason": reason if isinstance(reason, str) else None,
    }

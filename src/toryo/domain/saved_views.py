"""Saved views: a view of a project as somebody has narrowed it, under a name, for themselves or for everybody."""

from __future__ import annotations

from enum import StrEnum

from toryo.domain import task_filters
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.shape import AgentId, ProjectId
from toryo.domain.task_filters import TaskFilter
from toryo.domain.tasks import CLOSED, Status
from toryo.domain.times import Millis

MOST = 50
"""Views of one project that one person may save."""
OPEN = tuple(each for each in Status if each not in CLOSED)


class View(StrEnum):
    BOARD = "board"
    LIST = "list"
    TIMELINE = "timeline"
    GRAPH = "graph"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class SavedView:
    """`q` and `arranged` are `q` and `by` of the view's address: what is shown, and how."""

    id: str
    project_id: ProjectId
    person_id: AgentId
    """Who saved it."""
    name: str
    view: View
    q: str
    arranged: str | None
    everybody: bool
    created_at: Millis


def counted_filter(saved: SavedView) -> TaskFilter | None:
    """The tasks that a view is about: of those that match, the open ones, unless it says which statuses. None: it is
    not about tasks."""
    if saved.view is View.AUDIT:
        return None
    if saved.view is View.GRAPH:
        return TaskFilter(statuses=OPEN, root_id=saved.arranged)
    found = task_filters.parse(saved.q)
    return found if found.statuses else replace(found, statuses=OPEN)

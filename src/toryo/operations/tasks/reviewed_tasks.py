"""Which task reviews the work of which: shown with both, for people."""

from __future__ import annotations

from toryo.domain.tasks import Task
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call

MOST = 20


def reviews_of(call: Call, task: Task) -> list[schemas.TaskOfReview]:
    """The tasks in which agents review its work, or did, the newest first."""
    asked = task.questions_ever > 0  # a review is a question
    return [_shown(each) for each in call.tx.tasks.newest_reviews(task.id, MOST)] if asked else []


def reviewed_in(call: Call, task: Task) -> schemas.TaskOfReview | None:
    """The task whose work is reviewed in this one."""
    reviewed = call.tx.tasks.find(task.review_of) if task.review_of is not None else None
    return _shown(reviewed) if reviewed is not None else None


def _shown(task: Task) -> schemas.TaskOfReview:
    return {
        "task_id": task.id,
        "title": task.title,
        "status": task.status.value,
        "assignee_id": task.assignee_id,
    }

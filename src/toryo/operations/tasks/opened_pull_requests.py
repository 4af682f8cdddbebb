"""What people see of the pull request of a task's work. `operations/worktrees/pull_requests.py` opens it."""

from __future__ import annotations

from toryo.domain.worktrees import WorktreeJob
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call


def of(call: Call, task_id: str) -> schemas.PullRequest | None:
    return as_answer(call.tx.worktrees.pull_requests([task_id]).get(task_id))


def as_answer(job: WorktreeJob | None) -> schemas.PullRequest | None:
    told = job.pull_request if job is not None else None
    return {"url": told["url"], "number": told["number"], "state": told["state"]} if told is not None else None

"""Removes worktrees that are no longer needed, and cancels worktree jobs whose Coordinator does not come back.

Worktrees with work that exists nowhere else are skipped: a person merges or discards them. Only those of reviewers go
with what they have changed: it is never merged. The Coordinator checks again before it removes anything.
"""

from __future__ import annotations

from functools import partial

from toryo.domain import projects
from toryo.domain.fast_dataclasses import replace
from toryo.domain.tasks import Task
from toryo.domain.times import iso
from toryo.domain.worktrees import CLEAN_AFTER, LOST_AFTER, Kind, Worktree, WorktreeJob
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.worktrees import pull_requests, worktree_locks

WORKTREES = "worktrees"
MOST = 20
"""Worktree jobs that one round sends."""


def tidy(call: Call) -> int:
    """How many worktree jobs were sent or cancelled."""
    given_up = sum(each_fenced(call, WORKTREES, call.tx.worktrees.unfinished(), partial(_give_up, call)))
    sent = 0
    for done in each_fenced(call, WORKTREES, call.tx.worktrees.open(), partial(_clean, call)):
        sent += done
        if sent >= MOST:
            break
    return given_up + sent


def _clean(call: Call, worktree: Worktree) -> bool:
    task = call.tx.tasks.find(worktree.task_id)
    if task is None or not _can_go(call, task, worktree):
        return False
    worktree_locks.send(call, worktree, Kind.DISCARD if task.closed and task.review_of is not None else Kind.CLEAN)
    return True


def _give_up(call: Call, job: WorktreeJob) -> bool:
    """Notifies the waiting caller and frees the task's files, so that another Coordinator may start."""
    seen = worktree_locks.seen_at(call, job.coordinator_id)
    if call.now - max(seen or 0, job.created_at) < LOST_AFTER:
        return False
    trouble = f"Coordinator {job.coordinator_id} has not called since {iso(seen) if seen else 'ever'}. Start it."
    answer = {**pull_requests.known(job), "trouble": trouble, "given_up": True}
    call.tx.worktrees.save_job(job, replace(job, finished_at=call.now, done=False, answer=answer))
    call.tx.hint(WORK, f"worktree_job:{job.id}")
    return True


def _can_go(call: Call, task: Task, worktree: Worktree) -> bool:
    """Whether its task ended long ago without changes, or its project is archived, and nothing else prevents its
    removal.
    """
    if worktree.trouble is not None or not (_is_over(call, task, worktree) or _archived(call, task)):
        return False
    if worktree_locks.is_away(call, worktree.coordinator_id) or worktree_locks.moving_job(call, worktree) is not None:
        return False
    return worktree_locks.at_work(call, [task.id]) is None


def _is_over(call: Call, task: Task, worktree: Worktree) -> bool:
    unused = not worktree.changed or task.review_of is not None
    return task.closed and unused and call.now - task.moved_at >= CLEAN_AFTER


def _archived(call: Call, task: Task) -> bool:
    project = call.tx.projects.find(task.project_id)
    return project is not None and project.status is projects.Status.ARCHIVED

"""What keeps the worktrees of an archived project from being removed: it is told as long as the project is archived.
Once that goes on, nothing removes work that is not merged, and people are told what there is to review.
"""

from __future__ import annotations

from toryo.domain.agents import SYSTEM
from toryo.domain.fast_dataclasses import replace
from toryo.domain.projects import Project
from toryo.domain.worktrees import Kind, Worktree, WorktreeJob
from toryo.operations.calls.call import Call


def counts(call: Call, job: WorktreeJob, worktree: Worktree) -> bool:
    """Whether what a job has reported still prevents something: the project may go on by the time of the report."""
    return job.kind is not Kind.CLEAN or not worktree.changed or not call.project(job.project_id).active


def forget(call: Call, project: Project) -> None:
    """Of a project that goes on. What something else has reported stays."""
    for each in call.tx.worktrees.open():
        if each.project_id != project.id or each.trouble is None:
            continue
        job = call.tx.worktrees.newest(Kind.CLEAN, each.task_id, SYSTEM)
        if job is not None and (job.answer or {}).get("trouble") == each.trouble:
            call.tx.worktrees.put(replace(each, trouble=None, updated_at=call.now))

"""Jobs about worktrees that people or agents have asked for, handed to the Coordinator that has the files."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from typing_extensions import TypedDict

from toryo.domain.fast_dataclasses import replace
from toryo.domain.worktrees import Kind, WorktreeJob
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.calls.results import JsonObject
from toryo.operations.worktrees import merge_queue


class Job(TypedDict):
    """A worktree job for a Coordinator. `name` and `email` are the author of a merge."""

    job_id: str
    kind: schemas.WorktreeJobKind
    task_id: str
    project_id: str
    path: str
    branch: str
    working_directory: str
    asked_by: str
    name: str
    email: str
    options: JsonObject


def jobs_for(call: Call, coordinator_id: str, running: Collection[str] | None) -> tuple[list[Job], list[str]]:
    """What people ask of this Coordinator, once; again where the answer was lost or it has forgotten about it. And the
    jobs of the merge queue that it has taken and that are no longer wanted."""
    given: list[Job] = []
    unwanted: list[str] = []
    for job in call.tx.worktrees.jobs_for(coordinator_id):
        forgotten = running is not None and job.id not in running
        if job.kind is Kind.QUEUE_MERGE and not merge_queue.is_wanted(call, job):
            if job.taken_at is None:
                continue  # `merge_queue.advance` ends it
            unwanted.append(job.id)
            if forgotten:  # again, to hear what it had merged before it was killed
                given.extend(each_fenced(call, "claim_starts", [job], partial(_hand_out_worktree_job, call)))
        elif job.lost(call.now) or forgotten:
            given.extend(each_fenced(call, "claim_starts", [job], partial(_hand_out_worktree_job, call)))
    return given, unwanted


def _hand_out_worktree_job(call: Call, job: WorktreeJob) -> Job:
    call.tx.worktrees.save_job(job, replace(job, taken_at=call.now))
    return _shown_worktree_job(call, job)


def _shown_worktree_job(call: Call, job: WorktreeJob) -> Job:
    worktree, project = call.tx.worktrees.find(job.task_id), call.tx.projects.find(job.project_id)
    assert project is not None
    # The author of a merge: name, and the address if an owner has entered one.
    person, account = call.tx.agents.find(job.asked_by), call.tx.people.account(job.asked_by)
    name = person.name if person is not None else ""
    return {
        "job_id": job.id,
        "kind": job.kind.value,
        "task_id": job.task_id,
        "project_id": job.project_id,
        "path": worktree.path if worktree is not None else "",
        "branch": worktree.branch if worktree is not None else "",
        "working_directory": project.working_directory,
        "asked_by": job.asked_by,
        "name": name,
        "email": (account.email if account is not None else None) or "",
        "options": {**(job.options or {}), **_what_passes(call, job)},
    }


def _what_passes(call: Call, job: WorktreeJob) -> dict[str, list[str]]:
    """The reviews whose branches keep nothing: they begin at the work that is reviewed, and are removed by themselves.
    So who removes work does not count it as kept there."""
    if job.kind not in (Kind.CLEAN, Kind.DISCARD):
        return {}
    names = [each.task_id for each in call.tx.worktrees.open() if each.project_id == job.project_id]
    return {"reviews": sorted(each.id for each in call.tx.tasks.find_all(names) if each.review_of is not None)}

"""What people do with the work that a task left in its git worktree: look at it, merge it, throw it away.

The files are on a Coordinator's machine: what is asked here is a worktree job of that Coordinator, whose answer is
waited for by its id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NotRequired

from pydantic import Field

from toryo.deeds import Blank, deed
from toryo.domain.errors import Code, Refusal
from toryo.domain.texts import quoted
from toryo.domain.wording import say
from toryo.domain.worktrees import Kind, State, Worktree, WorktreeJob
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls import schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later, Parameters, Route, operation
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cursor_of, key_of, paged
from toryo.operations.calls.results import Result
from toryo.operations.calls.wire import wire
from toryo.operations.tasks import opened_pull_requests, requested_changes
from toryo.operations.worktrees import pull_requests, worktree_locks, worktree_requests


class OneTask(Parameters):
    task_id: Id = Field(description="The task.")


class InProject(Parameters):
    project_id: Id = Field(description="The project.")


class WorktreeResult(Result):
    worktree: schemas.Worktree


USUAL = 100


class ListWorktrees(Paged):
    project_id: Id = Field(description="The project.")
    state: State | None = Field(None, description="Only worktrees of this state.")


class WorktreesResult(Page):
    worktrees: list[schemas.Worktree]


class WorktreeJobResult(Result):
    worktree_job: schemas.WorktreeJob


class Asked(Result):
    job_id: str
    task_ids: NotRequired[list[str]]


@operation(
    "list_worktrees",
    grant=Grant.PERSON,
    parameters=ListWorktrees,
    route=Route("GET", "/projects/{project_id}/worktrees"),
    tool=False,
    reads=True,
)
def list_worktrees(call: Call, wanted: ListWorktrees) -> WorktreesResult:
    """The worktrees of a project's tasks, newest first: open ones, merged and discarded ones; 100 a page."""
    project, limit = call.project(wanted.project_id), wanted.limit or USUAL
    key = key_of(wanted.cursor, int, str)
    before = (key[0], key[1]) if key is not None else None
    found = call.tx.worktrees.of_project(project.id, limit + 1, before, wanted.state)
    more = cursor_of(found[limit - 1].created_at, found[limit - 1].task_id) if len(found) > limit else None
    answer: WorktreesResult = {"success": True, "worktrees": worktree_requests.as_answer(call, found[:limit])}
    return paged(answer, more)


@operation(
    "show_worktree",
    grant=Grant.PERSON,
    parameters=OneTask,
    route=Route("GET", "/tasks/{task_id}/worktree"),
    tool=False,
    reads=True,
)
def show_worktree(call: Call, wanted: OneTask) -> WorktreeResult:
    """Where a task's work stands, and how much of it there is."""
    found = worktree_requests.worktree_of(call, call.task(wanted.task_id))
    return {"success": True, "worktree": worktree_requests.as_answer(call, [found])[0]}


class AskDiff(OneTask):
    context: int = Field(3, ge=0, le=1000, description="Unchanged lines around each change.")


@operation(
    "diff_task",
    grant=Grant.PERSON,
    parameters=AskDiff,
    route=Route("POST", "/tasks/{task_id}/worktree/diff", 202),
    tool=False,
)
def diff_task(call: Call, wanted: AskDiff) -> Asked:
    """Ask for what a task has changed, committed or not, also after it was merged; the worktree job's answer has it."""
    worktree = worktree_requests.worktree_of(call, call.task(wanted.task_id))
    options = worktree_requests.diff_options(worktree, wanted.context)
    return {"success": True, "job_id": worktree_requests.ask(call, worktree, Kind.DIFF, options).id}


class MergeTask(OneTask):
    into: str | None = Field(None, min_length=1, max_length=250, description="The branch; default: where it started.")
    message: Lines | None = Field(None, min_length=1, max_length=10_000, description="Of the merge commit.")
    below: bool = Field(True, description="Whether what its subtasks changed is merged before it.")
    anyway: bool = Field(
        False,
        description="Also while changes to it are requested and not made yet, if it has changed since its checks "
        "passed, and onto a base that was moved by nobody, as far as that was told.",
    )


@operation(
    "merge_task",
    grant=Grant.WRITER,
    parameters=MergeTask,
    route=Route("POST", "/tasks/{task_id}/worktree/merge", 202),
    tool=False,
)
def merge_task(call: Call, wanted: MergeTask) -> Asked:
    """Merge what a task (and its subtasks, dependencies first) has changed. A conflict changes nothing and is told.
    With the project setting `pull_requests: open`, it opens a pull request instead."""
    task = call.task(wanted.task_id)
    call.enter(task.project_id)
    project = call.project(task.project_id)
    found = worktree_requests.to_merge(call, task, below=wanted.below)
    _refuse_scattered(found)
    if not wanted.anyway:
        _refuse_sent_back(call, found)
    worktree_locks.refuse_at_work(call, found)
    order = [
        {
            "task_id": each.task_id,
            "path": each.path,
            "title": worktree_requests.title_of(call, each),
            "base": each.base_commit,
            "into": each.base_branch,
            **({"accepts": each.moved_base["commit"]} if wanted.anyway and each.moved_base is not None else {}),
        }
        for each in found
    ]
    options: dict[str, Any] = {"into": wanted.into, "message": wanted.message, "order": order}
    if wanted.anyway:
        options["anyway"] = True
    kind = pull_requests.kind_of_merge(project)
    if kind is Kind.PULL_REQUEST:
        options |= pull_requests.words(call, project, task, found, wanted.message)
    job = worktree_requests.ask(call, found[-1], kind, options)
    return {"success": True, "job_id": job.id, "task_ids": [each.task_id for each in found]}


@operation(
    "discard_task_work",
    grant=Grant.WRITER,
    parameters=OneTask,
    route=Route("POST", "/tasks/{task_id}/worktree/discard", 202),
    tool=False,
)
def discard_task_work(call: Call, wanted: OneTask) -> Asked:
    """Throw away what a task has changed: its directory and branch. The answer says how to get the commits back."""
    task = call.task(wanted.task_id)
    call.enter(task.project_id)
    worktree = worktree_requests.worktree_of(call, task)
    if not worktree.kept:
        worktree = worktree_requests.open_worktree(call, task)
    worktree_locks.refuse_at_work(call, [worktree])
    return {"success": True, "job_id": worktree_requests.ask(call, worktree, Kind.DISCARD, None).id}


class OneWorktreeJob(Parameters):
    job_id: Id = Field(description="What was asked.")
    wait_seconds: int = Field(0, ge=0, le=LONGEST_WAIT_SECONDS, description="How long to wait for its answer.")


@operation(
    "show_worktree_job",
    grant=Grant.PERSON,
    parameters=OneWorktreeJob,
    route=Route("GET", "/worktree-jobs/{job_id}"),
    tool=False,
    reads=True,
    waits=True,
)
def show_worktree_job(call: Call, wanted: OneWorktreeJob) -> WorktreeJobResult | Later:
    """What became of a worktree job: its answer, once its Coordinator has reported it."""
    job = call.tx.worktrees.job(wanted.job_id)
    if job is None or not visibility.sees(call, job.project_id):
        raise Refusal(
            Code.WORKTREE_JOB_NOT_FOUND,
            say("There is no worktree job {job_id}.", job_id=wanted.job_id),
            say(
                "{deed:Request a new one: …, merge or discard.|Try again.}", deed=deed("review", task_id=Blank("TASK"))
            ),
        )
    if not job.over and call.may_wait:
        return Later(frozenset({f"worktree_job:{job.id}"}))
    return {"success": True, "worktree_job": _as_answer(job)}


# --- what is not merged -----------------------------------------------------------------------------------------------


def _refuse_scattered(found: Sequence[Worktree]) -> None:
    """One worktree job is done on one machine."""
    elsewhere = next((worktree for worktree in found if worktree.coordinator_id != found[-1].coordinator_id), None)
    if elsewhere is not None:
        raise Refusal(
            Code.NOT_NOW,
            say(
                "The work of task {task_id} is on Coordinator {coordinator_id}, that of {other_task} on "
                "{other_coordinator}.",
                task_id=elsewhere.task_id,
                coordinator_id=elsewhere.coordinator_id,
                other_task=found[-1].task_id,
                other_coordinator=found[-1].coordinator_id,
            ),
            say("Merge them one by one, subtasks first{deed:: …|.}", deed=deed("merge_alone", task_id=Blank("ID"))),
            task_id=elsewhere.task_id,
        )


def _refuse_sent_back(call: Call, found: Sequence[Worktree]) -> None:
    """What a person has sent back is not merged by mistake while the changes are being made."""
    asked = requested_changes.standing(call, [worktree.task_id for worktree in found])
    for worktree in found:
        if (changes := asked.get(worktree.task_id)) is None:
            continue
        raise Refusal(
            Code.NOT_NOW,
            say(
                "Changes to {title} were requested, and {changes} ({task_id}) is not finished.",
                title=quoted(worktree_requests.title_of(call, worktree)),
                changes=quoted(changes.title),
                task_id=changes.id,
            ),
            say(
                "Wait until it is finished, or merge it as it is{deed:: …|.}",
                deed=deed("merge", task_id=found[-1].task_id, anyway=True),
            ),
            task_id=worktree.task_id,
            changes_requested=changes.id,
        )


def _as_answer(job: WorktreeJob) -> schemas.WorktreeJob:
    answer: Any = job.answer  # as it was reported, which was validated then
    if job.pull_request is not None:
        answer = {**answer, "pull_request": opened_pull_requests.as_answer(job)}
    return {**_of_job(job), "answer": answer}


_of_job = wire(WorktreeJob, schemas.WorktreeJob, "answer", job_id="id", asked_at="created_at")

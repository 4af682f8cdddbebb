"""What people do with the work that a task left in its git worktree: look at it, merge it, throw it away.

The files are on a Coordinator's machine: what is asked here is a worktree job of that Coordinator, whose answer is
waited for by its id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

from pydantic import Field

from toryo.domain import worktrees
from toryo.domain.errors import Code, Refusal
from toryo.domain.tasks import Task
from toryo.domain.times import iso, iso_or_none
from toryo.domain.wording import constant, say
from toryo.domain.worktrees import Kind, State, Worktree, WorktreeJob
from toryo.operations.calls import schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later, Parameters, Route, operation
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cursor_of, key_of, paged
from toryo.operations.calls.results import Result
from toryo.operations.worktrees import worktree_locks


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
    answer: WorktreesResult = {"success": True, "worktrees": [_shown(each) for each in found[:limit]]}
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
    return {"success": True, "worktree": _shown(_worktree(call, call.task(wanted.task_id)))}


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
    """Ask for what a task has changed, committed or not; the worktree job's answer has it."""
    worktree = _open(call, call.task(wanted.task_id))
    return {"success": True, "job_id": _ask(call, worktree, Kind.DIFF, {"context": wanted.context}).id}


class MergeTask(OneTask):
    into: str | None = Field(None, min_length=1, max_length=250, description="The branch; default: where it started.")
    message: Lines | None = Field(None, min_length=1, max_length=10_000, description="Of the merge commit.")
    below: bool = Field(True, description="Whether what its subtasks changed is merged before it.")


@operation(
    "merge_task",
    grant=Grant.WRITER,
    parameters=MergeTask,
    route=Route("POST", "/tasks/{task_id}/worktree/merge", 202),
    tool=False,
)
def merge_task(call: Call, wanted: MergeTask) -> Asked:
    """Merge what a task (and its subtasks, dependencies first) has changed. A conflict changes nothing and is told."""
    task = call.task(wanted.task_id)
    call.enter(task.project_id)
    found = _to_merge(call, task, below=wanted.below)
    _refuse_scattered(found)
    worktree_locks.refuse_at_work(call, found)
    order = [
        {
            "task_id": each.task_id,
            "path": each.path,
            "title": _title(call, each),
            "base": each.base_commit,
            "into": each.base_branch,
        }
        for each in found
    ]
    options = {"into": wanted.into, "message": wanted.message, "order": order}
    job = _ask(call, found[-1], Kind.MERGE, options)
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
    worktree = _open(call, task)
    worktree_locks.refuse_at_work(call, [worktree])
    return {"success": True, "job_id": _ask(call, worktree, Kind.DISCARD, None).id}


class OneWorktreeJob(Parameters):
    job_id: Id = Field(description="What was asked.")
    wait_seconds: int = Field(0, ge=0, le=45, description="How long to wait for its answer.")


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
            "Request a new one: toryo task diff TASK, merge or discard.",
        )
    if not job.over and call.may_wait:
        return Later(frozenset({f"worktree_job:{job.id}"}))
    return {"success": True, "worktree_job": _told(job)}


# --- what may be asked -----------------------------------------------------------------------------------------------


def _worktree(call: Call, task: Task) -> Worktree:
    found = call.tx.worktrees.find(task.id)
    if found is None:
        raise Refusal(
            Code.WORKTREE_NOT_FOUND,
            say("Task {task_id} has no worktree.", task_id=task.id),
            "In a project with isolation=worktree, a task gets one when it is first started (toryo project edit "
            "PRJ --set isolation=worktree).",
            task_id=task.id,
        )
    return found


def _open(call: Call, task: Task) -> Worktree:
    found = _worktree(call, task)
    if not found.open:
        merged = found.state is worktrees.State.MERGED
        how = (
            say(
                "The work of task {task_id} was already merged into {branch}.",
                task_id=task.id,
                branch=found.merged_into,
            )
            if merged
            else say("The work of task {task_id} was already discarded.", task_id=task.id)
        )
        raise Refusal(
            Code.WORKTREE_NOT_FOUND,
            how,
            "There is nothing to do.",
            task_id=task.id,
        )
    return found


def _to_merge(call: Call, task: Task, *, below: bool) -> list[Worktree]:
    """The open worktrees of a task and of what is below it: what others depend on before them, the task last."""
    if not below:
        return [_open(call, task)]
    tree = call.tree_state(task).tree
    inside = {each.id: each for each in (task, *tree.descendants(task))}
    found = {worktree.task_id: worktree for worktree in call.tx.worktrees.of(inside) if worktree.open}
    if not found:
        _open(call, task)
    return [found[each] for each in _in_order(inside, tree.depends_on) if each in found]


def _in_order(tasks: Mapping[str, Task], dependencies: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Deepest first, what others depend on before them."""
    done: dict[str, None] = {}

    def visit(task_id: str) -> None:
        if task_id in done or task_id not in tasks:
            return
        for dependency in dependencies.get(task_id, ()):
            visit(dependency)
        done[task_id] = None

    for task in sorted(tasks.values(), key=lambda one: (-one.depth, one.order)):
        visit(task.id)
    return list(done)


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
            "Merge them one by one, subtasks first: toryo task merge ID --only",
            task_id=elsewhere.task_id,
        )


def _ask(call: Call, worktree: Worktree, kind: Kind, options: dict[str, Any] | None) -> WorktreeJob:
    _refuse_away(call, worktree)
    return worktree_locks.send(call, worktree, kind, options)


def _refuse_away(call: Call, worktree: Worktree) -> None:
    """Raises Refusal if the Coordinator is not running, because a person would wait without an answer."""
    if not worktree_locks.is_away(call, worktree.coordinator_id):
        return
    at = worktree_locks.seen_at(call, worktree.coordinator_id)
    since = say("since {time}", time=iso(at)) if at is not None else constant("yet")
    raise Refusal(
        Code.NOT_NOW,
        say(
            "The files are on the machine of Coordinator {coordinator_id}, which has not called {since}.",
            coordinator_id=worktree.coordinator_id,
            since=since,
        ),
        say(
            "Start the Coordinator there (toryo coordinator), or look at the files yourself: git log {branch}, "
            "in {path}.",
            branch=worktree.branch,
            path=worktree.path,
        ),
        task_id=worktree.task_id,
    )


def _title(call: Call, worktree: Worktree) -> str:
    task = call.tx.tasks.find(worktree.task_id)
    return task.title if task is not None else worktree.task_id


def _shown(each: Worktree) -> schemas.Worktree:
    return {
        "task_id": each.task_id,
        "project_id": each.project_id,
        "coordinator_id": each.coordinator_id,
        "path": each.path,
        "directory": each.directory,
        "branch": each.branch,
        "base_branch": each.base_branch,
        "base_commit": each.base_commit,
        "head_commit": each.head_commit,
        "commits": each.commits,
        "files_changed": each.files_changed,
        "insertions": each.insertions,
        "deletions": each.deletions,
        "state": each.state.value,
        "merged_commit": each.merged_commit,
        "merged_into": each.merged_into,
        "trouble": each.trouble,
        "created_at": iso(each.created_at),
        "updated_at": iso(each.updated_at),
    }


def _told(job: WorktreeJob) -> schemas.WorktreeJob:
    return {
        "job_id": job.id,
        "kind": job.kind.value,
        "task_id": job.task_id,
        "project_id": job.project_id,
        "asked_by": job.asked_by,
        "asked_at": iso(job.created_at),
        "finished_at": iso_or_none(job.finished_at),
        "done": job.done,
        "answer": job.answer,
    }

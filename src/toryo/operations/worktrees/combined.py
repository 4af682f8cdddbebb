"""What several tasks have changed, as one diff: each Coordinator is asked for the diffs of its tasks, and their answers
are put together here. Who may see a task's changes may see them here too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain import combined_diffs
from toryo.domain.combined_diffs import Change, CombinedFile
from toryo.domain.errors import Code, Refusal
from toryo.domain.tasks import Task
from toryo.domain.wording import constant, say
from toryo.domain.worktrees import Kind, Worktree, WorktreeJob
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later, Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.worktrees import worktree_requests

MOST_TASKS = 20
MOST_LETTERS = 1_000_000
"""In all diffs together: each task has the same share of it."""
MOST_FILES = 1_000


class AskCombinedDiff(Parameters):
    project_id: Id = Field(description="The project.")
    task_ids: list[Id] = Field(min_length=1, max_length=MOST_TASKS, description="Tasks whose work is open.")
    below: bool = Field(True, description="Whether the work of their subtasks belongs to it.")
    context: int = Field(3, ge=0, le=1000, description="Unchanged lines around each change.")


class AskedTask(TypedDict):
    task_id: str
    job_id: str


class MissingDiff(TypedDict):
    """A task whose changes are not in the diff, and why."""

    task_id: str
    title: str
    message: str


class CombinedDiffAsked(Result):
    jobs: list[AskedTask]
    missing: list[MissingDiff]


class ShowCombinedDiff(Parameters):
    project_id: Id = Field(description="The project.")
    job_ids: list[Id] = Field(min_length=1, max_length=MOST_TASKS, description="The worktree jobs that were asked.")
    wait_seconds: int = Field(0, ge=0, le=45, description="How long to wait for their answers.")


class OrderedTask(TypedDict):
    """A task at its place in the proposed order of merging. `after` are tasks of this diff that are merged before it
    because it depends on them or has them as subtasks. `truncated`: its diff is too large to be shown in full."""

    worktree: schemas.Worktree
    after: list[str]
    conflicts_with: list[str]
    truncated: bool


class CombinedChange(TypedDict):
    """What one task does to a file. `head`: what git says above its lines (modes, ids of a binary file). `cut`: not all
    of its lines are in the part that is shown."""

    task_id: str
    path: str
    old_path: str | None
    status: str
    insertions: int
    deletions: int
    binary: bool
    head: str
    cut: bool


OverlapName = Literal["conflict", "unknown", "builds_on", "same", "apart"]


class Meeting(TypedDict):
    """How two tasks meet in a file; `task_ids` in the order in which they are merged. `lines`: first and last line,
    before the change; null: the file as a whole. `exact` is false where they started from different commits."""

    kind: OverlapName
    task_ids: list[str]
    lines: list[int] | None
    exact: bool


class CombinedHunk(TypedDict):
    """A hunk as git prints it, and the tasks that make exactly this change."""

    task_ids: list[str]
    text: str


class CombinedDiffFile(TypedDict):
    path: str
    overlap: OverlapName | None
    meetings: list[Meeting]
    changes: list[CombinedChange]
    hunks: list[CombinedHunk]


class CombinedDiffResult(Result):
    """`order`: the tasks in the order in which their work is best merged. `waiting`: jobs without an answer yet."""

    order: list[OrderedTask]
    missing: list[MissingDiff]
    waiting: list[str]
    files: list[CombinedDiffFile]
    files_in_all: int
    truncated: bool


@operation(
    "ask_combined_diff",
    grant=Grant.PERSON,
    parameters=AskCombinedDiff,
    route=Route("POST", "/projects/{project_id}/combined-diff", 202),
    tool=False,
)
def ask_combined_diff(call: Call, wanted: AskCombinedDiff) -> CombinedDiffAsked:
    """Ask for what several tasks of a project, and their subtasks, have changed and nobody has merged yet. Then read
    the combined diff with the jobs that this returns."""
    project = call.project(wanted.project_id)
    tasks = [_task_of(call, project.id, task_id) for task_id in dict.fromkeys(wanted.task_ids)]
    found: dict[str, Worktree] = {}
    missing: list[MissingDiff] = []
    for task in tasks:
        try:
            found |= {each.task_id: each for each in worktree_requests.to_merge(call, task, below=wanted.below)}
        except Refusal as refusal:  # somebody else has merged or discarded it in the meantime
            missing.append(_missing(task.id, task.title, refusal.message))
    if len(found) > MOST_TASKS:
        raise Refusal(
            Code.TOO_LARGE,
            say(
                "With their subtasks these are {count} tasks with changes; {most} can be combined.",
                count=len(found),
                most=MOST_TASKS,
            ),
            "Choose fewer tasks, or review some of them first.",
        )
    options = {"context": wanted.context, "most": MOST_LETTERS // max(1, len(found))}
    jobs: list[AskedTask] = []
    for worktree in found.values():
        try:
            job = worktree_requests.ask(call, worktree, Kind.DIFF, options)
            jobs.append({"task_id": worktree.task_id, "job_id": job.id})
        except Refusal as refusal:  # its Coordinator is away
            missing.append(_missing(worktree.task_id, worktree_requests.title_of(call, worktree), refusal.message))
    return {"success": True, "jobs": jobs, "missing": missing}


@operation(
    "show_combined_diff",
    grant=Grant.PERSON,
    parameters=ShowCombinedDiff,
    route=Route("GET", "/projects/{project_id}/combined-diff"),
    tool=False,
    reads=True,
    waits=True,
)
def show_combined_diff(call: Call, wanted: ShowCombinedDiff) -> CombinedDiffResult | Later:
    """The changes of several tasks as one diff: each hunk with its tasks, files in which tasks overlap first, and a
    proposed order of merging: dependencies first, then what conflicts with the fewest others."""
    project = call.project(wanted.project_id)
    jobs = [_job(call, project.id, job_id) for job_id in dict.fromkeys(wanted.job_ids)]
    waiting = [job for job in jobs if not job.over]
    if waiting and call.may_wait:
        return Later(frozenset(f"worktree_job:{job.id}" for job in waiting))
    return _combined(call, [job for job in jobs if job.over], [job.id for job in waiting])


def _combined(call: Call, jobs: Sequence[WorktreeJob], waiting: list[str]) -> CombinedDiffResult:
    found = {each.task_id: each for each in call.tx.worktrees.of(sorted({job.task_id for job in jobs})) if each.open}
    told = {job.task_id: job for job in jobs if job.done and job.task_id in found}
    changes: list[Change] = []
    cut: set[str] = set()
    for task_id, job in told.items():
        own, truncated = _share(job, MOST_LETTERS // len(told))
        changes.extend(own)
        if truncated:
            cut.add(task_id)
    before = _before(call, sorted(told))
    files = combined_diffs.combined(changes, before)
    against = combined_diffs.conflicts(files)
    waits_longest = sorted(told, key=lambda task_id: (found[task_id].updated_at, task_id))
    order = combined_diffs.merge_order(waits_longest, before, against)
    shown = {each["task_id"]: each for each in worktree_requests.shown(call, [found[each] for each in order])}
    return {
        "success": True,
        "order": [
            {
                "worktree": shown[each],
                "after": [other for other in order if other in before[each]],
                "conflicts_with": [other for other in order if other in against.get(each, ())],
                "truncated": each in cut,
            }
            for each in order
        ],
        "missing": [_not_told(call, job) for job in jobs if job.task_id not in told],
        "waiting": waiting,
        "files": [_file(each, order) for each in files[:MOST_FILES]],
        "files_in_all": len(files),
        "truncated": bool(cut) or len(files) > MOST_FILES,
    }


def _share(job: WorktreeJob, most: int) -> tuple[list[Change], bool]:
    """What is read of one Coordinator's answer, not more than its part of the whole; and whether that is less than it
    has changed."""
    answer = job.answer or {}
    patch, files = answer.get("patch"), answer.get("files")
    text = patch if isinstance(patch, str) else ""
    named = [each for each in files if isinstance(each, dict)] if isinstance(files, list) else []
    truncated = answer.get("truncated") is True or len(text) > most or answer.get("files_in_all", 0) != len(named)
    if len(text) > most:
        text = text[: text.rfind("\n", 0, most) + 1]
    return list(combined_diffs.changes_of(job.task_id, text, named, str(answer.get("base")))), truncated


def _before(call: Call, task_ids: Collection[str]) -> dict[str, set[str]]:
    """For each task those among these that it depends on, or that are below it: directly or through others."""
    tasks = call.tx.tasks.find_all(task_ids)
    first: dict[str, list[str]] = {}
    for tree in call.tx.tasks.trees({task.root_id for task in tasks}).values():
        for each in tree.tasks.values():
            first.setdefault(each.id, []).extend(tree.depends_on.get(each.id, ()))
            if each.parent_id is not None:
                first.setdefault(each.parent_id, []).append(each.id)
    return {task_id: _reached(task_id, first) & set(task_ids) for task_id in task_ids}


def _reached(task_id: str, first: Mapping[str, Sequence[str]]) -> set[str]:
    reached: set[str] = set()
    left = [*first.get(task_id, ())]
    while left:
        each = left.pop()
        if each not in reached:
            reached.add(each)
            left.extend(first.get(each, ()))
    return reached - {task_id}


def _file(file: CombinedFile, order: Sequence[str]) -> CombinedDiffFile:
    overlap = file.overlap
    return {
        "path": file.path,
        "overlap": None if overlap is None else overlap.value,
        "meetings": [
            {
                "kind": each.kind.value,
                "task_ids": sorted(each.tasks, key=order.index),
                "lines": None if each.lines is None else list(each.lines),
                "exact": each.exact,
            }
            for each in file.meetings
        ],
        "changes": [
            {
                "task_id": each.task_id,
                "path": each.path,
                "old_path": each.old_path,
                "status": each.status,
                "insertions": each.insertions,
                "deletions": each.deletions,
                "binary": each.binary,
                "head": each.head,
                "cut": each.cut,
            }
            for each in sorted(file.changes, key=lambda change: order.index(change.task_id))
        ],
        "hunks": [{"task_ids": sorted(each.tasks, key=order.index), "text": each.text} for each in file.hunks],
    }


def _not_told(call: Call, job: WorktreeJob) -> MissingDiff:
    task = call.tx.tasks.find(job.task_id)
    title = task.title if task is not None else job.task_id
    trouble = (job.answer or {}).get("trouble")
    if not job.done and isinstance(trouble, str) and trouble:
        return _missing(job.task_id, title, trouble)
    return _missing(job.task_id, title, constant("It was merged or discarded in the meantime."))


def _missing(task_id: str, title: str, message: str) -> MissingDiff:
    return {"task_id": task_id, "title": title, "message": message}


def _task_of(call: Call, project_id: str, task_id: str) -> Task:
    task = call.task(task_id)
    if task.project_id != project_id:
        raise Refusal(
            Code.TASK_NOT_FOUND,
            say("There is no task {task_id} in project {project_id}.", task_id=task_id, project_id=project_id),
            "Combine tasks of one project.",
            task_id=task_id,
        )
    return task


def _job(call: Call, project_id: str, job_id: str) -> WorktreeJob:
    job = call.tx.worktrees.job(job_id)
    if job is None or job.project_id != project_id or job.kind is not Kind.DIFF:
        raise Refusal(
            Code.WORKTREE_JOB_NOT_FOUND,
            say("There is no worktree job {job_id}.", job_id=job_id),
            "Ask for the combined diff again.",
        )
    return job

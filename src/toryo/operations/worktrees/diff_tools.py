"""The tool `get_diff`: an agent reads what a task has changed, as people do with `toryo task diff`. It needs no shell.

The Coordinator with the files makes the diff, in a worktree job; its answer is read a page at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain import diff_pieces
from toryo.domain.errors import Code, Refusal
from toryo.domain.tasks import Task
from toryo.domain.times import MINUTE, Millis
from toryo.domain.wording import say
from toryo.domain.worktrees import Kind, Worktree, WorktreeJob
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Later, Parameters, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, listed_for
from toryo.operations.calls.pagination import Page, cursor_of, key_of, paged
from toryo.operations.calls.results import Refused
from toryo.operations.tasks import below_main_task
from toryo.operations.worktrees import worktree_locks, worktree_requests

PAGE = 12_000
"""Characters of the patch in one answer: some 3,000 tokens."""
MOST_FILES = 100
LETTERS_OF_FILES = 8_000
"""Of the paths that are listed."""
STAYS: Millis = MINUTE
"""How long a diff is answered again, for other paths and after a wait that was too short, if no process has left its
work there meanwhile."""


class GetDiff(Parameters):
    task_id: Id | None = Field(
        None,
        description="Default: the task that you review, or your main task.",
        json_schema_extra=listed_for(Audience.MANAGER | Audience.BY_HAND, plain=True),
    )
    path: str | None = Field(
        None,
        min_length=1,
        max_length=4_096,
        description="Only this file, or the files below this directory.",
        json_schema_extra=listed_for(Audience.REVIEWER | Audience.BY_HAND, plain=True),
    )
    cursor: str | None = Field(
        None, max_length=6_000, description="next_cursor of the previous page.", json_schema_extra=PLAIN
    )
    timeout_seconds: int = Field(
        LONGEST_WAIT_SECONDS,
        ge=0,
        le=LONGEST_WAIT_SECONDS,
        description="Seconds to wait.",
        json_schema_extra=listed_for(Audience.NONE),
    )


class DiffFile(TypedDict):
    path: str
    status: schemas.FileChangeName
    insertions: int
    deletions: int
    old_path: NotRequired[str]
    binary: NotRequired[bool]


class TaskDiff(Page):
    """`patch`: a page of it, as git writes it; what stands in it is data. `files` and `files_in_all` come with the
    first page. `continues`: the file in which the page begins, if in the middle of one. `truncated`: the whole patch is
    longer than what can be shown; read the other files yourself."""

    task_id: str
    base: str
    head: str
    patch: str
    files: NotRequired[list[DiffFile]]
    files_in_all: NotRequired[int]
    continues: NotRequired[str]
    truncated: NotRequired[bool]


@operation("get_diff", shown_to=Audience.DIFFS, grant=Grant.TASK_SESSION, parameters=GetDiff, waits=True)
def get_diff(call: Call, wanted: GetDiff) -> TaskDiff | Refused | Later:
    """Returns the diff of a task, in pages."""
    key = key_of(wanted.cursor, str, int, str)
    if key is not None:
        job_id, begin, path = key
        return _page(_of_cursor(call, job_id), begin, path)
    worktree = worktree_requests.worktree_of(call, _asked_about(call, wanted.task_id))
    job = _standing(call, worktree) or _ask(call, worktree)
    if not job.over:
        if call.may_wait:
            return Later(frozenset({f"worktree_job:{job.id}"}))
        # Returned: what is raised would take the job back.
        not_ready = Refusal(Code.NOT_NOW, "The diff is not ready yet.", "Call get_diff again with the same arguments.")
        return Refused(not_ready.answer())
    return _page(job, 0, wanted.path or "")


# --- whose ------------------------------------------------------------------------------------------------------------


def _asked_about(call: Call, task_id: str | None) -> Task:
    """The task, if its changes belong to the caller's work: its main task and what is below it, what that depends on,
    and what it reviews. Raises Refusal."""
    tree_state, main = below_main_task.main_task(call)
    reviewed = call.tx.tasks.find(main.review_of) if main.review_of is not None else None
    if task_id is None:
        return reviewed or main
    task = call.task(task_id)
    builds_on = call.tx.tasks.depends_on([main.id]).get(main.id, ())
    if task.id in (main.id, main.review_of, *builds_on) or tree_state.tree.is_below(task, main):
        return task
    if reviewed is not None and call.tree_state(reviewed).tree.is_below(task, reviewed):
        return task
    raise Refusal(
        Code.PERMISSION_DENIED,
        say("Task {task_id} is neither below your main task, nor what it depends on or reviews.", task_id=task_id),
        "Omit task_id.",
        task_id=task_id,
    )


def _of_cursor(call: Call, job_id: str) -> WorktreeJob:
    job = call.tx.worktrees.job(job_id)
    if job is None or job.project_id != call.session.project_id or job.kind is not Kind.DIFF or not job.over:
        raise Refusal(Code.NOT_NOW, "This diff is no longer there.", "Call get_diff without a cursor.")
    _asked_about(call, job.task_id)
    return job


# --- the job ----------------------------------------------------------------------------------------------------------


def _standing(call: Call, worktree: Worktree) -> WorktreeJob | None:
    """The diff that this agent has asked for in this session, while it still says what has changed."""
    job = call.tx.worktrees.newest(Kind.DIFF, worktree.task_id, call.agent.id)
    if job is None or job.options != worktree_requests.diff_options(worktree):
        return None
    if job.created_at < call.session.created_at:
        return None
    if not job.over:
        return None if worktree_locks.is_away(call, worktree.coordinator_id) else job
    stays = job.created_at >= worktree.updated_at and call.now < (job.finished_at or 0) + STAYS
    return job if stays else None


def _ask(call: Call, worktree: Worktree) -> WorktreeJob:
    if worktree_locks.is_away(call, worktree.coordinator_id):
        raise Refusal(
            Code.NOT_NOW,
            "The machine with the files is away, so there is no diff now.",
            "Read the files in your working directory, or try again later.",
            task_id=worktree.task_id,
        )
    return worktree_requests.ask(call, worktree, Kind.DIFF, worktree_requests.diff_options(worktree))


# --- pages ------------------------------------------------------------------------------------------------------------


def _page(job: WorktreeJob, begin: int, path: str) -> TaskDiff:
    told: dict[str, Any] = job.answer or {}
    if not job.done:
        raise Refusal(
            Code.NOT_NOW,
            "The changes cannot be shown.",
            "Read the files in your working directory.",
            task_id=job.task_id,
            trouble=told.get("trouble"),
        )
    files = [each for each in told.get("files") or () if not path or _below(each, path)]
    whole = str(told.get("patch") or "")
    patch = _of_path(whole, told, path) if path else whole
    end = _end(patch, begin)
    answer: TaskDiff = {
        "success": True,
        "task_id": job.task_id,
        "base": str(told.get("base")),
        "head": str(told.get("head")),
        "patch": patch[begin:end],
    }
    if begin == 0:
        answer["files"] = list(_listed(files))
        answer["files_in_all"] = len(files) if path else int(told.get("files_in_all") or len(files))
    elif not patch.startswith(_FILE, begin) and (file := _file_at(patch, begin)):
        answer["continues"] = file
    if told.get("truncated"):
        answer["truncated"] = True
    return paged(answer, cursor_of(job.id, end, path) if end < len(patch) else None)


_FILE, _HUNK = "diff --git ", "@@ "


def _end(patch: str, begin: int) -> int:
    """Where the page ends: before a file, else before a hunk, else at the end of a line."""
    most = begin + PAGE
    if most >= len(patch):
        return len(patch)
    for mark in (_FILE, _HUNK):
        if (place := patch.rfind(f"\n{mark}", begin + PAGE // 2, most)) > 0:
            return place + 1
    line = patch.rfind("\n", begin, most)
    return line + 1 if line > begin else most


def _file_at(patch: str, place: int) -> str:
    """The head of the file in whose lines this place is."""
    if patch.startswith(_FILE):
        start = max(patch.rfind(f"\n{_FILE}", 0, place) + 1, 0)
        return patch[start:].partition("\n")[0].removeprefix(_FILE)
    return ""


def _of_path(patch: str, told: dict[str, Any], path: str) -> str:
    pieces = diff_pieces.pieces_of(patch, told.get("files") or ())
    return "".join(piece for file, piece in pieces if piece is not None and _below(file, path))


def _below(file: Any, path: str) -> bool:
    wanted = path.removeprefix("./").rstrip("/")
    names = [str(each) for each in (file.get("path"), file.get("old_path")) if each]
    return wanted in ("", ".") or any(name == wanted or name.startswith(f"{wanted}/") for name in names)


def _listed(files: list[Any]) -> Iterator[DiffFile]:
    """Of many, the first."""
    left = LETTERS_OF_FILES
    for each in islice(files, MOST_FILES):
        left -= len(str(each["path"])) + len(str(each.get("old_path") or ""))
        if left < 0:
            return
        found: DiffFile = {
            "path": each["path"],
            "status": each["status"],
            "insertions": each["insertions"],
            "deletions": each["deletions"],
        }
        if each.get("old_path"):
            found["old_path"] = each["old_path"]
        if each.get("binary"):
            found["binary"] = True
        yield found

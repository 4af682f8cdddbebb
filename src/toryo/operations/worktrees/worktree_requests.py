"""What may be asked about the worktrees of tasks, and of which Coordinator: what people look at, merge and discard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from toryo.deeds import Blank, deed, terminal
from toryo.domain.errors import Code, Refusal
from toryo.domain.tasks import Task
from toryo.domain.wording import say
from toryo.domain.worktrees import Kind, State, Worktree, WorktreeJob
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.wire import wire
from toryo.operations.tasks import opened_pull_requests, requested_changes, subtask_work
from toryo.operations.worktrees import reviews, worktree_locks

_GETS_ONE = say(
    "In a project with {deed:isolation=worktree|worktrees}, a task gets one when it is first started{deed: (…)}.",
    deed=deed("correct_project", project_id=Blank("PRJ"), settings={"isolation": "worktree"}),
)


def worktree_of(call: Call, task: Task) -> Worktree:
    found = call.tx.worktrees.find(task.id)
    if found is None:
        raise Refusal(
            Code.WORKTREE_NOT_FOUND,
            say("Task {task_id} has no worktree.", task_id=task.id),
            _GETS_ONE if call.actor.person else "Its files are in the working directory of the project.",
            task_id=task.id,
        )
    return found


def open_worktree(call: Call, task: Task) -> Worktree:
    found = worktree_of(call, task)
    if not found.open:
        refuse_closed(found)
    return found


def refuse_closed(worktree: Worktree) -> NoReturn:
    how = (
        say(
            "The work of task {task_id} was already merged into {branch}.",
            task_id=worktree.task_id,
            branch=worktree.merged_into,
        )
        if worktree.state is State.MERGED
        else say("The work of task {task_id} was already discarded.", task_id=worktree.task_id)
    )
    raise Refusal(Code.WORKTREE_NOT_FOUND, how, "There is nothing to do.", task_id=worktree.task_id)


def to_merge(call: Call, task: Task, *, below: bool) -> list[Worktree]:
    """The open worktrees of a task and of what is below it: what others depend on before them, the task last."""
    if not below:
        return [open_worktree(call, task)]
    tree = call.tree_state(task).tree
    inside = {each.id: each for each in (task, *tree.descendants(task))}
    found = {worktree.task_id: worktree for worktree in call.tx.worktrees.of(inside) if worktree.open}
    if not found:
        open_worktree(call, task)
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


def diff_options(worktree: Worktree, context: int = 3) -> dict[str, Any]:
    """What is asked of the Coordinator for the changes of a task: in its worktree, or those that came with its merge.
    Raises Refusal for work that was discarded."""
    if worktree.state is State.DISCARDED:
        refuse_closed(worktree)
    options: dict[str, Any] = {"context": context}
    if worktree.state is State.MERGED:
        merge = {"commit": worktree.merged_commit, "base": worktree.base_commit, "head": worktree.head_commit}
        options["merged"] = merge
    return options


MOST_WAITING = 40
"""Diffs that one person may have asked for and that no Coordinator has answered yet: two combined ones."""
MOST_KEPT = 20
"""Answered diffs of one task; older ones are forgotten when another is asked for."""


def ask(call: Call, worktree: Worktree, kind: Kind, options: dict[str, Any] | None) -> WorktreeJob:
    """A worktree job for the Coordinator with the files. Who only looks may ask, too: so a diff that waits already is
    not asked for again, and nobody has more than MOST_WAITING. Raises Refusal."""
    call.enter(worktree.project_id)
    _refuse_away(call, worktree)
    if kind is Kind.DIFF:
        waiting = [job for job in call.tx.worktrees.unfinished() if job.kind is Kind.DIFF]
        for job in waiting:
            if job.task_id == worktree.task_id and job.options == options and job.taken_at is None:
                return job
        _refuse_many(call, sum(job.asked_by == call.actor.id for job in waiting))
        call.tx.worktrees.forget(Kind.DIFF, worktree.task_id, MOST_KEPT)
    return worktree_locks.send(call, worktree, kind, options)


def _refuse_many(call: Call, waiting: int) -> None:
    if waiting < MOST_WAITING or not call.caller.is_person:
        return
    raise Refusal(
        Code.RATE_LIMITED,
        say("{count} diffs that you have asked for are not answered yet; the limit is {count}.", count=MOST_WAITING),
        "Wait until the Coordinator has answered some of them.",
        limit=MOST_WAITING,
        retry_after=5,
    )


def _refuse_away(call: Call, worktree: Worktree) -> None:
    """Raises Refusal if the Coordinator is not running, because a person would wait without an answer."""
    if not worktree_locks.is_away(call, worktree.coordinator_id):
        return
    raise Refusal(
        Code.NOT_NOW,
        worktree_locks.away(call, worktree.coordinator_id),
        say(
            "Start the Coordinator there{coordinator: (…)}, or look at the files yourself: git log {branch}, "
            "in {path}.",
            coordinator=terminal("coordinator"),
            branch=worktree.branch,
            path=worktree.path,
        )
        if worktree.open
        else say(
            "Start the Coordinator there{coordinator: (…)}, or look at the merge yourself: git show {commit}",
            coordinator=terminal("coordinator"),
            commit=worktree.merged_commit,
        ),
        task_id=worktree.task_id,
    )


def title_of(call: Call, worktree: Worktree) -> str:
    task = call.tx.tasks.find(worktree.task_id)
    return task.title if task is not None else worktree.task_id


def as_answer(call: Call, found: Sequence[Worktree]) -> list[schemas.Worktree]:
    reviewed = reviews.by_task(call, found)
    opened = call.tx.worktrees.pull_requests(each.task_id for each in found) if found else {}
    return [_one_as_answer(each, reviewed[each.task_id], opened.get(each.task_id)) for each in found]


def _one_as_answer(each: Worktree, reviewed: reviews.Reviewed, opened: WorktreeJob | None) -> schemas.Worktree:
    task, review = reviewed.task, reviewed.review
    shown = _of_worktree(each)
    shown["title"] = task.title if task is not None else each.task_id
    shown["assignee_id"] = task.assignee_id if task is not None else None
    shown["review"] = review.value if review is not None else None
    shown["changes_requested"] = requested_changes.as_answer(reviewed.changes)
    shown["pull_request"] = opened_pull_requests.as_answer(opened)
    return shown


_of_worktree = wire(
    Worktree,
    schemas.Worktree,
    *("title", "assignee_id", "review", "changes_requested", "pull_request"),
    unmerged=subtask_work.unmerged,
    trouble="told_trouble",
)

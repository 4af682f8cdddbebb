"""Work in worktrees that waits for a person."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.deeds import Word, deed
from toryo.domain.needs import Kind, Need
from toryo.domain.tasks import Task
from toryo.domain.wording import say
from toryo.domain.worktrees import Review, Worktree
from toryo.operations.overview.needs.merge_queues import returned_entries
from toryo.operations.overview.needs.view import BRIEF, View
from toryo.operations.worktrees import reviews


def changes(view: View) -> Iterator[Need]:
    changed = {worktree.task_id: worktree for worktree in view.call.tx.worktrees.open() if worktree.changed}
    here = {task.id for task in view.here(view.call.tx.tasks.find_all(sorted(changed)))}
    found = reviews.by_task(view.call, [each for each in changed.values() if each.task_id in here], view.human)
    returned = {entry.task_id for entry in returned_entries(view)} if found else set()
    for each in found.values():
        if each.task is None or each.task.id in returned:
            continue
        work = changed[each.task.id]
        if each.review is Review.TO_REVIEW or (each.review is Review.IN_PULL_REQUEST and work.trouble is not None):
            yield from _review(view, each.task, work)


def _review(view: View, task: Task, work: Worktree) -> Iterator[Need]:
    size = say(
        "Files changed: {files} (+{added} −{removed}){branch:, on branch …}.",
        files=work.files_changed,
        added=work.insertions,
        removed=work.deletions,
        branch=Word(work.branch),
    )
    yield from view.of_task(
        Kind.REVIEW,
        task,
        say("Review changes: {title}", title=task.title),
        work.told_trouble[:BRIEF] if work.told_trouble else size,
        deed("review", task_id=task.id),
        deed("merge", task_id=task.id),
        deed("discard", task_id=task.id),
        since=task.completed_at or task.moved_at,
    )

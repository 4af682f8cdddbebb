"""What merge queues cannot merge, and branches that neither a person nor Toryo has moved."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from toryo.deeds import deed
from toryo.domain import merge_queue
from toryo.domain.merge_queue import Entry
from toryo.domain.needs import Kind, Need
from toryo.domain.tasks import Status
from toryo.domain.wording import constant, say
from toryo.operations.overview.needs.view import BRIEF, View
from toryo.operations.tasks import requested_changes
from toryo.operations.worktrees import merge_queue_texts, worktree_locks


def returned_entries(view: View) -> list[Entry]:
    """What came back from a merge queue, and no agent corrects."""
    returned = [entry for entry in view.call.tx.merge_queue.returned() if entry.project_id in view.projects]
    if not returned:
        return []
    task_ids = sorted({entry.task_id for entry in returned})
    newest = view.call.tx.merge_queue.of_tasks(task_ids)
    still = {worktree.task_id for worktree in view.call.tx.worktrees.of(task_ids) if worktree.open}
    still -= requested_changes.standing(view.call, task_ids).keys()
    return [entry for entry in returned if entry.task_id in still and newest[entry.task_id].id == entry.id]


def entries(view: View) -> Iterator[Need]:
    """What came back from a merge queue, and queues that cannot go on."""
    returned = returned_entries(view)
    waiting = [each for each in view.call.tx.merge_queue.waiting() if each.project_id in view.projects]
    waiting = [each for each in waiting if each.trouble or _waits_for_a_coordinator(view, each)]
    tasks = {each.id: each for each in view.call.tx.tasks.find_all(sorted({e.task_id for e in (*returned, *waiting)}))}
    for entry in returned:
        task = tasks[entry.task_id]
        if task.status is not Status.COMPLETED:
            continue
        yield from view.of_task(
            Kind.MERGE_QUEUE,
            task,
            say(
                "Conflict in the merge queue: {title}"
                if entry.state is merge_queue.State.CONFLICT
                else "Not merged by the merge queue: {title}",
                title=task.title,
            ),
            merge_queue_texts.for_people(view.call, entry),
            deed("review", task_id=task.id),
            deed("add_to_merge_queue", task_id=task.id),
            deed("discard", task_id=task.id),
            since=entry.ended_at or entry.added_at,
        )
    lanes: dict[tuple[str, str, str], Entry] = {}
    for entry in waiting:
        lanes.setdefault((entry.project_id, *entry.lane), entry)
    for entry in lanes.values():
        task = tasks[entry.task_id]
        yield from view.of_task(
            Kind.MERGE_QUEUE,
            task,
            say("The merge queue cannot merge into {target}: {title}", target=entry.target, title=task.title),
            constant(entry.trouble[:BRIEF]) if entry.trouble else merge_queue_texts.obstacle(view.call, entry),
            deed("resume_merge_queue", project_id=entry.project_id),
            deed("remove_from_merge_queue", task_id=task.id),
            since=entry.added_at,
            about=f"{entry.project_id} {entry.coordinator_id} {entry.target}",
        )
    yield from _moved_bases(view, {(each.project_id, *each.lane) for each in lanes.values() if each.trouble})


def _moved_bases(view: View, told: Collection[tuple[str, str, str | None]]) -> Iterator[Need]:
    """Branches that neither a person nor Toryo has moved, so that nothing is merged into them. `told`: those of which
    a merge queue says so."""
    found = {each.base: each for each in reversed(view.call.tx.worktrees.open()) if each.moved_base is not None}
    here = [each for base, each in found.items() if each.project_id in view.projects and base not in told]
    tasks = {each.id: each for each in view.call.tx.tasks.find_all(sorted(each.task_id for each in here))}
    for each in here:
        assert each.moved_base is not None
        yield from view.of_task(
            Kind.MERGE_QUEUE,
            tasks[each.task_id],
            say("Merges into {target} are on hold until you review the branch", target=each.base_branch),
            constant(each.moved_base["words"]),
            deed("review", task_id=each.task_id),
            deed("merge", task_id=each.task_id, anyway=True),
            since=each.updated_at,
            to=view.owners(),
            about=" ".join(map(str, each.base)),
        )


def _waits_for_a_coordinator(view: View, entry: Entry) -> bool:
    """Whether an entry would be merged now if the Coordinator with its files were there."""
    if not worktree_locks.is_away(view.call, entry.coordinator_id):
        return False
    project = view.call.project(entry.project_id)
    return project.active and view.call.tx.merge_queue.queue(project.id).paused_at is None

"""How the work in a worktree stands with the people who review it. Decided once, here: what needs people, the list of
reviews and the page of a review read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.tasks import Status, Task
from toryo.domain.worktrees import Review, Worktree
from toryo.operations.calls.call import Call
from toryo.operations.tasks import above, requested_changes


@dataclass(frozen=True, slots=True)
class Reviewed:
    """`review` is None where there is nothing to review: no changes, merged or discarded ones, or those of a task that
    is itself a review."""

    task: Task | None
    review: Review | None
    changes: Task | None
    """The open task that makes the requested changes."""
    of_unfinished: bool = False
    """It waits for a review, and is a part of an agent's task that is blocked, put off or closed without success."""


def by_task(
    call: Call, found: Iterable[Worktree], human: Callable[[str | None], bool] | None = None
) -> dict[str, Reviewed]:
    """Of each of these worktrees, by its task. What belongs to a completed task is reviewed with it, and by nobody
    before an agent above has decided about it."""
    worktrees = {worktree.task_id: worktree for worktree in found}
    tasks = {task.id: task for task in call.tx.tasks.find_all(sorted(worktrees))}
    done = [task for task in tasks.values() if task.status is Status.COMPLETED and _holds(worktrees[task.id])]
    known = above.ancestors(call, done)
    changed = {each.task_id for each in call.tx.worktrees.of(known) if _holds(each)} if done else set()
    asked = requested_changes.standing(call, [task.id for task in done])
    queued = call.tx.merge_queue.waiting_among(task.id for task in done) if done else set()
    opened = call.tx.worktrees.pull_requests(task.id for task in done) if done else {}
    is_human = human or _humans(call, known)

    def of(worktree: Worktree) -> Reviewed:
        task = tasks.get(worktree.task_id)
        if task is None or not _holds(worktree) or task.review_of is not None:
            return Reviewed(task, None, None)
        if task.status is not Status.COMPLETED:
            return Reviewed(task, Review.AT_WORK, None)
        if task.id in asked:
            return Reviewed(task, Review.CHANGES_REQUESTED, asked[task.id])
        if task.id in queued:
            return Reviewed(task, Review.IN_MERGE_QUEUE, None)
        if task.id in opened and opened[task.id].has_opened(worktree):
            return Reviewed(task, Review.IN_PULL_REQUEST, None)
        if any(each.id in changed and each.status is Status.COMPLETED for each in above.over(task, known)):
            return Reviewed(task, Review.WITH_PARENT, None)
        if above.left_to_agent(task, known, is_human):
            return Reviewed(task, Review.LEFT_TO_AGENT, None)
        return Reviewed(task, Review.TO_REVIEW, None, above.unfinished(task, known, is_human))

    return {worktree.task_id: of(worktree) for worktree in worktrees.values()}


def _holds(worktree: Worktree) -> bool:
    return worktree.open and worktree.changed


def _humans(call: Call, known: dict[str, Task]) -> Callable[[str | None], bool]:
    ids = {task.assignee_id for task in known.values() if task.assignee_id is not None}
    humans = {agent.id for agent in call.tx.agents.find_all(ids) if agent.human}
    return lambda agent_id: agent_id in humans

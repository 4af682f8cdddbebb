"""Whether a task can be started, and what prevents it: used by the guards of moves and the facts of decisions.

The limit of parallel tasks is in `parallel_limit.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from toryo.domain import parallel_limit, pools
from toryo.domain.agents import Role
from toryo.domain.tasks import Approval, Start, Status, Task
from toryo.domain.tree_state import TreeState


class StartBlocker(StrEnum):
    """What prevents the start of a task (guard 1), in the order in which it is reported."""

    ANCESTOR_CLOSED = "ancestor_closed"
    PROJECT_NOT_ACTIVE = "project_not_active"
    NOT_APPROVED = "not_approved"
    DEPENDENCY = "dependency"
    NOT_BEFORE = "not_before"
    UNASSIGNED = "unassigned"
    ASSIGNEE_NOT_ACTIVE = "assignee_not_active"
    PARALLEL_LIMIT = "parallel_limit"


def hindrances(tree_state: TreeState, task: Task) -> Iterator[StartBlocker]:
    """What guard 1 finds; empty if the task may be started."""
    yield from _hindrances_of_task(tree_state, task)
    if task.assignee_id is None:
        yield StartBlocker.UNASSIGNED
    elif not tree_state.active_member(task.assignee_id):
        yield StartBlocker.ASSIGNEE_NOT_ACTIVE
    elif not parallel_limit.fits(tree_state, task):
        yield StartBlocker.PARALLEL_LIMIT


def _hindrances_of_task(tree_state: TreeState, task: Task) -> Iterator[StartBlocker]:
    if tree_state.tree.below_closed(task):
        yield StartBlocker.ANCESTOR_CLOSED
    if not tree_state.project.active:
        yield StartBlocker.PROJECT_NOT_ACTIVE
    if task.approval is not Approval.APPROVED:
        yield StartBlocker.NOT_APPROVED
    if tree_state.tree.open_dependencies(task):
        yield StartBlocker.DEPENDENCY
    if awaits_its_time(tree_state, task):
        yield StartBlocker.NOT_BEFORE


def awaits_its_time(tree_state: TreeState, task: Task) -> bool:
    """Whether the time before which it does not start has not come. Nothing is kept of a time that has; agents begin
    parts of their own tasks when they come to them; who polls a queue asks by the clock."""
    own = task.id in tree_state.tree.tasks and task.assignee_id is not None and not tree_state.tree.is_main(task)
    return task.not_before is not None and not task.for_queue and not own


def comes_due(tree_state: TreeState, task: Task) -> bool:
    """Whether it is in `todo`, and nothing keeps it from being given or started but its time."""
    return task.status is Status.TODO and {*_hindrances_of_task(tree_state, task)} == {StartBlocker.NOT_BEFORE}


def startable(tree_state: TreeState, task: Task) -> bool:
    """Whether it is in `todo` and guard 1 holds."""
    return task.status is Status.TODO and next(hindrances(tree_state, task), None) is None


def ready(tree_state: TreeState, task: Task) -> bool:
    """Whether it is in `todo`, not for a queue, and only the assignee (or the paused project) is open."""
    return (
        task.status is Status.TODO
        and not task.for_queue
        and not {*_hindrances_of_task(tree_state, task)} - {StartBlocker.PROJECT_NOT_ACTIVE}
    )


def claimable(tree_state: TreeState, task: Task) -> bool:
    """Whether it is a queue task that can be claimed now, or after its back-off."""
    return task.for_queue and task.status is Status.TODO and not {*_hindrances_of_task(tree_state, task)}


def will_be_claimed(tree_state: TreeState, task: Task) -> bool:
    """Whether it is a queue task that can be claimed now and its queue has an agent."""
    return claimable(tree_state, task) and task.agent_type in tree_state.served


def in_line(tree_state: TreeState, task: Task) -> bool:
    """Whether Toryo starts it when it is ready: its assignee is an agent, and it is no part of the agent's own task; or
    anyone who is free may take it."""
    if not task.in_line(tree_state.project.settings.start):
        return False
    if task.assignee_id is None:
        return True
    agent = tree_state.agents.get(task.assignee_id)
    waits = agent is not None and not agent.human
    return waits and (task.id not in tree_state.tree.tasks or tree_state.tree.is_main(task))


def has_agent(tree_state: TreeState, task: Task) -> bool:
    """Whether somebody can do it who is there: its assignee, or an agent that it may go to."""
    if task.assignee_id is None and task.pool is not None:
        return bool(pools.takers(tree_state, task))
    return tree_state.able(task.assignee_id)


def not_begun_above(tree_state: TreeState, task: Task) -> list[Task]:
    """The tasks above it that begin first: drafts, and those in `todo` that somebody has, or that were put back."""
    return [above for above in tree_state.tree.ancestors(task) if keeps_parts(above)]


def keeps_parts(task: Task) -> bool:
    """Whether its parts begin after it."""
    given = task.assignee_id is not None or task.pool is not None or task.start is Start.MANUAL
    return task.status is Status.BACKLOG or (task.status is Status.TODO and given)


def starts_by_itself(tree_state: TreeState, task: Task) -> bool:
    """Whether a task in line comes to its start although nobody does anything but the agents that work: what it needs
    is done, at work, or in line itself. Of what is in line in another tree, only what waits for nothing more."""
    seen, open_ones = {task.id}, [task]
    while open_ones:
        each = open_ones.pop()
        if each is not task and _at_work_or_queued(tree_state, each):
            continue
        elsewhere = each.id not in tree_state.tree.tasks
        comes = in_line(tree_state, each) and has_agent(tree_state, each) and each.approval is Approval.APPROVED
        if not comes or (elsewhere and each.dependencies_left):
            return False
        first = [] if elsewhere else not_begun_above(tree_state, each)
        left = [needed for needed in (*tree_state.tree.open_dependencies(each), *first) if needed.id not in seen]
        seen.update(needed.id for needed in left)
        open_ones += left
    return True


def _at_work_or_queued(tree_state: TreeState, task: Task) -> bool:
    if task.in_progress:
        agent = tree_state.agents.get(task.assignee_id or "")
        # A manager whose own part is in progress would wait for itself.
        own_part = agent is not None and agent.role is Role.MANAGER and task.id in tree_state.tree.tasks
        return tree_state.able(task.assignee_id) and not (own_part and not tree_state.tree.is_main(task))
    return task.id in tree_state.tree.tasks and will_be_claimed(tree_state, task)


def dispatchable(tree_state: TreeState, child: Task, manager_id: str) -> bool:
    """Whether a child is ready and its assignee is able and has room; unassigned: any able worker below the manager."""
    if not ready(tree_state, child) or (in_line(tree_state, child) and has_agent(tree_state, child)):
        return False
    if child.assignee_id is not None and tree_state.able(child.assignee_id):
        return parallel_limit.fits(tree_state, child)
    return any(
        parallel_limit.has_room(tree_state, able_worker.id, child)
        for able_worker in tree_state.able_workers(manager_id)
    )


def held_by_limit(tree_state: TreeState, child: Task, manager_id: str) -> bool:
    """Whether it is ready but no agent that could do it has room (unassigned: every able worker, at least one)."""
    if not ready(tree_state, child):
        return False
    if child.assignee_id is not None and tree_state.able(child.assignee_id):
        return not parallel_limit.fits(tree_state, child)
    workers = tree_state.able_workers(manager_id)
    return bool(workers) and not any(parallel_limit.has_room(tree_state, worker.id, child) for worker in workers)

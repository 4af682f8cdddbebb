"""The task that makes changes to completed work: for the same agent, starting from that work. A person requests it in a
review (`requesting_changes.py`), the merge queue when the work cannot be merged (`merge_queue.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from toryo import provider_options
from toryo.domain.agents import Agent, Role
from toryo.domain.creation_rules import Draft
from toryo.domain.errors import Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.tasks import Start, Status, Task
from toryo.operations.calls.call import Call
from toryo.operations.tasks import mutations, requested_changes

LONGEST_TITLE = 300


def assignee(call: Call, task: Task) -> str | None:
    """The one who has done it, if it is still a member."""
    if task.assignee_id is None:
        return None
    members = call.tx.agents.members_among(task.project_id, [task.assignee_id])
    return task.assignee_id if members else None


def solver(call: Call, task: Task, authors: Iterable[str | None]) -> str | None:
    """Who can resolve what a merge meets in the work of a task: a person whose task it is; else the first of its own
    agent, these, and the agents below its manager that may change files. Of a task that a person has given it is the
    manager of its agent, while the agent is a member. None: nobody."""
    own = call.tx.agents.find(task.assignee_id) if task.assignee_id is not None else None
    if own is not None and own.human:
        return assignee(call, task)
    above = own.reports_to if own is not None and assignee(call, task) is not None else None
    tree_state = call.tree_state(task, *filter(None, [above]))
    part = tree_state.tree.parent(task)
    manager = part.assignee_id if part is not None else above
    if own is not None and own.role is Role.MANAGER:
        manager = own.id
    below = tree_state.able_workers(manager) if manager is not None else []
    wanted = dict.fromkeys((task.assignee_id, *authors, *(agent.id for agent in below)))
    names = [each for each in wanted if each is not None]
    members = call.tx.agents.members_among(task.project_id, names)
    found = {agent.id: agent for agent in call.tx.agents.find_all(names) if agent.id in members and agent.active}
    return next((name for name in names if name in found and _may_change_files(found[name])), None)


def _may_change_files(agent: Agent) -> bool:
    return not agent.human and provider_options.changes_files(agent.provider, agent.started_with(agent.provider))


def make(
    call: Call,
    task: Task,
    title: str,
    text: str,
    builds_on: Sequence[str] = (),
    *,
    by: str | None = None,
    nobody: bool = False,
    merges: Sequence[str] = (),
    parent: Task | None = None,
    context: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Task, str | None]:
    """The new task, started if that is possible; and why it was not yet: then it is in line. `builds_on`: further tasks
    whose work it starts from. `by`: who makes the changes, if not the author; `nobody`: that is still to be found.
    `merges`: branches that are merged into its worktree at its start. `parent`: what it is a part of. `context`: what
    the agent is given besides."""
    draft = Draft(
        title=title[:LONGEST_TITLE],
        description=text,
        priority=task.priority,
        dependencies=tuple(dict.fromkeys((task.id, *builds_on))),
        assignee_id=None if nobody else by or assignee(call, task),
        agent_type=task.agent_type,
        context={**context, **requested_changes.context_for(task, merges)},
        start=Start.MANUAL,
    )
    project = call.project(task.project_id)
    [made] = mutations.create(call, project, parent, [draft], status=Status.TODO).values()
    call.event("worktree.changes_requested", task=task, data={"in": made.task.id})
    if draft.assignee_id is None:
        return made.task, None
    try:
        begun = mutations.move(call, call.tree_state(made.task), made.task, Status.IN_PROGRESS)
        return call.tx.tasks.save(begun, replace(begun, start=None)), None
    except Refusal as refusal:  # its agent has other work
        return call.tx.tasks.save(made.task, replace(made.task, start=Start.WHEN_READY)), refusal.message

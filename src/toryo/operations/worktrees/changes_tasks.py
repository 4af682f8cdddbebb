"""The task that makes changes to completed work: for the same agent, starting from that work. A person requests it in a
review (`requesting_changes.py`), the merge queue when the work cannot be merged (`merge_queue.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from toryo.domain.creation_rules import Draft
from toryo.domain.errors import Refusal
from toryo.domain.tasks import Status, Task
from toryo.operations.calls.call import Call
from toryo.operations.tasks import mutations, requested_changes

LONGEST_TITLE = 300


def assignee(call: Call, task: Task) -> str | None:
    """The one who has done it, if it is still a member."""
    if task.assignee_id is None:
        return None
    members = call.tx.agents.members_among(task.project_id, [task.assignee_id])
    return task.assignee_id if members else None


def make(call: Call, task: Task, title: str, text: str, builds_on: Sequence[str] = ()) -> tuple[Task, str | None]:
    """The new task, started if that is possible; and why it was not. `builds_on`: further tasks whose work it starts
    from."""
    draft = Draft(
        title=title[:LONGEST_TITLE],
        description=text,
        priority=task.priority,
        dependencies=tuple(dict.fromkeys((task.id, *builds_on))),
        assignee_id=assignee(call, task),
        agent_type=task.agent_type,
        context=requested_changes.context_for(task),
    )
    project = call.project(task.project_id)
    [made] = mutations.create(call, project, None, [draft], status=Status.TODO).values()
    call.event("worktree.changes_requested", task=task, data={"in": made.task.id})
    if draft.assignee_id is None:
        return made.task, None
    try:
        return mutations.move(call, call.tree_state(made.task), made.task, Status.IN_PROGRESS), None
    except Refusal as refusal:  # its agent has other work: it can be started later
        return made.task, refusal.message

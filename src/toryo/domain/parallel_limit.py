"""How many main tasks an agent may have in progress at once: `max_parallel_tasks`.

`_Room` in `operations/queue/batched.py` counts in the same way for a batch of polls.
"""

from __future__ import annotations

from toryo.domain.tasks import Task
from toryo.domain.tree_state import TreeState


def has_room(tree_state: TreeState, agent_id: str, but: str | None = None) -> bool:
    """Whether one more main task fits under `max_parallel_tasks`, not counting the task `but`."""
    return (
        len(tree_state.busy.get(agent_id, frozenset()) - {but or ""}) < tree_state.agents[agent_id].max_parallel_tasks
    )


def fits(tree_state: TreeState, task: Task) -> bool:
    """Whether an assigned task is within its assignee's limit; subtasks of the same agent are exempt."""
    assert task.assignee_id is not None
    return not tree_state.tree.is_main(task) or has_room(tree_state, task.assignee_id, task.id)

"""How many main tasks an agent may have in progress at once: `max_parallel_tasks`.

`_Room` in `operations/queue/batched.py` counts in the same way for a batch of polls.
"""

from __future__ import annotations

from toryo.domain.tasks import Task
from toryo.domain.tree_state import TreeState


def counted(tree_state: TreeState, agent_id: str, task: Task) -> frozenset[str]:
    """The agent's main tasks in progress that count when `task` is to start: not the task itself, nor what it is a part
    of. Work above waits for it; if that used up the agent's only place, neither could ever go on.
    """
    above = {each.id for each in tree_state.tree.ancestors(task)}
    return tree_state.busy.get(agent_id, frozenset()) - {task.id} - above


def has_room(tree_state: TreeState, agent_id: str, task: Task) -> bool:
    """Whether the agent may start it as a main task under `max_parallel_tasks`."""
    return len(counted(tree_state, agent_id, task)) < tree_state.agents[agent_id].max_parallel_tasks


def fits(tree_state: TreeState, task: Task) -> bool:
    """Whether an assigned task is within its assignee's limit; subtasks of the same agent are exempt."""
    assert task.assignee_id is not None
    return not tree_state.tree.is_main(task) or has_room(tree_state, task.assignee_id, task)

"""How many main tasks an agent may have in progress at once: `max_parallel_tasks`. What is in review does not count; if
it is sent back, the agent has one more than that until it has done one.

`_shares` in `operations/queue/polling.py` counts in the same way for tasks that stand alone.
"""

from __future__ import annotations

from toryo.domain.tasks import Task
from toryo.domain.tree_state import TreeState


def counted_tasks(tree_state: TreeState, agent_id: str, task: Task) -> frozenset[str]:
    """The agent's main tasks in progress that count when `task` is to start: not the task itself, nor what it is a part
    of, nor its parts. Work above waits for its parts; if it used up the agent's only place, neither could ever go on.

    In whatever order they start, those that wait for no other of them are never more than the limit.
    """
    tree = tree_state.tree
    busy = tree_state.busy.get(agent_id, frozenset()) - {task.id} - {each.id for each in tree.ancestors(task)}
    return busy - {each.id for each in tree.descendants(task)} if busy else busy


def has_room(tree_state: TreeState, agent_id: str, task: Task) -> bool:
    """Whether the agent may start it as a main task under `max_parallel_tasks`."""
    return len(counted_tasks(tree_state, agent_id, task)) < tree_state.agents[agent_id].max_parallel_tasks


def fits(tree_state: TreeState, task: Task) -> bool:
    """Whether an assigned task is within its assignee's limit; subtasks of the same agent are exempt."""
    assert task.assignee_id is not None
    return not tree_state.tree.is_main(task) or has_room(tree_state, task.assignee_id, task)

"""Tasks for anyone who is free: which agents could take one, and in which order those that are free are asked. Pure.

Who is free, and when one gives a task back, is in `operations/tasks/pools.py`; when a task may start at all, in
`workflow/line_rules.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from toryo.chosen_ids import words_of
from toryo.domain.agents import Agent, Kind, Role, superiors
from toryo.domain.fast_dataclasses import replace
from toryo.domain.tasks import Pool, Task
from toryo.domain.times import Millis
from toryo.domain.tree_state import TreeState
from toryo.domain.wording import Worded, constant, say


def of(capabilities: Iterable[str]) -> Pool:
    return Pool(tuple(dict.fromkeys(word for each in capabilities if (word := each.strip()))))


def written(assignee: str | None) -> Pool | None:
    """The pool that is written where an assignee stands; None: it is an agent, or nobody."""
    words = words_of(assignee or "")
    return None if words is None else Pool(tuple(words))


def takers(state: TreeState, task: Task) -> list[Agent]:
    """The agents that could do a task of a pool once they are free, by their ids: active workers of the project that a
    Coordinator starts, with all its capabilities; for a task of a manager, those below it."""
    manager, reports_to = manager_of(state, task), {agent.id: agent.reports_to for agent in state.team.values()}
    return [
        agent
        for _, agent in sorted(state.team.items())
        if able(agent, task)
        and agent.id in state.team_members
        and (manager is None or manager in superiors(agent.id, reports_to))
    ]


def able(agent: Agent, task: Task) -> bool:
    """Whether it could do the task in a project of which it is a member."""
    return task.pool is not None and suits(agent, task.pool)


def suits(agent: Agent, pool: Pool) -> bool:
    """Whether it could do tasks of the pool in a project of which it is a member."""
    return (
        agent.active
        and agent.managed
        and agent.role is Role.WORKER
        and agent.id not in pool.passed
        and set(pool.capabilities) <= set(agent.capabilities)
    )


def in_order(free: Iterable[str], with_a_line: Collection[str], last_starts: Mapping[str, Millis]) -> list[str]:
    """The agents that are free, by their ids, in the order in which they are asked: first those with nothing in their
    own line, then those whose last start is longest ago."""
    return sorted(free, key=lambda agent_id: (agent_id in with_a_line, last_starts.get(agent_id, 0), agent_id))


def manager_of(state: TreeState, task: Task) -> str | None:
    """The manager whose work it is a part of, or who has created it."""
    above = state.tree.tasks.get(task.parent_id or "")
    for agent_id in (above.assignee_id if above is not None else None, task.created_by):
        agent = state.team.get(agent_id or "") or state.agents.get(agent_id or "")
        if agent is not None and agent.kind is Kind.AI and agent.role is Role.MANAGER:
            return agent.id
    return None


def nobody(state: TreeState, task: Task) -> Worded:
    """Why no agent of the project could do a task of a pool."""
    pool = task.pool
    assert pool is not None
    workers = [
        each for each in state.team.values() if each.id in state.team_members and able(each, replace(task, pool=Pool()))
    ]
    words = ", ".join(pool.capabilities)
    if pool.passed and any(set(pool.capabilities) <= set(each.capabilities) for each in workers):
        return say("Nobody is left who could do it: {agents} could not begin it.", agents=", ".join(pool.passed))
    if not workers:
        return say("No worker of the project could do it: none is active and started by a Coordinator.")
    return say("No worker of the project could do it: none has the capabilities {words}.", words=words)


def not_taken(state: TreeState, task: Task) -> Worded | None:
    """What keeps a task of a pool: nobody could do it, or nobody is free for it. None: it is of no pool."""
    if task.pool is None or task.assignee_id is not None:
        return None
    return constant("Nobody who could do it is free.") if takers(state, task) else nobody(state, task)

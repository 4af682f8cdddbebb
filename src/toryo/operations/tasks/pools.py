"""Who of those that could take a task of a pool is free for it, and when one gives it back. Which agents could, and in
which order they are asked, is in `domain/pools.py`."""

from __future__ import annotations

from collections.abc import Sequence

from toryo import failures
from toryo.domain.agents import Agent
from toryo.domain.coordinators import is_gone
from toryo.domain.launches import Launch, Purpose
from toryo.domain.pools import in_order, suits
from toryo.domain.tasks import Pool, Task
from toryo.failures import Failure
from toryo.operations.calls.call import Call
from toryo.workflow import program_choice
from toryo.workflow.snapshot import Snapshot

NO_PLACE = "no_coordinator"
"""Of an agent that no Coordinator can start. No reason that people read: the task goes to another one."""

OF_AGENT = frozenset({Failure.QUOTA, Failure.NOT_LOGGED_IN, Failure.MODEL_NOT_AVAILABLE, Failure.COMMAND_NOT_FOUND})
"""Ends of a launch that speak against its agent, as long as nothing was done."""
PASSES = frozenset({Failure.QUOTA})
"""What is over by itself: until then the agent is in cooldown, and then it may take the task again."""


def free(call: Call, project_id: str) -> list[str]:
    """The agents of a project that have no main task in progress, in the order in which they are asked."""
    members = [agent.id for agent in call.tx.agents.find_all(call.tx.agents.members(project_id)) if agent.managed]
    busy = call.tx.tasks.busy(project_id, members)
    idle = [agent_id for agent_id in members if not busy.get(agent_id)]
    if len(idle) < 2:
        return idle
    waiting = call.tx.tasks.have_a_line(project_id, idle)
    last = call.tx.launches.last_starts(project_id, idle)
    return in_order(idle, waiting, last)


def suited(call: Call, project_id: str, agents: Sequence[Agent]) -> list[Pool]:
    """The pools with tasks in line of which one of these agents could do some."""
    found = call.tx.tasks.pools_in_line(project_id) if agents else ()
    return [pool for pool in found if any(suits(agent, pool) for agent in agents)]


def has_place(call: Call, snapshot: Snapshot, task: Task) -> bool:
    """Whether a Coordinator that is there could start the agent for this task, with one of its programs."""
    agent = snapshot.agent
    here = [seen.offer for seen in call.tx.coordinators.all() if not is_gone(seen.seen_at, call.now)]
    programs = list(program_choice.able(snapshot, Purpose.TASK, task.priority))
    return agent is not None and any(offer.lacks(agent, each) is None for offer in here for each in programs)


def is_given_back(call: Call, launch: Launch, error: str | None) -> Task | None:
    """The task that an agent took from a pool and could not begin, for a reason of its own: nothing was committed,
    changed, created or asked."""
    task = call.tx.tasks.find(launch.task_id or "")
    if task is None or task.pool is None or launch.purpose is not Purpose.TASK:
        return None
    if failures.class_of(error) not in OF_AGENT or not task.in_progress or task.assignee_id != launch.agent_id:
        return None
    worktree = call.tx.worktrees.find(task.id)
    touched = launch.signed_in_at is not None if worktree is None else worktree.changed
    return None if touched or task.children_ever or task.open_questions else task

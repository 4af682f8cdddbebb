"""The state of one tree of tasks, and of the people and programs around it: what rules about tasks look at.

Pure values. Whether a task can be started is decided in `task_readiness.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from toryo.domain.agents import Agent, Role, superiors
from toryo.domain.projects import Project
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Status, Task


@dataclass(frozen=True)
class TreeState:
    project: Project
    tree: Tree
    agents: Mapping[str, Agent]
    """The agents that matter here: assignees, their superiors, and everybody below the one who is asked about."""
    members: frozenset[str]
    busy: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Ids of the main tasks in progress in this project, by assignee."""
    signed_in: frozenset[str] = frozenset()
    """Agents with a live task session in this project, and self-driven ones that are online."""
    served: frozenset[str] = frozenset()
    """Queues that have an agent: one that polls, or one that a Coordinator starts for it."""
    open_delegations: Mapping[str, int] = field(default_factory=dict)
    """Awaited delegations that are open, by main task."""

    @cached_property
    def reports_to(self) -> dict[str, str | None]:
        return {agent.id: agent.reports_to for agent in self.agents.values()}

    def active_member(self, agent_id: str | None) -> bool:
        agent = self.agents.get(agent_id or "")
        return agent is not None and agent.active and agent.id in self.members

    def able(self, agent_id: str | None) -> bool:
        """An active, managed member, a person, or a member whose task session lives."""
        agent = self.agents.get(agent_id or "")
        if agent is None or not agent.active:
            return False
        if agent.human:
            return True
        return agent.id in self.members and (agent.managed or agent.id in self.signed_in)

    def below(self, agent_id: str) -> list[Agent]:
        """Everybody below an agent in `reports_to`, as far as known here."""
        tree = self.reports_to
        return [agent for agent in self.agents.values() if agent_id in superiors(agent.id, tree)]

    def able_workers(self, manager_id: str) -> list[Agent]:
        return [agent for agent in self.below(manager_id) if agent.role is Role.WORKER and self.able(agent.id)]

    def claimed(self, task: Task, agent_id: str) -> TreeState:
        """As it is once this agent works on a task of its queue: the open parts that an agent had made of it for itself
        go along, as they do with every task that is given to somebody else."""
        parts = self._parts_made_by_agents(task, agent_id)
        own = replace(task, assignee_id=agent_id, status=Status.IN_PROGRESS, not_before=None)
        return replace(self, tree=self.tree.changed(own, *parts))

    def _parts_made_by_agents(self, task: Task, agent_id: str) -> Iterator[Task]:
        for child in self.tree.children(task):
            maker = self.agents.get(child.assignee_id or "")
            if child.delegated or maker is None or maker.human:
                continue
            if child.open and maker.id != agent_id:
                yield replace(child, assignee_id=agent_id, created_by=agent_id)
            yield from self._parts_made_by_agents(child, agent_id)

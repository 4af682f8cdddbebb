"""One tree of tasks with the people and programs around it: the input of all rules about tasks.

Pure values. `task_readiness.py` decides whether a task can be started.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field

from toryo.domain.agents import Agent, Role, superiors
from toryo.domain.fast_dataclasses import cached_property, dataclass, replace
from toryo.domain.projects import Project
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Status, Task


@dataclass(frozen=True)
class TreeState:
    project: Project
    tree: Tree
    agents: Mapping[str, Agent]
    """The agents that matter here: assignees, their superiors, and all subordinates of the agent that is asked about.
    """
    members: AbstractSet[str]
    busy: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Ids of the main tasks that hold a place in this project, by assignee: in progress, and not in review."""
    signed_in: AbstractSet[str] = frozenset()
    """Agents with a live task session in this project, and self-driven ones that are online."""
    team: Mapping[str, Agent] = field(default_factory=dict)
    """All agents of the project, with their superiors. A task of a pool may go to the members among them."""
    team_members: AbstractSet[str] = frozenset()
    served: AbstractSet[str] = frozenset()
    """Queues with an agent: one that polls, or one that a Coordinator starts for them."""
    open_delegations: Mapping[str, int] = field(default_factory=dict)
    """Number of open awaited delegations, by main task."""

    @cached_property
    def reports_to(self) -> dict[str, str | None]:
        return {agent.id: agent.reports_to for agent in self.agents.values()}

    def must_pass_checks(self, task: Task) -> bool:
        """Whether success counts only after acceptance checks: the task's own, or those that the project requires.

        The project's apply to what an agent was given to do; not to the parts that it makes for itself, which end with
        the whole, nor to a queue's tasks and people's, for which no Coordinator starts a program, nor to a review.
        """
        return (task.has_acceptance and task.review_of is None) or self.project_checks_apply(task)

    def project_checks_apply(self, task: Task) -> bool:
        required = bool(self.project.settings.required_checks) and task.review_of is None
        return required and self.given_to_agent(task)

    def given_to_agent(self, task: Task) -> bool:
        """Whether it is work that an agent was given: not a part that it made for itself, nor a queue's or a
        person's."""
        if task.for_queue or (task.parent_id is not None and not task.delegated):
            return False
        assignee = self.agents.get(task.assignee_id or "")
        return assignee is not None and not assignee.human

    def active_member(self, agent_id: str | None) -> bool:
        agent = self.agents.get(agent_id or "")
        return agent is not None and agent.active and agent.id in self.members

    def able(self, agent_id: str | None) -> bool:
        """Whether it can work: an active managed member, a person, or a member with a live task session."""
        agent = self.agents.get(agent_id or "")
        if agent is None or not agent.active:
            return False
        if agent.human:
            return True
        return agent.id in self.members and (agent.managed or agent.id in self.signed_in)

    def below(self, agent_id: str) -> list[Agent]:
        """All subordinates of an agent in `reports_to`, as far as known here."""
        tree = self.reports_to
        return [agent for agent in self.agents.values() if agent_id in superiors(agent.id, tree)]

    def able_workers(self, manager_id: str) -> list[Agent]:
        return [agent for agent in self.below(manager_id) if agent.role is Role.WORKER and self.able(agent.id)]

    def claimed(self, task: Task, agent_id: str) -> TreeState:
        """The state once this agent has claimed a queue task. Open subtasks that an earlier assignee had made for
        itself move along, as they do whenever a task is reassigned.
        """
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

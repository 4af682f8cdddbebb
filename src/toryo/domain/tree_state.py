"""The state of one tree of tasks, and of the people and programs around it: what rules about tasks look at.

Everything guards and facts may look at, and the yes/no questions about starting that both ask. Pure values.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from toryo.domain.agents import Agent, Role, superiors
from toryo.domain.projects import Project
from toryo.domain.tasks import Approval, Status, Task


class Tree:
    """The tasks of one root, with their dependencies; `outside` holds dependencies that belong to other trees."""

    def __init__(
        self,
        tasks: Mapping[str, Task],
        dependencies: Mapping[str, tuple[str, ...]] | None = None,
        outside: Mapping[str, Task] | None = None,
    ) -> None:
        self.tasks = dict(tasks)
        self.depends_on = dict(dependencies or {})
        self.outside = dict(outside or {})

    @cached_property
    def _children(self) -> dict[str | None, list[Task]]:
        found: dict[str | None, list[Task]] = {}
        for task in sorted(self.tasks.values(), key=lambda each: each.order):
            found.setdefault(task.parent_id, []).append(task)
        return found

    def children(self, task: Task) -> list[Task]:
        return self._children.get(task.id, [])

    def parent(self, task: Task) -> Task | None:
        return None if task.parent_id is None else self.tasks.get(task.parent_id)

    def ancestors(self, task: Task) -> Iterator[Task]:
        """Nearest first."""
        above = self.parent(task)
        while above is not None:
            yield above
            above = self.parent(above)

    def descendants(self, task: Task) -> Iterator[Task]:
        """Top down."""
        left = self.children(task)[::-1]
        while left:
            child = left.pop()
            yield child
            left.extend(reversed(self.children(child)))

    def is_below(self, task: Task, ancestor: Task) -> bool:
        return any(above.id == ancestor.id for above in self.ancestors(task))

    def dependencies(self, task: Task) -> list[Task]:
        found = (
            self.tasks.get(dependency) or self.outside.get(dependency)
            for dependency in self.depends_on.get(task.id, ())
        )
        return [each for each in found if each is not None]

    def open_dependencies(self, task: Task) -> list[Task]:
        return [dependency for dependency in self.dependencies(task) if dependency.status is not Status.COMPLETED]

    def dependency_failed(self, task: Task) -> bool:
        """The flag of guard 4: it waits for something that will not come."""
        ended = (Status.FAILED, Status.CANCELLED)
        return task.open and any(dependency.status in ended for dependency in self.dependencies(task))

    def changed(self, *tasks: Task) -> Tree:
        """This tree with other versions of some tasks, in it or outside of it, or with further ones in it."""
        inside = {each.id: each for each in tasks if each.id not in self.outside}
        outside = {each.id: each for each in tasks if each.id in self.outside}
        tree = Tree({**self.tasks, **inside}, self.depends_on, {**self.outside, **outside})
        if "_children" in vars(self):  # sorted before: only what has changed is put in its place
            children = dict(self._children)
            for task in inside.values():
                siblings = list(children.get(task.parent_id, ()))
                if task.id in self.tasks:
                    siblings = [sibling for sibling in siblings if sibling.id != task.id]
                siblings.insert(bisect(siblings, task.order, key=_order), task)
                children[task.parent_id] = siblings
            tree._children = children
        return tree

    def connected(self, task: Task, dependencies: Sequence[Task]) -> Tree:
        """This tree with these dependencies of a task."""
        tree = self.changed()
        tree.depends_on[task.id] = tuple(dependency.id for dependency in dependencies)
        tree.outside |= {dependency.id: dependency for dependency in dependencies if dependency.id not in self.tasks}
        if tree.outside:
            led_to = {each for ids in tree.depends_on.values() for each in ids}
            tree.outside = {each: found for each, found in tree.outside.items() if each in led_to}
        return tree

    def below_closed(self, task: Task) -> bool:
        return any(above.closed for above in self.ancestors(task))

    def is_main(self, task: Task) -> bool:
        """Assigned, and its parent not assigned to the same agent (whatever its status)."""
        parent = self.parent(task)
        return task.assignee_id is not None and (parent is None or parent.assignee_id != task.assignee_id)


def _order(task: Task) -> tuple[int, int, int, str]:
    return task.order


class StartBlocker(StrEnum):
    """What keeps a task from being started (guard 1), in the order in which it is told."""

    ANCESTOR_CLOSED = "ancestor_closed"
    PROJECT_NOT_ACTIVE = "project_not_active"
    NOT_APPROVED = "not_approved"
    DEPENDENCY = "dependency"
    UNASSIGNED = "unassigned"
    ASSIGNEE_NOT_ACTIVE = "assignee_not_active"
    PARALLEL_LIMIT = "parallel_limit"


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

    def room(self, agent_id: str, but: str | None = None) -> bool:
        """Whether one more main task fits under `max_parallel_tasks`, not counting the task `but`."""
        return len(self.busy.get(agent_id, frozenset()) - {but or ""}) < self.agents[agent_id].max_parallel_tasks

    def fits(self, task: Task) -> bool:
        """Whether an assigned task is within its assignee's limit; subtasks of the same agent are exempt."""
        assert task.assignee_id is not None
        return not self.tree.is_main(task) or self.room(task.assignee_id, task.id)

    def below(self, agent_id: str) -> list[Agent]:
        """Everybody below an agent in `reports_to`, as far as known here."""
        tree = self.reports_to
        return [agent for agent in self.agents.values() if agent_id in superiors(agent.id, tree)]

    def able_workers(self, manager_id: str) -> list[Agent]:
        return [agent for agent in self.below(manager_id) if agent.role is Role.WORKER and self.able(agent.id)]

    def hindrances(self, task: Task) -> Iterator[StartBlocker]:
        """Guard 1: nothing means that the task may be started."""
        yield from self._hindrances_of_task(task)
        if task.assignee_id is None:
            yield StartBlocker.UNASSIGNED
        elif not self.active_member(task.assignee_id):
            yield StartBlocker.ASSIGNEE_NOT_ACTIVE
        elif not self.fits(task):
            yield StartBlocker.PARALLEL_LIMIT

    def _hindrances_of_task(self, task: Task) -> Iterator[StartBlocker]:
        if self.tree.below_closed(task):
            yield StartBlocker.ANCESTOR_CLOSED
        if not self.project.active:
            yield StartBlocker.PROJECT_NOT_ACTIVE
        if task.approval is not Approval.APPROVED:
            yield StartBlocker.NOT_APPROVED
        if self.tree.open_dependencies(task):
            yield StartBlocker.DEPENDENCY

    def startable(self, task: Task) -> bool:
        """In `todo` and guard 1 holds."""
        return task.status is Status.TODO and next(self.hindrances(task), None) is None

    def ready(self, task: Task) -> bool:
        """In `todo`, not for a queue, and nothing but who does it (and the project's pause) is open."""
        return (
            task.status is Status.TODO
            and not task.for_queue
            and not {*self._hindrances_of_task(task)} - {StartBlocker.PROJECT_NOT_ACTIVE}
        )

    def claimable(self, task: Task) -> bool:
        """A queue task that could be claimed now (or after its rest)."""
        return task.for_queue and task.status is Status.TODO and not {*self._hindrances_of_task(task)}

    def queued(self, task: Task) -> bool:
        """A queue task that could be claimed now, and whose queue has an agent."""
        return self.claimable(task) and task.agent_type in self.served

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

    def dispatchable(self, child: Task, manager_id: str) -> bool:
        """A ready child whose assignee is able and has room, or that some able worker below could take."""
        if not self.ready(child):
            return False
        if child.assignee_id is not None and self.able(child.assignee_id):
            return self.fits(child)
        return any(self.room(worker.id) for worker in self.able_workers(manager_id))

    def held_by_limit(self, child: Task, manager_id: str) -> bool:
        """Ready, but whoever could do it has no room (without an able assignee: every able worker, at least one)."""
        if not self.ready(child):
            return False
        if child.assignee_id is not None and self.able(child.assignee_id):
            return not self.fits(child)
        workers = self.able_workers(manager_id)
        return bool(workers) and not any(self.room(worker.id) for worker in workers)

"""Stuck tasks: work that will not proceed unless a person or an agent changes something, and why.

Computed from a picture of all open tasks. Not stuck: what people have deferred on purpose (drafts, tasks not started,
tasks blocked by a person, paused projects), and tasks that wait for something that proceeds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from toryo.deeds import TO_SAY, Blank, Deed, deed
from toryo.domain import pools, task_readiness
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.launches import Purpose
from toryo.domain.projects import Project
from toryo.domain.tasks import Start, Status, Task
from toryo.domain.times import SECOND, Millis
from toryo.domain.tree_state import TreeState
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations.launches import placement
from toryo.operations.overview import main_task_waits
from toryo.operations.overview.home_state import Picture, Place
from toryo.workflow.reasons import REASONS

_SHOWN = 3
MOST_IN_LINE = 50
"""Tasks in lines that are looked at: those of one cause are told together."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """A stuck task. `task` is the one to act on; `actions` are the possible actions.

    What only owners may do of it is `for_owners`: to others `by_owner` is said instead. Tasks of one project that are
    stuck for the same `cause` are told together.
    """

    task: Task
    why: Worded
    since: Millis
    actions: tuple[Deed, ...]
    for_owners: tuple[Deed, ...] = ()
    by_owner: Worded | None = None
    cause: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Idle:
    """Why an assignee is idle, and what an owner can do."""

    why: Worded
    for_owners: Deed
    by_owner: Worded | None


def stuck_tasks(picture: Picture, told: Collection[str]) -> list[Stuck]:
    """`told` are the tasks of which people are told anyway, for another reason. Agents that no Coordinator can start
    are told by themselves (`unplaced.py`): their tasks count as if they went on."""
    look = _Look(picture, told)
    causes: dict[str, Stuck] = {}
    for task in sorted((each for each in picture.open.values() if _may_be(picture, each)), key=lambda each: each.order):
        for stuck in look.at(task):
            causes.setdefault(stuck.task.id, stuck)
    for stuck in (*look.in_line(), *look.for_anyone(), *look.behind_discarded()):
        causes.setdefault(stuck.task.id, stuck)
    return list(causes.values())


def _may_be(picture: Picture, task: Task) -> bool:
    """Whether a closer check is worthwhile: most open tasks are in `todo`, assigned, and wait for nothing."""
    plain = task.status is Status.TODO and not task.for_queue and task.id not in picture.unmet
    return not plain and picture.projects[task.project_id].active


class _Look:
    def __init__(self, picture: Picture, told: Collection[str]) -> None:
        self.picture = picture
        self.told = told
        self.places = frozenset(picture.places)
        self.waits: dict[str, frozenset[str]] = {}
        """By main task that waits: of which others one must move on first."""
        self.moving = self._moving()

    def at(self, task: Task) -> Iterator[Stuck]:
        if task.id in self.told:
            return
        if task.id in self.picture.unchecked:
            yield self._unchecked(task, self.picture.unchecked[task.id])
        elif task.in_progress:
            yield from self._in_progress(task)
        elif task.status is Status.TODO:
            yield from self._to_do(task)
        elif task.status is Status.BLOCKED and task.blocked_cause is not None:
            yield from self._below_failed(self.picture.tasks.get(task.blocked_cause))

    def _unchecked(self, task: Task, keeper: str | None) -> Stuck:
        machines, why = deed("machines"), self.picture.why_unchecked(keeper)
        if keeper is None:
            return Stuck(task, why, task.moved_at, (machines,), cause=("unchecked",))
        without = constant(
            "If that Coordinator does not come back, move the task to todo and start it again: another one begins it "
            "without that work."
        )
        why = together((why, without))
        again = deed("put_back", task_id=self._main_of(task).id)
        return Stuck(task, why, task.moved_at, (machines, again), cause=("unchecked", keeper))

    # --- what is in progress -------------------------------------------------------------------------------------

    def _moving(self) -> set[str]:
        """The main tasks in progress that go on: the least set, so that what waits in a circle is not in it."""
        moving: set[str] = set()
        for place, tasks in self.picture.main_tasks.items():
            for task in tasks:
                if self._idle(place, task) is not None:
                    continue
                awaited = main_task_waits.awaited_tasks(self.picture, place, task)
                if awaited is None:
                    moving.add(task.id)
                else:
                    self.waits[task.id] = awaited
        while more := {each for each, others in self.waits.items() if others & moving} - moving:
            moving |= more
        return moving

    def _tree_state(self, task: Task) -> TreeState:
        return self.picture.tree_states[task.project_id]

    def _idle(self, place: Place, task: Task) -> _Idle | None:
        """Why its assignee will do nothing about it, and what would help."""
        agent = self.picture.agents.get(place[0])
        if agent is None or task.id in self.picture.claims:
            return None
        if not agent.active:
            return _Idle(
                say("Its assignee {agent} is inactive.", agent=agent.name),
                deed("activate", agent_id=agent.id),
                constant("An owner can activate it."),
            )
        if agent.human:
            return None
        if place not in self.places:
            return _Idle(
                say("Its assignee {agent} is not a member of the project.", agent=agent.name),
                deed("join", agent_id=agent.id, project_id=place[1]),
                constant("An owner can add it to the project."),
            )
        if not agent.managed and self._nobody_starts_it(place, task):
            return _Idle(
                say(
                    "No process of its assignee {agent} is signed in. Start one by hand: without a provider, "
                    "Toryo cannot start it.",
                    agent=agent.name,
                ),
                deed("correct", agent_id=agent.id, provider=Blank("NAME")),
                constant("An owner can give it a provider."),
            )
        return None

    def _nobody_starts_it(self, place: Place, task: Task) -> bool:
        """By hand, within the stall time: until then, somebody may just be about to."""
        since = max(task.moved_at, self._left.get(place, task.moved_at), self.picture.call.context.awake.since)
        return not main_task_waits.runs(self.picture, place) and self._stalls(self.picture.projects[place[1]], since)

    def _stalls(self, project: Project, since: Millis) -> bool:
        return since + project.settings.stall_seconds * SECOND <= self.picture.now

    @cached_property
    def _left(self) -> dict[Place, Millis]:
        """When the newest task session of an agent in a project has ended."""
        found: dict[Place, Millis] = {}
        for each in self.picture.call.tx.sessions.newest():
            if each.ended_at is not None and each.purpose is Purpose.TASK:
                place = (each.agent_id, each.project_id)
                found[place] = max(each.ended_at, found.get(place, each.ended_at))
        return found

    def _in_progress(self, task: Task) -> Iterator[Stuck]:
        top = self._main_of(task)
        place = (top.assignee_id or "", top.project_id)
        if not top.in_progress:
            if top.id not in self.told and task.id == self._first_part(task, top).id:
                yield self._part(task, top)
            return
        if top.id in self.moving or task.id != top.id:
            return
        idle = self._idle(place, top)
        if idle is not None:
            yield _left_by(top, idle)
        elif top.id in self.waits:
            yield self._waiting(top)

    # --- what is in line -----------------------------------------------------------------------------------------

    def in_line(self) -> Iterator[Stuck]:
        """Tasks that Toryo would start, of agents that are inactive or no members."""
        for project_id, agent_id in self.picture.call.tx.tasks.left_lines():
            start = self._start_of(project_id)
            if start is None:
                continue
            for task in self.picture.call.tx.tasks.ready_in_line(project_id, agent_id, start, MOST_IN_LINE):
                idle = self._idle((agent_id, project_id), task)
                if idle is not None and task.id not in self.told:
                    yield _left_by(task, idle)

    def for_anyone(self) -> Iterator[Stuck]:
        """Tasks for anyone who is free, which no agent of the project could do, or no Coordinator could start one."""
        for project_id in self.picture.call.tx.tasks.pools():
            if self._start_of(project_id) is None:
                continue
            tasks = self.picture.call.tx.tasks
            for task in tasks.ready_in_pool(project_id, MOST_IN_LINE, tasks.pools_in_line(project_id)):
                why = self._nobody(task) if task.id not in self.told else None
                if why is not None:
                    assert task.pool is not None
                    cause = ("pool", *task.pool.capabilities)
                    yield Stuck(task, why, task.moved_at, (_given_away(task),), cause=cause)

    def behind_discarded(self) -> Iterator[Stuck]:
        """Tasks in line behind work that will not be merged, where their project waits for merges."""
        for project in self.picture.projects.values():
            if not (project.active and project.settings.waits_for_merges):
                continue
            found: dict[str, list[str]] = {}
            for task_id, discarded in self.picture.call.tx.worktrees.never_merged(project.id, MOST_IN_LINE):
                found.setdefault(task_id, []).append(discarded)
            tasks = self.picture.call.tx.tasks.find_all([*found, *(each for ids in found.values() for each in ids)])
            by_id = {task.id: task for task in tasks}
            for task_id, needed in found.items():
                task = by_id[task_id]
                if task.in_line(project.settings.start) and task_id not in self.told:
                    yield _behind_discarded(task, [by_id[each] for each in needed])

    def _start_of(self, project_id: str) -> Start | None:
        """None: the picture is not of this project, or it rests."""
        project = self.picture.projects.get(project_id)
        return project.settings.start if project is not None and project.active else None

    def _nobody(self, task: Task) -> Worded | None:
        tree_state = self.picture.call.tree_state(task)
        takers = pools.takers(tree_state, task)
        if not takers:
            return pools.nobody(tree_state, task)
        found = [
            placement.obstacle(agent, agent.programs[0], self.picture.coordinators, self.picture.now)
            for agent in takers
        ]
        obstacle = found[0]
        return None if obstacle is None or None in found else together((obstacle.words, obstacle.remedy))

    def _main_of(self, task: Task) -> Task:
        """The task whose session would do it: the highest one above it, without a gap, of the same assignee."""
        tree = self._tree_state(task).tree
        while (above := tree.parent(task)) is not None and above.assignee_id == task.assignee_id:
            task = above
        return task

    def _first_part(self, task: Task, top: Task) -> Task:
        """The highest part of `top` in progress on the way down to the task: the one that is told."""
        way = [task, *self._tree_state(task).tree.ancestors(task)]
        return next(each for each in reversed(way[: way.index(top)]) if each.in_progress)

    def _part(self, task: Task, top: Task) -> Stuck:
        said = say(
            "It is in progress as part of “{title}”, which is {status}. No one works on it until “{title}” is started.",
            title=top.title,
            status=top.status,
        )
        put_back = deed("put_back", task_id=task.id)
        return Stuck(task, said, task.moved_at, (deed("start", task_id=top.id), put_back))

    def _waiting(self, top: Task) -> Stuck:
        others = [self.picture.tasks[each] for each in sorted(self.waits[top.id])]
        said = say("It waits for {names}, which cannot continue either.", names=_names(others))
        list_all = deed("list", project_id=top.project_id)
        return Stuck(top, said, top.moved_at, (deed("why", agent_id=top.assignee_id), list_all))

    # --- next steps --------------------------------------------------------------------------------------------------

    def _to_do(self, task: Task) -> Iterator[Stuck]:
        tree_state = self._tree_state(task)
        cancel = deed("cancel", task_id=task.id, reason=TO_SAY)
        dead = [dependency for dependency in tree_state.tree.dependencies(task) if self._never_completes(dependency)]
        if dead and not self._left_to_agent(task):
            said = say("It depends on {names}, which will not be completed.", names=_names(dead))
            since = max(each.moved_at for each in (task, *dead))
            free = deed("free", task_id=task.id, remove_dependencies=[each.id for each in dead])
            yield Stuck(task, said, since, (free, cancel), cause=("dependency", *_few(each.id for each in dead)))
        elif task.agent_type is not None and self._nobody_comes(tree_state, task, task.agent_type):
            said = say(REASONS["no_agent_for_queue"].words, queue=task.agent_type)
            serve = deed("serve", agent_type=task.agent_type)
            yield Stuck(task, said, task.moved_at, (serve, cancel), cause=("queue", task.agent_type))

    def _never_completes(self, task: Task) -> bool:
        """Cancelled, or failed while nobody is asked what is to become of it."""
        if task.status is Status.CANCELLED:
            return True
        return task.status is Status.FAILED and task.id not in self.told and not self._left_to_agent(task)

    def _left_to_agent(self, task: Task) -> bool:
        """An agent at work on a task above decides about it."""
        agents = self.picture.agents
        above = (ancestor for ancestor in self._tree_state(task).tree.ancestors(task) if ancestor.in_progress)
        return any(each.assignee_id is not None and not agents[each.assignee_id].human for each in above)

    def _nobody_comes(self, tree_state: TreeState, task: Task, queue: str) -> bool:
        """Only after the stall time: until then the agent of the queue may be restarting."""
        stalls = self._stalls(tree_state.project, task.moved_at)
        return stalls and queue not in tree_state.served and task_readiness.claimable(tree_state, task)

    # --- what is below a failure ---------------------------------------------------------------------------------

    def _below_failed(self, cause: Task | None) -> Iterator[Stuck]:
        if cause is None or cause.status is not Status.FAILED or not self._never_completes(cause):
            return
        said = constant("It failed. The tasks below it wait until it is retried or cancelled.")
        retry = deed("retry", task_id=cause.id)
        yield Stuck(cause, said, cause.moved_at, (retry, deed("cancel", task_id=cause.id, reason=TO_SAY)))


def _behind_discarded(task: Task, needed: list[Task]) -> Stuck:
    said = say("It depends on {names}, whose work was discarded and will not be merged.", names=_names(needed))
    free = deed("free", task_id=task.id, remove_dependencies=[each.id for each in needed])
    cause = ("discarded", *_few(each.id for each in needed))
    return Stuck(task, said, task.moved_at, (free, deed("cancel", task_id=task.id, reason=TO_SAY)), cause=cause)


def _left_by(task: Task, idle: _Idle) -> Stuck:
    cause = ("agent", task.assignee_id or "", idle.for_owners.name)
    return Stuck(task, idle.why, task.moved_at, (_given_away(task),), (idle.for_owners,), idle.by_owner, cause)


def _given_away(task: Task) -> Deed:
    """The action that assigns it to another member, or a queue task to an agent of its queue."""
    if task.for_queue:
        return deed("put_back", task_id=task.id)
    return deed("assign", task_id=task.id, assignee_id=Blank("AGENT"))


def _few(ids: Iterable[str]) -> list[str]:
    """The ids, or what stands for many of them: part of a key."""
    them = sorted(ids)
    return them if len(them) <= _SHOWN else [hashlib.sha256(" ".join(them).encode()).hexdigest()[:24]]


def _names(tasks: Iterable[Task]) -> Worded:
    them = list(tasks)
    told = together((say("“{title}” ({status})", title=each.title, status=each.status) for each in them[:_SHOWN]), ", ")
    return told if len(them) <= _SHOWN else together((told, say("and {more} more", more=len(them) - _SHOWN)))

"""The data of the home page, read in a fixed number of statements, whatever the amount of data.

Contains open tasks and their dependencies, in part. Of the queue tasks that one agent holds there are only the oldest,
and those that something else hangs on: nothing but their number matters of the others. Decisions on it use the
usual pure rules; main tasks of agents that left to wait need more data and are loaded one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import TypeVar

from toryo.domain import budgets, task_readiness
from toryo.domain.coordinators import is_gone
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Launch, Purpose
from toryo.domain.projects import Project, Status
from toryo.domain.queue import Claim, Presence
from toryo.domain.quota_windows import Kept
from toryo.domain.sessions import Session
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Checks, Task
from toryo.domain.tree_state import TreeState
from toryo.domain.usages import Spent, day_of
from toryo.domain.wording import Worded, constant, together
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Login
from toryo.operations.worktrees import worktree_locks
from toryo.storage import snapshots
from toryo.storage.lazy import LazyMapping
from toryo.storage.usages import Wanted
from toryo.workflow.snapshot import Cooldown, Snapshot, offers

Thing = TypeVar("Thing", Session, Launch)
Place = tuple[str, str]
"""An agent in a project."""


class Picture:
    """What the caller sees of these projects, at this moment; on request without what nobody has started and nothing
    hangs on: there may be thousands of that."""

    def __init__(self, call: Call, only: str | None = None, *, idle: bool = True) -> None:
        self.call = call
        self.now = call.now
        self.projects = {each.id: each for each in _visible(call, only) if each.status is not Status.ARCHIVED}
        self.agents = {each.id: each for each in call.tx.agents.all()}
        self.places = [(agent, project) for project, agent in call.tx.glances.places(self.projects)]
        self.sessions = _by_place(call.tx.sessions.live(), self.projects)
        self.launches = _by_place(call.tx.launches.live(), self.projects)
        self.held = call.tx.glances.held(self.projects)
        self.online: dict[str, Presence] = {
            presence.agent_id: presence
            for presence in call.tx.queues.all_online()
            if presence.project_id in self.projects
        }
        self.coordinators = call.tx.coordinators.all()
        self._snapshots: dict[Place, Snapshot] = {}
        self._spenders: dict[str, bool] = {}
        self._load_tasks(idle=idle)

    def _load_tasks(self, *, idle: bool) -> None:
        """The open ones; what they wait for; what they are parts of; and what sessions are bound to."""
        glances = self.call.tx.glances
        self.open = glances.open_tasks(self.projects, idle=idle)
        self.open |= glances.parts(sorted({held.task_id for held in self.held.values()} - set(self.open)))
        self.claims = self._claims_of(self.open)
        self.unmet = glances.unmet(self.open)
        known = dict(self.open)
        bound = [
            session.task_id
            for pair in self.sessions.values()
            for session in pair.values()
            if session.task_id is not None
        ]
        wanted = {*bound, *_all_of(self.unmet), *_parents(known)} - set(known)
        while wanted:
            read = glances.parts(sorted(wanted))
            known |= read
            claims = self._claims_of(read)
            more = glances.unmet(claims) if claims else {}
            self.claims |= claims
            self.open |= {task_id: read[task_id] for task_id in claims}
            self.unmet |= more
            wanted = {*_all_of(more), *_parents(read)} - set(known)
        self.tasks = known

    def _claims_of(self, tasks: Mapping[str, Task]) -> dict[str, Claim]:
        started = [task.id for task in tasks.values() if task.in_progress and task.project_id in self.projects]
        return self.call.tx.glances.claims(started) if started else {}

    @cached_property
    def unread(self) -> Counter[Place]:
        """How many of the tasks that each agent holds are not among `tasks`: nothing but their number matters."""
        read = Counter((claim.agent_id, claim.project_id) for claim in self.claims.values() if claim.launch_id is None)
        return Counter({place: held.many for place, held in self.held.items()}) - read

    @cached_property
    def unchecked(self) -> dict[str, str | None]:
        """Tasks whose acceptance checks wait for a Coordinator that is gone: the one that has their files, or any
        (None), as none is there."""
        waiting = {task.id for task in self.open.values() if task.in_progress and task.checks is Checks.RUNNING}
        begun = self.call.context.awake.since
        away = {each.id for each in self.coordinators if is_gone(max(each.seen_at, begun), self.now)}
        if waiting and len(away) == len(self.coordinators) and is_gone(begun, self.now):
            return dict.fromkeys(waiting)
        if not (waiting and away):
            return {}
        checks = {each.id: each for each in self.call.tx.launches.checks_waiting() if each.task_id in waiting}
        keepers = worktree_locks.keepers(self.call, checks.values())
        return {checks[check_id].task_id: keeper for check_id, keeper in keepers.items() if keeper in away}

    def why_unchecked(self, keeper: str | None) -> Worded:
        away = worktree_locks.away(self.call, keeper) if keeper is not None else constant("No Coordinator is running.")
        return together((away, constant("Its acceptance checks have not run.")))

    @cached_property
    def tree_states(self) -> dict[str, TreeState]:
        """One per project, on which the rules about starting stand; its tree holds all trees of the project."""
        members: dict[str, set[str]] = {project: set() for project in self.projects}
        for agent_id, project_id in self.places:
            members[project_id].add(agent_id)
        inside: dict[str, dict[str, Task]] = {project: {} for project in self.projects}
        for task in self.tasks.values():
            inside.get(task.project_id, {})[task.id] = task
        return {
            project.id: self._tree_state(project, inside[project.id], members[project.id])
            for project in self.projects.values()
        }

    def _tree_state(self, project: Project, tasks: dict[str, Task], members: Collection[str]) -> TreeState:
        tree = Tree(tasks, {each: self.unmet[each] for each in tasks if each in self.unmet})
        busy: dict[str, set[str]] = {}
        for task in tasks.values():
            holds_a_place = task.in_progress and not task.in_review
            if holds_a_place and task.assignee_id is not None and tree.is_main(task):
                busy.setdefault(task.assignee_id, set()).add(task.id)
        online = frozenset(presence.agent_id for presence in self.online.values() if presence.project_id == project.id)
        return TreeState(
            project=project,
            tree=tree,
            agents=self.agents,
            members=frozenset(members),
            busy=self._busy(project.id, busy),
            signed_in=frozenset(agent for agent, where in self.sessions if where == project.id) | online,
            served=self._served(project.id, members),
            open_delegations=self.awaited,
            team=self.agents,
            team_members=frozenset(members),
        )

    def _busy(self, project_id: str, known: dict[str, set[str]]) -> Mapping[str, frozenset[str]]:
        """The main tasks that hold a place, by agent. Of one with more than was read they are read when they matter."""

        def of(agent_id: str) -> frozenset[str]:
            if not self.unread[agent_id, project_id]:
                return frozenset(known.get(agent_id, ()))
            return self.call.tx.tasks.busy(project_id, [agent_id]).get(agent_id, frozenset())

        return LazyMapping(lambda: {agent_id: of(agent_id) for agent_id in known}, of)

    def _served(self, project_id: str, members: Collection[str]) -> frozenset[str]:
        """The queues with an agent: one that polls, or an active member that a Coordinator starts."""
        agents = (self.agents[member] for member in members)
        started = (agent.agent_type for agent in agents if agent.active and agent.managed)
        polls = (presence.agent_type for presence in self.online.values() if presence.project_id == project_id)
        return frozenset(each for each in (*started, *polls) if each is not None)

    @cached_property
    def awaited(self) -> dict[str, int]:
        """Open delegations whose result is awaited, by main task."""
        return self.call.tx.glances.awaited()

    @cached_property
    def bound(self) -> dict[str, str]:
        """Whose task session lives on a main task."""
        pairs = ((session.get(Purpose.TASK), agent_id) for (agent_id, _), session in self.sessions.items())
        return {each.task_id: agent_id for each, agent_id in pairs if each is not None and each.task_id is not None}

    @cached_property
    def main_tasks(self) -> dict[Place, list[Task]]:
        """In progress, by whose they are; the first to be worked on first."""
        found: dict[Place, list[Task]] = {}
        for task in sorted(self.open.values(), key=lambda each: each.order):
            if task.in_progress and task.assignee_id is not None and task.project_id in self.tree_states:
                tree = self.tree_states[task.project_id].tree
                if tree.is_main(task) and not tree.below_closed(task):
                    found.setdefault((task.assignee_id, task.project_id), []).append(task)
        return found

    @cached_property
    def children(self) -> dict[str, list[str]]:
        """Open subtasks by what they are parts of."""
        found: dict[str, list[str]] = {}
        for task in self.open.values():
            if task.parent_id is not None:
                found.setdefault(task.parent_id, []).append(task.id)
        return found

    @cached_property
    def blocked(self) -> Counter[Place]:
        found = (each for each in self.open.values() if each.status == "blocked" and each.assignee_id is not None)
        return Counter((each.assignee_id or "", each.project_id) for each in found)

    # --- what prevents starts
    # ------------------------------------------------------------------------------------------

    @cached_property
    def cooldowns(self) -> dict[str, dict[Purpose, list[Cooldown]]]:
        """Those that last, by agent."""
        found: dict[str, dict[Purpose, list[Cooldown]]] = {}
        for agent_id, purpose, cooldown in self.call.tx.glances.cooldowns(self.now):
            found.setdefault(agent_id, {}).setdefault(purpose, []).append(cooldown)
        return found

    @cached_property
    def accounts(self) -> dict[str, Cooldown]:
        return {name: Cooldown(*account) for name, account in self.call.tx.glances.accounts(self.now).items()}

    @cached_property
    def kept_quotas(self) -> dict[str, Kept]:
        return snapshots.kept_quotas(self.call.tx, self.now)

    @cached_property
    def spent_today(self) -> dict[str, tuple[int, float | None]]:
        """Tokens and money of today, by project."""
        today = day_of(self.now)
        wanted = Wanted(projects=list(self.projects), since_day=today, until_day=today)
        sums = self.call.tx.usages.sums(("project_id",), wanted, len(self.projects) + 1)
        return {each["project_id"]: (each["input_tokens"] + each["output_tokens"], each["cost_usd"]) for each in sums}

    def used_up_budget(self, project: Project) -> str | None:
        """The setting whose budget of today is used up."""
        tokens, usd = self.spent_today.get(project.id, (0, None))
        return project.settings.used_up_budget(Spent(tokens, usd or 0.0))

    def _own_budget_used_up(self, agent_id: str) -> bool:
        if agent_id not in self._spenders:
            found = snapshots.used_up_by_agent(self.call.tx, self.agents[agent_id], self.now)
            self._spenders[agent_id] = found is not None
        return self._spenders[agent_id]

    def _over_budget(self, task_id: str) -> str | None:
        return next(iter(self.used_up_by_tasks(self.tasks[task_id])), None) if task_id in self.tasks else None

    def used_up_by_tasks(self, task: Task) -> dict[str, str]:
        """Of the task and those above it, each whose budget is used up, and which of its two. What is below them is
        read for those that have one."""
        near = self.tree_states[task.project_id].tree
        if not any(True for _ in budgets.limiting_tasks(near, task)):
            return {}
        return snapshots.used_up_by_tasks(self.call.tx, self.call.tx.tasks.tree(task.root_id), task)

    @cached_property
    def ready_tasks(self) -> dict[tuple[str, str], list[Task]]:
        """By project and queue: what could be claimed now, in order."""
        found: dict[tuple[str, str], list[Task]] = {}
        for task in sorted(self.open.values(), key=lambda each: each.order):
            rests = task.not_before is not None and task.not_before > self.now
            if (
                task.agent_type is not None
                and not rests
                and task_readiness.claimable(self.tree_states[task.project_id], task)
            ):
                found.setdefault((task.project_id, task.agent_type), []).append(task)
        return found

    def _offers(self, place: Place) -> tuple[tuple[Task, TreeState], ...]:
        agent, tree_state = self.agents[place[0]], self.tree_states[place[1]]
        if agent.agent_type is None or not agent.managed or not tree_state.project.active:
            return ()
        ready = self.ready_tasks.get((place[1], agent.agent_type), [])
        return offers(((task, self._below(tree_state, task)) for task in ready), agent.id)

    def _below(self, tree_state: TreeState, task: Task) -> TreeState:
        """With nothing in its tree but a task and what stands below it."""
        near = [task, *tree_state.tree.descendants(task)]
        waits = {each.id: tree_state.tree.depends_on.get(each.id, ()) for each in near}
        known = {other.id: other for each in near for other in tree_state.tree.dependencies(each)}
        return replace(tree_state, tree=Tree({each.id: each for each in near}, waits, known))

    def snapshot(self, place: Place) -> Snapshot:
        """What the launch decision reads, but for what is below main tasks that wait."""
        if place not in self._snapshots:
            self._snapshots[place] = self._snapshot(place)
        return self._snapshots[place]

    def _snapshot(self, place: Place) -> Snapshot:
        agent, project = self.agents[place[0]], self.projects[place[1]]
        return Snapshot(
            now=self.now,
            agent_id=agent.id,
            project_id=project.id,
            agent=agent,
            project=project,
            member=True,
            limits=self.call.context.limits,
            tree_states=self._around(place),
            blocked_tasks=self.blocked[place],
            launches=self.launches.get(place, {}),
            sessions=self.sessions.get(place, {}),
            others_on=self._others_on(place),
            cooldowns=self.cooldowns.get(agent.id, {}),
            accounts=self.accounts,
            kept=self.kept_quotas,
            budget_used_up=self.used_up_budget(project) is not None,
            agent_budget_used_up=self._own_budget_used_up(agent.id),
            over_budget=LazyMapping(dict, self._over_budget),
            offers=self._offers(place),
        )

    def _others_on(self, place: Place) -> dict[str, str]:
        """Whose session lives on a main task of this agent."""
        bound = ((task.id, self.bound.get(task.id)) for task in self.main_tasks.get(place, ()))
        return {task_id: other for task_id, other in bound if other is not None and other != place[0]}

    def _around(self, place: Place) -> tuple[TreeState, ...]:
        """The agent's main tasks, what its sessions are bound to, and what is above them."""
        bound = (self.tasks.get(session.task_id or "") for session in self.sessions.get(place, {}).values())
        tasks = [*self.main_tasks.get(place, ()), *(each for each in bound if each is not None)]
        if not tasks:
            return ()
        tree_state = self.tree_states[place[1]]
        near = {each.id: each for task in tasks for each in (task, *tree_state.tree.ancestors(task))}
        return (replace(tree_state, tree=Tree(near)),)


def _visible(call: Call, only: str | None) -> Iterable[Project]:
    if only is not None:
        return [call.project(only)]
    if call.caller.login is not Login.MEMBER:
        return call.tx.projects.all()
    own = set(call.tx.agents.projects_of(call.agent.id))
    return (each for each in call.tx.projects.all() if each.id in own)


def _by_place(things: Iterable[Thing], projects: Collection[str]) -> dict[Place, dict[Purpose, Thing]]:
    found: dict[Place, dict[Purpose, Thing]] = {}
    for thing in things:
        if thing.project_id in projects:
            found.setdefault((thing.agent_id, thing.project_id), {})[thing.purpose] = thing
    return found


def _all_of(unmet: dict[str, tuple[str, ...]]) -> set[str]:
    return {other for others in unmet.values() for other in others}


def _parents(tasks: dict[str, Task]) -> set[str]:
    return {task.parent_id for task in tasks.values() if task.parent_id is not None}

"""Loads the input of a decision: one agent in one project, in one transaction, through indexed reads only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from toryo.domain import budgets, conflict_forecast
from toryo.domain.agents import Agent, Role
from toryo.domain.conflict_forecast import MOST_OTHERS, ConflictPolicy, Files, Meeting
from toryo.domain.delegations import DelegationStatus
from toryo.domain.fast_dataclasses import cached_property, replace
from toryo.domain.handover import INTERRUPT
from toryo.domain.launches import Launch, Purpose
from toryo.domain.projects import Project
from toryo.domain.quota_windows import Kept, kept_by_account
from toryo.domain.requested_changes import CHANGES_TO, may_ask
from toryo.domain.sessions import Session
from toryo.domain.talk_limits import TalkLimits
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import CLOSED, Status, Task
from toryo.domain.times import Millis
from toryo.domain.tree_state import TreeState
from toryo.domain.usages import Spent, day_of
from toryo.domain.worktrees import Worktree
from toryo.storage.lazy import LazyMapping, LazySet
from toryo.storage.transaction import Transaction
from toryo.workflow.guard_limits import Limits
from toryo.workflow.snapshot import ChatState, Cooldown, News, Snapshot, offers, whole

_CLOSED = tuple(f"task.{status}" for status in sorted(CLOSED))
_DELEGATION_ENDED = ("delegation.completed", "delegation.failed")
_QUESTION_ENDED = ("question.answered", "question.defaulted", "question.withdrawn")
_STUCK = ("task.blocked", "task.failed")
_ANSWERS = ("question.", "review.", "task.checks_")
"""Kinds of events by which a person answers the agent of a task: it goes on, and who waits for it has nothing to do."""


class Look(Protocol):
    """What is remembered between snapshots, of tasks far behind in a queue."""

    def unknown(self, tx: Transaction, agent_id: str, tasks: Sequence[Task], now: Millis) -> list[Task]:
        """Those of the tasks for which it is not remembered that this agent could only wait."""

    def remember(self, snapshot: Snapshot) -> None:
        """Keeps what its offers say."""


def load(
    tx: Transaction,
    agent_id: str,
    project_id: str,
    now: Millis,
    limits: Limits,
    asking: Session | None = None,
    look: Look | None = None,
) -> Snapshot:
    """`asking` is the session whose next action is wanted: its main task's tree is loaded in any state."""
    return _load(_Loaded, tx, agent_id, project_id, now, limits, asking, look)


def load_chat(
    tx: Transaction,
    agent_id: str,
    project_id: str,
    now: Millis,
    limits: Limits,
    talk_limits: TalkLimits,
    asking: Session | None = None,
) -> Snapshot:
    """The input of chat decisions: no tasks, so that an agent that waits or is blocked can still chat."""
    return _load(_LoadedChat, tx, agent_id, project_id, now, limits, asking, talk_limits)


def _load(
    kind: type[_Facts], tx: Transaction, agent_id: str, project_id: str, now: Millis, limits: Limits, *asked: Any
) -> Snapshot:
    agent, project = tx.agents.find(agent_id), tx.projects.find(project_id)
    membership = tx.agents.membership(project_id, agent_id)
    if agent is None or project is None:
        return Snapshot(now, agent_id, project_id, agent, project, member=False, limits=limits)
    member, removed_at = membership is not None and membership[1] is None, membership[1] if membership else None
    return kind(tx, *asked, now=now, agent=agent, project=project, member=member, removed_at=removed_at, limits=limits)


class _Facts(Snapshot):
    """A snapshot whose facts are read when a rule asks for them, within the transaction: these are for every session.
    Facts that are declared in `Snapshot` and not here have their defaults.
    """

    _tx: Transaction
    _asking: Session | None

    def __init__(
        self, tx: Transaction, asking: Session | None, *, agent: Agent, project: Project, **known: Any
    ) -> None:
        vars(self).update(
            known,
            agent=agent,
            agent_id=agent.id,
            project=project,
            project_id=project.id,
            _tx=tx,
            _asking=asking,
        )

    @cached_property
    def sessions(self) -> Mapping[Purpose, Session]:
        tx, project_id, agent_id, asking = self._tx, self.project_id, self.agent_id, self._asking
        if asking is None or asking.over:
            return tx.sessions.live_of(project_id, agent_id)

        def live() -> dict[Purpose, Session]:
            return tx.sessions.live_of(project_id, agent_id) | {asking.purpose: asking}

        return LazyMapping(live, lambda purpose: asking if asking.purpose is purpose else live().get(purpose))

    @cached_property
    def launches(self) -> Mapping[Purpose, Launch]:
        return self._tx.launches.live_of(self.project_id, self.agent_id)

    @cached_property
    def cooldowns(self) -> Mapping[Purpose, Sequence[Cooldown]]:
        return self._tx.agents.cooldowns(self.agent_id)

    @cached_property
    def accounts(self) -> Mapping[str, Cooldown]:
        return _accounts(self._tx, self.agent) if self.agent is not None else {}

    @cached_property
    def kept(self) -> Mapping[str, Kept]:
        return kept_quotas(self._tx, self.now)

    @cached_property
    def interrupt_waiting(self) -> bool:
        asking = self._asking
        return asking is not None and any(each.kind == INTERRUPT for each in self._tx.handovers.waiting(asking.id))


_NO_TALK = ChatState()


class _Loaded(_Facts):
    """What decisions about a task session read."""

    _look: Look | None
    _states: dict[str, TreeState]
    _held: dict[str, Meeting | None]

    def __init__(self, tx: Transaction, asking: Session | None, look: Look | None, **known: Any) -> None:
        super().__init__(tx, asking, **known)
        vars(self).update(
            _held={},
            _look=look,
            _states={},
            talk=_NO_TALK,
        )

    @property
    def _known(self) -> tuple[Transaction, Project, Agent]:
        assert self.project is not None
        assert self.agent is not None
        return self._tx, self.project, self.agent

    def _state(self, root_id: str) -> TreeState:
        if root_id not in self._states:
            tx, project, agent = self._known
            self._states[root_id] = _around(tx, project, tx.tasks.tree(root_id), (agent.id,))
        return self._states[root_id]

    @cached_property
    def tree_states(self) -> tuple[TreeState, ...]:
        tx, project, agent = self._known
        roots = set(tx.tasks.roots_in_progress(project.id, agent.id))
        bound = (session.task_id for session in (self._asking, self.sessions.get(Purpose.TASK)) if session is not None)
        roots.update(task.root_id for task in tx.tasks.find_all(each for each in bound if each))
        tx.tasks.trees(sorted(roots))
        return tuple(self._state(each) for each in sorted(roots))

    def ground_of(self, task_id: str | None) -> TreeState | None:
        asking = self._asking
        if task_id is not None and asking is not None and task_id == asking.task_id and asking.root_id is not None:
            state = self._state(asking.root_id)
            if task_id in state.tree.tasks:
                return state
        return super().ground_of(task_id)

    # Mappings that ask this snapshot are not kept in it: it would be freed by the collector only, not when it is done.

    @property
    def news(self) -> Mapping[str, tuple[News, ...]]:
        return LazyMapping(self._all_news, self._news)

    @property
    def held_back(self) -> Mapping[str, Meeting]:
        return LazyMapping(dict, self._held_back)

    @property
    def unmerged(self) -> Mapping[str, Sequence[str]]:
        return LazyMapping(dict, self._unmerged)

    @property
    def over_budget(self) -> Mapping[str, str]:
        return LazyMapping(dict, self._over_budget)

    @cached_property
    def others_on(self) -> Mapping[str, str]:
        tx, project, agent = self._known
        signed_in = tx.sessions.signed_in(project.id)
        return {task: other for other, task in signed_in if task is not None and other != agent.id}

    def _news(self, task_id: str) -> tuple[News, ...] | None:
        state = self.ground_of(task_id)
        task = state.tree.tasks.get(task_id) if state is not None else None
        if state is None or task is None or not _watched(task, state, self._known[2]):
            return None
        return news_of(self._tx, task, state)

    def _held_back(self, task_id: str) -> Meeting | None:
        tx, project, _ = self._known
        task = tx.tasks.find(task_id)
        if task is None or not task.touches or project.settings.conflict_policy is not ConflictPolicy.HOLD:
            return None
        if task_id not in self._held:
            begun, found = meetings(tx, project, task)
            self._held[task_id] = None if begun else next((each for each in found if each.holds), None)
        return self._held[task_id]

    def _unmerged(self, task_id: str) -> Sequence[str] | None:
        tx, project, _ = self._known
        task = tx.tasks.find(task_id)
        return unmerged(tx, project, task) or None if task is not None else None

    def _all_news(self) -> dict[str, tuple[News, ...]]:
        ids = (task_id for state in self.tree_states for task_id in state.tree.tasks)
        return {task_id: found for task_id in ids if (found := self._news(task_id)) is not None}

    @cached_property
    def blocked_tasks(self) -> int:
        return self._tx.tasks.blocked(self.project_id, self.agent_id)

    @cached_property
    def budget_used_up(self) -> bool:
        return _budget_used_up(self._tx, self._known[1], self.now)

    @cached_property
    def agent_budget_used_up(self) -> bool:
        return used_up_by_agent(self._tx, self._known[2], self.now) is not None

    def _over_budget(self, task_id: str) -> str | None:
        state = self.ground_of(task_id) or next((each for task, each in self.offers if task.id == task_id), None)
        if state is None:  # one that is in line
            task = self._tx.tasks.find(task_id)
            if task is None:
                return None
            state = self._state(task.root_id)
        return next(iter(used_up_by_tasks(self._tx, state.tree, state.tree.tasks[task_id])), None)

    @cached_property
    def offers(self) -> tuple[tuple[Task, TreeState], ...]:
        tx, project, agent = self._known
        found = _offers(tx, project, agent, self.now, self._look)
        if self._look is not None and found:
            vars(self)["offers"] = found
            self._look.remember(self)
        return found


class _LoadedChat(_Facts):
    """What decisions about a chat session read."""

    def __init__(self, tx: Transaction, asking: Session | None, talk_limits: TalkLimits, **known: Any) -> None:
        super().__init__(tx, asking, **known)
        self._talk_limits: TalkLimits
        vars(self).update(_talk_limits=talk_limits, others_on={}, news={})

    @cached_property
    def talk(self) -> ChatState:
        session = self.sessions.get(Purpose.CHAT)
        return talk(self._tx, self.agent_id, self.project_id, self.now, self._talk_limits, session)


def _accounts(tx: Transaction, agent: Agent) -> dict[str, Cooldown]:
    names = {program.account for program in agent.programs if program.account is not None}
    return {name: Cooldown(*each) for name, each in tx.agents.accounts(names).items()} if names else {}


def kept_quotas(tx: Transaction, now: Millis) -> dict[str, Kept]:
    return kept_by_account(tx.quota_windows.keeping, now)


def _budget_used_up(tx: Transaction, project: Project, now: Millis) -> bool:
    if not project.settings.has_budget:
        return False
    return project.settings.used_up_budget(tx.usages.spent_by(project.id, day_of(now))) is not None


def used_up_by_agent(tx: Transaction, agent: Agent, now: Millis) -> str | None:
    """The option of an agent whose budget of today is used up; without a budget, nothing is read."""
    budget = budgets.of_agent(agent.provider_options)
    if not budget.limits:
        return None
    found = budget.used_up(tx.usages.spent_by_agent(agent.id, day_of(now)))
    return None if found is None else budgets.A_DAY[found]


def used_up_by_tasks(tx: Transaction, tree: Tree, task: Task) -> dict[str, str]:
    """Of the task and those above it, each whose budget is used up, and which of its two. Without budgets, nothing is
    read."""
    found = {
        each.id: budgets.of_task(each).used_up(spent_for(tx, tree, each)) for each in budgets.limiting_tasks(tree, task)
    }
    return {task_id: budgets.OF_TASK[name] for task_id, name in found.items() if name is not None}


def spent_for(tx: Transaction, tree: Tree, task: Task) -> Spent:
    """What the work on a task and on everything below it has used so far."""
    return tx.usages.spent_on([task.id, *(each.id for each in tree.descendants(task))])


MOST_OFFERS = 10
"""How many ready queue tasks are loaded with their subtasks per look, to find the first that has work for the agent."""
MOST_BEHIND = 500
"""How many tasks behind those are considered; over several looks each of these is loaded."""


def _offers(
    tx: Transaction,
    project: Project,
    agent: Agent,
    now: Millis,
    look: Look | None,
) -> tuple[tuple[Task, TreeState], ...]:
    """The first ready tasks of its queue. If each could make it wait, also some of the later ones for which this is not
    known, and the first one that cannot make it wait: no task is hidden by those before it.
    """
    if agent.agent_type is None or not agent.managed or not project.active:
        return ()
    queue = (project.id, agent.agent_type, now)

    def around(tasks: Iterable[Task]) -> tuple[tuple[Task, TreeState], ...]:
        near = ((task, _around(tx, project, tx.tasks.tree(task.root_id), (agent.id,))) for task in tasks)
        return offers(near, agent.id)

    first = tx.queues.ready_to_start(*queue, MOST_OFFERS)
    found = around(first)
    if len(first) < MOST_OFFERS or whole(found[-1]):
        return found
    behind = tx.queues.ready_to_start(*queue, MOST_BEHIND, MOST_OFFERS)
    fresh = look.unknown(tx, agent.id, behind, now) if look is not None else behind
    found += around(fresh[:MOST_OFFERS])
    if whole(found[-1]) or (plain := tx.queues.ready_whole(*queue)) is None:
        return found
    return found + around([plain])


def talk(
    tx: Transaction, agent_id: str, project_id: str, now: Millis, limits: TalkLimits, session: Session | None
) -> ChatState:
    """Mail, delegations, conversations and panels of an agent. `session` is its live chat session."""
    box = tx.chat.mailbox(project_id, agent_id)
    delegations = tx.chat.open_delegations(project_id, agent_id)
    conversations = tx.chat.unsettled(project_id, agent_id)
    viewers = tx.chat.viewers(project_id, agent_id, now - limits.viewer_lease)
    idle_at = max(box.active_at, session.created_at if session is not None else 0) + limits.idle_timeout
    ends = [conversation.ends_at(limits) for conversation in conversations] + [
        viewer.seen_at + limits.viewer_lease for viewer in viewers
    ]
    return ChatState(
        undelivered=box.has_undelivered,
        delegation_waits=any(delegation.status is DelegationStatus.PENDING for delegation in delegations),
        invited=any(conversation.invites(agent_id) for conversation in conversations),
        my_turn=any(conversation.awaits(agent_id) for conversation in conversations),
        ending_untold=any(not conversation.open and not conversation.told(agent_id) for conversation in conversations),
        in_conversation=any(conversation.open for conversation in conversations),
        in_hand=session is not None and any(delegation.session_id == session.id for delegation in delegations),
        watched=bool(viewers),
        opened_since=any(viewer.opened_at > box.left_at for viewer in viewers),
        idle_at=idle_at,
        changes_at=min((each for each in (*ends, idle_at) if each is not None and each > now), default=None),
        version=box.version,
    )


def tree_state(tx: Transaction, project: Project, root_id: str, *seeds: str) -> TreeState:
    """The state of one tree for an operation; `seeds` are further agents to load, such as the caller."""
    return _around(tx, project, tx.tasks.tree(root_id), seeds)


def unmerged(tx: Transaction, project: Project, task: Task) -> list[str]:
    """What the task depends on that is completed and whose work is not on its target branch, where the project waits
    for that. Parts of one whole are merged with it, and what corrects work is merged with that. What nobody has looked
    at since a process worked there may hold work; discarded work never arrives."""
    if not project.settings.waits_for_merges:
        return []
    if tx.tasks.reviewed_by([task.id], CHANGES_TO) and may_ask(tx.agents.find(task.created_by)):
        return []
    needed = tx.tasks.find_all(tx.tasks.depends_on([task.id]).get(task.id, []))
    apart = [each for each in needed if each.root_id != task.root_id or each.parent_id is None]
    works = tx.worktrees.of([each.id for each in apart])
    waiting = {each.task_id for each in works if each.keeps_others_waiting}
    works += _of_parts(tx, apart, works)
    waiting |= {each.task_id for each in works if each.open and each.keeps_others_waiting}
    empty = [each.task_id for each in works if each.open and each.task_id not in waiting]
    waiting |= {each for each, last in tx.launches.last_of_tasks(empty).items() if last.live} if empty else set()
    return sorted(waiting)


def _of_parts(tx: Transaction, wholes: Iterable[Task], works: Iterable[Worktree]) -> list[Worktree]:
    """The worktrees of what is completed below these tasks, but for the work that is in one above."""
    parts: dict[str, list[str]] = {}
    """With the tasks above each, as far as the whole."""
    for main in wholes:
        if main.children_ever:
            tree = tx.tasks.tree(main.root_id)
            for part in tree.descendants(main):
                if part.status is Status.COMPLETED:
                    above = [each.id for each in tree.ancestors(part)]
                    parts[part.id] = above[: above.index(main.id) + 1]
    found = tx.worktrees.of(parts) if parts else []
    by_task = {each.task_id: each for each in (*works, *found)}
    return [
        each
        for each in found
        if not any(by_task[above].holds(each) for above in parts[each.task_id] if above in by_task)
    ]


def meetings(tx: Transaction, project: Project, task: Task) -> tuple[bool, list[Meeting]]:
    """Whether the task has begun, and which others it may conflict with; without worktrees with none."""
    if not project.settings.forecasts_conflicts or task.status in (Status.FAILED, Status.CANCELLED):
        return False, []
    begun = tx.conflict_forecast.begun(project.id)
    own = begun.get(task.id)
    is_begun = own is not None
    if own is None and len(begun) >= MOST_OTHERS:
        older = tx.worktrees.find(task.id)
        is_begun = older is not None and older.open
    if own is None and task.status is Status.COMPLETED and not is_begun:
        return False, []  # its work is merged, or there was none
    own = own or Files(
        task.id, task.title, task.status, task.touches, tx.conflict_forecast.touched(task.id) if is_begun else ()
    )
    found = conflict_forecast.meetings(own, begun.values())
    if not found:
        return is_begun, []
    below = _built_on(tx, [task.id, *(each.other.task_id for each in found)])
    return is_begun, [
        _with_what_it_builds_on(each, begun, below)
        for each in found
        if each.other.task_id not in below[task.id] and task.id not in below[each.other.task_id]
    ]


def _with_what_it_builds_on(each: Meeting, begun: Mapping[str, Files], below: Mapping[str, set[str]]) -> Meeting:
    """Finished work is merged after what it builds on: it waits for what that waits for."""
    waits = any(other in begun and begun[other].waits for other in below[each.other.task_id])
    return replace(each, other=replace(each.other, waits=True)) if each.finished and waits else each


def _built_on(tx: Transaction, task_ids: Iterable[str]) -> dict[str, set[str]]:
    """The tasks that each of these builds on: those above it, and what it or these depend on."""
    found: dict[str, set[str]] = {task_id: set() for task_id in task_ids}
    known: dict[str, set[str]] = {}
    unknown = set(found)
    while unknown:
        links = tx.tasks.linked(sorted(unknown))
        known |= {each: {*at.dependencies, *([at.parent] if at.parent else [])} for each, at in links.items()}
        unknown = {other for each in links for other in known[each]} - set(known)
    for task_id, reached in found.items():
        left = [task_id]
        while left:
            further = known.get(left.pop(), set()) - reached
            reached.update(further)
            left.extend(further)
    return found


def news_of(tx: Transaction, main: Task, where: TreeState) -> tuple[News, ...]:
    """Events on a main task and below it since its assignee's last look, except the assignee's own.

    For an assignee that never looked everything is new: waiting without a look would lose earlier events.
    """
    found: list[News] = []
    for kind, task_id, actor_id, by_person in tx.events.news(main.root_id, main.look_event or 0):
        task = where.tree.tasks.get(task_id)
        if task is not None and kind in _DELEGATION_ENDED and task.id == main.id:
            # It was ended by the agent's own chat session, but it is still news.
            found.append(News("delegation", task.id))
        if task is not None and kind in _QUESTION_ENDED and task.id == main.id:
            found.append(News("question", task.id))
        if task is None or actor_id == main.assignee_id:
            continue
        found.extend(_news(kind, task, main, where.tree, by_person))
    return tuple(found)


def _news(kind: str, task: Task, main: Task, tree: Tree, by_person: bool) -> Iterable[News]:
    below = tree.is_below(task, main)
    if below and kind in _STUCK:
        yield News("blocked", task.id)
    if kind in _CLOSED and task.parent_id == main.id:
        yield News("closed", task.id)
    if by_person and (task.id == main.id or (below and not kind.startswith(_ANSWERS))):
        yield News("person", task.id)


def _watched(task: Task, state: TreeState, agent: Agent) -> bool:
    """Whether it is a main task of a manager: only for these a decision reads what is new."""
    own = task.in_progress and task.assignee_id == agent.id and state.tree.is_main(task)
    return agent.role is Role.MANAGER and own


def _around(tx: Transaction, project: Project, tree: Tree, seeds: Iterable[str]) -> TreeState:
    seeds = tuple(seeds)
    agents = LazyMapping(lambda: _agents(tx, tree, seeds))
    queued = any(task.for_queue for task in (*tree.tasks.values(), *tree.outside.values()))
    roots = {task.root_id for task in tree.tasks.values()}
    return TreeState(
        project=project,
        tree=tree,
        agents=agents,
        members=LazySet(lambda: tx.agents.members_among(project.id, agents)),
        busy=LazyMapping(lambda: tx.tasks.busy(project.id, agents)),
        signed_in=LazySet(lambda: _signed_in(tx, project.id, agents if queued else ())),
        team=LazyMapping(lambda: _team(tx, project.id)),
        team_members=LazySet(lambda: frozenset(tx.agents.members(project.id))),
        served=LazySet(lambda: served_queues(tx, project.id), lambda queue: _is_served(tx, project.id, queue))
        if queued
        else frozenset(),
        open_delegations=LazyMapping(lambda: tx.chat.awaited(min(roots))) if roots else {},
    )


def _agents(tx: Transaction, tree: Tree, seeds: Iterable[str]) -> Mapping[str, Agent]:
    named = {task.assignee_id for task in (*tree.tasks.values(), *tree.outside.values()) if task.assignee_id}
    known = {agent.id: agent for agent in tx.agents.with_superiors(named | set(seeds))}
    for seed in seeds:
        if seed in known and known[seed].role is not Role.WORKER:
            known.update({agent.id: agent for agent in tx.agents.below(seed)})
    return known


def _team(tx: Transaction, project_id: str) -> dict[str, Agent]:
    return {agent.id: agent for agent in tx.agents.with_superiors(tx.agents.members(project_id))}


def _signed_in(tx: Transaction, project_id: str, driven: Iterable[str]) -> frozenset[str]:
    """Agents with a live task session, and those of `driven` that drive themselves and are online."""
    agents = frozenset(agent_id for agent_id, _ in tx.sessions.signed_in(project_id))
    return agents | tx.queues.online(project_id, driven) if driven else agents


def served_queues(tx: Transaction, project_id: str) -> frozenset[str]:
    """Queues with an agent: one that polls, or an active member that a Coordinator starts."""
    return tx.queues.polled(project_id) | tx.agents.queues_of(project_id)


def _is_served(tx: Transaction, project_id: str, queue: str) -> bool:
    return queue in tx.agents.queues_of(project_id) or tx.queues.is_polled(project_id, queue)

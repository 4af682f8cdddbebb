"""Loads the input of a decision: one agent in one project, in one transaction, through indexed reads only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from toryo.domain.agents import Agent, Role
from toryo.domain.delegations import DelegationStatus
from toryo.domain.handover import INTERRUPT
from toryo.domain.launches import Purpose
from toryo.domain.projects import Project
from toryo.domain.sessions import Session
from toryo.domain.talk_limits import TalkLimits
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import CLOSED, Task
from toryo.domain.times import Millis
from toryo.domain.tree_state import TreeState
from toryo.domain.usages import day_of
from toryo.storage.transaction import Transaction
from toryo.workflow.guard_limits import Limits
from toryo.workflow.snapshot import ChatState, Cooldown, News, Snapshot, offers, whole

_CLOSED = tuple(f"task.{status}" for status in sorted(CLOSED))
_DELEGATION_ENDED = ("delegation.completed", "delegation.failed")
_STUCK = ("task.blocked", "task.failed")


class Unknown(Protocol):
    def __call__(self, tx: Transaction, agent_id: str, tasks: Sequence[Task], now: Millis) -> list[Task]:
        """Those of the tasks for which it is not remembered that this agent could only wait."""


def load(
    tx: Transaction,
    agent_id: str,
    project_id: str,
    now: Millis,
    limits: Limits,
    asking: Session | None = None,
    unknown: Unknown | None = None,
) -> Snapshot:
    """`asking` is the session whose next action is wanted: its main task's tree is loaded in any state."""
    agent, project = tx.agents.find(agent_id), tx.projects.find(project_id)
    membership = tx.agents.membership(project_id, agent_id)
    if agent is None or project is None:
        return Snapshot(now, agent_id, project_id, agent, project, member=False, limits=limits)
    sessions = tx.sessions.live_of(project_id, agent_id)
    if asking is not None and not asking.over:
        sessions[asking.purpose] = asking
    bound = [session for session in (asking, sessions.get(Purpose.TASK)) if session is not None and session.task_id]
    signed_in = tx.sessions.signed_in(project_id)
    tree_states = _grounds(tx, project, agent, bound, frozenset(each for each, _ in signed_in))
    return Snapshot(
        now=now,
        agent_id=agent_id,
        project_id=project_id,
        agent=agent,
        project=project,
        member=membership is not None and membership[1] is None,
        removed_at=membership[1] if membership else None,
        limits=limits,
        tree_states=tree_states,
        blocked_tasks=tx.tasks.blocked(project_id, agent_id),
        launches=tx.launches.live_of(project_id, agent_id),
        sessions=sessions,
        others_on={task: other for other, task in signed_in if task is not None and other != agent_id},
        news={task.id: news_of(tx, task, tree_state) for task, tree_state in _watched(tree_states, agent)},
        cooldowns=_cooldowns(tx, agent_id),
        accounts=_accounts(tx, agent),
        budget_used_up=_budget_used_up(tx, project, now),
        interrupt_waiting=asking is not None and _interrupted(tx, asking),
        offers=_offers(tx, project, agent, now, frozenset(each for each, _ in signed_in), unknown),
    )


def _cooldowns(tx: Transaction, agent_id: str) -> dict[Purpose, Cooldown]:
    return {Purpose(purpose): Cooldown(*cooldown) for purpose, cooldown in tx.agents.cooldowns(agent_id).items()}


def _accounts(tx: Transaction, agent: Agent) -> dict[str, Cooldown]:
    names = {program.account for program in agent.programs if program.account is not None}
    return {name: Cooldown(*each) for name, each in tx.agents.accounts(names).items()} if names else {}


def _budget_used_up(tx: Transaction, project: Project, now: Millis) -> bool:
    if project.settings.budget_per_day is None:
        return False
    return project.settings.budget_used_up(tx.usages.cost_of_day(project.id, day_of(now)))


MOST_OFFERS = 10
"""How many ready queue tasks are loaded with their subtasks per look, to find the first that has work for the agent."""
MOST_BEHIND = 500
"""How many tasks behind those are considered; over several looks each of these is loaded."""


def _offers(
    tx: Transaction,
    project: Project,
    agent: Agent,
    now: Millis,
    signed_in: frozenset[str],
    unknown: Unknown | None,
) -> tuple[tuple[Task, TreeState], ...]:
    """The first ready tasks of its queue. If each could make it wait, also some of the later ones for which this is not
    known, and the first one that cannot make it wait: no task is hidden by those before it.
    """
    if agent.agent_type is None or not agent.managed or not project.active:
        return ()
    queue = (project.id, agent.agent_type, now)

    def around(tasks: Iterable[Task]) -> tuple[tuple[Task, TreeState], ...]:
        near = ((task, _around(tx, project, tx.tasks.tree(task.root_id), signed_in, (agent.id,))) for task in tasks)
        return offers(near, agent.id)

    first = tx.queues.ready(*queue, MOST_OFFERS)
    found = around(first)
    if len(first) < MOST_OFFERS or whole(found[-1]):
        return found
    behind = tx.queues.ready(*queue, MOST_BEHIND, MOST_OFFERS)
    fresh = unknown(tx, agent.id, behind, now) if unknown is not None else behind
    found += around(fresh[:MOST_OFFERS])
    if whole(found[-1]) or (plain := tx.queues.ready_whole(*queue)) is None:
        return found
    return found + around([plain])


def _interrupted(tx: Transaction, asking: Session) -> bool:
    return any(notification.kind == INTERRUPT for notification in tx.handovers.waiting(asking.id))


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
    agent, project = tx.agents.find(agent_id), tx.projects.find(project_id)
    membership = tx.agents.membership(project_id, agent_id)
    if agent is None or project is None:
        return Snapshot(now, agent_id, project_id, agent, project, member=False, limits=limits)
    sessions = tx.sessions.live_of(project_id, agent_id)
    if asking is not None and not asking.over:
        sessions[asking.purpose] = asking
    return Snapshot(
        now=now,
        agent_id=agent_id,
        project_id=project_id,
        agent=agent,
        project=project,
        member=membership is not None and membership[1] is None,
        removed_at=membership[1] if membership else None,
        limits=limits,
        launches=tx.launches.live_of(project_id, agent_id),
        sessions=sessions,
        cooldowns=_cooldowns(tx, agent_id),
        accounts=_accounts(tx, agent),
        interrupt_waiting=asking is not None and _interrupted(tx, asking),
        talk=talk(tx, agent_id, project_id, now, talk_limits, sessions.get(Purpose.CHAT)),
    )


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
    return _around(
        tx, project, tx.tasks.tree(root_id), frozenset(a for a, _ in tx.sessions.signed_in(project.id)), seeds
    )


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
    if by_person and (below or task.id == main.id):
        yield News("person", task.id)


def _watched(tree_states: Iterable[TreeState], agent: Agent) -> list[tuple[Task, TreeState]]:
    """The main tasks of a manager: only for these a decision reads what is new."""
    if agent.role is not Role.MANAGER:
        return []
    return [
        (task, state)
        for state in tree_states
        for task in state.tree.tasks.values()
        if task.in_progress and task.assignee_id == agent.id and state.tree.is_main(task)
    ]


def _grounds(
    tx: Transaction, project: Project, agent: Agent, bound: list[Session], signed_in: frozenset[str]
) -> tuple[TreeState, ...]:
    roots = set(tx.tasks.roots_in_progress(project.id, agent.id))
    tasks = tx.tasks.find_all({session.task_id or "" for session in bound})
    roots.update(task.root_id for task in tasks)
    if not roots:
        return ()
    trees = tx.tasks.trees(sorted(roots))
    return tuple(_around(tx, project, tree, signed_in, (agent.id,)) for tree in trees.values())


def _around(
    tx: Transaction, project: Project, tree: Tree, signed_in: frozenset[str], seeds: Iterable[str]
) -> TreeState:
    named = {task.assignee_id for task in (*tree.tasks.values(), *tree.outside.values()) if task.assignee_id}
    known = {agent.id: agent for agent in tx.agents.with_superiors(named | set(seeds))}
    queued = any(task.for_queue for task in (*tree.tasks.values(), *tree.outside.values()))
    online = tx.queues.online(project.id) if queued else {}
    for seed in seeds:
        if seed in known and known[seed].role is not Role.WORKER:
            known.update({agent.id: agent for agent in tx.agents.below(seed)})
    return TreeState(
        project=project,
        tree=tree,
        agents=known,
        members=tx.agents.members_among(project.id, known),
        busy=tx.tasks.busy(project.id, known),
        signed_in=signed_in | online.keys() if online else signed_in,
        served=_served(tx, project.id, online) if queued else frozenset(),
        open_delegations=tx.chat.awaited(next(iter(tree.tasks.values())).root_id) if tree.tasks else {},
    )


def _served(tx: Transaction, project_id: str, online: Mapping[str, str]) -> frozenset[str]:
    """Queues with an agent: one that polls, or an active member that a Coordinator starts."""
    return frozenset(online.values()) | tx.agents.queues_of(project_id)

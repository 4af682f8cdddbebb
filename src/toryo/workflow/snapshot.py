"""Everything a decision may look at, loaded in one transaction: values only, and what follows from them by counting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from toryo.domain import task_readiness
from toryo.domain.agents import Agent
from toryo.domain.launches import Launch, Purpose
from toryo.domain.projects import Project
from toryo.domain.sessions import Session
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Task
from toryo.domain.times import Millis
from toryo.domain.tree_state import TreeState
from toryo.workflow.guard_limits import Limits


@dataclass(frozen=True, slots=True)
class News:
    """Something that happened to a task after its owner's look, and was not caused by the owner.

    `kind`: `blocked` (or failed), `closed`, `person` (a person wrote on it), `delegation` (one of its own ended).
    """

    kind: str
    task_id: str


@dataclass(frozen=True, slots=True)
class Cooldown:
    """Until when an agent is not started, and why."""

    until: Millis
    reason: str
    failures: int = 0
    program: str | None = None
    """The name of the program that failed; None: whatever it is started with would fail."""


@dataclass(frozen=True, slots=True)
class ChatState:
    """What concerns an agent's chat in a project: loaded only where chat is decided about."""

    undelivered: bool = False
    """A message that was not delivered yet (system messages never count, nor do conversations that are over)."""
    delegation_waits: bool = False
    """A pending delegation."""
    invited: bool = False
    my_turn: bool = False
    """In an active conversation."""
    ending_untold: bool = False
    in_conversation: bool = False
    """In a pending or active one, whoever's turn it is."""
    in_hand: bool = False
    """A delegation that the asking session has fetched."""
    watched: bool = False
    """A person has the panel open."""
    opened_since: bool = False
    """A person opened it after the last chat session ended."""
    idle_at: Millis = 0
    """When the session is idle for longer than `chat.idle_timeout`."""
    changes_at: Millis | None = None
    """When time alone changes any of this."""
    version: int = 0

    @property
    def deliverable(self) -> bool:
        """Something that `get_pending_messages` would hand out."""
        return self.undelivered or self.delegation_waits or self.invited or self.ending_untold

    @property
    def wanted(self) -> bool:
        """A reason to start a process: an ending is none."""
        return self.undelivered or self.delegation_waits or self.invited or self.my_turn or self.opened_since

    @property
    def answers_somebody(self) -> bool:
        """Another agent's turn depends on it: an invitation, or its own turn."""
        return self.invited or self.my_turn


@dataclass(frozen=True)
class Snapshot:
    """One agent in one project, at one moment."""

    now: Millis
    agent_id: str
    project_id: str
    agent: Agent | None
    project: Project | None
    member: bool
    removed_at: Millis | None = None
    """When its membership ended."""
    limits: Limits = field(default_factory=Limits)
    tree_states: tuple[TreeState, ...] = ()
    """One per tree in which the agent has a task in progress (or its session is bound), in no order."""
    blocked_tasks: int = 0
    """Tasks assigned to the agent that are blocked."""
    launches: Mapping[Purpose, Launch] = field(default_factory=dict)
    """The live launch of each purpose."""
    sessions: Mapping[Purpose, Session] = field(default_factory=dict)
    """The live session of each purpose."""
    others_on: Mapping[str, str] = field(default_factory=dict)
    """Main tasks on which another agent's session still lives, and which agent."""
    news: Mapping[str, tuple[News, ...]] = field(default_factory=dict)
    """By main task: what is new to its owner, without what can be dispatched (that is compared with the look)."""
    cooldowns: Mapping[Purpose, Cooldown] = field(default_factory=dict)
    accounts: Mapping[str, Cooldown] = field(default_factory=dict)
    """Of the accounts that its programs use: those whose quota is used up."""
    budget_used_up: bool = False
    interrupt_waiting: bool = False
    """An undelivered interrupt for the session that asks."""
    talk: ChatState = field(default_factory=ChatState)
    offers: tuple[tuple[Task, TreeState], ...] = ()
    """The first ready tasks of the queue that the agent serves, each as it would be once the agent has claimed it."""

    @cached_property
    def main_tasks(self) -> list[tuple[Task, TreeState]]:
        """In progress, the agent's, parent not assigned to it, no ancestor closed; by priority, then age."""
        found = [
            (task, tree_state)
            for tree_state in self.tree_states
            for task in tree_state.tree.tasks.values()
            if task.in_progress
            and task.assignee_id == self.agent_id
            and tree_state.tree.is_main(task)
            and not tree_state.tree.below_closed(task)
        ]
        return sorted(found, key=lambda each: each[0].order)

    def ground_of(self, task_id: str | None) -> TreeState | None:
        """The state of the tree that holds the task."""
        return next((state for state in self.tree_states if task_id in state.tree.tasks), None)


def offers(ready: Iterable[tuple[Task, TreeState]], agent_id: str) -> tuple[tuple[Task, TreeState], ...]:
    """Ready queue tasks as this agent would claim them: up to the first one below which nothing could make it wait."""
    found: list[tuple[Task, TreeState]] = []
    for task, tree_state in ready:
        claimed = tree_state.claimed(task, agent_id)
        found.append((claimed.tree.tasks[task.id], claimed))
        if whole((task, tree_state)):
            break
    return tuple(found)


def whole(offer: tuple[Task, TreeState]) -> bool:
    """Nothing below it could make its agent wait."""
    task, tree_state = offer
    return not tree_state.tree.children(task) and not tree_state.open_delegations.get(task.id)


@dataclass(frozen=True)
class RuleInput:
    """One main task as its owner stands before it. `session` is the session that asks; None when a launch is judged.

    `fetched` is what a judgement of "what could it be told" supposes for the session that does not exist yet.
    """

    snapshot: Snapshot
    tree_state: TreeState
    main: Task
    session: Session | None = None
    fetched: bool = False

    @property
    def tree(self) -> Tree:
        return self.tree_state.tree

    @property
    def agent(self) -> Agent:
        assert self.snapshot.agent is not None
        return self.snapshot.agent

    @cached_property
    def children(self) -> list[Task]:
        return self.tree.children(self.main)

    @cached_property
    def descendants(self) -> list[Task]:
        return list(self.tree.descendants(self.main))

    @cached_property
    def front(self) -> list[Task]:
        """Its subtasks; in the place of each that its owner has in progress but cannot complete, what is open below."""
        return list(self._front(self.main))

    def _front(self, above: Task) -> Iterator[Task]:
        for child in self.tree.children(above):
            if child.in_progress and child.assignee_id == self.agent.id and self.open_below(child):
                yield from (below for below in self._front(child) if below.open)
            else:
                yield child

    def open_below(self, task: Task) -> bool:
        return any(child.open for child in self.tree.children(task))

    @cached_property
    def news(self) -> tuple[News, ...]:
        return self.snapshot.news.get(self.main.id, ())

    @cached_property
    def dispatchable(self) -> list[Task]:
        """Children that a manager could start now, in order."""
        return [child for child in self.children if task_readiness.dispatchable(self.tree_state, child, self.agent.id)]

    @property
    def open_delegations(self) -> int:
        return self.tree_state.open_delegations.get(self.main.id, 0)

"""Everything a decision may read, loaded in one transaction, with values computed from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import field

from toryo.domain import task_readiness
from toryo.domain.agents import Agent
from toryo.domain.budgets import of_task
from toryo.domain.conflict_forecast import Meeting
from toryo.domain.fast_dataclasses import cached_property, dataclass, replace
from toryo.domain.launches import Launch, Purpose
from toryo.domain.projects import Project
from toryo.domain.quota_windows import Kept
from toryo.domain.sessions import Session
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Status, Task
from toryo.domain.times import Millis
from toryo.domain.tree_state import TreeState
from toryo.workflow.guard_limits import Limits


@dataclass(frozen=True, slots=True)
class News:
    """An event on a task after its assignee's last look that the assignee did not cause.

    `kind`: `blocked` (or failed), `closed`, `person` (a person wrote on it), `delegation` or `question` (one of
    its own ended).
    """

    kind: str
    task_id: str


@dataclass(frozen=True, slots=True)
class Cooldown:
    """Until when a program of an agent is not started, or nobody on an account, and why."""

    until: Millis
    reason: str
    failures: int = 0
    """In a row."""
    program: str | None = None
    """The name of the program that failed; None: any program would fail."""
    project_id: str | None = None
    """The project whose fault it was: the agent is held there alone. None: everywhere."""


@dataclass(frozen=True, slots=True)
class ChatState:
    """The state of an agent's chat in a project; loaded only for chat decisions."""

    undelivered: bool = False
    """An undelivered message exists (system messages and messages of ended conversations do not count)."""
    delegation_waits: bool = False
    """A pending delegation exists."""
    invited: bool = False
    my_turn: bool = False
    """It is its turn in an active conversation."""
    ending_untold: bool = False
    in_conversation: bool = False
    """It is in a pending or active conversation, whichever side has the turn."""
    in_hand: bool = False
    """The asking session has fetched a delegation."""
    watched: bool = False
    """A person has the panel open."""
    opened_since: bool = False
    """A person opened the panel after the last chat session ended."""
    idle_at: Millis = 0
    """When the session becomes idle according to `chat.idle_timeout`."""
    changes_at: Millis | None = None
    """When any of this changes because of time alone."""
    version: int = 0

    @property
    def deliverable(self) -> bool:
        """Whether `get_pending_messages` would return something."""
        return self.undelivered or self.delegation_waits or self.invited or self.ending_untold

    @property
    def wanted(self) -> bool:
        """Whether there is a reason to start a process; the end of a conversation is none."""
        return self.undelivered or self.delegation_waits or self.invited or self.my_turn or self.opened_since

    @property
    def answers_somebody(self) -> bool:
        """Whether another agent waits for it: an invitation, or its turn."""
        return self.invited or self.my_turn


@dataclass(frozen=True)
class Snapshot:
    """One agent in one project at one instant."""

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
    """One per tree in which the agent has a task in progress or its session is bound; unordered."""
    blocked_tasks: int = 0
    """Number of blocked tasks assigned to the agent."""
    launches: Mapping[Purpose, Launch] = field(default_factory=dict)
    """The live launch of each purpose."""
    sessions: Mapping[Purpose, Session] = field(default_factory=dict)
    """The live session of each purpose."""
    others_on: Mapping[str, str] = field(default_factory=dict)
    """Main tasks on which another agent's session is still alive, and that agent."""
    held_back: Mapping[str, Meeting] = field(default_factory=dict)
    """Tasks that have not begun and would change the same files as another one, which they wait for."""
    unmerged: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By task: what it depends on that is completed and whose work is not merged, where the project waits for that."""
    news: Mapping[str, tuple[News, ...]] = field(default_factory=dict)
    """By main task: what is new to its assignee. Without dispatchable tasks, which are compared with the last look."""
    cooldowns: Mapping[Purpose, Sequence[Cooldown]] = field(default_factory=dict)
    """At most one of each program; those that are over as well."""
    accounts: Mapping[str, Cooldown] = field(default_factory=dict)
    """The accounts of its programs whose quota is used up."""
    kept: Mapping[str, Kept] = field(default_factory=dict)
    """The accounts of which something is kept from tasks that are not urgent."""
    budget_used_up: bool = False
    """Whether the project's budget of today is."""
    agent_budget_used_up: bool = False
    """Whether the agent's own of today is."""
    over_budget: Mapping[str, str] = field(default_factory=dict)
    """By task: the task whose budget is used up, itself or one above it."""
    interrupt_waiting: bool = False
    """An undelivered interrupt exists for the asking session."""
    talk: ChatState = field(default_factory=ChatState)
    offers: tuple[tuple[Task, TreeState], ...] = ()
    """The first ready tasks of the agent's queue, each in the state after the agent has claimed it."""

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

    def with_live(self, sessions: Mapping[Purpose, Session], launches: Mapping[Purpose, Launch]) -> Snapshot:
        """This snapshot with other live sessions and launches; what is read only when asked stays so."""
        found = copy(self)
        vars(found).update(sessions=sessions, launches=launches)
        return found

    def with_given_back(self, task_ids: Collection[str]) -> Snapshot:
        """This snapshot after these queue tasks of the agent went back to their queues, where they rest."""
        found = copy(self)
        vars(found).update(tree_states=tuple(self._given_back(each, task_ids) for each in self.tree_states))
        vars(found).pop("main_tasks", None)
        return found

    def _given_back(self, state: TreeState, task_ids: Collection[str]) -> TreeState:
        for task in list(state.tree.tasks.values()):
            if task.id in task_ids and task.for_queue and task.in_progress and task.assignee_id == self.agent_id:
                given = replace(task, status=Status.TODO, assignee_id=None)
                state = replace(state, tree=state.tree.changed(given))
        return state

    def ground_of(self, task_id: str | None) -> TreeState | None:
        """The state of the tree that holds the task."""
        return next((state for state in self.tree_states if task_id in state.tree.tasks), None)


def offers(ready: Iterable[tuple[Task, TreeState]], agent_id: str) -> tuple[tuple[Task, TreeState], ...]:
    """Ready queue tasks in the state after this agent has claimed them, up to the first that cannot make it wait."""
    found: list[tuple[Task, TreeState]] = []
    for task, tree_state in ready:
        claimed = tree_state.claimed(task, agent_id)
        found.append((claimed.tree.tasks[task.id], claimed))
        if whole((task, tree_state)):
            break
    return tuple(found)


def whole(offer: tuple[Task, TreeState]) -> bool:
    """Whether nothing below it, and no budget, could make its agent wait."""
    task, tree_state = offer
    return (
        not of_task(task).limits and not tree_state.tree.children(task) and not tree_state.open_delegations.get(task.id)
    )


@dataclass(frozen=True)
class RuleInput:
    """One main task from its assignee's view. `session` is the asking session; None for launch decisions.

    `fetched` is the assumed state of a session that does not exist yet.
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
        """Its subtasks. A subtask that the assignee has in progress but cannot complete is replaced by the open tasks
        below it.
        """
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

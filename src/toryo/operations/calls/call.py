"""One call as its handler sees it: transaction, caller and time; and lookups of what the caller may see.

Every lookup by id goes through here, so that an id of another project is never found. `visibility.py` decides who may
see what.
"""

from __future__ import annotations

from typing import Any

from toryo.deeds import Blank, deed
from toryo.domain import ids
from toryo.domain.agents import SYSTEM, Agent
from toryo.domain.errors import Code, Refusal
from toryo.domain.events import SETUP, Event, of_setup
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Launch, Purpose
from toryo.domain.moves import Actor
from toryo.domain.projects import Language, Project
from toryo.domain.sessions import Session
from toryo.domain.tasks import Task
from toryo.domain.times import Millis
from toryo.domain.tree_state import TreeState
from toryo.domain.wording import say
from toryo.operations.calls import did_you_mean, proofs, reachable_agents, visibility
from toryo.operations.calls.callers import Caller, Kind, Login
from toryo.operations.calls.context import Context
from toryo.storage import snapshots
from toryo.storage.transaction import Transaction
from toryo.workflow.snapshot import Snapshot

DOING = "doing"
"""The topic that wakes who tells people what agents do at the moment."""
WORK = "work"
"""The topic that wakes all who decide which agents should run."""
RIGHTS = "rights"
"""The topic that wakes every waiting call after a right was lost, so that the caller who lost it is refused."""


class Call:
    """`may_wait` says whether a handler may answer `Later`; `session` follows what the call does to its session."""

    place = 0
    """Among several calls of one transaction: what is filed in each stays in their order."""

    def __init__(
        self,
        tx: Transaction,
        caller: Caller,
        now: Millis,
        context: Context,
        *,
        may_wait: bool = False,
        correlation_id: str | None = None,
        once: str = "",
        browser: str | None = None,
        remote: str | None = None,
        signed_in_before: str | None = None,
        page: str | None = None,
        prepared: Any = None,
    ) -> None:
        self.tx = tx
        self.caller = caller
        self.now = now
        self.context = context
        self.may_wait = may_wait
        self.correlation_id = correlation_id
        self.once = once
        self.browser = browser
        self.remote = remote
        self.signed_in_before = signed_in_before
        self.page = page
        self.prepared = prepared
        self.made: dict[str, str] = {}
        """The ids that this call has given, and what people call those things."""
        self.told: list[Event] = []
        """What happened by it."""
        self.later_lines: set[tuple[str, str | None]] | None = None
        """Projects and agents (None: anyone who is free) whose lines go on at the end of this act; None: at once."""
        self._session = self._stored = caller.session
        self._actor: tuple[Caller, Actor] | None = None

    # --- who -----------------------------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The caller's session; the grant has seen to it that there is one."""
        assert self._session is not None
        return self._session

    @property
    def has_session(self) -> bool:
        return self._session is not None

    @property
    def agent(self) -> Agent:
        assert self.caller.agent is not None
        return self.caller.agent

    @property
    def actor(self) -> Actor:
        """The caller as an actor in the rules about tasks."""
        if self._actor is None or self._actor[0] is not self.caller:
            self._actor = (self.caller, self._as_actor())
        return self._actor[1]

    def _as_actor(self) -> Actor:
        if self.caller.kind is Kind.PERSON:
            return Actor(self.caller.actor_id, person=True, everything=self.caller.login is Login.OWNER)
        if self.caller.kind is Kind.SESSION:
            return Actor(self.caller.actor_id, person=self.agent.human, session_id=self.session.id)
        if self.caller.kind is Kind.QUEUE:
            return Actor(self.caller.actor_id)
        internal = self.caller.kind in (Kind.SERVER, Kind.COORDINATOR)
        return Actor(SYSTEM, everything=internal, guard=internal)

    def prove(self) -> None:
        """Raises Refusal if a browser calls whose person must prove again who they are."""
        proofs.refuse_unproven(self.caller, self.now)

    def forget(self) -> None:
        """From here on the caller is nobody: what was shown is over, and something else says who it is."""
        self.caller, self._session, self._stored = Caller(Kind.NOBODY), None, None

    def adopt(self, session: Session) -> None:
        """From here on this is the caller's session (it has just signed in)."""
        self._session = self._stored = session
        agent, launch = (
            self.caller.agent or self.tx.agents.find(session.agent_id),
            self.tx.launches.find(session.launch_id),
        )
        self.caller = replace(self.caller, kind=Kind.SESSION, agent=agent, session=session, launch=launch)

    @property
    def stored_session(self) -> Session:
        """The caller's session as it is stored."""
        assert self._stored is not None
        return self._stored

    def adopt_counts(self, session: Session) -> None:
        """The same session, counted further."""
        self._session = session

    def change_session(self, **fields: Any) -> Session:
        """Changes the caller's session; it is stored when the call has ended well."""
        self._session = replace(self.session, **fields)
        return self._session

    @property
    def language(self) -> Language:
        """Of the instructions in the project of the caller's session."""
        project = self.tx.projects.find(self.session.project_id)
        return project.settings.language if project is not None else Language.ENGLISH

    # --- new things ----------------------------------------------------------------------------------------------

    def new_id(self, prefix: str, called: str = "") -> str:
        """`called`: what people call the thing, for a refusal by which it does not come to be."""
        made = ids.make(prefix, self.now, self.context.entropy(50))
        self.made[made] = called
        return made

    def new_token(self, prefix: str) -> str:
        """A secret of 192 random bits; only its hash is stored."""
        self.prove()
        return prefix + f"{self.context.entropy(192):048x}"

    def event(
        self,
        kind: str,
        *,
        task: Task | None = None,
        of: Session | Launch | None = None,
        project_id: str | None = None,
        agent_id: str | None = None,
        actor: Actor | None = None,
        fact: bool = False,
        data: dict[str, Any] | None = None,
    ) -> None:
        """Appends to the event log, in this transaction. What is not said follows from the task, from the session or
        launch `of` which it is told, and from the caller's session."""
        if data is not None and data.get("widened"):
            self.prove()
        who, own = actor or self.actor, self._session
        session = of if isinstance(of, Session) else own
        place = task or of or own
        self.told.append(
            Event(
                id=self.new_id(ids.EVENT),
                at=self.now,
                actor_id=who.id,
                by_person=who.person,
                kind=kind,
                fact=fact or of_setup(kind),
                project_id=project_id or (place.project_id if place else None),
                root_id=task.root_id if task else SETUP if of_setup(kind) else None,
                task_id=task.id if task else None,
                agent_id=agent_id or (of.agent_id if of else task.assignee_id if task else None),
                session_id=session.id if session else None,
                launch_id=of.id if isinstance(of, Launch) else session.launch_id if session else None,
                correlation_id=(task.correlation_id if task else None) or (own.correlation_id if own else None),
                data=data or {},
            )
        )
        self.tx.events.append(self.told[-1])
        self.tx.hint("events")

    # --- finding -------------------------------------------------------------------------------------------------

    def enter(self, project_id: str) -> None:
        """From here on nobody else changes this project: call it before reading what a decision rests on."""
        self.tx.lock_project(project_id)

    def project(self, project_id: str) -> Project:
        found = self.tx.projects.find(project_id)
        if found is None or not visibility.sees(self, project_id):
            raise Refusal(
                Code.PROJECT_NOT_FOUND,
                say("There is no project {project_id}.", project_id=project_id),
                did_you_mean.hint(project_id, self._projects(), say("{deed:List them: ….}", deed=deed("projects"))),
                project_id=project_id,
            )
        return found

    def task(self, task_id: str) -> Task:
        found = self.tx.tasks.find(task_id)
        if found is None or not visibility.sees(self, found.project_id):
            raise Refusal(
                Code.TASK_NOT_FOUND,
                say("There is no task {task_id} that you can see.", task_id=task_id),
                did_you_mean.hint(task_id, self.tasks_like(task_id), self._where_tasks_are()),
                task_id=task_id,
            )
        return found

    def known_agent(self, agent_id: str) -> Agent:
        found = self.tx.agents.find(agent_id)
        if found is None or not visibility.sees_agent(self, found):
            raise Refusal(
                Code.AGENT_NOT_FOUND,
                say("There is no agent {agent_id}.", agent_id=agent_id),
                did_you_mean.hint(agent_id, self._agents(), self._where_agents_are()),
                agent_id=agent_id,
            )
        return found

    @property
    def of_agent(self) -> bool:
        """Whether an agent's program calls: what people do about something would be no help to it."""
        return self.caller.kind in (Kind.SESSION, Kind.LAUNCH, Kind.QUEUE)

    def _projects(self) -> list[tuple[str, str]]:
        """Those that the caller sees, with their names."""
        return [(project.id, project.name) for project in self.tx.projects.all() if visibility.sees(self, project.id)]

    def _agents(self) -> list[tuple[str, str]]:
        if self.of_agent:
            return [
                (other.id, other.name)
                for other in reachable_agents.others(self.tx, self.caller, self.caller.project_id or "")
            ]
        return [(agent.id, agent.name) for agent in self.tx.agents.all() if visibility.sees_agent(self, agent)]

    def tasks_like(self, given: str, project_id: str | None = None) -> list[tuple[str, str]]:
        """Tasks that the caller sees (in a project) and may have meant."""
        projects = [project_id] if project_id is not None else [each for each, _ in self._projects()]
        return self.tx.task_lists.near(given, projects) if len(given) >= did_you_mean.SHORTEST else []

    def _where_agents_are(self) -> str:
        return (
            reachable_agents.ids_in_words(self.tx, self.caller)
            if self.of_agent
            else say("{deed:List them: ….}", deed=deed("agents"))
        )

    def _where_tasks_are(self) -> str:
        """Where this caller finds ids of tasks."""
        if self.caller.kind is Kind.SESSION:
            return "Call list_tasks for the ids of your project's tasks."
        if self.caller.kind is Kind.QUEUE:
            return "Use a task_id that create_task or poll_tasks returned to you."
        return say("{deed:List them: ….}", deed=deed("list", project_id=Blank("PRJ")))

    def tree_state(self, task: Task, *further: str) -> TreeState:
        """The state of a task's tree; `further` agents matter although no task names them yet."""
        project = self.tx.projects.find(task.project_id)
        assert project is not None
        seeds = [self.caller.agent.id, *further] if self.caller.agent is not None else [*further]
        return snapshots.tree_state(self.tx, project, task.root_id, *seeds)

    def snapshot(self, agent_id: str, project_id: str, asking: Session | None = None) -> Snapshot:
        limits, look = self.context.limits, self.context.waits.look()
        return snapshots.load(self.tx, agent_id, project_id, self.now, limits, asking, look)

    def chat_snapshot(self, agent_id: str, project_id: str, asking: Session | None = None) -> Snapshot:
        """What decisions about chat look at."""
        return snapshots.load_chat(
            self.tx, agent_id, project_id, self.now, self.context.limits, self.context.talk, asking
        )

    def own_snapshot(self) -> Snapshot:
        """The snapshot of the caller's session."""
        session = self.session
        load = self.chat_snapshot if session.purpose is Purpose.CHAT else self.snapshot
        return load(session.agent_id, session.project_id, session)

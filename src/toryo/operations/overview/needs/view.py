"""What the sources of needs share: who is there, who a need concerns, and what is said of a task in several of them.

A request concerns everyone who may judge it; any other need the person nearest above the agent, or else the owners."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from copy import copy
from functools import cached_property, partial
from typing import Any

from toryo.deeds import Deed, deed
from toryo.domain import people
from toryo.domain.agents import Agent, active_owners, approvers, may_be_asked, people_above
from toryo.domain.fast_dataclasses import replace
from toryo.domain.needs import Kind, Need, Request
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.questions import Question
from toryo.domain.tasks import Task
from toryo.domain.times import Millis
from toryo.domain.wording import Worded, constant, say
from toryo.operations.calls import deeds, fault_isolation, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Login
from toryo.operations.overview.home_state import Picture
from toryo.operations.tasks import above as above_tasks

BRIEF = 500
"""Characters of somebody's words that an item shows."""
NEEDS = "needs"
NO_REASON = "No reason was given."


class View:
    """Agents and projects, read once, and which people a need concerns. `people`: those it is computed for; `picture`:
    of open work, if it was taken already."""

    def __init__(self, call: Call, people: Collection[Agent] | None, picture: Picture | None = None) -> None:
        self.call = call
        self.taken = picture
        self.now = call.now
        self.agents = {agent.id: agent for agent in call.tx.agents.all()}
        self.tree = {agent.id: agent.reports_to for agent in self.agents.values()}
        everybody = (agent for agent in self.agents.values() if agent.human and agent.active)
        self.people = frozenset(agent.id for agent in (everybody if people is None else people))
        all_projects = call.tx.projects.all()
        self.projects = frozenset(
            project.id for project in all_projects if project.status is not ProjectStatus.ARCHIVED
        )
        self._logins: dict[str, Login] = {}
        self._places: dict[str, frozenset[str] | None] = {}

    def about(self, agent: Agent, find: Callable[..., Iterator[Need]], *more: Any, asks: bool = True) -> Iterable[Need]:
        """What is found of an agent, if that can be found."""
        nothing: list[Need] = []
        look: Callable[[], list[Need]] = partial(list, find(self, agent, *more))
        return fault_isolation.fenced(self.call, NEEDS, look, nothing, agent_id=agent.id, asks=asks)

    def only(self, project_id: str) -> View:
        """The same, with nothing in it but one project."""
        narrow = copy(self)
        narrow.projects, narrow.taken = frozenset({project_id}), Picture(self.call, project_id, idle=False)
        return narrow

    @property
    def picture(self) -> Picture:
        if self.taken is None:
            self.taken = Picture(self.call, idle=False)
        return self.taken

    def name(self, agent_id: str | None) -> str:
        agent = self.agents.get(agent_id or "")
        return agent.name if agent is not None else agent_id or "nobody"

    def human(self, agent_id: str | None) -> bool:
        agent = self.agents.get(agent_id or "")
        return agent is not None and agent.human

    def judges(self, agent_id: str | None, project_id: str | None) -> list[str]:
        """The people who are asked to approve what an agent does."""
        found = approvers(agent_id, self.agents, self.tree, self._asks_about(project_id), self._owners)
        return [agent.id for agent in found]

    def responsible(self, agent_id: str | None, project_id: str | None) -> list[str]:
        """The person next above an agent; where there is none, the owners."""
        above = people_above(agent_id, self.agents, self.tree, self._asks_about(project_id))
        return [agent.id for agent in above[:1]] or self.owners()

    def owners(self) -> list[str]:
        return [agent.id for agent in self._owners]

    @cached_property
    def _owners(self) -> list[Agent]:
        return active_owners(self.agents.values())

    def _asks_about(self, project_id: str | None) -> Callable[[Agent], bool]:
        return lambda person: self.is_asked(person, project_id)

    def owns(self, person_id: str) -> bool:
        """Whether a person may do what only owners may."""
        return self._login(person_id) is Login.OWNER

    def allowed(self, need: Need) -> Need:
        """With nothing to do but what its person may do."""
        login = self._login(need.person_id)
        return replace(need, actions=tuple(action for action in need.actions if deeds.may(login, action)))

    def _login(self, person_id: str) -> Login:
        """What somebody asks with; of somebody else, what their account is for."""
        caller = self.call.caller
        if caller.agent is not None and caller.agent.id == person_id and caller.login is not None:
            return caller.login
        if person_id not in self._logins:
            account = self.call.tx.people.account(person_id)
            self._logins[person_id] = Login(people.role_of(self.agents[person_id], account))
        return self._logins[person_id]

    def is_asked(self, person: Agent, project_id: str | None) -> bool:
        if project_id is None:
            return True
        if person.id not in self._places:
            self._places[person.id] = visibility.asked_about(self.call, person)
        places = self._places[person.id]
        return places is None or project_id in places

    def can_be_asked(self, person_id: str | None, project_id: str) -> bool:
        """Whether this is a person who is there, and is asked about the project."""
        person = self.agents.get(person_id or "")
        return person is not None and may_be_asked(person, self._asks_about(project_id))

    def here(self, tasks: Iterable[Task]) -> list[Task]:
        """Those of projects that are not archived."""
        return [task for task in tasks if task.project_id in self.projects]

    def of_task(
        self,
        kind: Kind,
        task: Task,
        title: str,
        text: str,
        *actions: Deed,
        since: Millis,
        to: Iterable[str] | None = None,
        about: str | None = None,
        request: Request | None = None,
        questions: tuple[Question, ...] = (),
    ) -> Iterator[Need]:
        """One need for each of these people; without any, for who is responsible."""
        for person_id in self.responsible(task.assignee_id, task.project_id) if to is None else to:
            yield Need(
                person_id=person_id,
                kind=kind,
                about=about or task.id,
                title=title,
                text=text,
                since=since,
                actions=(*actions, deed("show", task_id=task.id)),
                project_id=task.project_id,
                task_id=task.id,
                agent_id=task.assignee_id,
                request=request,
                questions=questions,
            )


def judges(call: Call, agent_id: str | None, project_id: str) -> list[Agent]:
    """The people who may approve a request for this agent."""
    view = View(call, None)
    return [view.agents[judge] for judge in view.judges(agent_id, project_id)]


def said_by(name: str, reason: str) -> Worded:
    """Somebody's words, in brief; a sentence of our own as it is."""
    brief = reason if isinstance(reason, Worded) else reason[:BRIEF]
    return say("{who}: {reason}", who=name, reason=brief) if name else constant(brief)


def left_to_agent(view: View, task: Task, known: dict[str, Task]) -> bool:
    return above_tasks.left_to_agent(task, known, view.human)


def logs_of(view: View, tasks: Collection[Task]) -> dict[str, Deed]:
    """By task: what was printed by the process in which its assignee has moved it (it may have been started for the
    task above), else by the newest that was started for it."""
    tx = view.call.tx
    ids = sorted({task.moved_session for task in tasks if task.moved_session is not None})
    sessions = {each.id: each for each in tx.sessions.find_all(ids)} if ids else {}
    moved = {
        task.id: session.launch_id
        for task in tasks
        if (session := sessions.get(task.moved_session or "")) is not None and session.agent_id == task.assignee_id
    }
    launches = {each.id: each for each in tx.launches.find_all(sorted({*moved.values()}))} if moved else {}
    others = [task.id for task in tasks if task.id not in moved]
    newest = tx.launches.last_of_tasks(others) if others else {}
    found = {task_id: launches.get(launch_id) for task_id, launch_id in moved.items()} | newest
    return {
        task_id: deed("log", launch_id=launch.id)
        for task_id, launch in found.items()
        if launch is not None and launch.coordinator_id is not None
    }

"""Needs, derived from facts on every request; nothing is stored, so nothing is stale.

`SOURCES` has one function per kind of need; stuck tasks (`stuck.py`) come last, for what no other kind covers. A
request concerns everyone who may judge it; any other need the person nearest above the agent, or else the owners.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property, partial
from itertools import takewhile
from typing import Any
from urllib.parse import quote

from toryo.block_reasons import WORDS
from toryo.deeds import TO_SAY, Blank, Deed, Word, deed, terminal
from toryo.domain import acceptance, budgets, merge_queue, moves, people, task_readiness, usages
from toryo.domain.agents import Agent, active_owners, approvers, may_be_asked, mistakes_of, people_above
from toryo.domain.delegations import Delegation, DelegationStatus
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Launch, Purpose
from toryo.domain.merge_queue import Entry
from toryo.domain.messages import MessageKind
from toryo.domain.needs import Kind, Need, Request, requested
from toryo.domain.projects import Project
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.questions import Question
from toryo.domain.sources import Source
from toryo.domain.task_readiness import StartBlocker
from toryo.domain.tasks import Details, Status, Task
from toryo.domain.texts import one_line, quoted
from toryo.domain.times import DAY, Millis, iso
from toryo.domain.wording import Worded, constant, say, together
from toryo.domain.worktrees import Review, Worktree
from toryo.failures import NATURES, Failure, class_of, nature_of, ordered
from toryo.operations.calls import deeds, fault_isolation, rendering, schemas, sign_in_lockout, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Login
from toryo.operations.calls.internal_faults import Fault
from toryo.operations.directory import wider_rights
from toryo.operations.launches import cooldowns, reason_texts
from toryo.operations.overview import stuck, unplaced
from toryo.operations.overview.home_state import Picture
from toryo.operations.overview.stuck import Stuck
from toryo.operations.overview.unplaced import Unplaced
from toryo.operations.tasks import above as above_tasks
from toryo.operations.tasks import remedies, requested_changes
from toryo.operations.worktrees import base_checks, merge_queue_texts, reviews, worktree_locks
from toryo.storage.errors import DatabaseUnavailable
from toryo.storage.needs import Unread
from toryo.storage.snapshots import spent_for, used_up_by_agent
from toryo.workflow import reasons
from toryo.workflow.reasons import REASONS
from toryo.workflow.snapshot import Cooldown

BRIEF = 500
"""Characters of somebody's words that an item shows."""
FAILED_WITHIN: Millis = 30 * DAY
"""Older failures that nobody has handled are shown in the lists of tasks only."""
MOST_FAILED = 500

_FIXED_BY_PEOPLE = {failure.value: nature for failure, nature in NATURES.items() if nature.people is not None}
"""Failures that time does not help."""
_GUARDED = {failure.value: nature for failure, nature in NATURES.items() if nature.guarded is not None}
"""Failures that a guard has made an end of; it is started again when its cooldown is over."""
_REPEATED = frozenset({*NATURES} - {*_FIXED_BY_PEOPLE, *_GUARDED, Failure.QUOTA})
"""Failures that can pass with time: people hear of the third in a row. A quota has a time of its own."""
_IN_A_ROW = 3
_NO_REASON = "No reason was given."


NEEDS = "needs"


def of(call: Call, person: Agent, picture: Picture | None = None) -> list[Need]:
    """What needs this person, the most urgent first. Of a `picture` that was taken already: in its projects."""
    return [need for need in _found(_View(call, [person], picture)) if need.person_id == person.id]


def concerns(call: Call, need: Need, project_id: str) -> bool:
    """Whether it belongs to a project: it names it, or only an agent that is a member of it."""
    if need.project_id is not None or need.agent_id is None:
        return need.project_id == project_id
    return project_id in call.tx.agents.projects_of(need.agent_id)


def of_everybody(call: Call) -> list[Need]:
    """What needs any of the people who are active."""
    return _found(_View(call, None))


def shown(need: Need, now: Millis) -> schemas.Need:
    """A need as people and programs are shown it."""
    return {
        "kind": need.kind.value,
        "key": need.key,
        "project_id": need.project_id,
        "task_id": need.task_id,
        "agent_id": need.agent_id,
        "title": need.title,
        "text": need.text,
        "since": iso(need.since),
        "actions": deeds.shown(need.actions),
        "request": _request(need.request) if need.request is not None else None,
        "questions": [rendering.question(each, now) for each in need.questions],
        "path": _path(need),
    }


def _path(need: Need) -> str:
    project = f"/p/{quote(need.project_id, safe='')}" if need.project_id is not None else None
    if need.kind is Kind.MESSAGE and project is not None and need.agent_id is not None:
        return f"{project}/chat?agent={quote(need.agent_id, safe='')}"
    if need.kind is Kind.REVIEW and project is not None and need.task_id is not None:
        return f"{project}/review/{quote(need.task_id, safe='')}"
    if need.task_id is not None:
        return f"/t/{quote(need.task_id, safe='')}"
    return project or "/"


def _request(each: Request) -> schemas.NeedRequest:
    return {
        "title": each.title,
        "description": each.description,
        "context": each.context,
        "acceptance": list(each.acceptance),
        "commands": list(each.commands),
        "assignee_id": each.assignee_id,
        "asked_by": each.asked_by,
        "asked_for": each.asked_for,
        "version": each.version,
        "complete": each.complete,
    }


def judges(call: Call, agent_id: str | None, project_id: str) -> list[Agent]:
    """The people who may approve a request for this agent."""
    view = _View(call, None)
    return [view.agents[judge] for judge in view.judges(agent_id, project_id)]


class _View:
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

    def only(self, project_id: str) -> _View:
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


def _found(view: _View) -> list[Need]:
    found = [need for source in SOURCES for need in _by_project(view, source)]
    told = {each.task_id for each in found if each.task_id is not None}
    whole = partial(_stuck_in, told=told)
    found += _by_project(view, whole)
    found += _faults(view)
    mine = _folded(each for each in found if each.person_id in view.people)
    return sorted((view.allowed(each) for each in mine), key=lambda each: each.order)


_FOLDED = {Kind.DEAD_LETTER: "list_dead_letters", Kind.STUCK: "list"}
"""Kinds of which one cause (a queue whose tasks fail, an agent that stays away) brings many; what lists them."""


def _folded(found: Iterable[Need]) -> Iterator[Need]:
    """What has one cause is one need, told of the first: the same as long as there is any, so people are told once.

    What can be done about it is what can be done about each of them alike, and to look at them all.
    """
    alike: dict[tuple[str, str], list[Need]] = {}
    for need in found:
        if need.kind in _FOLDED:
            alike.setdefault((need.person_id, need.key), []).append(need)
        else:
            yield need
    for those in alike.values():
        first, more = those[0], len(those) - 1
        if not more:
            yield first
            continue
        listing = deed(_FOLDED[first.kind], project_id=first.project_id)
        common = [action for action in first.actions if all(action in other.actions for other in those)]
        others = say("The same applies to {more} more tasks.", more=more) if more > 1 else constant(_ONE_MORE)
        yield replace(
            first,
            title=together((first.title, say("and {more} more", more=more))),
            text=together((first.text, others)) if first.kind is Kind.STUCK else first.text,
            actions=tuple(sorted((*common, listing), key=lambda each: each.name == "log")),
            since=min(need.since for need in those),
            also=tuple(need.task_id for need in those[1:] if need.task_id is not None),
        )


_ONE_MORE = "The same applies to one more task."


def _by_project(view: _View, source: Callable[[_View], Iterator[Need]]) -> list[Need]:
    """All that a source finds; where it fails, what it finds in each project in which it does not."""
    try:
        with view.call.tx.connection.savepoint():
            return list(source(view))
    except DatabaseUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - noted for the project that it concerns
        found: list[Need] = []
        if source in _OF_AGENTS:
            view.call.context.faults.note(NEEDS, None, None, view.now, error)
            return found
        for project_id in sorted(view.projects):
            look: Callable[[], list[Need]] = partial(list, source(view.only(project_id)))
            found += fault_isolation.fenced(view.call, NEEDS, look, [], project_id=project_id)
        return found


def _of_task(
    people: Iterable[str],
    kind: Kind,
    task: Task,
    words: tuple[str, str],
    *actions: Deed,
    since: Millis,
    request: Request | None = None,
) -> Iterator[Need]:
    """One need for each of these people; `words` are its title and its text."""
    for person_id in people:
        yield Need(
            person_id=person_id,
            kind=kind,
            about=task.id,
            title=words[0],
            text=words[1],
            since=since,
            actions=(*actions, deed("show", task_id=task.id)),
            project_id=task.project_id,
            task_id=task.id,
            agent_id=task.assignee_id,
            request=request,
        )


# --- tasks -----------------------------------------------------------------------------------------------------------


def _approvals(view: _View) -> Iterator[Need]:
    """Requests that nobody has judged: everybody who may is asked."""
    waiting = view.here(view.call.tx.needs.unapproved())
    details = view.call.tx.tasks.details_of(each.id for each in waiting)
    for task in waiting:
        request = requested(task, details.get(task.id, Details()))
        described = request.description[:BRIEF].strip()
        yield from _of_task(
            view.judges(task.assignee_id, task.project_id),
            Kind.APPROVAL,
            task,
            (
                say("Approval requested: {title}", title=task.title),
                together(
                    (
                        _asks(view, request),
                        say("It runs {commands}.", commands=_listed(request.commands)) if request.commands else "",
                        say("Context: {context}", context=request.context[:BRIEF]) if request.context else "",
                        say("Description: {description}", description=described) if described else "",
                    )
                ),
            ),
            deed("approve", task_id=task.id),
            deed("reject", task_id=task.id, reason=TO_SAY),
            since=task.updated_at,
            request=request,
        )


def _questions(view: _View) -> Iterator[Need]:
    """What agents ask and nobody has answered: all that one task asks one person is one form. And the reviews that no
    agent does, and checks that cannot run: once, however many tasks wait for the same, since one answer is for all."""
    asked: dict[tuple[str, str | None, bool], list[Question]] = {}
    for question in view.call.tx.questions.all_open():
        if question.project_id in view.projects and question.review_task_id is None:
            form_of = (question.task_id, _asked_person(view, question), question.review)
            asked.setdefault(form_of, []).append(question)
    tasks = {task.id: task for task in view.call.tx.tasks.find_all(sorted({task_id for task_id, *_ in asked}))}
    cannot_run: dict[tuple[str, str, str], Need] = {}
    for (task_id, person_id, review), form in asked.items():
        task, first = tasks[task_id], form[0]
        for need in _of_task(
            [person_id] if person_id is not None else view.responsible(task.assignee_id, task.project_id),
            Kind.QUESTION,
            task,
            (
                say("A check cannot run: {title} ({agent})", title=task.title, agent=view.name(first.agent_id))
                if first.about_checks
                else say(
                    "{question} ({agent})",
                    agent=view.name(first.agent_id),
                    question=one_line(first.question)[:BRIEF],
                )
                if review
                else say(
                    "{agent} asks: {question}",
                    agent=view.name(first.agent_id),
                    question=one_line(first.question)[:BRIEF],
                )
                if len(form) == 1
                else say(
                    "{agent} asks {count} questions: {title}",
                    agent=view.name(first.agent_id),
                    count=len(form),
                    title=task.title,
                ),
                together((*(_asked(each) for each in form[1:] and form), *_terms(view, form))),
            ),
            deed("answer_question", question_id=first.id, text=TO_SAY),
            *(() if review else (deed("withdraw", question_id=first.id),)),
            since=first.created_at,
        ):
            same = (need.person_id, task.project_id, first.alike)
            if not first.about_checks:
                yield replace(need, questions=tuple(form))
            elif (before := cannot_run.get(same)) is None:
                cannot_run[same] = replace(need, questions=tuple(form))
            else:
                cannot_run[same] = replace(before, also=(*before.also, task.id))
    for need in cannot_run.values():
        more = len(need.also)
        title = together((need.title, say("and {more} more", more=more))) if more else need.title
        yield replace(need, title=title)


def _asked_person(view: _View, question: Question) -> str | None:
    """Who the agent has named, if they can still answer."""
    return question.to_person if view.can_be_asked(question.to_person, question.project_id) else None


def _asked(question: Question) -> str:
    return f"{one_line(question.question)[:BRIEF]} ({question.id})"


def _terms(view: _View, form: Sequence[Question]) -> Iterator[Worded]:
    """Which options there are, and what happens when."""
    [first, *more] = form
    if not more and first.options:
        yield say("Options: {options}.", options=", ".join(map(quoted, first.options)))
    due = min((each for each in form if each.deadline is not None), key=lambda each: each.deadline or 0, default=None)
    if due is None or due.deadline is None:
        return
    if due.overdue(view.now) and due.fallback is None:
        yield say("Overdue since {time}.", time=iso(due.deadline))
    elif due.fallback is None:
        yield say("An answer is needed by {time}.", time=iso(due.deadline))
    else:
        yield say("Without an answer by {time}: {default}.", time=iso(due.deadline), default=quoted(due.fallback))


def _asks(view: _View, request: Request) -> Worded:
    """Who requested it, on whose behalf, and who would be assigned."""
    asker, assignee = view.name(request.asked_by), view.name(request.assignee_id)
    if request.asked_for is None:
        return say("Requested by {asker}. Would be assigned to {assignee}.", asker=asker, assignee=assignee)
    return say(
        "Requested by {asker} for {person}. Would be assigned to {assignee}.",
        asker=asker,
        person=view.name(request.asked_for),
        assignee=assignee,
    )


def _listed(commands: Iterable[str]) -> Worded:
    return together((f"`{command[:BRIEF]}`" for command in commands), ", ")


def _blocks(view: _View) -> Iterator[Need]:
    """Blocks that a guard has set, and those that no agent above decides about. Where they lead to is left out."""
    blocked = view.here(view.call.tx.needs.blocked())
    above = above_tasks.ancestors(view.call, blocked)
    needing = {each.id: each for each in blocked if each.blocked_by_guard or not _left_to_agent(view, each, above)}
    told = [each for each in needing.values() if not any(other in needing for other in each.blocked_on)]
    details = view.call.tx.tasks.details_of(each.id for each in told)
    logs = _logs_of(view, [each for each in told if each.blocked_by_guard])
    for task in told:
        agent = view.agents.get(task.assignee_id or "")
        known = details.get(task.id, Details())
        remedy = remedies.of_block(view.call, task, agent, known.context)
        yield from _block(
            view, task, remedy, acceptance.failures_in_brief(task.checks, known.check_failures), logs.get(task.id)
        )


def _block(
    view: _View, task: Task, remedy: remedies.Remedy | None, failures: Worded, log: Deed | None
) -> Iterator[Need]:
    reason = task.blocked_reason or constant(_NO_REASON)
    guarded = task.blocked_by_guard
    yield from _of_task(
        view.responsible(task.assignee_id, task.project_id),
        Kind.BLOCKED_BY_GUARD if guarded else Kind.BLOCKED,
        task,
        (
            say("Blocked by a guard: {title}" if guarded else "Blocked: {title}", title=task.title),
            together(
                (
                    together(
                        (
                            constant(WORDS.get(reason) or reason[:BRIEF])
                            if guarded
                            else _said_by(view.name(task.blocked_by), reason),
                            remedy.words if remedy else "",
                        )
                    ),
                    failures,
                ),
                "\n",
            ),
        ),
        *(remedy.actions if remedy else ()),
        deed("unblock", task_id=task.id),
        deed("cancel", task_id=task.id, reason=TO_SAY),
        *((log,) if log is not None else ()),
        since=task.moved_at,
    )


def _logs_of(view: _View, tasks: Collection[Task]) -> dict[str, Deed]:
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


def _said_by(name: str, reason: str) -> Worded:
    """Somebody's words, in brief; a sentence of our own as it is."""
    brief = reason if isinstance(reason, Worded) else reason[:BRIEF]
    return say("{who}: {reason}", who=name, reason=brief) if name else constant(brief)


def _left_to_agent(view: _View, task: Task, known: dict[str, Task]) -> bool:
    return above_tasks.left_to_agent(task, known, view.human)


def _failures(view: _View) -> Iterator[Need]:
    """What has failed and holds up nobody who would decide about it; of a queue: its dead letters.

    A person who has moved a task to `failed` knows of it; what an agent failed to review, a person is asked to review.
    """
    newest = view.here(view.call.tx.needs.failed(view.now - FAILED_WITHIN, MOST_FAILED))
    failed = [each for each in newest if (each.for_queue or each.moved_session is not None) and each.review_of is None]
    above = above_tasks.ancestors(view.call, failed)
    open_ones = [each for each in failed if each.parent_id is None or above[each.parent_id].open]
    unminded = [task for task in open_ones if not _left_to_agent(view, task, above)]
    details = view.call.tx.tasks.details_of(each.id for each in unminded)
    logs = _logs_of(view, unminded)
    for task in unminded:
        why = details.get(task.id, Details()).error or constant(_NO_REASON)
        for need in _failure_of(view, task, why, logs.get(task.id)):
            yield replace(need, about=f"{task.project_id} {task.agent_type}") if task.for_queue else need


def _failure_of(view: _View, task: Task, why: str, log: Deed | None) -> Iterator[Need]:
    yield from _of_task(
        view.responsible(task.assignee_id, task.project_id),
        Kind.DEAD_LETTER if task.for_queue else Kind.FAILED,
        task,
        (
            say("Dead letter: {title}" if task.for_queue else "Failed: {title}", title=task.title),
            _said_by(view.name(task.assignee_id) if task.assignee_id else "", why),
        ),
        deed("requeue" if task.for_queue else "retry", task_id=task.id),
        deed("cancel", task_id=task.id, reason=TO_SAY),
        *((log,) if log is not None else ()),
        since=task.completed_at or task.moved_at,
    )


def _reviews(view: _View) -> Iterator[Need]:
    """Work in worktrees that waits for a person."""
    changed = {worktree.task_id: worktree for worktree in view.call.tx.worktrees.open() if worktree.changed}
    here = {task.id for task in view.here(view.call.tx.tasks.find_all(sorted(changed)))}
    found = reviews.standing(view.call, [each for each in changed.values() if each.task_id in here], view.human)
    returned = {entry.task_id for entry in _returned_entries(view)} if found else set()
    for each in found.values():
        if each.task is None or each.task.id in returned:
            continue
        work = changed[each.task.id]
        if each.review is Review.TO_REVIEW or (each.review is Review.IN_PULL_REQUEST and work.trouble is not None):
            yield from _review(view, each.task, work)


def _review(view: _View, task: Task, work: Worktree) -> Iterator[Need]:
    size = say(
        "Files changed: {files} (+{added} −{removed}){branch:, on branch …}.",
        files=work.files_changed,
        added=work.insertions,
        removed=work.deletions,
        branch=Word(work.branch),
    )
    yield from _of_task(
        view.responsible(task.assignee_id, task.project_id),
        Kind.REVIEW,
        task,
        (say("Review changes: {title}", title=task.title), work.told_trouble[:BRIEF] if work.told_trouble else size),
        deed("review", task_id=task.id),
        deed("merge", task_id=task.id),
        deed("discard", task_id=task.id),
        since=task.completed_at or task.moved_at,
    )


def _returned_entries(view: _View) -> list[Entry]:
    """What came back from a merge queue, and no agent corrects."""
    returned = [entry for entry in view.call.tx.merge_queue.returned() if entry.project_id in view.projects]
    if not returned:
        return []
    task_ids = sorted({entry.task_id for entry in returned})
    newest = view.call.tx.merge_queue.of_tasks(task_ids)
    still = {worktree.task_id for worktree in view.call.tx.worktrees.of(task_ids) if worktree.open}
    still -= requested_changes.standing(view.call, task_ids).keys()
    return [entry for entry in returned if entry.task_id in still and newest[entry.task_id].id == entry.id]


def _merge_queues(view: _View) -> Iterator[Need]:
    """What came back from a merge queue, and queues that cannot go on."""
    returned = _returned_entries(view)
    waiting = [each for each in view.call.tx.merge_queue.waiting() if each.project_id in view.projects]
    waiting = [each for each in waiting if each.trouble or _waits_for_a_coordinator(view, each)]
    tasks = {each.id: each for each in view.call.tx.tasks.find_all(sorted({e.task_id for e in (*returned, *waiting)}))}
    for entry in returned:
        task = tasks[entry.task_id]
        if task.status is not Status.COMPLETED:
            continue
        yield from _of_task(
            view.responsible(task.assignee_id, task.project_id),
            Kind.MERGE_QUEUE,
            task,
            (
                say(
                    "Conflict in the merge queue: {title}"
                    if entry.state is merge_queue.State.CONFLICT
                    else "Not merged by the merge queue: {title}",
                    title=task.title,
                ),
                merge_queue_texts.for_people(view.call, entry),
            ),
            deed("review", task_id=task.id),
            deed("add_to_merge_queue", task_id=task.id),
            deed("discard", task_id=task.id),
            since=entry.ended_at or entry.added_at,
        )
    lanes: dict[tuple[str, str, str], Entry] = {}
    for entry in waiting:
        lanes.setdefault((entry.project_id, *entry.lane), entry)
    for entry in lanes.values():
        task = tasks[entry.task_id]
        for need in _of_task(
            view.responsible(task.assignee_id, task.project_id),
            Kind.MERGE_QUEUE,
            task,
            (
                say("The merge queue cannot merge into {target}: {title}", target=entry.target, title=task.title),
                constant(entry.trouble[:BRIEF]) if entry.trouble else merge_queue_texts.obstacle(view.call, entry),
            ),
            deed("resume_merge_queue", project_id=entry.project_id),
            deed("remove_from_merge_queue", task_id=task.id),
            since=entry.added_at,
        ):
            yield replace(need, about=f"{entry.project_id} {entry.coordinator_id} {entry.target}")
    yield from _moved_bases(view, {(each.project_id, *each.lane) for each in lanes.values() if each.trouble})


def _checks_on_base(view: _View) -> Iterator[Need]:
    """Checks that a project requires and that pass for nobody, because they do not before any work."""
    for project in view.call.tx.projects.all():
        tried = base_checks.failing(project) if project.id in view.projects else None
        if tried is None:
            continue
        said = [
            say(
                "No task passes until that is corrected: in the check, on the machine, or by the task itself (commit "
                "{commit}).",
                commit=tried["base"][:10],
            )
        ]
        for failure in tried["failed"][: acceptance.MOST_SHOWN]:
            said += [say("The check {check} fails:", check=quoted(failure["check"])), acceptance.printed(failure)]
        for person_id in view.owners():
            yield Need(
                person_id=person_id,
                kind=Kind.FAILED,
                about=f"checks {project.id}",
                title=say(
                    "Required checks fail on {branch} itself, before any work: {project}",
                    branch=tried["branch"],
                    project=project.name,
                ),
                text=together(said, "\n"),
                since=tried["at"],
                actions=(deed("correct_project", project_id=project.id, settings={"required_checks": TO_SAY}),),
                project_id=project.id,
            )


def _moved_bases(view: _View, told: Collection[tuple[str, str, str | None]]) -> Iterator[Need]:
    """Branches that neither a person nor Toryo has moved, so that nothing is merged into them. `told`: those of which
    a merge queue says so."""
    found = {each.base: each for each in reversed(view.call.tx.worktrees.open()) if each.moved_base is not None}
    here = [each for base, each in found.items() if each.project_id in view.projects and base not in told]
    tasks = {each.id: each for each in view.call.tx.tasks.find_all(sorted(each.task_id for each in here))}
    for each in here:
        assert each.moved_base is not None
        for need in _of_task(
            view.owners(),
            Kind.MERGE_QUEUE,
            tasks[each.task_id],
            (
                say("Merges into {target} are on hold until you review the branch", target=each.base_branch),
                constant(each.moved_base["words"]),
            ),
            deed("review", task_id=each.task_id),
            deed("merge", task_id=each.task_id, anyway=True),
            since=each.updated_at,
        ):
            yield replace(need, about=" ".join(map(str, each.base)))


def _waits_for_a_coordinator(view: _View, entry: Entry) -> bool:
    """Whether an entry would be merged now if the Coordinator with its files were there."""
    if not worktree_locks.is_away(view.call, entry.coordinator_id):
        return False
    project = view.call.project(entry.project_id)
    return project.active and view.call.tx.merge_queue.queue(project.id).paused_at is None


def _stalls(view: _View) -> Iterator[Need]:
    """Reported stalls since which nothing has happened in the tree."""
    for task in view.here(view.call.tx.needs.stalled()):
        if task.stalled_event == view.call.tx.events.last_fact(task.root_id):
            yield from _of_task(
                view.responsible(task.assignee_id, task.project_id),
                Kind.STALLED,
                task,
                (
                    say("Stalled: {title}", title=task.title),
                    constant("Some of its subtasks are ready to start, but no one has started them."),
                ),
                deed("list", project_id=task.project_id),
                *([deed("why", agent_id=task.assignee_id)] if task.assignee_id else []),
                since=task.moved_at,
            )


def _freed(view: _View) -> Iterator[Need]:
    """What was unblocked together with something else, could not go on at that moment, and was not started since.

    What somebody has unblocked by name, and left to be done, they know of; so do they of a project that rests. What
    waits for other tasks or for an approval is told where those are.
    """
    freed = view.here(view.call.tx.needs.freed())
    above = above_tasks.ancestors(view.call, freed)
    for task in freed:
        event = view.call.tx.events.newest_of(task.id, ["task.unblocked"])
        if event is None or "caused_by" not in event.data or _left_to_agent(view, task, above):
            continue
        tree_state = view.call.tree_state(task)
        hindrance = next(task_readiness.hindrances(tree_state, task), None)
        if hindrance not in _TOLD_ELSEWHERE:
            hindered = moves.refusal_to_start(tree_state, task, hindrance).message if hindrance is not None else ""
            yield from _of_task(
                view.responsible(task.assignee_id, task.project_id),
                Kind.STUCK,
                task,
                (say("Stuck: {title}", title=task.title), together((constant(_NOT_STARTED), hindered))),
                *_released(task, hindrance),
                deed("cancel", task_id=task.id, reason=TO_SAY),
                since=task.moved_at,
            )


_NOT_STARTED = "The block was resolved, but the task could not continue at that time, and no one has started it since."
_TOLD_ELSEWHERE = (StartBlocker.PROJECT_NOT_ACTIVE, StartBlocker.NOT_APPROVED, StartBlocker.DEPENDENCY)


def _released(task: Task, hindrance: StartBlocker | None) -> Iterator[Deed]:
    """What lets it go on: nothing but that which would not be refused."""
    if hindrance is None:
        yield deed("unblock", task_id=task.id)
    elif hindrance is not StartBlocker.ANCESTOR_CLOSED:
        yield deed("assign", task_id=task.id, assignee_id=Blank("AGENT"))


def _stuck_in(view: _View, told: Collection[str]) -> Iterator[Need]:
    """What cannot move by itself, where nothing else above says so."""
    for each in stuck.found(view.picture, told):
        about = " ".join([each.task.project_id, *each.cause]) if each.cause else each.task.id
        for person_id in view.responsible(each.task.assignee_id, each.task.project_id):
            yield replace(_stuck(view, person_id, each), about=about)


def _stuck(view: _View, person_id: str, it: Stuck) -> Need:
    owner = view.owns(person_id)
    (need,) = _of_task(
        [person_id],
        Kind.STUCK,
        it.task,
        (
            say("Stuck: {title}", title=it.task.title),
            together((it.why, "" if owner or it.by_owner is None else it.by_owner)),
        ),
        *(it.for_owners if owner else ()),
        *it.actions,
        since=it.since,
    )
    return need


def _own_tasks(view: _View) -> Iterator[Need]:
    """What a person has to do themselves."""
    for task in view.here(view.call.tx.needs.in_progress_of(view.people)):
        yield from _of_task(
            [task.assignee_id or ""],
            Kind.TASK,
            task,
            (
                say("Your task: {title}", title=task.title),
                say("It is in progress and assigned to you. Created by {creator}.", creator=view.name(task.created_by)),
            ),
            deed("complete", task_id=task.id),
            deed("block", task_id=task.id, reason=TO_SAY),
            since=task.moved_at,
        )


# --- talk ------------------------------------------------------------------------------------------------------------


def _messages(view: _View) -> Iterator[Need]:
    """What others have written to a person who has not been shown it, thread by thread."""
    for unread in view.call.tx.needs.unread(view.people, view.projects):
        if unread.kind is MessageKind.MESSAGE:
            yield _thread(view, unread, Kind.MESSAGE, say("New message from {who}", who=view.name(unread.other_id)))
        elif view.call.tx.chat.mailbox(unread.project_id, unread.other_id).has_undelivered:
            title = say("{who} has not read your message", who=view.name(unread.other_id))
            yield _thread(view, unread, Kind.NOBODY_CAME, title)


def _thread(view: _View, unread: Unread, kind: Kind, title: str) -> Need:
    message = view.call.tx.chat.at(unread.project_id, unread.newest)
    many = unread.many > 1 and kind is Kind.MESSAGE
    more = say("({count} new messages; this is the latest)", count=unread.many) if many else ""
    return Need(
        person_id=unread.person_id,
        kind=kind,
        about=f"{unread.project_id} {unread.other_id}",
        title=title,
        text=together((message.content[:BRIEF] if message is not None else "", more)),
        since=unread.since,
        actions=(
            deed("answer" if kind is Kind.MESSAGE else "open", agent_id=unread.other_id, project_id=unread.project_id),
            *([deed("why", agent_id=unread.other_id)] if kind is Kind.NOBODY_CAME else []),
        ),
        project_id=unread.project_id,
        task_id=message.related_task_id if message is not None else None,
        agent_id=unread.other_id,
    )


def _delegations(view: _View) -> Iterator[Need]:
    """Delegations whose awaited answer will not come, until the task is moved or delegates again."""
    newest = {each.task_id: each for each in view.call.tx.needs.awaited_delegations()}
    failed = {task_id: each for task_id, each in newest.items() if each.status is DelegationStatus.FAILED}
    for task in view.here(view.call.tx.tasks.find_all(failed)):
        delegation = failed[task.id]
        yield from _of_task(
            view.responsible(delegation.agent_id, task.project_id),
            Kind.DELEGATION_FAILED,
            task,
            (
                say("Delegation to {who} failed: {title}", who=view.name(delegation.target_agent_id), title=task.title),
                _failure(delegation),
            ),
            deed("tell", task_id=task.id, text=TO_SAY),
            since=delegation.ended_at or delegation.created_at,
        )


def _failure(delegation: Delegation) -> Worded:
    why = delegation.result[:BRIEF] if isinstance(delegation.result, str) else constant("it was reported as failed")
    return say("Requested: {purpose} Reason for failure: {why}", purpose=delegation.purpose[:BRIEF], why=why)


# --- budgets ---------------------------------------------------------------------------------------------------------


def _budgets(view: _View) -> Iterator[Need]:
    """Projects whose budget of today is used up while work is waiting."""
    call, today = view.call, usages.day_of(view.now)
    mine = (each for each in call.tx.projects.all() if each.id in view.projects)
    limited = [each for each in mine if each.active and each.settings.has_budget]
    if not limited:
        return
    spent = call.tx.usages.spent([each.id for each in limited], today)
    # Projects with tasks in progress, or with a ready queue task for an agent that Toryo starts.
    tx = view.call.tx
    ready = {(project_id, queue) for project_id, queue, _ in tx.queues.ready_types(view.now)}
    served = {project_id for project_id, queue, _ in tx.agents.serving() if (project_id, queue) in ready}
    started: dict[str, Millis] = {}
    for (_, project_id), (since, _) in tx.tasks.at_work().items():
        started[project_id] = min(since, started.get(project_id, since))
    waiting = served | started.keys()
    for project in limited:
        settings, used = project.settings, spent.get(project.id, usages.Spent())
        used_up = settings.used_up_budget(used) if project.id in waiting else None
        if used_up is not None:
            spent_of = (
                say("${cost:,.2f} of ${budget:,.2f}", cost=used.usd, budget=settings.budget_per_day)
                if used_up == "budget_per_day"
                else say("{tokens:,} of {budget:,} tokens", tokens=used.tokens, budget=settings.tokens_per_day)
            )
            yield from _used_up(view, project, used_up, spent_of, started.get(project.id, 0))


def _budgets_of_agents(view: _View) -> Iterator[Need]:
    """Agents whose own budget of today is used up while a task of theirs is in progress."""
    limited = [each for each in view.agents.values() if each.active and budgets.of_agent(each.provider_options).limits]
    if not limited:
        return
    since: dict[str, Millis] = {}
    for (agent_id, project_id), (at, _) in view.call.tx.tasks.at_work().items():
        if project_id in view.projects:
            since[agent_id] = min(at, since.get(agent_id, at))
    for agent in (each for each in limited if each.id in since):
        name = used_up_by_agent(view.call.tx, agent, view.now)
        if name is None:
            continue
        for person_id in view.owners():
            yield Need(
                person_id=person_id,
                kind=Kind.BUDGET_USED_UP,
                about=f"{agent.id} {usages.date_of(usages.day_of(view.now))}",
                title=say("Today's budget of {agent} is used up", agent=agent.name),
                text=say(
                    "This agent works on no task until {time}, or until the budget is raised.",
                    time=iso(usages.end_of_day(view.now)),
                ),
                since=max(since[agent.id], usages.day_of(view.now) * DAY),
                actions=(
                    deed("raise_agent", agent_id=agent.id, provider_options={name: TO_SAY}),
                    deed("usage", days=1, by=("agent", "task")),
                ),
                agent_id=agent.id,
            )


def _budgets_of_tasks(view: _View) -> Iterator[Need]:
    """Tasks whose budget is used up while an agent has them, or a subtask, in progress."""
    tx = view.call.tx
    for task in tx.tasks.budgeted():
        project = tx.projects.find(task.project_id) if task.project_id in view.projects else None
        if project is None or not project.active:
            continue
        tree = tx.tasks.tree(task.root_id)
        waiting = [each for each in (task, *tree.descendants(task)) if each.in_progress and each.assignee_id]
        name = budgets.of_task(task).used_up(spent_for(tx, tree, task)) if waiting else None
        if name is None:
            continue
        for person_id in view.judges(None, task.project_id):
            yield Need(
                person_id=person_id,
                kind=Kind.BUDGET_USED_UP,
                about=task.id,
                title=say("The budget of {title} is used up", title=quoted(task.title)),
                text=constant("No agent works on this task or its subtasks until the budget is raised."),
                since=max(each.moved_at for each in waiting),
                actions=(
                    deed("raise_task", task_id=task.id, **{f"budget_{name}": TO_SAY}),
                    deed("usage", task_id=task.id, by="agent"),
                ),
                task_id=task.id,
                project_id=task.project_id,
            )


def _used_up(view: _View, project: Project, name: str, spent: Worded, waiting_since: Millis) -> Iterator[Need]:
    """Of the setting `name`. Since both hold: the budget is used up (one of nothing is, from midnight on), and work
    waits.
    """
    today = usages.day_of(view.now)
    used_up = view.call.tx.usages.used_up_at(project.id, today) or today * DAY
    for person_id in view.judges(None, project.id):
        yield Need(
            person_id=person_id,
            kind=Kind.BUDGET_USED_UP,
            about=f"{project.id} {usages.date_of(today)}",
            title=say("Today's budget of {project} is used up: {spent}", project=project.name, spent=spent),
            text=say(
                "No task of this project is worked on until {time}, or until the budget is raised.",
                time=iso(usages.end_of_day(view.now)),
            ),
            since=max(used_up, waiting_since),
            actions=(
                deed("raise", project_id=project.id, settings={name: TO_SAY}),
                deed("usage", project_id=project.id, days=1, by=("agent", "task")),
            ),
            project_id=project.id,
        )


# --- agents ----------------------------------------------------------------------------------------------------------


def _cannot_start(view: _View) -> Iterator[Need]:
    """Agents whose last start failed for a reason that does not pass with time."""
    for agent, cooldown in _ended_for(view, _FIXED_BY_PEOPLE):
        why = reason_texts.failed(cooldown.reason)
        title = say("{agent} cannot be started: {reason}", agent=agent.name, reason=why)
        about = f"{agent.id} {cooldown.reason}"
        if cooldown.program in [program.name for program in agent.programs[1:]]:
            about = f"{about} {cooldown.program}"
            title = say(
                "{program}, a fallback of {agent}, cannot be started: {reason}",
                program=cooldown.program,
                agent=agent.name,
                reason=why,
            )
        yield from view.about(agent, _failing, Kind.AGENT_CANNOT_START, about, title, cooldown)
    for agent, cooldown in _ended_for(view, _REPEATED):
        if cooldown.failures >= _IN_A_ROW:
            why = reason_texts.failed(cooldown.reason)
            title = say("{agent} keeps failing: {reason}", agent=agent.name, reason=why)
            about = f"{agent.id} keeps {cooldown.reason}"
            yield from view.about(agent, _failing, Kind.AGENT_CANNOT_START, about, title, cooldown)


def _mistaken(view: _View) -> Iterator[Need]:
    """Agents that nothing starts because of what stands in their options, or of a provider that nobody has."""
    reported = wider_rights.reported_providers(view.picture.coordinators)
    for agent in view.agents.values():
        if agent.managed and agent.active:
            yield from view.about(agent, _mistakes, reported, asks=False)


def _mistakes(view: _View, agent: Agent, reported: Collection[str] | None) -> Iterator[Need]:
    for code, found in (("bad_options", mistakes_of(agent)), ("no_provider", wider_rights.warnings(agent, reported))):
        for person_id in view.responsible(agent.id, None) if found else ():
            yield Need(
                person_id=person_id,
                kind=Kind.AGENT_CANNOT_START,
                about=f"{agent.id} {code}",
                title=say(
                    "{agent} cannot be started: {reason}", agent=agent.name, reason=constant(REASONS[code].cause)
                ),
                text=together(found),
                since=agent.updated_at,
                actions=(reasons.what_helps(code, agent_id=agent.id),),
                agent_id=agent.id,
            )


def _unplaced(view: _View) -> Iterator[Need]:
    """Agents with work that no Coordinator can start: one need for each program that is missing in a project."""
    told = {(agent.id, cooldown.program) for agent, cooldown in _ended_for(view, _FIXED_BY_PEOPLE)}
    reported = wider_rights.reported_providers(view.picture.coordinators)
    alike: dict[tuple[str, ...], list[Unplaced]] = {}
    for each in unplaced.found(view.picture):
        if {(each.agent.id, None), (each.agent.id, each.program.name)} & told:
            continue
        if mistakes_of(each.agent) or wider_rights.warnings(each.agent, reported):
            continue
        for person_id in view.responsible(each.agent.id, each.project_id):
            alike.setdefault((person_id, *each.cause), []).append(each)
    for (person_id, *cause), those in alike.items():
        first, owner = those[0], view.owns(person_id)
        by_owner = constant("An owner can change the agent.") if first.obstacle.of_agent else ""
        correct = deed("change_program", agent_id=first.agent.id, provider=Blank("NAME"))
        if first.obstacle.code != "no_provider":
            correct = deed("correct", agent_id=first.agent.id, **first.obstacle.correct)
        yield Need(
            person_id=person_id,
            kind=Kind.AGENT_CANNOT_START,
            about=" ".join(cause),
            title=_unplaced_title(first, those),
            text=together((first.obstacle.words, "" if owner else by_owner)),
            since=min(each.since for each in those),
            actions=(
                *([correct] if owner and first.obstacle.of_agent else []),
                deed("machines"),
                deed("why", agent_id=first.agent.id),
            ),
            project_id=first.project_id,
            agent_id=first.agent.id,
            also=tuple(task.id for each in those for task in each.tasks),
        )


def _unplaced_title(first: Unplaced, those: Sequence[Unplaced]) -> Worded:
    names: Worded | str = first.agent.name
    if len(those) > 1:
        names = together((first.agent.name, say("and {more} more", more=len(those) - 1)))
    if first.obstacle.code == "none":
        return say("No Coordinator is running: {agents} cannot start", agents=names)
    if first.obstacle.code == "no_provider":
        return say("No Coordinator has {program}: {agents} cannot start", program=first.program.provider, agents=names)
    return say("No Coordinator accepts {agents}", agents=names)


def _runaways(view: _View) -> Iterator[Need]:
    """Agents stopped by a guard that have not worked normally since, while they are in cooldown for it or have work."""

    def at_work() -> Collection[str]:
        return {agent_id for agent_id, _ in view.call.tx.tasks.at_work()}

    told: set[str] = set()
    for agent, cooldown in _ended_for(view, _GUARDED, unless_rested=at_work):
        if agent.id in told:
            continue
        told.add(agent.id)
        why = reason_texts.failed(cooldown.reason)
        title = say("{agent} was stopped: {reason}", agent=agent.name, reason=why)
        yield from view.about(agent, _failing, Kind.RUNAWAY, f"{agent.id} {cooldown.reason}", title, cooldown)


def _ended_for(
    view: _View, reasons: Collection[str], *, unless_rested: Callable[[], Collection[str]] | None = None
) -> Iterator[tuple[Agent, Cooldown]]:
    """Active agents whose newest start with a program has ended for one of these reasons. Where `unless_rested` names
    agents: of the others only those that still wait because of it."""
    told: set[tuple[str, str, str | None]] = set()
    cooling = view.call.tx.needs.cooling(reasons)
    at_work = unless_rested() if cooling and unless_rested is not None else None
    for agent_id, purpose, cooldown in cooling:
        agent, what = view.agents.get(agent_id), (agent_id, cooldown.reason, cooldown.program)
        if agent is None or not agent.active or what in told or _went_well(view, agent, purpose, cooldown):
            continue
        if at_work is None or agent_id in at_work or cooldown.until > view.now:
            told.add(what)
            yield agent, cooldown


def _failing(view: _View, agent: Agent, kind: Kind, about: str, title: Worded, cooldown: Cooldown) -> Iterator[Need]:
    reason = cooldown.reason
    launches = view.call.tx.launches.listed(10, agent_id=agent.id)
    failed = (launch for launch in launches if (launch.exit_error or "").startswith(reason))
    seen = next((each for each in failed if cooldown.program in (None, cooldowns.program_of(each))), None)
    said = end_in_words(view.call, seen) if seen is not None else ""
    nature = NATURES[Failure(reason)]
    known = nature.people or nature.guarded
    checks = _failed_checks(view, launches) if nature.guarded else ""
    why = say(known, up=terminal("up")) if known else constant("It is started again when its cooldown is over.")
    correct = [deed("correct", agent_id=agent.id, **nature.correct)] if nature.correct else []
    if nature.correct_project and seen is not None:
        correct = [deed("correct_project", project_id=seen.project_id, **nature.correct_project)]
    for person_id in view.responsible(agent.id, None):
        yield Need(
            person_id=person_id,
            kind=kind,
            about=about,
            title=title,
            text=together((together((why, said[: BRIEF - len(why)])), checks), "\n"),
            since=_failed_at(view, agent.id, cooldown),
            actions=(
                *correct,
                deed("resume", agent_id=agent.id),
                *([deed("log", launch_id=seen.id)] if seen is not None else []),
            ),
            agent_id=agent.id,
        )


def _failed_checks(view: _View, launches: Iterable[Launch]) -> str:
    """Which checks the report of its newest task has failed: what it could not get past."""
    task_id = next((each.task_id for each in launches if each.task_id is not None), None)
    task = view.call.tx.tasks.find(task_id) if task_id is not None else None
    if task is None or not task.in_progress:
        return ""
    return acceptance.failures_in_brief(task.checks, view.call.tx.tasks.details(task.id).check_failures)


def end_in_words(call: Call, launch: Launch) -> str:
    """What was found out about the end of a launch: the program's or its service's own words."""
    nature, said = nature_of(launch.exit_error), (launch.exit_error or "").partition(":")[2]
    if not said.strip():
        lines = (call.tx.launches.exit_record(launch.id)[0] or "").strip().splitlines()
        said = "\n".join(lines if nature is not None and nature.logged else lines[-_LAST_LINES:])
    return said.strip()


_LAST_LINES = 2
"""What a program printed last says mostly why it failed."""


def _failed_at(view: _View, agent_id: str, cooldown: Cooldown) -> Millis:
    """When a cooldown began."""
    for event in view.call.tx.events.newest(20, agent_id=agent_id, kind="agent.cooling_down"):
        of_it = event.data.get("program") in (None, cooldown.program)
        if of_it and event.data.get("reason") == cooldown.reason:
            return event.at
    return view.agents[agent_id].updated_at


def _went_well(view: _View, agent: Agent, purpose: Purpose, cooldown: Cooldown) -> bool:
    """Its newest start, with this program if it is known, has signed in and is at work; or people have done what only
    they can, as a later start has shown, however it ended."""
    return any(
        launch.purpose is purpose
        and launch.signed_in_at is not None
        and cooldown.program in (None, cooldowns.program_of(launch))
        for launch in view.call.tx.launches.live_of_agent(agent.id)
    ) or _mended(view, agent, purpose, cooldown)


def _mended(view: _View, agent: Agent, purpose: Purpose, cooldown: Cooldown) -> bool:
    """Whether a later start did not end for this reason: for the same work, unless the reason speaks of the program."""
    program = next((each for each in agent.programs if each.name == cooldown.program), None)
    nature = _FIXED_BY_PEOPLE.get(cooldown.reason)
    if program is None or nature is None:
        return False
    shown = filter(_shows, view.call.tx.launches.with_program(agent.id, program))
    tried = [each for each in shown if nature.fallback or each.purpose is purpose]
    since = list(takewhile(lambda each: class_of(each.exit_error) != cooldown.reason, tried))
    failed = tried[len(since)] if len(since) < len(tried) else None
    return any(nature.fallback or failed is None or each.project_id == failed.project_id for each in since)


def _shows(launch: Launch) -> bool:
    """Whether the launch shows that its program can be started, or why not."""
    return launch.signed_in_at is not None or not ordered(launch.exit_error)


def _locked(view: _View) -> Iterator[Need]:
    """Known agents whose passkey was guessed at."""
    active = {each.id for each in view.agents.values() if each.active}
    for agent_id, since, until in view.call.context.tries.locked(sign_in_lockout.PASSKEY, active, view.now):
        agent = view.agents[agent_id]
        for person_id in view.responsible(agent.id, None):
            yield Need(
                person_id=person_id,
                kind=Kind.SIGN_IN_LOCKED,
                about=agent.id,
                title=say("Sign-in of {agent} is locked", agent=agent.name),
                text=say(
                    "A wrong passkey was used too often from one address. Sign-in from there is locked until {time}.",
                    time=iso(until),
                ),
                since=since,
                actions=(deed("renew", agent_id=agent.id),),
                agent_id=agent.id,
            )


# --- schedules -------------------------------------------------------------------------------------------------------


def _schedules(view: _View) -> Iterator[Need]:
    """Schedules that have stopped themselves."""
    for schedule in view.call.tx.schedules.stopped():
        if schedule.reason is not None:
            why: str = schedule.reason
        elif schedule.failures == 1:
            why = constant("A run failed. It creates no more tasks.")
        else:
            why = say("{count} runs failed in a row. It creates no more tasks.", count=schedule.failures)
        title = say("Schedule stopped: {name}", name=schedule.name)
        actions = deed("resume_schedule", schedule_id=schedule.id), deed("show_schedule", schedule_id=schedule.id)
        yield from _stopped(view, schedule, Kind.SCHEDULE_STOPPED, title, why, actions)


def _webhooks(view: _View) -> Iterator[Need]:
    """Webhooks that have stopped themselves."""
    for webhook in view.call.tx.webhooks.stopped():
        why: str = constant("A delivery failed. It creates no more tasks.")
        if webhook.failures > 1:
            why = say("{count} deliveries failed in a row. It creates no more tasks.", count=webhook.failures)
        title = say("Webhook stopped: {name}", name=webhook.name)
        actions = deed("resume_webhook", webhook_id=webhook.id), deed("show_webhook", webhook_id=webhook.id)
        yield from _stopped(view, webhook, Kind.WEBHOOK_STOPPED, title, why, actions)


def _stopped(
    view: _View, source: Source, kind: Kind, title: str, why: str, actions: tuple[Deed, ...]
) -> Iterator[Need]:
    """Who it runs as is told, or the owners."""
    if source.project_id not in view.projects:
        return
    asked = [source.runs_as] if view.can_be_asked(source.runs_as, source.project_id) else view.owners()
    for person_id in asked:
        yield Need(
            person_id=person_id,
            kind=kind,
            about=source.id,
            title=title,
            text=why,
            since=source.state_at or source.created_at,
            actions=actions,
            project_id=source.project_id,
        )


# --- faults ----------------------------------------------------------------------------------------------------------


def _faults(view: _View) -> Iterator[Need]:
    """Who cannot be decided about, because of a fault of Toryo itself: owners have its log."""
    found: dict[tuple[str, str], list[Fault]] = {}
    for fault in view.call.context.faults.lasting(view.now):
        found.setdefault((fault.agent_id or "", fault.project_id or ""), []).append(fault)
    for (agent_id, project_id), faults in found.items():
        looks = [deed("why", agent_id=agent_id)] if agent_id in view.agents else []
        looks += [deed("list", project_id=project_id)] if project_id and not looks else []
        where, times = ", ".join(each.where for each in faults), sum(each.times for each in faults)
        for person_id in view.owners():
            yield Need(
                person_id=person_id,
                kind=Kind.AGENT_CANNOT_START if agent_id else Kind.STUCK,
                about=" ".join(filter(None, [fault_isolation.REASON, project_id, agent_id])),
                title=say("Internal error: {what}", what=view.name(agent_id) if agent_id else project_id or "Toryo"),
                text=say(
                    "An internal error occurred. See the server's log ({where}; {times} times).",
                    where=where,
                    times=times,
                ),
                since=min(each.since for each in faults),
                actions=tuple(looks),
                project_id=project_id or None,
                agent_id=agent_id or None,
            )


_OF_AGENTS: tuple[Callable[[_View], Iterator[Need]], ...] = (_cannot_start, _mistaken, _runaways, _locked)
SOURCES: tuple[Callable[[_View], Iterator[Need]], ...] = (
    _approvals,
    _questions,
    _blocks,
    _messages,
    _delegations,
    _failures,
    _stalls,
    _schedules,
    _webhooks,
    _budgets,
    _budgets_of_agents,
    _budgets_of_tasks,
    _cannot_start,
    _mistaken,
    _unplaced,
    _runaways,
    _locked,
    _merge_queues,
    _checks_on_base,
    _reviews,
    _freed,
    _own_tasks,
)

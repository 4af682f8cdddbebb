"""A session's own work: what next, its task, notes, handoffs, notices, requests, and the report that ends it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

import orjson
from pydantic import Field

from toryo.domain import ids
from toryo.domain.errors import Code, Refusal
from toryo.domain.handover import Handoff, Note
from toryo.domain.launches import Purpose
from toryo.domain.sessions import End, Session
from toryo.domain.tasks import Status, Task
from toryo.domain.times import iso
from toryo.operations.calls import rendering
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Available, Later, NoParameters, Parameters, operation
from toryo.operations.calls.fields import Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Next, Result, Said
from toryo.operations.launches import termination
from toryo.operations.sessions import guards, next_action
from toryo.operations.tasks import acceptance
from toryo.operations.tasks import commands as task_commands
from toryo.operations.worktrees import file_locks
from toryo.workflow import launch as launches
from toryo.workflow.instructions import words
from toryo.workflow.snapshot import Snapshot

TEXT = 100_000
"""The longest text a field takes, in characters."""

Text = Annotated[Lines, Field(max_length=TEXT)]
Id = Annotated[str, Field(min_length=1, max_length=64)]


# --- what next -------------------------------------------------------------------------------------------------------


class NextAction(Parameters):
    timeout_seconds: int = Field(45, ge=0, le=45, description="Seconds it may wait.")


@operation(
    "get_next_action",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.ALWAYS,
    grant=Grant.ANY_SESSION,
    parameters=NextAction,
    result=Next,
    waits=True,
)
def get_next_action(call: Call, wanted: NextAction) -> dict[str, Any] | Later:
    """What to do next. Call it after every step and do what it says, until it says exit."""
    told = next_action.told(call, patient=wanted.timeout_seconds > 0)
    return told if isinstance(told, Later) else {"success": True, **told}


# --- the task --------------------------------------------------------------------------------------------------------


class MyTask(Said):
    has_task: bool
    task: NotRequired[dict[str, Any]]


@operation(
    "get_my_task",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    result=MyTask,
    leads=True,
)
def get_my_task(call: Call, _: NoParameters) -> dict[str, Any]:
    """Read your task: what to do, where, with what context. Reading it again changes nothing."""
    session = call.session
    task = call.tx.tasks.find(session.task_id) if session.task_id else _in_progress(call)
    if task is None:
        return {"success": True, "has_task": False, "instruction": words("no_task", call.language)}
    if session.purpose is Purpose.TASK and session.fetched_at is None:
        call.change_session(fetched_at=call.now, fetched_event=call.tx.events.last())
        call.event("task.fetched", task=task)
    return {
        "success": True,
        "has_task": True,
        "task": _my_task(call, task),
        "instruction": words("my_task" if session.purpose is Purpose.TASK else "my_task.chat", call.language),
    }


def _in_progress(call: Call) -> Task | None:
    """For a chat session: the agent's task in progress, to read."""
    mains = call.snapshot(call.session.agent_id, call.session.project_id).main_tasks
    return mains[0][0] if mains else None


def _my_task(call: Call, task: Task) -> dict[str, Any]:
    project = call.tx.projects.find(task.project_id)
    details = call.tx.tasks.details(task.id)
    handoffs = rendering.handoffs(_for_me(call, call.tx.handovers.handoffs(task.id)))
    return {
        "task_id": task.id,
        "title": task.title,
        "description": details.description,
        "status": task.status.value,
        "priority": task.priority.value,
        "working_directory": file_locks.workplace(call) or (project.working_directory if project else None),
        "context": _context(call, task, details.context),
        "handoff": handoffs[0] if handoffs else None,
        "handoffs": handoffs,
        "acceptance": list(details.acceptance),
        "resumed": task.left_at is not None,
        "attempt": task.attempt,
        "parent_task_id": task.parent_id,
        "delegations": [rendering.delegation(each) for each in call.tx.chat.delegations_of_task(task.id)],
    }


def _for_me(call: Call, handoffs: list[Handoff]) -> list[Handoff]:
    """Those that this agent may accept; what is not accepted yet comes first, then the newest."""
    mine = [each for each in handoffs if each.to_agent_id in (None, call.agent.id)]
    return sorted(mine, key=lambda each: each.accepted_at is not None)


def _context(call: Call, task: Task, given: Any) -> dict[str, Any]:
    """The creator's JSON, and the last progress note under `previous`."""
    context = dict(given) if isinstance(given, dict) else {} if given is None else {"value": given}
    notes = call.tx.handovers.notes(task.id)
    if notes:
        context["previous"] = _note(notes[0])
    return context


class Profile(Result):
    agent: dict[str, Any]


@operation("get_my_profile", available=Available.AFTER_THE_END, grant=Grant.ANY_SESSION, result=Profile)
def get_my_profile(call: Call, _: NoParameters) -> dict[str, Any]:
    """Who you are: name, role, superior, capabilities, system prompt."""
    return {"success": True, "agent": rendering.agent(call.agent)}


class OneProject(Result):
    project: dict[str, Any]


@operation("get_project", available=Available.AFTER_THE_END, grant=Grant.ANY_SESSION, result=OneProject)
def get_project(call: Call, _: NoParameters) -> dict[str, Any]:
    """The project you work in: name, description, working directory, settings."""
    return {"success": True, "project": rendering.project(call.project(call.session.project_id))}


# --- the report ------------------------------------------------------------------------------------------------------


class ReportCompleted(Parameters):
    result: Literal["success", "failed", "blocked"] = Field(description="How your main task ended.")
    summary: Text | None = Field(None, description="What was done, or why not: others decide by it.")
    next_steps: Text | None = Field(None, description="What should follow.")
    artifacts: list[Any] = Field(default_factory=list, max_length=200, description="Files or links that were made.")


class Reported(Said):
    action: NotRequired[str]
    task_id: NotRequired[str | None]
    status: NotRequired[str]


_STATUS = {"success": Status.COMPLETED, "failed": Status.FAILED, "blocked": Status.BLOCKED}


@operation(
    "report_completed",
    shown_to=Audience.WORKER | Audience.MANAGER,
    available=Available.ALWAYS,
    grant=Grant.TASK_SESSION,
    parameters=ReportCompleted,
    result=Reported,
    waits=True,
    leads=True,
)
def report_completed(call: Call, report: ReportCompleted) -> dict[str, Any] | Later:
    """Report the end of your main task: success, failed or blocked, with a summary. Then end your process."""
    session = call.session
    if session.over and (answer := _remembered_answer(session, report)) is not None:
        return answer
    snapshot = call.own_snapshot()
    if launches.withdrawn(snapshot, session) is not None or (session.over and not _may_have_last_word(call, snapshot)):
        return _too_late(call, report)
    ground = snapshot.ground_of(session.task_id)
    assert ground is not None
    main = ground.tree.tasks[session.task_id or ""]
    stopped_at = session.ended_at if session.over else session.runaway_at
    if stopped_at is not None and main.moved_at > stopped_at:  # somebody has set it up anew since
        return _too_late(call, report)
    if session.runaway is not None and report.result == "success":
        told = words("exit.runaway", call.language, detail=session.runaway)
        raise Refusal(Code.RUNAWAY, "A guard stopped this session.", told)
    because_of = _blocks_below(ground.tree.descendants(main)) if report.result == "blocked" else ()
    reason = None if report.result == "success" else report.summary or "(reported without a reason)"
    try:
        if report.result == "success":
            waiting = acceptance.awaited(call, ground, main, report.model_dump(), "report_completed")
            if waiting is not None:
                return waiting
        after = task_commands.move(call, ground, main, _STATUS[report.result], reason, because_of=because_of)
    except Refusal as refusal:
        if refusal.code is not Code.DELEGATION_OPEN:
            raise
        call.change_session(refused_for_delegation=True)
        return refusal.answer()
    _keep_result(call, after, report)
    told = words("reported", call.language)
    answer = {**_EXIT, "instruction": told, "task_id": after.id, "status": after.status.value}
    call.change_session(report=_remembered(report, answer))
    if not session.over:
        termination.end_session(call, call.session, End.REPORTED)
    return answer


_EXIT: dict[str, Any] = {"success": True, "action": "exit"}


def _may_have_last_word(call: Call, snapshot: Snapshot) -> bool:
    """A guard has told this session to leave, not long ago, and nobody has gone on since: its report still counts."""
    session = call.session
    just_now = call.now < (session.ended_at or 0) + call.context.limits.stop_grace
    told = session.end_reason is End.TOLD_TO_EXIT and launches.tripped(snapshot, session) is not None
    employed = not (launches.inactive(snapshot) or launches.not_member(snapshot))
    followed = snapshot.launches.get(Purpose.TASK) is not None
    return just_now and told and employed and not followed and not launches.project_not_active(snapshot)


def _blocks_below(tasks: Any) -> tuple[str, ...]:
    """Blocks of their own (not of a cascade) below a task that is reported blocked: the last lifts it."""
    return tuple(each.id for each in tasks if each.status is Status.BLOCKED and each.blocked_cause is None)


def _keep_result(call: Call, task: Task, report: ReportCompleted) -> None:
    call.tx.tasks.save_details(
        task.id,
        summary=report.summary,
        next_steps=report.next_steps,
        artifacts=tuple(report.artifacts),
        result={"result": report.result, "artifacts": report.artifacts},
        error=report.summary if report.result == "failed" else None,
    )


def _remembered(report: ReportCompleted, answer: dict[str, Any]) -> str:
    return orjson.dumps({"report": report.model_dump(), "answer": answer}).decode()


def _remembered_answer(session: Session, report: ReportCompleted) -> dict[str, Any] | None:
    """The session is over: the same report again answers as the first time."""
    remembered = orjson.loads(session.report) if session.report is not None else {}
    answer: dict[str, Any] | None = remembered.get("answer")
    return answer if answer and remembered.get("report") == report.model_dump() else None


def _too_late(call: Call, report: ReportCompleted) -> dict[str, Any]:
    """The main task was withdrawn, or the session is over: nothing changes; the summary of who has not reported yet is
    kept as a note."""
    session, language = call.session, call.language
    first = session.report is None or not orjson.loads(session.report).get("answer")
    kept = bool(first and report.summary and session.task_id and guards.still_belongs(call, session))
    if kept:
        _add_note(call, session.task_id or "", Progress(progress=report.summary, next_steps=report.next_steps))
    said = ["late.over" if session.over else "late.withdrawn", *(["late.kept"] if kept else []), "late.end"]
    told = " ".join(words(each, language) for each in said)
    answer = {**_EXIT, "instruction": told, "task_id": None, "status": "unchanged"}
    if first:
        call.change_session(report=_remembered(report, answer))
    if not session.over:
        termination.end_session(call, call.session, End.TOLD_TO_EXIT)
    return answer


# --- notes and handoffs ----------------------------------------------------------------------------------------------


class Progress(Parameters):
    task_id: Id | None = Field(None, description="A task of your own tree; default: your main task.")
    progress: Text | None = Field(None, description="What has been done.")
    findings: Text | None = Field(None, description="What was found out.")
    blockers: Text | None = Field(None, description="What stands in the way.")
    next_steps: Text | None = Field(None, description="What comes next.")


class Noted(Said):
    note_id: str


@operation(
    "save_progress",
    shown_to=Audience.WORKER | Audience.MANAGER,
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    parameters=Progress,
    result=Noted,
)
def save_progress(call: Call, note: Progress) -> dict[str, Any]:
    """Leave a progress note on a task of your tree; the next session gets it."""
    task = _of_own_tree(call, note.task_id)
    if not any((note.progress, note.findings, note.blockers, note.next_steps)):
        raise Refusal(
            Code.VALIDATION_ERROR, "The note is empty.", "Fill in progress, findings, blockers or next_steps."
        )
    return {"success": True, "note_id": _add_note(call, task.id, note)}


def _add_note(call: Call, task_id: str, note: Progress) -> str:
    stored = Note(
        id=call.new_id(ids.NOTE),
        task_id=task_id,
        session_id=call.session.id,
        author_id=call.agent.id,
        progress=note.progress,
        findings=note.findings,
        blockers=note.blockers,
        next_steps=note.next_steps,
        created_at=call.now,
    )
    call.tx.handovers.add_note(stored)
    call.event("note.saved", task=call.tx.tasks.find(task_id), data={"note_id": stored.id})
    return stored.id


def _note(note: Note) -> dict[str, Any]:
    return {
        "progress": note.progress,
        "findings": note.findings,
        "blockers": note.blockers,
        "next_steps": note.next_steps,
        "by": note.author_id,
        "at": iso(note.created_at),
    }


def _of_own_tree(call: Call, task_id: str | None) -> Task:
    """A task of the session's own tree. Raises Refusal."""
    session = call.session
    wanted = task_id or session.task_id
    if wanted is None:
        raise Refusal(Code.VALIDATION_ERROR, "This session has no main task.", "Name a task in task_id.")
    task = call.task(wanted)
    if session.root_id is not None and task.root_id != session.root_id:
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"Task {task.id} is not in your own tree.",
            "Notes and handoffs are left on your main task, and on tasks above and below it.",
            task_id=task.id,
        )
    return task


class CreateHandoff(Parameters):
    task_id: Id = Field(description="A task of your own tree.")
    summary: Text = Field(min_length=1, description="Where things stand.")
    to_agent_id: Id | None = Field(None, description="For whom; default: whoever works on the task next.")
    context: Any = Field(None, description="Anything the next one needs, as JSON.")
    recommendations: Text | None = Field(None, description="What you would do next.")


class HandoffResult(Said):
    handoff_id: str
    handoff: NotRequired[dict[str, Any]]


@operation("create_handoff", grant=Grant.ANY_SESSION, parameters=CreateHandoff, result=HandoffResult)
def create_handoff(call: Call, wanted: CreateHandoff) -> dict[str, Any]:
    """Hand what you know about a task to another agent. It informs; it never changes the assignee."""
    task = _of_own_tree(call, wanted.task_id)
    if wanted.to_agent_id is not None:
        call.known_agent(wanted.to_agent_id)
    handoff = Handoff(
        id=call.new_id(ids.HANDOFF),
        task_id=task.id,
        from_agent_id=call.agent.id,
        to_agent_id=wanted.to_agent_id,
        summary=wanted.summary,
        context=wanted.context,
        recommendations=wanted.recommendations,
        created_at=call.now,
    )
    call.tx.handovers.add_handoff(handoff)
    call.event("handoff.created", task=task, data={"handoff_id": handoff.id, "to": wanted.to_agent_id})
    return {"success": True, "handoff_id": handoff.id, "handoff": rendering.handoff(handoff)}


class AcceptHandoff(Parameters):
    handoff_id: Id = Field(description="The handoff, from get_my_task or get_task.")


@operation("accept_handoff", grant=Grant.ANY_SESSION, parameters=AcceptHandoff, result=HandoffResult)
def accept_handoff(call: Call, wanted: AcceptHandoff) -> dict[str, Any]:
    """Say that you have taken over what a handoff told you."""
    handoff = call.tx.handovers.handoff(wanted.handoff_id)
    task = call.tx.tasks.find(handoff.task_id) if handoff is not None else None
    if handoff is None or task is None or not call.sees(task.project_id):
        raise Refusal(
            Code.HANDOFF_NOT_FOUND,
            f"There is no handoff {wanted.handoff_id} here.",
            "get_my_task and get_task show the handoffs of a task.",
        )
    if handoff.to_agent_id not in (None, call.agent.id):
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"This handoff is for {handoff.to_agent_id}.",
            "Accept only handoffs that are addressed to you or to nobody.",
        )
    if handoff.accepted_at is None:
        handoff = call.tx.handovers.accept(handoff, call.agent.id, call.now)
        call.event("handoff.accepted", task=task, data={"handoff_id": handoff.id})
    return {"success": True, "handoff_id": handoff.id, "handoff": rendering.handoff(handoff)}


# --- notices ---------------------------------------------------------------------------------------------------------


class GetNotifications(Parameters):
    mark_as_read: bool = Field(True, description="Handing them out delivers them either way.")


class Notifications(Said):
    notifications: list[dict[str, Any]]


@operation(
    "get_notifications",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    parameters=GetNotifications,
    result=Notifications,
)
def get_notifications(call: Call, _: GetNotifications) -> dict[str, Any]:
    """What people and others changed about your work since you last asked."""
    waiting = call.tx.handovers.waiting(call.session.id)
    if waiting:
        call.tx.handovers.deliver(call.session.id, call.now)
        kinds = sorted({each.kind for each in waiting})
        call.event("notification.delivered", agent_id=call.agent.id, data={"count": len(waiting), "kinds": kinds})
    return {
        "success": True,
        "notifications": [rendering.notification(each) for each in waiting],
        "instruction": words("get_next_action", call.language),
    }

"""A session's own work: what next, its task, notices, and the report that ends it."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain.errors import Code, Refusal
from toryo.domain.handover import Handoff
from toryo.domain.launches import Purpose
from toryo.domain.sessions import End, Session
from toryo.domain.tasks import Status, Task
from toryo.operations.calls import rendering, schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Available, Form, Later, NoParameters, Parameters, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Next, Refused, Result, Said
from toryo.operations.launches import termination
from toryo.operations.sessions import guards, next_action_answer
from toryo.operations.sessions.notes import Progress, Text, add_note, shown_note
from toryo.operations.tasks import acceptance_checks, mutations
from toryo.operations.translations import words
from toryo.operations.worktrees import worktree_locks
from toryo.workflow import launch as launches
from toryo.workflow.snapshot import Snapshot


class NextAction(Parameters):
    timeout_seconds: int = Field(45, ge=0, le=45, description="Seconds it may wait.")


@operation(
    "get_next_action",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.ALWAYS,
    grant=Grant.ANY_SESSION,
    parameters=NextAction,
    waits=True,
)
def get_next_action(call: Call, wanted: NextAction) -> Next | Later:
    """What to do next. Call it after every step and do what it says, until it says exit."""
    told = next_action_answer.told(call, patient=wanted.timeout_seconds > 0)
    if isinstance(told, Later):
        return told
    answer: Result = {"success": True}
    return {**answer, **told}


class OwnTask(TypedDict):
    task_id: str
    title: str
    description: str
    status: schemas.StatusName
    priority: schemas.PriorityName
    working_directory: str | None
    context: dict[str, Any]
    handoff: schemas.Handoff | None
    handoffs: list[schemas.Handoff]
    acceptance: list[schemas.AcceptanceCheck]
    resumed: bool
    attempt: int
    parent_task_id: str | None
    delegations: list[schemas.Delegation]


class MyTask(Said):
    has_task: bool
    task: NotRequired[OwnTask]


@operation(
    "get_my_task",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    leads=True,
)
def get_my_task(call: Call, _: NoParameters) -> MyTask:
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


def _my_task(call: Call, task: Task) -> OwnTask:
    project = call.tx.projects.find(task.project_id)
    details = call.tx.tasks.details(task.id)
    handoffs = rendering.handoffs(_for_me(call, call.tx.handovers.handoffs(task.id)))
    return {
        "task_id": task.id,
        "title": task.title,
        "description": details.description,
        "status": task.status.value,
        "priority": task.priority.value,
        "working_directory": worktree_locks.workplace(call) or (project.working_directory if project else None),
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
    mine = [handoff for handoff in handoffs if handoff.to_agent_id in (None, call.agent.id)]
    return sorted(mine, key=lambda each: each.accepted_at is not None)


def _context(call: Call, task: Task, given: Any) -> dict[str, Any]:
    """The creator's JSON, and the last progress note under `previous`."""
    context = dict(given) if isinstance(given, dict) else {} if given is None else {"value": given}
    notes = call.tx.handovers.notes(task.id)
    if notes:
        context["previous"] = shown_note(notes[0])
    return context


class Profile(Result):
    agent: schemas.Agent


@operation("get_my_profile", available=Available.AFTER_THE_END, grant=Grant.ANY_SESSION)
def get_my_profile(call: Call, _: NoParameters) -> Profile:
    """Who you are: name, role, superior, capabilities, system prompt."""
    return {"success": True, "agent": rendering.agent(call.agent)}


class OneProject(Result):
    project: schemas.Project


@operation("get_project", available=Available.AFTER_THE_END, grant=Grant.ANY_SESSION)
def get_project(call: Call, _: NoParameters) -> OneProject:
    """The project you work in: name, description, working directory, settings."""
    return {"success": True, "project": rendering.project(call.project(call.session.project_id))}


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
    waits=True,
    leads=True,
)
def report_completed(call: Call, report: ReportCompleted) -> Reported | Refused | Later:
    """Report the end of your main task: success, failed or blocked, with a summary. Then end your process."""
    session = call.session
    if session.over and (before := _remembered_answer(session, report)) is not None:
        return before
    snapshot = call.own_snapshot()
    if launches.withdrawn(snapshot, session) is not None or (session.over and not _may_have_last_word(call, snapshot)):
        return _too_late(call, report)
    tree_state = snapshot.ground_of(session.task_id)
    assert tree_state is not None
    main = tree_state.tree.tasks[session.task_id or ""]
    stopped_at = session.ended_at if session.over else session.runaway_at
    if stopped_at is not None and main.moved_at > stopped_at:  # somebody has set it up anew since
        return _too_late(call, report)
    if session.runaway is not None and report.result == "success":
        told = words("exit.runaway", call.language, detail=session.runaway)
        raise Refusal(Code.RUNAWAY, "A guard stopped this session.", told)
    because_of = _blocks_below(tree_state.tree.descendants(main)) if report.result == "blocked" else ()
    reason = None if report.result == "success" else report.summary or "(reported without a reason)"
    try:
        if report.result == "success":
            waiting = acceptance_checks.awaited(call, tree_state, main, report.model_dump(), "report_completed")
            if waiting is not None:
                return waiting
        after = mutations.move(call, tree_state, main, _STATUS[report.result], reason, because_of=because_of)
    except Refusal as refusal:
        if refusal.code is not Code.DELEGATION_OPEN:
            raise
        call.change_session(refused_for_delegation=True)
        return Refused(refusal.answer())
    _keep_result(call, after, report)
    told = words("reported", call.language)
    answer: Reported = {
        "success": True,
        "action": "exit",
        "instruction": told,
        "task_id": after.id,
        "status": after.status.value,
    }
    call.change_session(report=_remembered(report, answer))
    if not session.over:
        termination.end_session(call, call.session, End.REPORTED)
    return answer


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
    return tuple(task.id for task in tasks if task.status is Status.BLOCKED and task.blocked_cause is None)


def _keep_result(call: Call, task: Task, report: ReportCompleted) -> None:
    call.tx.tasks.save_details(
        task.id,
        summary=report.summary,
        next_steps=report.next_steps,
        artifacts=tuple(report.artifacts),
        result={"result": report.result, "artifacts": report.artifacts},
        error=report.summary if report.result == "failed" else None,
    )


def _remembered(report: ReportCompleted, answer: Reported) -> str:
    return orjson.dumps({"report": report.model_dump(), "answer": answer}).decode()


def _remembered_answer(session: Session, report: ReportCompleted) -> Reported | None:
    """The session is over: the same report again answers as the first time."""
    remembered = orjson.loads(session.report) if session.report is not None else {}
    answer: Reported | None = remembered.get("answer")
    return answer if answer and remembered.get("report") == report.model_dump() else None


def _too_late(call: Call, report: ReportCompleted) -> Reported:
    """The main task was withdrawn, or the session is over: nothing changes; the summary of who has not reported yet is
    kept as a note."""
    session, language = call.session, call.language
    first = session.report is None or not orjson.loads(session.report).get("answer")
    kept = bool(first and report.summary and session.task_id and guards.still_belongs(call, session))
    if kept:
        add_note(call, session.task_id or "", Progress(progress=report.summary, next_steps=report.next_steps))
    said = ["late.over" if session.over else "late.withdrawn", *(["late.kept"] if kept else []), "late.end"]
    told = " ".join(words(each, language) for each in said)
    answer: Reported = {"success": True, "action": "exit", "instruction": told, "task_id": None, "status": "unchanged"}
    if first:
        call.change_session(report=_remembered(report, answer))
    if not session.over:
        termination.end_session(call, call.session, End.TOLD_TO_EXIT)
    return answer


class GetNotifications(Parameters):
    mark_as_read: bool = Field(True, description="Handing them out delivers them either way.")


class Notifications(Said):
    notifications: list[schemas.Notification]


@operation(
    "get_notifications",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    parameters=GetNotifications,
    form=Form(frozenset({"mark_as_read"})),  # a parameter of the protocol that changes nothing
)
def get_notifications(call: Call, _: GetNotifications) -> Notifications:
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

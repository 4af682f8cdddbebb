"""What the reports that end a task's session share: `report_completed` and `submit_review`."""

from __future__ import annotations

from typing import Any, NotRequired

import orjson

from toryo.domain.errors import Code, Refusal
from toryo.domain.sessions import End, Session
from toryo.operations.calls.call import Call
from toryo.operations.calls.results import Refused, Said
from toryo.operations.launches import end_of_session
from toryo.operations.sessions import guards
from toryo.operations.sessions.notes import Progress, add_note
from toryo.operations.translations import words


class Reported(Said):
    action: NotRequired[str]
    task_id: NotRequired[str | None]
    status: NotRequired[str]


def told_to_leave(told: str, task_id: str | None, status: str) -> Reported:
    return {"success": True, "action": "exit", "instruction": told, "task_id": task_id, "status": status}


def refusal_answer(call: Call, refusal: Refusal) -> Refused:
    """Who was refused only because a delegation is open is told to wait for it from then on: an answer, because
    what is raised would take that back."""
    if refusal.code is not Code.DELEGATION_OPEN:
        raise refusal
    call.change_session(refused_for_delegation=True)
    return Refused(refusal.answer())


def remember(call: Call, report: dict[str, Any], answer: Reported) -> None:
    call.change_session(report=orjson.dumps({"report": report, "answer": answer}).decode())


def remembered_answer(session: Session, report: dict[str, Any]) -> Reported | None:
    """The session is over: the same report again answers as the first time."""
    remembered = orjson.loads(session.report) if session.report is not None else {}
    answer: Reported | None = remembered.get("answer")
    return answer if answer and remembered.get("report") == report else None


def nobody_has_begun(call: Call) -> bool:
    """Nothing was heard of this session for a lease, so it was ended; but nobody has taken its place, and the task
    is as it was. What it has finished meanwhile counts."""
    session, task = call.session, call.tx.tasks.find(call.session.task_id or "")
    if task is None or task.moved_at > (session.ended_at or 0):
        return False
    last = call.tx.launches.last_of_task(task.id)
    followed = last is not None and last.id != session.launch_id and last.signed_in_at is not None
    return not followed and given_up(call)


def given_up(call: Call) -> bool:
    """Whether this session was ended only because nothing was heard of it, or because its process ended, or was told
    to, while the checks of its report ran; and its agent may still work here."""
    session = call.session
    waits = session.report is not None and "answer" not in orjson.loads(session.report)
    ended = session.end_reason in (End.PROCESS_EXITED, End.LEFT_TO_WAIT)
    gone = session.end_reason is End.LEASE_EXPIRED or (ended and waits)
    return gone and guards.still_belongs(call, session)


def too_late(call: Call, report: dict[str, Any]) -> Reported:
    """The main task was withdrawn, or the session is over: nothing changes; the summary of who has not reported yet is
    kept as a note."""
    session, language = call.session, call.language
    summary, next_steps = report.get("summary"), report.get("next_steps")
    first = session.report is None or not orjson.loads(session.report).get("answer")
    kept = bool(first and summary and session.task_id and guards.still_belongs(call, session))
    if kept:
        add_note(call, session.task_id or "", Progress(progress=summary, next_steps=next_steps))
    said = ["late.over" if session.over else "late.withdrawn", *(["late.kept"] if kept else []), "late.end"]
    answer = told_to_leave(" ".join(words(each, language) for each in said), None, "unchanged")
    if first:
        remember(call, report, answer)
    if not session.over:
        end_of_session.end_session(call, call.session, End.TOLD_TO_EXIT)
    return answer


def stopped_by_guard(call: Call) -> Refusal:
    """Why a session reports neither success nor a review."""
    told = words("exit.runaway", call.language, detail=call.session.runaway)
    return Refusal(Code.RUNAWAY, "A guard stopped this session.", told)

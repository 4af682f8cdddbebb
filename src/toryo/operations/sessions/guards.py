"""Which calls an ended, withdrawn or guarded session may still make; and the counters of the guards."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Purpose
from toryo.domain.sessions import End, Session
from toryo.domain.tasks import Task
from toryo.domain.times import SECOND
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import Available, Operation
from toryo.operations.calls.credential_verification import END_PROCESS
from toryo.workflow.launch_rules import withdrawal


def refuse(call: Call, operation: Operation) -> None:
    """Raises Refusal for calls that an ended, withdrawn or guarded session may not make."""
    session = call.session
    if operation.available is Available.ALWAYS:
        return
    if session.over:
        _refuse_over(call, session, operation)
        return
    if session.runaway is not None:
        works = session.purpose is Purpose.TASK
        raise Refusal(
            Code.RUNAWAY,
            f"A guard stopped this session ({session.runaway}).",
            'Report why you could not continue: report_completed(result="blocked", summary="why"). Then end this '
            "process."
            if works
            else "Call logout, and end this process.",
            action="exit",
            reason="runaway",
        )
    if operation.available is Available.WORKING and session.purpose is Purpose.TASK:
        _refuse_paused(call, session)
        _refuse_withdrawn(call, session)


def still_belongs(call: Call, session: Session) -> bool:
    """Whether the agent of a session that may be over is still one of the project."""
    member = session.agent_id in call.tx.agents.members_among(session.project_id, [session.agent_id])
    dismissed = session.end_reason is End.DISMISSED or _passkey_renewed_since(call, session)
    return member and call.agent.active and not dismissed


def _passkey_renewed_since(call: Call, session: Session) -> bool:
    """Whether it was signed in with a passkey that is refused by now."""
    launch = call.tx.launches.find(session.launch_id)
    if launch is None or not launch.by_passkey:
        return False
    renewed = call.tx.events.newest(1, agent_id=session.agent_id, kind="agent.passkey_renewed")
    return bool(renewed) and renewed[0].at >= session.created_at


def _refuse_over(call: Call, session: Session, operation: Operation) -> None:
    within_grace = call.now < (session.ended_at or 0) + call.context.limits.stop_grace
    if operation.available is Available.AFTER_THE_END and within_grace and still_belongs(call, session):
        return
    raise Refusal(
        Code.SESSION_EXPIRED,
        f"This session is over ({session.end_reason.value if session.end_reason else 'ended'}).",
        END_PROCESS,
        action="exit",
        reason="session_over",
    )


def _refuse_paused(call: Call, session: Session) -> None:
    project = call.tx.projects.find(session.project_id)
    if project is None or not project.active:
        raise Refusal(
            Code.NOT_NOW,
            f"The project is {project.status.value if project is not None else 'gone'}, so its tasks cannot be "
            "changed.",
            "Save a note of your progress (save_progress), call logout and end this process.",
            action="exit",
            reason="project_paused",
        )


def _refuse_withdrawn(call: Call, session: Session) -> None:
    task = call.tx.tasks.find(session.task_id or "")
    cause = withdrawal(session, task, _ancestors(call, task))
    if cause is not None:
        raise Refusal(
            Code.NOT_NOW,
            f"The main task of this session is no longer yours ({cause[0]}).",
            "Save a note for the next agent if useful (save_progress), call logout and end this process.",
            action="exit",
            reason="task_withdrawn",
        )


def _ancestors(call: Call, task: Task | None) -> Iterator[Task]:
    """Those above a task, the nearest first, each read when it is asked for."""
    while task is not None and task.parent_id is not None:
        task = call.tx.tasks.find(task.parent_id)
        if task is not None:
            yield task


def touch(call: Call, *, refused: bool) -> None:
    """Renews the lease and counts the call; counters restart when the facts of the tree have changed.

    The counters are stored with every call, also with one that changes nothing else. Kept in memory for some seconds,
    they would be lost with the process, and each of several servers would have its own: a runaway could go unnoticed.
    """
    session = call.session
    if session.over:
        return
    newest = _facts(call, session)
    own = (
        event for event in call.tx.events.collected if event.root_id is not None and event.root_id == session.root_id
    )
    changed = newest > session.idle_event or any(event.fact for event in own)
    counted = replace(
        session,
        last_call_at=call.now,
        heard_at=call.now,
        expires_at=max(session.expires_at, call.now + session.lease_seconds * SECOND),
        calls=session.calls + 1,
        idle_calls=0 if changed else session.idle_calls + 1,
        refusals=(0 if changed else session.refusals) + (1 if refused else 0),
        idle_event=newest,
    )
    call.adopt_counts(_guarded(call, counted))


def _facts(call: Call, session: Session) -> int:
    """A number that grows whenever the facts change that this session lives by: of its tree, or of its talk."""
    if session.purpose is Purpose.CHAT:
        return call.tx.chat.mailbox(session.project_id, session.agent_id).version
    return call.tx.events.last_fact(session.root_id) if session.root_id else 0


def _guarded(call: Call, session: Session) -> Session:
    """Trips the guard whose limit is reached, once."""
    limits = call.context.limits
    if session.runaway is not None:
        return session
    counts = [
        ("same_answer", session.told_times, limits.same_answers),
        ("refused_calls", session.refusals, limits.refusals),
    ]
    if session.purpose is Purpose.TASK:
        counts += [
            ("calls_without_change", session.idle_calls, limits.idle_calls),
            ("too_many_calls", session.calls, limits.calls),
        ]
    else:  # a chat may be long: only calls that change nothing count
        counts += [("too_many_calls", session.idle_calls, limits.calls)]
    tripped = next((name for name, count, limit in counts if count >= limit), None)
    return session if tripped is None else trip(call, session, tripped)


def trip(call: Call, session: Session, guard: str) -> Session:
    """From here on every call but a report (blocked, failed) and logout answers `exit`; the Coordinator stops it."""
    call.event("session.runaway", agent_id=session.agent_id, data={"guard": guard, "task_id": session.task_id})
    call.tx.hint(WORK)
    return replace(session, runaway=guard, runaway_at=call.now)

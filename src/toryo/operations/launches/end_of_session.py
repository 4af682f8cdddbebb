"""How sessions and launches end, and what that releases: one path for all causes.

The causes: a report or a voluntary end (`operations/sessions/`), a stop by the launch decision (`stop`), an expired
lease (`lapse`), a process exit (`process_exit_reports.py`), an agent's lost right (`agent_dismissal.py`), a person
(`admin/force_end.py`). The program that started a process also ends it.
"""

from __future__ import annotations

from toryo import failures
from toryo.block_reasons import Block
from toryo.domain.agents import SYSTEM
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Launch, Purpose, State
from toryo.domain.moves import Actor
from toryo.domain.sessions import End, Session
from toryo.domain.tasks import Checks, Status, Task, Wait
from toryo.failures import Failure
from toryo.operations.calls.call import WORK, Call
from toryo.operations.launches import cooldowns
from toryo.operations.messaging import conversations
from toryo.operations.queue import claims
from toryo.operations.queue.claims import Fate
from toryo.operations.tasks import mutations
from toryo.workflow import launch_rules, next_action
from toryo.workflow.launch_rules import Decision

GUARD = Actor(SYSTEM, everything=True, guard=True)

_BY_ORDER = frozenset({End.REPORTED, End.LEFT_TO_WAIT, End.TOLD_TO_EXIT})
_WELL = frozenset({End.REPORTED, End.LEFT_TO_WAIT})
_NOT_ITS_FAULT = frozenset({End.LEASE_EXPIRED, End.ENDED_BY_PERSON, End.DISMISSED})
_DECIDED_BY_OTHERS = frozenset({End.REPORTED, End.ENDED_BY_PERSON, End.DISMISSED, End.SUPERSEDED})


def end_session(call: Call, session: Session, why: End, *, counts: bool = False) -> Session:
    """Ends a session and its launch. `counts`: it left voluntarily, without a report or an instruction to leave."""
    ended = replace(session, ended_at=call.now, end_reason=why)
    if call.has_session and session.id == call.session.id:
        ended = call.change_session(ended_at=call.now, end_reason=why)
    else:
        call.tx.sessions.save(session, ended)
    launch = call.tx.launches.find(session.launch_id)
    if launch is not None and launch.live:
        state = State.LOST if why is End.LEASE_EXPIRED else State.EXITED
        end_launch(call, launch, state, why.value, told=why in _BY_ORDER, claim=_fate(call, session, why))
    call.tx.hint(f"session:{session.id}")
    call.event(
        "session.ended",
        of=session,
        data={"reason": why.value, "purpose": session.purpose.value, "task_id": session.task_id},
    )
    if session.purpose is Purpose.TASK and session.task_id is not None:
        _leave_task(call, session, why, counts=counts)
    if session.purpose is Purpose.CHAT:
        _leave_chat(call, ended, why, counts=counts)
    if session.runaway is not None:
        if launch is not None:
            stopped_by_guard(call, launch)
        cooldowns.cool(call, session.agent_id, session.purpose, Failure.RUNAWAY.value, None)
    elif why in _WELL or (session.purpose is Purpose.CHAT and why is End.TOLD_TO_EXIT):
        cooldowns.clear(call, session.agent_id, session.purpose, launch)
    return ended


def _fate(call: Call, session: Session, why: End) -> Fate:
    """What becomes of a queue task that it has claimed: who leaves because it was told to loses nothing by it."""
    if _obeyed(call, session, why) or _heeded_the_time_limit(call, session, why):
        return Fate.KEPT if _goes_on_later(call, session) else Fate.RETURNED
    if why in _DECIDED_BY_OTHERS or (why is not End.LEASE_EXPIRED and _ended_from_outside(call, session)):
        return Fate.RETURNED
    return Fate.LOST


def _obeyed(call: Call, session: Session, why: End) -> bool:
    """It was told to leave, for what is not its own doing."""
    told = why in (End.LEFT_TO_WAIT, End.TOLD_TO_EXIT)
    return told and not launch_rules.failed_by_itself(session, call.context.limits, call.now)


def _heeded_the_time_limit(call: Call, session: Session, why: End) -> bool:
    """It was told that its time is over, and left; or its Coordinator stopped it before it had called again, so that
    nobody could tell it.

    That costs no attempt, but is a start without progress if it was one: the guard against these ends a row of them.
    """
    if why is not End.TOLD_TO_EXIT or not launch_rules.ran_its_time(session, call.context.limits, call.now):
        return False
    by_itself = call.has_session and call.session.id == session.id
    return by_itself or not launch_rules.ran_its_time(session, call.context.limits, session.last_call_at)


def _goes_on_later(call: Call, session: Session) -> bool:
    agent = call.tx.agents.find(session.agent_id)
    member = bool(call.tx.agents.members_among(session.project_id, [session.agent_id]))
    return member and agent is not None and agent.active and agent.managed


def end_launch(
    call: Call, launch: Launch, state: State, reason: str, *, told: bool = False, claim: Fate = Fate.RETURNED
) -> Launch:
    """The launch is over: the next may start at once. One that nobody signed in for has not used what it claimed."""
    ended = replace(
        launch, state=state, ended_at=call.now, end_reason=reason, told_to_leave=launch.told_to_leave or told
    )
    call.tx.launches.save(launch, ended)
    claims.release_launch(call, launch.id, launch.task_id, claim)
    call.event(
        f"launch.{state.value}",
        of=launch,
        data={"reason": reason, "purpose": launch.purpose.value, "task_id": launch.task_id},
    )
    call.tx.hint(WORK, f"project:{launch.project_id}", f"launch:{launch.id}")
    return ended


def _leave_chat(call: Call, session: Session, why: End, *, counts: bool) -> None:
    """A chat session that left voluntarily with unfinished work is not restarted at once."""
    box = call.tx.chat.mailbox(session.project_id, session.agent_id)
    did_nothing = box.version == (session.fetched_event or 0)
    conversations.leave(call, session, why)
    wanted = call.chat_snapshot(session.agent_id, session.project_id).talk.wanted
    if counts and did_nothing and wanted and session.runaway is None:
        cooldowns.cool(call, session.agent_id, Purpose.CHAT, Failure.LEFT_WITHOUT_ANSWERING.value, None)


def _leave_task(call: Call, session: Session, why: End, *, counts: bool) -> None:
    task = call.tx.tasks.find(session.task_id or "")
    if task is None:
        return
    changes: dict[str, int] = {"left_at": call.now, "left_event": call.tx.events.last()}
    if task.in_progress and task.assignee_id == session.agent_id:
        if counts or why in _BY_ORDER:  # an end that was told breaks the row
            changes["unreported_ends"] = task.unreported_ends + 1 if counts else 0
        for_checks = why is End.LEFT_TO_WAIT and task.checks is Checks.RUNNING  # they may fail each time
        obeyed = _obeyed(call, session, why) and not for_checks
        if why in _NOT_ITS_FAULT or obeyed or _ended_from_outside(call, session):
            changes["idle_launches"] = max(0, task.idle_launches - 1)
    after = call.tx.tasks.save(task, replace(task, **changes))  # type: ignore[arg-type]
    if counts and after.unreported_ends >= call.context.limits.unreported_ends:
        block_by_guard(call, after, Block.LEFT_WITHOUT_REPORTING)


def _ended_from_outside(call: Call, session: Session) -> bool:
    """Its project rests, or its process ended for what is neither its own doing nor its task's."""
    project, launch = call.tx.projects.find(session.project_id), call.tx.launches.find(session.launch_id)
    outside = launch is not None and failures.from_outside(launch.exit_error)
    return outside or project is None or not project.active


def stop(call: Call, launch: Launch, decision: Decision) -> None:
    """Carries out a stop: ends the launch's session at once, for the reason of the decision. The process is ended by
    the program that started it, or exits by itself.
    """
    session = call.tx.sessions.of_launch(launch.id)
    if session is not None and not session.over:
        end_session(call, session, End.TOLD_TO_EXIT)
        call.event("session.stopped", of=session, data={"reason": decision.reason, "row": decision.row})
    # Runaway is not listed: its cooldown begins however its session ends.
    if decision.reason in (Failure.SILENT, Failure.TIME_LIMIT):
        cooldowns.cool(call, launch.agent_id, launch.purpose, decision.reason, None)
    ended = call.tx.launches.find(launch.id)
    if ended is not None:
        call.tx.launches.save(ended, replace(ended, stop_since=call.now, stop_reason=decision.reason))


def block_by_guard(call: Call, task: Task, reason: Block) -> None:
    """A guard blocks a task: only a person lifts that."""
    if not task.in_progress:
        return
    mutations.move(call, call.tree_state(task), task, Status.BLOCKED, reason.value, actor=GUARD)
    call.event("guard.blocked", task=task, actor=GUARD, data={"reason": reason.value})


def stopped_by_guard(call: Call, launch: Launch) -> None:
    """A guard has stopped an agent that went round in circles. The second time in a row it is the task that leads
    there: started again, it would cost the same again."""
    task = call.tx.tasks.find(launch.task_id or "")
    if task is None or launch.purpose is not Purpose.TASK or task.assignee_id != launch.agent_id:
        return
    earlier = (
        each
        for each in reversed(call.tx.launches.of_tasks([task.id]))
        if each.id != launch.id and each.signed_in_at is not None and each.ordered_at >= task.moved_at
    )
    before = next(earlier, None)
    if before is not None and _was_stopped_by_guard(call, before):
        block_by_guard(call, task, Block.STOPPED_TWICE)


def _was_stopped_by_guard(call: Call, launch: Launch) -> bool:
    session = call.tx.sessions.of_launch(launch.id)
    return failures.class_of(launch.exit_error) in GUARD_STOPS or (session is not None and session.runaway is not None)


GUARD_STOPS = frozenset({Failure.RUNAWAY.value, Failure.OUTPUT_FLOOD.value})
"""Failures by which a Coordinator tells that it has stopped an agent that went round in circles."""


def record_wait(call: Call, task: Task, kind: str) -> None:
    """The owner leaves to wait: recorded in the transaction that ends its session."""
    wait = Wait(kind, call.now, call.tx.events.last())
    call.tx.tasks.save(task, replace(task, wait=wait))
    call.event("task.waiting", task=task, data={"for": kind})


def leave_to_wait(call: Call, session: Session, kind: str) -> None:
    task = call.tx.tasks.find(session.task_id or "")
    assert task is not None
    record_wait(call, task, kind)
    end_session(call, session, End.LEFT_TO_WAIT)


def waits_for_answer(call: Call, session: Session) -> bool:
    """Whether a person must answer before its agent can do more: it may leave without asking for its next action."""
    task = call.tx.tasks.find(session.task_id or "")
    if session.purpose is not Purpose.TASK or session.runaway is not None or task is None or not task.open_questions:
        return False
    snapshot = call.snapshot(session.agent_id, session.project_id, session)
    return next_action.decide(snapshot, session).action == "wait_for_answer"


def lapse(call: Call, launch: Launch | None, session: Session | None) -> bool:
    """Ends what has run out by now: a launch past its deadline, a session whose lease is over. True if one had."""
    if session is not None and session.ran_out(call.now):
        end_session(call, session, End.LEASE_EXPIRED)
        return True
    if launch is not None and launch.ran_out(call.now):
        end_launch(call, launch, State.EXPIRED, "not_signed_in")
        if launch.seen_at is not None:
            program = cooldowns.program_of(launch)
            cooldowns.cool(call, launch.agent_id, launch.purpose, Failure.COULD_NOT_CONNECT.value, None, program)
        return True
    return False

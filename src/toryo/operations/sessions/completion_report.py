"""The report that ends a session's work: `report_completed`, in time, late, or repeated."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from pydantic import Field

from toryo.domain import review_checks
from toryo.domain.errors import Code, Refusal
from toryo.domain.launches import Purpose
from toryo.domain.sessions import End
from toryo.domain.tasks import Status, Task
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Available, Later, Parameters, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import listed_for
from toryo.operations.calls.results import Refused
from toryo.operations.launches import end_of_session
from toryo.operations.queue import claims as queue_claims
from toryo.operations.sessions import task_reports
from toryo.operations.sessions.notes import Text
from toryo.operations.sessions.task_reports import Reported, told_to_leave
from toryo.operations.tasks import acceptance_checks, mutations
from toryo.operations.translations import words
from toryo.operations.worktrees import subtask_merges
from toryo.workflow import launch_rules
from toryo.workflow.snapshot import Snapshot

_WORKERS = Audience.WORKER | Audience.BY_HAND
"""A manager has said both in its tasks; it may still pass them."""


class ReportCompleted(Parameters):
    result: Literal["success", "failed", "blocked"] = Field(description="blocked: others must do something first.")
    summary: Text | None = Field(None, description="What was done, or why not.")
    next_steps: Text | None = Field(
        None, description="What should follow.", json_schema_extra=listed_for(_WORKERS, plain=True)
    )
    artifacts: list[Any] = Field(
        default_factory=list,
        max_length=200,
        description="Paths or URLs.",
        json_schema_extra=listed_for(_WORKERS, plain=True),
    )


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
    """Report the end of your main task. If accepted, stop; if refused, do what it says."""
    session = call.session
    if session.over and (before := task_reports.remembered_answer(session, report.model_dump())) is not None:
        return before
    taken_back = session.over and _takes_back(call)
    snapshot = call.own_snapshot()
    if launch_rules.withdrawn(snapshot, session) is not None or (
        session.over and not (taken_back or task_reports.nobody_has_begun(call) or _may_have_last_word(call, snapshot))
    ):
        return task_reports.too_late(call, report.model_dump())
    tree_state = snapshot.ground_of(session.task_id)
    assert tree_state is not None
    main = tree_state.tree.tasks[session.task_id or ""]
    stopped_at = session.ended_at if session.over else session.runaway_at
    if (
        stopped_at is not None and main.moved_at > stopped_at and not taken_back
    ):  # The task was prepared again in the meantime.
        return task_reports.too_late(call, report.model_dump())
    if session.runaway is not None and report.result == "success":
        raise task_reports.stopped_by_guard(call)
    because_of = _blocks_below(tree_state.tree.descendants(main)) if report.result == "blocked" else ()
    reason = None if report.result == "success" else report.summary or "(reported without a reason)"
    try:
        if report.result == "success":
            _refuse_without_verdict(main)
            asked, keep = report.model_dump(), partial(_keep_result, call, main, report)
            waiting = subtask_merges.await_merges(call, tree_state, main, asked)
            waiting = waiting or acceptance_checks.await_checks(call, tree_state, main, asked, "report_completed", keep)
            if waiting is not None:
                return _left_to_review(call, report) or _left_to_checks(call) or waiting
        after = mutations.move(call, tree_state, main, _STATUS[report.result], reason, because_of=because_of)
    except Refusal as refusal:
        return task_reports.refusal_answer(call, refusal)
    _keep_result(call, after, report)
    told = words("reported", call.language)
    answer = told_to_leave(told, after.id, after.status.value)
    task_reports.remember(call, report.model_dump(), answer)
    if not session.over:
        end_of_session.end_session(call, call.session, End.REPORTED)
    return answer


def _takes_back(call: Call) -> bool:
    """Whether this session has its queue task again, which went back when nothing was heard of it for a lease."""
    session, task = call.session, call.tx.tasks.find(call.session.task_id or "")
    if task is None or not task.for_queue or not task_reports.given_up(call):
        return False
    held = [each for each in call.tx.queues.claims_of_task(task.id) if each.launch_id == session.launch_id]
    return bool(held) and queue_claims.take_back(call, task, held[-1]) is not None


def _refuse_without_verdict(main: Task) -> None:
    if main.review_of is not None:
        raise Refusal(
            Code.NOT_NOW,
            "Your task is a review.",
            "Report it with submit_review(verdict, findings); if you cannot review the work, report failed or blocked.",
        )


def _left_to_review(call: Call, report: ReportCompleted) -> Reported | None:
    """The work is being reviewed now, and its agent leaves; None: it is not."""
    main = call.task(call.session.task_id or "")
    if not review_checks.review_open(main):
        return None
    answer = told_to_leave(words("in_review", call.language), main.id, main.status.value)
    task_reports.remember(call, report.model_dump(), answer)
    if not call.session.over:
        end_of_session.leave_to_wait(call, call.session, "answer")
    return answer


def _left_to_checks(call: Call) -> Reported | None:
    """The checks take long: the report is kept, and its agent leaves; None: they do not. It is started again only if
    one fails."""
    main = call.task(call.session.task_id or "")
    if not acceptance_checks.take_long(call, main):
        return None
    if not call.session.over:
        end_of_session.leave_to_wait(call, call.session, "answer")
        mutations.go_on(call, (), freed=[main])
    return told_to_leave(words("checking.long", call.language), main.id, main.status.value)


def _may_have_last_word(call: Call, snapshot: Snapshot) -> bool:
    """A guard has told this session to leave, not long ago, and nobody has gone on since: its report still counts."""
    session = call.session
    just_now = call.now < (session.ended_at or 0) + call.context.limits.stop_grace
    told = session.end_reason is End.TOLD_TO_EXIT and launch_rules.tripped(snapshot, session) is not None
    employed = not (launch_rules.inactive(snapshot) or launch_rules.not_member(snapshot))
    followed = snapshot.launches.get(Purpose.TASK) is not None
    return just_now and told and employed and not followed and not launch_rules.project_not_active(snapshot)


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

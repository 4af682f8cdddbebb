"""The report of a reviewer: `submit_review` ends the task of a review, and decides about the work that it reviews."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from toryo.domain import moves, questions, review_checks
from toryo.domain.errors import Code, Refusal
from toryo.domain.moves import Order
from toryo.domain.questions import Answer
from toryo.domain.review_checks import Finding, Verdict
from toryo.domain.sessions import End
from toryo.domain.tasks import Status
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Available, Parameters, operation
from toryo.operations.calls.fields import Lines, Text
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN
from toryo.operations.calls.results import Refused
from toryo.operations.launches import end_of_session
from toryo.operations.sessions import task_reports
from toryo.operations.sessions.task_reports import Reported, told_to_leave
from toryo.operations.tasks import mutations, review_rounds
from toryo.operations.tasks import questions as carried_out
from toryo.operations.translations import words
from toryo.workflow import launch_rules


class FoundBy(Parameters):
    file: str | None = Field(
        None,
        min_length=1,
        max_length=review_checks.LONGEST_PATH,
        description="The file it is about, if one.",
        json_schema_extra=PLAIN,
    )
    line: int | None = Field(None, ge=1, lt=2**31, description="The line in this file.", json_schema_extra=PLAIN)
    severity: Literal["high", "medium", "low"] = Field(
        "medium", description="How much it matters; high does not go with approve.", json_schema_extra=PLAIN
    )
    message: Lines = Field(
        min_length=1,
        max_length=review_checks.LONGEST_MESSAGE,
        pattern=r"\S",
        description="What is wrong, and what to do about it.",
        json_schema_extra=PLAIN,
    )


class SubmitReview(Parameters):
    verdict: Literal["approve", "request_changes"] = Field(
        description="Whether the work is done, or goes back to its author.", json_schema_extra=PLAIN
    )
    findings: list[FoundBy] = Field(
        default_factory=list, max_length=review_checks.MOST_FINDINGS, description="What must change."
    )
    summary: Text | None = Field(None, description="The review in short.", json_schema_extra=PLAIN)


@operation(
    "submit_review",
    shown_to=Audience.REVIEWER,
    available=Available.ALWAYS,
    grant=Grant.TASK_SESSION,
    parameters=SubmitReview,
    leads=True,
)
def submit_review(call: Call, wanted: SubmitReview) -> Reported | Refused:
    """Report the review that is your main task. Then stop."""
    session = call.session
    report = wanted.model_dump()
    if session.over and (before := task_reports.remembered_answer(session, report)) is not None:
        return before
    late = session.over and not task_reports.nobody_has_begun(call)
    if late or launch_rules.withdrawn(call.own_snapshot(), session) is not None:
        return task_reports.too_late(call, report)
    main = call.task(session.task_id or "")
    if main.review_of is None:
        raise Refusal(
            Code.NOT_NOW,
            "Your task is not a review.",
            "Report it with report_completed(result, summary).",
            task_id=main.id,
        )
    findings: list[Finding] = [
        {"file": each.file, "line": each.line, "severity": each.severity, "message": each.message}
        for each in wanted.findings
    ]
    if session.runaway is not None:
        raise task_reports.stopped_by_guard(call)
    verdict = Verdict(wanted.verdict)
    review_checks.refuse_contradiction(verdict, findings, wanted.summary)
    found = review_checks.review_in_words(findings, wanted.summary)
    try:  # before anything is written
        moves.plan(call.tree_state(main), Order(main, Status.COMPLETED, call.actor, call.now))
    except Refusal as refusal:
        return task_reports.refusal_answer(call, refusal)
    question = carried_out.reviewed_by(call, main)
    if question is not None:
        option = question.options[0 if verdict is Verdict.APPROVE else 1]
        given = Answer((option,), found or None)
        review_rounds.after_answer(call, question, questions.answered(question, given, call.agent.id, call.now))
    main = call.task(main.id)
    mutations.move(call, call.tree_state(main), main, Status.COMPLETED)
    call.tx.tasks.save_details(
        main.id,
        summary=found or ("Approved." if verdict is Verdict.APPROVE else "Changes requested."),
        result={"verdict": wanted.verdict, "findings": findings},
    )
    told = words("review.submitted" if question is not None else "review.over", call.language)
    answer = told_to_leave(told, main.id, Status.COMPLETED.value)
    task_reports.remember(call, report, answer)
    if not session.over:
        end_of_session.end_session(call, call.session, End.REPORTED)
    return answer

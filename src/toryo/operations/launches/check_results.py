"""Results of acceptance checks that a Coordinator has run. `check_orders.py` hands them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NotRequired

from pydantic import Field

from toryo.artifact_limits import LONGEST_NOTE, MOST_FILES, MOST_LEFT_OUT
from toryo.domain import acceptance
from toryo.domain import tasks as domain
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.tasks import CheckOutcome
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, operation
from toryo.operations.calls.fields import Id, Printed
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.launches import left_reports
from toryo.operations.tasks import kept_artifacts, review_rounds
from toryo.operations.tasks.acceptance_checks import CheckRun
from toryo.operations.worktrees import base_checks


class CheckFailure(Parameters):
    check: Printed = Field(max_length=2_000, description="Which one: the file or the command.")
    message: Printed = Field(max_length=10_000, description="What was found.")


class CheckedRun(CheckRun):
    artifacts: list[Id] = Field(
        default_factory=list, max_length=MOST_FILES, description="The files it left, from store_artifact."
    )
    left_out: list[Annotated[Printed, Field(max_length=LONGEST_NOTE)]] = Field(
        default_factory=list,
        max_length=MOST_LEFT_OUT,
        description="Notes on its files: which are not stored and why, and which are older.",
    )


class CheckResult(Parameters):
    check_id: Id = Field(description="From claim_starts.")
    failures: list[CheckFailure] = Field(max_length=100, description="Those that failed; none: all passed.")
    results: list[CheckedRun] | None = Field(None, max_length=100, description="How each check ended: the evidence.")


class CheckTaken(Result):
    task_status: NotRequired[str]


@operation("report_check_result", grant=Grant.COORDINATOR, parameters=CheckResult)
def report_check_result(call: Call, reported: CheckResult) -> CheckTaken:
    """Report how the acceptance checks of a task ended."""
    check = call.tx.launches.check(reported.check_id)
    if check is None:
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"There is no check {reported.check_id}.",
            "Report only checks that claim_starts returned.",
        )
    call.enter(check.project_id)
    task = call.tx.tasks.find(check.task_id)
    assert task is not None
    if check.finished_at is None:
        failures: list[domain.CheckFailure] = [
            {"check": failure.check, "message": failure.message} for failure in reported.failures
        ]
        runs = reported.results or ()
        names = {run.check for run in runs} or {each["check"] for each in failures}
        # Of before the reviews; what could not run was corrected, or is no longer required.
        earlier = (each for each in check.evidence or () if each["outcome"] != CheckOutcome.ERROR.value)
        staying = [each for each in earlier if each["check"] not in names]
        stored = kept_artifacts.keep(call, check, [run.artifacts for run in runs], staying)
        evidence = [_evidence(run, files) for run, files in zip(runs, stored, strict=True)]
        # Nothing passes because a failure was named in one place only.
        failures += [
            {"check": each["check"], "message": each["output"]}
            for each in evidence
            if each["outcome"] == CheckOutcome.FAILED.value and all(each["check"] != one["check"] for one in failures)
        ]
        # What cannot run is nothing that the agent has done wrong.
        errors = [each for each in evidence if each["outcome"] == CheckOutcome.ERROR.value]
        failures = [each for each in failures if all(each["check"] != one["check"] for one in errors)]
        evidence = evidence or acceptance.evidence_of_failures(failures)
        evidence += staying
        call.tx.launches.save_check(check, replace(check, finished_at=call.now, failures=failures, evidence=evidence))
        base_checks.note_result(call, call.project(check.project_id), evidence)
        if task.check_id == check.id:
            flaky = [each["check"] for each in evidence if each["outcome"] == CheckOutcome.FLAKY.value]
            review_rounds.programs_ended(call, task, failures, flaky, errors)
            if not (failures or errors):
                left_reports.after_checks(call, check.launch_id, task.id)
    return {"success": True, "task_status": task.status.value}


def _evidence(run: CheckedRun, stored: Sequence[domain.StoredArtifact]) -> domain.CheckEvidence:
    found: domain.CheckEvidence = {
        "check": run.check,
        "outcome": run.outcome,
        "runs": run.runs,
        "seconds": run.seconds,
        "exit_code": run.exit_code,
        "output": run.output,
    }
    lost = len(set(run.artifacts)) - len(stored)
    left_out = [*run.left_out, *([f"{lost} files did not arrive."] if lost else [])]
    if stored:
        found["artifacts"] = [*stored]
    if left_out:
        found["left_out"] = left_out
    return found

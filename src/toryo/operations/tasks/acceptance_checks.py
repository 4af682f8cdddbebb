"""Acceptance checks after a success report, for every kind of report: starting them, waiting, and reporting failures.

A Coordinator runs them (`claim_starts`, `report_check_result`); this module is the caller's side.
`CheckRun` is how it reports the end of one check, also of the merge queue's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from toryo import artifact_limits
from toryo.check_limits import MOST_RETRIES, TIME_LIMIT
from toryo.domain import acceptance, ids, moves
from toryo.domain.acceptance import (
    LONGEST_FILE,
    LONGEST_SECONDS,
    MOST,
    MOST_CHANGED,
    MOST_PATHS,
    MOST_WORDS,
)
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Check
from toryo.domain.moves import Order
from toryo.domain.review_checks import LONGEST_RUBRIC, MOST_ROUNDS, review_open
from toryo.domain.tasks import AcceptanceCheck, Checks, Status, Task
from toryo.domain.tree_state import TreeState
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import Audience, Later, Parameters
from toryo.operations.calls.fields import Command, Id, Lines, Printed
from toryo.operations.calls.listed_parameters import listed_for
from toryo.operations.calls.results import Refused
from toryo.operations.tasks import due_checks, review_rounds
from toryo.operations.translations import words


class FileCheck(Parameters):
    file: str = Field(min_length=1, max_length=LONGEST_FILE, description="Must exist in the task's directory.")


class CommandCheck(Parameters):
    command: (
        Annotated[Command, Field(pattern=r"\S")] | Annotated[list[Command], Field(min_length=1, max_length=MOST_WORDS)]
    ) = Field(description="Runs there; must exit with 0.")
    timeout_seconds: int | None = Field(
        None,
        ge=1,
        le=LONGEST_SECONDS,
        description=f"Time limit of the command, in seconds (default {TIME_LIMIT}).",
        json_schema_extra=listed_for(Audience.NONE),
    )
    retries: int | None = Field(
        None,
        ge=0,
        le=MOST_RETRIES,
        description="How often it runs again after a failure; a pass then is reported as flaky (default 0).",
        json_schema_extra=listed_for(Audience.NONE, plain=True),
    )
    artifacts: list[Annotated[str, Field(min_length=1, max_length=LONGEST_FILE)]] | None = Field(
        None,
        min_length=1,
        max_length=artifact_limits.MOST_PATTERNS,
        description="Patterns of files that are kept as evidence, as in .gitignore.",
        json_schema_extra=listed_for(Audience.NONE),
    )


class Limits(Parameters):
    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    max_files: int | None = Field(None, ge=0, le=MOST_CHANGED, description="Changed files at most.")
    max_lines: int | None = Field(None, ge=0, le=MOST_CHANGED, description="Added and deleted lines at most.")
    forbidden_paths: list[Annotated[str, Field(min_length=1, max_length=LONGEST_FILE)]] | None = Field(
        None,
        min_length=1,
        max_length=MOST_PATHS,
        description="Patterns of paths that must not change, as in .gitignore.",
    )
    forbid_secrets: Literal[True] | None = Field(None, description="Added lines must not look like secrets.")

    @model_validator(mode="after")
    def _limits_something(self) -> Limits:
        if not self.model_dump(exclude_none=True):
            raise ValueError("needs at least one limit")
        return self


class DiffCheck(Parameters):
    diff: Limits = Field(
        description="Limits on the changes in the task's worktree.", json_schema_extra=listed_for(Audience.NONE)
    )


class Terms(Parameters):
    by: Id | None = Field(None, description="Who reviews: an agent or a person.")
    rubric: Lines | None = Field(None, min_length=1, max_length=LONGEST_RUBRIC, description="What to look for.")
    rounds: int | None = Field(
        None, ge=1, le=MOST_ROUNDS, description="How often an agent may request changes before a person decides."
    )


class ReviewCheck(Parameters):
    review: Terms = Field(
        description="A reviewer must approve; without `by`, the person who is responsible.",
        json_schema_extra=listed_for(Audience.NONE),
    )


def _told_at_once(given: Any) -> Any:
    """What is wrong with a check, in one sentence: of a union, pydantic tells the mistakes of every kind of check."""
    for place, each in enumerate(given if isinstance(given, list) else (), 1):
        if isinstance(each, dict):
            try:
                acceptance.refuse_outside(acceptance.read(each, place), place)
            except Refusal as wrong:
                told = f"{wrong.message} {wrong.instruction}".removesuffix(".")
                raise PydanticCustomError("not_a_check", "{told}", {"told": told}) from None
    return given


Acceptance = Annotated[
    list[FileCheck | CommandCheck | DiffCheck | ReviewCheck], Field(max_length=MOST), BeforeValidator(_told_at_once)
]
"""As they are given. They are run in the working directory."""


class CheckRun(Parameters):
    check: Printed = Field(max_length=2_000, description="Which one: the file, the command or the limits.")
    outcome: Literal["passed", "failed", "flaky", "error"] = Field(
        description="flaky: failed, then passed. error: it cannot run, whatever the work is."
    )
    runs: int = Field(1, ge=1, le=100, description="How often it ran.")
    seconds: float = Field(0.0, ge=0, le=1_000_000, description="How long all runs took.")
    exit_code: int | None = Field(None, ge=-(2**31), lt=2**31, description="Of the last run.")
    output: Printed = Field("", max_length=acceptance.LONGEST_OUTPUT, description="What was found, or its end.")


def stored_checks(checks: Iterable[BaseModel]) -> tuple[AcceptanceCheck, ...]:
    """Checks as a task keeps them: what was given, and nothing of what was not."""
    given: list[Any] = [check.model_dump(exclude_none=True) for check in checks]
    return tuple(given)


def await_checks(
    call: Call,
    tree_state: TreeState,
    task: Task,
    report: dict[str, Any],
    tool: str,
    keep: Callable[[], None] | None = None,
) -> Refused | Later | None:
    """None once the checks have passed; until then `Later` while they run, or a refusal: with the failures, or because
    a review is open.

    `report` is the caller's request: after a failure the same request gets that failure once, then the checks run
    again. Other obstacles are refused first: checks that passed before the work was done would prove nothing. `keep`
    stores what was reported: a review completes the task without another report.
    """
    if not tree_state.must_pass_checks(task) or task.checks is Checks.PASSED:
        return None
    # Whatever would refuse completing it even if the checks had passed.
    passed = replace(task, checks=Checks.PASSED)
    becomes = replace(tree_state, tree=tree_state.tree.changed(passed))
    moves.plan(becomes, Order(passed, Status.COMPLETED, call.actor, call.now))
    if review_open(task):
        return _in_review(call, tree_state, task)
    asked = orjson.dumps({"report": report}).decode()
    if task.checks is Checks.FAILED and call.session.report == asked:
        call.change_session(report=None)
        return failed_checks(call, tree_state, task)
    if task.checks is not Checks.RUNNING:
        task = _begin(call, tree_state, task, keep)
        if review_open(task):
            return _in_review(call, tree_state, task)
    call.change_session(report=asked)
    if call.may_wait:
        return Later(frozenset({f"check:{task.id}"}))
    told = words("checking", tree_state.project.settings.language, tool=tool)
    return Refused(Refusal(Code.NOT_NOW, "The acceptance checks are still running.", told).answer())


def take_long(call: Call, task: Task) -> bool:
    """Whether the checks of a report have run longer than its agent waits for them."""
    check = call.tx.launches.check(task.check_id or "") if task.checks is Checks.RUNNING else None
    return check is not None and check.finished_at is None and call.now - check.created_at >= acceptance.PATIENCE


def _begin(call: Call, tree_state: TreeState, task: Task, keep: Callable[[], None] | None) -> Task:
    """Starts what programs check; where that is nothing, the first review."""
    check = Check(call.new_id(ids.CHECK), task.id, task.project_id, call.session.launch_id, None, call.now)
    for_programs = due_checks.run_by_program(call, tree_state, task)
    reviews = due_checks.reviews(call, tree_state, task)
    if keep is not None:  # who completes it may be another: the agent may have left by then
        keep()
    only_reviews = bool(reviews) and not for_programs
    call.tx.launches.add_check(replace(check, finished_at=call.now, evidence=[]) if only_reviews else check)
    task = call.tx.tasks.save(task, replace(task, checks=Checks.RUNNING, check_id=check.id))
    call.event("check.started", task=task, data={"check_id": check.id})
    if only_reviews:
        review_rounds.programs_ended(call, task, ())
    else:
        call.tx.hint(WORK, "checks")
    found = call.tx.tasks.find(task.id)
    assert found is not None
    return found


def _in_review(call: Call, tree_state: TreeState, task: Task) -> Refused:
    key = "in_review" if task.id == call.session.task_id else "in_review.subtask"
    told = words(key, tree_state.project.settings.language)
    return Refused(Refusal(Code.NOT_NOW, "The work is being reviewed.", told, task_id=task.id).answer())


def failed_checks(call: Call, tree_state: TreeState, task: Task) -> Refused:
    failures = list(call.tx.tasks.details(task.id).check_failures)
    names = due_checks.names_of(failures)
    key = "execute_task.fixing" if task.id == call.session.task_id else "execute_subtask.fixing"
    told = words(key, tree_state.project.settings.language, failed=names)
    message = f"Acceptance checks failed: {names}."
    return Refused(Refusal(Code.CHECKS_FAILED, message, told, task_id=task.id, failed_checks=failures).answer())

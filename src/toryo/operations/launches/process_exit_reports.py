"""Handles a process exit: ends launch and session, counts usage, and puts the agent in cooldown after a failure."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

import orjson
from pydantic import Field

from toryo import failures, first_prompt
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import LIVE, Launch, Purpose, State
from toryo.domain.quota_windows import Length
from toryo.domain.sessions import End
from toryo.domain.times import Millis, iso
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import FewNames, Parameters, operation
from toryo.operations.calls.fields import Id, Printed
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.launches import cooldowns, end_of_session, launch_decisions, left_reports, running_launches
from toryo.operations.launches.cooldowns import QuotaMessage, is_hindered
from toryo.operations.launches.end_of_session import waits_for_answer
from toryo.operations.launches.usage_counting import count_usage
from toryo.operations.tasks import mutations, pools
from toryo.operations.worktrees import merge_queue
from toryo.workflow.launch_rules import withdrawn


class ProgramSession(Parameters):
    id: Printed = Field(min_length=1, max_length=500, description="By which the program resumes it.")
    totals: FewNames[dict[str, float]] = Field(default_factory=dict, description="What it had used in all by then.")


class RefusedHosts(Parameters):
    hosts: list[Annotated[Printed, Field(max_length=300)]] = Field(
        min_length=1, max_length=20, fail_fast=True, description="The first of them, as the program asked for them."
    )
    more: int = Field(0, ge=0, le=10**9, description="How many others.")
    words: Printed = Field("", max_length=5_000, description="What is in force, and how a person allows HOST.")


class Unreported(Parameters):
    tool: Id = Field(description="The tool that it would have called.")
    arguments: FewNames[dict[str, Any]] = Field(description="Its arguments.")


class ProcessExit(Parameters):
    launch_id: Id = Field(description="The launch whose process has ended.")
    exit_code: int | None = Field(None, description="Its exit code, if it had one.")
    signal: int | None = Field(None, description="The signal that ended it.")
    error: Printed | None = Field(None, max_length=10_000, description="The failure class, and what was seen.")
    usage: dict[str, Any] | None = Field(None, description="Tokens and cost, as far as known.")
    quota_reset_seconds: int | None = Field(
        None, ge=0, le=604_800, description="From a quota message; null if it names no time."
    )
    quota_window: Literal["5h", "day", "week"] | None = Field(
        None, description="Which quota is used up, if the message names it."
    )
    log_tail: Printed | None = Field(None, max_length=100_000, description="The end of its output.")
    program_session: ProgramSession | None = Field(None, description="The program's own session that it leaves behind.")
    refused_hosts: RefusedHosts | None = Field(None, description="The hosts that its sandbox has refused.")
    unreported: Unreported | None = Field(
        None, description="The result that its runner could not report before it ended."
    )
    resumable: bool = Field(
        False, description="Whether it can be resumed at once with a reminder, should it have left without a report."
    )


class ExitTaken(Result):
    released: list[str]
    cooling_down_until: NotRequired[str | None]
    reminder: NotRequired[str]


@operation("report_process_exit", grant=Grant.COORDINATOR, parameters=ProcessExit)
def report_process_exit(call: Call, exit_: ProcessExit) -> ExitTaken:
    """Report that a process has ended. Ends its launch and that launch's session, and nothing else, however late."""
    launch = running_launches.reported_launch(call, exit_.launch_id)
    call.enter(launch.project_id)
    launch = running_launches.reported_launch(call, exit_.launch_id)
    if launch.exit_reported_at is not None:
        return {"success": True, "released": [], "cooling_down_until": None}
    count_usage(call, launch, exit_.usage)
    if _left_too_early(call, launch, exit_):
        return _remind(call, launch)
    recorded = replace(
        launch,
        program_session=_program_session(exit_.program_session),
        refused_hosts=exit_.refused_hosts.model_dump() if exit_.refused_hosts is not None else None,
        exit_code=exit_.exit_code,
        exit_signal=exit_.signal,
        exit_error=exit_.error,
        exit_reported_at=call.now,
    )
    call.tx.launches.save(launch, recorded)
    call.tx.launches.record_exit(launch.id, exit_.log_tail)
    call.event(
        "launch.process_ended",
        of=launch,
        data={"exit_code": exit_.exit_code, "signal": exit_.signal, "error": exit_.error},
    )
    released: list[str] = []
    until: Millis | None = None
    if not launch.refused_at_sign_in:  # the process that ended is not the one that works
        if exit_.unreported is not None:
            left_reports.report(call, recorded, exit_.unreported.tool, exit_.unreported.arguments)
        released = _release(call, recorded, exit_)
        if launch.signed_in_at is not None and failures.class_of(exit_.error) in end_of_session.GUARD_STOPS:
            end_of_session.stopped_by_guard(call, recorded)
        told = QuotaMessage(
            exit_.quota_reset_seconds or None, Length(exit_.quota_window) if exit_.quota_window else None
        )
        until = cooldowns.after_exit(call, launch, exit_.error, told, failed=_failed(exit_))
        if (given_back := pools.is_given_back(call, launch, exit_.error)) is not None:
            reason = failures.class_of(exit_.error) or ""
            mutations.give_back(call, given_back, reason, again=reason in pools.PASSES)
    if launch.task_id is not None and call.tx.tasks.find(launch.task_id) is not None:
        mutations.go_on_behind(call, launch.task_id)
    merge_queue.advance(call, launch.project_id)
    call.tx.hint(WORK, f"launch:{launch.id}")
    return {"success": True, "released": released, "cooling_down_until": iso(until) if until else None}


def _left_too_early(call: Call, launch: Launch, exit_: ProcessExit) -> bool:
    """A program that ended well, in the middle of its task, and can be resumed: it is reminded, once per launch."""
    if not exit_.resumable or _failed(exit_) or launch.state is not State.SIGNED_IN or launch.nudged_at is not None:
        return False
    session = call.tx.sessions.of_launch(launch.id)
    if launch.purpose is not Purpose.TASK or launch.told_to_leave or session is None or session.over:
        return False
    snapshot, decision = launch_decisions.decide(
        call, launch.agent_id, launch.project_id, launch.purpose, changes=False
    )
    if session.runaway is not None or withdrawn(snapshot, session) is not None:
        return False
    if waits_for_answer(call, session):
        return False
    return decision.reason == "already_running" and not is_hindered(snapshot, launch)


def _remind(call: Call, launch: Launch) -> ExitTaken:
    """Its launch and session go on; only the process is a new one."""
    call.tx.launches.save(launch, replace(launch, nudged_at=call.now))
    call.event("launch.reminded", of=launch, data={"task_id": launch.task_id})
    project = call.tx.projects.find(launch.project_id)
    language = project.settings.language.value if project is not None else "en"
    return {"success": True, "released": [], "reminder": first_prompt.reminder(launch.agent_id, language)}


def _program_session(left: ProgramSession | None) -> str | None:
    return None if left is None else orjson.dumps(left.model_dump()).decode()


def _release(call: Call, launch: Launch, exit_: ProcessExit) -> list[str]:
    """The launch's session, if it lives; a launch that nobody signed in for ends too."""
    session = call.tx.sessions.of_launch(launch.id)
    if session is not None and not session.over:
        if not _failed(exit_) and waits_for_answer(call, session):
            end_of_session.leave_to_wait(call, session, "answer")
            return [session.id]
        counts = not _failed(exit_) and failures.may_count(exit_.error) and not launch.told_to_leave
        end_of_session.end_session(call, session, End.PROCESS_EXITED, counts=counts and session.runaway is None)
        return [session.id]
    if launch.state in LIVE:
        end_of_session.end_launch(
            call, launch, State.EXITED, failures.class_of(exit_.error) or End.PROCESS_EXITED.value
        )
        return [launch.id]
    return []


def _failed(exit_: ProcessExit) -> bool:
    return bool(exit_.exit_code) or exit_.signal is not None or bool(exit_.error)

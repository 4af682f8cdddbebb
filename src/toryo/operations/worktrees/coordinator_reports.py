"""What a Coordinator tells of its machine (worktrees, disk), and its worktree jobs. People ask in `worktrees`."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

from toryo.domain import launches as launch_rules
from toryo.domain import merge_queue as merge_queue_rules
from toryo.domain.conflict_forecast import MOST_TOUCHED
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import SIGN_IN_WITHIN, Launch
from toryo.domain.worktrees import LOOKS, Kind, State, Worktree, WorktreeJob
from toryo.operations.calls import schemas
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import Parameters, operation
from toryo.operations.calls.fields import Id, Printed
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.tasks import conflict_forecast, mutations
from toryo.operations.tasks.acceptance_checks import CheckRun
from toryo.operations.worktrees import (
    base_checks,
    merge_queue,
    moved_bases,
    pull_requests,
    refused_removals,
    subtask_merges,
    worktree_locks,
)
from toryo.operations.worktrees.moved_bases import MovedBase
from toryo.operations.worktrees.subtask_merges import SubtaskWork
from toryo.storage.coordinators import Disk
from toryo.workflow import launch_rules as start_rules

Count = Annotated[int, Field(ge=0, le=10**12)]
Path = Annotated[Printed, Field(min_length=1, max_length=4_096)]


class ReportWorktree(Parameters):
    launch_id: Id = Field(description="The launch that works, or worked, in it.")
    path: Path = Field(description="Where it is on the Coordinator's machine.")
    directory: Path = Field(description="Where the project's own directory is in it: where its process works.")
    branch: Printed = Field(min_length=1, max_length=300, description="Its branch.")
    base_branch: Printed | None = Field(None, max_length=300, description="The branch to merge it into.")
    base_commit: Printed = Field(min_length=1, max_length=100, description="What it started from.")
    head_commit: Printed | None = Field(None, max_length=100, description="Its last commit.")
    commits: Count = Field(0, description="Since the base.")
    files_changed: Count = Field(0, description="Since the base.")
    insertions: Count = Field(0, description="Lines.")
    deletions: Count = Field(0, description="Lines.")
    trouble: Printed | None = Field(None, max_length=10_000, description="What could not be kept, and the next step.")
    moved_base: MovedBase | None = Field(None, description="Set if neither a person nor Toryo has moved its base.")
    subtasks: list[SubtaskWork] | None = Field(
        None, max_length=subtask_merges.MOST, description="What became of the work of subtasks at this start."
    )
    touched: list[Path] | None = Field(
        None, max_length=MOST_TOUCHED, fail_fast=True, description="The first paths that are changed in it."
    )


class Taken(Result):
    pass


class WorktreeTaken(Taken):
    """`stop`: why the launch is no longer wanted. Its process should not be started."""

    stop: NotRequired[str]


@operation("report_worktree", grant=Grant.COORDINATOR, parameters=ReportWorktree)
def report_worktree(call: Call, told: ReportWorktree) -> WorktreeTaken:
    """Report that a launch's worktree was made, is being set up, or holds more than before."""
    launch = _launch(call, told.launch_id)
    call.enter(launch.project_id)
    assert launch.task_id is not None
    if launch.state is launch_rules.State.ORDERED:  # its program is started only after that
        call.tx.launches.save(launch, replace(launch, deadline=call.now + SIGN_IN_WITHIN))
    before = call.tx.worktrees.find(launch.task_id)
    if before is not None and not before.open and not launch.live:
        return {"success": True}  # somebody has merged or discarded it since: what it was is over
    fresh = before is None or not before.open
    values = told.model_dump(exclude={"launch_id", "touched", "moved_base", "subtasks"})
    if before is not None and told.head_commit is None and _goes_on(before, launch, told):
        values |= {name: getattr(before, name) for name in _HELD}
        values["trouble"] = told.trouble or before.trouble
    known = before.moved_base if before is not None and not fresh else None
    worktree = Worktree(
        task_id=launch.task_id,
        project_id=launch.project_id,
        coordinator_id=launch.coordinator_id or "",
        state=State.OPEN,
        merged_commit=None,
        merged_into=None,
        created_at=call.now if before is None or fresh else before.created_at,
        updated_at=call.now,
        moved_base=known,
        subtasks=before.subtasks if before is not None and _same(before, launch, told) else None,
        **values,
    )
    call.tx.worktrees.put(worktree)
    worktree_locks.has_one(call, worktree.project_id)
    if told.head_commit is not None:
        moved_bases.note_look(call, worktree, told.moved_base)
        mutations.go_on_behind(call, worktree.task_id)
    if before is not None and before.open and before.coordinator_id != launch.coordinator_id:
        left = {"coordinator_id": before.coordinator_id, "path": before.path, "head_commit": before.head_commit}
        _event(call, "worktree.left_behind", launch.task_id, left)
    if fresh:
        base_checks.begin(call, worktree, launch)
        _event(call, "worktree.made", launch.task_id, {"branch": told.branch, "base_commit": told.base_commit})
    elif before is not None and before.head_commit != values["head_commit"]:
        _event(call, "worktree.changed", launch.task_id, {name: values[name] for name in _HELD})
    if told.subtasks is not None:
        subtask_merges.note_look(
            call, call.tx.worktrees.find(launch.task_id) or worktree, told.subtasks, launch.ordered_at
        )
    task = call.tx.tasks.find(launch.task_id)
    touched = told.touched if told.touched is not None else [] if fresh else None
    if task is not None and touched is not None and tuple(touched) != call.tx.conflict_forecast.touched(task.id):
        conflict_forecast.touch(call, task, touched)
    conflicts = any(each.files for each in told.subtasks or ())
    stop = _only_to_wait(call, launch) if conflicts and launch.state is launch_rules.State.ORDERED else None
    return {"success": True, "stop": stop} if stop is not None else {"success": True}


def _only_to_wait(call: Call, launch: Launch) -> str | None:
    """Why an agent that is not started yet would be held by now: what conflicts is being resolved by another one. It
    reads of it when it is started to go on."""
    snapshot = call.snapshot(launch.agent_id, launch.project_id)
    others = {purpose: each for purpose, each in snapshot.launches.items() if each.id != launch.id}
    decision = start_rules.decide(snapshot.with_live(snapshot.sessions, others))
    waits = decision.action is start_rules.Action.HOLD and decision.task_id == launch.task_id
    return decision.reason if waits and decision.reason == "waiting_for_workers" else None


_HELD = ("head_commit", "commits", "files_changed", "insertions", "deletions")


def _goes_on(before: Worktree, launch: Launch, told: ReportWorktree) -> bool:
    """Whether a next start finds the same one: what is in it was told when it was kept."""
    return _same(before, launch, told)


def _same(before: Worktree, launch: Launch, told: ReportWorktree) -> bool:
    same = (before.coordinator_id, before.path, before.base_commit)
    return before.open and same == (launch.coordinator_id or "", told.path, told.base_commit)


class ReportDisk(Parameters):
    coordinator_id: Id = Field(description="The Coordinator's name.")
    logs_bytes: Count = Field(description="What the output of its processes takes.")
    worktrees_bytes: Count = Field(description="What its worktrees take.")
    complete: bool = Field(True, description="False if counting stopped early: then it is at least this much.")


@operation("report_disk", grant=Grant.COORDINATOR, parameters=ReportDisk)
def report_disk(call: Call, told: ReportDisk) -> Taken:
    """Report what a Coordinator's logs and worktrees take on its disk. The newest figures are kept."""
    call.tx.coordinators.measured(
        told.coordinator_id, Disk(told.logs_bytes, told.worktrees_bytes, told.complete, call.now)
    )
    return {"success": True}


def _launch(call: Call, launch_id: str) -> Launch:
    launch = call.tx.launches.find(launch_id)
    if launch is None or launch.task_id is None:
        raise Refusal(
            Code.LAUNCH_NOT_FOUND,
            f"There is no launch {launch_id} on a task.",
            "Report only worktrees of launches that claim_starts returned.",
            launch_id=launch_id,
        )
    return launch


class MergedOne(Parameters):
    task_id: Id = Field(description="Whose work.")
    commit: Printed = Field(
        max_length=100, description="The merge, or where the branch stood if there was nothing to do."
    )
    into: Printed = Field(max_length=300, description="The branch that has it now.")
    kept: Printed | None = Field(
        None, max_length=10_000, description="Why its worktree is still there, and what to do."
    )


class ChangedFile(Parameters):
    path: Printed = Field(description="Where it is now, or was.")
    old_path: Printed | None = Field(description="Where it was, if it was renamed or copied.")
    status: schemas.FileChangeName = Field(description="What was done to it.")
    insertions: Count = Field(description="Lines.")
    deletions: Count = Field(description="Lines.")
    binary: bool = Field(description="Then its lines are not counted.")


class DiffTold(Parameters):
    patch: Printed = Field(description="In git's format.")
    files: list[ChangedFile] = Field(fail_fast=True, description="The first of them.")
    files_in_all: Count = Field(description="How many there are.")
    truncated: bool = Field(description="Whether the patch is longer.")
    head: Printed = Field(description="The last commit.")
    base: Printed = Field(description="What it started from.")


class OutcomeTold(Parameters):
    conflict: list[Printed] = Field(default_factory=list, fail_fast=True, description="Files that prevent the merge.")
    message: Printed = Field("", description="What was done, and how to get it back.")
    branch: Printed = Field("", description="The branch that was removed.")
    commit: Printed | None = Field(None, description="Its last commit.")
    subtasks: list[SubtaskWork] = Field(
        default_factory=list,
        max_length=subtask_merges.MOST,
        fail_fast=True,
        description="What became of the work of subtasks.",
    )
    anyway: bool = Field(False, description="Whether the same is merged with `anyway`.")


class OtherSide(Parameters):
    commit: Printed = Field(max_length=100, description="On the target branch.")
    subject: Printed = Field("", max_length=1_000, description="The first line of its message.")
    task_id: Printed | None = Field(None, max_length=200, description="The task whose work it has merged.")


class QueueConflict(Parameters):
    entry_id: Id = Field(description="From the job.")
    task_id: Id | None = Field(None, description="Whose work of the entry it is.")
    within: bool = Field(False, description="Whether the other side is in the same entry, and not on the target.")
    files: list[Printed] = Field(max_length=2_000, fail_fast=True, description="Where both sides differ.")
    others: list[OtherSide] = Field(
        default_factory=list, max_length=20, description="What has changed them on the target since the work began."
    )


class QueueUnfit(Parameters):
    entry_id: Id = Field(description="From the job.")
    trouble: Printed = Field(max_length=10_000, description="Why its work cannot be merged, and the next step.")


class QueueTold(Parameters):
    result: Literal["merged", "nothing", "failed", "target_broken", "prevented"] = Field(
        description="merged: the target has it. nothing: no entry was left to check. failed: the checks failed. "
        "target_broken: they fail on the target alone, too. prevented: see trouble."
    )
    base: Printed | None = Field(None, max_length=100, description="The commit of the target that it was merged onto.")
    conflicts: list[QueueConflict] = Field(
        default_factory=list, max_length=merge_queue_rules.MOST_IN_BATCH, description="With the target."
    )
    left_out: list[Id] = Field(
        default_factory=list,
        max_length=merge_queue_rules.MOST_IN_BATCH,
        description="Entries that conflict with entries before them.",
    )
    unfit: list[QueueUnfit] = Field(
        default_factory=list, max_length=merge_queue_rules.MOST_IN_BATCH, description="Entries that cannot be merged."
    )
    evidence: list[CheckRun] = Field(
        default_factory=list, max_length=1_500, description="How each check of the combined result ended."
    )


class PullRequestTold(Parameters):
    url: Printed = Field(max_length=2_000, description="Its address, with https.")
    number: int = Field(ge=1, le=10**15, description="Its number in its repository.")
    state: Literal["open", "merged", "closed"] = Field(description="closed: it was not merged.")
    program: Literal["gh", "glab"] = Field(description="The program that knows it.")
    host: Printed = Field(min_length=1, max_length=300, description="Where its repository is.")
    repository: Printed = Field(min_length=1, max_length=1_000, description="Its repository: owner and name.")
    branch: Printed = Field(min_length=1, max_length=300, description="The branch with the work.")
    base: Printed = Field(min_length=1, max_length=300, description="The branch that it is merged into.")
    head: Printed = Field(min_length=1, max_length=100, description="The last commit of its branch.")
    merged_commit: Printed | None = Field(None, max_length=100, description="The commit that has merged it.")


_ADDRESS = re.compile(r"https://[!-~]+")


class ReportWorktreeJob(Parameters):
    job_id: Id = Field(description="From claim_starts.")
    done: bool = Field(description="Whether it could be done.")
    merged: list[MergedOne] = Field(default_factory=list, max_length=10_000, description="What is merged now.")
    gone: list[Id] = Field(
        default_factory=list, max_length=10_000, description="Tasks whose directory and branch are gone."
    )
    trouble: Printed | None = Field(None, max_length=10_000, description="Why it failed, and the next step.")
    task_id: Id | None = Field(None, description="The task at which it failed.")
    queue: QueueTold | None = Field(None, description="Of a job of the merge queue: what was found.")
    pull_request: PullRequestTold | None = Field(None, description="Of a job of that kind: what was opened or found.")
    moved_base: MovedBase | None = Field(
        None, description="Set if neither a person nor Toryo has moved the branch to merge into."
    )
    evidence: list[CheckRun] = Field(
        default_factory=list, max_length=100, description="Of checks or a command: how each ended."
    )
    answer: DiffTold | OutcomeTold = Field(default_factory=OutcomeTold, description="What was asked for.")


@operation("report_worktree_job", grant=Grant.COORDINATOR, parameters=ReportWorktreeJob)
def report_worktree_job(call: Call, told: ReportWorktreeJob) -> Taken:
    """Report how a worktree job ended. Repeating the report changes nothing."""
    job = call.tx.worktrees.job(told.job_id)
    if job is None:
        raise Refusal(
            Code.WORKTREE_JOB_NOT_FOUND,
            f"There is no worktree job {told.job_id}.",
            "Report only worktree jobs that claim_starts returned.",
        )
    call.enter(job.project_id)
    job = call.tx.worktrees.job(told.job_id) or job
    if job.over and not job.given_up:
        return {"success": True}
    if told.pull_request is not None and not _ADDRESS.fullmatch(told.pull_request.url):
        raise Refusal(
            Code.VALIDATION_ERROR,
            "The address of a pull request must begin with https://.",
            "Report the address as the service names it.",
        )
    answer = {**told.answer.model_dump(exclude_unset=True), "trouble": told.trouble, "hindered_by": told.task_id}
    if job.kind in (Kind.CHECKS, Kind.BASE_CHECKS, Kind.COMMAND):
        answer["evidence"] = [each.model_dump() for each in told.evidence]
    if job.kind in (Kind.MERGE, Kind.QUEUE_MERGE, Kind.PULL_REQUEST):
        answer["merged"] = [each.model_dump(exclude_none=True) for each in told.merged]
    after = replace(job, finished_at=call.now, done=told.done, answer=answer)
    if job.kind is Kind.PULL_REQUEST:
        found = told.pull_request.model_dump() if told.pull_request is not None else None
        after = pull_requests.after_report(call, job, after, found)
    call.tx.worktrees.save_job(job, after)
    _carry_over(call, job, told, news=pull_requests.is_news(call, job, after, told.trouble))
    if job.kind is Kind.BASE_CHECKS:
        base_checks.settle(call, after)
    if job.kind is Kind.MERGE_SUBTASKS:
        brought = told.answer.subtasks if isinstance(told.answer, OutcomeTold) else []
        subtask_merges.settle(call, job, brought, None if told.done else told.trouble or "")
    if job.kind is Kind.QUEUE_MERGE:
        merge_queue.settle(call, job, merge_queue.verdict(told.queue, told.merged, told.gone, job, told.trouble))
    else:
        merge_queue.advance(call, job.project_id)
    call.tx.hint(WORK, f"worktree_job:{job.id}")
    return {"success": True}


def _carry_over(call: Call, job: WorktreeJob, told: ReportWorktreeJob, *, news: bool) -> None:
    """What the worktree job did to worktrees: only to those that it was about. `news`: whether people are told what
    prevented it."""
    said = told.answer.model_dump(exclude_unset=True)
    note = {"message": said["message"]} if said.get("message") else {}
    merged = {each.task_id: each for each in told.merged}
    named = {*merged, *told.gone, *filter(None, [told.task_id])}
    _look_at_bases(call, job, told)
    for worktree in call.tx.worktrees.of(named & job.tasks):
        if worktree.kept and worktree.task_id in told.gone:
            _put(call, worktree, worktree.state, trouble=None)
        if not worktree.open:
            continue
        if (one := merged.get(worktree.task_id)) is not None:
            _put(call, worktree, State.MERGED, merged_commit=one.commit, merged_into=one.into, trouble=one.kept)
            stays = {"kept": one.kept} if one.kept is not None else {}
            data = {"commit": one.commit, "into": one.into, **stays, **note}
            _event(call, "worktree.merged", worktree.task_id, data)
            mutations.go_on_behind(call, worktree.task_id)
        elif worktree.task_id in told.gone:
            _put(call, worktree, State.DISCARDED, trouble=None)
            _event(call, "worktree.discarded", worktree.task_id, {"by": job.kind.value, **said})
            mutations.go_on_behind(call, worktree.task_id)
        elif job.kind not in LOOKS and news and refused_removals.counts(call, job, worktree):
            _put(call, worktree, State.OPEN, trouble=told.trouble if told.moved_base is None else None)
            _event(call, "worktree.hindered", worktree.task_id, {"kind": job.kind.value, "trouble": told.trouble})


def _look_at_bases(call: Call, job: WorktreeJob, told: ReportWorktreeJob) -> None:
    """Who shows or merges work looks at its base; a failure of another kind says nothing about it."""
    looks = told.done and job.kind in (Kind.DIFF, Kind.MERGE, Kind.QUEUE_MERGE)
    for worktree in call.tx.worktrees.of({told.task_id or job.task_id} & job.tasks):
        if worktree.open and (looks or told.moved_base is not None):
            moved_bases.note_look(call, worktree, told.moved_base)


def _put(call: Call, worktree: Worktree, state: State, **values: Any) -> None:
    call.tx.worktrees.put(replace(worktree, state=state, updated_at=call.now, **values))


def _event(call: Call, kind: str, task_id: str, data: dict[str, Any]) -> None:
    call.event(kind, task=call.tx.tasks.find(task_id), data=data)

"""What people do with the merge queue of a project: look at it, add and remove the work of tasks, change the order,
pause it and resume it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import Field

from toryo.deeds import LEFT_OUT, Blank, deed
from toryo.domain import merge_queue as rules
from toryo.domain import review_checks
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.merge_queue import RETURNED, Entry, State
from toryo.domain.projects import MergeQueue, Project
from toryo.domain.tasks import Status, Task
from toryo.domain.times import iso_or_none
from toryo.domain.wording import say
from toryo.domain.worktrees import State as WorktreeState
from toryo.domain.worktrees import Worktree
from toryo.operations.calls import schemas
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.calls.wire import wire
from toryo.operations.tasks import requested_changes
from toryo.operations.worktrees import merge_queue, merge_queue_texts, worktree_requests

MOST_ENDED = 20
"""Entries that are no longer in the queue and are shown."""


class OneTask(Parameters):
    task_id: Id = Field(description="The task.")


class InProject(Parameters):
    project_id: Id = Field(description="The project.")


class MergeQueueResult(Result):
    merge_queue: schemas.MergeQueue


class EntryResult(Result):
    entry: schemas.MergeQueueEntry


@operation(
    "show_merge_queue",
    grant=Grant.PERSON,
    parameters=InProject,
    route=Route("GET", "/projects/{project_id}/merge-queue"),
    tool=False,
    reads=True,
)
def show_merge_queue(call: Call, wanted: InProject) -> MergeQueueResult:
    """What waits to be merged in a project, in order, and the 20 entries that ended last, without those that came back
    and were merged since."""
    return {"success": True, "merge_queue": _as_answer(call, call.project(wanted.project_id))}


class Add(OneTask):
    into: str | None = Field(
        None, min_length=1, max_length=250, description="The branch; default: where the work started."
    )


@operation(
    "add_to_merge_queue",
    grant=Grant.WRITER,
    parameters=Add,
    route=Route("POST", "/tasks/{task_id}/merge-queue", 201),
    tool=False,
)
def add_to_merge_queue(call: Call, wanted: Add) -> EntryResult:
    """Add the work of a completed task (and of its subtasks) to the merge queue of its project, at the end."""
    call.enter(call.task(wanted.task_id).project_id)
    task = call.task(wanted.task_id)
    project = call.project(task.project_id)
    _refuse_off(project)
    before = merge_queue.newest(call, task.id)
    if before is not None and before.waits and before.removal_by is None:
        return _one(call, before)
    _refuse_unready(task, before)
    found = merge_queue.work_of(call, task) or [worktree_requests.open_worktree(call, task)]
    _refuse_sent_back(call, found)
    own = found[-1]
    elsewhere = next((each for each in found if each.coordinator_id != own.coordinator_id), None)
    if elsewhere is not None:
        raise Refusal(
            Code.NOT_NOW,
            say(
                "The work of task {task_id} is on Coordinator {coordinator_id}, that of {other_task} on "
                "{other_coordinator}.",
                task_id=elsewhere.task_id,
                coordinator_id=elsewhere.coordinator_id,
                other_task=own.task_id,
                other_coordinator=own.coordinator_id,
            ),
            say("Merge the subtasks first{deed:: …|.}", deed=deed("merge_alone", task_id=Blank("ID"))),
            task_id=elsewhere.task_id,
        )
    target = wanted.into or own.base_branch
    if target is None:
        raise Refusal(
            Code.NOT_NOW,
            say("{branch} was not started from a branch.", branch=own.branch),
            say(
                "Choose the branch to merge into{deed:: …|.}",
                deed=deed("add_to_merge_queue", task_id=task.id, into=Blank("BRANCH")),
            ),
            task_id=task.id,
        )
    if len(call.tx.merge_queue.waiting_in(project.id)) >= rules.MOST:
        raise Refusal(
            Code.LIMIT_REACHED,
            say("{most} tasks wait in this merge queue already.", most=rules.MOST),
            say("Wait until some are merged, or remove some{deed:: …|.}", deed=deed("show_merge_queue")),
        )
    made = merge_queue.enter(call, project, task, target, own.coordinator_id, call.actor)
    merge_queue.advance(call, project.id)
    return _one(call, merge_queue.newest(call, task.id) or made)


@operation(
    "remove_from_merge_queue",
    grant=Grant.WRITER,
    parameters=OneTask,
    route=Route("DELETE", "/tasks/{task_id}/merge-queue"),
    tool=False,
)
def remove_from_merge_queue(call: Call, wanted: OneTask) -> EntryResult:
    """Remove a task from the merge queue. Its work stays as it is. While it is being checked, the batch is stopped;
    what has reached the branch by then stays merged."""
    task, entry = _waiting(call, wanted.task_id)
    if entry.state is State.CHECKING:
        if entry.removal_by is None:
            call.tx.merge_queue.put(replace(entry, removal_by=call.actor.id))
            call.event("merge_queue.removal_asked", task=task, data={"entry_id": entry.id})
        call.tx.hint(WORK)
    else:
        call.tx.merge_queue.put(
            replace(entry, state=State.REMOVED, ended_at=call.now, ended_by=call.actor.id, trouble=None)
        )
        call.event("merge_queue.removed", task=task, data={"entry_id": entry.id, "by": call.actor.id})
    merge_queue.advance(call, task.project_id)
    return _one(call, merge_queue.newest(call, task.id) or entry)


class Move(OneTask):
    before: Id | None = Field(None, description="The task before which it is put; without one: at the end.")


@operation(
    "move_in_merge_queue",
    grant=Grant.WRITER,
    parameters=Move,
    route=Route("POST", "/tasks/{task_id}/merge-queue/move"),
    tool=False,
)
def move_in_merge_queue(call: Call, wanted: Move) -> MergeQueueResult:
    """Change the place of a task in the merge queue. Tasks that are being checked keep theirs."""
    task, entry = _waiting(call, wanted.task_id)
    waiting = call.tx.merge_queue.waiting_in(task.project_id)
    before = None
    if wanted.before is not None:
        before = next((each for each in waiting if each.task_id == wanted.before), None)
        if before is None:
            raise _not_in_queue(wanted.before)
    checking = next((each for each in (entry, before) if each is not None and each.state is State.CHECKING), None)
    if checking is not None:
        raise Refusal(
            Code.NOT_NOW,
            say("Task {task_id} is being checked.", task_id=checking.task_id),
            say(
                "Put the task behind it, or pause the queue first{deed:: …|.}",
                deed=deed("pause_merge_queue", project_id=Blank("PRJ")),
            ),
            task_id=checking.task_id,
        )
    changed = rules.moved(waiting, entry, before)
    if changed:
        call.tx.merge_queue.put(*changed)
        call.event("merge_queue.moved", task=task, data={"entry_id": entry.id, "before": wanted.before})
        merge_queue.advance(call, task.project_id)
    return {"success": True, "merge_queue": _as_answer(call, call.project(task.project_id))}


@operation(
    "pause_merge_queue",
    grant=Grant.WRITER,
    parameters=InProject,
    route=Route("POST", "/projects/{project_id}/merge-queue/pause"),
    tool=False,
)
def pause_merge_queue(call: Call, wanted: InProject) -> MergeQueueResult:
    """Pause the merge queue of a project: nothing more is merged. A batch that is being checked is stopped and waits
    again."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    _refuse_off(project)
    queue = call.tx.merge_queue.queue(project.id)
    if queue.paused_at is None:
        call.tx.merge_queue.put_queue(replace(queue, paused_at=call.now, paused_by=call.actor.id))
        call.event("merge_queue.paused", project_id=project.id)
        merge_queue.advance(call, project.id)
        call.tx.hint(WORK)
    return {"success": True, "merge_queue": _as_answer(call, project)}


@operation(
    "resume_merge_queue",
    grant=Grant.WRITER,
    parameters=InProject,
    route=Route("POST", "/projects/{project_id}/merge-queue/resume"),
    tool=False,
)
def resume_merge_queue(call: Call, wanted: InProject) -> MergeQueueResult:
    """Let the merge queue of a project continue. What it could not merge is tried again at once."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    _refuse_off(project)
    queue = call.tx.merge_queue.queue(project.id)
    if queue.paused_at is not None:
        call.tx.merge_queue.put_queue(replace(queue, paused_at=None, paused_by=None))
        call.event("merge_queue.resumed", project_id=project.id)
    waiting = call.tx.merge_queue.waiting_in(project.id)
    call.tx.merge_queue.put(*(replace(each, retry_at=None) for each in waiting if each.retry_at is not None))
    merge_queue.advance(call, project.id)
    return {"success": True, "merge_queue": _as_answer(call, project)}


# --- what is refused --------------------------------------------------------------------------------------------------


def _refuse_off(project: Project) -> None:
    if project.settings.merge_queue is MergeQueue.OFF or not project.active:
        off = project.settings.merge_queue is MergeQueue.OFF
        raise Refusal(
            Code.NOT_NOW,
            say("Project {project_id} has no merge queue.", project_id=project.id)
            if off
            else say("Project {project_id} is {status}.", project_id=project.id, status=project.status),
            say(
                "An owner turns it on{deed:: …|.}",
                deed=deed("correct_project", project_id=project.id, settings={"merge_queue": "manual"}),
            )
            if off
            else say("Resume the project first{deed:: …}.", deed=LEFT_OUT),
        )


def _refuse_unready(task: Task, before: Entry | None) -> None:
    if before is not None and before.waits:
        raise Refusal(
            Code.NOT_NOW,
            say("Task {task_id} is just being removed from the merge queue.", task_id=task.id),
            "Try again in a moment.",
            task_id=task.id,
        )
    if task.status is not Status.COMPLETED:
        raise Refusal(
            Code.INVALID_TRANSITION,
            say("Task {task_id} is {status}.", task_id=task.id, status=task.status),
            "Only the work of completed tasks is added to the merge queue.",
            task_id=task.id,
        )


def _refuse_sent_back(call: Call, found: Sequence[Worktree]) -> None:
    asked = requested_changes.standing(call, sorted(each.task_id for each in found))
    for task_id, changes in sorted(asked.items()):
        raise Refusal(
            Code.NOT_NOW,
            say("Changes to task {task_id} were requested ({changes}).", task_id=task_id, changes=changes.id),
            "Wait until they are made, or cancel that task.",
            task_id=task_id,
            changes_requested=changes.id,
        )


def _waiting(call: Call, task_id: str) -> tuple[Task, Entry]:
    call.enter(call.task(task_id).project_id)
    task = call.task(task_id)
    entry = merge_queue.newest(call, task.id)
    if entry is None or not entry.waits:
        raise _not_in_queue(task.id)
    return task, entry


def _not_in_queue(task_id: str) -> Refusal:
    return Refusal(
        Code.NOT_NOW,
        say("Task {task_id} does not wait in the merge queue.", task_id=task_id),
        say(
            "{look_deed:See what does: …. }{deed:Add it: …|Add it first.}",
            look_deed=deed("show_merge_queue"),
            deed=deed("add_to_merge_queue", task_id=task_id),
        ),
        task_id=task_id,
    )


# --- what is shown ----------------------------------------------------------------------------------------------------


def _one(call: Call, entry: Entry) -> EntryResult:
    waiting = call.tx.merge_queue.waiting_in(entry.project_id)
    return {"success": True, "entry": _entries(call, [entry], waiting)[0]}


def _as_answer(call: Call, project: Project) -> schemas.MergeQueue:
    queue = call.tx.merge_queue.queue(project.id)
    waiting = call.tx.merge_queue.waiting_in(project.id)
    ended = _without_resolved(call, call.tx.merge_queue.ended(project.id, MOST_ENDED))
    return {
        "project_id": project.id,
        "mode": project.settings.merge_queue.value,
        "batch_size": project.settings.merge_batch_size,
        "required_checks": len(review_checks.run_by_program(project.settings.required_checks)),
        "paused_at": iso_or_none(queue.paused_at),
        "paused_by": queue.paused_by,
        "entries": _entries(call, waiting, waiting),
        "ended": _entries(call, ended, waiting),
    }


def _without_resolved(call: Call, ended: list[Entry]) -> list[Entry]:
    """Without what came back and was merged since, with its correction or by hand: nothing is left to do about it."""
    returned = [entry.task_id for entry in ended if entry.state in RETURNED]
    merged = {each.task_id for each in call.tx.worktrees.of(returned) if each.state is WorktreeState.MERGED}
    return [entry for entry in ended if entry.state not in RETURNED or entry.task_id not in merged]


def _entries(call: Call, found: Sequence[Entry], waiting: Iterable[Entry]) -> list[schemas.MergeQueueEntry]:
    places = {entry.id: place for place, entry in enumerate(waiting, 1)}
    tasks = {task.id: task for task in call.tx.tasks.find_all(sorted({entry.task_id for entry in found}))}
    newest = call.tx.merge_queue.of_tasks(tasks)
    return [
        _entry(call, entry, tasks[entry.task_id], places.get(entry.id), newest=newest[entry.task_id].id == entry.id)
        for entry in found
    ]


def _entry(call: Call, entry: Entry, task: Task, place: int | None, *, newest: bool) -> schemas.MergeQueueEntry:
    why = (
        merge_queue_texts.obstacle(call, entry)
        if entry.waits
        else merge_queue_texts.for_people(call, entry)
        if newest
        else merge_queue_texts.in_brief(entry)
    )
    shown = _of_entry(entry)
    shown["title"] = task.title
    shown["assignee_id"] = task.assignee_id
    shown["place"] = place
    shown["waits_for"] = merge_queue.waits_for(call, entry) if entry.state is State.QUEUED else []
    shown["message"] = why or None
    return shown


_of_entry = wire(
    Entry,
    schemas.MergeQueueEntry,
    *("title", "assignee_id", "place", "waits_for", "message"),
    entry_id="id",
    batch_id="job_id",
    conflict_files=lambda entry: list((entry.conflict or {}).get("files", ())),
)

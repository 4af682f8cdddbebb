"""In whose hands a task's files are: a process's that works in them, or a worktree job's that merges or discards them.

Decided once, here: who starts agents asks it, who moves files asks it, and who explains why nothing starts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from toryo.deeds import Blank, deed
from toryo.domain import coordinators, ids
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.launches import Check, Launch, Purpose
from toryo.domain.projects import Isolation, Project
from toryo.domain.tasks import Task
from toryo.domain.times import Millis, iso
from toryo.domain.wording import Worded, constant, say
from toryo.domain.worktrees import CHANGES_FILES, KEPT_WITHIN, LOOKS, Kind, State, Worktree, WorktreeJob
from toryo.operations.calls.call import WORK, Call
from toryo.operations.tasks import requested_changes, subtask_work


@dataclass(frozen=True, slots=True)
class FileConflict:
    """`files_busy`, `files_elsewhere` or `work_not_kept`; and the same for people."""

    code: str
    words: str


@dataclass(frozen=True, slots=True)
class Sources:
    """Tasks with open worktrees: `bases` a task's own one starts from, `brings` are merged into it at each start.
    `merges`: branches that it merges because the task resolves a conflict with them."""

    bases: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()
    merges: tuple[str, ...] = ()


def directory(call: Call, task_id: str) -> str | None:
    """Where the task's process works, if that is in a worktree."""
    worktree = in_use(call, task_id)
    return worktree.directory if worktree is not None else None


def in_use(call: Call, task_id: str) -> Worktree | None:
    """The worktree in which the task's process works, if there is one."""
    found = call.tx.worktrees.find(task_id)
    return found if found is not None and found.open else None


def keepers(call: Call, checks: Collection[Check]) -> dict[str, str]:
    """By the id of each check whose launch works in a worktree: the Coordinator with its files. No other can run it."""
    launches = call.tx.launches.find_all({each.launch_id for each in checks})
    work_on = {each.id: each.task_id for each in launches}
    places = {each.id: work_on.get(each.launch_id) or each.task_id for each in checks}
    open_ = {each.task_id: each.coordinator_id for each in call.tx.worktrees.of({*places.values()}) if each.open}
    return {check_id: open_[task_id] for check_id, task_id in places.items() if task_id in open_}


def has_own(call: Call, task_id: str, project_id: str, launch_id: str | None = None) -> bool:
    """Whether a task is worked on in a worktree: it keeps the place in which it was begun, with its files, whatever its
    project says since. `launch_id`: the launch that is to begin now."""
    if not _may_have(call, project_id):
        return False
    found = call.tx.worktrees.find(task_id)
    if found is not None and found.open:
        return True
    if not _isolated(call, project_id):
        return False
    if found is not None:  # merged or discarded: it begins again
        return True
    launches = call.tx.launches.of_tasks([task_id])
    return all(each.signed_in_at is None or each.id == launch_id for each in launches if each.purpose is Purpose.TASK)


def workplace(call: Call) -> str | None:
    """Where the caller's process works: in its worktree, else where its Coordinator's file says, else where people have
    put the agent. None: in the project's directory."""
    session, launch = call.session, call.caller.launch
    if session.purpose is Purpose.TASK and session.task_id is not None and _may_have(call, session.project_id):
        worktree = directory(call, session.task_id)
        if worktree is not None:
            return worktree
    by = launch.coordinator_id if launch is not None and not launch.by_passkey else None
    coordinator = next((seen for seen in call.tx.coordinators.all() if by is not None and seen.id == by), None)
    configured = coordinator.directory(session.agent_id, session.project_id) if coordinator is not None else None
    return configured or call.agent.directory


def sources(call: Call, task_id: str) -> Sources:
    """`bases`: what the task, or a task that it is a part of, depends on, and the work that it reviews. `brings`: its
    own completed subtasks, for who reviews them. Only those whose work is not merged or discarded yet."""
    task = call.tx.tasks.find(task_id)
    if task is None:
        return Sources()
    tree_state = call.tree_state(task)
    above = [task.id, *(each.id for each in tree_state.tree.ancestors(task))]
    edges = call.tx.tasks.depends_on(above)
    waited_for = [base for each in above for base in edges.get(each, [])]
    if waited_for:
        waited_for = _newest(call, task, waited_for)
    waited_for += [task.review_of] if task.review_of is not None else []
    work = {worktree.task_id for worktree in call.tx.worktrees.of(waited_for) if worktree.open}
    return Sources(
        tuple(task_id for task_id in dict.fromkeys(waited_for) if task_id in work),
        tuple(part.task_id for part in subtask_work.parts(call, tree_state.tree, task)),
        tuple(requested_changes.merged_by(call, task)),
    )


def needed_by(call: Call, task_ids: Collection[str]) -> set[str]:
    """The tasks on which these depend, or what they are parts of."""
    trees = [(call.tree_state(task).tree, task) for task in call.tx.tasks.find_all(sorted(task_ids))]
    above = {each.id for tree, task in trees for each in (task, *tree.ancestors(task))}
    return {base for bases in call.tx.tasks.depends_on(sorted(above)).values() for base in bases}


def _newest(call: Call, task: Task, waited_for: Sequence[str]) -> list[str]:
    """What changes the work of another task starts from the worktree that has this by now."""
    changed = {each.id: each for each in call.tx.tasks.find_all(sorted(requested_changes.about(call, [task.id])))}
    there = {each.id: subtask_work.holder(call, call.tree_state(each).tree, each).id for each in changed.values()}
    return [there.get(each, each) for each in waited_for]


def hindrance(call: Call, task_id: str | None, coordinator_id: str | None = None) -> FileConflict | None:
    """Why the task cannot be started now by this Coordinator (None: by some of those that are there), though it should
    be."""
    task = call.tx.tasks.find(task_id) if task_id is not None else None
    if task is None or not _may_have(call, task.project_id):
        return None
    own = call.tx.worktrees.find(task.id)
    if not ((own is not None and own.open) or _isolated(call, task.project_id)):
        return None
    if own is not None and own.open:
        found = _worktree_job(call, own) or _elsewhere(call, own, coordinator_id)
        if found is not None:
            return found
    return _not_kept(call, task)


def at_work(call: Call, task_ids: Collection[str]) -> Launch | None:
    """Somebody whose process works on one of these tasks, or has not quite left."""
    return next(iter(call.tx.launches.in_worktrees(task_ids, call.now - KEPT_WITHIN)), None)


def moving_job(call: Call, worktree: Worktree, *, looks: bool = True) -> WorktreeJob | None:
    """The worktree job that is just changing these files. `looks`: also one that looks at a pull request, and removes
    them if that was merged."""
    asked = call.tx.worktrees.jobs_for(worktree.coordinator_id)
    changing = (job for job in asked if job.kind in CHANGES_FILES and (looks or not job.looks))
    return next((job for job in changing if worktree.task_id in job.tasks), None)


def refuse_at_work(call: Call, found: Sequence[Worktree]) -> None:
    """Nobody's files are moved while a process works in them, or another worktree job moves them."""
    worker = at_work(call, [worktree.task_id for worktree in found])
    if worker is not None:
        raise Refusal(
            Code.NOT_NOW,
            say(
                "{agent_id} is working on task {task_id}."
                if worker.live
                else "{agent_id} is about to leave task {task_id}.",
                agent_id=worker.agent_id,
                task_id=worker.task_id,
            ),
            "Wait until it has left, or block the task first." if worker.live else "Try again in a moment.",
            task_id=worker.task_id,
            leaving=not worker.live,
        )
    job = next(filter(None, (moving_job(call, worktree, looks=False) for worktree in found)), None)
    if job is not None and job.kind is Kind.QUEUE_MERGE:
        raise Refusal(
            Code.NOT_NOW,
            say("The merge queue is checking this work ({job_id}).", job_id=job.id),
            say(
                "Wait until it has finished, or remove the task from the queue{deed:: …|.}",
                deed=deed("remove_from_merge_queue", task_id=Blank("TASK")),
            ),
            job_id=job.id,
        )
    if job is not None:
        raise Refusal(
            Code.NOT_NOW,
            say(
                "{asked_by} has already requested this worktree job: {kind} ({job_id}).",
                asked_by=job.asked_by,
                kind=job.kind,
                job_id=job.id,
            ),
            "Wait until the Coordinator has finished it.",
            job_id=job.id,
        )


def send(call: Call, worktree: Worktree, kind: Kind, options: dict[str, Any] | None = None) -> WorktreeJob:
    """Sends the Coordinator with the files on a worktree job."""
    job = send_to(call, worktree.coordinator_id, worktree.task_id, worktree.project_id, kind, options)
    if kind not in LOOKS:
        asked = f"worktree.{kind.value}_asked"
        call.event(asked, task=call.tx.tasks.find(worktree.task_id), data={"job_id": job.id})
    return job


def send_to(
    call: Call, coordinator_id: str, task_id: str, project_id: str, kind: Kind, options: dict[str, Any] | None
) -> WorktreeJob:
    """Sends a Coordinator on a job about a task, which may have no worktree."""
    job = WorktreeJob(
        id=call.new_id(ids.WORKTREE_JOB),
        kind=kind,
        task_id=task_id,
        project_id=project_id,
        coordinator_id=coordinator_id,
        asked_by=call.actor.id,
        options=options,
        created_at=call.now,
    )
    call.tx.worktrees.add_job(job)
    call.tx.hint(WORK)
    return job


def seen_at(call: Call, coordinator_id: str) -> Millis | None:
    """When the Coordinator has called last."""
    return next((seen.seen_at for seen in call.tx.coordinators.all() if seen.id == coordinator_id), None)


def is_away(call: Call, coordinator_id: str) -> bool:
    at = seen_at(call, coordinator_id)
    return at is None or coordinators.is_gone(at, call.now)


def away(call: Call, coordinator_id: str) -> Worded:
    """That the Coordinator with the files is away, and since when."""
    at = seen_at(call, coordinator_id)
    return say(
        "The files are on the machine of Coordinator {coordinator_id}, which has not called {since}.",
        coordinator_id=coordinator_id,
        since=say("since {time}", time=iso(at)) if at is not None else constant("yet"),
    )


def _may_have(call: Call, project_id: str) -> bool:
    """Whether tasks of the project may have worktrees: it gives them, or gave them and some are left. A project that
    gives none gets none, so that none is left is remembered until the project is changed."""
    project, known = call.tx.projects.find(project_id), call.context.without_worktrees
    if project is None or project.settings.isolation is Isolation.WORKTREE:
        return project is not None
    if known.get(project_id) == project.updated_at:
        return False
    if call.tx.worktrees.of_project(project_id, 1, None, State.OPEN):
        return True
    known[project_id] = project.updated_at
    return False


def made_without(call: Call, project: Project) -> None:
    """A new project has no worktrees."""
    if project.settings.isolation is not Isolation.WORKTREE:
        call.context.without_worktrees[project.id] = project.updated_at


def has_one(call: Call, project_id: str) -> None:
    """A worktree was made, perhaps for a launch that was ordered before its project was changed."""
    call.context.without_worktrees.pop(project_id, None)


def _isolated(call: Call, project_id: str) -> bool:
    project = call.tx.projects.find(project_id)
    return project is not None and project.settings.isolation is Isolation.WORKTREE


def _worktree_job(call: Call, own: Worktree) -> FileConflict | None:
    job = moving_job(call, own)
    if job is None:
        return None
    if job.kind is Kind.QUEUE_MERGE:
        words = say("The merge queue is checking its work ({job_id}). It is started when that is over.", job_id=job.id)
        return FileConflict("files_busy", words)
    words = say(
        "{asked_by} has requested a worktree job for it: {kind} ({job_id}). It is started when the job is done.",
        asked_by=job.asked_by,
        kind=job.kind,
        job_id=job.id,
    )
    return FileConflict("files_busy", words)


def _elsewhere(call: Call, own: Worktree, coordinator_id: str | None) -> FileConflict | None:
    """Only while the Coordinator with the files is alive; afterwards another one starts again from the base."""
    if coordinator_id == own.coordinator_id or is_away(call, own.coordinator_id):
        return None
    others = (seen.id for seen in call.tx.coordinators.all() if seen.id != own.coordinator_id)
    if coordinator_id is None and all(is_away(call, other) for other in others):
        return None
    words = say(
        "Its work is on the machine of Coordinator {coordinator_id}, so only that Coordinator starts it.",
        coordinator_id=own.coordinator_id,
    )
    return FileConflict("files_elsewhere", words)


def _not_kept(call: Call, task: Task) -> FileConflict | None:
    found = sources(call, task.id)
    worker = at_work(call, {*found.bases, *found.brings})
    if worker is None:
        return None
    base = call.tx.tasks.find(worker.task_id or "")
    words = say(
        "It starts from the work in task {task_id}, on which {agent_id} works. It is started after that has left."
        if base is not None and base.in_progress
        else "It builds on task {task_id}, whose process ({agent_id}) is about to end. It is started after that.",
        task_id=worker.task_id,
        agent_id=worker.agent_id,
    )
    return FileConflict("work_not_kept", words)

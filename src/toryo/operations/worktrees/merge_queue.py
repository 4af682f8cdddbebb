"""The merge queue of a project: what waits in it, what is sent to a Coordinator next, and what its report changes.

`domain/merge_queue.py` has the rules. What ends an entry without a merge (its work was discarded, its task is open
again, …) is found in the facts each time, so it does not matter who did that and how. `advance` is called after
everything that may let the queue go on, and by housekeeping.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from toryo.domain import ids, review_checks
from toryo.domain import merge_queue as rules
from toryo.domain.agents import SYSTEM
from toryo.domain.errors import Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.merge_queue import RETURNED, Conflict, Entry, Verdict
from toryo.domain.merge_queue import State as Standing
from toryo.domain.moves import Actor
from toryo.domain.projects import MergeQueue, Project
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.tasks import Status, Task
from toryo.domain.wording import Worded, constant, say
from toryo.domain.worktrees import KEPT_WITHIN, Kind, Review, State, Worktree, WorktreeJob
from toryo.operations.calls import rendering
from toryo.operations.calls.call import WORK, Call
from toryo.operations.tasks import requested_changes
from toryo.operations.worktrees import changes_tasks, merge_queue_texts, reviews, worktree_locks, worktree_requests

TORYO = Actor(SYSTEM, everything=True, guard=True)
_MOST_WORKTREES = 1_000


def enter(call: Call, project: Project, task: Task, target: str, coordinator_id: str, added_by: Actor) -> Entry:
    """Puts the work of a task at the end of the queue."""
    entry = Entry(
        id=call.new_id(ids.QUEUE_ENTRY),
        project_id=project.id,
        task_id=task.id,
        coordinator_id=coordinator_id,
        target=target,
        position=call.tx.merge_queue.last_place(project.id) + 1,
        state=Standing.QUEUED,
        added_by=added_by.id,
        added_at=call.now,
        sent_back=_sent_back(call, task),
    )
    call.tx.merge_queue.put(entry)
    call.event("merge_queue.added", task=task, actor=added_by, data={"entry_id": entry.id, "target": target})
    return entry


def advance(call: Call, project_id: str, *, even_off: bool = False) -> None:
    """Takes out what can no longer be merged, adds what is finished, and has the next batch checked. `even_off`: also
    where the queue is turned off, to empty it."""
    project = call.tx.projects.find(project_id)
    if project is None or (project.settings.merge_queue is MergeQueue.OFF and not even_off):
        return
    call.enter(project_id)
    mode, queue = project.settings.merge_queue, call.tx.merge_queue
    waiting = _still_in(call, project, queue.waiting_in(project_id))
    if mode is MergeQueue.OFF or not project.active:
        return
    if mode is MergeQueue.AUTOMATIC:
        waiting += _added(call, project, waiting)
    if not waiting or queue.queue(project_id).paused_at is not None:
        return
    lanes: dict[tuple[str, str], list[Entry]] = {}
    for entry in waiting:
        lanes.setdefault(entry.lane, []).append(entry)
    for lane in lanes.values():
        if worktree_locks.is_away(call, lane[0].coordinator_id):
            continue
        batch = rules.next_batch(lane, project.settings.merge_batch_size, lambda entry: ready(call, entry), call.now)
        if batch:
            _send(call, project, batch)


def is_wanted(call: Call, job: WorktreeJob) -> bool:
    """Whether a batch is still to be merged. Not if a person has paused the queue, removed one of its entries or
    requested changes to it, or if the task of one is open again."""
    project = call.tx.projects.find(job.project_id)
    if project is None or not project.active or project.settings.merge_queue is MergeQueue.OFF:
        return False
    if call.tx.merge_queue.queue(project.id).paused_at is not None:
        return False
    batch = _batch(call, job)
    if len(batch) != len((job.options or {}).get("entries", ())) or any(entry.removal_by for entry in batch):
        return False
    tasks = call.tx.tasks.find_all(sorted(entry.task_id for entry in batch))
    if any(task.status is not Status.COMPLETED for task in tasks):
        return False
    entries = {entry.id: entry for entry in batch}
    return not _sent_back_meanwhile(call, {item: entries[name] for name, own in _items(job) for item in own})


def settle(call: Call, job: WorktreeJob, told: Verdict) -> None:
    """What a report changes. A late one finds its entries no longer in its batch; what it has merged is a fact of the
    worktrees by then, which `advance` finds."""
    before = _batch(call, job)
    parts = (f"{job.id}.1", f"{job.id}.2")
    for old, new in zip(before, rules.settled(before, told, parts, call.now), strict=True):
        task = call.tx.tasks.find(old.task_id)
        assert task is not None
        if new.state in RETURNED:  # nobody corrects what is no longer wanted
            new = _without_the_unwanted(call, task, old, new)  # noqa: PLW2901
        _note(call, task, old, new)
        by = _solver(call, task, new) if rules.goes_to_agent(new) else None
        call.tx.merge_queue.put(new if by is None else _returned(call, task, new, by))
    call.tx.hint(WORK)
    advance(call, job.project_id)


def verdict(told: Any, merged: Iterable[Any], gone: Collection[str], job: WorktreeJob, trouble: str | None) -> Verdict:
    """A Coordinator's report in the terms of the rules. `told` is its part about the queue, if there is one."""
    commits = {each.task_id: each.commit for each in merged}
    is_merged: dict[str, str] = {}
    is_gone: set[str] = set()
    for entry, own in _items(job):
        there = [task_id for task_id in own if task_id in commits]
        if not set(own) <= {*there, *gone}:
            continue
        if there:
            is_merged[entry] = commits[there[-1]]
        else:
            is_gone.add(entry)
    if told is None:
        return Verdict(is_merged, {}, gone=is_gone, trouble=trouble)
    return Verdict(
        is_merged,
        {
            each.entry_id: Conflict(
                tuple(each.files), tuple(other.model_dump() for other in each.others), each.task_id, each.within
            )
            for each in told.conflicts
        },
        left_out=set(told.left_out),
        unfit={each.entry_id: each.trouble for each in told.unfit},
        gone=is_gone,
        failed=told.result == "failed",
        base=told.base,
        evidence=tuple(each.model_dump() for each in told.evidence),
        trouble=trouble,
    )


def newest(call: Call, task_id: str) -> Entry | None:
    return call.tx.merge_queue.of_tasks([task_id]).get(task_id)


def waits_for(call: Call, entry: Entry) -> list[str]:
    """The tasks whose work it builds on and that are not merged yet; and those that change such work meanwhile."""
    covered = {worktree.task_id for worktree in _covered(call, entry.task_id)}
    own = {worktree.task_id for worktree in _own(call, entry.task_id)}
    inside = {entry.task_id, *own}
    bases = [base for each in sorted(inside) for base in worktree_locks.sources(call, each).bases]
    others = dict.fromkeys(base for base in bases if base not in covered | own)
    changes = _changes_below(call, inside)
    others |= dict.fromkeys(each for each in changes if each not in covered | inside)
    found = {worktree.task_id: worktree for worktree in call.tx.worktrees.of(others)} if others else {}
    unmerged = {each for each, worktree in found.items() if worktree.open and worktree.changed}
    return [each for each in others if each in unmerged or (each in changes and changes[each].open)]


def _changes_below(call: Call, task_ids: Collection[str]) -> dict[str, Task]:
    """What changes, or has changed, the work on which these build, and that they do not change themselves."""
    needed = worktree_locks.needed_by(call, task_ids)
    return requested_changes.made_to(call, needed - requested_changes.changed_by(call, task_ids)) if needed else {}


def ready(call: Call, entry: Entry) -> list[str] | None:
    """Which tasks must be merged before this entry; None if somebody works in its files, or moves them."""
    found = [*_own(call, entry.task_id), *_covered(call, entry.task_id)]
    if not found or any(each.coordinator_id != entry.coordinator_id for each in found):
        return None
    if worktree_locks.at_work(call, [each.task_id for each in found]) is not None:
        return None
    if any(worktree_locks.moving_job(call, each) is not None for each in found):
        return None
    return waits_for(call, entry)


# --- what leaves the queue, and what enters it ------------------------------------------------------------------------


def _still_in(call: Call, project: Project, waiting: list[Entry]) -> list[Entry]:
    """What is left after those that ended for another reason than a report, and after batches nobody works on."""
    if not waiting:
        return []
    task_ids = sorted(entry.task_id for entry in waiting)
    tasks = {task.id: task for task in call.tx.tasks.find_all(task_ids)}
    stay: list[Entry] = []
    for entry in waiting:
        now = entry
        if entry.state is Standing.CHECKING:
            job = call.tx.worktrees.job(entry.job_id or "")
            if job is not None and not job.over and not _called_off(call, job):
                stay.append(entry)
                continue
            now = replace(entry, state=Standing.QUEUED)
        task, own = tasks[entry.task_id], _own(call, entry.task_id)
        if not own and (commit := _merged_meanwhile(call, task, entry)) is not None:
            now = replace(now, state=Standing.MERGED, merged_commit=commit, ended_at=call.now, trouble=None)
        elif (why := _why_out(call, project, task, own, now)) is not None:
            now = _out(call, now, *why)
        if now is not entry:
            _note(call, task, entry, now)
            call.tx.merge_queue.put(now)
        if now.waits:
            stay.append(now)
    return stay


def _called_off(call: Call, job: WorktreeJob) -> bool:
    """Ends the job of a batch that is no longer wanted and that no Coordinator works on. Should one have just taken it,
    what it reports still counts."""
    if job.taken_at is not None or is_wanted(call, job):
        return False
    answer: dict[str, Any] = {"trouble": "It is no longer wanted.", "given_up": True}
    call.tx.worktrees.save_job(job, replace(job, finished_at=call.now, done=False, answer=answer))
    return True


def _merged_meanwhile(call: Call, task: Task, entry: Entry) -> str | None:
    """The last merge of its work since it waits; None if there was none."""
    below = call.tree_state(task).tree.descendants(task)
    found = call.tx.worktrees.of([task.id, *(each.id for each in below)])
    merged = [each for each in found if each.state is State.MERGED and each.updated_at >= entry.added_at]
    return max(merged, key=lambda each: (each.updated_at, each.task_id == task.id)).merged_commit if merged else None


def _why_out(
    call: Call, project: Project, task: Task, own: list[Worktree], entry: Entry
) -> tuple[Worded | str | None, str | None] | None:
    """Why an entry is no longer wanted, and who has decided that; None if it is. `own`: its work that is open."""
    if entry.removal_by is not None:
        return entry.reason, entry.removal_by
    if project.status is ProjectStatus.ARCHIVED:
        return constant("The project was archived."), None
    if project.settings.merge_queue is MergeQueue.OFF:
        return constant("The merge queue was turned off."), None
    if not own or _is_discarded(call, entry):
        return constant("Its work was discarded."), None
    if task.status is not Status.COMPLETED:
        return say("Its task is {status}.", status=task.status), None
    if asked := _sent_back_meanwhile(call, dict.fromkeys(sorted(each.task_id for each in own), entry)):
        changes = asked.get(task.id) or next(iter(asked.values()))
        return say("Changes to it were requested ({task_id}).", task_id=changes.id), changes.created_by
    return None


def _sent_back_meanwhile(call: Call, waiting: Mapping[str, Entry]) -> dict[str, Task]:
    """Of the tasks whose work waits in these entries: what makes changes to it, or has failed to since it waits."""
    asked = requested_changes.not_made(call, waiting)
    return {
        task_id: changes
        for task_id, changes in asked.items()
        if changes.open or waiting[task_id].added_at < (changes.completed_at or 0)
    }


def _is_discarded(call: Call, entry: Entry) -> bool:
    """Whether somebody has discarded the changes of the task itself while it waited. A directory without changes goes
    by itself."""
    worktree = call.tx.worktrees.find(entry.task_id)
    gone = worktree is not None and worktree.state is State.DISCARDED and worktree.changed
    return gone and worktree is not None and worktree.updated_at >= entry.added_at


def _out(call: Call, entry: Entry, reason: Worded | str | None, by: str | None) -> Entry:
    return replace(entry, state=Standing.REMOVED, reason=reason, ended_at=call.now, ended_by=by, trouble=None)


def _without_the_unwanted(call: Call, task: Task, old: Entry, new: Entry) -> Entry:
    """What a report makes of an entry, unless it has ended for another reason before the report came."""
    project = call.project(task.project_id)
    why = _why_out(call, project, task, _own(call, task.id), old)
    return new if why is None else _out(call, old, *why)


def _added(call: Call, project: Project, waiting: list[Entry]) -> list[Entry]:
    return [
        enter(call, project, task, worktree.base_branch or "", worktree.coordinator_id, TORYO)
        for task, worktree in finished_work(call, project)[: max(0, rules.MOST - len(waiting))]
    ]


def finished_work(call: Call, project: Project) -> list[tuple[Task, Worktree]]:
    """Finished work that is not in the queue, and was not since it was finished: that was decided about already. In the
    order in which an automatic queue takes it. Parts come with the whole: if that is blocked, put off or has failed, a
    person decides about them. Work that was sent back comes with the changes to it."""
    found = call.tx.worktrees.of_project(project.id, _MOST_WORKTREES, state=State.OPEN)
    changed = [each for each in found if each.changed and each.trouble is None and each.base_branch is not None]
    standing = reviews.by_task(call, changed) if changed else {}
    to_review = [each for each in changed if standing[each.task_id].review is Review.TO_REVIEW]
    free = [each for each in to_review if not standing[each.task_id].of_unfinished]
    before = call.tx.merge_queue.of_tasks(each.task_id for each in free) if free else {}
    leaving_since = call.now - KEPT_WITHIN
    launches = call.tx.launches.in_worktrees([each.task_id for each in free], leaving_since) if free else []
    at_work = {launch.task_id for launch in launches}
    new: list[tuple[Task, Worktree]] = []
    for each in free:
        task, entry = standing[each.task_id].task, before.get(each.task_id)
        if task is None or task.completed_at is None or task.id in at_work:
            continue
        ended = entry if entry is not None and entry.added_at >= task.completed_at else None
        if ended is not None and not _for_a_reason(ended):
            continue
        own = {part.task_id for part in _own(call, task.id)}
        changes = [asked for asked in requested_changes.newest(call, sorted(own)) if not _comes_with(asked, own)]
        undecided = ended is None or any(_taken_back(call, asked, ended) for asked in changes)
        if undecided and not any(_rejects(call, asked) for asked in changes):
            new.append((task, each))
    return sorted(new, key=lambda pair: (pair[0].completed_at, pair[0].id))


def _comes_with(changes: Task, own: Collection[str]) -> bool:
    """Whether they are made, as a part of what is merged."""
    return changes.status is Status.COMPLETED and changes.id in own


def _rejects(call: Call, changes: Task) -> bool:
    """Whether the work to which changes were requested is not to be merged without them, or only if a person says so:
    they are not made, or nobody could make them, or somebody has discarded them."""
    if changes.status is not Status.COMPLETED:
        return changes.status is not Status.CANCELLED
    made = call.tx.worktrees.find(changes.id)
    return made is not None and made.keeps_others_waiting


def _for_a_reason(entry: Entry) -> bool:
    """Whether it was taken out by what was found in the facts, and no person has said so."""
    return entry.state is Standing.REMOVED and entry.removal_by is None and entry.reason is not None


def _taken_back(call: Call, changes: Task, entry: Entry) -> bool:
    """Whether the changes because of which an entry has ended are no longer wanted, or there was nothing to change."""
    ended, over = entry.ended_at or 0, changes.completed_at or 0
    return changes.closed and not _rejects(call, changes) and changes.created_at <= ended <= over


def _sent_back(call: Call, task: Task) -> int:
    """How often the queue has sent this work back before; what a person has added again begins from zero."""
    corrected = requested_changes.about(call, [task.id])
    entries = call.tx.merge_queue.of_tasks(corrected).values() if corrected else ()
    return max((entry.sent_back + 1 for entry in entries if entry.state in RETURNED), default=0)


# --- what is sent -----------------------------------------------------------------------------------------------------


def _own(call: Call, task_id: str) -> list[Worktree]:
    """The work that an entry stands for: of its task and what is below it."""
    task = call.tx.tasks.find(task_id)
    assert task is not None
    try:
        return work_of(call, task)
    except Refusal:  # nothing of it is open
        return []


def work_of(call: Call, task: Task) -> list[Worktree]:
    """What would be merged for a task: its work and that of its subtasks, but not that of cancelled ones. Raises
    Refusal if nothing of it is open."""
    found = worktree_requests.to_merge(call, task, below=True)
    tasks = {each.id: each for each in call.tx.tasks.find_all(sorted(each.task_id for each in found))}
    return [each for each in found if each.task_id == task.id or tasks[each.task_id].status is Status.COMPLETED]


def _covered(call: Call, task_id: str) -> list[Worktree]:
    """The open work that this task was to correct: it is merged as soon as the target contains it."""
    changed = sorted(requested_changes.changed_by(call, [task_id]))
    return list({worktree.task_id: worktree for each in changed for worktree in _own(call, each)}.values())


def _send(call: Call, project: Project, batch: list[Entry]) -> None:
    """Has a Coordinator merge and check these entries."""
    tasks = {task.id: task for task in call.tx.tasks.find_all(sorted(entry.task_id for entry in batch))}
    entries: list[dict[str, Any]] = []
    order: list[dict[str, Any]] = []
    for entry in batch:
        own = [_item(call, entry, each) for each in _own(call, entry.task_id)]
        covered = [_item(call, entry, each) for each in _covered(call, entry.task_id)]
        person, account = call.tx.agents.find(entry.added_by), call.tx.people.account(entry.added_by)
        entries.append(
            {
                "entry_id": entry.id,
                "task_id": entry.task_id,
                "title": tasks[entry.task_id].title,
                "order": own,
                "covered": covered,
                "by": entry.added_by if person is not None else "toryo",
                "name": person.name if person is not None else "Toryo",
                "email": (account.email if account is not None else None) or "",
            }
        )
        order += [*own, *covered]
    job = WorktreeJob(
        id=call.new_id(ids.WORKTREE_JOB),
        kind=Kind.QUEUE_MERGE,
        task_id=str(entries[0]["order"][-1]["task_id"]),  # the task of the first entry may have no files of its own
        project_id=project.id,
        coordinator_id=batch[0].coordinator_id,
        asked_by=SYSTEM,
        options={
            "into": batch[0].target,
            "entries": entries,
            "order": order,
            "checks": review_checks.run_by_program(project.settings.required_checks),
            "setup": project.settings.tree_setup,
            "network": rendering.asked_network(project),
            "authors": _authors(call, tasks.values()),
        },
        created_at=call.now,
    )
    call.tx.worktrees.add_job(job)
    for entry in batch:
        checking = replace(entry, state=Standing.CHECKING, job_id=job.id, trouble=None, retry_at=None)
        call.tx.merge_queue.put(checking)
        data = {"entry_id": entry.id, "job_id": job.id, "target": entry.target, "together": len(batch)}
        call.event("merge_queue.checking", task=tasks[entry.task_id], actor=TORYO, data=data)
    call.tx.hint(WORK)


def _item(call: Call, entry: Entry, worktree: Worktree) -> dict[str, Any]:
    return {
        "task_id": worktree.task_id,
        "path": worktree.path,
        "title": worktree_requests.title_of(call, worktree),
        "base": worktree.base_commit,
        "into": entry.target,
    }


def _authors(call: Call, tasks: Iterable[Task]) -> list[dict[str, Any]]:
    """The agents that have done this work: the checks run what they wrote, in the sandbox of one of them."""
    names = sorted({task.assignee_id for task in tasks if task.assignee_id is not None})
    return [
        {
            "agent_id": agent.id,
            "ai_type": agent.provider,
            "provider_options": agent.started_with(agent.provider),
        }
        for agent in call.tx.agents.find_all(names)
        if agent.provider is not None
    ]


# --- what a report changes --------------------------------------------------------------------------------------------


def _items(job: WorktreeJob) -> list[tuple[str, list[str]]]:
    """The entries of a batch, each with the tasks whose work it stands for."""
    entries = (job.options or {}).get("entries", ())
    return [(str(each["entry_id"]), [str(item["task_id"]) for item in each["order"]]) for each in entries]


def _batch(call: Call, job: WorktreeJob) -> list[Entry]:
    waiting = call.tx.merge_queue.waiting_in(job.project_id)
    return [entry for entry in waiting if entry.job_id == job.id and entry.state is Standing.CHECKING]


_EVENTS = {
    Standing.MERGED: "merge_queue.merged",
    Standing.FAILED: "merge_queue.failed",
    Standing.CONFLICT: "merge_queue.conflict",
    Standing.REMOVED: "merge_queue.removed",
    Standing.QUEUED: "merge_queue.back",
}


def _note(call: Call, task: Task, old: Entry, new: Entry) -> None:
    """Records what has become of an entry."""
    data: dict[str, Any] = {"entry_id": new.id, "target": new.target}
    told: dict[str, Any] = {
        "commit": new.merged_commit,
        "base_commit": new.base_commit,
        "conflict": new.conflict,
        "failed": [each["check"] for each in new.evidence if each["outcome"] == "failed"],
        "flaky": [each["check"] for each in new.evidence if each["outcome"] == "flaky"],
        "reason": new.reason,
        "trouble": new.trouble,
        "divided": new.part is not None and new.part != old.part,
        "by": new.ended_by,
    }
    data |= {name: value for name, value in told.items() if value}
    call.event(_EVENTS[new.state], task=task, actor=TORYO, data=data)


def _solver(call: Call, task: Task, entry: Entry) -> str | None:
    """Who corrects it: of those who have done the work, and the other side's authors, one that may change files."""
    conflict = entry.conflict or {}
    sides = [conflict.get("work"), *(other.get("task_id") for other in conflict.get("others", ()))]
    works = [each.task_id for each in reversed(_own(call, task.id))]
    names = [each for each in (*sides[:1], *works, *sides[1:]) if each]
    found = {each.id: each for each in call.tx.tasks.find_all(sorted(set(names))) if each.project_id == task.project_id}
    return changes_tasks.solver(call, task, [found[each].assignee_id for each in names if each in found])


def _returned(call: Call, task: Task, entry: Entry, by: str) -> Entry:
    """The entry with the task that corrects it. The target is merged there, so that its agent needs no git."""
    project = call.project(task.project_id)
    title, text = merge_queue_texts.for_agent(call, task, entry, project.settings.language)
    works = _own(call, task.id)
    # Works that conflict with each other cannot be started from together.
    begins, merged = (works, works[:0]) if entry.state is Standing.FAILED else (works[-1:], works[:-1])
    merges = [*(each.branch for each in merged), entry.target]
    made, _ = changes_tasks.make(call, task, title, text, [each.task_id for each in begins], by=by, merges=merges)
    inside = {task.id, *(each.task_id for each in works)}
    changes_tasks.hold_back(call, sorted(inside | requested_changes.changed_by(call, inside)), task, made)
    return replace(entry, changes_task_id=made.id)

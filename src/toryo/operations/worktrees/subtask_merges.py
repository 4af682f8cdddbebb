"""Merging the work of subtasks into the worktree of their task: at its starts, and before its success counts, if work
is missing there by then. A conflict becomes a task for somebody who may change files; without one, a person
is told. Nothing is completed without the work of its subtasks.

`tasks/subtask_work.py` says what is missing. A task that has to resolve a conflict is held to that in the same way:
its worktree must no longer have the marks of the begun merge.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import orjson
from pydantic import Field

from toryo.block_reasons import Block
from toryo.check_names import some
from toryo.domain import moves, review_checks
from toryo.domain.agents import SYSTEM
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.moves import Actor, Order
from toryo.domain.tasks import CheckFailure, Checks, Status, Task
from toryo.domain.times import Millis
from toryo.domain.tree_state import TreeState
from toryo.domain.wording import say
from toryo.domain.worktrees import OWN, TRIES, Brought, Kind, Worktree, WorktreeJob, out_of_tree
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later, Parameters
from toryo.operations.calls.fields import Id, Printed
from toryo.operations.calls.results import Refused
from toryo.operations.tasks import acceptance_checks, mutations, review_rounds, subtask_work
from toryo.operations.tasks.subtask_work import Due
from toryo.operations.translations import words
from toryo.operations.worktrees import changes_tasks, merge_queue_texts, worktree_locks

MOST_FILES = 2_000
MOST = 1_000
CHECK = "work of subtasks"
"""As what it is told that the work cannot be merged."""
_GUARD = Actor(SYSTEM, everything=True, guard=True)


class SubtaskWork(Parameters):
    task_id: Id = Field(description="The subtask.")
    commit: Printed | None = Field(None, max_length=100, description="The last commit of its branch, if that is there.")
    files: list[Annotated[Printed, Field(max_length=4_096)]] = Field(
        default_factory=list, max_length=MOST_FILES, fail_fast=True, description="Where it conflicts."
    )
    others: list[Id] = Field(
        default_factory=list, max_length=MOST, description="The subtasks that it conflicts with; none: the task's work."
    )
    trouble: Printed | None = Field(None, max_length=10_000, description="What else prevented the merge.")


# --- before success counts --------------------------------------------------------------------------------------------


def await_merges(call: Call, tree_state: TreeState, main: Task, report: dict[str, object]) -> Refused | Later | None:
    """None once the worktree of the reported task has the work of its subtasks. Until then `Later` while a Coordinator
    merges it, or a refusal that says why that is not possible. Raises Refusal for any other obstacle first."""
    due = subtask_work.due(call, tree_state, main)
    if due is None or review_checks.review_open(main):
        return None
    _refuse_conflicts(tree_state, main, due.worktree)
    passed = replace(main, checks=Checks.PASSED)
    becomes = replace(tree_state, tree=tree_state.tree.changed(passed))
    moves.plan(becomes, Order(passed, Status.COMPLETED, call.actor, call.now))
    asked = orjson.dumps({"report": report}).decode()
    job = _unfinished(call, due.worktree)
    if job is None and main.checks is Checks.FAILED and call.session.report == asked:
        call.change_session(report=None)
        return acceptance_checks.failed_checks(call, tree_state, main)
    leaving = worktree_locks.at_work(call, [part.task_id for part in due.parts]) if job is None else None
    if job is None and leaving is None:
        job = _send(call, main, due)
    call.change_session(report=asked)
    if call.may_wait:
        hint = f"worktree_job:{job.id}" if job is not None else f"launch:{leaving.id}" if leaving is not None else ""
        return Later(frozenset({hint}))
    told = words("merging", tree_state.project.settings.language)
    return Refused(Refusal(Code.NOT_NOW, "Work is being merged into your worktree.", told).answer())


def _unfinished(call: Call, worktree: Worktree) -> WorktreeJob | None:
    jobs = call.tx.worktrees.jobs_for(worktree.coordinator_id)
    return next((job for job in jobs if job.kind is Kind.MERGE_SUBTASKS and job.task_id == worktree.task_id), None)


def _send(call: Call, main: Task, due: Due) -> WorktreeJob:
    """What was found before is about another state of the files."""
    if main.checks in (Checks.FAILED, Checks.PASSED):
        call.tx.tasks.save(main, replace(main, checks=Checks.NONE))
    names = [part.task_id for part in due.parts]
    options = {"subtasks": names, "order": [{"task_id": name} for name in names], "merges": list(due.merges)}
    return worktree_locks.send(call, due.worktree, Kind.MERGE_SUBTASKS, options)


def _refuse_conflicts(tree_state: TreeState, main: Task, worktree: Worktree) -> None:
    """What conflicts is being resolved in a subtask that is still open."""
    for task_id, found in (worktree.subtasks or {}).items():
        solver = tree_state.tree.tasks.get(found.get("solver") or "")
        if found.get("files") and solver is not None and solver.open:
            raise Refusal(
                Code.SUBTASKS_OPEN,
                say("The work of subtask {task_id} conflicts, so it is not in your worktree.", task_id=task_id),
                say("Task {task_id} resolves the conflict. Call get_next_action.", task_id=solver.id),
                task_id=main.id,
                open_subtasks=[{"task_id": solver.id, "title": solver.title, "status": solver.status.value}],
                unmerged=subtask_work.unmerged(worktree),
            )


# --- what a Coordinator reports ---------------------------------------------------------------------------------------


def note_look(call: Call, worktree: Worktree, found: Iterable[SubtaskWork], since: Millis) -> None:
    """What became of the work of subtasks at a start of their task."""
    task = call.tx.tasks.find(worktree.task_id)
    if task is not None:
        _resolve(call, task, _recorded(call, task, worktree, found, since))


def settle(call: Call, job: WorktreeJob, found: Iterable[SubtaskWork], trouble: str | None) -> None:
    """A job has ended. Its task's agent reports again: what could not be merged, and is nobody's task now, is told like
    a check that has failed."""
    task, worktree = call.tx.tasks.find(job.task_id), call.tx.worktrees.find(job.task_id)
    if task is None or worktree is None or not worktree.open:
        return
    if trouble is None and (job.options or {}).get("merges"):
        worktree = replace(worktree, subtasks={**(worktree.subtasks or {}), OWN: Brought(head=None)})
        call.tx.worktrees.put(worktree)
    left = _resolve(call, task, _recorded(call, task, worktree, found, job.created_at))
    task = call.tx.tasks.find(task.id) or task
    if not task.in_progress:
        return
    failures: list[CheckFailure] = [{"check": CHECK, "message": trouble}] if trouble else left
    if failures:
        review_rounds.settle(call, task, failures)


def _recorded(call: Call, task: Task, worktree: Worktree, found: Iterable[SubtaskWork], since: Millis) -> Worktree:
    """`since`: what is known of a branch from before then is not newer than what was found there."""
    tree = call.tree_state(task).tree
    below = {each.id for each in tree.descendants(task)}
    told = {each.task_id: each for each in found if each.task_id in below}
    there = {part.task_id: part for part in call.tx.worktrees.of(sorted(told))} if told else {}
    before = worktree.subtasks or {}
    after, merged = dict(before), []
    for task_id, part in there.items():
        each, old = told[task_id], before.get(task_id, Brought())
        head = part.head_commit if each.commit is not None and part.updated_at <= since else each.commit
        new = Brought(head=head, files=each.files, others=each.others, trouble=each.trouble)
        new |= {"solver": old.get("solver"), "tries": old.get("tries", 0)} if out_of_tree(new) else {}
        if not out_of_tree(new) and (task_id not in before or out_of_tree(old) or old.get("head") != head):
            merged.append(task_id)
        after[task_id] = new
    if after == before:
        return worktree
    worktree = replace(worktree, subtasks=after)
    call.tx.worktrees.put(worktree)
    if merged:
        call.event("worktree.subtasks_merged", task=task, data={"subtasks": merged})
    return worktree


def _resolve(call: Call, task: Task, worktree: Worktree) -> list[CheckFailure]:
    """Has the first conflict resolved, one at a time: each starts from what is merged by then. Returns what no task
    resolves."""
    left: list[CheckFailure] = []
    begun = False
    for task_id, found in (worktree.subtasks or {}).items():
        part = call.tx.tasks.find(task_id)
        if part is None or not out_of_tree(found):
            continue
        solver = call.tx.tasks.find(found.get("solver") or "")
        files = found.get("files")
        if (solver is not None and solver.open) or (files and begun):
            begun = True
            continue
        given_up = solver is not None and solver.status is not Status.COMPLETED
        if not files or given_up or not task.in_progress:
            left.append({"check": CHECK, "message": _why(part, found, solver)})
            continue
        worktree = _made(call, task, part, worktree)
        begun = True
    return [] if begun else left


def _why(part: Task, found: Brought, solver: Task | None) -> str:
    if found.get("trouble"):
        return f"The work of subtask {part.id} is not in the worktree. {found['trouble']}"
    ended = f" Task {solver.id}, which was to resolve this, is {solver.status.value}." if solver is not None else ""
    return f"The work of subtask {part.id} conflicts in {some(found.get('files') or [])}.{ended}"


def _made(call: Call, task: Task, part: Task, worktree: Worktree) -> Worktree:
    """Has somebody resolve a conflict, in a subtask that starts from the work of the part and merges the task's own."""
    found = dict(worktree.subtasks or {})
    each = found[part.id]
    named = call.tx.tasks.find_all(each.get("others") or [])
    others = [other for other in named if other.project_id == task.project_id]
    tries = each.get("tries", 0) + 1
    by = changes_tasks.solver(call, part, [other.assignee_id for other in others]) if tries <= TRIES else None
    title, text = merge_queue_texts.of_subtask(call, worktree, task, part, others, by_hand=by is None)
    made, _ = changes_tasks.make(
        call, part, title, text, by=by, nobody=by is None, merges=[worktree.branch], parent=call.task(task.id)
    )
    if by is None:
        why = Block.NOBODY_MAY_RESOLVE_IT if tries <= TRIES else Block.NOT_RESOLVED
        mutations.move(call, call.tree_state(made), made, Status.BLOCKED, why.value, actor=_GUARD)
    found[part.id] = Brought(**{**each, "solver": made.id, "tries": tries})
    worktree = replace(worktree, subtasks=found)
    call.tx.worktrees.put(worktree)
    data = {"subtask_id": part.id, "files": (each.get("files") or [])[:20], "with": each.get("others") or []}
    call.event("worktree.subtask_conflict", task=task, data={**data, "resolved_by": made.id, "assignee_id": by})
    return worktree

"""The work of a task's subtasks: what has to be in the task's worktree before success counts, and what of it is not.

Found in the facts each time: which subtasks are completed, where their branches are, and what a Coordinator has
reported of the worktree of the task. `worktrees/subtask_merges.py` has it merged.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from toryo.check_names import some
from toryo.deeds import TO_SAY, deed
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.projects import Isolation
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Status, Task
from toryo.domain.tree_state import TreeState
from toryo.domain.wording import Worded, constant, say, together
from toryo.domain.worktrees import OWN, Worktree, out_of_tree
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.tasks import requested_changes

MOST_FILES = 20
"""Of one conflict that are told."""


@dataclass(frozen=True, slots=True)
class Due:
    """What is not in the worktree of a task: the work of `parts`, or what the branches `merges` conflict with."""

    worktree: Worktree
    parts: tuple[Worktree, ...]
    merges: tuple[str, ...]


def due(call: Call, tree_state: TreeState, task: Task) -> Due | None:
    """None where nothing is missing, or where the task has no worktree."""
    if tree_state.project.settings.isolation is not Isolation.WORKTREE:
        return None
    found = _worktrees(call, tree_state.tree, task)
    own = found.get(task.id)
    if own is None or not own.open:
        return None
    missing = tuple(part for part in _below(tree_state.tree, task, found) if _is_missing(own, part))
    merges = requested_changes.merged_by(call, task)
    if merges and _resolved(own):
        merges = []
    return Due(own, missing, tuple(merges)) if missing or merges else None


def parts(call: Call, tree: Tree, task: Task) -> list[Worktree]:
    """The open worktrees of what is completed below a task and belongs into its own: those of its subtasks, and of what
    is below these where they have none, or where theirs lacks it."""
    return list(_below(tree, task, _worktrees(call, tree, task)))


def holder(call: Call, tree: Tree, task: Task, *, completed: bool = False) -> Task:
    """Whose worktree has the work of a task in its newest state: its own, or that of a task above it, if the work was
    merged there or done there. `completed`: only tasks above that are completed."""
    above = list(tree.ancestors(task))
    found = {each.task_id: each for each in call.tx.worktrees.of([task.id, *(each.id for each in above)])}
    there, part = task, found.get(task.id)
    for each in above:
        into = found.get(each.id)
        if completed and each.status is not Status.COMPLETED:
            break
        if into is None:
            continue
        known = into.changed or each.status is not Status.COMPLETED  # what is merged at a start is told at the end
        if not (into.open and known) or (part is not None and not into.holds(part)):
            break
        there, part = each, into
    return there


def unmerged(own: Worktree | None) -> list[schemas.UnmergedSubtask]:
    """The work of subtasks that could not be merged into the worktree of their task, as agents and people are told."""
    found = (own.subtasks if own is not None and own.open else None) or {}
    return [
        {
            "task_id": task_id,
            "files": (each.get("files") or [])[:MOST_FILES],
            "conflicts_with": each.get("others") or [],
            "trouble": each.get("trouble"),
            "resolved_by": each.get("solver"),
        }
        for task_id, each in found.items()
        if task_id != OWN and out_of_tree(each)
    ]


def unmerged_by_subtask(call: Call, task: Task) -> dict[str, schemas.UnmergedSubtask]:
    """The same by subtask."""
    if call.project(task.project_id).settings.isolation is not Isolation.WORKTREE:
        return {}
    return {each["task_id"]: each for each in unmerged(call.tx.worktrees.find(task.id))}


def unmerged_for_people(call: Call, task: Task) -> list[schemas.ToldUnmerged]:
    """The same for people."""
    found = unmerged_by_subtask(call, task) if task.open else {}
    return [{**each, "message": in_words(call, each)} for each in found.values()]


def in_words(call: Call, each: schemas.UnmergedSubtask) -> Worded:
    """For people."""
    if each["trouble"] is not None:
        return say("The work of {task_id} is not in it. {trouble}", task_id=each["task_id"], trouble=each["trouble"])
    told = say(
        "The work of {task_id} conflicts with that of {others}, in {files}."
        if each["conflicts_with"]
        else "The work of {task_id} conflicts with what the task itself has changed, in {files}.",
        task_id=each["task_id"],
        others=", ".join(each["conflicts_with"]),
        files=some(each["files"]),
    )
    solver = call.tx.tasks.find(each["resolved_by"] or "")
    return told if solver is None else together((told, *_being_resolved(call, solver)))


def _being_resolved(call: Call, solver: Task) -> Iterator[Worded]:
    if solver.status in (Status.BLOCKED, Status.FAILED, Status.CANCELLED):
        yield say(
            "Task {task_id}, which was created to resolve it, is {status}.", task_id=solver.id, status=solver.status
        )
        yield by_hand(call, solver)
    else:
        yield say("Task {task_id} resolves it.", task_id=solver.id)


def by_hand(call: Call, solver: Task) -> Worded:
    """How a person resolves the conflict that this task was created for; "" if it was created for something else."""
    own = call.tx.worktrees.find(solver.parent_id or "")
    subtasks = (own.subtasks or {}) if own is not None and own.open else {}
    part_id = next((task_id for task_id, found in subtasks.items() if found.get("solver") == solver.id), "")
    part = call.tx.worktrees.find(part_id)
    if own is None or part is None or not part.open:
        return constant("")
    then = say(
        "Then cancel task {task_id}{deed:: …|.}",
        task_id=solver.id,
        deed=deed("cancel", task_id=solver.id, reason=TO_SAY),
    )
    return together((merged_by_hand(own, part.branch), then if solver.open else ""))


def merged_by_hand(into: Worktree, branch: str) -> Worded:
    """Where, and with which commands. Git knows the branch there: its conflict was found by merging it."""
    return say(
        "To resolve it by hand, on the machine of Coordinator {coordinator_id}: run `cd {path} && git merge {branch}`, "
        "edit the files that conflict, then run `git commit -a`.",
        coordinator_id=into.coordinator_id,
        path=shlex.quote(into.path),
        branch=shlex.quote(branch),
    )


def _worktrees(call: Call, tree: Tree, task: Task) -> dict[str, Worktree]:
    ids = [task.id, *(each.id for each in tree.descendants(task))]
    return {worktree.task_id: worktree for worktree in call.tx.worktrees.of(ids)}


def _below(tree: Tree, task: Task, found: Mapping[str, Worktree]) -> Iterator[Worktree]:
    for child in tree.children(task):
        if child.status is not Status.COMPLETED:
            continue
        own = found.get(child.id)
        if own is None or not own.open:
            yield from _below(tree, child, found)
            continue
        yield own
        yield from (part for part in _below(tree, child, found) if not own.holds(part))


def _is_missing(own: Worktree, part: Worktree) -> bool:
    return not own.holds(part) and (part.head_commit is None or part.changed)


def _resolved(own: Worktree) -> bool:
    found = (own.subtasks or {}).get(OWN)
    return found is not None and not out_of_tree(found)

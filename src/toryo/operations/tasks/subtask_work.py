"""The work of a task's subtasks: what has to be in the task's worktree before success counts, and what of it is not.

Found in the facts each time: which subtasks are completed, where their branches are, and what a Coordinator has
reported of the worktree of the task. `worktrees/subtask_merges.py` has it merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.projects import Isolation
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Status, Task
from toryo.domain.tree_state import TreeState
from toryo.domain.worktrees import OWN, Worktree, out_of_tree
from toryo.operations.calls.call import Call
from toryo.operations.tasks import requested_changes


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

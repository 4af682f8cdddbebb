"""A task cache for transactions that change many tasks: each tree is read once and updated in memory.

Only while holding the lock of everything, so that no other transaction writes. Rows are still written at once, so SQL
queries (`listed`, `busy`, …) are up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from toryo.domain.dependencies import Links
from toryo.domain.fast_dataclasses import replace
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Details, Task
from toryo.storage.engine.database import Connection
from toryo.storage.tasks import ROWS, Tasks


class RememberedTasks(Tasks):
    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._trees: dict[str, Tree] = {}
        self._root_of: dict[str, str] = {}
        """Root by task id, for all cached trees."""

    def find(self, task_id: str) -> Task | None:
        root_id = self._root_of.get(task_id)
        return super().find(task_id) if root_id is None else self._trees[root_id].tasks[task_id]

    def find_all(self, task_ids: Iterable[str]) -> list[Task]:
        ids = list(dict.fromkeys(task_ids))
        known = [self._trees[self._root_of[each]].tasks[each] for each in ids if each in self._root_of]
        return known + super().find_all(each for each in ids if each not in self._root_of)

    def trees(self, root_ids: Sequence[str]) -> dict[str, Tree]:
        for root_id in root_ids:
            if root_id not in self._trees:
                self._remember(root_id, super().trees([root_id])[root_id])
        return {each: self._trees[each] for each in root_ids}

    def idle(self, root_id: str) -> list[Task]:
        return [task for task in self.tree(root_id).tasks.values() if task.idle_launches]

    def linked(self, task_ids: list[str]) -> dict[str, Links]:
        found = self.find_all(task_ids)
        trees = self.trees(sorted({task.root_id for task in found}))
        return {task.id: _links(trees[task.root_id], task) for task in found}

    def add(self, task: Task, details: Details) -> None:
        super().add(task, details)
        if task.id == task.root_id:
            self._remember(task.id, Tree({task.id: task}))
        elif task.root_id in self._trees:
            self._remember(task.root_id, self._trees[task.root_id].changed(task), task.id)

    def connect(self, task: Task, dependencies: Iterable[str]) -> None:
        added = list(dependencies)
        super().connect(task, added)
        self._depend(task, lambda present: [*present, *added])

    def disconnect(self, task: Task, dependencies: Iterable[str]) -> None:
        removed = set(dependencies)
        super().disconnect(task, removed)
        self._depend(task, lambda present: [each for each in present if each not in removed])

    def save(self, before: Task, after: Task) -> Task:
        """Updates the cached task with the columns that differ, as the row is."""
        stored = super().save(before, after)
        changes = ROWS.changes(before, after)
        if changes:
            written: Any = {name: getattr(stored, name) for name in (*changes, "version")}
            for root_id, tree in self._trees.items():
                present = tree.tasks.get(after.id) or tree.outside.get(after.id)
                if present is not None:
                    self._trees[root_id] = tree.changed(replace(present, **written))
        return stored

    def _remember(self, root_id: str, tree: Tree, *new: str) -> None:
        """`new`: ids that were not cached before; empty means the whole tree."""
        self._trees[root_id] = tree
        self._root_of.update(dict.fromkeys(new or tree.tasks, root_id))

    def _depend(self, task: Task, changed: Callable[[Sequence[str]], list[str]]) -> None:
        tree = self._trees.get(task.root_id)
        if tree is not None:
            ids = changed(tree.depends_on.get(task.id, ()))
            found = {each.id: each for each in self.find_all(ids)}
            self._trees[task.root_id] = tree.connected(task, [found[each] for each in ids])


def _links(tree: Tree, task: Task) -> Links:
    children = [child.id for child in tree.children(task)]
    return Links(list(tree.depends_on.get(task.id, ())), children, task.parent_id)

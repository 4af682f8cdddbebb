"""The tree of tasks below one root, with parents, children and dependencies. Pure."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence

from toryo.domain.fast_dataclasses import cached_property
from toryo.domain.tasks import Status, Task


class Tree:
    """The tasks of one root, with their dependencies; `outside` holds dependencies that belong to other trees."""

    def __init__(
        self,
        tasks: Mapping[str, Task],
        dependencies: Mapping[str, tuple[str, ...]] | None = None,
        outside: Mapping[str, Task] | None = None,
    ) -> None:
        self.tasks = dict(tasks)
        self.depends_on = dict(dependencies or {})
        self.outside = dict(outside or {})

    @cached_property
    def _children(self) -> dict[str | None, list[Task]]:
        found: dict[str | None, list[Task]] = {}
        for task in sorted(self.tasks.values(), key=lambda each: each.order):
            found.setdefault(task.parent_id, []).append(task)
        return found

    def children(self, task: Task) -> list[Task]:
        return self._children.get(task.id, [])

    def parent(self, task: Task) -> Task | None:
        return None if task.parent_id is None else self.tasks.get(task.parent_id)

    def ancestors(self, task: Task) -> Iterator[Task]:
        """Nearest first."""
        above = self.parent(task)
        while above is not None:
            yield above
            above = self.parent(above)

    def descendants(self, task: Task) -> Iterator[Task]:
        """Top down."""
        left = self.children(task)[::-1]
        while left:
            child = left.pop()
            yield child
            left.extend(reversed(self.children(child)))

    def is_below(self, task: Task, ancestor: Task) -> bool:
        return any(above.id == ancestor.id for above in self.ancestors(task))

    def dependencies(self, task: Task) -> list[Task]:
        found = (
            self.tasks.get(dependency) or self.outside.get(dependency)
            for dependency in self.depends_on.get(task.id, ())
        )
        return [each for each in found if each is not None]

    def open_dependencies(self, task: Task) -> list[Task]:
        return [dependency for dependency in self.dependencies(task) if dependency.status is not Status.COMPLETED]

    def dependency_failed(self, task: Task) -> bool:
        """Guard 4: whether a dependency has failed or was cancelled, so that it will never be completed."""
        ended = (Status.FAILED, Status.CANCELLED)
        return task.open and any(dependency.status in ended for dependency in self.dependencies(task))

    def changed(self, *tasks: Task) -> Tree:
        """This tree with new versions of tasks (inside or outside it), or with further tasks."""
        inside = {each.id: each for each in tasks if each.id not in self.outside}
        outside = {each.id: each for each in tasks if each.id in self.outside}
        tree = Tree({**self.tasks, **inside}, self.depends_on, {**self.outside, **outside})
        if "_children" in vars(self):  # The list is sorted already: only changed tasks are inserted at their place.
            children = dict(self._children)
            for task in inside.values():
                siblings = [each for each in children.get(task.parent_id, ()) if each.id != task.id]
                siblings.insert(bisect(siblings, task.order, key=_order), task)
                children[task.parent_id] = siblings
            tree._children = children
        return tree

    def connected(self, task: Task, dependencies: Sequence[Task]) -> Tree:
        """This tree with these dependencies for a task."""
        tree = self.changed()
        tree.depends_on[task.id] = tuple(dependency.id for dependency in dependencies)
        tree.outside |= {dependency.id: dependency for dependency in dependencies if dependency.id not in self.tasks}
        if tree.outside:
            led_to = {each for ids in tree.depends_on.values() for each in ids}
            tree.outside = {each: found for each, found in tree.outside.items() if each in led_to}
        return tree

    def below_closed(self, task: Task) -> bool:
        return any(above.closed for above in self.ancestors(task))

    def is_main(self, task: Task) -> bool:
        """Whether it is a main task: assigned, and its parent not assigned to the same agent. Its status does not
        matter.
        """
        parent = self.parent(task)
        return task.assignee_id is not None and (parent is None or parent.assignee_id != task.assignee_id)


def _order(task: Task) -> tuple[int, int, int, str]:
    return task.order

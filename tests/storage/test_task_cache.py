"""What a transaction remembers of tasks is what stands in their rows, whatever it has written."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from tests.storage.makers import NOW, Store, task
from tests.stories import seeds
from toryo.domain.dependencies import Links
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Details, Priority, Status, Task
from toryo.storage.tasks import Tasks
from toryo.storage.transaction import Transaction

READS = {"find", "find_all", "tree", "trees", "idle", "linked"}
"""Answered from what is remembered."""
WRITES = {"add", "save", "connect", "disconnect"}
"""Change what is remembered, too."""
IN_SQL = {
    *("details", "details_of", "save_details"),  # nothing of these is remembered
    *("roots_in_progress", "blocked", "busy", "at_work", "listed", "near", "correlated", "requests"),
    *("depends_on", "dependants"),
}
"""Asked of the rows, which are never behind."""


def test_of_everything_that_can_be_asked_it_is_known_whether_it_is_remembered() -> None:
    assert {var for var in vars(Tasks) if not var.startswith("_")} == READS | WRITES | IN_SQL


def seen(tree: Tree) -> tuple[object, ...]:
    children = {each.id: tree.children(each) for each in tree.tasks.values()}
    edges = {each: sorted(ids) for each, ids in tree.depends_on.items() if ids}
    return tree.tasks, children, edges, tree.outside


def links(found: dict[str, Links]) -> dict[str, tuple[list[str], list[str], str | None]]:
    return {task_id: (sorted(of.dependencies), sorted(of.children), of.parent) for task_id, of in found.items()}


class Story:
    """A transaction in which tasks are added, changed and connected at random; one that remembers, one that reads."""

    def __init__(self, tx: Transaction, seed: int) -> None:
        self.chance = random.Random(seed)
        self.read = tx.tasks
        tx.remember_tasks()
        self.tasks = tx.tasks
        self.old: list[Task] = []
        """Versions that have been seen: some are no longer the newest."""

    def add(self) -> None:
        parent = self.chance.choice([None, *self.old]) if len(self.old) > 2 else None
        made = task(
            f"tsk_{len(self.old)}_{self.chance.random()}",
            parent,
            priority=self.chance.choice(list(Priority)),
            created_at=NOW - self.chance.randrange(3),
        )
        self.tasks.add(made, Details())
        self.old.append(made)

    def save(self) -> None:
        before = self.chance.choice(self.old)
        changes: list[dict[str, Any]] = [
            {},
            {"idle_launches": 1},
            {"status": Status.CANCELLED},
            {"priority": Priority.LOW},
            {"title": "New"},
        ]
        self.old.append(self.tasks.save(before, replace(before, **self.chance.choice(changes))))

    def connect(self) -> None:
        one, *others = self.chance.sample(self.old, 3)
        present = self.read.depends_on([one.id]).get(one.id, [])
        ids = {other.id for other in others} - {one.id}
        if self.chance.random() < 0.5:
            self.tasks.disconnect(one, sorted(ids | {*present[:1]}))
        else:
            self.tasks.connect(one, sorted(ids - {*present}))

    def look(self) -> None:
        asked = self.chance.sample(self.old, min(3, len(self.old)))
        ids = [each.id for each in asked]
        for each in asked:
            assert self.tasks.find(each.id) == self.read.find(each.id)
            assert seen(self.tasks.tree(each.root_id)) == seen(self.read.tree(each.root_id))
            told, stored = (sorted(of.idle(each.root_id), key=lambda task: task.id) for of in (self.tasks, self.read))
            assert told == stored
        told, stored = (sorted(of.find_all(ids), key=lambda task: task.id) for of in (self.tasks, self.read))
        assert told == stored
        assert links(self.tasks.linked(ids)) == links(self.read.linked(ids))


@pytest.mark.parametrize("seed", seeds(0, 3))
def test_what_is_remembered_is_what_is_stored(store: Store, seed: int) -> None:
    store.add_tasks(*(task(f"tsk_{each}") for each in "abc"))

    def work(tx: Transaction) -> None:
        story = Story(tx, seed)
        story.old = story.read.find_all(["tsk_a", "tsk_b", "tsk_c"])
        for _ in range(200):
            story.chance.choice((story.add, story.save, story.connect, story.look))()
        story.look()

    store.write(work)


def test_a_transaction_that_remembers_reads_a_tree_once(store: Store) -> None:
    store.add_tasks(task("tsk_a"), task("tsk_b", task("tsk_a")))

    def work(tx: Transaction) -> None:
        tx.remember_tasks()
        first = tx.tasks.tree("tsk_a")
        assert tx.tasks.tree("tsk_a") is first
        assert tx.tasks.find("tsk_b") is first.tasks["tsk_b"]

    store.write(work)

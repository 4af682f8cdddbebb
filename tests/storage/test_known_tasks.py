"""What a transaction knows of tasks is what stands in their rows, whatever it has changed."""

from __future__ import annotations

import random
from contextlib import suppress
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

pytestmark = pytest.mark.both

READS = {"find", "find_all", "tree", "trees", "details", "details_of", "idle", "linked", "depends_on", "dependants"}
"""Answered from what is known, and compared with the rows below."""
WRITES = {"add", "save", "save_details", "connect", "disconnect"}
"""Change what is known, too."""
OF_MANY = {"file", "start", "end", "put_before"}
"""Write rows; what is known of them is read again."""
IN_SQL = {"asking_changes", "reviewed_by", "open_reviews", "newest_reviews", "reviews_to_look_after"} | {
    *("ready_in_line", "ready_by_project", "before_in_line", "lines", "pools_in_line"),
    "roots_in_progress",
    "blocked",
    "busy",
    "at_work",
    "correlated",
    "budgeted",
    "budgeted_root",
    "review_waiting_for",
    "have_a_line",
    "left_lines",
    "pools",
    "ready_in_pool",
    *("due", "next_due"),
    "queued_behind",
}
"""Asked of the rows, which are written before."""


def test_of_everything_that_can_be_asked_it_is_known_whether_it_is_compared() -> None:
    assert {var for var in vars(Tasks) if not var.startswith("_")} == READS | WRITES | OF_MANY | IN_SQL | {"kept"}


def seen(tree: Tree) -> tuple[object, ...]:
    children = {each.id: tree.children(each) for each in tree.tasks.values()}
    edges = {each: sorted(ids) for each, ids in tree.depends_on.items() if ids}
    return tree.tasks, children, edges, tree.outside


def links(found: dict[str, Links]) -> dict[str, tuple[list[str], list[str], str | None]]:
    return {task_id: (sorted(of.dependencies), sorted(of.children), of.parent) for task_id, of in found.items()}


class Story:
    """A transaction in which tasks are added, changed and connected at random; and what its rows say."""

    def __init__(self, tx: Transaction, seed: int) -> None:
        self.chance = random.Random(seed)
        self.unit, self.savepoint = tx.connection.unit, tx.connection.savepoint
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
        self.tasks.add(made, Details(description=made.id, context={"made": (1, 2)}))
        if parent is not None and (now := self.tasks.find(parent.id)) is not None:
            self.tasks.save(now, replace(now, children_ever=now.children_ever + 1))
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
        present = self.tasks.depends_on([one.id]).get(one.id, [])
        ids = {other.id for other in others} - {one.id}
        if self.chance.random() < 0.5:
            self.tasks.disconnect(one, sorted(ids | {*present[:1]}))
        else:
            self.tasks.connect(one, sorted(ids - {*present}))

    def describe(self) -> None:
        one = self.chance.choice(self.old)
        self.tasks.save_details(one.id, context={"number": self.chance.random()}, error="none")

    def part(self) -> None:
        """A part of the transaction, which is undone or not."""
        kept = list(self.old)
        with suppress(ZeroDivisionError), self.savepoint():
            for _ in range(self.chance.randrange(6)):
                self.chance.choice((self.add, self.save, self.connect, self.describe, self.know))()
            if self.chance.random() < 0.5:
                self.old = kept
                raise ZeroDivisionError

    def know(self) -> None:
        """Reads something, so that it is known from now on."""
        one = self.chance.choice(self.old)
        self.chance.choice(
            (
                lambda: self.tasks.find(one.id),
                lambda: self.tasks.tree(one.root_id),
                lambda: self.tasks.details(one.id),
                lambda: self.tasks.dependants(one.id),
                lambda: self.tasks.idle(one.root_id),
            )
        )()

    def look(self) -> None:
        asked = self.chance.sample(self.old, min(3, len(self.old)))
        told = self.answers(asked)
        self.unit.flush()
        self.unit.forget()
        assert told == self.answers(asked)

    def answers(self, asked: list[Task]) -> list[Any]:
        ids = [each.id for each in asked]
        found: list[Any] = [self.tasks.find_all(ids), links(self.tasks.linked(ids))]
        for each in asked:
            found += [self.tasks.find(each.id), self.tasks.details(each.id), seen(self.tasks.tree(each.root_id))]
            found += [sorted(self.tasks.idle(each.root_id), key=lambda task: task.id)]
            found += [sorted(self.tasks.depends_on([each.id]).items()), sorted(self.tasks.dependants(each.id))]
        return found


@pytest.mark.parametrize("seed", seeds(0, 3))
def test_what_is_remembered_is_what_is_stored(store: Store, seed: int) -> None:
    store.add_tasks(*(task(f"tsk_{each}") for each in "abc"))

    def work(tx: Transaction) -> None:
        story = Story(tx, seed)
        story.old = story.tasks.find_all(["tsk_a", "tsk_b", "tsk_c"])
        steps = (story.add, story.save, story.connect, story.describe, story.know, story.part, story.look)
        for _ in range(300):
            story.chance.choice(steps)()
        story.look()

    store.write(work)


def test_a_transaction_reads_a_tree_once(store: Store) -> None:
    store.add_tasks(task("tsk_a"), task("tsk_b", task("tsk_a")))

    def work(tx: Transaction) -> None:
        first = tx.tasks.tree("tsk_a")
        assert tx.tasks.tree("tsk_a") is first
        assert tx.tasks.find("tsk_b") is first.tasks["tsk_b"]

    store.write(work)

"""Stories of a crew that are told one after the other, whatever happens to it meanwhile: a lead follows a playbook with
four parts that depend on one another, and workers carry them out as commands. What the crew promises about them is
asked in `promises_broken`.
"""

from __future__ import annotations

from typing import Any

from tests import invariants
from tests.scenarios.sites import Site, until_there
from tests.stories import rows_of
from toryo.storage import integrity
from toryo.storage.engine.database import Database
from toryo.storage.open_database import open_database

PROJECT = "storm"
PARTS = {"one": [], "two": [], "three": ["one"], "four": ["two", "three"]}
"""Of each story, with what each part depends on."""
WITHOUT_DATABASE_SECONDS = 120.0
NO_BLAME = {"TORYO_GUARDS__IDLE_LAUNCHES": "1000", "TORYO_SESSION__LEASE": "10"}
"""For sites: a guard gives up on tasks whose launches make no progress; here that is nobody's fault, however often it
happens. Who is killed while no Coordinator sees it is missed when its lease is over.
"""


class Stories:
    """`keep_busy` files as many as are told at once; Coordinators are the caller's."""

    def __init__(self, site: Site, *, workers: int = 3, at_once: int = 2) -> None:
        self.site, self.workers, self.at_once = site, workers, at_once
        self.told: list[str] = []
        """Main tasks of those that were acknowledged."""
        site.project(PROJECT, commands_from="managers")
        site.lead("lead", PROJECT, plans=[_plan()], max_parallel_tasks=at_once)
        for number in range(workers):
            site.hire(f"hand-{number}", PROJECT, reports_to="lead")

    def keep_busy(self, most: int | None = None) -> None:
        """Up to so many in all."""
        while len(self.open()) < self.at_once and (most is None or len(self.told) < most):
            self.told.append(self._filed(f"Story {len(self.told)}"))

    def open(self) -> list[str]:
        done = {each["task_id"] for each in self.site.history.of("task.completed")}
        return [story for story in self.told if story not in done]

    def until_told(self, many: int, within: float = 200.0) -> None:
        """So many are completed; the next one is filed as soon as one is."""

        def done() -> bool:
            self.keep_busy(most=many)
            return len(self.told) == many and not self.open()

        self.site.until(f"{many} stories are completed", done, within)

    def calm_down(self, within: float = 200.0) -> None:
        """Those that were begun are completed, and nobody is at work any more."""
        self.site.until("all stories are completed", lambda: not self.open(), within)
        self.site.until("nobody is at work", lambda: not self.site.sessions() and not self.site.agents())

    def promises_broken(self) -> list[str]:
        """Everything that must not be, when all is calm."""
        history, tasks = self.site.history, self.site.tasks(PROJECT)
        return [
            *(f"{each['task_id']} is {each['status']}" for each in tasks.values() if each["status"] != "completed"),
            *(f"{story} was acknowledged and is not there" for story in self._lost(tasks)),
            *([f"{len(tasks)} tasks of {len(self.told)} stories"] if len(tasks) != self._all() else []),
            *(f"{each} was completed twice" for each in history.completed_twice()),
            *history.double_launches(),
            *(f"{each['kind']} of {each['task_id']}" for each in history.of("task.blocked", "task.failed")),
            *(f"lost event {each}" for each in history.lost()),
        ]

    def _all(self) -> int:
        return len(self.told) * (1 + len(PARTS))

    def _lost(self, tasks: dict[str, dict[str, Any]]) -> set[str]:
        return set(self.told) - {each["task_id"] for each in tasks.values()}

    def _filed(self, title: str) -> str:
        """Once, also where the server does not know whether it has kept it."""

        def attempt() -> str:
            found = self.site.tasks(PROJECT).get(title) if self._doubtful else None
            self._doubtful = True
            return (
                found["task_id"] if found else self.site.file(PROJECT, title, assignee_id="lead", status="in_progress")
            )

        self._doubtful = False
        return until_there(attempt, WITHOUT_DATABASE_SECONDS)

    _doubtful = False


def rules_broken(database_url: str) -> list[str]:
    """Every rule of `tests/invariants.py` that does not hold in this database, and what its own check finds. Beside a
    server that uses it: PostgreSQL, or a server that has ended.
    """
    with open_database(database_url, exclusive=False) as database:
        return [*invariants.broken(_Look(database)), *(str(each) for each in database.read(integrity.check))]


class _Look:
    """As much of a `World` as the rules read."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        return rows_of(self.database)


def _plan() -> dict[str, object]:
    parts = [
        {
            "id": name,
            "title": f"Part {name} of {{{{title}}}}",
            "depends_on": depends_on,
            "context": {"command": f"sleep 0.4; echo {{{{title}}}} >> {name}", "outputs": [name]},
        }
        for name, depends_on in PARTS.items()
    ]
    return {"match": "Story .*", "subtasks": parts}

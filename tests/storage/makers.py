"""Nouns with every field filled, and a database with a project and three agents: for the tests of the aggregates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from toryo.domain.agents import Agent, Kind, Role
from toryo.domain.agents import Status as AgentStatus
from toryo.domain.launches import Launch, Purpose, State
from toryo.domain.projects import Project, Settings
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.sessions import Session
from toryo.domain.tasks import Approval, Details, Priority, Status, Task
from toryo.storage.engine.database import Database
from toryo.storage.transaction import Transaction

Answer = TypeVar("Answer")
NOW = 1_800_000_000_000


def project(project_id: str = "prj_1", **more: Any) -> Project:
    values: dict[str, Any] = {
        "id": project_id,
        "name": "House",
        "description": "a house",
        "status": ProjectStatus.ACTIVE,
        "working_directory": "/work",
        "settings": Settings(),
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Project(**{**values, **more})


def agent(agent_id: str, **more: Any) -> Agent:
    values: dict[str, Any] = {
        "id": agent_id,
        "name": agent_id,
        "kind": Kind.AI,
        "role": Role.WORKER,
        "reports_to": None,
        "status": AgentStatus.ACTIVE,
        "provider": "claude",
        "model": None,
        "agent_type": None,
        "capabilities": ("python", "日本語"),
        "max_parallel_tasks": 1,
        "system_prompt": "You build.",
        "provider_options": {"max_turns": 3},
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Agent(**{**values, **more})


def task(task_id: str, parent: Task | None = None, **more: Any) -> Task:
    values: dict[str, Any] = {
        "id": task_id,
        "project_id": "prj_1",
        "root_id": parent.root_id if parent else task_id,
        "parent_id": parent.id if parent else None,
        "depth": parent.depth + 1 if parent else 1,
        "ordinal": 0,
        "title": task_id,
        "status": Status.TODO,
        "priority": Priority.MEDIUM,
        "assignee_id": None,
        "agent_type": None,
        "created_by": "boss",
        "approval": Approval.APPROVED,
        "created_at": NOW,
        "updated_at": NOW,
        "moved_at": NOW,
    }
    made = Task(**{**values, **more})
    return made if "line_at" in more else made.aged()


def launch(launch_id: str, **more: Any) -> Launch:
    values: dict[str, Any] = {
        "id": launch_id,
        "agent_id": "w1",
        "project_id": "prj_1",
        "purpose": Purpose.TASK,
        "task_id": None,
        "reason": "has_in_progress_task",
        "fence": 1,
        "state": State.ORDERED,
        "provider": "claude",
        "model": None,
        "coordinator_id": "c1",
        "ordered_at": NOW,
        "deadline": NOW + 1000,
    }
    return Launch(**{**values, **more})


def session(session_id: str, launch_id: str, **more: Any) -> Session:
    values: dict[str, Any] = {
        "id": session_id,
        "agent_id": "w1",
        "project_id": "prj_1",
        "purpose": Purpose.TASK,
        "task_id": None,
        "launch_id": launch_id,
        "fence": 1,
        "lease_seconds": 90,
        "expires_at": NOW + 90_000,
        "created_at": NOW,
        "last_call_at": NOW,
        "heard_at": NOW,
        "patience": 1_800_000,
    }
    return Session(**{**values, **more})


class Store:
    """A database with a project and three agents; each question in a transaction of its own."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.write(self._people)

    def _people(self, tx: Transaction) -> None:
        tx.projects.add(project())
        tx.agents.add(agent("boss", role=Role.MANAGER), "hash-of-boss")
        for each in ("w1", "w2"):
            tx.agents.add(agent(each, reports_to="boss", created_at=NOW + 1), f"hash-of-{each}")
            tx.agents.join("prj_1", each, NOW)

    def write(self, work: Callable[[Transaction], Answer]) -> Answer:
        return self.database.write(lambda connection: work(Transaction(connection)))

    def each(self, *works: Callable[[Transaction], Any]) -> None:
        """Each in a transaction of its own."""
        for work in works:
            self.write(work)

    def read(self, work: Callable[[Transaction], Answer]) -> Answer:
        return self.database.read(lambda connection: work(Transaction(connection)))

    def add_tasks(self, *made: Task) -> None:
        for each in made:
            self.write(partial(_add_task, each))


def _add_task(made: Task, tx: Transaction) -> None:
    tx.tasks.add(made, Details())

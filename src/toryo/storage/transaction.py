"""One transaction as operations see it: the aggregates, the events it collects, and the hints it will publish."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from toryo.domain.measures import Measure
from toryo.storage import statistics
from toryo.storage.agents import Agents
from toryo.storage.artifacts import Artifacts
from toryo.storage.chat import Chats
from toryo.storage.conflict_forecast import ConflictForecast
from toryo.storage.coordinators import Coordinators
from toryo.storage.engine.database import Connection
from toryo.storage.events import Events
from toryo.storage.handover import Handovers
from toryo.storage.idempotency_keys import IdempotencyKeys
from toryo.storage.launches import Launches
from toryo.storage.measures import database_bytes, measures
from toryo.storage.memories import Memories
from toryo.storage.merge_queue import MergeQueue
from toryo.storage.needs import Needs
from toryo.storage.notices import Notices
from toryo.storage.overview import Overview
from toryo.storage.people import People
from toryo.storage.projects import Projects
from toryo.storage.push import Push
from toryo.storage.questions import Questions
from toryo.storage.queues import Queues
from toryo.storage.quota_windows import QuotaWindows
from toryo.storage.retention import Retention
from toryo.storage.saved_views import SavedViews
from toryo.storage.sessions import Sessions
from toryo.storage.sources import Schedules, Webhooks
from toryo.storage.stored_amounts import Due, StoredAmounts
from toryo.storage.stored_measures import measure
from toryo.storage.task_lists import TaskLists
from toryo.storage.task_templates import TaskTemplates
from toryo.storage.tasks import Tasks
from toryo.storage.threads import Threads
from toryo.storage.tokens import Tokens
from toryo.storage.usages import Usages
from toryo.storage.worktrees import Worktrees

EVERYTHING = "everything"
"""The lock that operations on several projects take exclusively and those on one project share."""


A = TypeVar("A")


class _Aggregate(Generic[A]):
    """Makes an aggregate of the transaction when it is first used: most calls use a few of them."""

    def __init__(self, make: Callable[[Connection], A]) -> None:
        self._make = make

    def __set_name__(self, owner: type[Transaction], name: str) -> None:
        self._name = name

    def __get__(self, transaction: Transaction, owner: type[Transaction]) -> A:
        made = transaction.__dict__[self._name] = self._make(transaction.connection)
        return made


class Transaction:
    projects = _Aggregate(Projects)
    agents = _Aggregate(Agents)
    tasks = _Aggregate(Tasks)
    task_lists = _Aggregate(TaskLists)
    sessions = _Aggregate(Sessions)
    stored_amounts = _Aggregate(StoredAmounts)
    launches = _Aggregate(Launches)
    artifacts = _Aggregate(Artifacts)
    glances = _Aggregate(Overview)
    events = _Aggregate(Events)
    handovers = _Aggregate(Handovers)
    chat = _Aggregate(Chats)
    coordinators = _Aggregate(Coordinators)
    idempotency_keys = _Aggregate(IdempotencyKeys)
    threads = _Aggregate(Threads)
    tokens = _Aggregate(Tokens)
    memories = _Aggregate(Memories)
    needs = _Aggregate(Needs)
    notices = _Aggregate(Notices)
    people = _Aggregate(People)
    push = _Aggregate(Push)
    queues = _Aggregate(Queues)
    retention = _Aggregate(Retention)
    saved_views = _Aggregate(SavedViews)
    questions = _Aggregate(Questions)
    schedules = _Aggregate(Schedules)
    webhooks = _Aggregate(Webhooks)
    merge_queue = _Aggregate(MergeQueue)
    conflict_forecast = _Aggregate(ConflictForecast)
    usages = _Aggregate(Usages)
    quota_windows = _Aggregate(QuotaWindows)
    task_templates = _Aggregate(TaskTemplates)
    worktrees = _Aggregate(Worktrees)

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.hints: set[str] = set()

    def measures(self) -> list[Measure]:
        """Metrics by name and labels."""
        return measures(self.connection)

    def database_bytes(self) -> int:
        """Size of the database, without the write-ahead log."""
        return database_bytes(self.connection)

    def measured_bytes(self, due: Due) -> int:
        """What is there of what was counted. Reads every row of the project."""
        return measure(self.connection, due)

    def collect_statistics(self) -> None:
        statistics.collect(self.connection)

    def hint(self, *topics: str) -> None:
        """Wakes the calls that wait for these topics, after the commit."""
        self.hints.update(topics)

    def lock_project(self, project_id: str) -> bool:
        """Locks a project against other writers; True if earlier reads may be stale.

        All rules of a decision concern one project, so serialising per project is sufficient.
        """
        return self.lock_projects([project_id])

    def lock_projects(self, project_ids: Iterable[str]) -> bool:
        """As `lock_project`, for several at once, with as many statements as for one."""
        return self.connection.lock_within(EVERYTHING, [f"project {project_id}" for project_id in sorted(project_ids)])

    def lock_everything(self) -> bool:
        """For operations on several projects: agents, memberships, housekeeping."""
        return self.connection.lock(EVERYTHING)

    @property
    def wrote(self) -> bool:
        """Whether anything was changed, written yet or not."""
        return self.connection.wrote or self.connection.unit.unwritten

"""The merge queue, as rows: its entries, and what people have set for the queue of a project."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from toryo.domain.merge_queue import Entry, Queue
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, by_index, in_list, upsert
from toryo.storage.rows import Rows

_e, _q = schema.merge_queue_entries, schema.merge_queues
_p = sa.bindparam

ENTRIES = Rows(Entry, _e)
QUEUES = Rows(Queue, _q)

_waits: sa.ColumnElement[bool] = sa.literal_column("state IN ('queued', 'checking')")
_came_back: sa.ColumnElement[bool] = sa.literal_column("state IN ('failed', 'conflict') AND changes_task_id IS NULL")
_WAITING = by_index(ENTRIES.select(), _e, "merge_queue_entries_waiting").where(_waits)
_ALL_WAITING = Statement(_WAITING.order_by(_e.c.project_id, _e.c.position, _e.c.id))
_OF_PROJECT = Statement(_WAITING.where(_e.c.project_id == _p("project_id")).order_by(_e.c.position, _e.c.id))
_WAITING_TASKS = Statement(
    by_index(sa.select(_e.c.task_id), _e, "merge_queue_entries_of_task").where(_waits, in_list(_e.c.task_id, "ids"))
)
_OF_TASKS = Statement(
    ENTRIES.select().where(in_list(_e.c.task_id, "ids")).order_by(_e.c.task_id, _e.c.added_at, _e.c.id)
)
_RETURNED = Statement(
    by_index(ENTRIES.select(), _e, "merge_queue_entries_returned").where(_came_back).order_by(_e.c.ended_at, _e.c.id)
)
_ENDED = Statement(
    ENTRIES.select()
    .where(_e.c.project_id == _p("project_id"), _e.c.ended_at.is_not(None))
    .order_by(_e.c.ended_at.desc(), _e.c.id.desc())
    .limit(_p("most", type_=sa.Integer))
)
_LAST_PLACE = Statement(
    sa.select(sa.func.coalesce(sa.func.max(_e.c.position), 0)).where(_e.c.project_id == _p("project_id"), _waits)
)
_PUT = upsert(_e, ENTRIES.names, ["id"], [name for name in ENTRIES.names if name != "id"])
_QUEUE = Statement(QUEUES.select().where(_q.c.project_id == _p("project_id")))
_PUT_QUEUE = upsert(_q, QUEUES.names, ["project_id"], [name for name in QUEUES.names if name != "project_id"])


class MergeQueue:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def waiting(self) -> list[Entry]:
        """What is in the queue of any project, in order."""
        return ENTRIES.nouns(self._connection.all(_ALL_WAITING))

    def waiting_in(self, project_id: str) -> list[Entry]:
        """In order."""
        return ENTRIES.nouns(self._connection.all(_OF_PROJECT, project_id=project_id))

    def waiting_among(self, task_ids: Iterable[str]) -> set[str]:
        """The tasks of these whose work is in the queue."""
        return {task_id for (task_id,) in self._connection.all(_WAITING_TASKS, ids=sorted(task_ids))}

    def of_tasks(self, task_ids: Iterable[str]) -> dict[str, Entry]:
        """The newest entry of each of these tasks."""
        found = ENTRIES.nouns(self._connection.all(_OF_TASKS, ids=sorted(task_ids)))
        return {entry.task_id: entry for entry in found}

    def returned(self) -> list[Entry]:
        """Entries that came back and that no agent corrects, oldest first."""
        return ENTRIES.nouns(self._connection.all(_RETURNED))

    def ended(self, project_id: str, most: int) -> list[Entry]:
        """What is no longer in the queue, newest first."""
        return ENTRIES.nouns(self._connection.all(_ENDED, project_id=project_id, most=most))

    def last_place(self, project_id: str) -> int:
        place: int = self._connection.value(_LAST_PLACE, project_id=project_id)
        return place

    def put(self, *entries: Entry) -> None:
        for entry in entries:
            self._connection.run(_PUT, **ENTRIES.values(entry))

    def queue(self, project_id: str) -> Queue:
        found = QUEUES.one(self._connection.one(_QUEUE, project_id=project_id))
        return found if found is not None else Queue(project_id)

    def put_queue(self, queue: Queue) -> None:
        self._connection.run(_PUT_QUEUE, **QUEUES.values(queue))

"""Who changes a project has locked it: looked for in every test of this folder, at each event that is written.

On SQLite, where the writer is alone, a call that does not lock behaves as one that does. On PostgreSQL it decides by
rows that another server changes meanwhile, which no test sees unless it stops a call at the right moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from unittest.mock import patch
from weakref import WeakKeyDictionary

from toryo.storage.engine.database import Connection
from toryo.storage.events import Events
from toryo.storage.transaction import EVERYTHING, Transaction

ALL = (EVERYTHING,)


@contextmanager
def watched() -> Iterator[list[str]]:
    """What was written without a lock, in words."""
    held: WeakKeyDictionary[Connection, set[str]] = WeakKeyDictionary()
    missing: list[str] = []
    begin, lock_projects, lock_everything = Transaction.__init__, Transaction.lock_projects, Transaction.lock_everything
    flush = Events.flush

    def begins(self: Transaction, connection: Connection) -> None:
        begin(self, connection)
        held[connection] = set()

    def locks(self: Transaction, project_ids: Iterable[str]) -> bool:
        project_ids = [*project_ids]
        held[self.connection].update(project_ids)
        return lock_projects(self, project_ids)

    def locks_everything(self: Transaction) -> bool:
        held[self.connection].update(ALL)
        return lock_everything(self)

    def flushes(self: Events) -> None:
        locked = held.get(self._connection, set())
        missing.extend(
            f"{event.kind} of {event.project_id}"
            for event in self.collected
            if event.project_id is not None and locked.isdisjoint((event.project_id, *ALL))
        )
        flush(self)

    with (
        patch.object(Transaction, "__init__", begins),
        patch.object(Transaction, "lock_projects", locks),
        patch.object(Transaction, "lock_everything", locks_everything),
        patch.object(Events, "flush", flushes),
    ):
        yield missing

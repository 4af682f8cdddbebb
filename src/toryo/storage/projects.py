"""Projects, as rows. They are remembered between transactions (`engine/directory_memory.py`)."""

from __future__ import annotations

from functools import lru_cache

import sqlalchemy as sa

from toryo.domain.projects import Project, Settings
from toryo.domain.times import Millis
from toryo.sandbox_network import Network
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.directory_memory import remembered
from toryo.storage.engine.statements import Statement
from toryo.storage.rows import Rows, save_changes
from toryo.storage.tables import from_json, to_json

_t = schema.projects


@lru_cache(maxsize=1024)
def _settings_of(text: str) -> Settings:
    """Parses settings; cached, because they rarely change.

    All are stored with a new project, so one without `network` is of before there was that setting: it keeps the open
    network.
    """
    return Settings().changed({"network": Network.OPEN, **(from_json(text) or {})})


ROWS = Rows(Project, _t, {"settings": (lambda settings: to_json(settings.values()), _settings_of)})
_ONE = Statement(ROWS.select().where(_t.c.id == sa.bindparam("id")))
_ALL = Statement(ROWS.select().order_by(_t.c.created_at, _t.c.id))
_PAUSED = Statement(sa.select(_t.c.paused_at).where(_t.c.paused_at.is_not(None)))
_ADD = Statement(sa.insert(_t), columns=ROWS.names)


class Projects:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @remembered
    def find(self, project_id: str) -> Project | None:
        return ROWS.one(self._connection.one(_ONE, id=project_id))

    @remembered
    def all(self) -> tuple[Project, ...]:
        return tuple(ROWS.nouns(self._connection.all(_ALL)))

    @remembered
    def paused(self) -> tuple[Millis, ...]:
        """When each paused or archived project was paused."""
        return tuple(row[0] for row in self._connection.all(_PAUSED))

    def add(self, project: Project) -> None:
        self._connection.run(_ADD, **ROWS.values(project))

    def save(self, before: Project, after: Project) -> None:
        save_changes(self._connection, _t, ROWS, before, after)

"""Templates of task trees, as rows."""

from __future__ import annotations

import sqlalchemy as sa

from toryo.domain.task_templates import TaskTemplate
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, upsert
from toryo.storage.rows import Rows

_t = schema.task_templates
_p = sa.bindparam
ROWS = Rows(TaskTemplate, _t)
_KEY = ("project_id", "name")
_is_it = (_t.c.project_id == _p("project_id"), _t.c.name == _p("name"))
_PUT = upsert(_t, ROWS.names, _KEY, [each for each in ROWS.names if each not in _KEY])
_ONE = Statement(ROWS.select().where(*_is_it))
_OF_PROJECT = Statement(ROWS.select().where(_t.c.project_id == _p("project_id")).order_by(_t.c.name))
_DROP = Statement(sa.delete(_t).where(*_is_it))


class TaskTemplates:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, project_id: str, name: str) -> TaskTemplate | None:
        found = self._connection.one(_ONE, project_id=project_id, name=name)
        return ROWS.one(found)

    def of_project(self, project_id: str) -> list[TaskTemplate]:
        """By name."""
        return list(ROWS.nouns(self._connection.all(_OF_PROJECT, project_id=project_id)))

    def put(self, template: TaskTemplate) -> None:
        self._connection.run(_PUT, **ROWS.values(template))

    def drop(self, project_id: str, name: str) -> None:
        self._connection.run(_DROP, project_id=project_id, name=name)

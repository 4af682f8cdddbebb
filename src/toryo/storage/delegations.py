"""Delegations, as rows."""

from __future__ import annotations

import sqlalchemy as sa

from toryo.domain.delegations import Delegation
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.rows import Rows, save_changes

_d = schema.delegations
_p = sa.bindparam

DELEGATIONS = Rows(Delegation, _d)

is_undone: sa.ColumnElement[bool] = sa.literal_column("status IN ('pending', 'processing')")
_ADD_DELEGATION = Statement(sa.insert(_d), columns=DELEGATIONS.names)
_DELEGATION = Statement(DELEGATIONS.select().where(_d.c.id == _p("id")))
_OPEN_OF_AGENT = Statement(
    DELEGATIONS.select()
    .where(_d.c.project_id == _p("project_id"), _d.c.agent_id == _p("agent_id"), is_undone)
    .order_by(_d.c.created_at, _d.c.id)
)
_DELEGATIONS_OF_TASK = Statement(
    DELEGATIONS.select().where(_d.c.task_id == _p("task_id")).order_by(_d.c.created_at, _d.c.id)
)
_AWAITED = Statement(
    sa.select(_d.c.task_id, sa.func.count())
    .where(_d.c.root_id == _p("root_id"), is_undone, _d.c.await_result)
    .group_by(_d.c.task_id)
)
_ALL_OPEN_DELEGATIONS = Statement(DELEGATIONS.select().where(is_undone).order_by(_d.c.created_at, _d.c.id))


class Delegations:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add_delegation(self, delegation: Delegation) -> None:
        self._connection.run(_ADD_DELEGATION, **DELEGATIONS.values(delegation))

    def delegation(self, delegation_id: str) -> Delegation | None:
        return DELEGATIONS.one(self._connection.one(_DELEGATION, id=delegation_id))

    def save_delegation(self, before: Delegation, after: Delegation) -> None:
        save_changes(self._connection, _d, DELEGATIONS, before, after)

    def open_delegations(self, project_id: str, agent_id: str) -> list[Delegation]:
        """Oldest first."""
        return DELEGATIONS.nouns(self._connection.all(_OPEN_OF_AGENT, project_id=project_id, agent_id=agent_id))

    def delegations_of_task(self, task_id: str) -> list[Delegation]:
        return DELEGATIONS.nouns(self._connection.all(_DELEGATIONS_OF_TASK, task_id=task_id))

    def awaited(self, root_id: str) -> dict[str, int]:
        """Number of open delegations with an awaited result, by main task, in one tree."""
        return {row[0]: int(row[1]) for row in self._connection.all(_AWAITED, root_id=root_id)}

    def all_open_delegations(self) -> list[Delegation]:
        return DELEGATIONS.nouns(self._connection.all(_ALL_OPEN_DELEGATIONS))

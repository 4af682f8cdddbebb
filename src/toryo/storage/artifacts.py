"""Files that acceptance checks leave as evidence, as rows: what they are, and their bytes in pieces."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from toryo.domain.artifacts import Artifact
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, in_list
from toryo.storage.rows import Rows

_t, _c = schema.artifacts, schema.artifact_pieces
_p = sa.bindparam
ROWS = Rows(Artifact, _t)
_ONE = Statement(ROWS.select().where(_t.c.id == _p("id")))
_OF_CHECK = Statement(ROWS.select().where(_t.c.check_id == _p("check_id")).order_by(_t.c.place, _t.c.name))
_ended = sa.exists().where(schema.checks.c.id == _t.c.check_id, schema.checks.c.finished_at.is_not(None))
_OF_TASK = Statement(
    ROWS.select()
    .where(_t.c.task_id == _p("task_id"), _ended)
    .order_by(_t.c.check_id.desc(), _t.c.place, _t.c.name)
    .limit(_p("limit", type_=sa.Integer))
)
_after = sa.or_(
    _t.c.check_id < _p("check_id"),
    sa.and_(
        _t.c.check_id == _p("check_id"),
        sa.or_(_t.c.place > _p("place"), sa.and_(_t.c.place == _p("place"), _t.c.name > _p("name"))),
    ),
)
_NEXT_OF_TASK = Statement(
    ROWS.select()
    .where(_t.c.task_id == _p("task_id"), _ended, _after)
    .order_by(_t.c.check_id.desc(), _t.c.place, _t.c.name)
    .limit(_p("limit", type_=sa.Integer))
)
_CHECKS_WITH_SOME = Statement(
    sa.select(_t.c.check_id).where(_t.c.task_id == _p("task_id")).distinct().order_by(_t.c.check_id.desc())
)
_ADD = Statement(sa.insert(_t), columns=ROWS.names)
_ADD_PIECE = Statement(sa.insert(_c), columns=["artifact_id", "start", "content"])
_ARRIVED = Statement(
    sa.select(_c.c.artifact_id, sa.func.sum(sa.func.length(_c.c.content)))
    .where(in_list(_c.c.artifact_id, "ids"))
    .group_by(_c.c.artifact_id)
)
_CONTENT = Statement(sa.select(_c.c.content).where(_c.c.artifact_id == _p("id")).order_by(_c.c.start))
_DELETE_PIECES = Statement(sa.delete(_c).where(in_list(_c.c.artifact_id, "ids")))
_DELETE = Statement(sa.delete(_t).where(in_list(_t.c.id, "ids")))


class Artifacts:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, artifact_id: str) -> Artifact | None:
        return ROWS.one(self._connection.one(_ONE, id=artifact_id))

    def of_check(self, check_id: str) -> list[Artifact]:
        return ROWS.nouns(self._connection.all(_OF_CHECK, check_id=check_id))

    def of_task(self, task_id: str, limit: int, after: tuple[str, int, str] | None = None) -> list[Artifact]:
        """Those of the newest run of its checks first, of runs that have ended: all of these are whole. `after`: check,
        place and name of the last one shown."""
        if after is None:
            return ROWS.nouns(self._connection.all(_OF_TASK, task_id=task_id, limit=limit))
        check_id, place, name = after
        given = {"check_id": check_id, "place": place, "name": name}
        return ROWS.nouns(self._connection.all(_NEXT_OF_TASK, task_id=task_id, limit=limit, **given))

    def checks_with_some(self, task_id: str) -> list[str]:
        """The runs of a task's checks that have left any; newest first."""
        return [row[0] for row in self._connection.all(_CHECKS_WITH_SOME, task_id=task_id)]

    def arrived(self, artifact_ids: Iterable[str]) -> dict[str, int]:
        """How many bytes of each are there; those without any are left out."""
        return {row[0]: int(row[1]) for row in self._connection.all(_ARRIVED, ids=list(artifact_ids))}

    def content(self, artifact_id: str) -> bytes:
        return b"".join(row[0] for row in self._connection.all(_CONTENT, id=artifact_id))

    def add(self, artifact: Artifact) -> None:
        self._connection.run(_ADD, **ROWS.values(artifact))

    def append(self, artifact_id: str, start: int, content: bytes) -> None:
        self._connection.run(_ADD_PIECE, artifact_id=artifact_id, start=start, content=content)

    def delete(self, artifact_ids: Iterable[str]) -> None:
        ids = list(artifact_ids)
        if ids:
            self._connection.run(_DELETE_PIECES, ids=ids)
            self._connection.run(_DELETE, ids=ids)

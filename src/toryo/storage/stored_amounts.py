"""How much each API key's holder, and each project, has stored: counted call by call, and measured now and then.

A count is never less than what is there: calls only add to it. What was deleted or completed since is taken off when it
is measured, which reads many rows: tasks when a limit is reached; bytes (`stored_measures.py`) once an hour, where half
of the limit is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import Millis
from toryo.storage import many_rows, schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, in_list

Owner = tuple[str, str]
"""A project, and who has stored something there."""
PROJECT = ""
"""The holder that stands for the keys and sessions of a project together."""

_s, _t = schema.stored_amounts, schema.tasks
_p = sa.bindparam
_AMOUNTS = Statement(
    sa.select(_s.c.project_id, _s.c.holder, _s.c.bytes, _s.c.tasks).where(
        in_list(_s.c.project_id, "projects"), in_list(_s.c.holder, "holders")
    )
)
_ADD = many_rows.add(_s, ["project_id", "holder"], ["bytes", "tasks"], ["measured_at"])
_TASKS_ARE = Statement(
    sa.update(_s)
    .where(_s.c.project_id == _p("this_project"), _s.c.holder == _p("this_holder"))
    .values(tasks=_p("tasks", type_=sa.BigInteger))
)
_OPEN = (
    sa.select(sa.func.count())
    .select_from(_t)
    .where(_t.c.project_id == _p("project_id"), sa.literal_column(schema.IS_OPEN))
)
_OPEN_OF_PROJECT = Statement(_OPEN)
_OPEN_OF_HOLDER = Statement(_OPEN.where(_t.c.created_by == _p("holder")))
_DUE = Statement(
    sa.select(_s.c.project_id, _s.c.holder, _s.c.bytes)
    .where(
        _s.c.bytes
        >= sa.case(
            (_s.c.holder == PROJECT, _p("of_project", type_=sa.BigInteger)), else_=_p("of_holder", type_=sa.BigInteger)
        ),
        _s.c.measured_at < _p("before"),
    )
    .limit(1)
)
_TAKE_OFF = Statement(
    sa.update(_s)
    .where(_s.c.project_id == _p("this_project"), _s.c.holder == _p("this_holder"))
    .values(
        bytes=_s.c.bytes - _p("gone", type_=sa.BigInteger),
        measured_at=_p("now", type_=sa.BigInteger),
    )
)


@dataclass(frozen=True, slots=True)
class Amount:
    bytes: int = 0
    tasks: int = 0
    """Open ones that were created."""

    def plus(self, more: Amount) -> Amount:
        return Amount(self.bytes + more.bytes, self.tasks + more.tasks)


@dataclass(frozen=True, slots=True)
class Due:
    """What must be measured: whose, and how much was counted before."""

    project_id: str
    holder: str
    counted: int


class StoredAmounts:
    """Change a project's under its lock only."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, owners: Iterable[Owner]) -> dict[Owner, Amount]:
        """Of these, and perhaps others; none for who has stored nothing yet."""
        projects, holders = (sorted(set(each)) for each in zip(*owners, strict=True))
        rows = self._connection.all(_AMOUNTS, projects=projects, holders=holders)
        return {(row[0], row[1]): Amount(row[2], row[3]) for row in rows}

    def add(self, more: Mapping[Owner, Amount]) -> None:
        rows = [(*owner, amount.bytes, amount.tasks, 0) for owner, amount in more.items()]
        _ADD.run(self._connection, rows)

    def open_tasks(self, project_id: str, holder: str) -> int:
        """Reads the index entry of each; of a project, those of all."""
        if holder == PROJECT:
            return int(self._connection.value(_OPEN_OF_PROJECT, project_id=project_id))
        return int(self._connection.value(_OPEN_OF_HOLDER, project_id=project_id, holder=holder))

    def tasks_are(self, project_id: str, holder: str, tasks: int) -> None:
        self._connection.run(_TASKS_ARE, this_project=project_id, this_holder=holder, tasks=tasks)

    def due(self, of_holder: int, of_project: int, before: Millis) -> Due | None:
        """One who has at least as many bytes, and was not measured since."""
        row: Any = self._connection.one(_DUE, of_holder=of_holder, of_project=of_project, before=before)
        return None if row is None else Due(row[0], row[1], row[2])

    def take_off(self, due: Due, measured: int, now: Millis) -> None:
        """What was counted before it was measured, and is gone; what was added meanwhile stays."""
        self._connection.run(
            _TAKE_OFF,
            this_project=due.project_id,
            this_holder=due.holder,
            gone=max(0, due.counted - measured),
            now=now,
        )

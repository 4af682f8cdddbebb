"""The condition for unread messages, used by the chat's badge and by needs."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from toryo.storage import schema
from toryo.storage.engine.statements import Statement

_m = schema.messages
_p = sa.bindparam


def is_unread(
    project_id: sa.ColumnElement[Any],
    thread: sa.ColumnElement[Any],
    seen: sa.ColumnElement[Any],
    person_id: sa.ColumnElement[Any],
) -> sa.ColumnElement[bool]:
    """Whether a message of a thread is addressed to a person and not yet seen; `seen` is how far they have read."""
    return sa.and_(
        _m.c.project_id == project_id,
        _m.c.thread == thread,
        _m.c.sequence > seen,
        _m.c.to_agent_id == person_id,
    )


COUNT = Statement(
    sa.select(sa.func.count()).where(is_unread(_p("project_id"), _p("thread"), _p("seen"), _p("person_id")))
)

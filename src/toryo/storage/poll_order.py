"""Which tasks a poll of a queue returns, and in which order: the ready ones, by priority, then age.

Ready: in `todo`, approved, without an open dependency or a closed parent, its retry time over. The order is that of
every list of tasks (`Task.order`). A claim checks again what is found here (`operations/queue/claims.py`), by the rules
of `domain/task_readiness.py`. Where the task stands alone (`ALONE` in `tasks.py`) it does not: then these rules ask for
nothing more than this, an active project, and an active member with room for the task.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from toryo.domain.queue import KEYLESS
from toryo.domain.tasks import CLOSED, Status
from toryo.storage import schema
from toryo.storage.engine.statements import Statement, by_index, in_list
from toryo.storage.tasks import FOUND, ORDER, is_budgeted
from toryo.storage.tasks import ROWS as TASKS

_t, _d = schema.tasks, schema.dependencies
_p = sa.bindparam

_wanted, _parent = _t.alias("wanted"), _t.alias("parent")
is_queued: sa.ColumnElement[bool] = sa.literal_column("tasks.status = 'todo' AND tasks.agent_type IS NOT NULL")
# Single values, where NOT EXISTS says the same: PostgreSQL would turn that into a join with all closed tasks while it
# believes that there are few.
_no_unmet = (
    sa.select(_d.c.depends_on)
    .select_from(_d.join(_wanted, _wanted.c.id == _d.c.depends_on))
    .where(_d.c.task_id == _t.c.id, _wanted.c.status != "completed")
    .limit(sa.literal_column("1"))
    .scalar_subquery()
    .is_(None)
)
_parent_is_open = sa.func.coalesce(
    sa.select(_parent.c.status).where(_parent.c.id == _t.c.parent_id).scalar_subquery(), sa.literal("todo")
).not_in([sa.literal(each.value) for each in Status if each in CLOSED])


def ready(project_id: Any, agent_type: Any, now: Any) -> tuple[sa.ColumnElement[bool], ...]:
    """What makes a task ready in a queue; the arguments are expressions."""
    return (
        is_queued,
        _t.c.project_id == project_id,
        _t.c.agent_type == agent_type,
        _t.c.approval == "approved",
        sa.or_(_t.c.not_before.is_(None), _t.c.not_before <= now),
        _no_unmet,
        _parent_is_open,
    )


_ready = ready(_p("project_id"), _p("agent_type"), _p("now"))
READY = Statement(
    TASKS.select()
    .where(*_ready)
    .order_by(*ORDER)
    .limit(_p("limit", type_=sa.Integer))
    .offset(_p("skip", type_=sa.Integer))
)
_not_keyless = _t.c.created_by != sa.literal(KEYLESS)
READY_TO_START = Statement(
    TASKS.select()
    .where(*_ready, _not_keyless)
    .order_by(*ORDER)
    .limit(_p("limit", type_=sa.Integer))
    .offset(_p("skip", type_=sa.Integer))
)
"""For a launch: what was filed without a key starts no program."""
_child, _talk = _t.alias("child"), schema.delegations
_has_parts = sa.select(sa.literal(1)).where(_child.c.parent_id == _t.c.id).exists()
_was_delegated = sa.select(sa.literal(1)).where(_talk.c.task_id == _t.c.id).exists()
READY_WHOLE = Statement(
    TASKS.select().where(*_ready, _not_keyless, ~_has_parts, ~_was_delegated, ~is_budgeted).order_by(*ORDER).limit(1)
)
NEXT_RETRIES = Statement(
    sa.select(_t.c.project_id, _t.c.agent_type, sa.func.min(_t.c.not_before))
    .where(
        is_queued,
        in_list(_t.c.project_id, "projects"),
        in_list(_t.c.agent_type, "types"),
        _t.c.not_before > _p("now"),
    )
    .group_by(_t.c.project_id, _t.c.agent_type)
)
READY_TYPES = Statement(
    by_index(
        sa.select(_t.c.project_id, _t.c.agent_type, sa.func.min(_t.c.created_at))
        .where(
            is_queued,
            _t.c.approval == "approved",
            sa.or_(_t.c.not_before.is_(None), _t.c.not_before <= _p("now")),
            _no_unmet,
            _parent_is_open,
        )
        .group_by(_t.c.project_id, _t.c.agent_type),
        _t,
        "tasks_queued",
    )
)

# --- several queues --------------------------------------------------------------------------------------------------
# Both databases take the queues as one JSON parameter: [[project, type], …].

_text = sa.literal_column
PARTS_OF_QUEUE: dict[str, tuple[sa.ColumnElement[Any], sa.ColumnElement[Any]]] = {
    "sqlite": (_text("json_extract(q.value, '$[0]')"), _text("json_extract(q.value, '$[1]')")),
    "postgresql": (_text("(q.value ->> 0)"), _text("(q.value ->> 1)")),
}
QUEUES = {
    "sqlite": sa.text("json_each(:queues) AS q"),
    "postgresql": sa.text("json_array_elements(CAST(:queues AS json)) AS q(value)"),
}


def _ready_of(dialect: str, *columns: Any) -> sa.Select[Any]:
    found = sa.select(*columns).where(*ready(*PARTS_OF_QUEUE[dialect], _p("now"))).order_by(*ORDER)
    return found.limit(_p("most", type_=sa.Integer))


_ids = Statement(_ready_of("sqlite", _t.c.id)).sqlite.text
_near = _ready_of("postgresql", *FOUND).lateral("near")
READY_OF = Statement(
    sa.select(*FOUND)
    .select_from(
        sa.text(
            f"json_each(:queues) AS q, json_each((SELECT json_group_array(id) FROM ({_ids}))) AS i"  # noqa: S608 - compiled, not pasted
        )
    )
    .where(_t.c.id == _text("i.value")),
    postgresql=sa.select(_near).select_from(QUEUES["postgresql"]),
)

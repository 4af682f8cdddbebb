"""`db check`: whether the file is intact, and whether the rows satisfy the rules that all operations keep."""

from __future__ import annotations

import sqlalchemy as sa

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.tasks import OPEN, Status
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement

_t, _s, _l, _d = schema.tasks, schema.sessions, schema.launches, schema.dependencies
_m, _b, _c, _g = schema.messages, schema.mailboxes, schema.conversations, schema.delegations
_parent, _other = _t.alias("parent"), _t.alias("other")


@dataclass(frozen=True, slots=True)
class Problem:
    """A violated rule, and the ids of the rows."""

    what: str
    ids: tuple[str, ...]


_RULES: tuple[tuple[str, sa.Select[tuple[str]]], ...] = (
    (
        "a task in progress has neither assignee nor queue",
        sa.select(_t.c.id).where(_t.c.status == "in_progress", _t.c.assignee_id.is_(None), _t.c.agent_type.is_(None)),
    ),
    (
        "a task is open although a task above it is completed or cancelled",
        sa.select(_t.c.id)
        .join(_parent, _parent.c.id == _t.c.parent_id)
        .where(
            _t.c.status.in_([sa.literal(each.value) for each in Status if each in OPEN]),
            _parent.c.status.in_([sa.literal(each) for each in ("completed", "cancelled")]),
        ),
    ),
    (
        "a task belongs to another tree or project than its parent",
        sa.select(_t.c.id)
        .join(_parent, _parent.c.id == _t.c.parent_id)
        .where(
            sa.or_(
                _t.c.root_id != _parent.c.root_id,
                _t.c.project_id != _parent.c.project_id,
                _t.c.depth != _parent.c.depth + 1,
            )
        ),
    ),
    (
        "a task depends on a task of another project",
        sa.select(_t.c.id)
        .join(_d, _d.c.task_id == _t.c.id)
        .join(_other, _other.c.id == _d.c.depends_on)
        .where(_t.c.project_id != _other.c.project_id),
    ),
    (
        "a live session has no live launch",
        sa.select(_s.c.id)
        .join(_l, _l.c.id == _s.c.launch_id)
        .where(_s.c.ended_at.is_(None), _l.c.state != "signed_in"),
    ),
    (
        "a launch is marked as signed in without a live session",
        sa.select(_l.c.id)
        .outerjoin(_s, sa.and_(_s.c.launch_id == _l.c.id, _s.c.ended_at.is_(None)))
        .where(_l.c.state == "signed_in", _s.c.id.is_(None)),
    ),
    (
        "a completed task has no time of completion",
        sa.select(_t.c.id).where(_t.c.status == "completed", _t.c.completed_at.is_(None)),
    ),
    (
        "a conversation has more turns than allowed",
        sa.select(_c.c.id).where(_c.c.turns > _c.c.max_turns),
    ),
    (
        "a conversation is settled but not over",
        sa.select(_c.c.id).where(_c.c.settled, _c.c.ended_at.is_(None)),
    ),
    (
        "a message belongs to a conversation that does not exist",
        sa.select(_m.c.id)
        .outerjoin(_c, _c.c.id == _m.c.conversation_id)
        .where(_m.c.conversation_id.is_not(None), _c.c.id.is_(None)),
    ),
    (
        "a message belongs to a conversation between other members",
        sa.select(_m.c.id)
        .join(_c, _c.c.id == _m.c.conversation_id)
        .where(_m.c.thread != _c.c.low_id + sa.literal("|") + _c.c.high_id),
    ),
    (
        "a mailbox is ahead of its messages",
        sa.select(_b.c.agent_id).where(
            _b.c.cursor
            > sa.select(sa.func.coalesce(sa.func.max(_m.c.sequence), 0))
            .where(_m.c.project_id == _b.c.project_id)
            .scalar_subquery()
        ),
    ),
    (
        "a delegation belongs to a session that is over",
        sa.select(_g.c.id).join(_s, _s.c.id == _g.c.session_id).where(_s.c.ended_at.is_not(None)),
    ),
    (
        "a completed task still waits for a delegation",
        sa.select(_t.c.id)
        .join(_g, _g.c.task_id == _t.c.id)
        .where(
            _t.c.status == "completed",
            _g.c.await_result,
            _g.c.status.in_([sa.literal(each) for each in ("pending", "processing")]),
        ),
    ),
)
_SOUND = Statement(sa.select(sa.column("integrity_check")).select_from(sa.text("pragma_integrity_check")))
_KEYS = Statement(sa.select(sa.column("table")).select_from(sa.text("pragma_foreign_key_check")))
_EDGES = Statement(sa.select(_d.c.task_id, _d.c.depends_on))
_CHILDREN = Statement(sa.select(_t.c.parent_id, _t.c.id).where(_t.c.parent_id.is_not(None)))


def check(connection: Connection) -> list[Problem]:
    """All problems found; empty for a sound database."""
    found = _of_file(connection) if connection.dialect == "sqlite" else []
    for what, rule in _RULES:
        ids = tuple(row[0] for row in connection.all(Statement(rule)))
        if ids:
            found.append(Problem(what, ids))
    circle = _circle(connection)
    return [*found, Problem("tasks depend on each other in a circle", circle)] if circle else found


def _of_file(connection: Connection) -> list[Problem]:
    sound = [str(row[0]) for row in connection.all(_SOUND)]
    keys = sorted({str(row[0]) for row in connection.all(_KEYS)})
    found = [] if sound == ["ok"] else [Problem("the file is damaged", tuple(sound[:20]))]
    return [*found, Problem("rows refer to rows that do not exist", tuple(keys))] if keys else found


def _circle(connection: Connection) -> tuple[str, ...]:
    """Tasks in a dependency cycle: what is left after repeatedly removing tasks that wait for nothing."""
    waits: dict[str, set[str]] = {}
    awaited: dict[str, set[str]] = {}
    for statement in (_EDGES, _CHILDREN):
        for task, other in connection.all(statement):
            waits.setdefault(task, set()).add(other)
            awaited.setdefault(other, set()).add(task)
    free = [each for each in awaited if each not in waits]
    while free:
        done = free.pop()
        for task in awaited.get(done, ()):
            waits[task].discard(done)
            if not waits[task]:
                free.append(task)
    return tuple(sorted(task for task, others in waits.items() if others))

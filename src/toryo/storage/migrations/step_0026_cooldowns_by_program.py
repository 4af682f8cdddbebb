"""Each program of an agent is in cooldown by itself: programs that shared a row have one each."""

from __future__ import annotations

import sqlalchemy as sa

from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement

_SHARED = Statement(sa.text("SELECT agent_id, purpose, until, reason, failures, message, provider FROM cooldowns"))
_COOLDOWNS = """
CREATE TABLE cooldowns (
    agent_id TEXT NOT NULL REFERENCES agents (id),
    purpose TEXT NOT NULL,
    until BIGINT NOT NULL,
    reason TEXT NOT NULL,
    failures BIGINT NOT NULL,
    message TEXT,
    program TEXT NOT NULL,
    PRIMARY KEY (agent_id, purpose, program)
)
"""
_ADD = Statement(
    sa.text("INSERT INTO cooldowns VALUES (:agent_id, :purpose, :until, :reason, :failures, :message, :program)")
)


def upgrade(connection: Connection) -> None:
    shared = connection.all(_SHARED)
    connection.define("DROP TABLE cooldowns")
    connection.define(_COOLDOWNS)
    names = ("agent_id", "purpose", "until", "reason", "failures", "message")
    connection.many(
        _ADD,
        [
            {**dict(zip(names, row[:-1], strict=True)), "program": program}
            for row in shared
            for program in dict.fromkeys((row[-1] or "").split("\n"))
        ],
    )

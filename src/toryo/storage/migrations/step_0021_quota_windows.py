"""What the accounts of providers use in their quota windows."""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_WINDOWS = """
CREATE TABLE quota_windows (
    account TEXT NOT NULL,
    length TEXT NOT NULL,
    length_ms BIGINT NOT NULL,
    began_at BIGINT,
    used BIGINT NOT NULL,
    set_limit BIGINT,
    learnt_limit BIGINT,
    learnt_at BIGINT,
    reserve BIGINT NOT NULL,
    PRIMARY KEY (account, length)
)
"""


def upgrade(connection: Connection) -> None:
    connection.define(_WINDOWS)

"""A sign-in belongs to an origin: browsers of before keep no secret there, so they sign in once more."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE sign_ins ADD COLUMN page_hash TEXT NOT NULL DEFAULT ''")
    connection.define("ALTER TABLE sign_ins ADD COLUMN proved_at BIGINT NOT NULL DEFAULT 0")
    connection.define("UPDATE sign_ins SET ended_at = created_at WHERE ended_at IS NULL")
    connection.define("ALTER TABLE sign_in_links ADD COLUMN how TEXT NOT NULL DEFAULT 'link'")
    connection.define("ALTER TABLE sign_in_links ADD COLUMN proved_at BIGINT")

"""A sign-in belongs to an origin: browsers of before keep no secret there, so they sign in once more. And a person who
was an owner, or became one, is asked and told as their account says.
"""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define("ALTER TABLE sign_ins ADD COLUMN page_hash TEXT NOT NULL DEFAULT ''")
    connection.define("ALTER TABLE sign_ins ADD COLUMN proved_at BIGINT NOT NULL DEFAULT 0")
    connection.define("UPDATE sign_ins SET ended_at = created_at WHERE ended_at IS NULL")
    connection.define("ALTER TABLE sign_in_links ADD COLUMN how TEXT NOT NULL DEFAULT 'link'")
    connection.define("ALTER TABLE sign_in_links ADD COLUMN proved_at BIGINT")
    connection.define(
        "UPDATE agents SET role = 'worker' WHERE role = 'owner' AND id IN "
        "(SELECT agent_id FROM people WHERE login <> 'owner')"
    )
    connection.define(
        "UPDATE agents SET role = 'owner' WHERE id IN (SELECT agent_id FROM people WHERE login = 'owner')"
    )

"""Web push: subscriptions of browsers, what people want to be told, and the key that identifies this installation."""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_TABLES = (
    """
CREATE TABLE push_subscriptions (
    id TEXT NOT NULL PRIMARY KEY,
    person_id TEXT NOT NULL REFERENCES agents (id),
    sign_in_id TEXT NOT NULL REFERENCES sign_ins (id),
    endpoint TEXT NOT NULL,
    p256dh TEXT NOT NULL,
    auth TEXT NOT NULL,
    language TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (sign_in_id),
    UNIQUE (endpoint)
)
""",
    """
CREATE TABLE notification_preferences (
    person_id TEXT NOT NULL PRIMARY KEY REFERENCES agents (id),
    muted TEXT,
    quiet_from BIGINT,
    quiet_to BIGINT,
    time_zone TEXT NOT NULL
)
""",
    """
CREATE TABLE push_keys (
    id INTEGER NOT NULL PRIMARY KEY,
    private_key TEXT NOT NULL,
    created_at BIGINT NOT NULL
)
""",
)


def upgrade(connection: Connection) -> None:
    for each in _TABLES:
        connection.define(each)
    connection.define("CREATE INDEX push_subscriptions_person ON push_subscriptions (person_id)")

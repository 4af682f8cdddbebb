"""What programs reach from their sandbox is a setting of the project. Projects of before keep the open network."""

from __future__ import annotations

from toryo.storage.engine.database import Connection


def upgrade(connection: Connection) -> None:
    connection.define(
        """UPDATE projects SET settings = '{"network": "open", ' || substr(settings, 2) WHERE length(settings) > 2"""
    )
    connection.define("""UPDATE projects SET settings = '{"network": "open"}' WHERE length(settings) <= 2""")

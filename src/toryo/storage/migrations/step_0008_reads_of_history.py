"""Indexes for what people look at however much of it there is: dead letters are listed without the other failures of a
project being read, and usage is added up from an index alone.
"""

from __future__ import annotations

from toryo.storage.engine.database import Connection

_SUMS = "input_tokens, cached_tokens, output_tokens, cost_usd, turns, tool_calls, lower_bound"


def upgrade(connection: Connection) -> None:
    connection.define(
        "CREATE INDEX tasks_dead ON tasks (project_id, completed_at) WHERE status = 'failed' AND agent_type IS NOT NULL"
    )
    connection.define(f"CREATE INDEX usages_sums ON usages (project_id, day, {_SUMS})")
    connection.define("DROP INDEX usages_project")  # usages_sums begins with its columns

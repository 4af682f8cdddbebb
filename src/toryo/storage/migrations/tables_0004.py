"""The tables and indexes that step 0004 brought, as they were. Never changed: `schema.py` has today's."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, MetaData, Table, Text, UniqueConstraint, text

from toryo.storage.migrations import tables_0003
from toryo.storage.migrations.tables_0001 import _flag, _id, _number, _text, _to

metadata = MetaData()
for _table in tables_0003.metadata.sorted_tables:
    _table.to_metadata(metadata)
tasks, messages, events, batches = (metadata.tables[name] for name in ("tasks", "messages", "events", "batches"))

Table(
    "accounts",
    metadata,
    _id(),
    _number("until"),
    _text("reason"),
)

Table(
    "usages",
    metadata,
    Column("launch_id", Text, ForeignKey("launches.id"), primary_key=True),
    _to("project_id", "projects"),
    _to("agent_id", "agents"),
    _to("task_id", "tasks", null=True),
    _text("purpose"),
    _text("provider", null=True),
    _text("model", null=True),
    _number("day"),
    _number("input_tokens"),
    _number("cached_tokens"),
    _number("output_tokens"),
    Column("cost_usd", Float, nullable=True),
    _number("turns"),
    _number("tool_calls"),
    _flag("lower_bound"),
    _number("updated_at"),
    Index("usages_project", "project_id", "day"),
    Index("usages_agent", "agent_id", "day"),
    Index("usages_task", "task_id"),
)

Table(
    "worktrees",
    metadata,
    Column("task_id", Text, ForeignKey("tasks.id"), primary_key=True),
    _to("project_id", "projects"),
    _text("coordinator_id"),
    _text("path"),
    _text("directory"),
    _text("branch"),
    _text("base_branch", null=True),
    _text("base_commit"),
    _text("head_commit", null=True),
    _number("commits"),
    _number("files_changed"),
    _number("insertions"),
    _number("deletions"),
    _text("state"),
    _text("merged_commit", null=True),
    _text("merged_into", null=True),
    _text("trouble", null=True),
    _number("created_at"),
    _number("updated_at"),
    Index("worktrees_project", "project_id", "state"),
)

errands = Table(
    "errands",
    metadata,
    _id(),
    _text("kind"),
    _to("task_id", "tasks"),
    _to("project_id", "projects"),
    _text("coordinator_id"),
    _text("asked_by"),
    _text("options", null=True),
    _number("created_at"),
    _number("taken_at", null=True),
    _number("finished_at", null=True),
    _flag("done", null=True),
    _text("answer", null=True),
    Index("errands_task", "task_id", "created_at"),
)

Table(
    "sign_ins",
    metadata,
    _id(),
    _to("agent_id", "agents"),
    _text("at_most"),
    _text("how"),
    _number("created_at"),
    _number("expires_at"),
    _number("ended_at", null=True),
    _text("browser", null=True),
    _text("token_hash"),
    UniqueConstraint("token_hash"),
    Index("sign_ins_person", "agent_id", "created_at"),
)

Table(
    "sign_in_links",
    metadata,
    Column("code_hash", Text, primary_key=True),
    _to("agent_id", "agents"),
    _text("at_most"),
    _number("expires_at"),
    _number("used_at", null=True),
)

Table(
    "people",
    metadata,
    Column("agent_id", Text, ForeignKey("agents.id"), primary_key=True),
    _text("login"),
    _text("password_hash", null=True),
    _text("subject", null=True),
    _number("changed_at"),
    UniqueConstraint("subject"),
)

Table(
    "access_tokens",
    metadata,
    _id(),
    _to("agent_id", "agents"),
    _text("name"),
    _text("at_most"),
    _number("created_at"),
    _number("expires_at", null=True),
    _number("used_on", null=True),
    _number("revoked_at", null=True),
    _text("token_hash"),
    UniqueConstraint("token_hash"),
    Index("access_tokens_person", "agent_id", "created_at"),
)

Table(
    "departures",
    metadata,
    Column("state_hash", Text, primary_key=True),
    _number("expires_at"),
)

Table(
    "visits",
    metadata,
    Column("person_id", Text, ForeignKey("agents.id"), primary_key=True),
    _number("at"),
)

_todo = text("status = 'todo' AND agent_type IS NULL")  # the rest stands in tasks_queued
_ended = text("status IN ('completed', 'failed')")
Index(
    "tasks_todo",
    tasks.c.project_id,
    tasks.c.priority,
    tasks.c.created_at,
    sqlite_where=_todo,
    postgresql_where=_todo,
)
Index("tasks_ended", tasks.c.project_id, tasks.c.completed_at, sqlite_where=_ended, postgresql_where=_ended)
_failed = text("status = 'failed'")
Index("tasks_failed", tasks.c.completed_at, sqlite_where=_failed, postgresql_where=_failed)
_about = text("related_task_id IS NOT NULL")
Index(
    "messages_about",
    messages.c.related_task_id,
    messages.c.sequence,
    sqlite_where=_about,
    postgresql_where=_about,
)
_decided = text("kind IN ('task.approved', 'task.rejected', 'task.unblocked', 'task.retried')")
Index("events_decided", events.c.at, sqlite_where=_decided, postgresql_where=_decided)
Index("batches_created", batches.c.created_at)
_unfinished = text("finished_at IS NULL")
Index("errands_waiting", errands.c.coordinator_id, sqlite_where=_unfinished, postgresql_where=_unfinished)

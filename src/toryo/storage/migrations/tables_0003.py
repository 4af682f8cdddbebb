"""The tables that steps 0002 and 0003 brought, as they were released. Never changed: `schema.py` has today's."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, MetaData, Table, Text, UniqueConstraint, text

from toryo.storage.migrations import tables_0001
from toryo.storage.migrations.tables_0001 import _flag, _id, _number, _text, _to

metadata = MetaData()
for _table in tables_0001.metadata.sorted_tables:
    _table.to_metadata(metadata)
tasks = metadata.tables["tasks"]
for _added in ("not_before", "timeout_seconds", "max_attempts"):
    tasks.append_column(_number(_added, null=True))
_queued = text("status = 'todo' AND agent_type IS NOT NULL")
tasks_queued = Index(
    "tasks_queued",
    tasks.c.project_id,
    tasks.c.agent_type,
    tasks.c.priority,
    tasks.c.created_at,
    sqlite_where=_queued,
    postgresql_where=_queued,
)
_correlated = text("correlation_id IS NOT NULL")
tasks_correlation = Index(
    "tasks_correlation", tasks.c.correlation_id, sqlite_where=_correlated, postgresql_where=_correlated
)
_unapproved = text("approval = 'pending_approval' AND status NOT IN ('completed', 'failed', 'cancelled')")
tasks_unapproved = Index("tasks_unapproved", tasks.c.project_id, sqlite_where=_unapproved, postgresql_where=_unapproved)
_unended = text("ended_at IS NULL")

messages = Table(
    "messages",
    metadata,
    _id(),
    _to("project_id", "projects"),
    _number("sequence"),
    _text("thread"),
    _text("from_agent_id"),
    _to("to_agent_id", "agents"),
    _text("kind"),
    _text("conversation_id", null=True),
    _text("related_task_id", null=True),
    _number("created_at"),
    _flag("watched"),
    _text("used_for", null=True),
    _text("content"),
    Index("messages_sequence", "project_id", "sequence", unique=True),
    Index("messages_thread", "project_id", "thread", "sequence"),
    Index("messages_inbox", "project_id", "to_agent_id", "kind", "sequence"),
    Index("messages_rate", "project_id", "from_agent_id", "to_agent_id", "sequence"),
    Index("messages_conversation", "conversation_id", "sequence"),
)
_watched = text("watched")
Index(
    "messages_watched",
    messages.c.created_at,
    messages.c.project_id,
    messages.c.to_agent_id,
    sqlite_where=_watched,
    postgresql_where=_watched,
)

threads = Table(
    "threads",
    metadata,
    Column("project_id", Text, ForeignKey("projects.id"), primary_key=True),
    Column("thread", Text, primary_key=True),
    _text("low_id"),
    _text("high_id"),
    _number("newest"),
    _number("newest_at"),
    _number("seen_low"),
    _number("seen_high"),
    Index("threads_low", "project_id", "low_id"),
    Index("threads_high", "project_id", "high_id"),
)
"""What two have said to each other, and how far each (a person) has seen it."""

mailboxes = Table(
    "mailboxes",
    metadata,
    Column("project_id", Text, ForeignKey("projects.id"), primary_key=True),
    Column("agent_id", Text, ForeignKey("agents.id"), primary_key=True),
    _number("cursor"),
    _number("newest"),
    _number("waiting_since"),
    _text("handed_session", null=True),
    _number("handed_from"),
    _text("handed_endings", null=True),
    _number("redelivered_to"),
    _number("left_at"),
    _number("active_at"),
    _number("version"),
)
_has_mail = text("newest > cursor")
Index("mailboxes_waiting", mailboxes.c.project_id, sqlite_where=_has_mail, postgresql_where=_has_mail)

conversations = Table(
    "conversations",
    metadata,
    _id(),
    _to("project_id", "projects"),
    _text("low_id"),
    _text("high_id"),
    _to("initiator_id", "agents"),
    _to("partner_id", "agents"),
    _text("purpose"),
    _text("state"),
    _number("turns"),
    _number("max_turns"),
    _text("turn_of"),
    _text("delegation_id", null=True),
    _text("task_id", null=True),
    _number("created_at"),
    _number("last_turn_at"),
    _number("ended_at", null=True),
    _text("ended_by", null=True),
    _text("reason", null=True),
    _text("summary", null=True),
    _number("told_initiator_at", null=True),
    _number("told_partner_at", null=True),
    _flag("settled"),
    Index("conversations_pair", "project_id", "low_id", "high_id", "created_at"),
    Index("conversations_task", "task_id"),
)
_open = text("state IN ('pending', 'active')")
_unsettled = text("NOT settled")
Index(
    "conversations_open",
    conversations.c.project_id,
    conversations.c.low_id,
    conversations.c.high_id,
    unique=True,
    sqlite_where=_open,
    postgresql_where=_open,
)
"""At most one open conversation per unordered pair and project."""
for _side in ("initiator_id", "partner_id"):
    Index(
        f"conversations_{_side.removesuffix('_id')}",
        conversations.c.project_id,
        conversations.c[_side],
        sqlite_where=_unsettled,
        postgresql_where=_unsettled,
    )

delegations = Table(
    "delegations",
    metadata,
    _id(),
    _to("project_id", "projects"),
    _to("agent_id", "agents"),
    _to("task_id", "tasks"),
    _text("root_id"),
    _to("target_agent_id", "agents"),
    _text("purpose"),
    _text("context", null=True),
    _flag("await_result"),
    _text("status"),
    _number("created_at"),
    _number("attempt"),
    _text("session_id", null=True),
    _text("conversation_id", null=True),
    _number("processed_at", null=True),
    _number("ended_at", null=True),
    _text("result", null=True),
    Index("delegations_task", "task_id", "created_at"),
)
_undone = text("status IN ('pending', 'processing')")
Index(
    "delegations_open",
    delegations.c.project_id,
    delegations.c.agent_id,
    sqlite_where=_undone,
    postgresql_where=_undone,
)
Index("delegations_awaited", delegations.c.root_id, sqlite_where=_undone, postgresql_where=_undone)

api_keys = Table(
    "api_keys",
    metadata,
    _id(),
    _to("project_id", "projects"),
    _text("name"),
    _text("agent_id", null=True),
    _text("types", null=True),
    _flag("orchestrator"),
    _text("tools", null=True),
    _text("created_by"),
    _number("created_at"),
    _number("revoked_at", null=True),
    _text("key_hash"),
    UniqueConstraint("key_hash"),
    Index("api_keys_project", "project_id", "created_at"),
)

presences = Table(
    "presences",
    metadata,
    Column("agent_id", Text, ForeignKey("agents.id"), primary_key=True),
    _to("project_id", "projects"),
    _text("agent_type"),
    _text("capabilities", null=True),
    _number("registered_at"),
    _number("seen_at"),
    _number("heartbeat_at", null=True),
    _number("offline_at", null=True),
    Index("presences_project", "project_id", "agent_type"),
)

claims = Table(
    "claims",
    metadata,
    Column("task_id", Text, ForeignKey("tasks.id"), primary_key=True),
    Column("attempt", BigInteger, primary_key=True, autoincrement=False),
    _to("project_id", "projects"),
    _to("agent_id", "agents"),
    _number("claimed_at"),
    _number("expires_at"),
    _number("lease"),
    _text("launch_id", null=True),
    _number("ended_at", null=True),
    _text("end_reason", null=True),
    _text("outcome", null=True),
)
Index(
    "claims_live",
    claims.c.task_id,
    unique=True,
    sqlite_where=_unended,
    postgresql_where=_unended,
)
"""At most one live claim per task: what makes a double claim impossible."""
Index("claims_of_agent", claims.c.agent_id, sqlite_where=_unended, postgresql_where=_unended)

shared_entries = Table(
    "shared_entries",
    metadata,
    Column("project_id", Text, ForeignKey("projects.id"), primary_key=True),
    Column("key", Text, primary_key=True),
    _number("version"),
    _number("updated_at"),
    _text("updated_by"),
    _number("expires_at"),
    _text("value"),
    Index("shared_entries_expiry", "expires_at"),
)

viewers = Table(
    "viewers",
    metadata,
    _id(),
    _to("project_id", "projects"),
    _to("agent_id", "agents"),
    _to("person_id", "agents"),
    _number("opened_at"),
    _number("seen_at"),
    _number("closed_at", null=True),
)
_unclosed = text("closed_at IS NULL")
Index("viewers_open", viewers.c.project_id, viewers.c.agent_id, sqlite_where=_unclosed, postgresql_where=_unclosed)

notices = Table(
    "notices",
    metadata,
    _id(),
    _to("person_id", "agents"),
    _text("key"),
    _text("channel"),
    _text("content"),
    _number("created_at"),
    _number("next_at", null=True),
    _number("attempts"),
    _number("sent_at", null=True),
    _number("given_up_at", null=True),
    _number("over_at", null=True),
    _text("error", null=True),
    Index("notices_key", "person_id", "key", "channel", "created_at"),
    Index("notices_over", "over_at"),
)
"""The outbox: what people are told outside, once for each need and channel."""
_lasting, _to_send = text("over_at IS NULL"), text("next_at IS NOT NULL")
Index(
    "notices_lasting",
    notices.c.person_id,
    notices.c.key,
    notices.c.channel,
    unique=True,
    sqlite_where=_lasting,
    postgresql_where=_lasting,
)
Index("notices_due", notices.c.channel, notices.c.next_at, sqlite_where=_to_send, postgresql_where=_to_send)

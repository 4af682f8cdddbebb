"""All tables and indexes. The columns of a noun follow from its fields (`tables.py`); what has no noun, and what a noun
does not show, is written out. JSON is TEXT; instants are milliseconds.

Partial indexes cover live states only, so that finished rows cost nothing. Their column order matches their query.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from toryo.domain.agents import Agent
from toryo.domain.artifacts import Artifact
from toryo.domain.conversations import Conversation
from toryo.domain.delegations import Delegation
from toryo.domain.events import Event
from toryo.domain.handover import Handoff, Note, Notification
from toryo.domain.launches import Check, Launch
from toryo.domain.memories import Memory
from toryo.domain.merge_queue import Entry as MergeQueueEntry
from toryo.domain.merge_queue import Queue as MergeQueue
from toryo.domain.messages import Mailbox, Message, Thread
from toryo.domain.notices import Notice
from toryo.domain.panels import Viewer
from toryo.domain.people import AccessToken, Account, SignIn
from toryo.domain.people import Link as SignInLink
from toryo.domain.projects import Project
from toryo.domain.push import Preferences as NotificationPreferences
from toryo.domain.push import Subscription as PushSubscription
from toryo.domain.questions import Question
from toryo.domain.queue import ApiKey, Claim, Presence
from toryo.domain.queue import Entry as SharedEntry
from toryo.domain.saved_views import SavedView
from toryo.domain.schedules import Run as ScheduleRun
from toryo.domain.schedules import Schedule
from toryo.domain.sessions import Session
from toryo.domain.task_templates import TaskTemplate
from toryo.domain.tasks import CLOSED, Details, Status, Task
from toryo.domain.webhooks import Delivery as WebhookDelivery
from toryo.domain.webhooks import Webhook
from toryo.domain.worktrees import Worktree, WorktreeJob
from toryo.storage.tables import columns


def statuses(*wanted: Status) -> str:
    """Statuses as an SQL list, in a fixed order, because planners compare the text of partial index conditions."""
    return "(" + ", ".join(f"'{status}'" for status in Status if status in wanted) + ")"


UNAPPROVED = f"approval = 'pending_approval' AND status NOT IN {statuses(*CLOSED)}"
IS_CLOSED = f"status IN {statuses(*CLOSED)}"
IS_OPEN = f"coalesce(status, '') NOT IN {statuses(*CLOSED)}"
"""In a form that follows from no other condition: PostgreSQL would read `tasks_open` in place of better indexes."""
IS_DEAD = "status = 'failed' AND agent_type IS NOT NULL"
IS_SCHEDULED = "state = 'active'"
"""Of schedules."""
IS_RUNNING = "task_id IS NOT NULL AND result IS NULL"
"""Of runs of schedules, and of deliveries of webhooks."""
DECIDED = "kind IN ('task.approved', 'task.rejected', 'task.unblocked', 'task.retried')"
"""Events of decisions about tasks. Rare, so counting them is cheap."""
IS_NOT_DONE = f"status IN {statuses(Status.FAILED, Status.CANCELLED)}"
"""These are conditions of partial indexes: a query with the same text uses the index."""

metadata = MetaData()


def _id() -> Column[str]:
    return Column("id", Text, primary_key=True)


def _text(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, Text, nullable=null)


def _number(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=null)


def _flag(name: str, *, null: bool = False) -> Column[bool]:
    return Column(name, Boolean(create_constraint=False), nullable=null)


def _to(name: str, other: str, *, null: bool = False) -> Column[str]:
    return Column(name, Text, ForeignKey(f"{other}.id"), nullable=null)


def _where(condition: str) -> dict[str, Any]:
    """For an index that has only the rows for which this holds."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


projects = Table(
    "projects",
    metadata,
    *columns(Project),
)

agents = Table(
    "agents",
    metadata,
    *columns(Agent),
    _text("passkey_hash", null=True),
    Index("agents_reports_to", "reports_to"),
)

memberships = Table(
    "memberships",
    metadata,
    Column("project_id", Text, ForeignKey("projects.id"), primary_key=True),
    Column("agent_id", Text, ForeignKey("agents.id"), primary_key=True),
    _number("created_at"),
    _number("removed_at", null=True),
    Index("memberships_agent", "agent_id"),
)

_IN_ORDER = ("project_id", "priority", "line_at")
_OF_ASSIGNEE = ("project_id", "assignee_id")
_MAY_BE_STARTED = "status = 'todo' AND agent_type IS NULL"

tasks = Table(
    "tasks",
    metadata,
    *columns(Task),
    # Large columns last: decisions read only the beginning of a row.
    *columns(Details),
    Index("tasks_root", "root_id"),
    Index("tasks_parent", "parent_id"),
    Index("tasks_project", *_IN_ORDER),
    Index("tasks_in_progress", "project_id", "assignee_id", **_where("status = 'in_progress'")),
    Index("tasks_reviews", "review_of", **_where("review_of IS NOT NULL")),
    Index("tasks_reviews_in_todo", *_OF_ASSIGNEE, **_where("status = 'todo' AND review_of IS NOT NULL")),
    Index("tasks_budgeted", "root_id", **_where("budget_usd IS NOT NULL OR budget_tokens IS NOT NULL")),
    Index(
        "tasks_queued",
        "project_id",
        "agent_type",
        "priority",
        "line_at",
        **_where("status = 'todo' AND agent_type IS NOT NULL"),
    ),
    # What is in line for an agent, or would be if its project said so.
    Index(
        *("tasks_in_line", "project_id", "assignee_id", "start", "priority", "line_at", "line_rank"),
        **_where(f"{_MAY_BE_STARTED} AND dependencies_left = 0 AND not_before IS NULL"),
    ),
    # Of it, what may be started while its agent is busy.
    Index(
        *("tasks_parts_in_line", "project_id", "assignee_id", "start", "priority", "line_at", "line_rank"),
        **_where(f"{_MAY_BE_STARTED} AND dependencies_left = 0 AND not_before IS NULL AND parent_id IS NOT NULL"),
    ),
    # Of it, what anyone who is free may take, pool by pool.
    Index(
        *("tasks_in_pool", "project_id", "start", "pool", "priority", "line_at", "line_rank"),
        **_where(
            f"{_MAY_BE_STARTED} AND dependencies_left = 0 AND not_before IS NULL AND assignee_id IS NULL "
            "AND pool IS NOT NULL"
        ),
    ),
    # Without queue tasks, which are in tasks_queued.
    Index("tasks_todo", *_IN_ORDER, "line_rank", **_where(_MAY_BE_STARTED)),
    Index("tasks_not_before", "not_before", **_where(f"{_MAY_BE_STARTED} AND not_before IS NOT NULL")),
    Index("tasks_backlog", *_IN_ORDER, **_where("status = 'backlog'")),
    Index("tasks_closed", "project_id", "status", "completed_at", **_where(IS_CLOSED)),
    Index("tasks_not_done", "project_id", "status", "priority", "line_at", **_where(IS_NOT_DONE)),
    Index("tasks_assignee", "project_id", "assignee_id", "priority", "line_at", **_where("assignee_id IS NOT NULL")),
    Index("tasks_requested", "project_id", "requested_by", "created_at", **_where("requested_by IS NOT NULL")),
    Index("tasks_failed", "completed_at", **_where("status = 'failed'")),
    Index("tasks_dead", "project_id", "completed_at", **_where(IS_DEAD)),
    Index("tasks_correlation", "correlation_id", **_where("correlation_id IS NOT NULL")),
    Index("tasks_blocked", "project_id", "assignee_id", **_where("status = 'blocked'")),
    Index("tasks_open", "created_by", "project_id", **_where(IS_OPEN)),
    Index("tasks_unapproved", "project_id", **_where(UNAPPROVED)),
)

dependencies = Table(
    "dependencies",
    metadata,
    Column("task_id", Text, ForeignKey("tasks.id"), primary_key=True),
    Column("depends_on", Text, ForeignKey("tasks.id"), primary_key=True),
    _text("root_id"),
    Index("dependencies_root", "root_id"),
    Index("dependencies_on", "depends_on"),
)

launches = Table(
    "launches",
    metadata,
    *columns(Launch),
    _text("credential_hash"),
    _text("usage", null=True),
    _text("log_tail", null=True),
    UniqueConstraint("credential_hash"),
    UniqueConstraint("agent_id", "project_id", "purpose", "fence"),
    Index("launches_task", "task_id"),
    Index("launches_project", "project_id", "ordered_at"),
    # At most one live launch per agent, project and purpose: prevents double starts.
    Index(
        "launches_live", "agent_id", "project_id", "purpose", unique=True, **_where("state IN ('ordered', 'signed_in')")
    ),
)

sessions = Table(
    "sessions",
    metadata,
    *columns(Session),
    _text("token_hash"),
    UniqueConstraint("token_hash"),
    Index("sessions_launch", "launch_id"),
    Index("sessions_task", "task_id"),
    Index("sessions_newest", "created_at", "id"),
    Index("sessions_live", "project_id", "agent_id", "purpose", unique=True, **_where("ended_at IS NULL")),
)

notes = Table(
    "notes",
    metadata,
    *columns(Note),
    Index("notes_task", "task_id", "created_at"),
)

handoffs = Table(
    "handoffs",
    metadata,
    *columns(Handoff),
    Index("handoffs_task", "task_id", "created_at"),
)

notifications = Table(
    "notifications",
    metadata,
    *columns(Notification),
    Index("notifications_waiting", "session_id", **_where("delivered_at IS NULL")),
)

messages = Table(
    "messages",
    metadata,
    *columns(Message, but=["content"]),
    _text("content"),
    Index("messages_sequence", "project_id", "sequence", unique=True),
    Index("messages_thread", "project_id", "thread", "sequence"),
    Index("messages_inbox", "project_id", "to_agent_id", "kind", "sequence"),
    Index("messages_rate", "project_id", "from_agent_id", "to_agent_id", "sequence"),
    Index("messages_conversation", "conversation_id", "sequence"),
    Index("messages_about", "related_task_id", "sequence", **_where("related_task_id IS NOT NULL")),
    Index("messages_watched", "created_at", "project_id", "to_agent_id", **_where("watched")),
)

threads = Table(
    "threads",
    metadata,
    *columns(Thread),
    Index("threads_low", "project_id", "low_id"),
    Index("threads_high", "project_id", "high_id"),
)
"""The messages of two members, and how far a person among them has read."""

mailboxes = Table(
    "mailboxes",
    metadata,
    *columns(Mailbox),
    Index("mailboxes_waiting", "project_id", **_where("newest > cursor")),
)

conversations = Table(
    "conversations",
    metadata,
    *columns(Conversation),
    Index("conversations_pair", "project_id", "low_id", "high_id", "created_at"),
    Index("conversations_task", "task_id"),
    Index("conversations_newest", "project_id", "created_at"),
    # At most one open conversation per unordered pair and project.
    Index(
        "conversations_open", "project_id", "low_id", "high_id", unique=True, **_where("state IN ('pending', 'active')")
    ),
    Index("conversations_initiator", "project_id", "initiator_id", **_where("NOT settled")),
    Index("conversations_partner", "project_id", "partner_id", **_where("NOT settled")),
)

delegations = Table(
    "delegations",
    metadata,
    *columns(Delegation),
    Index("delegations_task", "task_id", "created_at"),
    Index("delegations_open", "project_id", "agent_id", **_where("status IN ('pending', 'processing')")),
    Index("delegations_awaited", "root_id", **_where("status IN ('pending', 'processing')")),
)

api_keys = Table(
    "api_keys",
    metadata,
    *columns(ApiKey),
    _text("key_hash"),
    UniqueConstraint("key_hash"),
    Index("api_keys_project", "project_id", "created_at"),
)

presences = Table(
    "presences",
    metadata,
    *columns(Presence),
    Index("presences_project", "project_id", "agent_type"),
)

claims = Table(
    "claims",
    metadata,
    *columns(Claim),
    # At most one live claim per task: prevents double claims.
    Index("claims_live", "task_id", unique=True, **_where("ended_at IS NULL")),
    Index("claims_of_agent", "agent_id", **_where("ended_at IS NULL")),
    Index("claims_expiry", "project_id", "expires_at", **_where("ended_at IS NULL")),
)

shared_entries = Table(
    "shared_entries",
    metadata,
    *columns(SharedEntry, but=["value"]),
    _text("value"),
    Index("shared_entries_expiry", "expires_at"),
)

stored_amounts = Table(
    "stored_amounts",
    metadata,
    Column("project_id", Text, ForeignKey("projects.id"), primary_key=True),
    Column("holder", Text, primary_key=True),
    _number("bytes"),
    _number("tasks"),
    _number("measured_at"),
)
"""How much who holds an API key has stored in a project, and its keys and sessions together (`holder`: the empty text).
Never less than what is there: `storage/stored_amounts.py`."""

viewers = Table(
    "viewers",
    metadata,
    *columns(Viewer),
    Index("viewers_open", "project_id", "agent_id", **_where("closed_at IS NULL")),
)

notices = Table(
    "notices",
    metadata,
    *columns(Notice),
    Index("notices_key", "person_id", "key", "channel", "created_at"),
    Index("notices_over", "over_at"),
    Index("notices_lasting", "person_id", "key", "channel", unique=True, **_where("over_at IS NULL")),
    Index("notices_due", "channel", "next_at", **_where("next_at IS NOT NULL")),
)
"""The outbox of notices: one for each need, channel and person."""

events = Table(
    "events",
    metadata,
    # SQLite needs a plain INTEGER here for the row id.
    Column("sequence", BigInteger().with_variant(Integer, "sqlite"), Identity(), primary_key=True, autoincrement=True),
    *columns(Event, but=["sequence"]),
    Index("events_task", "task_id", "sequence"),
    Index("events_project", "project_id", "sequence"),
    Index("events_agent", "agent_id", "sequence"),
    Index("events_facts", "root_id", "sequence", **_where("fact")),
    Index("events_correlation", "correlation_id", "sequence", **_where("correlation_id IS NOT NULL")),
    Index("events_decided", "at", **_where(DECIDED)),
    sqlite_autoincrement=True,
)

tokens = Table(
    "tokens",
    metadata,
    Column("hash", Text, primary_key=True),
    _text("kind"),
    _text("agent_id", null=True),
    _text("login", null=True),
    _text("name"),
    _text("place", null=True),
    _number("created_at"),
    _number("revoked_at", null=True),
)
"""Tokens from files in data directories; `place` names the directory (several servers may share a database)."""

cooldowns = Table(
    "cooldowns",
    metadata,
    Column("agent_id", Text, ForeignKey("agents.id"), primary_key=True),
    Column("purpose", Text, primary_key=True),
    _number("until"),
    _text("reason"),
    _number("failures"),
    _text("message", null=True),
    Column("program", Text, primary_key=True),
)
"""`program`: the name of the one that failed, with its model if that is set; empty: any would fail."""

accounts = Table(
    "accounts",
    metadata,
    _id(),
    _number("until"),
    _text("reason"),
)
"""Provider accounts whose quota is used up: their agents are not started until then."""

quota_windows = Table(
    "quota_windows",
    metadata,
    Column("account", Text, primary_key=True),
    Column("length", Text, primary_key=True),
    _number("length_ms"),
    _number("began_at", null=True),
    _number("used"),
    _number("set_limit", null=True),
    _number("learnt_limit", null=True),
    _number("learnt_at", null=True),
    _number("reserve"),
    _flag("low_spare"),
)
"""What provider accounts have used in five hours, a day and a week, and what they may use."""

USAGE_SUMS = ("input_tokens", "cached_tokens", "output_tokens", "cost_usd", "turns", "tool_calls", "lower_bound")
"""What is added up, in the index by which it is found: years of it are read without the rows."""

usages = Table(
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
    Index("usages_sums", "project_id", "day", *USAGE_SUMS),
    Index("usages_agent", "agent_id", "day"),
    Index("usages_task", "task_id"),
)
"""What the program of one launch used, as reported so far; `day` is the UTC day of its start, in days since 1970."""

usage_days = Table(
    "usage_days",
    metadata,
    Column("project_id", Text, ForeignKey("projects.id"), primary_key=True),
    Column("day", BigInteger, primary_key=True, autoincrement=False),
    Column("agent_id", Text, ForeignKey("agents.id"), primary_key=True),
    Column("task_id", Text, primary_key=True),
    Column("purpose", Text, primary_key=True),
    Column("provider", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    _number("launches"),
    _number("input_tokens"),
    _number("cached_tokens"),
    _number("output_tokens"),
    Column("cost_usd", Float, nullable=True),
    _number("turns"),
    _number("tool_calls"),
    _number("without_price"),
    _number("lower_bounds"),
    Index("usage_days_agent", "agent_id", "day"),
    Index("usage_days_task", "task_id"),
)
"""Sums of `usages` of deleted launches (`retention.py`); a key that says nothing is the empty text."""

worktrees = Table(
    "worktrees",
    metadata,
    *columns(Worktree, before={"moved_base": _text("touched", null=True)}),
    Index("worktrees_created", "project_id", "created_at", "task_id"),
    Index("worktrees_open", "created_at", **_where("state = 'open'")),
)

worktree_jobs = Table(
    "worktree_jobs",
    metadata,
    *columns(WorktreeJob),
    Index("worktree_jobs_task", "task_id", "created_at"),
    Index("worktree_jobs_waiting", "coordinator_id", **_where("finished_at IS NULL")),
)
"""Worktree jobs for a Coordinator: show a diff, merge, discard."""

decisions = Table(
    "decisions",
    metadata,
    Column("agent_id", Text, primary_key=True),
    Column("project_id", Text, primary_key=True),
    Column("purpose", Text, primary_key=True),
    _text("said"),
    _number("since"),
)
"""The last recorded launch decision; only a different one is recorded as an event."""

batches = Table(
    "batches",
    metadata,
    Column("agent_id", Text, primary_key=True),
    Column("scope", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    _text("content"),
    _text("answer"),
    _number("created_at"),
    Index("batches_created", "created_at"),
)
"""Idempotency keys: the same key with the same content gets the first answer again."""

logs = Table(
    "logs",
    metadata,
    Column("launch_id", Text, ForeignKey("launches.id"), primary_key=True),
    Column("start", BigInteger, primary_key=True, autoincrement=False),
    _number("length"),
    _text("text"),
    _number("at", null=True),
)

checks = Table(
    "checks",
    metadata,
    *columns(Check),
    Index("checks_task", "task_id"),
    Index("checks_launch", "launch_id"),
    Index("checks_waiting", "created_at", **_where("finished_at IS NULL")),
)

artifacts = Table(
    "artifacts",
    metadata,
    *columns(Artifact),
    Index("artifacts_name", "check_id", "place", "name", unique=True),
    Index("artifacts_task", "task_id"),
)
"""Files that checks left as evidence. `place`: of the check among those that ran together."""

artifact_pieces = Table(
    "artifact_pieces",
    metadata,
    Column("artifact_id", Text, ForeignKey("artifacts.id"), primary_key=True),
    Column("start", BigInteger, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)
"""Their bytes, as they arrive."""

sign_ins = Table(
    "sign_ins",
    metadata,
    *columns(SignIn, before={"page_hash": _text("token_hash")}),
    UniqueConstraint("token_hash"),
    Index("sign_ins_person", "agent_id", "created_at"),
)
"""Browsers that people are or were signed in with."""

sign_in_links = Table(
    "sign_in_links",
    metadata,
    *columns(
        SignInLink,
        before={"agent_id": Column("code_hash", Text, primary_key=True), "made_by": _number("used_at", null=True)},
    ),
)
"""One-time sign-in links."""

people = Table(
    "people",
    metadata,
    *columns(Account),
    UniqueConstraint("subject"),
)
"""How a person signs in without a link: a password, or their subject at an identity provider."""

access_tokens = Table(
    "access_tokens",
    metadata,
    *columns(AccessToken),
    _text("token_hash"),
    UniqueConstraint("token_hash"),
    Index("access_tokens_person", "agent_id", "created_at"),
)
"""Access tokens of people's programs."""

departures = Table(
    "departures",
    metadata,
    Column("state_hash", Text, primary_key=True),
    _number("expires_at"),
)
"""Pending sign-ins at the identity provider, by their one-time state."""

visits = Table(
    "visits",
    metadata,
    Column("person_id", Text, ForeignKey("agents.id"), primary_key=True),
    _number("at"),
)
"""When a person last dismissed the summary of what happened while they were away."""

push_subscriptions = Table(
    "push_subscriptions",
    metadata,
    *columns(PushSubscription),
    UniqueConstraint("sign_in_id"),
    UniqueConstraint("endpoint"),
    Index("push_subscriptions_person", "person_id"),
)
"""Browsers that receive notifications; each belongs to a sign-in."""

notification_preferences = Table(
    "notification_preferences",
    metadata,
    *columns(NotificationPreferences),
)

push_keys = Table(
    "push_keys",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    _text("private_key"),
    _number("created_at"),
)
"""One row, or none yet: the key by which push services know this installation (VAPID)."""

saved_views = Table(
    "saved_views",
    metadata,
    *columns(SavedView),
    Index("saved_views_project", "project_id"),
)
"""Views of a project that people have saved under a name, for themselves or for everybody."""

task_templates = Table(
    "task_templates",
    metadata,
    *columns(TaskTemplate),
)
"""Trees of tasks with parameters, which people use as often as needed."""

questions = Table(
    "questions",
    metadata,
    *columns(Question),
    Index("questions_task", "task_id", "created_at"),
    Index("questions_project", "project_id", "created_at"),
    Index("questions_alike", "project_id", "alike"),
    Index("questions_open", "deadline", **_where("state = 'open'")),
)
"""What agents ask people, with the answers."""

schedules = Table(
    "schedules",
    metadata,
    *columns(Schedule),
    Index("schedules_project", "project_id"),
    Index("schedules_due", "next_at", **_where(IS_SCHEDULED)),
)
"""Tasks that are created at certain times."""

schedule_runs = Table(
    "schedule_runs",
    metadata,
    *columns(ScheduleRun),
    Index("schedule_runs_schedule", "schedule_id", "scheduled_at"),
    Index("schedule_runs_task", "task_id"),
    Index("schedule_runs_open", "schedule_id", **_where(IS_RUNNING)),
)
"""What became of the times of schedules."""

webhooks = Table(
    "webhooks",
    metadata,
    *columns(Webhook),
    Index("webhooks_project", "project_id"),
)
"""Tasks that are created when another program sends a signed request."""

webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    *columns(WebhookDelivery),
    Index("webhook_deliveries_webhook", "webhook_id", "at"),
    Index("webhook_deliveries_task", "task_id"),
    Index("webhook_deliveries_open", "webhook_id", **_where(IS_RUNNING)),
    Index("webhook_deliveries_key", "webhook_id", "key", unique=True, **_where("task_id IS NOT NULL")),
)
"""What became of the requests that webhooks have received."""

memories = Table(
    "memories",
    metadata,
    *columns(Memory),
    Index("memories_project", "project_id", "created_at"),
    Index("memories_alike", "project_id", "alike"),
    Index("memories_task", "task_id"),
)
"""What agents and people have noted about a project."""

search_terms = Table(
    "search_terms",
    metadata,
    Column("project_id", Text, ForeignKey("projects.id"), primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("term", Text, primary_key=True),
    Column("source_id", Text, primary_key=True),
    _text("task_id", null=True),
    Index("search_terms_source", "source_id"),
    Index("search_terms_task", "task_id"),
)
"""By which terms memories, completed tasks, handoffs and conversations are found. `task_id`: with which task they
are deleted."""

search_progress = Table(
    "search_progress",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    _number("events_to"),
)
"""One row, or none yet: up to which event what was said is found."""

merge_queue_entries = Table(
    "merge_queue_entries",
    metadata,
    *columns(MergeQueueEntry),
    Index("merge_queue_entries_task", "task_id", "added_at"),
    Index("merge_queue_entries_ended", "project_id", "ended_at"),
    Index("merge_queue_entries_waiting", "project_id", "position", **_where("state IN ('queued', 'checking')")),
    Index("merge_queue_entries_of_task", "task_id", unique=True, **_where("state IN ('queued', 'checking')")),
    Index(
        "merge_queue_entries_returned",
        "ended_at",
        **_where("state IN ('failed', 'conflict') AND changes_task_id IS NULL"),
    ),
)
"""The work of tasks that waits to be merged, or has waited."""

merge_queues = Table(
    "merge_queues",
    metadata,
    *columns(MergeQueue),
)
"""What people have set for the merge queue of a project: no row, nothing."""

coordinators = Table(
    "coordinators",
    metadata,
    _id(),
    _text("providers"),
    _number("seen_at"),
    _number("running"),
    _text("machine", null=True),
    _text("disk", null=True),
)

directory = Table(
    "directory",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    _number("stamp"),
)
"""One row, with a random number that every change of the directory replaces (`engine/directory_memory.py`)."""

retention = Table(
    "retention",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    _number("begins_at"),
    _number("events_to"),
    _number("audit_to"),
    _number("horizon"),
)
"""One row, or none yet: how far old events were deleted (`retention.py`)."""

DIRECTORY = (projects, agents, memberships, api_keys, tokens, people, access_tokens, sign_ins)
"""The tables of the directory: triggers give `directory` a new stamp when one of them changes. No column of theirs may
be one that calls write often: what was remembered is lost each time.
"""
for _table in DIRECTORY:
    _table.info["directory"] = True
TRIGGERS = {
    "sqlite": [f"{table.name}_{event}" for table in DIRECTORY for event in ("inserted", "updated", "deleted")],
    "postgresql": [f"{table.name}_{event}" for table in DIRECTORY for event in ("changed", "truncated")],
}
"""Their names, by database."""

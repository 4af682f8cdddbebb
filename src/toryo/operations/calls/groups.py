"""The groups of operations, in the order in which the reference shows them. Importing one declares its operations."""

from __future__ import annotations

import importlib

GROUPS = (
    "overview.health",
    "overview.help",
    "sessions.agent_sign_in",
    "sessions.work_tools",
    "sessions.completion_report",
    "sessions.handoffs",
    "tasks.read_tools",
    "tasks.create_tools",
    "tasks.move_tools",
    "tasks.manager_tools",
    "tasks.edit_tools",
    "directory.team",
    "tasks.request_tools",
    "tasks.question_tools",
    "chat.delegation_tools",
    "chat.chat_tools",
    "queue.agent_registration",
    "queue.presence",
    "queue.polling",
    "queue.task_results",
    "queue.shared_state",
    "launches.agent_actions",
    "launches.claim_starts",
    "launches.check_results",
    "launches.process_exit_reports",
    "launches.logs",
    "worktrees.coordinator_reports",
    "worktrees.rest",
    "worktrees.combined",
    "worktrees.requesting_changes",
    "admin.projects",
    "admin.members",
    "admin.agents",
    "admin.force_end",
    "tasks.rest",
    "chat.rest",
    "overview.needs_rest",
    "tasks.question_rest",
    "overview.conditions_rest",
    "queue.api_keys",
    "queue.queue_agents",
    "queue.dead_letters",
    "tasks.trace",
    "people.browser_sign_in",
    "people.accounts",
    "people.access_tokens",
    "people.browser_notifications",
    "overview.why",
    "overview.events",
    "overview.sessions_and_launches",
    "overview.launch_log",
    "overview.server_status",
    "overview.home",
    "overview.saved_views",
    "overview.news",
    "admin.demo",
    "admin.retention",
    "tasks.board",
    "tasks.search",
    "overview.usage",
    "overview.resources",
    "overview.prompts",
    "tasks.batch",
    "sessions.deprecated_tools",
)
"""`sessions.deprecated_tools` comes last: its names are further names of the operations above."""


def load() -> None:
    """Declares every operation, what each call does to its session, and which queue calls are carried out together."""
    for each in ("sessions.hooks", *GROUPS, "queue.batched"):
        importlib.import_module(f"toryo.operations.{each}")

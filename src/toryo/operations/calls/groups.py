"""The groups of operations, in the order in which the reference shows them. Importing one declares its operations."""

from __future__ import annotations

import importlib

GROUPS = (
    "overview.health",
    "sessions.sign_in",
    "sessions.work",
    "sessions.handoffs",
    "tasks.read_tools",
    "tasks.create_tools",
    "tasks.move_tools",
    "tasks.manager_tools",
    "tasks.edit_tools",
    "directory.team",
    "tasks.request_tools",
    "chat.delegations",
    "chat.tools",
    "queue.presence",
    "queue.polling",
    "queue.results",
    "queue.shared_state",
    "launches.one_by_one",
    "launches.claim_starts",
    "launches.check_results",
    "launches.exits",
    "launches.logs",
    "worktrees.jobs",
    "worktrees.rest",
    "admin.projects",
    "admin.members",
    "admin.agents",
    "admin.sessions",
    "tasks.rest",
    "chat.rest",
    "overview.needs_rest",
    "queue.api_keys",
    "queue.queue_agents",
    "queue.dead_letters",
    "tasks.trace",
    "people.sign_in",
    "people.accounts",
    "people.access_tokens",
    "overview.activity",
    "overview.home",
    "admin.demo",
    "tasks.board",
    "overview.usage",
    "overview.resources",
    "overview.prompts",
    "tasks.batch",
    "sessions.deprecated",
)
"""`sessions.deprecated` comes last: its names stand for operations of the others."""


def load() -> None:
    """Declares every operation, and installs what sessions need of the path of a call."""
    for each in ("sessions.hooks", *GROUPS):
        importlib.import_module(f"toryo.operations.{each}")

"""The groups of operations, in the order in which the reference shows them. Importing one declares its operations."""

from __future__ import annotations

import importlib

GROUPS = (
    "opening",
    "signing_in",
    "work",
    "tasks",
    "managing",
    "team",
    "requesting",
    "delegating",
    "chat",
    "queue",
    "shared_state",
    "coordination",
    "errands",
    "worktrees",
    "administration",
    "filing",
    "threads",
    "needing",
    "keys",
    "tracing",
    "entering",
    "accounts",
    "access",
    "overview",
    "glancing",
    "demo",
    "boarding",
    "spending",
    "reading",
    "prompting",
    "batch",
    "former",
)
"""`former` comes last: its names stand for operations of the others."""


def load() -> None:
    """Declares every operation."""
    for each in GROUPS:
        importlib.import_module(f"toryo.operations.{each}")

"""Conditions of a project: what keeps all or part of its work from going on, or is off for everybody who looks at it.

A condition is about the project; a need (`needs.py`) asks one person to do something.
"""

from __future__ import annotations

from enum import StrEnum


class Condition(StrEnum):
    """In the order in which they are told. Of an archived or paused project, nothing else is."""

    ARCHIVED = "archived"
    PAUSED = "paused"
    NO_TEAM = "no_team"
    COORDINATOR_GONE = "coordinator_gone"
    PROGRAM_MISSING = "program_missing"
    BUDGET_USED_UP = "budget_used_up"
    QUOTA_USED_UP = "quota_used_up"
    QUOTA_KEPT = "quota_kept"

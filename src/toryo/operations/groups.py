"""The groups of operations, in the order in which the reference shows them. Importing one declares its operations."""

from __future__ import annotations


def load() -> None:
    """Declares every operation."""
    from toryo.operations import (  # noqa: F401
        administration,
        coordination,
        filing,
        managing,
        opening,
        overview,
        signing_in,
        tasks,
        work,
    )

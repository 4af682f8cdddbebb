"""Limits on the commands of acceptance checks: for Coordinators, which run them, and servers, which say so."""

from __future__ import annotations

TIME_LIMIT = 600
"""Seconds for a command that names no `timeout_seconds`."""
MOST_RETRIES = 5
"""How often a command may run again after a failure."""
TAIL = 4_000
"""Characters of the end of its output that are kept."""
TOLD = 2_000
"""Characters of that end that an agent is told."""

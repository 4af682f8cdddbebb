"""The limits of one Coordinator: number of processes, and time limits of each step of starting and ending.

How long a process may answer without doing anything is in `stop_escalation.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from toryo.coordinator.launch_state import Seconds
from toryo.usual_slots import USUAL_SLOTS


@dataclass(frozen=True, slots=True)
class Limits:
    """`leaving_since`: when the Coordinator itself was ordered to stop; then its agents stop, too."""

    max_concurrent: int = USUAL_SLOTS
    max_chat: int = USUAL_SLOTS
    terminate_after: Seconds = 10.0
    kill_after: Seconds = 5.0
    leftovers_for: Seconds = 2.0
    """How long other processes of the group may take to end after SIGTERM."""
    start_within: Seconds = 100.0
    """An order older than this is no longer started: the server expires it a little later (`SIGN_IN_WITHIN` in
    domain/launches.py)."""
    leaving_since: Seconds | None = None

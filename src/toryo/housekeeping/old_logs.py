"""Deletes old output of agents' programs. Launches, the end of their output and their usage are kept."""

from __future__ import annotations

from toryo.operations.calls.call import Call
from toryo.operations.overview import launch_log

AT_ONCE = 20
"""Launches in one round: others wait for as long as their output is being deleted, at most 2 MB of each."""


def forget(call: Call) -> int:
    """Of how many launches the output was deleted."""
    return call.tx.launches.delete_logs(launch_log.oldest_kept(call), AT_ONCE)

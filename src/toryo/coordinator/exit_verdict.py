"""Classifies the end of a launch's process, and reports it to the server.

Ends caused by this Coordinator are classified here, all others by the program's provider (`failure_words.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from toryo.coordinator.failure_words import judge_trouble, judge_unsigned, session_is_lost
from toryo.coordinator.launches_in_hand import Entry
from toryo.coordinator.logs import Log
from toryo.coordinator.processes import Gone, Process
from toryo.coordinator.program_output import Reading
from toryo.coordinator.provider import FINE, Exit, Verdict
from toryo.failures import Ended, Failure

LONGEST_WORDS = 500
NOT_SIGNED_IN = "not_signed_in"
"""The reason with which the server stops a process that did not sign in in time."""
_ORDERED: Mapping[str, Failure | Ended] = {
    "time_limit": Failure.TIMED_OUT,
    "turn_limit": Failure.TURN_LIMIT,
    "no_progress": Failure.RUNAWAY,
    "output_flood": Failure.OUTPUT_FLOOD,
    "out_of_patience": Failure.RATE_LIMITED,
    "coordinator_leaves": Ended.COORDINATOR_STOPPED,
}


def exit_of(process: Process, reading: Reading, output: Log | None) -> Exit:
    words = reading.plain if reading.parse is not None else output.tail if output is not None else ""
    now = datetime.now().astimezone()
    return Exit(process.exit_code, process.signal, words, reading.trouble, reading.not_connected, now)


def verdict(entry: Entry, end: Exit, reading: Reading) -> Verdict:
    """A process that this Coordinator stopped did not fail, whatever it printed, unless it exceeded a limit."""
    if entry.stop is not None and entry.made_to_leave:
        if entry.stop.reason == NOT_SIGNED_IN:
            return judge_unsigned(replace(end, trouble=entry.trouble), silent=reading.unanswered)
        if entry.stop.reason == "out_of_patience" and entry.trouble is not None:
            return judge_trouble(entry.trouble, end.now)
        return Verdict(_ORDERED.get(entry.stop.reason, Ended.STOPPED))
    if entry.provider is None or (end.exit_code is None and end.signal is None):
        # an adopted process: its exit code is unknown, only its output may tell how it ended
        if end.trouble is not None and end.trouble.final:
            return judge_trouble(end.trouble, end.now)
        return Verdict(Ended.COORDINATOR_STOPPED) if isinstance(entry.process, Gone) else FINE
    return entry.provider.judge(end)


def exit_code(end: Exit, verdict: Verdict) -> int | None:
    """The exit code; 0 if its provider says that this end is no failure, whatever the program's own exit code."""
    return 0 if verdict is FINE and end.exit_code else end.exit_code


def error(verdict: Verdict, entry: Entry) -> str | None:
    """The failure class, and the program's message about it."""
    if verdict.failure is None:
        return None
    words = " ".join(verdict.words.split())[:LONGEST_WORDS]
    masked = entry.mask(words) if entry.mask is not None else words
    return f"{verdict.failure.value}: {masked}" if masked else verdict.failure.value


def program_session(entry: Entry, reading: Reading, verdict: Verdict) -> dict[str, Any] | None:
    """What a later launch may resume; None: it starts a new one."""
    resumed = bool(entry.launch.program_session)
    if reading.session_id is None or session_is_lost(verdict, reading.plain, resumed=resumed):
        return None
    return {"id": reading.session_id, "totals": reading.totals}

"""Runs the chores, in a thread of its own, until it is closed. A chore that fails is logged and tried again. Another
thread looks each second whether this server has been stopped, or its machine was asleep (`operations/calls/awake.py`).

Between the rounds it only looks after schedules and tasks in line, as soon as the time of one comes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import structlog

from toryo.housekeeping import (
    due_schedules,
    expired_sessions,
    notice_outbox,
    old_idempotency_keys,
    old_logs,
    old_sign_ins,
    old_worktrees,
    overdue_questions,
    search_index,
    stale_queues,
    stale_talk,
    stalled_tasks,
    stored_amounts,
    waiting_merges,
    waiting_reviews,
)
from toryo.housekeeping.planner_statistics import PlannerStatistics
from toryo.housekeeping.retention import Retention
from toryo.operations.calls import awake
from toryo.operations.calls.call import Call
from toryo.operations.calls.dispatch import Dispatcher
from toryo.operations.launches import after_a_gap
from toryo.operations.tasks import lines
from toryo.operations.worktrees import pull_requests

_log = structlog.get_logger("toryo.housekeeping")

CHORES: tuple[tuple[str, Callable[[Call], Any]], ...] = (
    ("sweep", expired_sessions.sweep),
    ("stalls", stalled_tasks.notice),
    ("talk", stale_talk.tidy),
    ("questions", overdue_questions.take_defaults),
    (waiting_reviews.REVIEWS, waiting_reviews.start),
    (lines.LINES, lines.go_on),
    (due_schedules.SCHEDULES, due_schedules.create_tasks),
    ("queues", stale_queues.tidy),
    ("notices", notice_outbox.note),
    ("logs", old_logs.forget),
    ("worktrees", old_worktrees.tidy),
    ("merge_queues", waiting_merges.advance),
    (pull_requests.PULL_REQUESTS, pull_requests.look),
    ("people", old_sign_ins.tidy),
    ("keys", old_idempotency_keys.forget),
    (search_index.SEARCH, search_index.add_new),
)
MOST_PARTS = 50
"""How often what is due is looked for again before a pause, as long as there is more."""
LOOKS_EVERY = 30.0
"""Maximum seconds between rounds, so that a stall is noticed within the stall time."""


class Housekeeping:
    """Rounds come every `session.cleanup_interval` seconds, at the latest every 30."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._statistics = PlannerStatistics()
        self._retention = Retention(dispatcher)
        self._closing = threading.Event()
        self._every = min(LOOKS_EVERY, float(dispatcher.settings.session.cleanup_interval))
        self._thread = threading.Thread(target=self._run, name="toryo-housekeeping", daemon=True)
        self._gaps = threading.Thread(target=self._look_for_gaps, name="toryo-gaps", daemon=True)

    def begin(self) -> None:
        """Before the first call is answered: what nobody could say while there was no server counts as said."""
        self._dispatcher.watch_for_gaps(after_a_gap.count_as_heard)

    def start(self) -> None:
        self._thread.start()
        self._gaps.start()

    def close(self) -> None:
        self._closing.set()
        for thread in (self._thread, self._gaps):
            if thread.is_alive():
                thread.join(timeout=10)

    def round(self) -> None:
        """Every chore once."""
        chores: tuple[tuple[str, Callable[[Call], Any]], ...] = (*CHORES, ("statistics", self._statistics))
        for name, chore in chores:
            self._do(name, chore, parts=search_index.MOST_PARTS if name == search_index.SEARCH else 1)
        try:
            self._retention.round(self._closing.wait)
        except Exception as error:  # noqa: BLE001 - as above
            _log.warning("chore_failed", chore="retention", error=str(error))
        try:
            stored_amounts.measure(self._dispatcher)
        except Exception as error:  # noqa: BLE001 - as above
            _log.warning("chore_failed", chore="stored_amounts", error=str(error))

    def _do(self, name: str, chore: Callable[[Call], Any], parts: int = 1) -> None:
        """`parts`: how often at most, as long as the chore says that more is left."""
        try:
            while self._dispatcher.housekeep(chore) and (parts := parts - 1) > 0 and not self._closing.is_set():
                pass
        except Exception as error:  # noqa: BLE001 - a chore that fails must not end the others, or the server
            _log.warning("chore_failed", chore=name, error=str(error))

    def _run(self) -> None:
        left = self._every
        while not self._closing.wait(pause := min(left, self._until_something_is_due())):
            left -= pause
            if left > 0:
                self._do(due_schedules.SCHEDULES, due_schedules.create_tasks)
                self._do(lines.LINES, lines.come_due, parts=MOST_PARTS)
            else:
                self.round()
                left = self._every

    def _look_for_gaps(self) -> None:
        while not self._closing.wait(awake.LOOKS_EVERY):
            try:
                self._dispatcher.notice_gap()
            except Exception as error:  # noqa: BLE001 - as above
                _log.warning("chore_failed", chore="gaps", error=str(error))

    def _until_something_is_due(self) -> float:
        """Seconds, at least one."""
        try:
            waits = self._dispatcher.in_passing(_until_due, reads=True)
        except Exception as error:  # noqa: BLE001 - as above
            _log.warning("chore_failed", chore=due_schedules.SCHEDULES, error=str(error))
            return self._every
        return max(1.0, min(waits, default=self._every))


def _until_due(call: Call) -> list[float]:
    return [wait for wait in (due_schedules.until_due(call), lines.until_due(call)) if wait is not None]

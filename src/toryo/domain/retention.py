"""What is deleted when it is old: the kinds, up to which instant each of them is, and when nothing is for a while.

How each kind is found and deleted is in `storage/retention.py`, the periods are settings (`settings.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from toryo.domain.times import DAY, Millis

WAITS: Millis = 14 * DAY
"""Nothing is deleted for this long after a restore, because a backup is often restored to be looked at; and after as
long without a round."""


class Kind(StrEnum):
    """In the order in which they are deleted: what refers to others first."""

    NOTIFICATIONS = "notifications"
    CHAT_PANELS = "chat_panels"
    LAUNCHES = "launches"
    MESSAGES = "messages"
    CONVERSATIONS = "conversations"
    QUEUE_TASKS = "queue_tasks"
    TASKS = "tasks"
    AUDIT = "audit"
    EVENTS = "events"


PERIOD_OF: Mapping[Kind, str] = {
    Kind.NOTIFICATIONS: "launch_days",
    Kind.CHAT_PANELS: "launch_days",
    Kind.LAUNCHES: "launch_days",
    Kind.MESSAGES: "message_days",
    Kind.CONVERSATIONS: "message_days",
    Kind.QUEUE_TASKS: "queue_task_days",
    Kind.TASKS: "task_days",
    Kind.AUDIT: "audit_days",
    Kind.EVENTS: "event_days",
}
"""The setting with the period of each kind."""

Cutoffs = Mapping[Kind, Millis]
"""Rows before this instant are old; 0: none of this kind ever is."""


def cutoffs(days: Mapping[str, int], now: Millis) -> dict[Kind, Millis]:
    """From the settings; a period of 0 days means indefinitely."""
    return {kind: max(0, now - days[name] * DAY) if days[name] else 0 for kind, name in PERIOD_OF.items()}

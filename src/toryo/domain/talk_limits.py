"""Time and rate limits of messages and conversations: defaults of the server's settings.

The length of a message is in `messages.py`, the number of turns in `conversations.py`.
"""

from __future__ import annotations

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import HOUR, MINUTE, SECOND, Millis

MESSAGE_WINDOW: Millis = MINUTE
"""The window of the rate limit for messages."""
CONVERSATION_WINDOW: Millis = HOUR
"""The window in which conversations of the same two agents are counted."""
NOTICES_PER_HOUR = 5
"""One-way messages from one agent to another. Nobody takes turns there, so only this ends an exchange of them."""
NOTICE_WINDOW: Millis = HOUR


@dataclass(frozen=True, slots=True)
class TalkLimits:
    """Times are milliseconds."""

    start_timeout: Millis = 300 * SECOND
    """A message without a chat session after this time is reported to its sender."""
    idle_timeout: Millis = 600 * SECOND
    invitation: Millis = 300 * SECOND
    silence: Millis = 600 * SECOND
    ending: Millis = 600 * SECOND
    delegation_timeout: Millis = 86_400 * SECOND
    delegation_attempts: int = 3
    viewer_lease: Millis = 45 * SECOND
    """A panel that has not reported for this long is closed."""
    messages_per_minute: int = 30
    conversations_per_hour: int = 6

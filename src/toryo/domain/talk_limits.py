"""How long talk may take, and how much of it there may be: the defaults of the server's settings.

How long a message is stands in `messages.py`, how many turns a conversation has in `conversations.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from toryo.domain.times import HOUR, MINUTE, SECOND, Millis

MESSAGE_WINDOW: Millis = MINUTE
"""In which messages are counted for the rate limit."""
CONVERSATION_WINDOW: Millis = HOUR
"""In which conversations of the same two are counted."""


@dataclass(frozen=True, slots=True)
class TalkLimits:
    """Times are milliseconds."""

    start_timeout: Millis = 300 * SECOND
    """A message for which no chat session has signed in by then is reported to its writer."""
    idle_timeout: Millis = 600 * SECOND
    invitation: Millis = 300 * SECOND
    silence: Millis = 600 * SECOND
    ending: Millis = 600 * SECOND
    delegation_timeout: Millis = 86_400 * SECOND
    delegation_attempts: int = 3
    viewer_lease: Millis = 45 * SECOND
    """A panel that has not been heard of for so long is closed."""
    messages_per_minute: int = 30
    conversations_per_hour: int = 6

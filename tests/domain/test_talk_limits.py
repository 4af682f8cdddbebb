"""How much talk there may be, and how long it may take."""

from __future__ import annotations

from toryo.domain import conversations, messages
from toryo.domain.talk_limits import TalkLimits
from toryo.domain.times import SECOND

LIMITS = TalkLimits()


def test_the_limits_are_those_of_the_specification() -> None:
    seconds = {
        name: getattr(LIMITS, name) // SECOND
        for name in ("start_timeout", "idle_timeout", "invitation", "silence", "ending", "delegation_timeout")
    }
    assert seconds == {
        "start_timeout": 300,
        "idle_timeout": 600,
        "invitation": 300,
        "silence": 600,
        "ending": 600,
        "delegation_timeout": 86_400,
    }
    assert (LIMITS.delegation_attempts, LIMITS.messages_per_minute, LIMITS.conversations_per_hour) == (3, 30, 6)
    assert (conversations.FEWEST_TURNS, conversations.MOST_TURNS, conversations.USUAL_TURNS) == (2, 40, 20)
    assert (messages.LONGEST_MESSAGE, messages.HANDED_OUT_AT_ONCE) == (4_000, 20)

"""The rate limit of messages from one member to another, so that two agents cannot flood each other.

The numbers are in `domain/talk_limits.py`; the limit on conversations is in `conversations.py`.
"""

from __future__ import annotations

from toryo.domain.errors import Code, Refusal
from toryo.domain.talk_limits import MESSAGE_WINDOW, NOTICE_WINDOW, NOTICES_PER_HOUR
from toryo.domain.wording import say
from toryo.operations.calls.call import Call


def refuse_flood(call: Call, project_id: str, writer_id: str, to_id: str) -> None:
    limit = call.context.talk.messages_per_minute
    nth = call.tx.chat.nth_last(project_id, writer_id, to_id, limit)
    if nth is not None and call.now - nth < MESSAGE_WINDOW:
        raise Refusal(
            Code.RATE_LIMITED,
            say(
                "{writer_id} may send {to_id} {limit} messages a minute. This message was not stored.",
                limit=limit,
                writer_id=writer_id,
                to_id=to_id,
            ),
            "Wait, then combine your messages into one.",
            retry_after=(MESSAGE_WINDOW - (call.now - nth)) // 1000 + 1,
        )


def refuse_notices(call: Call, project_id: str, writer_id: str, to_id: str) -> None:
    """The limit of one-way messages between agents. Raises Refusal."""
    nth = call.tx.chat.nth_last_notice(project_id, writer_id, to_id, NOTICES_PER_HOUR)
    if nth is not None and call.now - nth < NOTICE_WINDOW:
        raise Refusal(
            Code.RATE_LIMITED,
            say(
                "{writer_id} may send {to_id} {limit} one-way messages an hour. This message was not stored.",
                limit=NOTICES_PER_HOUR,
                writer_id=writer_id,
                to_id=to_id,
            ),
            say('If you need an answer, call start_conversation(target_agent_id="{to_id}", ...).', to_id=to_id),
            retry_after=(NOTICE_WINDOW - (call.now - nth)) // 1000 + 1,
        )

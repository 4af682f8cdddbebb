"""What a server does after a time in which nobody could reach it: who was there before counts as heard just now.

So everybody has a lease's time to speak before anything of theirs is ended, and who does not use it is gone as always.
When there was a gap is decided in `calls/awake.py`; this runs before anything else is decided by what has run out.
"""

from __future__ import annotations

from toryo.domain.coordinators import GONE_AFTER
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import SIGN_IN_WITHIN, State
from toryo.domain.times import SECOND
from toryo.operations.calls.call import Call


def count_as_heard(call: Call) -> None:
    for session in call.tx.sessions.live():
        until = call.now + session.lease_seconds * SECOND
        call.tx.sessions.save(session, replace(session, expires_at=until, heard_at=call.now))
    for launch in call.tx.launches.live():
        if launch.state is State.ORDERED:
            call.tx.launches.save(launch, replace(launch, deadline=call.now + SIGN_IN_WITHIN))
    for check in call.tx.launches.checks_waiting():
        if check.taken_at is not None:
            call.tx.launches.save_check(check, replace(check, taken_at=call.now))
    for conversation in call.tx.chat.all_unsettled():
        if conversation.open:
            call.tx.chat.save_conversation(conversation, replace(conversation, last_turn_at=call.now))
    call.tx.coordinators.count_as_heard(call.now, GONE_AFTER)
    call.tx.queues.count_as_heard(call.now)
    call.tx.chat.count_viewers_as_heard(call.now)

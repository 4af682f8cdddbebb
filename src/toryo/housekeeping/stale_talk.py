"""Ends abandoned invitations, silent conversations and delegations, and tells senders that no one has answered.

Here is decided when a delegation expires and when a message has waited too long; `domain/conversations.py` decides when
a conversation expires, also when it is read earlier. The times are in `domain/talk_limits.py`.
"""

from __future__ import annotations

from functools import partial

from toryo.domain.delegations import Delegation
from toryo.domain.launches import Purpose
from toryo.domain.messages import Message
from toryo.domain.times import SECOND
from toryo.domain.wording import say
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced, fenced
from toryo.operations.launches import launch_decisions, reason_texts
from toryo.operations.messaging import conversations, delegations, messages

TALK = "talk"


def tidy(call: Call) -> int:
    """How many conversations, delegations and waiting messages it dealt with."""
    call.tx.chat.close_stale_viewers(call.now - call.context.talk.viewer_lease)
    done = sum(each_fenced(call, TALK, call.tx.chat.all_unsettled(), partial(conversations.lapse_one, call)))
    done += sum(each_fenced(call, TALK, call.tx.chat.all_open_delegations(), partial(_fail_overdue, call)))
    # One system message to each writer for whose messages no chat session has signed in; each message once.
    told: set[tuple[str, str, str]] = set()
    nobody_could = call.context.awake.just_back(call.now, call.context.talk.start_timeout)
    for message in () if nobody_could else call.tx.chat.overdue(call.now - call.context.talk.start_timeout):
        look = partial(_tell_writer, call, message, told)
        fenced(call, TALK, look, None, agent_id=message.to_agent_id, project_id=message.project_id)
    return done + len(told)


def _fail_overdue(call: Call, delegation: Delegation) -> bool:
    """An open delegation that has waited too long has failed."""
    nobody_could = call.context.awake.just_back(call.now, call.context.settings.session.lease * SECOND)
    if nobody_could or call.now < delegation.created_at + call.context.talk.delegation_timeout:
        return False
    delegations.finish(call, delegation, "timed_out", success=False)
    return True


def _tell_writer(call: Call, message: Message, told: set[tuple[str, str, str]]) -> None:
    if _somebody_is_there(call, message):
        return
    pair = (message.project_id, message.from_agent_id, message.to_agent_id)
    call.tx.chat.unwatch_message(message)
    if pair not in told:
        _tell(call, message)
        told.add(pair)


def _somebody_is_there(call: Call, message: Message) -> bool:
    """Whether a session that existed when the message was stored has received it or still may. Its end restarts the
    time.
    """
    box = call.tx.chat.mailbox(message.project_id, message.to_agent_id)
    if box.cursor >= message.sequence and box.handed_session is None:
        call.tx.chat.unwatch_message(message)
        return True
    lives = Purpose.CHAT in call.tx.sessions.live_of(message.project_id, message.to_agent_id)
    return lives or call.now < box.left_at + call.context.talk.start_timeout


def _tell(call: Call, message: Message) -> None:
    _, decision = launch_decisions.decide(call, message.to_agent_id, message.project_id, Purpose.CHAT, changes=False)
    why = reason_texts.explanation(
        decision, message.to_agent_id, project_id=message.project_id, archived=decision.reason == "project_paused"
    )
    words = say(
        "{agent_id} has not read your message yet. The message is kept and delivered when the agent starts. {why}",
        agent_id=message.to_agent_id,
        why=why,
    )
    messages.tell_person(call, message.project_id, message.from_agent_id, message.to_agent_id, words, None)
    call.event(
        "message.nobody_came",
        project_id=message.project_id,
        agent_id=message.to_agent_id,
        data={"message_id": message.id, "from": message.from_agent_id, "reason": decision.reason},
    )

"""Stores mailboxes after a delivery to a chat session, and undoes the delivery to a lost one.

Storing messages is in `messages.py`.
"""

from __future__ import annotations

from toryo.domain.conversations import told_of_end
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Purpose
from toryo.domain.messages import Mailbox
from toryo.domain.sessions import Session
from toryo.operations.calls.call import WORK, Call


def topic(project_id: str, agent_id: str) -> str:
    """The topic of an agent's or a person's messages."""
    return f"chat:{project_id}:{agent_id}"


def wake(call: Call, project_id: str, *agent_ids: str) -> None:
    """Wakes the calls that wait for these agents' chats or decide whether their chat sessions run."""
    call.tx.hint(WORK, *(topic(project_id, each) for each in agent_ids))


def touch(call: Call, project_id: str, *agent_ids: str) -> None:
    """Something about these agents' talk has changed: counted, so that the same answer is told from a new one."""
    for each in agent_ids:
        call.tx.chat.save_mailbox(touched(call.tx.chat.mailbox(project_id, each)))


def touched(box: Mailbox) -> Mailbox:
    return replace(box, version=box.version + 1)


def confirm(call: Call) -> None:
    """The session's next call: what it was handed out has arrived."""
    session = call.session
    if session.purpose is not Purpose.CHAT or session.over:
        return
    box = call.tx.chat.mailbox(session.project_id, session.agent_id)
    if box.handed_session == session.id:
        call.tx.chat.save_mailbox(box.confirmed())


def take_back(call: Call, session: Session) -> Mailbox:
    """What a session that is over has not confirmed is handed out once more; answers the mailbox as it is then."""
    box = call.tx.chat.mailbox(session.project_id, session.agent_id)
    if box.handed_session != session.id:
        return box
    for conversation_id in box.handed_endings:
        conversation = call.tx.chat.conversation(conversation_id)
        if conversation is not None:
            again = told_of_end(conversation, session.agent_id, None)
            call.tx.chat.save_conversation(conversation, again)
    box = touched(_counted(call, box.taken_back()))
    call.tx.chat.save_mailbox(box)
    return box


def forget_over(call: Call, project_id: str, *agent_ids: str) -> None:
    """Unfetched messages of an ended conversation no longer start a session; they are still delivered."""
    for each in agent_ids:
        call.tx.chat.save_mailbox(touched(_counted(call, call.tx.chat.mailbox(project_id, each))))


def _counted(call: Call, box: Mailbox) -> Mailbox:
    """What is a reason to run, after the cursor or a conversation has changed."""
    return replace(box, newest=call.tx.chat.newest_reason(box))

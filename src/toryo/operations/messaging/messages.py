"""Stores and shows messages.

`store` is the only path: it stores a message, creates the work and wakes waiting calls. `partners.py` decides which
members may write to each other; `talk_limits.py` how many messages; `mailboxes.py` what is delivered.
"""

from __future__ import annotations

from toryo.domain import ids
from toryo.domain.agents import SYSTEM, Agent
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Purpose
from toryo.domain.messages import LONGEST_MESSAGE, Message, MessageKind, thread_of
from toryo.domain.projects import Language
from toryo.domain.wording import Worded
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.wire import wire
from toryo.operations.messaging import delegations, mailboxes, talk_limits
from toryo.operations.translations import translate


def store(
    call: Call,
    project_id: str,
    writer_id: str,
    to: Agent,
    content: str,
    *,
    conversation_id: str | None = None,
    related_task_id: str | None = None,
) -> Message:
    """Stores a message and creates the chat work. Raises Refusal above the rate that is allowed.

    Chat work wakes a waiting `claim_starts`, which starts a chat session of the recipient if none runs.
    """
    talk_limits.refuse_flood(call, project_id, writer_id, to.id)
    writer = call.tx.agents.find(writer_id)
    message = Message(
        id=call.new_id(ids.MESSAGE),
        project_id=project_id,
        sequence=call.tx.chat.next_sequence(project_id),
        thread=thread_of(writer_id, to.id),
        from_agent_id=writer_id,
        to_agent_id=to.id,
        kind=MessageKind.MESSAGE,
        content=content,
        conversation_id=conversation_id,
        related_task_id=related_task_id,
        created_at=call.now,
        watched=not to.human and writer is not None and writer.human,
    )
    _add(call, message)
    _mark_active(call, project_id, writer_id)
    if not to.human:
        box = call.tx.chat.mailbox(project_id, to.id)
        call.tx.chat.save_mailbox(mailboxes.touched(box.stored(message.sequence, call.now)))
        delegations.hand_back(call, project_id, to.id, writer_id)
    return message


def tell_person(call: Call, project_id: str, person_id: str, about: str, content: str, task_id: str | None) -> None:
    """A system message in a person's thread with an agent: shown to the person, never delivered to the agent. Stored in
    the project's language.
    """
    if isinstance(content, Worded):
        content = translate(content, _language(call, project_id))
    _add(
        call,
        Message(
            id=call.new_id(ids.MESSAGE),
            project_id=project_id,
            sequence=call.tx.chat.next_sequence(project_id),
            thread=thread_of(person_id, about),
            from_agent_id=SYSTEM,
            to_agent_id=person_id,
            kind=MessageKind.SYSTEM,
            content=content[:LONGEST_MESSAGE],
            conversation_id=None,
            related_task_id=task_id,
            created_at=call.now,
        ),
    )


def _language(call: Call, project_id: str) -> Language:
    project = call.tx.projects.find(project_id)
    return project.settings.language if project is not None else Language.ENGLISH


def _add(call: Call, message: Message) -> None:
    call.tx.chat.add(message)
    call.event(
        "message.sent",
        project_id=message.project_id,
        agent_id=message.to_agent_id,
        data={
            "message_id": message.id,
            "from": message.from_agent_id,
            "to": message.to_agent_id,
            "kind": message.kind.value,
            "conversation_id": message.conversation_id,
            "sequence": message.sequence,
        },
    )
    mailboxes.wake(call, message.project_id, *message.thread.split("|", 1))


def _mark_active(call: Call, project_id: str, writer_id: str) -> None:
    """A chat session that writes is not idle."""
    if call.has_session and call.session.purpose is Purpose.CHAT:
        box = call.tx.chat.mailbox(project_id, writer_id)
        call.tx.chat.save_mailbox(mailboxes.touched(replace(box, active_at=call.now)))


def is_notice(call: Call, message: Message) -> bool:
    """Whether it is a one-way message between agents: they write to each other only so and in conversations."""
    if message.conversation_id is not None or message.kind is not MessageKind.MESSAGE:
        return False
    both = [call.tx.agents.find(agent_id) for agent_id in (message.from_agent_id, message.to_agent_id)]
    return not any(agent is None or agent.human for agent in both)


def as_answer(call: Call, message: Message) -> schemas.Message:
    """A message as agents and people see it."""
    sender = call.tx.agents.find(message.from_agent_id)
    shown = _of_message(message)
    shown["from_name"] = sender.name if sender is not None else "Toryo"
    shown["from_kind"] = sender.kind.value if sender is not None else "system"
    shown["kind"] = "notice" if is_notice(call, message) else message.kind.value
    return shown


_of_message = wire(Message, schemas.Message, *("from_name", "from_kind", "kind"), message_id="id")

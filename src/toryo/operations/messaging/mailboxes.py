"""Messages and mailboxes: who may write to whom, storing, handing out, and taking back what a lost session got.

Storing a message, creating the work and waking whoever waits is one act, on every path: `store`.
"""

from __future__ import annotations

from dataclasses import replace

from toryo.domain import chat, ids
from toryo.domain.agents import SYSTEM, Agent, Role, superiors
from toryo.domain.chat import Mailbox, Message, MessageKind
from toryo.domain.errors import Code, Refusal
from toryo.domain.launches import Purpose
from toryo.domain.projects import Project, Status
from toryo.domain.sessions import Session
from toryo.domain.times import iso
from toryo.domain.wording import say
from toryo.operations.calls import reachable, schemas
from toryo.operations.calls.call import WORK, Call


def topic(project_id: str, agent_id: str) -> str:
    """What whoever waits for an agent's (or a person's) messages listens to."""
    return f"chat:{project_id}:{agent_id}"


# --- who may write to whom -------------------------------------------------------------------------------------------


def refuse_partner(call: Call, project: Project, writer: Agent, other: Agent) -> None:
    """Members of the same project, ancestors and descendants; owners may write to everybody and be written to."""
    if writer.id == other.id:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("{other_id} is you.", other_id=other.id),
            reachable.told(call.tx, call.caller) if call.of_agent else "Name somebody else.",
            target_agent_id=other.id,
        )
    if project.status is Status.ARCHIVED:
        raise Refusal(
            Code.NOT_NOW,
            say("Project {project_id} is archived: nobody comes to read.", project_id=project.id),
            "Nobody starts in it until a person resumes it."
            if call.of_agent
            else "A person resumes it first (toryo project resume PRJ).",
            project_id=project.id,
        )
    if not other.active:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("{other_id} is inactive: nobody comes to read.", other_id=other.id),
            reachable.told(call.tx, call.caller)
            if call.of_agent
            else "Write to an active member, or ask a person to activate it.",
            target_agent_id=other.id,
        )
    members = call.tx.agents.members_among(project.id, [writer.id, other.id])
    if len(members) == 2 or _owner(call, writer) or _owner(call, other) or _related(call, writer.id, other.id):
        return
    raise Refusal(
        Code.PERMISSION_DENIED,
        say(
            "{other_id} is neither a member of this project nor above or below {writer_id}.",
            other_id=other.id,
            writer_id=writer.id,
        ),
        reachable.told(call.tx, call.caller)
        if call.of_agent
        else "Write to a member of the project; a person can add one (toryo agent edit ID --project PRJ).",
        target_agent_id=other.id,
    )


def _related(call: Call, one: str, other: str) -> bool:
    above = {agent.id: agent.reports_to for agent in call.tx.agents.with_superiors((one, other))}
    return one in superiors(other, above) or other in superiors(one, above)


def _owner(call: Call, agent: Agent) -> bool:
    """A person who owns the server: everybody's superior."""
    everything = call.actor.person and call.actor.everything and agent.id == call.caller.actor_id
    return agent.human and (agent.role is Role.OWNER or everything)


# --- storing ---------------------------------------------------------------------------------------------------------


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
    """Stores a message and creates the chat work. Raises Refusal above the rate that is allowed."""
    _refuse_flood(call, project_id, writer_id, to.id)
    writer = call.tx.agents.find(writer_id)
    message = Message(
        id=call.new_id(ids.MESSAGE),
        project_id=project_id,
        sequence=call.tx.chat.next_sequence(project_id),
        thread=chat.thread_of(writer_id, to.id),
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
        call.tx.chat.save_mailbox(_touched(box.stored(message.sequence, call.now)))
        _hand_back_delegations(call, project_id, to.id, writer_id)
    return message


def tell_person(call: Call, project_id: str, person_id: str, about: str, content: str, task_id: str | None) -> None:
    """A system message in a person's thread with an agent: shown to the person, never delivered to the agent."""
    _add(
        call,
        Message(
            id=call.new_id(ids.MESSAGE),
            project_id=project_id,
            sequence=call.tx.chat.next_sequence(project_id),
            thread=chat.thread_of(person_id, about),
            from_agent_id=SYSTEM,
            to_agent_id=person_id,
            kind=MessageKind.SYSTEM,
            content=content[: chat.LONGEST],
            conversation_id=None,
            related_task_id=task_id,
            created_at=call.now,
        ),
    )


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
    wake(call, message.project_id, *message.thread.split("|", 1))


def wake(call: Call, project_id: str, *agent_ids: str) -> None:
    """Whoever waits for these agents' chats, or decides whether they run, looks again."""
    call.tx.hint(WORK, *(topic(project_id, each) for each in agent_ids))


def _refuse_flood(call: Call, project_id: str, writer_id: str, to_id: str) -> None:
    limit = call.context.talk.messages_per_minute
    nth = call.tx.chat.nth_last(project_id, writer_id, to_id, limit)
    if nth is not None and call.now - nth < chat.WINDOW:
        raise Refusal(
            Code.RATE_LIMITED,
            say(
                "{limit} messages a minute from {writer_id} to {to_id} are the limit; this one was not stored.",
                limit=limit,
                writer_id=writer_id,
                to_id=to_id,
            ),
            "Wait, and put more into one message.",
            retry_after=(chat.WINDOW - (call.now - nth)) // 1000 + 1,
        )


def _mark_active(call: Call, project_id: str, writer_id: str) -> None:
    """A chat session that writes is not idle."""
    if call.has_session and call.session.purpose is Purpose.CHAT:
        box = call.tx.chat.mailbox(project_id, writer_id)
        call.tx.chat.save_mailbox(_touched(replace(box, active_at=call.now)))


def _hand_back_delegations(call: Call, project_id: str, agent_id: str, writer_id: str) -> None:
    """What was parked until this writer's next message is handed out again."""
    for delegation in call.tx.chat.open_delegations(project_id, agent_id):
        if delegation.parked and delegation.target_agent_id == writer_id:
            call.tx.chat.save_delegation(delegation, chat.handed_back(delegation))


def touch(call: Call, project_id: str, *agent_ids: str) -> None:
    """Something about these agents' talk has changed: counted, so that the same answer is told from a new one."""
    for each in agent_ids:
        call.tx.chat.save_mailbox(_touched(call.tx.chat.mailbox(project_id, each)))


def _touched(box: Mailbox) -> Mailbox:
    return replace(box, version=box.version + 1)


# --- handing out -----------------------------------------------------------------------------------------------------


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
            again = chat.told_of_end(conversation, session.agent_id, None)
            call.tx.chat.save_conversation(conversation, again)
    box = _touched(_counted(call, box.taken_back()))
    call.tx.chat.save_mailbox(box)
    return box


def forget_over(call: Call, project_id: str, *agent_ids: str) -> None:
    """A conversation is over: what nobody fetched of it is no reason to run any more (it is still delivered)."""
    for each in agent_ids:
        call.tx.chat.save_mailbox(_touched(_counted(call, call.tx.chat.mailbox(project_id, each))))


def _counted(call: Call, box: Mailbox) -> Mailbox:
    """What is a reason to run, after the cursor or a conversation has changed."""
    return replace(box, newest=call.tx.chat.newest_reason(box))


# --- showing ---------------------------------------------------------------------------------------------------------


def shown(call: Call, message: Message) -> schemas.Message:
    """A message as agents and people see it."""
    sender = call.tx.agents.find(message.from_agent_id)
    return {
        "message_id": message.id,
        "from_agent_id": message.from_agent_id,
        "from_name": sender.name if sender is not None else "Toryo",
        "from_kind": sender.kind.value if sender is not None else "system",
        "to_agent_id": message.to_agent_id,
        "kind": message.kind.value,
        "content": message.content,
        "conversation_id": message.conversation_id,
        "related_task_id": message.related_task_id,
        "created_at": iso(message.created_at),
        "sequence": message.sequence,
    }

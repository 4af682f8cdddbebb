"""Stores conversations after turns, after time has passed and after a chat session ended, and notifies both sides.

The rules are in `domain/conversations.py`.
"""

from __future__ import annotations

from toryo.domain import ids
from toryo.domain.agents import Agent
from toryo.domain.conversations import Conversation, State, after_time, ended, joined, with_turn
from toryo.domain.delegations import Delegation, lost, parked
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.handover import Note
from toryo.domain.projects import Project
from toryo.domain.sessions import End, Session
from toryo.domain.talk_limits import CONVERSATION_WINDOW
from toryo.domain.texts import one_line, quoted
from toryo.domain.times import Millis
from toryo.operations.calls.call import Call
from toryo.operations.calls.results import JsonObject
from toryo.operations.messaging import delegations, mailboxes, messages

_LAST = 6
"""Messages that a summary, or a result the server writes itself, shows."""


_BRIEF = 500


_IN_ORDER = frozenset({End.LOGGED_OUT, End.TOLD_TO_EXIT})


def start(
    call: Call,
    project: Project,
    partner: Agent,
    purpose: str,
    initial_message: str,
    max_turns: int,
    delegation: Delegation | None,
) -> tuple[Conversation, bool]:
    """A new conversation with its first turn; the open one of the pair (and False) where there is one."""
    agent = call.agent
    low, high = sorted((agent.id, partner.id))
    lapse(call, project.id, agent.id)
    present = call.tx.chat.open_between(project.id, low, high)
    if present is not None:
        return present, False
    _refuse_too_many(call, project.id, low, high)
    conversation = Conversation(
        id=call.new_id(ids.CONVERSATION),
        project_id=project.id,
        low_id=low,
        high_id=high,
        initiator_id=agent.id,
        partner_id=partner.id,
        purpose=purpose,
        state=State.PENDING,
        turns=1,
        max_turns=max_turns,
        turn_of=partner.id,
        delegation_id=delegation.id if delegation is not None else None,
        task_id=delegation.task_id if delegation is not None else None,
        created_at=call.now,
        last_turn_at=call.now,
    )
    call.tx.chat.add_conversation(conversation)
    if delegation is not None:
        delegations.save(call, delegation, conversation_id=conversation.id)
    messages.store(
        call,
        project.id,
        agent.id,
        partner,
        initial_message,
        conversation_id=conversation.id,
        related_task_id=conversation.task_id,
    )
    _tell(call, conversation, "conversation.started")
    return conversation, True


def _refuse_too_many(call: Call, project_id: str, low: str, high: str) -> None:
    limit = call.context.talk.conversations_per_hour
    if call.tx.chat.started_since(project_id, low, high, call.now - CONVERSATION_WINDOW) >= limit:
        raise Refusal(
            Code.RATE_LIMITED,
            f"{low} and {high} have started {limit} conversations within an hour, which is the limit.",
            "Report the delegation with what you have (report_delegation_completed), or try again later.",
            limit=limit,
        )


def take_turn(call: Call, conversation: Conversation, content: str) -> Conversation:
    """One turn of the caller's: checked, counted and stored in one act. Raises Refusal."""
    agent = call.agent
    after = with_turn(_after_time(call, conversation), agent.id, call.now)
    partner = call.known_agent(conversation.other(agent.id))
    messages.store(
        call,
        conversation.project_id,
        agent.id,
        partner,
        content,
        conversation_id=conversation.id,
        related_task_id=conversation.task_id,
    )
    _keep(call, conversation, after)
    return after


def end(
    call: Call, conversation: Conversation, by: str | None, reason: str, summary: str | None = None
) -> Conversation:
    """Ends it for both. Raises Refusal if it is over."""
    after = ended(_after_time(call, conversation), by, reason, call.now, summary)
    _keep(call, conversation, after)
    return after


def join(call: Call, conversation: Conversation) -> Conversation:
    """The invited side has fetched the invitation."""
    after = joined(conversation, call.now)
    call.tx.chat.save_conversation(conversation, after)
    _tell(call, after, "conversation.joined")
    return after


def lapse(call: Call, project_id: str, agent_id: str) -> bool:
    """Ends those of an agent that have waited too long. True if any had."""
    lapsed = [lapse_one(call, conversation) for conversation in call.tx.chat.unsettled(project_id, agent_id)]
    return any(lapsed)


def lapse_one(call: Call, conversation: Conversation) -> bool:
    """Whether the passing of time has changed it."""
    after = after_time(conversation, call.now, call.context.talk)
    if after is None:
        return False
    _keep(call, conversation, after)
    return True


def _after_time(call: Call, conversation: Conversation) -> Conversation:
    """As it is now: what has run out by now is over, whether or not anybody has noticed."""
    return after_time(conversation, call.now, call.context.talk) or conversation


def _keep(call: Call, before: Conversation, after: Conversation) -> None:
    """Stores what it has become; where it is over now, both sides, its delegation and its task hear of it."""
    call.tx.chat.save_conversation(before, after)
    if before.open and not after.open:
        mailboxes.forget_over(call, after.project_id, after.low_id, after.high_id)
        _summarise(call, after)
        for one in (after.low_id, after.high_id):  # also what it was not begun for: no other answer will come
            delegations.hand_back(call, after.project_id, one, after.other(one))
        _tell(call, after, "conversation.expired" if after.state is State.EXPIRED else "conversation.ended")
    elif before.state is not after.state:
        mailboxes.touch(call, after.project_id, after.low_id, after.high_id)


def _tell(call: Call, conversation: Conversation, kind: str) -> None:
    task = call.tx.tasks.find(conversation.task_id) if conversation.task_id else None
    call.event(
        kind,
        task=task,
        project_id=conversation.project_id,
        agent_id=conversation.partner_id,
        data={
            "conversation_id": conversation.id,
            "initiator": conversation.initiator_id,
            "partner": conversation.partner_id,
            "turns": conversation.turns,
            "max_turns": conversation.max_turns,
            "ended_by": conversation.ended_by,
            "reason": conversation.reason,
        },
    )
    mailboxes.wake(call, conversation.project_id, conversation.low_id, conversation.high_id)


def _summarise(call: Call, conversation: Conversation) -> None:
    """On ending, a summary is a progress note of the task it was for."""
    task = call.tx.tasks.find(conversation.task_id) if conversation.task_id else None
    if task is None:
        return
    said = call.tx.chat.of_conversation(conversation.id, _LAST)
    note = Note(
        id=call.new_id(ids.NOTE),
        task_id=task.id,
        session_id=None,
        author_id=conversation.ended_by or conversation.initiator_id,
        progress=f"Conversation of {conversation.initiator_id} with {conversation.partner_id} about "
        f"{quoted(conversation.purpose[:_BRIEF])} ended after {conversation.turns} turns "
        f"({conversation.reason}).",
        findings=conversation.summary
        or "\n".join(f"{message.from_agent_id}: {one_line(message.content[:_BRIEF])}" for message in said),
        blockers=None,
        next_steps=None,
        created_at=call.now,
    )
    call.tx.handovers.add_note(note)
    call.event("note.saved", task=task, data={"note_id": note.id, "conversation_id": conversation.id})


def leave(call: Call, session: Session, why: End) -> None:
    """What a chat session that is over had in hand: taken back, parked, finished, or given to the next one."""
    mailboxes.take_back(call, session)
    in_order = why in _IN_ORDER and session.runaway is None
    for delegation in call.tx.chat.open_delegations(session.project_id, session.agent_id):
        if delegation.session_id == session.id:
            _let_go(call, delegation, in_order=in_order)
    box = call.tx.chat.mailbox(session.project_id, session.agent_id)
    left_at = min(call.now, session.expires_at)  # a panel opened since a lease ran out was not served by it
    call.tx.chat.save_mailbox(replace(box, left_at=left_at, version=box.version + 1))
    if not in_order and why not in (End.ENDED_BY_PERSON, End.DISMISSED) and session.runaway is None:
        # It was lost while people had its panel open: they are still there, and want the next one.
        heard_after = call.now - call.context.talk.viewer_lease
        for viewer in call.tx.chat.viewers(session.project_id, session.agent_id, heard_after):
            call.tx.chat.save_viewer(viewer, replace(viewer, opened_at=max(viewer.opened_at, left_at + 1)))
    mailboxes.wake(call, session.project_id, session.agent_id)


def _let_go(call: Call, delegation: Delegation, *, in_order: bool) -> None:
    conversation = call.tx.chat.conversation(delegation.conversation_id) if delegation.conversation_id else None
    if in_order and conversation is not None and not conversation.open:
        came = conversation.state is not State.EXPIRED
        delegations.finish(call, delegation, _outcome(call, conversation), success=came)
        return
    if in_order and (conversation is not None or _answer_awaited(call, delegation)):
        call.tx.chat.save_delegation(delegation, parked(delegation))
        delegations.record(call, delegation, "delegation.parked", fact=False)
        return
    after = lost(delegation, call.now, call.context.talk)
    call.tx.chat.save_delegation(delegation, after)
    if after.open:
        delegations.record(call, after, "delegation.returned", fact=False)
    else:
        delegations.tell_end(call, after)


def _answer_awaited(call: Call, delegation: Delegation) -> bool:
    """A person has been written to since it was fetched, and not written back; with an agent a conversation is open."""
    agent_id, target_id = delegation.agent_id, delegation.target_agent_id
    if not call.known_agent(target_id).human:
        low, high = sorted((agent_id, target_id))
        return call.tx.chat.open_between(delegation.project_id, low, high) is not None
    since: Millis = delegation.processed_at or delegation.created_at
    said = call.tx.chat.nth_last(delegation.project_id, agent_id, target_id, 1)
    heard = call.tx.chat.nth_last(delegation.project_id, target_id, agent_id, 1)
    return said is not None and said >= since and (heard is None or heard <= said)


def _outcome(call: Call, conversation: Conversation) -> JsonObject:
    """What the server reports of a conversation that nobody reported."""
    said = call.tx.chat.of_conversation(conversation.id, _LAST)
    return {
        "summary": conversation.summary,
        "reason": conversation.reason,
        "turns": conversation.turns,
        "messages": [{"from": message.from_agent_id, "content": message.content[:_BRIEF]} for message in said],
    }

"""Conversations between two agents: states, turns, and the new value after each change. Pure.

An impossible move raises Refusal. `operations/messaging/conversations.py` stores conversations.
"""

from __future__ import annotations

from enum import StrEnum

from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.shape import AgentId, ProjectId
from toryo.domain.talk_limits import TalkLimits
from toryo.domain.times import Millis


class State(StrEnum):
    """`pending -> active -> ending -> ended`; a pending one that nobody joined becomes `expired`."""

    PENDING = "pending"
    ACTIVE = "active"
    ENDING = "ending"
    ENDED = "ended"
    EXPIRED = "expired"


OPEN = frozenset({State.PENDING, State.ACTIVE})

ONE_WAY = "one_way"
"""The reason when the initiator ended it before the other side joined: its message is still delivered."""

FEWEST_TURNS, MOST_TURNS, USUAL_TURNS = 2, 40, 20


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of two agents with alternating turns. `low_id` and `high_id` are the sorted pair: one open per
    pair.
    """

    id: str
    project_id: ProjectId
    low_id: str
    high_id: str
    initiator_id: AgentId
    partner_id: AgentId
    purpose: str
    state: State
    turns: int
    max_turns: int
    turn_of: str
    delegation_id: str | None
    task_id: str | None
    """The main task of the delegation that opened it."""
    created_at: Millis
    last_turn_at: Millis
    ended_at: Millis | None = None
    ended_by: str | None = None
    reason: str | None = None
    """Why it ended: `ended_by_participant`, `one_way`, `max_turns`, `idle`, `nobody_came`, `ended_by_person`."""
    summary: str | None = None
    told_initiator_at: Millis | None = None
    told_partner_at: Millis | None = None
    settled: bool = False
    """Ended, and both sides have been told: it will not change again."""

    @property
    def open(self) -> bool:
        return self.state in OPEN

    def other(self, agent_id: str) -> str:
        return self.partner_id if agent_id == self.initiator_id else self.initiator_id

    def takes_part(self, agent_id: str) -> bool:
        return agent_id in (self.initiator_id, self.partner_id)

    def told(self, agent_id: str) -> bool:
        return (self.told_initiator_at if agent_id == self.initiator_id else self.told_partner_at) is not None

    def invites(self, agent_id: str) -> bool:
        return self.state is State.PENDING and agent_id == self.partner_id

    def awaits(self, agent_id: str) -> bool:
        """Whether it is this agent's turn."""
        return self.state is State.ACTIVE and self.turn_of == agent_id

    def ends_at(self, limits: TalkLimits) -> Millis | None:
        """When it changes because of time alone; None if it never does."""
        if self.state is State.PENDING:
            return self.last_turn_at + limits.invitation
        if self.state is State.ACTIVE:
            return self.last_turn_at + limits.silence
        return None if self.state is not State.ENDING or self.ended_at is None else self.ended_at + limits.ending


def joined(conversation: Conversation, now: Millis) -> Conversation:
    """The conversation after the invited agent has fetched it."""
    return replace(conversation, state=State.ACTIVE, last_turn_at=now)


def with_turn(conversation: Conversation, agent_id: str, now: Millis) -> Conversation:
    """Counts one more message; the last allowed one ends the conversation. Raises Refusal if it is over or pending, or
    if it is the other side's turn.
    """
    if not conversation.takes_part(agent_id):
        raise not_found(conversation.id)
    if not conversation.open:
        raise _over(conversation)
    if conversation.turn_of != agent_id:
        raise Refusal(
            Code.NOT_YOUR_TURN,
            f"It is not your turn in conversation {conversation.id}: {conversation.turn_of} must answer first. "
            "Nothing was sent.",
            "Call get_next_action: the call waits, and tells you when the answer has arrived.",
            conversation_id=conversation.id,
            turns=conversation.turns,
            max_turns=conversation.max_turns,
        )
    if conversation.state is State.PENDING:
        raise Refusal(
            Code.CONVERSATION_NOT_ACTIVE,
            f"You have not joined conversation {conversation.id} yet.",
            "Call get_pending_messages: it returns the invitation and the messages.",
            conversation_id=conversation.id,
        )
    after = replace(conversation, turns=conversation.turns + 1, turn_of=conversation.other(agent_id), last_turn_at=now)
    return ended(after, None, "max_turns", now) if after.turns >= after.max_turns else after


def ended(
    conversation: Conversation, by: str | None, reason: str, now: Millis, summary: str | None = None
) -> Conversation:
    """Ends it for both sides, which are still to be notified. Raises Refusal if it is already over."""
    if not conversation.open:
        raise _over(conversation)
    state = State.EXPIRED if reason == "nobody_came" else State.ENDING
    if conversation.state is State.PENDING and by == conversation.initiator_id:
        reason = ONE_WAY
    return replace(conversation, state=state, ended_at=now, ended_by=by, reason=reason, summary=summary)


def told_of_end(conversation: Conversation, agent_id: str, now: Millis | None) -> Conversation:
    """Notes of one that is over that a side has been told (`now`), or must be told again (None). After both were told,
    it is `ended`."""
    which = "told_initiator_at" if agent_id == conversation.initiator_id else "told_partner_at"
    after = replace(conversation, **{which: now})  # type: ignore[arg-type]
    both = after.told_initiator_at is not None and after.told_partner_at is not None
    if both and after.state is State.ENDING:
        after = replace(after, state=State.ENDED)
    return replace(after, settled=both)


def after_time(conversation: Conversation, now: Millis, limits: TalkLimits) -> Conversation | None:
    """Its new state after time has passed; None while nothing has changed."""
    at = conversation.ends_at(limits)
    if at is None or now < at:
        return None
    if conversation.state is State.PENDING:
        return ended(conversation, None, "nobody_came", now)
    if conversation.state is State.ACTIVE:
        return ended(conversation, None, "idle", now)
    both = conversation.told_initiator_at is not None and conversation.told_partner_at is not None
    return replace(conversation, state=State.ENDED, settled=both)


def _over(conversation: Conversation) -> Refusal:
    if conversation.reason == "max_turns":
        return Refusal(
            Code.TURN_LIMIT_REACHED,
            f"Conversation {conversation.id} has used all of its {conversation.max_turns} turns. Nothing was sent.",
            "Call get_next_action. If you need another conversation, call start_conversation.",
            conversation_id=conversation.id,
            turns=conversation.turns,
            max_turns=conversation.max_turns,
        )
    return Refusal(
        Code.CONVERSATION_NOT_ACTIVE,
        f"Conversation {conversation.id} is over ({conversation.reason or conversation.state.value}). Nothing "
        "was sent.",
        "Call get_next_action. If you need another conversation, call start_conversation.",
        conversation_id=conversation.id,
        state=conversation.state.value,
    )


def not_found(conversation_id: str) -> Refusal:
    """The refusal for an unknown id; also for a conversation that the caller takes no part in."""
    return Refusal(
        Code.CONVERSATION_NOT_FOUND,
        f"There is no conversation {conversation_id} that you take part in.",
        "Call get_pending_messages: `conversations` lists yours.",
        conversation_id=conversation_id,
    )

"""Messages, conversations, delegations, and the panels in which people watch: what they are and how they change.

Pure values. A move that is not possible raises a Refusal and changes nothing. Who may write to whom needs the tree of
agents and stands in `operations/messaging/mailboxes.py`; when a chat process runs stands in `workflow/chat.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from toryo.domain.errors import Code, Refusal
from toryo.domain.times import HOUR, MINUTE, SECOND, Millis

LONGEST = 4_000
"""Characters of one message."""

HANDED_OUT_AT_ONCE = 20
"""Messages of one hand-out, and of the context before it."""

_APPROVE = "/approve"
_OF_OLD = frozenset({"@@", "\uff20\uff20"})
_OF_A_PATCH = re.compile(r"@@|\*\*\* |[+-](?! \S)")
"""The beginning of a line of a patch; `- ` and a word is an item of a list."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of talk. Times are milliseconds."""

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


def thread_of(one: str, other: str) -> str:
    """The name of what two agents have said to each other, whoever began."""
    return "|".join(sorted((one, other)))


def consents(content: str) -> bool:
    """Whether a person's message approves what is requested because of it: its first line is a marker and nothing else.

    Only there: what is pasted (a diff, a quotation, somebody's comment) comes after words of one's own. A marker alone
    says not what is wanted, and approves nothing; `@@` above what may be a patch is a part of that.
    """
    first, *wanted = content.split("\n")
    if not any(each.strip() for each in wanted):
        return False
    return first.rstrip() == _APPROVE or (first.rstrip() in _OF_OLD and not _is_patch(wanted))


def _is_patch(lines: Sequence[str]) -> bool:
    """Something is put in the place of something, or a line is no item of a list: in doubt, it is a patch."""
    both = {line[0] for line in lines if line} >= {"+", "-"}
    return both or any(_OF_A_PATCH.match(line) for line in lines)


# --- messages --------------------------------------------------------------------------------------------------------


class MessageKind(StrEnum):
    MESSAGE = "message"
    SYSTEM = "system"
    """From Toryo to a person; never delivered to an agent, never a reason to start one."""


@dataclass(frozen=True, slots=True)
class Message:
    """`sequence` counts within its project, in the order of storing; `thread` is `thread_of` the two it belongs to."""

    id: str
    project_id: str
    sequence: int
    thread: str
    from_agent_id: str
    to_agent_id: str
    kind: MessageKind
    content: str
    conversation_id: str | None
    related_task_id: str | None
    created_at: Millis
    watched: bool = False
    """Whether its writer is to be told if no chat session comes for it."""
    used_for: str | None = None
    """The task that was requested with it: a message is used once."""


@dataclass(frozen=True, slots=True)
class Mailbox:
    """What an agent has been given in a project. Delivery is a cursor over the sequence of messages."""

    project_id: str
    agent_id: str
    cursor: int = 0
    """The last message handed out."""
    newest: int = 0
    """The newest message that is a reason to run."""
    waiting_since: Millis = 0
    handed_session: str | None = None
    """The session whose last hand-out is not confirmed yet, and what to take back if it is lost."""
    handed_from: int = 0
    handed_endings: tuple[str, ...] = ()
    redelivered_to: int = 0
    """Messages up to here were handed out before, to a session that was lost: the cursor goes back once."""
    left_at: Millis = 0
    """When the last chat session ended."""
    active_at: Millis = 0
    version: int = 0

    @property
    def has_undelivered(self) -> bool:
        return self.newest > self.cursor

    def stored(self, sequence: int, now: Millis) -> Mailbox:
        """One more message that is a reason to run."""
        since = self.waiting_since if self.has_undelivered else now
        return replace(self, newest=sequence, waiting_since=since, active_at=now)

    def handed_out(self, last: int | None, endings: tuple[str, ...], session_id: str, now: Millis) -> Mailbox:
        """Moves the cursor to the last one handed out; the session's next call confirms it."""
        return replace(
            self,
            cursor=self.cursor if last is None else last,
            handed_session=session_id,
            handed_from=self.cursor,
            handed_endings=endings,
            active_at=now,
        )

    def confirmed(self) -> Mailbox:
        return replace(self, handed_session=None, handed_endings=())

    def taken_back(self) -> Mailbox:
        """The session was lost before it confirmed: what it got is handed out once more, marked.

        What of that is a reason to run depends on the conversations it belongs to: whoever takes back counts it.
        """
        back_to = max(self.handed_from, min(self.redelivered_to, self.cursor))
        again = max(self.redelivered_to, self.cursor)
        return replace(self.confirmed(), cursor=back_to, redelivered_to=again)


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person's open panel on an agent's chat; it lives as long as it is heard of."""

    id: str
    project_id: str
    agent_id: str
    person_id: str
    opened_at: Millis
    seen_at: Millis
    closed_at: Millis | None = None


# --- conversations ---------------------------------------------------------------------------------------------------


class State(StrEnum):
    """`pending -> active -> ending -> ended`; a pending one to which nobody came is `expired`."""

    PENDING = "pending"
    ACTIVE = "active"
    ENDING = "ending"
    ENDED = "ended"
    EXPIRED = "expired"


OPEN = frozenset({State.PENDING, State.ACTIVE})

ONE_WAY = "one_way"
"""Of a conversation that was ended by whoever began it before anybody came: its word still reaches the other side."""

FEWEST_TURNS, MOST_TURNS, USUAL_TURNS = 2, 40, 20


@dataclass(frozen=True, slots=True)
class Conversation:
    """Between two agents, turn by turn. `low_id` and `high_id` are the pair in order: one open one per pair."""

    id: str
    project_id: str
    low_id: str
    high_id: str
    initiator_id: str
    partner_id: str
    purpose: str
    state: State
    turns: int
    max_turns: int
    turn_of: str
    delegation_id: str | None
    task_id: str | None
    """The main task of its delegation."""
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
    """Over, and both have been told: nothing about it will change any more."""

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
        """Whether it is this agent's turn in it."""
        return self.state is State.ACTIVE and self.turn_of == agent_id

    def ends_at(self, limits: Limits) -> Millis | None:
        """When time alone changes it; None if it never does."""
        if self.state is State.PENDING:
            return self.created_at + limits.invitation
        if self.state is State.ACTIVE:
            return self.last_turn_at + limits.silence
        return (self.ended_at or 0) + limits.ending if self.state is State.ENDING else None


def joined(conversation: Conversation, now: Millis) -> Conversation:
    """The invited side has fetched it."""
    return replace(conversation, state=State.ACTIVE, last_turn_at=now)


def with_turn(conversation: Conversation, agent_id: str, now: Millis) -> Conversation:
    """One message more; the last one that is allowed ends it. Raises Refusal: over, pending, or not its turn."""
    if not conversation.takes_part(agent_id):
        raise not_found(conversation.id)
    if not conversation.open:
        raise _over(conversation)
    if conversation.turn_of != agent_id:
        raise Refusal(
            Code.NOT_YOUR_TURN,
            f"It is {conversation.turn_of}'s turn in conversation {conversation.id}.",
            "Call get_next_action: it waits, and says when the answer is there. Nothing was sent.",
            conversation_id=conversation.id,
            turns=conversation.turns,
            max_turns=conversation.max_turns,
        )
    if conversation.state is State.PENDING:
        raise Refusal(
            Code.CONVERSATION_NOT_ACTIVE,
            f"You have not joined conversation {conversation.id} yet.",
            "Call get_pending_messages: it hands out the invitation and what was said.",
            conversation_id=conversation.id,
        )
    after = replace(conversation, turns=conversation.turns + 1, turn_of=conversation.other(agent_id), last_turn_at=now)
    return ended(after, None, "max_turns", now) if after.turns >= after.max_turns else after


def ended(
    conversation: Conversation, by: str | None, reason: str, now: Millis, summary: str | None = None
) -> Conversation:
    """Over for everybody; both sides are still to be told. Raises Refusal if it is over already."""
    if not conversation.open:
        raise _over(conversation)
    state = State.EXPIRED if reason == "nobody_came" else State.ENDING
    if conversation.state is State.PENDING and by == conversation.initiator_id:
        reason = ONE_WAY
    return replace(conversation, state=state, ended_at=now, ended_by=by, reason=reason, summary=summary)


def told_of_end(conversation: Conversation, agent_id: str, now: Millis | None) -> Conversation:
    """Each side is told for itself, whoever asks first (None: it is to be told again). Both told: it is ended."""
    which = "told_initiator_at" if agent_id == conversation.initiator_id else "told_partner_at"
    after = replace(conversation, **{which: now})  # type: ignore[arg-type]
    both = after.told_initiator_at is not None and after.told_partner_at is not None
    if both and after.state is State.ENDING:
        after = replace(after, state=State.ENDED)
    return replace(after, settled=both and after.state in (State.ENDED, State.EXPIRED))


def after_time(conversation: Conversation, now: Millis, limits: Limits) -> Conversation | None:
    """What the passing of time has made of it; None while nothing has changed."""
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
            f"Conversation {conversation.id} has had all of its {conversation.max_turns} turns.",
            "Nothing was sent. Call get_next_action; start_conversation begins a new one if it is needed.",
            conversation_id=conversation.id,
            turns=conversation.turns,
            max_turns=conversation.max_turns,
        )
    return Refusal(
        Code.CONVERSATION_NOT_ACTIVE,
        f"Conversation {conversation.id} is over ({conversation.reason or conversation.state.value}).",
        "Nothing was sent. Call get_next_action; start_conversation begins a new one if it is needed.",
        conversation_id=conversation.id,
        state=conversation.state.value,
    )


def not_found(conversation_id: str) -> Refusal:
    """Also for one that the caller takes no part in."""
    return Refusal(
        Code.CONVERSATION_NOT_FOUND,
        f"You take part in no conversation {conversation_id}.",
        "get_pending_messages lists yours under `conversations`.",
        conversation_id=conversation_id,
    )


# --- delegations -----------------------------------------------------------------------------------------------------


class DelegationStatus(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Delegation:
    """What a task session wants said, for its own agent's chat session. Bound to the main task, not to a session."""

    id: str
    project_id: str
    agent_id: str
    task_id: str
    root_id: str
    target_agent_id: str
    purpose: str
    context: Any
    await_result: bool
    status: DelegationStatus
    created_at: Millis
    attempt: int = 1
    session_id: str | None = None
    """The chat session that has it in hand; a delegation in processing without one is parked."""
    conversation_id: str | None = None
    processed_at: Millis | None = None
    ended_at: Millis | None = None
    result: Any = None

    @property
    def open(self) -> bool:
        return self.status in (DelegationStatus.PENDING, DelegationStatus.PROCESSING)

    @property
    def parked(self) -> bool:
        return self.status is DelegationStatus.PROCESSING and self.session_id is None


def taken(delegation: Delegation, session_id: str, now: Millis) -> Delegation:
    """A chat session has fetched it: its lease is the delegation's."""
    first = delegation.processed_at or now
    return replace(delegation, status=DelegationStatus.PROCESSING, session_id=session_id, processed_at=first)


def parked(delegation: Delegation) -> Delegation:
    """Its session leaves in order while the target's answer is awaited: no attempt, nothing starts before."""
    return replace(delegation, session_id=None)


def handed_back(delegation: Delegation) -> Delegation:
    """What it was parked for has come: it is handed out again."""
    return replace(delegation, status=DelegationStatus.PENDING)


def lost(delegation: Delegation, now: Millis, limits: Limits) -> Delegation:
    """Its session is gone and nothing is awaited: another gets it, up to the attempts there are."""
    if delegation.attempt >= limits.delegation_attempts:
        return failed(delegation, f"no chat session finished it in {delegation.attempt} attempts", now)
    return replace(delegation, status=DelegationStatus.PENDING, session_id=None, attempt=delegation.attempt + 1)


def completed(delegation: Delegation, result: Any, now: Millis) -> Delegation:
    return replace(delegation, status=DelegationStatus.COMPLETED, session_id=None, ended_at=now, result=result)


def failed(delegation: Delegation, why: Any, now: Millis) -> Delegation:
    return replace(delegation, status=DelegationStatus.FAILED, session_id=None, ended_at=now, result=why)


WINDOW: Millis = MINUTE
"""In which messages are counted for the rate limit; conversations are counted in an hour."""
CONVERSATION_WINDOW: Millis = HOUR

"""Messages and mailboxes: their values, and what an agent has received. Pure.

`operations/messaging/partners.py` decides which members may write to each other, because that needs the tree of agents;
`workflow/chat_rules.py` decides when a chat process runs.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.shape import AgentId, Key, ProjectId
from toryo.domain.times import Millis

LONGEST_MESSAGE = 4_000
"""Maximum length of one message, in characters."""

HANDED_OUT_AT_ONCE = 20
"""Maximum number of messages in one delivery, and in the context before it."""


def thread_of(one: str, other: str) -> str:
    """The id of the thread of two agents; the order of the arguments does not matter."""
    return "|".join(sorted((one, other)))


class MessageKind(StrEnum):
    MESSAGE = "message"
    SYSTEM = "system"
    """From Toryo to a person; never delivered to an agent and never a reason to start one."""


@dataclass(frozen=True, slots=True)
class Message:
    """`sequence` counts within its project, in the order of storing; `thread` is `thread_of` the two members."""

    id: str
    project_id: ProjectId
    sequence: int
    thread: str
    from_agent_id: str
    to_agent_id: AgentId
    kind: MessageKind
    content: str
    conversation_id: str | None
    related_task_id: str | None
    created_at: Millis
    watched: bool = False
    """Whether the sender is told if no chat session starts for it."""
    used_for: str | None = None
    """The task that was requested with it; a message can be used once."""


@dataclass(frozen=True, slots=True)
class Mailbox:
    """What an agent has received in a project. Delivery is a cursor over the sequence of messages."""

    project_id: Annotated[ProjectId, Key]
    agent_id: Annotated[AgentId, Key]
    cursor: int = 0
    """Sequence of the last message delivered."""
    newest: int = 0
    """Sequence of the newest message that is a reason to start a session."""
    waiting_since: Millis = 0
    handed_session: str | None = None
    """The session whose last delivery is not confirmed yet; the next fields undo that delivery if the session is lost.
    """
    handed_from: int = 0
    handed_endings: tuple[str, ...] = ()
    redelivered_to: int = 0
    """Messages up to here were delivered to a session that was lost: the cursor goes back once."""
    left_at: Millis = 0
    """When the last chat session ended."""
    active_at: Millis = 0
    version: int = 0

    @property
    def has_undelivered(self) -> bool:
        return self.newest > self.cursor

    def stored(self, sequence: int, now: Millis) -> Mailbox:
        """The mailbox after one more message that is a reason to start a session."""
        since = self.waiting_since if self.has_undelivered else now
        return replace(self, newest=sequence, waiting_since=since, active_at=now)

    def handed_out(self, last: int | None, endings: tuple[str, ...], session_id: str, now: Millis) -> Mailbox:
        """Moves the cursor to the last message delivered; the session's next call confirms it."""
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
        """Undoes an unconfirmed delivery after its session was lost; the messages are delivered again, marked as such.

        The caller recounts `newest`, because that depends on the conversations of the messages.
        """
        back_to = max(self.handed_from, min(self.redelivered_to, self.cursor))
        again = max(self.redelivered_to, self.cursor)
        return replace(self.confirmed(), cursor=back_to, redelivered_to=again)


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread of two members; `seen_low` and `seen_high` are how far a person among them has read."""

    project_id: Annotated[ProjectId, Key]
    thread: Annotated[str, Key]
    low_id: str
    high_id: str
    newest: int
    newest_at: Millis
    seen_low: int
    seen_high: int

    def other(self, agent_id: str) -> str:
        return self.high_id if agent_id == self.low_id else self.low_id

    def seen_by(self, agent_id: str) -> int:
        return self.seen_low if agent_id == self.low_id else self.seen_high

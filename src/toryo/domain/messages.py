"""Messages and mailboxes: what they are, and what an agent has been handed out. Pure values.

Who may write to whom needs the tree of agents and stands in `operations/messaging/partners.py`; when a chat process
runs stands in `workflow/chat_rules.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from toryo.domain.times import Millis

LONGEST_MESSAGE = 4_000
"""Characters of one message."""

HANDED_OUT_AT_ONCE = 20
"""Messages of one hand-out, and of the context before it."""


def thread_of(one: str, other: str) -> str:
    """The name of what two agents have said to each other, whoever began."""
    return "|".join(sorted((one, other)))


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

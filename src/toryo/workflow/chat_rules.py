"""The next action of a chat session: the table that docs/reference/tables.md prints."""

from __future__ import annotations

from collections.abc import Sequence

from toryo.workflow.rules import Rule, always, first_match
from toryo.workflow.snapshot import Snapshot
from toryo.workflow.step import Step


def deliverable(s: Snapshot) -> bool:
    return s.talk.deliverable


def my_turn(s: Snapshot) -> bool:
    return s.talk.my_turn


def nobody_needs_it(s: Snapshot) -> bool:
    """Panel closed or never opened, no open conversation, no delegation in processing."""
    return not (s.talk.watched or s.talk.in_conversation or s.talk.in_hand)


def idle(s: Snapshot) -> bool:
    """Idle for longer than `chat.idle_timeout`, and not in a pending or active conversation."""
    return s.now >= s.talk.idle_at and not s.talk.in_conversation


CHAT_ROWS: Sequence[Rule[Snapshot, Step]] = (
    Rule(
        "1",
        "Messages, delegations, invitations or notices of ended conversations wait to be delivered",
        deliverable,
        Step("get_pending_messages", "has_messages"),
    ),
    Rule(
        "2",
        "It is the agent's turn in a conversation",
        my_turn,
        Step("get_pending_messages", "your_turn"),
    ),
    Rule(
        "3",
        "Nobody needs the chat: its panel is closed, no conversation is open, and no delegation is in progress",
        nobody_needs_it,
        Step("exit", "exit", "user_closed_chat"),
    ),
    Rule(
        "4",
        "The chat has been idle for longer than chat.idle_timeout, and no conversation is open",
        idle,
        Step("logout", "idle", "session_timeout"),
    ),
    Rule(
        "5",
        "Nothing to do yet: the call waits until one of the rows above applies",
        always,
        Step("wait_for_messages", "waiting_for_messages"),
    ),
)


def decide(s: Snapshot) -> Step:
    row = first_match(CHAT_ROWS, s)
    assert row is not None, "the last row is always true"
    return row.then.by(f"chat {row.row}", row.words)

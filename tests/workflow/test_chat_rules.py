"""What a chat session does next: the rows of its table, one by one, and which of several wins."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.domain.things import NOW
from tests.workflow.scenes import session, snapshot
from toryo.domain.launches import Purpose
from toryo.workflow import next_action
from toryo.workflow.snapshot import ChatState

CHATTING = session(purpose=Purpose.CHAT, task_id=None)
LATER = NOW + 1
WATCHED = ChatState(watched=True, idle_at=LATER)


def told(talk: ChatState) -> tuple[str, str, str]:
    step = next_action.decide(snapshot(live=CHATTING, talk=talk), CHATTING)
    return step.row, step.action, step.reason


@pytest.mark.parametrize("what", ["undelivered", "delegation_waits", "invited", "ending_untold"])
def test_1_what_can_be_handed_out_is_fetched_first_of_all(what: str) -> None:
    for talk in (ChatState(), WATCHED, ChatState(my_turn=True, in_conversation=True)):
        assert told(replace(talk, **{what: True})) == ("chat 1", "get_pending_messages", "has_messages")


def test_2_a_turn_that_was_fetched_and_not_taken_is_said_again() -> None:
    assert told(ChatState(my_turn=True, in_conversation=True)) == ("chat 2", "get_pending_messages", "your_turn")


def test_3_a_chat_that_nobody_needs_any_more_is_left() -> None:
    assert told(ChatState(idle_at=LATER)) == ("chat 3", "exit", "user_closed_chat")
    assert told(ChatState(idle_at=NOW)) == ("chat 3", "exit", "user_closed_chat")


@pytest.mark.parametrize("what", ["watched", "in_conversation", "in_hand"])
def test_3_somebody_who_watches_or_talks_or_waits_for_a_report_keeps_it(what: str) -> None:
    assert told(ChatState(**{what: True}, idle_at=LATER)) == ("chat 5", "wait_for_messages", "waiting_for_messages")


def test_4_who_has_been_idle_long_enough_leaves_though_somebody_watches_or_a_delegation_is_in_hand() -> None:
    for talk in (ChatState(watched=True, idle_at=NOW), ChatState(in_hand=True, idle_at=NOW)):
        assert told(talk) == ("chat 4", "logout", "session_timeout")
        assert told(replace(talk, idle_at=LATER))[1] == "wait_for_messages"


def test_4_nobody_leaves_a_conversation_for_being_idle() -> None:
    assert told(ChatState(in_conversation=True, watched=True, idle_at=NOW))[1] == "wait_for_messages"


def test_what_is_wanted_starts_a_process_and_an_ending_does_not() -> None:
    assert not ChatState(ending_untold=True).wanted
    assert ChatState(ending_untold=True).deliverable
    assert ChatState(opened_since=True).wanted
    assert not ChatState(opened_since=True).deliverable


def test_only_an_invitation_or_a_turn_answers_another_agent() -> None:
    assert ChatState(invited=True).answers_somebody
    assert ChatState(my_turn=True).answers_somebody
    others = ChatState(undelivered=True, delegation_waits=True, ending_untold=True, in_hand=True, opened_since=True)
    assert not others.answers_somebody

"""Conversations turn by turn.

The walks at the end go every way there is, some steps far, and ask what must hold everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.domain.things import NOW, outcome, refused
from toryo.domain import conversations
from toryo.domain.conversations import Conversation, State
from toryo.domain.errors import Code, Refusal
from toryo.domain.talk_limits import TalkLimits
from toryo.domain.times import SECOND, Millis

LIMITS = TalkLimits()
LATER = NOW + SECOND


def talk(**fields: Any) -> Conversation:
    """ann has asked bob something: her first message is the first turn."""
    given: dict[str, Any] = {
        "id": "cnv",
        "project_id": "prj",
        "low_id": "ann",
        "high_id": "bob",
        "initiator_id": "ann",
        "partner_id": "bob",
        "purpose": "shiritori",
        "state": State.PENDING,
        "turns": 1,
        "max_turns": 4,
        "turn_of": "bob",
        "delegation_id": None,
        "task_id": None,
        "created_at": NOW,
        "last_turn_at": NOW,
    }
    return Conversation(**{**given, **fields})


def said(conversation: Conversation, *speakers: str) -> Conversation:
    for speaker in speakers:
        conversation = conversations.with_turn(conversation, speaker, NOW)
    return conversation


ACTIVE = conversations.joined(talk(), NOW)
OVER = conversations.ended(ACTIVE, "ann", "ended_by_participant", NOW, "We agreed.")


def test_an_invitation_is_the_partners_until_it_is_fetched_then_it_is_the_partners_turn() -> None:
    pending = talk()
    assert (pending.invites("bob"), pending.invites("ann")) == (True, False)
    assert not pending.awaits("bob")
    joined = conversations.joined(pending, LATER)
    assert joined == replace(pending, state=State.ACTIVE, last_turn_at=LATER)
    assert not joined.invites("bob")
    assert (joined.awaits("bob"), joined.awaits("ann")) == (True, False)


def test_turns_alternate_and_are_counted() -> None:
    after = conversations.with_turn(ACTIVE, "bob", LATER)
    assert (after.turns, after.turn_of, after.last_turn_at, after.state) == (2, "ann", LATER, State.ACTIVE)
    assert said(after, "ann").turn_of == "bob"


def test_who_spoke_last_waits_for_the_other_pending_or_active() -> None:
    for conversation in (talk(), ACTIVE):
        refusal = refused(Code.NOT_YOUR_TURN, conversations.with_turn, conversation, "ann", NOW)
        assert "get_next_action" in refusal.instruction
        assert refusal.details == {"conversation_id": "cnv", "turns": 1, "max_turns": 4}


def test_the_invited_side_joins_before_it_speaks() -> None:
    refusal = refused(Code.CONVERSATION_NOT_ACTIVE, conversations.with_turn, talk(), "bob", NOW)
    assert "get_pending_messages" in refusal.instruction


def test_who_takes_no_part_does_not_find_it() -> None:
    assert not ACTIVE.takes_part("zoe")
    for conversation in (talk(), ACTIVE, OVER):
        refused(Code.CONVERSATION_NOT_FOUND, conversations.with_turn, conversation, "zoe", NOW)


def test_the_last_turn_that_is_allowed_ends_it() -> None:
    over = said(ACTIVE, "bob", "ann", "bob")
    assert (over.turns, over.state, over.reason, over.ended_by, over.ended_at) == (
        4,
        State.ENDING,
        "max_turns",
        None,
        NOW,
    )
    for each in ("ann", "bob"):
        refusal = refused(Code.TURN_LIMIT_REACHED, conversations.with_turn, over, each, NOW)
        assert refusal.details["turns"] == refusal.details["max_turns"] == 4


def test_the_shortest_conversation_is_a_question_and_an_answer() -> None:
    assert said(replace(ACTIVE, max_turns=2), "bob").state is State.ENDING


@pytest.mark.parametrize("before", [talk(), ACTIVE], ids=["pending", "active"])
@pytest.mark.parametrize("who", ["ann", "bob"])
def test_either_side_may_end_it_whoevers_turn_it_is(before: Conversation, who: str) -> None:
    over = conversations.ended(before, who, "ended_by_participant", LATER, "We agreed.")
    one_way = before.state is State.PENDING and who == before.initiator_id
    reason = conversations.ONE_WAY if one_way else "ended_by_participant"
    assert (over.state, over.ended_by, over.reason) == (State.ENDING, who, reason)
    assert (over.ended_at, over.summary, over.open, over.turns) == (LATER, "We agreed.", False, 1)


@pytest.mark.parametrize(
    "over",
    [OVER, replace(OVER, state=State.ENDED), conversations.ended(talk(), None, "nobody_came", NOW)],
    ids=["ending", "ended", "expired"],
)
def test_one_that_is_over_takes_no_message_and_no_second_end(over: Conversation) -> None:
    for each in ("ann", "bob"):
        refusal = refused(Code.CONVERSATION_NOT_ACTIVE, conversations.with_turn, over, each, NOW)
        assert str(over.reason) in refusal.message
        assert "start_conversation" in refusal.instruction
        assert not over.awaits(each)
        assert not over.invites(each)
    refused(Code.CONVERSATION_NOT_ACTIVE, conversations.ended, over, "ann", "ended_by_participant", NOW)
    assert not over.open


@pytest.mark.parametrize("order", [("ann", "bob"), ("bob", "ann")])
def test_each_side_is_told_of_the_end_for_itself_whoever_asks_first(order: tuple[str, str]) -> None:
    first, second = order
    after = conversations.told_of_end(OVER, first, LATER)
    assert (after.told(first), after.told(second)) == (True, False)
    assert (after.state, after.settled) == (State.ENDING, False)
    both = conversations.told_of_end(after, second, LATER)
    assert (both.told(first), both.told(second)) == (True, True)
    assert (both.state, both.settled) == (State.ENDED, True)


def test_who_was_lost_before_it_confirmed_is_told_of_the_end_again() -> None:
    both = conversations.told_of_end(conversations.told_of_end(OVER, "ann", NOW), "bob", NOW)
    again = conversations.told_of_end(both, "bob", None)
    assert (again.told("ann"), again.told("bob"), again.settled) == (True, False, False)
    assert again.state is State.ENDED
    assert conversations.told_of_end(again, "bob", LATER).settled


def test_an_invitation_nobody_came_for_expires_and_both_are_told() -> None:
    at = NOW + LIMITS.invitation
    assert conversations.after_time(talk(), at - 1, LIMITS) is None
    expired = conversations.after_time(talk(), at, LIMITS)
    assert expired is not None
    assert (expired.state, expired.reason, expired.ended_by, expired.ended_at) == (
        State.EXPIRED,
        "nobody_came",
        None,
        at,
    )
    told = conversations.told_of_end(expired, "ann", at)
    assert not told.settled
    told = conversations.told_of_end(told, "bob", at)
    assert (told.state, told.settled) == (State.EXPIRED, True)


def test_silence_ends_it_counted_from_the_last_turn_or_the_joining() -> None:
    for last in (conversations.joined(talk(), LATER), conversations.with_turn(ACTIVE, "bob", LATER)):
        at = LATER + LIMITS.silence
        assert conversations.after_time(last, at - 1, LIMITS) is None
        idle = conversations.after_time(last, at, LIMITS)
        assert idle is not None
        assert (idle.state, idle.reason, idle.ended_by) == (State.ENDING, "idle", None)


def test_one_that_is_ending_is_ended_in_time_though_a_side_never_came_and_that_side_is_told_later() -> None:
    told = conversations.told_of_end(OVER, "ann", NOW)
    assert conversations.after_time(told, NOW + LIMITS.ending - 1, LIMITS) is None
    ended = conversations.after_time(told, NOW + LIMITS.ending, LIMITS)
    assert ended is not None
    assert (ended.state, ended.settled, ended.told("bob")) == (State.ENDED, False, False)
    assert conversations.told_of_end(ended, "bob", LATER).settled


@pytest.mark.parametrize("state", [State.ENDED, State.EXPIRED])
def test_what_is_over_for_good_is_changed_by_no_time(state: State) -> None:
    over = replace(OVER, state=state)
    assert over.ends_at(LIMITS) is None
    assert conversations.after_time(over, NOW + 10**12, LIMITS) is None


def test_the_limits_of_time_are_arguments() -> None:
    short = TalkLimits(invitation=1, silence=2, ending=3)
    assert [conversation.ends_at(short) for conversation in (talk(), ACTIVE, OVER)] == [NOW + 1, NOW + 2, NOW + 3]


# every way there is

Act = Callable[[Conversation, Millis], "Conversation | Refusal | None"]


def speaks(who: str) -> Act:
    return lambda conversation, now: outcome(conversations.with_turn, conversation, who, now)


def ends(who: str) -> Act:
    return lambda conversation, now: outcome(conversations.ended, conversation, who, "ended_by_participant", now)


def is_told(who: str) -> Act:
    return lambda conversation, now: None if conversation.open else conversations.told_of_end(conversation, who, now)


def fetches_it(conversation: Conversation, now: Millis) -> Conversation | None:
    return conversations.joined(conversation, now) if conversation.invites("bob") else None


def waits(conversation: Conversation, now: Millis) -> Conversation | None:
    return conversations.after_time(conversation, conversation.ends_at(LIMITS) or now, LIMITS)


ACTS: dict[str, Act] = {
    "bob fetches it": fetches_it,
    "everybody waits": waits,
    **{f"{who} speaks": speaks(who) for who in ("ann", "bob", "zoe")},
    **{f"{who} ends it": ends(who) for who in ("ann", "bob")},
    **{f"{who} is told": is_told(who) for who in ("ann", "bob")},
}
MAY_BECOME = {
    State.PENDING: {State.PENDING, State.ACTIVE, State.ENDING, State.EXPIRED},
    State.ACTIVE: {State.ACTIVE, State.ENDING},
    State.ENDING: {State.ENDING, State.ENDED},
    State.ENDED: {State.ENDED},
    State.EXPIRED: {State.EXPIRED},
}


def every_step() -> Iterator[tuple[str, Conversation, Conversation]]:
    """Each conversation that can be reached and what each act makes of it; refused acts are no steps."""
    seen, todo = {talk()}, [talk()]
    while todo:
        before = todo.pop()
        now = max(before.last_turn_at, before.ended_at or 0)
        for name, act in ACTS.items():
            after = act(before, now)
            if after is None or isinstance(after, Refusal):
                continue
            yield name, before, after
            if after not in seen:
                seen.add(after)
                todo.append(after)


def test_whatever_both_do_in_any_order_a_conversation_keeps_its_rules() -> None:
    reached = {State.PENDING}
    for name, before, after in every_step():
        reached.add(after.state)
        assert after.state in MAY_BECOME[before.state], name
        assert after.turns <= after.max_turns, name
        assert after.turns - before.turns in ((0, 1) if "speaks" in name else (0,)), name
        assert (after.turn_of == "bob") is (after.turns % 2 == 1), name
        assert name != "zoe speaks"
        both = after.told("ann") and after.told("bob")
        assert after.settled is (both and not after.open), name
        assert (after.ended_at is not None) is (after.reason is not None) is (not after.open), name
    assert reached == set(State)


def test_time_alone_ends_every_conversation_that_can_be_reached() -> None:
    for _, before, after in every_step():
        for conversation in (before, after):
            assert at_last(conversation).state in (State.ENDED, State.EXPIRED)


def at_last(conversation: Conversation) -> Conversation:
    later = waits(conversation, NOW)
    return conversation if later is None else at_last(later)

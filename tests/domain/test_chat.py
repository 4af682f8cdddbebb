"""Conversations turn by turn, mailboxes with their cursor, delegations with their lease, and the marker of consent.

The walks at the end of the first two parts go every way there is, some steps far, and ask what must hold everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import pytest

from tests.domain.things import NOW, outcome, refused
from toryo.domain import consent, conversations, delegations, messages
from toryo.domain.conversations import Conversation, State
from toryo.domain.delegations import Delegation, DelegationStatus
from toryo.domain.errors import Code, Refusal
from toryo.domain.messages import Mailbox
from toryo.domain.talk_limits import TalkLimits
from toryo.domain.times import SECOND, Millis

LIMITS = TalkLimits()
LATER = NOW + SECOND


# --- limits, threads, marker -----------------------------------------------------------------------------------------


def test_the_limits_are_those_of_the_specification() -> None:
    seconds = {
        name: getattr(LIMITS, name) // SECOND
        for name in ("start_timeout", "idle_timeout", "invitation", "silence", "ending", "delegation_timeout")
    }
    assert seconds == {
        "start_timeout": 300,
        "idle_timeout": 600,
        "invitation": 300,
        "silence": 600,
        "ending": 600,
        "delegation_timeout": 86_400,
    }
    assert (LIMITS.delegation_attempts, LIMITS.messages_per_minute, LIMITS.conversations_per_hour) == (3, 30, 6)
    assert (conversations.FEWEST_TURNS, conversations.MOST_TURNS, conversations.USUAL_TURNS) == (2, 40, 20)
    assert (messages.LONGEST_MESSAGE, messages.HANDED_OUT_AT_ONCE) == (4_000, 20)


def test_two_have_one_thread_whoever_began_and_others_have_another() -> None:
    assert messages.thread_of("ann", "bob") == messages.thread_of("bob", "ann")
    assert messages.thread_of("ann", "bob") != messages.thread_of("ann", "boss")


@pytest.mark.parametrize("marker", ["/approve", "@@", "＠＠", "/approve  "])
def test_a_message_consents_by_a_first_line_that_is_the_marker_and_nothing_else(marker: str) -> None:
    assert consent.consents(f"{marker}\nPaint the door.")
    assert consent.consents(f"{marker}\n\nPaint the door,\nand the wall.")
    assert consent.consents(f"{marker}\n- Paint the door.\n- Paint the wall.")


PASTED = {
    "a unified diff": "Can you explain this change?\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n-one\n+two\n",
    "a diff alone": "@@ -1,3 +1,4 @@\n-one\n+two\n",
    "a patch with a bare marker": "What is this?\n*** Update File: x\n@@\n-one\n+two\n",
    "a patch that begins with a bare marker": "@@\n-one\n+two\n",
    "a patch of a list": "@@\n- one\n+ two\n",
    "a patch that only adds": "@@\n+two\n",
    "a combined diff": "@@@ -1,2 -1,2 +1,3 @@@\n  one\n",
    "a quotation": "Why did he write this?\n> /approve\n> Deploy.",
    "a block of code": "Look:\n```\n/approve\nDeploy.\n```",
    "a fence first": "```\n/approve\nDeploy.\n```",
    "a comment of a review": "What does the bot want?\n/lgtm\n/approve",
    "an indented line": "  /approve\nDeploy.",
    "a list": "- /approve\n- Deploy.",
}


@pytest.mark.parametrize("name", PASTED)
def test_what_is_pasted_is_no_consent(name: str) -> None:
    assert not consent.consents(PASTED[name])


@pytest.mark.parametrize(
    "said", ["", "do it", "@@ do it", "do it @@", "/approve do it", "do@@it", "@ @\ndo it", "@@@\nx"]
)
def test_a_marker_within_a_line_is_no_consent(said: str) -> None:
    assert not consent.consents(said)


@pytest.mark.parametrize("said", ["/approve", "@@", "/approve\n\n \n"])
def test_a_marker_that_says_not_what_is_wanted_is_no_consent(said: str) -> None:
    assert not consent.consents(said)


# --- conversations ---------------------------------------------------------------------------------------------------


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


# --- mailboxes -------------------------------------------------------------------------------------------------------


def box(**fields: Any) -> Mailbox:
    return replace(Mailbox("prj", "ann"), **fields)


def test_an_empty_mailbox_is_no_reason_to_run() -> None:
    assert not box().has_undelivered


def test_a_message_is_a_reason_until_it_is_handed_out_and_the_first_says_since_when() -> None:
    one = box().stored(3, NOW)
    two = one.stored(4, LATER)
    assert (two.has_undelivered, two.newest, two.waiting_since, two.active_at) == (True, 4, NOW, LATER)
    out = two.handed_out(4, (), "ses_1", LATER)
    assert (out.cursor, out.has_undelivered, out.handed_session) == (4, False, "ses_1")
    assert out.stored(9, LATER + 1).waiting_since == LATER + 1


def test_a_part_is_handed_out_and_the_rest_stays_a_reason() -> None:
    out = box().stored(3, NOW).stored(4, NOW).handed_out(3, (), "ses_1", NOW)
    assert (out.cursor, out.has_undelivered) == (3, True)


def test_endings_alone_do_not_move_the_cursor() -> None:
    out = box(cursor=5, newest=5).handed_out(None, ("cnv",), "ses_1", LATER)
    assert (out.cursor, out.handed_endings, out.handed_session, out.active_at) == (5, ("cnv",), "ses_1", LATER)
    assert out.taken_back().cursor == 5
    assert not out.taken_back().has_undelivered


def test_a_confirmed_hand_out_has_nothing_to_take_back() -> None:
    confirmed = box(newest=4).handed_out(4, ("cnv",), "ses_1", NOW).confirmed()
    assert (confirmed.cursor, confirmed.handed_session, confirmed.handed_endings) == (4, None, ())


def test_what_a_lost_session_got_is_handed_out_once_more_and_marked() -> None:
    lost = box(cursor=2, newest=4).handed_out(4, (), "ses_1", NOW).taken_back()
    assert (lost.cursor, lost.redelivered_to, lost.has_undelivered, lost.handed_session) == (2, 4, True, None)


def test_the_cursor_goes_back_once_for_each_message_only() -> None:
    twice = box(cursor=2, newest=4).handed_out(4, (), "ses_1", NOW).taken_back().handed_out(4, (), "ses_2", NOW)
    assert (twice.taken_back().cursor, twice.taken_back().has_undelivered) == (4, False)


def test_a_message_that_came_meanwhile_is_taken_back_and_the_one_before_it_is_not() -> None:
    again = box(cursor=2, newest=4).handed_out(4, (), "ses_1", NOW).taken_back().stored(7, NOW)
    lost = again.handed_out(7, (), "ses_2", NOW).taken_back()
    assert (lost.cursor, lost.redelivered_to, lost.has_undelivered) == (4, 7, True)


def test_what_was_forgotten_as_a_reason_is_none_for_being_taken_back() -> None:
    forgotten = replace(box(cursor=2, newest=4).handed_out(4, (), "ses_1", NOW), newest=0)
    assert (forgotten.taken_back().cursor, forgotten.taken_back().has_undelivered) == (2, False)


@dataclass
class Post:
    """An agent's post in a project, as the operations deal with it: fetching confirms what was fetched before."""

    box: Mailbox = field(default_factory=box)
    stored: int = 0
    session: int = 1
    got: Counter[int] = field(default_factory=Counter)
    unconfirmed_losses: Counter[int] = field(default_factory=Counter)

    def store(self) -> None:
        self.stored += 1
        self.box = self.box.stored(self.stored, NOW)

    def call(self) -> None:
        self.box = self.box.confirmed()

    def fetch(self) -> None:
        """At most two at once."""
        self.call()
        out = [each for each in range(1, self.stored + 1) if each > self.box.cursor][:2]
        for each in out:
            marked = each <= self.box.redelivered_to
            assert marked is (self.got[each] > 0), "marked is what was handed out before, and nothing else"
            self.got[each] += 1
        if out:
            self.box = self.box.handed_out(out[-1], (), f"ses_{self.session}", NOW)

    def lose(self) -> None:
        if self.box.handed_session == f"ses_{self.session}":
            self.box = self.box.taken_back()
            self.unconfirmed_losses.update(each for each in self.got if each > self.box.cursor)
        self.session += 1


def test_whatever_is_lost_every_message_is_handed_out_once_or_a_second_time_after_a_loss() -> None:
    for acts in product((Post.store, Post.call, Post.fetch, Post.lose), repeat=7):
        post = Post()
        post.store()
        for act in acts:
            act(post)
        while post.box.has_undelivered:
            post.fetch()
        for each in range(1, post.stored + 1):
            assert post.got[each] == 1 + post.unconfirmed_losses[each]
            assert post.unconfirmed_losses[each] <= 1


# --- delegations -----------------------------------------------------------------------------------------------------


def wish(**fields: Any) -> Delegation:
    """ann's task session wants something said to bob."""
    given: dict[str, Any] = {
        "id": "dlg",
        "project_id": "prj",
        "agent_id": "ann",
        "task_id": "job",
        "root_id": "main",
        "target_agent_id": "bob",
        "purpose": "Ask for the key.",
        "context": {"door": "red"},
        "await_result": True,
        "status": DelegationStatus.PENDING,
        "created_at": NOW,
    }
    return Delegation(**{**given, **fields})


TAKEN = delegations.taken(wish(), "ses_1", NOW)


def test_who_fetches_it_has_it_in_hand() -> None:
    taken = delegations.taken(wish(), "ses_1", LATER)
    assert (taken.status, taken.session_id, taken.processed_at) == (DelegationStatus.PROCESSING, "ses_1", LATER)
    assert (taken.open, taken.parked, taken.attempt) == (True, False, 1)


def test_one_that_is_parked_stays_in_processing_without_a_lease_and_costs_no_attempt() -> None:
    parked = delegations.parked(TAKEN)
    assert (parked.status, parked.session_id, parked.attempt) == (DelegationStatus.PROCESSING, None, 1)
    assert (parked.open, parked.parked) == (True, True)


def test_what_it_was_parked_for_has_come_so_it_is_handed_out_again_without_an_attempt() -> None:
    back = delegations.handed_back(delegations.parked(TAKEN))
    assert (back.status, back.parked, back.attempt) == (DelegationStatus.PENDING, False, 1)
    again = delegations.taken(back, "ses_2", LATER)
    assert (again.session_id, again.processed_at) == ("ses_2", NOW), "since when it is worked on does not begin anew"


def test_a_lost_session_costs_an_attempt_and_after_the_last_it_has_failed() -> None:
    delegation, attempts = wish(), []
    while delegation.open:
        attempts.append(delegation.attempt)
        delegation = delegations.lost(delegations.taken(delegation, "ses", NOW), LATER, LIMITS)
        assert delegation.session_id is None
    assert attempts == [1, 2, 3]
    assert (delegation.status, delegation.ended_at) == (DelegationStatus.FAILED, LATER)
    assert "3 attempts" in delegation.result


def test_how_many_attempts_there_are_is_a_limit() -> None:
    assert delegations.lost(TAKEN, NOW, TalkLimits(delegation_attempts=1)).status is DelegationStatus.FAILED
    assert delegations.lost(TAKEN, NOW, TalkLimits(delegation_attempts=2)).status is DelegationStatus.PENDING


@pytest.mark.parametrize(
    ("act", "status"),
    [(delegations.completed, DelegationStatus.COMPLETED), (delegations.failed, DelegationStatus.FAILED)],
)
def test_one_that_is_over_keeps_its_result_and_nobody_has_it_in_hand(act: Any, status: DelegationStatus) -> None:
    for before in (wish(), TAKEN, delegations.parked(TAKEN)):
        over = act(before, {"key": "under the mat"}, LATER)
        assert (over.status, over.result, over.ended_at) == (status, {"key": "under the mat"}, LATER)
        assert (over.session_id, over.open, over.parked) == (None, False, False)

"""Threads, and mailboxes with their cursor.

The walk at the end goes every way there is, some steps far, and asks what must hold everywhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from tests.domain.things import NOW
from toryo.domain import messages
from toryo.domain.messages import Mailbox
from toryo.domain.times import SECOND

LATER = NOW + SECOND


def test_two_have_one_thread_whoever_began_and_others_have_another() -> None:
    assert messages.thread_of("ann", "bob") == messages.thread_of("bob", "ann")
    assert messages.thread_of("ann", "bob") != messages.thread_of("ann", "boss")


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

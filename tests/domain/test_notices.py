"""Notices: a sender leases one, retries it later and later, and gives it up at last."""

from __future__ import annotations

import pytest

from tests.domain.things import NOW
from toryo.domain import notices
from toryo.domain.fast_dataclasses import replace
from toryo.domain.notices import TAKEN_FOR, Channel, Notice
from toryo.domain.times import HOUR, SECOND

NEW = Notice("n", "hana", "blocked t", Channel.EMAIL, {}, NOW, NOW)


def test_a_notice_that_is_taken_is_taken_again_when_its_sender_is_lost() -> None:
    taken = notices.taken(replace(NEW, attempts=1), NOW)
    assert (taken.attempts, taken.next_at) == (2, NOW + TAKEN_FOR)


def test_a_notice_that_was_sent_or_whose_need_is_gone_is_not_sent_again() -> None:
    sent = notices.sent(replace(NEW, error="no route"), NOW)
    assert (sent.sent_at, sent.next_at, sent.error, sent.over_at) == (NOW, None, None, None)
    over = notices.over(NEW, NOW)
    assert (over.over_at, over.next_at, over.sent_at) == (NOW, None, None)


@pytest.mark.parametrize(
    ("attempts", "wait"),
    [(1, 30 * SECOND), (2, 60 * SECOND), (3, 120 * SECOND), (7, 1_920 * SECOND), (8, HOUR), (50, HOUR)],
)
def test_it_is_tried_again_after_twice_as_long_up_to_an_hour(attempts: int, wait: int) -> None:
    failed = notices.failed(replace(NEW, attempts=attempts), "no route", NOW, 100)
    assert (failed.next_at, failed.error, failed.given_up_at) == (NOW + wait, "no route", None)


@pytest.mark.parametrize(("attempts", "given_up"), [(4, False), (5, True), (6, True)])
def test_it_is_given_up_after_as_many_attempts_as_are_made(attempts: int, *, given_up: bool) -> None:
    failed = notices.failed(replace(NEW, attempts=attempts), "no route", NOW, 5)
    assert (failed.given_up_at, failed.next_at is None) == ((NOW, True) if given_up else (None, False))
    assert failed.error == "no route"

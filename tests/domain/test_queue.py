"""Keys, presence and claims of queue agents, each at the instant at which it changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from toryo.domain import queue
from toryo.domain.queue import ApiKey, Claim, Entry, Presence
from toryo.domain.times import HOUR, MINUTE, SECOND

KEY = ApiKey("key_1", "prj", "ci", None, (), False, (), "olga", 0)
THERE = Presence("ann", "prj", "paint", (), registered_at=0, seen_at=1_000)
CLAIM = Claim("tsk_1", 1, "prj", "ann", claimed_at=1_000, expires_at=61_000, lease=MINUTE)


def test_the_limits_are_the_specified_ones() -> None:
    assert (queue.CLAIMED_AT_ONCE, queue.LONGEST_CLAIM, queue.OFFLINE_AFTER) == (50, 24 * HOUR, 90 * SECOND)
    assert (queue.HEARTBEAT_SECONDS, queue.TIMEOUT_SECONDS, queue.MAX_ATTEMPTS) == (30, 1_800, 3)


def test_a_key_without_queues_serves_all_and_another_one_only_its_own() -> None:
    assert KEY.serves("paint")
    assert [replace(KEY, types=("paint",)).serves(name) for name in ("paint", "wood")] == [True, False]


def test_who_has_not_called_for_ninety_seconds_is_silent() -> None:
    assert [THERE.silent(now) for now in (90_999, 91_000)] == [False, True]
    assert (THERE.online, replace(THERE, offline_at=2_000).online) == (True, False)


def test_a_renewed_claim_has_a_full_lease_again_and_never_lasts_longer_than_a_day() -> None:
    assert queue.renewed(CLAIM, 50_000).expires_at == 50_000 + MINUTE
    last = 1_000 + 24 * HOUR
    assert queue.renewed(CLAIM, last - MINUTE).expires_at == last
    assert queue.renewed(CLAIM, last - 1).expires_at == last


def test_an_ended_claim_is_over_and_keeps_what_was_answered() -> None:
    over = queue.ended(CLAIM, "submitted", 5_000, {"size": 1})
    assert (CLAIM.live, over.live) == (True, False)
    assert (over.ended_at, over.end_reason, over.outcome) == (5_000, "submitted", {"size": 1})


@pytest.mark.parametrize(("attempt", "seconds"), [(1, 5), (2, 10), (3, 20), (6, 160), (7, 300), (50, 300)])
def test_the_wait_after_a_lost_attempt_doubles_up_to_five_minutes(attempt: int, seconds: int) -> None:
    assert queue.backoff(attempt) == seconds * SECOND


def test_a_shared_value_is_gone_at_the_instant_at_which_it_expires() -> None:
    entry = Entry("prj", "paint", 1, 1, 0, "ann", expires_at=10)
    assert [entry.expired(now) for now in (9, 10)] == [False, True]

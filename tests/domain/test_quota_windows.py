"""Quota windows: when one is open, what its limit is, for whom what is left of it is kept, and which one is used up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.things import NOW
from toryo.domain import quota_windows
from toryo.domain.fast_dataclasses import replace
from toryo.domain.quota_windows import CLOCK_SKEW, LEARNT_FOR, Kept, Length, Window
from toryo.domain.tasks import Priority
from toryo.domain.times import DAY, HOUR, MINUTE

FIVE, A_DAY, WEEK = Length.FIVE_HOURS, Length.DAY, Length.WEEK


def window(length: Length = FIVE, **facts: Any) -> Window:
    """Of five hours, of which one has passed; of its limit of 1,000 tokens 400 are used."""
    return replace(Window("claude", length), **{"began_at": NOW - HOUR, "used": 400, "set_limit": 1_000, **facts})


END = NOW + 4 * HOUR


@pytest.mark.parametrize(
    ("began_at", "end"),
    [
        (None, None),
        (NOW, NOW + 5 * HOUR),
        (NOW - 5 * HOUR + 1, NOW + 1),
        (NOW - 5 * HOUR, None),
        (NOW + CLOCK_SKEW, NOW + CLOCK_SKEW + 5 * HOUR),
        (NOW + CLOCK_SKEW + 1, None),
    ],
    ids=["never used", "begins now", "nearly over", "over", "by a clock that is fast", "by a clock that is wrong"],
)
def test_a_window_is_open_from_its_first_use_for_its_length(began_at: int | None, end: int | None) -> None:
    found = window(began_at=began_at)
    assert found.ends_at(NOW) == end
    assert found.used_now(NOW) == (0 if end is None else 400)


@pytest.mark.parametrize("length", Length)
def test_every_window_has_the_length_of_its_name(length: Length) -> None:
    hours = {"5h": 5, "day": 24, "week": 7 * 24}[length.value]
    assert window(length, began_at=NOW).ends_at(NOW) == NOW + hours * HOUR


@pytest.mark.parametrize(
    ("facts", "limit", "open_limit"),
    [
        ({"set_limit": None}, None, None),
        ({"set_limit": 300}, 300, 300),
        ({"set_limit": 0}, 0, 0),
        ({"set_limit": None, "learnt_limit": 401, "learnt_at": NOW}, 401, 401),
        ({"set_limit": None, "learnt_limit": 400, "learnt_at": NOW}, 400, None),
        ({"set_limit": None, "learnt_limit": 401, "learnt_at": NOW - LEARNT_FOR + 1}, 401, 401),
        ({"set_limit": None, "learnt_limit": 401, "learnt_at": NOW - LEARNT_FOR}, None, None),
        ({"set_limit": 500, "learnt_limit": 401, "learnt_at": NOW}, 500, 500),
    ],
)
def test_a_limit_is_the_set_one_or_what_was_learnt_lately_and_not_disproved(
    facts: dict[str, Any], limit: int | None, open_limit: int | None
) -> None:
    assert (window(**facts).limit(NOW), window(**facts).open_limit(NOW)) == (limit, open_limit)


# --- for whom what is left is kept -----------------------------------------------------------------------------------

UNKNOWN: dict[str, dict[str, Any]] = {"it is not open": {"began_at": None}, "it has no limit": {"set_limit": None}}


@pytest.mark.parametrize(
    ("used", "reserve", "kept"),
    [(799, 20, False), (800, 20, True), (900, 20, True), (1_200, 20, True), (1_200, 0, False), (990, 1, True)],
)
def test_the_reserve_of_a_window_is_kept_until_it_ends(used: int, reserve: int, *, kept: bool) -> None:
    assert window(used=used, reserve=reserve).kept_until(NOW) == (END if kept else None)


@pytest.mark.parametrize("why", UNKNOWN)
def test_of_what_is_not_known_nothing_is_kept(why: str) -> None:
    found = window(used=1_000, reserve=20, low_spare=True, **UNKNOWN[why])
    assert (found.kept_until(NOW), found.spare_from(NOW), found.runs_dry_at(NOW)) == (None, None, None)
    assert quota_windows.kept_by_account([found], NOW) == {}


@pytest.mark.parametrize(
    ("used", "reserve", "at"),
    [
        (199, 0, None),
        (200, 0, None),
        (201, 0, NOW + 18_000),
        (400, 0, NOW + HOUR),
        (400, 20, NOW + 3 * HOUR // 2),
        (900, 0, NOW + 7 * HOUR // 2),
        (1_000, 0, END),
        (5_000, 0, END),
    ],
)
def test_low_priority_waits_until_as_much_of_the_window_has_passed_as_is_used(
    used: int, reserve: int, at: int | None
) -> None:
    assert window(used=used, reserve=reserve, low_spare=True).spare_from(NOW) == at
    assert window(used=used, reserve=reserve).spare_from(NOW) is None


@pytest.mark.parametrize(
    ("facts", "at"),
    [
        ({"used": 400}, NOW + 3 * HOUR // 2),
        ({"used": 201}, NOW + 799 * HOUR // 201),
        ({"used": 200}, None),
        ({"used": 100}, None),
        ({"used": 0}, None),
        ({"used": 1_000}, NOW),
        ({"used": 1_001}, NOW),
        ({"began_at": NOW - HOUR // 12}, NOW + HOUR // 8),
        ({"began_at": NOW - HOUR // 12 + 1}, None),
        ({"began_at": NOW - HOUR // 12 + 1, "used": 1_000}, NOW),
    ],
)
def test_a_window_runs_dry_when_its_pace_reaches_the_limit_before_its_end(
    facts: dict[str, Any], at: int | None
) -> None:
    assert window(**facts).runs_dry_at(NOW) == at


def test_of_an_account_the_latest_end_counts_for_each_priority() -> None:
    windows = [
        window(used=900, reserve=10),
        window(A_DAY, used=900, reserve=10),
        window(WEEK, used=400, low_spare=True),
        replace(window(used=1_000, low_spare=True), account="low"),
        replace(window(used=10, reserve=10, low_spare=True), account="free"),
    ]
    found = quota_windows.kept_by_account(windows, NOW)
    week = NOW - HOUR + 7 * DAY * 4 // 10
    assert found == {"claude": Kept(NOW + 23 * HOUR, week), "low": Kept(None, END)}
    assert found == quota_windows.kept_by_account(windows[::-1], NOW)
    ends = {each: [found[name].until(each) for name in ("claude", "low")] for each in Priority}
    assert ends == {
        Priority.LOW: [week, END],
        Priority.MEDIUM: [NOW + 23 * HOUR, None],
        Priority.HIGH: [None, None],
        Priority.CRITICAL: [None, None],
    }


@given(st.integers(0, 2_000), st.integers(0, 90), st.integers(0, 6 * 60).map(lambda each: each * MINUTE), st.booleans())
def test_nothing_is_kept_beyond_the_window_or_in_the_past(used: int, reserve: int, passed: int, low: bool) -> None:
    found = window(used=used, reserve=reserve, began_at=NOW - passed, low_spare=low)
    end = found.ends_at(NOW)
    for at in (found.kept_until(NOW), found.spare_from(NOW)):
        assert at is None or (end is not None and NOW < at <= end)
    dry = found.runs_dry_at(NOW)
    assert dry is None or (end is not None and NOW <= dry < end)
    assert (dry == NOW) is (end is not None and used >= 1_000)


# --- which one is used up --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "named", "found"),
    [
        (5 * HOUR, FIVE, FIVE),
        (5 * HOUR + 1, FIVE, None),
        (MINUTE, FIVE, FIVE),
        (MINUTE, WEEK, WEEK),
        (7 * DAY + 1, WEEK, None),
        (DAY + 1, None, WEEK),
        (7 * DAY, None, WEEK),
        (7 * DAY + 1, None, None),
        (DAY, None, None),
        (HOUR, None, None),
    ],
)
def test_what_is_used_up_is_named_or_the_only_one_that_is_long_enough(
    left: int, named: Length | None, found: Length | None
) -> None:
    assert quota_windows.used_up([], left, named, NOW) is found


@pytest.mark.parametrize(
    ("left", "found"),
    [
        (4 * HOUR, FIVE),
        (4 * HOUR + 15 * MINUTE - 1, FIVE),
        (4 * HOUR + 15 * MINUTE, None),
        (4 * HOUR - 15 * MINUTE + 1, FIVE),
        (4 * HOUR - 15 * MINUTE, None),
        (23 * HOUR + 72 * MINUTE // 2, A_DAY),
        (21 * HOUR, None),
        (HOUR // 6, None),
    ],
)
def test_what_is_used_up_is_otherwise_the_one_that_ends_at_about_that_time(left: int, found: Length | None) -> None:
    windows = [window(A_DAY), window(), window(WEEK)]
    assert quota_windows.used_up(windows, left, None, NOW) is found


def test_of_two_windows_that_end_then_the_shorter_one_is_used_up() -> None:
    windows = [window(WEEK, began_at=NOW - 7 * DAY + 4 * HOUR), window(A_DAY, began_at=NOW - 20 * HOUR), window()]
    assert quota_windows.used_up(windows, 4 * HOUR, None, NOW) is FIVE
    assert quota_windows.used_up(windows[:2], 4 * HOUR, None, NOW) is A_DAY
    assert quota_windows.used_up(windows[:1], 4 * HOUR, None, NOW) is WEEK


def test_a_refusal_of_a_few_minutes_uses_no_window_up_though_one_ends_then() -> None:
    short = HOUR // 6
    for left, found in ((short - 1, None), (short, FIVE)):
        assert quota_windows.used_up([window(began_at=NOW - 5 * HOUR + left)], left, None, NOW) is found

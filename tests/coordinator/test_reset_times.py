"""Times that programs name in words, as seconds from a present that is given."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from toryo.coordinator import reset_times

NOW = datetime(2026, 9, 26, 14, 5, 0, tzinfo=timezone(timedelta(hours=9)))
HOUR, DAY = 3600.0, 86400.0


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("try again in 3 hours 5 minutes.", 3 * HOUR + 300),
        ("or try again in 5 days 22 hours 11 minutes.", 5 * DAY + 22 * HOUR + 660),
        ("Please try again in 2 hours. Please review our Terms", 2 * HOUR),
        ("Weekly limit. It will reset in 5 days 10 hours. To continue", 5 * DAY + 10 * HOUR),
        ("Please wait 2 minutes before trying again", 120),
        ("Please try again in 1.5s.", 1.5),
        ("reset after 22m55s", 22 * 60 + 55),
        ("retrying in 1 hour and 1 minute", HOUR + 60),
    ],
)
def test_how_long_it_lasts_is_read_in_days_hours_minutes_and_seconds(words: str, seconds: float) -> None:
    assert reset_times.first_time(words) == seconds


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("try again at 8:04 PM.", 5 * HOUR + 59 * 60),
        ("Try again at 3:05 PM.", HOUR),
        ("or try again at 1:00 PM.", 22 * HOUR + 55 * 60),
        ("or try again at Sep 27th, 2026 2:05 PM.", DAY),
        ("try again at Oct 1st, 2026 12:05 AM.", 4 * DAY + 10 * HOUR),
        ("wait for your limit to reset on October 3, 2026 at 2:05 PM or switch", 7 * DAY),
        ("It will reset at 2026-09-26 16:05:00 +0900 JST.", 2 * HOUR),
        ("Resets at 2026-09-26T05:06:00Z", 60),
    ],
)
def test_a_time_of_the_clock_is_the_next_one_in_local_time(words: str, seconds: float) -> None:
    assert reset_times.first_time(words, NOW) == seconds


@pytest.mark.parametrize(("past", "seconds"), [(40, 20), (59, 1), (60, 60), (1800, 60), (1860, DAY - 1860)])
def test_a_time_without_seconds_lasts_until_its_minute_is_over_and_means_soon_for_half_an_hour(
    past: int, seconds: float
) -> None:
    assert reset_times.first_time("try again at 2:05 PM.", NOW + timedelta(seconds=past)) == seconds


def test_without_a_present_the_clock_says_nothing() -> None:
    assert reset_times.first_time("try again at 8:04 PM") is None


@pytest.mark.parametrize(
    "words",
    [
        "try again later",
        "Please try again in 848ms",
        "retried 5 times (total retry wait time: 11.56 seconds)",
        "wait for your turn",
        "try again at Feb 30th, 2027 8:04 PM",
        "try again at 25:99 PM",
        "try again at Sep 1st, 2026 8:04 PM",
        "it took 3 hours",
        "",
    ],
)
def test_what_names_no_time_to_come_back_at_names_none(words: str) -> None:
    assert reset_times.first_time(words, NOW) is None

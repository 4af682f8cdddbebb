"""Web push: at which hours nobody is notified, and to which addresses anything is sent."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toryo.domain.needs import Kind
from toryo.domain.push import Preferences, is_served_by, quiet_until
from toryo.domain.times import MINUTE, of_datetime

MIDNIGHT = of_datetime(datetime(2027, 6, 1, tzinfo=ZoneInfo("UTC")))


@pytest.mark.parametrize(
    ("begin", "end", "now", "until"),
    [
        ("22:00", "07:30", "21:59", None),
        ("22:00", "07:30", "22:00", "31:30"),
        ("22:00", "07:30", "23:59", "31:30"),
        ("22:00", "07:30", "00:00", "07:30"),
        ("22:00", "07:30", "07:29", "07:30"),
        ("22:00", "07:30", "07:30", None),
        ("12:15", "13:45", "12:14", None),
        ("12:15", "13:45", "12:15", "13:45"),
        ("12:15", "13:45", "13:44", "13:45"),
        ("12:15", "13:45", "13:45", None),
        ("00:00", "00:01", "00:00", "00:01"),
        ("23:00", "00:00", "23:30", "24:00"),
        ("08:00", "08:00", "08:00", None),
    ],
)
def test_quiet_hours_last_from_their_first_minute_to_their_end(
    begin: str, end: str, now: str, until: str | None
) -> None:
    wishes = Preferences("ann", quiet_from=minutes(begin), quiet_to=minutes(end))
    found = quiet_until(wishes, MIDNIGHT + minutes(now) * MINUTE)
    assert found == (None if until is None else MIDNIGHT + minutes(until) * MINUTE)


def minutes(clock: str) -> int:
    hour, minute = map(int, clock.split(":"))
    return hour * 60 + minute


@pytest.mark.parametrize("hours", [(None, None), (0, None), (None, 60)])
def test_without_a_beginning_and_an_end_no_hour_is_quiet(hours: tuple[int | None, int | None]) -> None:
    assert quiet_until(Preferences("ann", quiet_from=hours[0], quiet_to=hours[1]), MIDNIGHT) is None


def test_an_end_that_the_clock_has_passed_twice_is_the_next_moment() -> None:
    """On 31 October 2027 Berlin goes from 3:00 back to 2:00: 2:45 comes a second time after 2:30 is over."""
    wishes = Preferences("ann", quiet_from=22 * 60, quiet_to=150, time_zone="Europe/Berlin")
    again = of_datetime(datetime(2027, 10, 31, 2, 15, fold=1, tzinfo=ZoneInfo("Europe/Berlin")))
    assert quiet_until(wishes, again) == again + 1


@given(
    st.integers(0, 1439),
    st.integers(0, 1439),
    st.integers(0, 3 * 1440),
    st.sampled_from(("UTC", "Asia/Tokyo", "Asia/Kolkata", "America/New_York")),
)
@example(0, 1439, 1439, "UTC")
def test_quiet_hours_end_within_a_day_and_are_over_then(begin: int, end: int, now: int, zone: str) -> None:
    wishes = Preferences("ann", quiet_from=begin, quiet_to=end, time_zone=zone)
    at = MIDNIGHT + now * MINUTE
    until = quiet_until(wishes, at)
    if until is not None:
        assert at < until <= at + 1440 * MINUTE
        assert quiet_until(wishes, until) is None
        assert quiet_until(wishes, until - MINUTE) == until


SERVICES = ("push.example.org", "*.example.com", "other.example:8443", "127.0.0.1:9000", "localhost:9000")


@pytest.mark.parametrize(
    ("endpoint", "served"),
    [
        ("https://push.example.org/x", True),
        ("https://PUSH.example.org/x", True),
        ("https://push.example.org:443/x", True),
        ("https://push.example.org:8443/x", False),
        ("https://push.example.org.evil.example/x", False),
        ("https://a.push.example.org/x", False),
        ("https://a.example.com/x", True),
        ("https://a.b.example.com/x", True),
        ("https://example.com/x", False),
        ("https://evilexample.com/x", False),
        ("https://a.example.com:8443/x", False),
        ("https://other.example:8443/x", True),
        ("https://other.example/x", False),
        ("https://other.example:8444/x", False),
        ("http://push.example.org/x", False),
        ("http://push.example.org:9000/x", False),
        ("http://other.example:8443/x", False),
        ("http://127.0.0.1:9000/x", True),
        ("http://localhost:9000/x", True),
        ("http://127.0.0.1:9001/x", False),
        ("http://localhost/x", False),
        ("https://127.0.0.1:9000/x", True),
        ("ftp://push.example.org/x", False),
        ("//push.example.org/x", False),
        ("https://user@push.example.org/x", False),
        ("https://@push.example.org/x", False),
        ("https://:word@push.example.org/x", False),
        ("https://user:word@push.example.org/x", False),
        ("https:///x", False),
        ("https://push.example.org:port/x", False),
        ("https://[push.example.org/x", False),
        ("", False),
    ],
)
def test_only_a_known_service_is_served_at_its_port_and_without_a_name_or_password(
    endpoint: str, *, served: bool
) -> None:
    assert is_served_by(endpoint, SERVICES) is served


def test_a_kind_that_is_muted_is_not_told() -> None:
    wishes = Preferences("ann", muted=(Kind.BLOCKED.value,))
    assert {kind for kind in Kind if not wishes.tells(kind)} == {Kind.BLOCKED}


def test_without_a_service_nothing_is_served() -> None:
    assert not is_served_by("https://push.example.org/x", ())

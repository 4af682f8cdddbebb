"""`toryo schedule`: what is typed of times, and in which time zone it counts."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.cli.conftest import Toryo
from toryo.client import Client

_names = (f"Schedule {number}" for number in itertools.count(1))


def added(server: Toryo, owner: Client, project: str, *words: str, zone: str = "UTC") -> dict[str, Any]:
    """The schedule that a command makes."""
    name = next(_names)
    typed = server("schedule", "add", name, "--project", project, "--title", "At {time}", *words, TZ=zone)
    assert typed.code == 0, typed.err
    found: list[dict[str, Any]] = owner.rest("GET", f"/projects/{project}/schedules")["schedules"]
    return next(each for each in found if each["name"] == name)


@pytest.mark.parametrize(
    ("once", "at"),
    [
        ("2031-01-31 09:30", "2031-01-31T08:30:00.000Z"),
        ("2031-07-31 09:30", "2031-07-31T07:30:00.000Z"),
        ("2031-07-31 09:30+09:00", "2031-07-31T00:30:00.000Z"),
    ],
)
def test_one_time_is_on_the_clock_of_the_time_zone_that_is_given(
    server: Toryo, owner: Client, project: str, once: str, at: str
) -> None:
    made = added(server, owner, project, "--once", once, "--time-zone", "Europe/Berlin")
    assert (made["once_at"], made["time_zone"]) == (at, "Europe/Berlin")


@pytest.mark.parametrize("rule", [("--every", "1h"), ("--once", "2031-01-31 09:30"), ("--cron", "@daily")])
def test_without_a_time_zone_the_clock_of_a_schedule_is_that_of_this_machine(
    server: Toryo, owner: Client, project: str, rule: tuple[str, str]
) -> None:
    assert added(server, owner, project, *rule, zone="Asia/Tokyo")["time_zone"] == "Asia/Tokyo"


def test_an_unknown_time_zone_of_one_time_is_refused(server: Toryo, project: str) -> None:
    zone = ("--once", "2031-01-31 09:30", "--time-zone", "Europe/Berln")
    typed = server("schedule", "add", "Launch", "--project", project, "--title", "T", *zone)
    assert typed.code != 0
    assert "--time-zone must be the name of a time zone" in typed.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--every", "1s"), "--every must be at least 1 min (given: 1s)."),
        (("--every", "0"), "--every must be at least 1 min (given: 0)."),
        (("--every", "99w"), "--every must be at most 366 d (given: 99w)."),
        (("--every", "1h", "--catch-up", "8d"), "--catch-up must be at most 7 d (given: 8d)."),
    ],
)
def test_a_duration_beyond_its_bounds_is_refused_in_the_units_that_people_type(
    server: Toryo, project: str, words: tuple[str, ...], told: str
) -> None:
    assert told in server("schedule", "add", "Often", "--project", project, "--title", "T", *words).err

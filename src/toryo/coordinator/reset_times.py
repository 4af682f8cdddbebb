"""Parses when a model's service accepts requests again ("in 3 hours 5 minutes", "at 8:04 PM"), in seconds.

Only parses times; `failure_words.py` interprets messages. The current time is an argument; clock times are local.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

_UNITS = (("d", 86400.0, r"d(?:ays?)?"), ("h", 3600.0, r"h(?:(?:ou)?rs?)?"), ("m", 60.0, r"m(?:in(?:ute)?s?)?"))
_SECONDS = ("s", 1.0, r"s(?:ec(?:ond)?s?)?")
DURATION = r"(?=\d)" + r"(?:[,\s]|and\b)*".join(
    rf"(?:(?P<{name}>\d+(?:\.\d+)?)\s*{word}(?![a-z]))?" for name, _, word in (*_UNITS, _SECONDS)
)
"""Groups d, h, m and s, each of which may be missing: "22m55s", "5 days 22 hours 11 minutes". (848ms names nothing.)"""
_IN = re.compile(
    r"(?:try(?:ing)? again in|retry(?:ing)? in|resets? (?:in|after)|wait(?: for)?)\s+" + DURATION, re.IGNORECASE
)
_CLOCK = (
    r"(?:(?P<month>[a-z]{3})[a-z]*\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>\d{4}))?,? (?:at )?)?"
    r"(?P<time>\d{1,2}(?::\d\d)?) ?(?P<half>[ap]m)(?: \((?P<zone>[a-z]+(?:[/_+-][a-z0-9]+)*)\))?"
)
_AT = re.compile(
    r"(?:(?:try again|available again)\s+(?:at|on)|resets?(?:\s+(?:at|on))?)\s+"
    rf"(?:(?P<stamp>\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?\s?(?:Z|[+-]\d\d:?\d\d)?)|{_CLOCK})"
    r"|limit reached\|(?P<epoch>\d{10})\b",
    re.IGNORECASE,
)
"""A timestamp, a time of day (in a named zone; the next such day if there is no year), or a Unix time."""


def total(parts: Mapping[str, str | None]) -> float | None:
    """The seconds that a match of DURATION names; None if it names none."""
    found = sum(float(parts.get(name) or 0) * worth for name, worth, _ in (*_UNITS, _SECONDS))
    return found or None


SOON = 60.0
"""Seconds to wait for what should be over by now: clocks differ, and programs print a time that has just passed."""
JUST_PASSED = timedelta(minutes=30)
"""A time of day that has passed by no more means the one that has passed, and not tomorrow's."""


def first_time(text: str, now: datetime | None = None, longest: float | None = None) -> float | None:
    """The first time in a text; None if there is none. Without `now`, times of day are ignored.

    `longest`: the seconds of the window that ends then, if it is known: a time of day after its end has passed.
    """
    lasting, moment = _IN.search(text), _AT.search(text)
    if lasting and (seconds := total(lasting.groupdict())):
        return within(seconds, longest)
    found = _until(moment.groupdict(), now) if moment and now is not None else None
    if found is None or longest is None or found <= longest:
        return found
    return SOON if moment is not None and _is_time_of_day(moment.groupdict()) else longest


def within(seconds: float, longest: float | None) -> float:
    """No longer than the window lasts."""
    return seconds if longest is None else min(seconds, longest)


def _is_time_of_day(parts: Mapping[str, str | None]) -> bool:
    return not (parts["epoch"] or parts["stamp"] or parts["month"])


def _until(parts: Mapping[str, str | None], now: datetime) -> float | None:
    """None for what is long over, and for a day or a zone that does not exist."""
    try:
        moment = _moment(parts, now)
    except (KeyError, ValueError):  # ZoneInfoNotFoundError is a KeyError
        return None
    seconds = (moment - now).total_seconds()
    if seconds > 0:
        return seconds
    return SOON if now - moment <= JUST_PASSED else None


def _moment(parts: Mapping[str, str | None], now: datetime) -> datetime:
    if parts["epoch"]:
        return datetime.fromtimestamp(int(parts["epoch"]), UTC)
    if parts["stamp"]:
        stamp = datetime.fromisoformat(re.sub(r"\s(?=[Z+-])", "", parts["stamp"].strip()))
        return stamp if stamp.tzinfo else stamp.replace(tzinfo=now.tzinfo)
    here = now.astimezone(ZoneInfo(parts["zone"])) if parts["zone"] else now
    minutes = "" if ":" in (parts["time"] or "") else ":00"
    clock = _read(f"{parts['time']}{minutes} {parts['half']}", "%I:%M %p").time()
    if not parts["month"]:
        today = datetime.combine(here.date(), clock, here.tzinfo)
        return _next_end(today, here) if today <= here else today
    day = _read(f"{parts['month']} {parts['day']} {parts['year'] or here.year}", "%b %d %Y").date()
    moment = datetime.combine(day, clock, here.tzinfo)
    over = not parts["year"] and moment < here - timedelta(days=1)  # printed in December for a day in January
    return moment.replace(year=moment.year + 1) if over else moment


def _next_end(today: datetime, here: datetime) -> datetime:
    """The time has no seconds: a time in the current minute is still ahead. One that has just passed stays what it is;
    an earlier one is tomorrow's."""
    if here - today < timedelta(minutes=1):
        return today + timedelta(minutes=1)
    return today if here - today <= JUST_PASSED else today + timedelta(days=1)


def _read(text: str, form: str) -> datetime:
    return datetime.strptime(text, form).replace(tzinfo=UTC)

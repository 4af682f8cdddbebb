"""Instants: whole milliseconds inside, ISO 8601 in UTC outside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toryo.domain import times

instants = st.integers(times.parse("0001-01-01T00:00:00Z"), times.parse("9999-12-31T23:59:59.999Z"))


@given(instants)
def test_what_is_written_is_read_as_the_same_instant(instant: int) -> None:
    text = times.iso(instant)
    assert times.parse(text) == instant
    assert text.endswith("Z")


@given(instants, instants)
def test_texts_sort_as_the_instants_do(one: int, other: int) -> None:
    assert (times.iso(one) < times.iso(other)) == (one < other)


def test_an_instant_is_written_with_milliseconds_and_z() -> None:
    assert times.iso(1_767_225_600_000) == "2026-01-01T00:00:00.000Z"
    assert times.iso(1_767_225_600_007) == "2026-01-01T00:00:00.007Z"
    assert times.iso(-1) == "1969-12-31T23:59:59.999Z"


def test_offsets_are_heeded_and_a_text_without_one_is_utc() -> None:
    assert times.parse("2026-01-01T09:00:00+09:00") == times.parse("2026-01-01T00:00:00Z")
    assert times.parse("2026-01-01") == times.parse("2026-01-01T00:00") == times.parse("2026-01-01T00:00:00Z")


def test_parts_of_a_millisecond_are_dropped() -> None:
    assert times.parse("1970-01-01T00:00:00.0019Z") == 1


def test_nothing_is_written_as_nothing() -> None:
    assert times.iso_or_none(None) is None
    assert times.iso_or_none(0) == "1970-01-01T00:00:00.000Z"


@pytest.mark.parametrize("bad", ["", "yesterday", "2026-13-01", "2026-01-01T25:00:00Z", "1767225600000"])
def test_a_text_that_names_no_instant_is_an_error(bad: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        times.parse(bad)

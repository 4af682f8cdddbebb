"""Ids: a prefix and a random part that sorts by time; and which ids people may choose."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.things import NOW
from toryo import chosen_ids
from toryo.domain import ids

instants = st.integers(0, 2**45 - 1)
randomness = st.integers(0, 2**50 - 1)


@given(instants, randomness)
def test_an_id_is_its_prefix_and_nineteen_plain_characters(now: int, random: int) -> None:
    assert re.fullmatch(r"tsk_[0-9a-hj-km-np-z]{19}", ids.make(ids.TASK, now, random))


@given(instants, instants, randomness, randomness)
def test_what_is_made_later_sorts_later(earlier: int, later: int, one: int, other: int) -> None:
    first, second = ids.make("tsk", min(earlier, later), one), ids.make("tsk", max(earlier, later), other)
    assert earlier == later or first < second


@given(instants, randomness, randomness)
def test_within_a_millisecond_chance_tells_ids_apart(now: int, one: int, other: int) -> None:
    assert (ids.make("tsk", now, one) == ids.make("tsk", now, other)) == (one == other)


@given(instants, randomness)
def test_every_bit_of_time_and_chance_stands_in_an_id_at_its_place(now: int, random: int) -> None:
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    digits = [alphabet.index(each) for each in ids.make("tsk", now, random).removeprefix("tsk_")]
    read = sum(digit << 5 * place for place, digit in enumerate(reversed(digits)))
    assert read == (now << 50) + random


def test_an_id_says_what_it_is_of() -> None:
    prefixes = [ids.PROJECT, ids.AGENT, ids.TASK, ids.SESSION, ids.LAUNCH, ids.HANDOFF, ids.NOTIFICATION, ids.EVENT]
    assert prefixes == ["prj", "agt", "tsk", "ses", "lau", "hnd", "ntf", "evt"]
    assert ids.make(ids.AGENT, NOW, 0).startswith("agt_")


@pytest.mark.parametrize("good", ["a", "worker-a", "9", "w_1.x", "a" * 64])
def test_people_may_choose_short_plain_ids(good: str) -> None:
    assert chosen_ids.may_be(good)


@pytest.mark.parametrize("bad", ["", "a" * 65, "Worker", "a b", "ä", "a/b", "..", ".hidden", "-x", "a\n", "a\x00"])
def test_ids_that_read_badly_in_paths_and_options_are_not_chosen(bad: str) -> None:
    assert not chosen_ids.may_be(bad)


@given(st.text(max_size=200), st.integers(1, chosen_ids.LONGEST))
def test_what_is_made_of_a_name_may_be_chosen(name: str, longest: int) -> None:
    made = chosen_ids.made_of(name, "x", longest)
    assert chosen_ids.may_be(made)
    assert len(made) <= longest
    assert chosen_ids.made_of(made, "y") == made


def test_the_shape_of_ids_is_said_in_one_place() -> None:
    sources = Path(chosen_ids.__file__).parent.rglob("*.py")
    assert [source.name for source in sources if "[^a-z0-9" in source.read_text(encoding="utf-8")] == ["chosen_ids.py"]

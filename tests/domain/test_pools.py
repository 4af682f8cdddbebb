"""Tasks for anyone who is free: in which order those are asked that are free."""

from __future__ import annotations

from toryo.domain import pools


def test_who_has_nothing_in_line_is_asked_first_then_who_has_started_longest_ago() -> None:
    last = {"ann": 3, "bob": 1, "cleo": 2, "dan": 1}
    assert pools.in_order(["ann", "bob", "cleo", "dan"], {"bob"}, last) == ["dan", "cleo", "ann", "bob"]


def test_who_was_never_started_comes_before_who_was_and_ids_decide_between_equals() -> None:
    assert pools.in_order(["cleo", "bob", "ann"], (), {"ann": 1}) == ["bob", "cleo", "ann"]

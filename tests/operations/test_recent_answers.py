"""Answers that are kept: those that were asked for last."""

from __future__ import annotations

from functools import partial

from toryo.operations.calls.recent_answers import RecentAnswers


def test_what_is_asked_for_again_stays_and_what_nobody_asks_for_goes_first() -> None:
    answers, found = RecentAnswers(most=2), list[str]()

    def find(key: str) -> str:
        found.append(key)
        return key

    for key in ("a", "b", "a", "c", "a", "b"):
        assert answers.of(key, partial(find, key)) == key
    assert found == ["a", "b", "c", "b"]


def test_what_is_not_worth_keeping_is_found_again_each_time() -> None:
    answers, found = RecentAnswers(), list[str]()

    def find() -> str:
        found.append("long")
        return "long"

    for _ in range(2):
        assert answers.of("key", find, lambda answer: len(answer) < 4) == "long"
    assert len(found) == 2

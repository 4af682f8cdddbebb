"""Which questions count as the same: what a person answers once is counted for no other text."""

from __future__ import annotations

import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st

from toryo.domain.questions import likeness

SIGNS = st.text("ab =!<>-+?.,()％％Kk\u00a0\n", max_size=12)


@settings(max_examples=200)
@given(SIGNS, SIGNS, SIGNS)
@example("tests != passed?", "tests == passed?", "Yes")
@example("Delete a-b?", "Delete a b?", "Yes")
@example("", "?", "Yes")
def test_questions_are_the_same_only_if_nothing_but_case_width_and_spacing_differs(a: str, b: str, other: str) -> None:
    def meant(text: str) -> list[str]:
        return unicodedata.normalize("NFKC", text).casefold().split()

    assert (likeness(a, ["Yes", "No"]) == likeness(b, ["No", "Yes"])) == (meant(a) == meant(b))
    assert (likeness(other, [a]) == likeness(other, [b])) == (meant(a) == meant(b))


def test_words_of_an_option_are_no_words_of_the_question() -> None:
    assert likeness("Deploy? now", []) != likeness("Deploy?", ["now"])
    assert likeness("Deploy?", ["now", "then"]) != likeness("Deploy?", ["now then"])

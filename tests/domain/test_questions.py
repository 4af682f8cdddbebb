"""Questions to people: which can be asked, what counts as their answer, how they end, and which count as the same.

What a person answers once is counted for no other text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.domain.things import NOW, refused
from toryo.domain import questions
from toryo.domain.errors import Code
from toryo.domain.fast_dataclasses import replace
from toryo.domain.questions import Answer, Question, State, likeness

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


def test_the_key_of_a_question_stays_what_was_stored_for_it() -> None:
    assert likeness("Deploy?", ["Yes", "No"]) == "a3e3f67ed1c3ae7e652a66bbf17d81bc"


# --- what can be asked -----------------------------------------------------------------------------------------------


def asks(*options: str, **terms: Any) -> None:
    questions.refuse_unanswerable(options, **{"multiple": False, "free_text": False, "fallback": None, **terms})


@pytest.mark.parametrize(
    ("options", "terms"),
    [
        (("a", "b"), {}),
        (("a", "b"), {"multiple": True}),
        (("a", "b"), {"fallback": "b"}),
        (("a", "b"), {"free_text": True, "fallback": "a"}),
        (("a", "b"), {"free_text": True, "fallback": "else"}),
        ((), {"free_text": True}),
        ((), {"free_text": True, "fallback": "else"}),
    ],
)
def test_what_can_be_answered_may_be_asked(options: tuple[str, ...], terms: dict[str, Any]) -> None:
    asks(*options, **terms)


@pytest.mark.parametrize(
    ("options", "terms", "told"),
    [
        (("Yes", "no", "yes"), {}, "Two options are the same"),
        ((), {}, "without options needs free_text"),
        ((), {"multiple": True, "free_text": True}, "multiple is only for"),
        (("a", "b"), {"fallback": "c"}, "is not one of the options"),
        (("a", "b"), {"fallback": ""}, "is not one of the options"),
    ],
)
def test_what_nobody_could_answer_may_not_be_asked(options: tuple[str, ...], terms: dict[str, Any], told: str) -> None:
    assert told in refused(Code.VALIDATION_ERROR, asks, *options, **terms).message


# --- what counts as an answer ----------------------------------------------------------------------------------------


def question(*options: str, **more: Any) -> Question:
    terms: dict[str, Any] = {"multiple": False, "free_text": False, "fallback": None, "deadline": None, **more}
    return Question(
        "q",
        "prj",
        "t",
        "ann",
        "Which?",
        options,
        to_person=None,
        alike="",
        created_at=0,
        **{"state": State.OPEN, **terms},
    )


ONE = question("Red", "Blue", "Green")
SEVERAL = question("Red", "Blue", "Green", multiple=True)
OPTION_OR_WORDS = question("Red", "Blue", free_text=True)
WORDS = question(free_text=True)


@pytest.mark.parametrize(
    ("asked", "given", "taken"),
    [
        (ONE, Answer(("Blue",)), Answer(("Blue",))),
        (ONE, Answer((" bLUE ",)), Answer(("Blue",))),
        (ONE, Answer(("Red", "red")), Answer(("Red",))),
        (ONE, Answer(("Red",), "  "), Answer(("Red",))),
        (SEVERAL, Answer(("Green", "red")), Answer(("Red", "Green"))),
        (OPTION_OR_WORDS, Answer(("Red",), " dark "), Answer(("Red",), "dark")),
        (OPTION_OR_WORDS, Answer((), "dark"), Answer((), "dark")),
        (WORDS, Answer((), "dark"), Answer((), "dark")),
    ],
)
def test_an_answer_is_kept_as_the_options_were_asked_and_in_their_order(
    asked: Question, given: Answer, taken: Answer
) -> None:
    after = questions.answered(asked, given, "hana", NOW)
    assert (after.state, after.ended_by, after.ended_at) == (State.ANSWERED, "hana", NOW)
    assert Answer(after.choices, after.written) == taken
    assert questions.takes(asked, given)


@pytest.mark.parametrize(
    ("asked", "given", "told", "instead"),
    [
        (ONE, Answer(("Red", "Pink", "Brown")), "“Pink”", "Choose one of “Red”, “Blue”, “Green”."),
        (ONE, Answer(("Red",), "dark"), "no answer in your own words", "Choose one of "),
        (ONE, Answer(("Red", "Blue")), "takes one option", "Choose one of "),
        (OPTION_OR_WORDS, Answer(("Red", "Blue")), "takes one option", "or write an answer."),
        (OPTION_OR_WORDS, Answer((), " "), "empty", "or write an answer."),
        (SEVERAL, Answer(), "empty", "Choose one of "),
        (WORDS, Answer((), ""), "empty", "Write an answer."),
        (WORDS, Answer(("Red",), "dark"), "Red", "Write an answer."),
    ],
)
def test_what_is_no_answer_is_refused_with_what_would_be_one(
    asked: Question, given: Answer, told: str, instead: str
) -> None:
    refusal = refused(Code.VALIDATION_ERROR, questions.answered, asked, given, "hana", NOW)
    assert told in refusal.message
    assert instead in refusal.instruction
    assert ("or write an answer" in refusal.instruction) == ("or write an answer" in instead)
    assert refusal.details["question_id"] == "q"
    assert not questions.takes(asked, given)


# --- how they end ----------------------------------------------------------------------------------------------------


def answered_by_hana() -> Question:
    return questions.answered(replace(SEVERAL, free_text=True), Answer(("Red", "Blue"), "dark"), "hana", NOW)


def defaulted() -> Question:
    return questions.defaulted(replace(ONE, fallback="Blue"), NOW, "system:toryo")


def withdrawn() -> Question:
    return questions.withdrawn(ONE, "hana", "Not needed.", NOW)


def test_a_default_is_one_of_the_options_or_else_words() -> None:
    option = defaulted()
    assert (option.state, option.choices, option.written) == (State.DEFAULTED, ("Blue",), None)
    assert (option.ended_by, option.ended_at) == ("system:toryo", NOW)
    words = questions.defaulted(replace(OPTION_OR_WORDS, fallback="dark"), NOW, "system:toryo")
    assert (words.choices, words.written) == ((), "dark")


def test_a_question_that_is_withdrawn_says_who_and_why() -> None:
    over = withdrawn()
    assert (over.state, over.reason) == (State.WITHDRAWN, "Not needed.")
    assert (over.ended_by, over.ended_at) == ("hana", NOW)


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        (answered_by_hana, "already answered by hana: “Red; Blue; dark”"),
        (defaulted, "its default was taken: “Blue”"),
        (withdrawn, "was withdrawn"),
    ],
    ids=["answered", "defaulted", "withdrawn"],
)
def test_a_question_that_is_over_takes_no_answer_and_tells_how_it_ended(
    ends: Callable[[], Question], told: str
) -> None:
    over = ends()
    assert not over.open
    assert not questions.takes(over, Answer(("Red",)))
    for act in (
        lambda: questions.answered(over, Answer(("Red",)), "olga", NOW),
        lambda: questions.withdrawn(over, "olga", None, NOW),
    ):
        refusal = refused(Code.CONFLICT, act)
        assert told in refusal.message
        assert "toryo task steer t " in refusal.instruction
        assert (refusal.details["state"], refusal.details["task_id"]) == (over.state.value, "t")


@pytest.mark.parametrize(
    ("ends", "given", "by", "same"),
    [
        (answered_by_hana, Answer(("blue", "Red"), "dark"), "hana", True),
        (answered_by_hana, Answer(("blue", "Red"), "dark"), "olga", False),
        (answered_by_hana, Answer(("Red",), "dark"), "hana", False),
        (answered_by_hana, Answer(("Red", "Blue")), "hana", False),
        (answered_by_hana, Answer(("Pink",)), "hana", False),
        (defaulted, Answer(("Blue",)), "system:toryo", False),
        (withdrawn, Answer(()), "hana", False),
        (lambda: replace(ONE, ended_by="hana"), Answer(("Red",)), "hana", False),
    ],
)
def test_an_answer_is_repeated_by_who_gave_it_with_the_same_words(
    ends: Callable[[], Question], given: Answer, by: str, *, same: bool
) -> None:
    assert questions.repeats(ends(), given, by) is same


@pytest.mark.parametrize(("now", "overdue"), [(NOW - 1, False), (NOW, True), (NOW + 1, True)])
def test_an_open_question_is_overdue_from_its_deadline_on(now: int, *, overdue: bool) -> None:
    assert replace(ONE, deadline=NOW).overdue(now) is overdue
    assert not ONE.overdue(now)
    assert not replace(answered_by_hana(), deadline=NOW).overdue(now)


def test_a_review_is_approved_by_its_first_option_alone() -> None:
    review = question("Approve", "Request changes", check_id="chk")
    assert (review.review, ONE.review) == (True, False)
    for choices in ((), ("Approve",), ("Request changes",), ("Approve", "Request changes")):
        assert replace(review, choices=choices).approved is (choices == ("Approve",))

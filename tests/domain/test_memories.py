"""Memories: by which terms a text is found, in which order, and how much of it comes with a task."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toryo.domain import memories
from toryo.domain.memories import LONGEST_TERM, MOST_TERMS, MOST_WANTED, OFFERED, SHOWN, Memory


@pytest.mark.parametrize(
    ("text", "stored", "looked_for"),
    [
        ("Retry the Build", ["retry", "the", "build"], None),
        ("a I 7 ok", ["ok"], None),
        ("ab ab AB", ["ab"], None),
        ("retry_count", ["retry_count", "retry", "count"], None),
        ("x_count", ["count"], None),
        ("ok_go", ["ok_go", "ok", "go"], None),
        ("_count_", ["count"], None),
        ("x_y", ["x_y"], None),
        ("_x_", [], None),
        ("__", [], None),
        ("ＡＢ１", ["ab1"], None),
        ("テスト環境", ["テス", "スト", "ト環", "環境", "環", "境"], ["テス", "スト", "ト環", "環境"]),
        ("鍵", ["鍵"], ["鍵"]),
        ("あ", ["あ"], ["あ"]),
        ("新API鍵を", ["新", "api", "鍵を", "鍵"], ["新", "api", "鍵を"]),
        ("ab漢cd", ["ab", "漢", "cd"], None),
        ("", [], None),
    ],
)
def test_a_text_is_found_by_its_words_and_without_spaces_by_pairs(
    text: str, stored: list[str], looked_for: list[str] | None
) -> None:
    assert memories.terms(text) == stored
    assert memories.query_terms(text) == (stored if looked_for is None else looked_for)


def test_terms_are_cut_and_counted() -> None:
    word = "w" * (LONGEST_TERM + 1)
    assert memories.terms(f"{word}x_{word}y") == [word[:-1]]
    many = [f"w{number}" for number in range(MOST_TERMS + 1)]
    assert memories.terms(" ".join(many)) == many[:-1]
    assert memories.terms(" ".join(many), 2) == many[:2]
    assert memories.query_terms(" ".join(many)) == many[:MOST_WANTED]


@given(st.text("abあ漢_ テ", max_size=12), st.text("abあ漢_ テ", max_size=6), st.text("abあ漢_ テ", max_size=6))
def test_a_text_is_found_by_whatever_words_it_has(text: str, before: str, after: str) -> None:
    assert set(memories.query_terms(text)) <= set(memories.terms(f"{before} {text} {after}"))


def test_function_words_and_japanese_endings_tell_nothing() -> None:
    assert memories.telling_terms(["the", "build", "must", "です", "す", "ビル", "鍵を", "しか"]) == [
        "build",
        "ビル",
        "鍵を",
    ]


def test_texts_are_alike_that_differ_in_case_width_and_spaces_alone() -> None:
    assert memories.likeness("Use  make\nTEST") == memories.likeness("use make ｔｅｓｔ")
    assert memories.likeness("use make test") != memories.likeness("use make tests")
    assert memories.likeness("use make test") == "2d8d8a7fa93a91144244beaba7ac24f3", "it is stored"


# --- what comes first ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "at_least", "order"),
    [
        ([("a", "x"), ("b", "x"), ("b", "y")], 1, ["b", "a"]),
        ([("a", "x"), ("b", "x"), ("b", "y")], 2, ["b"]),
        ([("a", "rare"), ("b", "x"), ("c", "x"), ("d", "x")], 1, ["a", "d", "c", "b"]),
        ([("a", "x"), ("a", "x"), ("b", "x")], 1, ["b", "a"]),
        (
            [("a", "x"), ("a", "y"), ("b", "z")] + [(other, each) for each in "xy" for other in "cde"],
            1,
            ["e", "d", "c", "b", "a"],
        ),
        ([], 1, []),
    ],
)
def test_what_shares_more_and_rarer_terms_comes_first_and_of_equals_the_newer(
    found: list[tuple[str, str]], at_least: int, order: list[str]
) -> None:
    for seed in range(3):
        shuffled = random.Random(seed).sample(found, len(found))
        assert memories.ranked(shuffled, at_least) == order


# --- what comes with a task ------------------------------------------------------------------------------------------


def memory(name: str, text: str) -> Memory:
    return Memory(name, "prj", text, "", "ann", None, pinned=False, created_at=0)


def names(found: list[Memory]) -> str:
    return "".join(each.id for each in found)


def test_the_pinned_ones_come_first_and_as_many_as_fit() -> None:
    half, rest, more = memory("h", "語" * (OFFERED // 2)), memory("r", "語" * (OFFERED // 2)), memory("m", "abcd")
    assert names(memories.offered([half], [rest, more])) == "hr"
    assert names(memories.offered([half], [more, rest])) == "hm"
    assert names(memories.offered([], [memory("x", "語" * (OFFERED // 2 + 1)), half, more])) == "xm"
    assert names(memories.offered([half, more], [more, half])) == "hm"
    assert names(memories.offered([], [])) == ""


def test_a_long_text_counts_as_it_is_shown() -> None:
    assert names(memories.offered([memory("long", "語" * 2_000)], [])) == "long"


@pytest.mark.parametrize(("length", "shown"), [(SHOWN, "x" * SHOWN), (SHOWN + 1, "x" * (SHOWN - 1) + "…")])
def test_a_text_beside_others_is_cut(length: int, shown: str) -> None:
    assert memories.cut("x" * length) == shown


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("語", 1), ("語abcde", 3), ("語語", 2)]
)
def test_four_ascii_characters_are_a_token_and_each_other_one(text: str, tokens: int) -> None:
    assert memories.tokens(text) == tokens

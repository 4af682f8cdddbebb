"""Texts that others have written: what a name may hold, and that the dashboard hides the same characters."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from toryo import shown_characters
from toryo.domain import texts

VISIBLE = Path(__file__).parents[2] / "web/src/ui/visible.ts"


@pytest.mark.parametrize("name", ["葛󠄀城", "辻󠄁", "👩‍💻", "🇯🇵", "नमस्ते", "می‌خواهم"])
def test_names_of_people_are_lines(name: str) -> None:
    assert texts.not_of_a_line(name) is None
    assert texts.printable(name) == name


def test_a_form_of_a_character_reads_as_the_character() -> None:
    assert texts.reads_as("葛󠄀城") == texts.reads_as("葛城")


@pytest.mark.parametrize("text", ["a\U000e0101", "葛\U000e0100\U000e0101", "😀\U000e0110", "a\U000e0041"])
def test_characters_that_hide_data_are_no_part_of_a_line(text: str) -> None:
    assert texts.not_of_a_line(text) is not None
    assert shown_characters.REPLACEMENT in texts.printable(text)


def test_what_copying_leaves_at_the_ends_is_taken_away_and_nothing_within() -> None:
    assert texts.trimmed("\ufeff\u200bPaint it\u200e") == "Paint it"
    assert texts.not_of_a_line(texts.trimmed("\u200bPa\u200bint\u200b")) == "U+200B"


def test_the_dashboard_shows_the_same_characters_by_their_numbers() -> None:
    (pattern,) = re.findall(r"^  /(.+)/gu;$", VISIBLE.read_text(encoding="utf-8"), re.MULTILINE)
    as_python = re.sub(r"\\u\{(\w+)\}", lambda each: f"\\U{each[1]:0>8}", pattern)
    theirs = re.compile(as_python)
    signs = [chr(each) for each in range(sys.maxunicode + 1) if chr(each) not in "\r\x85\u2028\u2029"]
    for before in ("x", "葛"):
        text = "".join(before + sign for sign in signs)
        assert theirs.sub(shown_characters.REPLACEMENT, text) == texts.printable(text)

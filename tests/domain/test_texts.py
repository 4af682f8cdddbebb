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


# --- stored ----------------------------------------------------------------------------------------------------------


def test_what_a_program_printed_is_stored_character_by_character() -> None:
    assert texts.storable("a\0\x1b\r\n") == "a\u2400\x1b\r\n"


def test_several_lines_end_with_newlines_and_keep_their_tabs() -> None:
    assert texts.several_lines("a\r\nb\rc\n\td") == "a\nb\nc\n\td"
    for control in (0x00, 0x08, 0x0B, 0x1F, 0x7F, 0x9F):
        assert texts.several_lines(chr(control)) == shown_characters.REPLACEMENT
    for kept in (0x09, 0x0A, 0x20, 0x7E, 0xA0):
        assert texts.several_lines(chr(kept)) == chr(kept)


@pytest.mark.parametrize(("text", "found"), [("a\x1bb\0", "U+001B"), ("\U000e0041", "U+E0041"), ("a\nb", "U+000A")])
def test_the_first_character_that_is_not_of_a_line_is_named(text: str, found: str) -> None:
    assert texts.not_of_a_line(text) == found


# --- shown -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\r\n", "\r", "\x85", "\u2028", "\u2029", "\n"])
def test_a_text_is_shown_with_its_lines_on_one_or_marked_or_quoted(end: str) -> None:
    text = f"a {end}b\tc\x1b[2J{end}"
    lines = f"a \nb\tc{shown_characters.REPLACEMENT}[2J\n"
    assert texts.printable(text) == lines
    assert texts.one_line(text) == " ".join(lines.split())
    assert texts.quoted(text) == f"“{' '.join(lines.split())}”"
    assert texts.marked(text) == f"| a\n| b\tc{shown_characters.REPLACEMENT}[2J"


def test_a_quotation_cannot_be_closed_from_within_and_an_empty_line_has_its_mark() -> None:
    assert texts.quoted("a” and “b") == '“a" and "b”'
    assert texts.marked("a\n\nb") == "| a\n|\n| b"


def test_of_what_a_program_printed_only_the_colours_stay() -> None:
    shown = texts.coloured("\x1b[31mred\x1b[0m\x1b[2J \x1b[1;4:3mx\x1b")
    sign = shown_characters.REPLACEMENT
    assert shown == f"\x1b[31mred\x1b[0m{sign}[2J \x1b[1;4:3mx{sign}"
    assert texts.coloured("plain\x1b]") == f"plain{sign}]"


def test_json_shows_each_character_that_can_be_shown() -> None:
    assert texts.exact({"a": "é\x1b\u202e"}) == '{"a": "é\\u001b\\u202e"}'
    assert texts.exact(["a"], indent=1) == '[\n "a"\n]'


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Оwner", "owner"),
        ("Ηana", "HANA"),
        ("ｂｏｓｓ", "Boss"),
        ("bo\u200bss", "boss"),
        ("bo\u0300ss", "boss"),
        ("bo\u036fss", "boss"),
        ("bóss", "boss"),
        ("boss\U000e0100", "boss"),
        ("boss\U000e01ef", "boss"),
        (" the  boss ", "the boss"),
    ],
)
def test_names_that_look_alike_read_the_same(name: str, other: str) -> None:
    assert texts.reads_as(name) == texts.reads_as(other)


@pytest.mark.parametrize("mark", ["\u02ff", "\u0370", "\U000e00ff", "\U000e01f0", "が", "b", "0"])
def test_other_characters_make_another_name(mark: str) -> None:
    assert texts.reads_as(f"boss{mark}") != texts.reads_as("boss")


@pytest.mark.parametrize("name", ["0wner", "-Owner-", "OWNER!", "оwner", "o w n e r"])
def test_a_bare_name_has_only_its_letters(name: str) -> None:
    assert texts.bare(name) == "owner"


def test_digits_are_the_letters_that_they_look_like() -> None:
    assert texts.bare("0135@$|x") == "olesaslx"

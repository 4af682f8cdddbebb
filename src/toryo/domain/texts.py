"""Texts that others have written: what may be stored, how they are shown, and which names would mislead.

The rules about characters stand here once. `LINE` fields refuse what is no character of a line; text of several lines
keeps newlines and tabs; whatever is shown is free of what steers a terminal or changes the order of what one reads.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

NUL, SIGN_FOR_NUL = "\0", "\u2400"
REPLACEMENT = "\ufffd"

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
"""Without a shape of its own, or changing the order of others: bidirectional controls, zero-width and blank ones, line
separators, tags. The joiners U+200C and U+200D stay: languages and emoji need them."""
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
_VARIANTS = "(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
"""Which form of a Chinese character is meant, as names have it (葛󠄀): one behind each. Elsewhere they hide data."""
_NOT_SHOWN = re.compile(f"[{_CONTROLS}{_INVISIBLE}]|{_VARIANTS}")
_NOT_OF_LINES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NOT_OF_A_LINE = re.compile(f"[\t\n{_CONTROLS}{_INVISIBLE}]|{_VARIANTS}")
_AROUND = "\u200b\u200e\u200f\u2060\ufeff"
"""What copying from elsewhere leaves at the ends of a text, without a width."""
_COLOUR = re.compile("\x1b\\[[0-9;:]*m")
_INNER_QUOTES = str.maketrans("“”", '""')
_LINE_END = re.compile("\r\n?|\x85|\u2028|\u2029")


def storable(printed: str) -> str:
    """Character by character, with a sign for NUL: no column takes that one."""
    return printed.replace(NUL, SIGN_FOR_NUL)


# --- what is written -------------------------------------------------------------------------------------------------


def trimmed(text: str) -> str:
    """A text of one line without what has no width at its ends."""
    return text.strip(_AROUND)


def not_of_a_line(text: str) -> str | None:
    """The first character that a title, a name or an id cannot hold, as `U+001B`; None if there is none."""
    found = _NOT_OF_A_LINE.search(text)
    return f"U+{ord(found[0]):04X}" if found is not None else None


def several_lines(text: str) -> str:
    """A text of several lines as it is stored: its lines end with a newline, and it holds no control but tabs."""
    return _NOT_OF_LINES.sub(REPLACEMENT, text.replace("\r\n", "\n").replace("\r", "\n"))


# --- what is shown ---------------------------------------------------------------------------------------------------


def printable(text: str) -> str:
    """Lines and tabs as they are, without what would steer the terminal of whoever reads it."""
    return _NOT_SHOWN.sub(REPLACEMENT, _LINE_END.sub("\n", text))


def one_line(text: str) -> str:
    """On one line: in a heading, a cell of a table, a sentence."""
    return " ".join(printable(text).split())


def quoted(text: str) -> str:
    """Somebody's words within a sentence of ours: on one line, in marks that they cannot close."""
    return "“" + one_line(text).translate(_INNER_QUOTES) + "”"


def coloured(text: str) -> str:
    """Printable, with the colours that a program gave its output."""
    kept, at = [], 0
    for colour in _COLOUR.finditer(text):
        kept += [printable(text[at : colour.start()]), colour[0]]
        at = colour.end()
    return "".join([*kept, printable(text[at:])])


def exact(value: Any, *, indent: int | None = None) -> str:
    """As JSON: every character as it is, those that cannot be shown as `\\u001b`."""
    written = json.dumps(value, ensure_ascii=False, indent=indent)
    return _NOT_SHOWN.sub(lambda each: json.dumps(each[0])[1:-1], written)


# --- names -----------------------------------------------------------------------------------------------------------

_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТХҮавеѕіјкмһорсхуүԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορτυχɑɡıⅼօոս",
    "ABESIJKMHOPCTXYabesijkmhopcxyydqwABEZHIKMNOPTYXaikvoptuxagilonu",
)
"""Letters of Cyrillic, Greek and other scripts that look like a Latin one."""
_DIGITS = str.maketrans("0135@$|", "olesasl")
_LATIN_MARKS = range(0x300, 0x370)
_VARIATIONS = range(0xE0100, 0xE01F0)


def reads_as(name: str) -> str:
    """What a name looks like: two names for which this is the same are taken for each other."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).translate(_ALIKE))
    shown = (
        each
        for each in plain
        if ord(each) not in _LATIN_MARKS and unicodedata.category(each) != "Cf" and ord(each) not in _VARIATIONS
    )
    return " ".join("".join(shown).casefold().split())


def bare(name: str) -> str:
    """What a name looks like at a glance: `0wner`, `-Owner-` and `OWNER!` are `owner`."""
    return "".join(each for each in reads_as(name).translate(_DIGITS) if each.isalnum())

"""Text from outside: what may be stored, how it is shown, and which names are confusable.

Which characters are shown is in `shown_characters.py`, all other rules about characters are here. `LINE` fields refuse
characters that do not belong on one line; multi-line texts keep newlines and tabs; texts that are shown contain nothing
that controls a terminal or changes the reading order.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from toryo.shown_characters import NOT_OF_A_LINE, NOT_SHOWN, REPLACEMENT

NUL, SIGN_FOR_NUL = "\0", "\u2400"

_NOT_OF_LINES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_AROUND = "\u200b\u200e\u200f\u2060\ufeff"
"""Zero-width characters that copying leaves at the ends of a text."""
_COLOUR = re.compile("\x1b\\[[0-9;:]*m")
_INNER_QUOTES = str.maketrans("“”", '""')
_LINE_END = re.compile("\r\n?|\x85|\u2028|\u2029")


def storable(printed: str) -> str:
    """Character by character, with a replacement for NUL, which no column accepts."""
    return printed.replace(NUL, SIGN_FOR_NUL)


def one_spacing(text: str) -> str:
    """What two texts have in common that differ in case, width and spacing only: a key, not for people."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


# --- input
# -------------------------------------------------------------------------------------------------------------


def trimmed(text: str) -> str:
    """A one-line text without zero-width characters at its ends."""
    return text.strip(_AROUND)


def not_of_a_line(text: str) -> str | None:
    """The first character that a title, a name or an id may not contain, as `U+001B`; None if there is none."""
    found = NOT_OF_A_LINE.search(text)
    return f"U+{ord(found[0]):04X}" if found is not None else None


def several_lines(text: str) -> str:
    """A multi-line text for storage: lines end with a newline, and tabs are the only other control characters."""
    return _NOT_OF_LINES.sub(REPLACEMENT, text.replace("\r\n", "\n").replace("\r", "\n"))


# --- output
# ------------------------------------------------------------------------------------------------------------


def printable(text: str) -> str:
    """The text with its newlines and tabs, without anything that controls the reader's terminal."""
    return NOT_SHOWN.sub(REPLACEMENT, _LINE_END.sub("\n", text))


def one_line(text: str) -> str:
    """The text on one line, for headings, table cells and sentences."""
    return " ".join(printable(text).split())


def quoted(text: str) -> str:
    """A user's words within one of our sentences: on one line, in quotation marks that they cannot close."""
    return "“" + one_line(text).translate(_INNER_QUOTES) + "”"


def coloured(text: str) -> str:
    """Printable, with the colours of a program's output."""
    kept, at = [], 0
    for colour in _COLOUR.finditer(text):
        kept += [printable(text[at : colour.start()]), colour[0]]
        at = colour.end()
    return "".join([*kept, printable(text[at:])])


def exact(value: Any, *, indent: int | None = None) -> str:
    """The value as JSON; only characters that cannot be shown are escaped (`\\u001b`)."""
    written = json.dumps(value, ensure_ascii=False, indent=indent)
    return NOT_SHOWN.sub(lambda each: json.dumps(each[0])[1:-1], written)


# --- names -----------------------------------------------------------------------------------------------------------

_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТХҮавеѕіјкмһорсхуүԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορτυχɑɡıⅼօոս",
    "ABESIJKMHOPCTXYabesijkmhopcxyydqwABEZHIKMNOPTYXaikvoptuxagilonu",
)
"""Letters of Cyrillic, Greek and other scripts that look like Latin ones."""
_DIGITS = str.maketrans("0135@$|", "olesasl")
_LATIN_MARKS = range(0x300, 0x370)
_VARIATIONS = range(0xE0100, 0xE01F0)


def reads_as(name: str) -> str:
    """A key that is equal for two names that look alike."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).translate(_ALIKE))
    shown = (
        each
        for each in plain
        if ord(each) not in _LATIN_MARKS and unicodedata.category(each) != "Cf" and ord(each) not in _VARIATIONS
    )
    return " ".join("".join(shown).casefold().split())


def bare(name: str) -> str:
    """The name reduced to its letters: `0wner`, `-Owner-` and `OWNER!` are `owner`."""
    return "".join(each for each in reads_as(name).translate(_DIGITS) if each.isalnum())

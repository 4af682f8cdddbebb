"""How text fits a terminal: lines folded between words, tables in columns. Pure: the caller knows the width.

A width is what a terminal takes for a text: two cells for a Japanese character. Japanese has no blanks between words:
a line may end after any of its characters, but not within a word of katakana, before what ends a phrase or after what
opens one. What is copied stays whole, even where it is longer than the line: an id, a path (with blanks in it, within
quotes), an address, a command.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

GAP = 2
"""Blanks between columns."""
HANGING = 2
"""A folded line goes on at least this much further to the right: no text begins a line that is not its own."""
BELOW = 4
"""Where a column has no room beside the others, its cells stand below the row, so far to the right."""

_OPENING = "（〔［｛〈《「『【“"
_CLOSING = "、。，．・：；？！）〕］｝〉》」』】”ー々ゝゞぁぃぅぇぉっゃゅょゎ…〜,.:;!?)%"
_KATAKANA = "ァ-ヺーヽヾ"
_WIDE = "\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff"
_MARKS = "\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
_PATH = rf"(?<![^\s{_OPENING}(])(?:'/[^']*'\S*|(?:(?:~|\.\.?)?/|[a-z]+://)\S*)"
"""Also one with Japanese names."""
_GOES_ON = r"(?<![.,;:!?)`]) "
_PLAIN = r"[a-z][a-z-]*(?=[\s.,;:!?)`]|$)"
_ANY = r"""(?:'[^']*'|"[^"]*"|[^\s'"`(])(?:'[^']*'|"[^"]*"|[^\s'"`])*"""
_COMMAND = (
    r"[`(]*(?:\S*/python\S* -m |\S*/)?\b(?:toryo|npm|pip|git|cd|kill)(?![\w-])"
    rf"(?:{_GOES_ON}{_PLAIN}){{0,3}}(?:{_GOES_ON}(?:--?[a-z-]+[ =]{_ANY}|(?!{_PLAIN}|#){_ANY}))*\S*"
)
"""As it stands in a sentence: a program, up to three plain words, then options with their values, names in capitals,
ids, paths, until a plain word or a punctuation mark."""
_WORD = re.compile(
    rf"{_COMMAND}|{_PATH}|`[^`\s][^`]*`\S*"
    rf"|[{_OPENING}]*(?:[{_KATAKANA}]+|[^\s{_WIDE}]+|[{_WIDE}][{_MARKS}]*)[{_CLOSING}]*|\S"
)
_ARGUMENT = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"])+|\S""")


class Cell(NamedTuple):
    """One field of a table, and how it is coloured."""

    text: str
    style: str = ""


def width(text: str) -> int:
    """In cells of a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def folded(line: str, room: int, indent: int | None = None, words: re.Pattern[str] = _WORD) -> list[str]:
    """A line as several that fit, from the second on with `indent` blanks; else with some more than the first has."""
    begin = len(line) - len(line.lstrip(" "))
    if width(line) <= room:
        return [line.rstrip()]
    indent = min(begin + HANGING if indent is None else indent, room // 2)
    lines, current, at = [], line[:begin], begin
    while (gap := _blanks(line, at)) < len(line):
        word = words.match(line, gap)
        assert word is not None, "anything but a blank is a word"
        if current.strip() and width(current) + gap - at + width(word[0]) > room:
            lines.append(current.rstrip())
            current = " " * (indent if indent + width(word[0]) <= room else HANGING) + word[0]
        else:
            current += line[at:gap] + word[0]
        at = word.end()
    return [*lines, current.rstrip()]


def command(line: str, room: int) -> list[str]:
    """A command as several lines that can be copied as they are."""
    lines = folded(line, room, words=_ARGUMENT)
    if len(lines) > 1:
        lines = folded(line, room - 2, words=_ARGUMENT)
    return [*(f"{each} \\" for each in lines[:-1]), lines[-1]]


def _blanks(line: str, at: int) -> int:
    """Where the blanks that begin here end."""
    while at < len(line) and line[at].isspace():
        at += 1
    return at


# --- tables ----------------------------------------------------------------------------------------------------------


def table(
    headings: Sequence[str], rows: Sequence[Sequence[Cell]], room: int, right: Collection[int] = ()
) -> Iterator[list[Cell]]:
    """Lines of cells that fit side by side. The first column is folded last; the last ones stand below their row where
    there is no room for their longest words. `right`: columns whose cells end below one another."""
    head = [Cell(each, "bold") for each in headings]
    every = [head, *rows] if headings else list(rows)
    widths = _widths([[each.text for each in column] for column in zip(*every, strict=True)], room)
    beside = len(widths)
    for row in every:
        yield from _beside(row[:beside], widths, right)
        for heading, cell in zip(headings[beside:] or [""] * len(row[beside:]), row[beside:], strict=True):
            named = len(headings) - beside > 1 and row is not head
            yield from _below(cell, f"{heading.lower()}: " if named else "", room)


def _beside(row: Sequence[Cell], widths: Sequence[int], right: Collection[int]) -> Iterator[list[Cell]]:
    parts = [
        [part for line in cell.text.split("\n") for part in folded(line, each, _hanging(line) if column else None)]
        for column, (cell, each) in enumerate(zip(row, widths, strict=True))
    ]
    for number in range(max(1, *map(len, parts))):
        line: list[Cell] = []
        for column, (cell, each) in enumerate(zip(row, widths, strict=True)):
            part = parts[column][number] if number < len(parts[column]) else ""
            blanks = " " * (each - width(part))
            before, after = (blanks, "") if column in right else ("", blanks)
            line += [Cell(before), Cell(part, cell.style), Cell(after + " " * GAP)]
        yield line


def _hanging(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _below(cell: Cell, name: str, room: int) -> Iterator[list[Cell]]:
    for line in cell.text.split("\n") if cell.text else ():
        for part in folded(" " * BELOW + name + line, room):
            yield [Cell(part, cell.style)]


def _widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Of the columns that stand side by side: as wide as they want to be, else what is left is shared."""
    wanted = [max(width(line) for cell in column for line in cell.split("\n")) for column in columns]
    least = [_longest_word(column) for column in columns]
    least[0] = wanted[0] if wanted[0] <= room // 2 else least[0] + HANGING
    beside = len(columns)
    while beside > 1 and sum(least[:beside]) + GAP * (beside - 1) > room:
        beside -= 1
    found = least[:beside]
    left = room - GAP * (beside - 1) - sum(found)
    while left > 0 and (needy := [each for each in range(beside) if found[each] < wanted[each]]):
        for each in needy:
            more = min(max(1, left // len(needy)), wanted[each] - found[each], left)
            found[each] += more
            left -= more
    return found


def _longest_word(column: Sequence[str]) -> int:
    """With the blanks before it that a folded line of its cell begins with."""
    found = (
        width(word) + _hanging(line) for cell in column for line in cell.split("\n") for word in _WORD.findall(line)
    )
    return max(found, default=0)

"""How a log shows calls of tools, their results, and what a turn used. The dashboard reads these lines again.

`→ tool arguments` is a call, `← text` its result, `✗ text` its failure; `│ ` continues the line above; `←2` answers the
second of the calls that are still open. `Σ` is what a turn used, `· ` a note, `! ` trouble with the model's service.
What the model says stands there as it is, but that no line of it begins like one of those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

LONGEST_ARGUMENTS = 2000
LONGEST_VALUE, SHORT_VALUE = 600, 120
"""Characters of one text among the arguments; of each, if all are too many."""
LONGEST_RESULT = 2000
_BEGIN = 1400
"""Of a longer result, this many characters from its beginning; the rest from its end."""
MOST_MASKED = 100_000
"""Of a very long text, this many characters are looked through from either end."""
MOST_OPEN = 100
"""Calls that wait for their result; of more, the oldest is dropped."""

_LIKE_A_MARK = re.compile(r"^(?=[→←✗│Σ]|[·!] )", re.MULTILINE)

Mask = Callable[[str], str]


class OpenCalls:
    """The calls whose results are still to come, in order."""

    def __init__(self) -> None:
        self._ids: list[str] = []

    def called(self, call_id: str) -> None:
        self._ids.append(call_id)
        if len(self._ids) > MOST_OPEN:
            del self._ids[0]

    def answered(self, call_id: str) -> str:
        """Which of them it is, as the mark of its result says: nothing for the first."""
        place = self._ids.index(call_id) if call_id and call_id in self._ids else 0
        if self._ids:
            del self._ids[place]
        return str(place + 1) if place else ""


def call(tool: str, arguments: str, mask: Mask) -> str:
    return f"→ {tool} {_arguments(arguments, mask)}".rstrip() + "\n"


def result(text: str, which: str, mask: Mask, *, failed: bool) -> str:
    shown = text.rstrip()
    if len(shown) > 2 * MOST_MASKED:
        shown = f"{shown[:MOST_MASKED]}\n{shown[-MOST_MASKED:]}"
    return f"{'✗' if failed else '←'}{which} {_continued(_both_ends(mask(shown), len(text)))}".rstrip() + "\n"


def text_line(text: str) -> str:
    return _LIKE_A_MARK.sub(" ", text)


def usage_line(read: int, written: int, cached: int, cost_usd: float | None) -> str:
    parts = [f"{read} in", f"{written} out", f"{cached} cached" if cached else "", _money(cost_usd)]
    return f"Σ {' · '.join(filter(None, parts))}\n"


def short(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most]}…"


def _money(cost_usd: float | None) -> str:
    return "" if not cost_usd else f"${cost_usd:.4f}"


def _both_ends(text: str, length: int) -> str:
    if len(text) <= LONGEST_RESULT:
        return text
    end = text[_BEGIN - LONGEST_RESULT :]
    return f"{text[:_BEGIN]}\n… {length - LONGEST_RESULT} characters …\n{end}"


def _continued(text: str) -> str:
    lines = [each.rpartition("\r")[2] for each in text.replace("\r\n", "\n").split("\n")]
    return "\n│ ".join(lines).replace("\n│ \n", "\n│\n")


def _arguments(arguments: str, mask: Mask) -> str:
    text = mask(arguments[: 2 * MOST_MASKED])
    try:
        given: Any = json.loads(text)
    except (ValueError, RecursionError):
        return _continued(text[:LONGEST_ARGUMENTS] + ("…" if len(text) > LONGEST_ARGUMENTS else ""))
    for longest in (None, LONGEST_VALUE, SHORT_VALUE):
        shown = json.dumps(given if longest is None else _shortened(given, longest), ensure_ascii=False)
        if len(shown) <= LONGEST_ARGUMENTS:
            return shown
    return short(text, LONGEST_ARGUMENTS)


def _shortened(value: Any, longest: int) -> Any:
    match value:
        case str() if len(value) > longest:
            return f"{value[:longest]}… (+{len(value) - longest})"
        case list():
            return [_shortened(each, longest) for each in value]
        case dict():
            return {name: _shortened(each, longest) for name, each in value.items()}
    return value

"""What each program does when its model's service says no from the first request on: as it was recorded in the first
seconds of a start, with its usual patience. The page for people has the table; here it is held to the recordings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clis.recording import ANSWERS
from tests.coordinator.providers.contract import read_all, recorded
from toryo.coordinator.failure_words import judge_unsigned, time_will_not_mend
from toryo.coordinator.provider import Exit, Verdict
from toryo.coordinator.providers import BUILT_IN

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "failures-and-quotas.md"
COLUMNS = ("claude", "codex", "gemini", "qwen", "opencode", "copilot")
ROWS = {
    "401": "starting_401",
    "403": "starting_403",
    "404": "404",
    "429 with a time": "starting_429",
    "500": "starting_500",
    "nonsense": "starting_garbage",
    "nothing": "starting_silence",
    "no connection": "starting_nobody",
    "an answer, cut off": "cut",
    "an answer, ended early": "cut_quietly",
}
"""How the page calls an answer, and what was recorded of it."""


def promised() -> Iterator[tuple[str, str, str]]:
    """Program, answer and failure (with a star: it still asked when the recording ended), as the page tells them."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [part.strip() for part in line.strip("|").split("|")]
        if len(cells) == 1 + len(COLUMNS) and cells[0] in ROWS:
            for name, cell in zip(COLUMNS, cells[1:], strict=True):
                yield name, ROWS[cells[0]], re.sub(r"[` ]", "", cell)


def given_up(name: str, answer: str) -> Verdict:
    """How the start is judged: by its end, or, of a program that goes on asking, when it is given up."""
    provider = BUILT_IN[name]
    output, exit_code = recorded(provider, answer)
    reading, _ = read_all(provider, output)
    end = Exit(exit_code, None if exit_code is not None else 2, reading.plain, reading.trouble, reading.not_connected)
    return provider.judge(end) if exit_code is not None else judge_unsigned(end, silent=reading.unanswered)


def test_the_page_tells_of_every_program_and_every_answer() -> None:
    assert {(name, answer) for name, answer, _ in promised()} == {(n, a) for n in COLUMNS for a in ROWS.values()}
    assert {f"starting_{each}" for each in ANSWERS} <= set(ROWS.values())


@pytest.mark.parametrize(("name", "answer", "failure"), list(promised()))
def test_a_no_of_the_service_is_called_what_the_page_says(name: str, answer: str, failure: str) -> None:
    verdict = given_up(name, answer)
    still_asks = recorded(BUILT_IN[name], answer)[1] is None
    assert f"{verdict.failure}{'*' if still_asks else ''}" == failure, verdict
    assert verdict.words, "people are told what was said"


@pytest.mark.parametrize("name", COLUMNS)
def test_a_refused_key_is_known_while_the_program_still_tries_again(name: str) -> None:
    provider = BUILT_IN[name]
    output, exit_code = recorded(provider, "starting_401")
    reading, _ = read_all(provider, output)
    assert exit_code or (reading.trouble is not None and time_will_not_mend(reading.trouble))

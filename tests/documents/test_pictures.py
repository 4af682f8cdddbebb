"""The recording on the first page: docs/pictures.py draws what a terminal shows, and the committed one is of this
demo."""

from __future__ import annotations

import importlib
import sys
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.documents.pages import ROOT
from toryo.cli.demo.stories import STORIES

sys.path.insert(0, str(ROOT / "docs"))
pictures: Any = importlib.import_module("pictures")

PICTURE = ROOT / "docs" / "pictures" / "demo.svg"
LARGEST = 60_000


def shown(text: str) -> list[str]:
    terminal = pictures.Terminal()
    terminal.write(text)
    return [pictures.plain(row) for row in terminal.screen()]


def texts(picture: str) -> list[str]:
    root = ET.fromstring(picture)
    return ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]


def test_the_committed_recording_shows_every_story_and_its_end() -> None:
    picture = PICTURE.read_text(encoding="utf-8")
    assert PICTURE.stat().st_size < LARGEST
    drawn = "\n".join(texts(picture))
    assert [story.name for story in STORIES if story.name not in drawn] == []
    assert "12 of 12 tasks completed" in drawn
    assert "/tmp" not in picture


@pytest.mark.parametrize(
    ("written", "rows"),
    [
        ("one\r\ntwo", ["one", "two"]),
        ("one\r\ntwo\r\x1b[2K\x1b[1A\x1b[2Kthree", ["three", ""]),
        ("\x1b[?25l\x1b[1;32mgreen\x1b[0m plain", ["green plain"]),
        ("longer\rshort", ["shortr"]),
    ],
)
def test_a_screen_is_what_a_terminal_would_show(written: str, rows: list[str]) -> None:
    assert shown(written) == rows


def test_a_line_that_is_replaced_is_gone_at_the_end_and_one_that_stays_is_written_once() -> None:
    pieces = [(0.0, "stays\r\nfirst"), (1.0, "\r\x1b[2Ksecond")]
    picture = pictures.svg(pictures.sampled(pieces), "A test")
    assert sorted(texts(picture)) == ["first", "second", "stays"]
    lines = [line for line in picture.splitlines() if line.startswith("<text")]
    assert [("gone" in line) for line in lines] == [False, True, False]


def test_what_a_command_prints_on_a_terminal_is_recorded_whole() -> None:
    program = "import sys; print(sys.stdout.isatty()); print('木' * 40_000)"
    assert (
        "".join(text for _, text in pictures.record([sys.executable, "-c", program]))
        == "True\r\n" + "木" * 40_000 + "\r\n"
    )


def test_a_command_that_fails_is_not_drawn() -> None:
    with pytest.raises(pictures.subprocess.CalledProcessError):
        list(pictures.record([sys.executable, "-c", "raise SystemExit(3)"]))

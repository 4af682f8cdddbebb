"""The recording on the first page: docs/pictures.py draws what a terminal shows, and the committed one is of this
demo."""

from __future__ import annotations

import importlib
import struct
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
    assert "19 of 19 tasks completed" in drawn
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


# --- the recording of the dashboard ----------------------------------------------------------------------------------

recording: Any = importlib.import_module("recording")


def still(colour: bytes) -> bytes:
    """A WebP file with a chunk that a frame does not need."""
    body = b"WEBP" + recording._chunk(b"ICCP", b"icc") + recording._chunk(b"VP8 ", colour)
    return bytes(b"RIFF" + struct.pack("<I", len(body)) + body)


def chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    found, at = [], 0
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 4)[0]
        found.append((data[at : at + 4], data[at + 8 : at + 8 + size]))
        at += 8 + size + size % 2
    return found


def test_a_recording_is_one_file_of_the_parts_that_change() -> None:
    frames = [
        recording.Frame(0, 0, 1200, 750, still(b"whole"), 500),
        recording.Frame(20, 40, 7, 3, still(b"part"), 1500),
    ]
    written = recording.animated(frames)
    assert (written[:4], written[8:12]) == (b"RIFF", b"WEBP")
    assert struct.unpack("<I", written[4:8])[0] == len(written) - 8
    header, loop, first, second = chunks(written[12:])
    assert header == (b"VP8X", b"\x02\0\0\0" + (1199).to_bytes(3, "little") + (749).to_bytes(3, "little"))
    assert loop[0] == b"ANIM"
    assert first[1][16:] == b"VP8 " + struct.pack("<I", 5) + b"whole\0"
    place = [int.from_bytes(second[1][at : at + 3], "little") for at in range(0, 15, 3)]
    assert place == [10, 20, 6, 2, 1500]
    assert second[1][16:] == b"VP8 " + struct.pack("<I", 4) + b"part"


def test_what_is_no_picture_is_not_recorded() -> None:
    with pytest.raises(ValueError, match="not a WebP"):
        recording.animated([recording.Frame(0, 0, 2, 2, b"<html>, and more", 1)])


def test_a_long_recording_is_played_faster_and_a_short_one_as_it_was() -> None:
    frames = [recording.Frame(0, 0, 2, 2, still(b""), each) for each in (30_000, 90_000)]
    assert [each.milliseconds for each in recording.in_time(frames)] == [15_000, 45_000]
    assert recording.in_time(frames[:1]) == frames[:1]


def test_a_committed_recording_is_small() -> None:
    for file in (ROOT / "docs" / "pictures").glob("*.webp"):
        assert file.stat().st_size < recording.LARGEST

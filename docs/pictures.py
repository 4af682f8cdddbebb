"""A recording of `toryo demo` as an animated SVG, for the first screen of the README.

    python docs/pictures.py [--into docs/pictures]

The demo runs in a terminal of its own. What it prints is replayed here as a terminal would show it, sampled, and
written as text that appears and disappears by CSS. Where nothing moves (print, reduced motion) the end is shown. No
other program is needed, and a picture holds nothing of the machine that drew it.
"""

from __future__ import annotations

import argparse
import codecs
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
COLUMNS, LINES = 88, 60
SAMPLES_PER_SECOND = 1
HOLD_SECONDS = 7
"""How long the end is shown before the recording begins again."""

Cell = tuple[str, str]
"""A character, and its colour in CSS classes."""
Screen = tuple[tuple[Cell, ...], ...]

CLASSES = {"1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "34": "blue", "35": "red", "36": "cyan"}
SEQUENCE = re.compile(r"\x1b\[(\??[\d;]*)([A-Za-z])")
UNFINISHED = re.compile(r"\x1b(\[[?\d;]*)?\Z")


@dataclass
class Terminal:
    """The few control sequences that rich writes: colours, up, erase the line, return."""

    rows: list[list[Cell]] = field(default_factory=lambda: [[]])
    row: int = 0
    column: int = 0
    look: tuple[str, ...] = ()

    def write(self, text: str) -> None:
        at = 0
        while at < len(text):
            if found := SEQUENCE.match(text, at):
                self._control(found[1], found[2])
                at = found.end()
                continue
            self._put(text[at])
            at += 1

    def _control(self, numbers: str, final: str) -> None:
        if final == "m":
            for number in numbers.split(";"):
                known = CLASSES.get(number)
                self.look = () if number in {"", "0"} else (*self.look, known) if known else self.look
        elif final == "A":
            self.row = max(0, self.row - int(numbers or 1))
        elif final == "K" and numbers == "2":
            self.rows[self.row] = []

    def _put(self, character: str) -> None:
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row += 1
            if self.row == len(self.rows):
                self.rows.append([])
        elif character >= " ":
            line = self.rows[self.row]
            line.extend([(" ", "")] * (self.column + 1 - len(line)))
            line[self.column] = (character, " ".join(sorted(set(self.look))))
            self.column += 1

    def screen(self) -> Screen:
        return tuple(tuple(row) for row in self.rows)


def record(command: Sequence[str]) -> Iterator[tuple[float, str]]:
    """What a command prints on a terminal, each piece with its seconds since the first. Raises CalledProcessError if it
    fails."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {name: text for name, text in os.environ.items() if name not in {"NO_COLOR", "COLUMNS"}}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment | {"TERM": "xterm-256color"}
    ) as process:
        os.close(theirs)
        decoder, began, rest = codecs.getincrementaldecoder("utf-8")(), 0.0, ""
        while read := _read(ours):
            began = began or time.monotonic()
            text = rest + decoder.decode(read)
            whole = UNFINISHED.sub("", text)
            rest = text[len(whole) :]
            yield time.monotonic() - began, whole
    os.close(ours)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the other side is closed
        return b""


def sampled(pieces: Iterable[tuple[float, str]]) -> list[tuple[float, Screen]]:
    """The screen at regular times, and as it was in the end."""
    terminal, kept, at = Terminal(), [], 0.0
    for seconds, text in pieces:
        while at < seconds:
            kept.append((at, terminal.screen()))
            at += 1 / SAMPLES_PER_SECOND
        terminal.write(text)
    kept.append((at, terminal.screen()))
    return kept


def plain(row: Sequence[Cell]) -> str:
    return "".join(character for character, _ in row).rstrip()


def excerpt(screen: Screen) -> Screen:
    """Below the command: the tree of tasks, and of all that is printed after it only the last line, the verdict."""
    texts = [plain(row) for row in screen]
    tree = next((number for number, text in enumerate(texts) if text.startswith("Toryo demo")), len(texts))
    tables = next((number - 1 for number, text in enumerate(texts) if text.startswith("STORY")), len(texts))
    verdict = [row for row, text in zip(screen, texts, strict=True) if re.match(r"[✔✘] \d+ of ", text)]
    prompt: tuple[Cell, ...] = (*(("$", "dim"), (" ", "")), *((character, "bold") for character in "make demo"))
    return (prompt, (), *screen[tree:tables], *([(("…", "dim"),), *verdict] if verdict else []))


CHARACTER, LINE, SIZE = 8.0, 18, 13.3
MARGIN, BAR = 18, 34
STYLE = """\
text{font:SIZEpx ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d3d7e0;white-space:pre}
.bold{font-weight:700;fill:#fff}.dim{fill:#8d94a5}.green{fill:#7ad48b}.yellow{fill:#e8c15c}.cyan{fill:#66c5db}
.red{fill:#f08080}.blue{fill:#86aaf5}.gone{opacity:0}
@media(prefers-reduced-motion:no-preference){
"""


def svg(frames: Sequence[tuple[float, Screen]], title: str) -> str:
    """The frames as one picture: each line that is ever shown is written once, with the times at which it is there."""
    whole = frames[-1][0] + HOLD_SECONDS
    ends = [*(seconds for seconds, _ in frames[1:]), whole]
    shown: dict[tuple[int, tuple[Cell, ...]], list[tuple[float, float]]] = defaultdict(list)
    for (begin, screen), end in zip(frames, ends, strict=True):
        for number, row in enumerate(screen):
            if not plain(row):
                continue
            times = shown[number, row]
            if times and times[-1][1] == begin:
                times[-1] = (times[-1][0], end)
            else:
                times.append((begin, end))
    height = BAR + 2 * MARGIN + LINE * max(len(screen) for _, screen in frames)
    width = round(2 * MARGIN + CHARACTER * COLUMNS)
    classes: dict[tuple[tuple[float, float], ...], str] = {}
    lines = []
    for (number, row), times in shown.items():
        always = times == [(0.0, whole)]
        named = [] if always else [classes.setdefault(tuple(times), f"k{len(classes)}")]
        named += [] if times[-1][1] == whole else ["gone"]
        attribute = f' class="{" ".join(named)}"' if named else ""
        lines.append(f'<text y="{BAR + MARGIN + LINE * number + 10}"{attribute}>{_runs(row)}</text>\n')
    moves = "".join(_keyframes(name, times, whole) for times, name in classes.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-labelledby="title">\n<title id="title">{escape(title)}</title>\n'
        f"<style>{STYLE.replace('SIZE', str(SIZE))}{moves}}}</style>\n"
        f'<rect width="{width}" height="{height}" rx="10" fill="#171a21"/>\n'
        + "".join(f'<circle cx="{20 + 18 * n}" cy="18" r="5.5" fill="#3a404d"/>' for n in range(3))
        + f"\n{''.join(lines)}</svg>\n"
    )


def _runs(row: Sequence[Cell]) -> str:
    """Each run of one colour at its column, as wide as its characters are: the reader's font may be another one."""
    written, column = [], 0
    for look, cells in groupby(row, key=lambda cell: cell[1]):
        text = "".join(character for character, _ in cells)
        inner = text.strip()
        if inner:
            x = MARGIN + CHARACTER * (column + len(text) - len(text.lstrip()))
            length = f' textLength="{CHARACTER * len(inner):g}"' if len(inner) > 1 else ""
            colour = f' class="{look}"' if look else ""
            written.append(f'<tspan x="{x:g}"{length}{colour}>{escape(inner)}</tspan>')
        column += len(text)
    return "".join(written)


def _keyframes(name: str, times: Sequence[tuple[float, float]], whole: float) -> str:
    steps = {0.0: 0} | {at: lit for begin, end in times for at, lit in ((begin, 1), (end, 0))}
    written = "".join(f"{100 * at / whole:.1f}%{{opacity:{lit}}}" for at, lit in steps.items() if at < whole)
    return f".{name}{{animation:{name} {whole:.1f}s step-end infinite}}@keyframes {name}{{{written}}}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Record `toryo demo` as docs/pictures/demo.svg.")
    parser.add_argument("--into", type=Path, default=ROOT / "docs" / "pictures", help="The directory to write to.")
    into: Path = parser.parse_args().into
    frames = sampled(record([str(Path(sys.executable).parent / "toryo"), "demo"]))
    shown = [(seconds, excerpt(screen)) for seconds, screen in frames]
    began = next(seconds for seconds, screen in shown if len(screen) > 2)
    moving = [(seconds - began, screen) for seconds, screen in shown if seconds >= began]
    into.mkdir(parents=True, exist_ok=True)
    file = into / "demo.svg"
    title = "toryo demo: a team of thirteen agents completes the tasks of five projects"
    file.write_text(svg(moving, title), encoding="utf-8")
    print(f"{file}: {file.stat().st_size / 1000:.0f} kB, {moving[-1][0]:.0f} s")


if __name__ == "__main__":
    main()

"""Output: tables and marks for people on stdout, one JSON document for scripts, messages on stderr.

Everything printed for people goes through here, because agents wrote much of it: no escape sequences except our own
colours reach the terminal, and a one-line text never starts a new line.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from toryo.cli import text_layout
from toryo.cli.text_layout import Cell
from toryo.domain.texts import coloured, exact, printable

if TYPE_CHECKING:
    from rich.console import Console

COLOURS = {
    "backlog": "dim",
    "todo": "blue",
    "in_progress": "yellow",
    "blocked": "red",
    "completed": "green",
    "failed": "red",
    "cancelled": "dim",
}
MARKS = {
    "backlog": "·",
    "todo": "○",
    "in_progress": "◐",
    "blocked": "■",
    "completed": "✔",
    "failed": "✘",
    "cancelled": "–",
}

_INSTANT = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
"""As the server writes one."""
_PIPED_WIDTH = 500
"""Where nobody looks, nothing is folded or cut: `toryo task list | grep` must see whole lines."""
_NARROWEST = 40


@cache
def console() -> Console:
    return _console(stderr=False)


@cache
def messages() -> Console:
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, soft_wrap=False, width=None if stream.isatty() else _PIPED_WIDTH)


def document(value: Mapping[str, Any]) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(exact(value, indent=2) + "\n")


def line(value: Mapping[str, Any]) -> None:
    """One JSON document on one line, at once: for what goes on and on."""
    sys.stdout.write(exact_line(value))
    sys.stdout.flush()


def exact_line(value: Mapping[str, Any]) -> str:
    """One JSON document as a line of a file of JSON Lines."""
    return exact(value) + "\n"


def say(*lines: str) -> None:
    """A message: stderr, so that it never mixes with an answer."""
    _write(sys.stderr, lines)


def done(*lines: str, indent: int | None = None) -> None:
    """What a command did, in a few words, on stdout; at once, also through a pipe. On a terminal long lines are folded,
    and go on below `indent`."""
    _write(sys.stdout, lines, indent)


def commands(*lines: str) -> None:
    """Text to copy and type: folded as a shell reads it."""
    if sys.stdout.isatty():
        lines = tuple(part for each in lines for part in text_layout.command(on_one_line(each), room(sys.stdout)))
    sys.stdout.write("".join(f"{on_one_line(each)}\n" for each in lines))
    sys.stdout.flush()


def _write(stream: TextIO, lines: Iterable[str], indent: int | None = None) -> None:
    shown = [on_one_line(each) for each in lines]
    if stream.isatty():
        shown = [part for each in shown for part in text_layout.folded(each, room(stream), indent)]
    stream.write("".join(f"{each}\n" for each in shown))
    stream.flush()


def room(stream: TextIO) -> int:
    """How wide the terminal is, as its user says or as it says itself."""
    said = os.environ.get("COLUMNS", "")
    try:
        found = int(said) if said.isdigit() else os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # no real terminal
        found = 0
    return max(_NARROWEST, found or 80)


def on_one_line(text: str) -> str:
    """With its blanks, which put it in its column."""
    return printable(text).replace("\n", " ").replace("\t", " ")


def text(of_a_program: str) -> None:
    """What a program printed: as lines, and in its colours where somebody looks."""
    somebody_looks = sys.stdout.isatty()
    shown = coloured(of_a_program) if somebody_looks else printable(of_a_program)
    sys.stdout.write(f"{shown}\x1b[0m" if somebody_looks and "\x1b" in shown else shown)
    sys.stdout.flush()


def patch(text: str) -> None:
    """A patch: to the letter where a program takes it (`git apply`), for it is of no use otherwise."""
    sys.stdout.write(coloured(text) if sys.stdout.isatty() else text)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    empty: str,
    right: Collection[int] = (),
    total: bool = False,
) -> None:
    """Rows under headings; `empty` is said when there are none. `right`: columns of numbers; `total`: the last row."""
    body = [[_cell(each) for each in row] for row in rows]
    if not body:
        say(empty)
        return
    if total:
        body[-1] = [Cell(cell.text, "bold") for cell in body[-1]]
    _print(text_layout.table([on_one_line(column) for column in columns], body, _room(), right))


def fields(values: Mapping[str, Any]) -> None:
    """One thing, a line per field; what is empty is left out."""
    shown = {name: each for name, each in values.items() if each is not False and each not in (None, "", [], {})}
    rows = [
        [Cell(on_one_line(name), "bold"), each if isinstance(each, Cell) else Cell(_field(name, each))]
        for name, each in shown.items()
    ]
    if rows:
        _print(text_layout.table((), rows, _room()))


def _field(name: str, value: Any) -> str:
    return clock(value) if name.endswith("_at") else readable(value)


def _room() -> int:
    return room(sys.stdout) if sys.stdout.isatty() else _PIPED_WIDTH


def _print(lines: Iterable[Sequence[Cell]]) -> None:
    """Without the blanks that fill the last column; in colours where somebody looks."""
    from rich.text import Text

    with console().capture() as captured:
        for line in lines:
            last = max((number for number, cell in enumerate(line) if cell.text.strip()), default=-1)
            cells = [*line[:last], Cell(line[last].text.rstrip(), line[last].style)] if last >= 0 else []
            console().print(Text.assemble(*cells), soft_wrap=True)
    sys.stdout.write(captured.get())
    sys.stdout.flush()


def status(name: str, more: str = "") -> Cell:
    return Cell(f"{MARKS.get(name, ' ')} {name}{more}", COLOURS.get(name, ""))


def program() -> str:
    """How the command `toryo` is typed here: its path, where it is not on PATH."""
    if shutil.which("toryo"):
        return "toryo"
    typed = Path(sys.argv[0])
    if typed.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m toryo"
    return shlex.quote(str(typed.relative_to(Path.cwd()) if typed.is_relative_to(Path.cwd()) else typed))


def clock(moment: str | None) -> str:
    """An instant of the server in this place's time, everywhere so: `2026-11-23 14:03`."""
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}" if moment else ""


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `2 min`, `2 min 5 s`, `3 h 20 min`, `2 d 4 h`: at most two units, without zeros."""
    if seconds < 10:
        return f"{round(seconds, 1):g} s"
    whole = round(seconds)
    units = (("d", whole // 86_400), ("h", whole // 3600 % 24), ("min", whole // 60 % 60), ("s", whole % 60))
    first = next(number for number, (_, count) in enumerate(units) if count)
    return " ".join(f"{count} {unit}" for unit, count in units[first : first + 2] if count)


def in_local_time(text: str) -> str:
    """A sentence of the server, with the instants in it as `clock` writes them."""
    return _INSTANT.sub(lambda found: clock(found[0]), text)


def seconds_since(moment: str | None) -> float | None:
    return seconds_between(moment, datetime.now().astimezone().isoformat())


def seconds_between(start: str | None, end: str | None) -> float | None:
    if not start or not end:
        return None
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


def _cell(value: Any) -> Cell:
    """No markup, no second line."""
    return value if isinstance(value, Cell) else Cell(on_one_line("" if value is None else _written(value)))


def readable(value: Any) -> str:
    """For people: what has parts a line each, as a toryo.yaml has it."""
    if isinstance(value, list) and not any(isinstance(each, (dict, list)) for each in value):
        return ", ".join(on_one_line(str(each)) for each in value)
    if not isinstance(value, (dict, list)):
        return printable(str(value))
    import yaml

    return printable(yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=float("inf"))).rstrip()


def _written(value: Any) -> str:
    return exact(value) if isinstance(value, (dict, list)) else str(value)

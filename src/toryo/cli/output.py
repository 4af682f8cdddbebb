"""How answers look: tables and marks for people on stdout, one JSON document for scripts, messages on stderr.

Whatever is printed for people goes through here, because much of it was written by agents: nothing but our own colours
reaches the terminal as an escape, and a text that stands on one line begins no other.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toryo.domain.texts import coloured, exact, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

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

_KEPT_WHOLE = 24
"""Characters of a column that is never folded, however narrow the terminal: ids have no more."""
_PIPED_WIDTH = 500
"""Where nobody looks, nothing is folded or cut: `toryo task list | grep` must see whole lines."""


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
    sys.stdout.write(exact(value) + "\n")
    sys.stdout.flush()


def say(*lines: str) -> None:
    """A message: stderr, so that it never mixes with an answer."""
    sys.stderr.write("".join(f"{on_one_line(each)}\n" for each in lines))
    sys.stderr.flush()


def done(*lines: str) -> None:
    """What a command did, in a few words, on stdout; at once, also through a pipe."""
    sys.stdout.write("".join(f"{on_one_line(each)}\n" for each in lines))
    sys.stdout.flush()


def folded(line: str, indent: int) -> None:
    """One long line: on a terminal between words, what follows below what it belongs to."""
    if not sys.stdout.isatty():
        done(line)
        return
    width = max(40, shutil.get_terminal_size().columns)
    done(*textwrap.wrap(on_one_line(line), width, subsequent_indent=" " * indent, break_on_hyphens=False))


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


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, empty: str) -> None:
    """Rows under headings, the last column taking what room is left; `empty` is said when there are none."""
    from rich.table import Table

    body = [[cell if _rich(cell) else plain(cell) for cell in row] for row in rows]
    if not body:
        say(empty)
        return
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        longest = max(len(row[number]) for row in body)
        # What begins a row is never folded: it would begin lines, and might be somebody's text.
        whole = number == 0 or (column != columns[-1] and longest <= _KEPT_WHOLE)
        shown.add_column(column, no_wrap=whole, overflow="fold")
    for row in body:
        shown.add_row(*row)
    _print(shown)


def _print(shown: Any) -> None:
    """Without the blanks that fill the last column."""
    with console().capture() as captured:
        console().print(shown)
    sys.stdout.write("".join(f"{each.rstrip()}\n" for each in captured.get().splitlines()))
    sys.stdout.flush()


def fields(values: Mapping[str, Any]) -> None:
    """One thing, a line per field; what is empty is left out."""
    from rich.table import Table

    shown = Table(box=None, show_header=False, pad_edge=False)
    shown.add_column(style="bold", no_wrap=True)
    shown.add_column(overflow="fold")
    for name, value in values.items():
        if value is not False and value not in (None, "", [], {}):
            shown.add_row(plain(name), value if _rich(value) else _lines(value))
    _print(shown)


def status(name: str, more: str = "") -> Text:
    from rich.text import Text

    return Text(f"{MARKS.get(name, ' ')} {name}{more}", style=COLOURS.get(name, ""))


def program() -> str:
    """How the command `toryo` is typed here: its path, where it is not on PATH."""
    if shutil.which("toryo"):
        return "toryo"
    typed = Path(sys.argv[0])
    if typed.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m toryo"
    return shlex.quote(str(typed.relative_to(Path.cwd()) if typed.is_relative_to(Path.cwd()) else typed))


def clock(moment: str | None) -> str:
    """An instant of the server in this place's time: `14:03:07`, with the day if it is another one."""
    if not moment:
        return ""
    local = datetime.fromisoformat(moment).astimezone()
    today = datetime.now().astimezone().date()
    return f"{local:%H:%M:%S}" if local.date() == today else f"{local:%Y-%m-%d %H:%M:%S}"


def seconds_since(moment: str | None) -> float | None:
    return seconds_between(moment, datetime.now().astimezone().isoformat())


def seconds_between(start: str | None, end: str | None) -> float | None:
    if not start or not end:
        return None
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


def plain(value: Any) -> Text:
    """A value in a cell: no markup, no second line."""
    from rich.text import Text

    return Text(on_one_line(str(_lines(value))))


def _lines(value: Any) -> Text:
    from rich.text import Text

    if value is None:
        return Text("")
    return Text(exact(value) if isinstance(value, (dict, list)) else printable(str(value)))


def _rich(value: Any) -> bool:
    return hasattr(value, "__rich_console__") or type(value).__module__.startswith("rich.")

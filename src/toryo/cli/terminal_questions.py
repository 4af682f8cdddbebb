"""Questions to the person at the terminal: asked on stderr, and repeated after an invalid answer.

^C or ^D instead of an answer ends the command; questions come before changes, so nothing was done.
"""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable
from typing import Any

import typer

from toryo.cli import output
from toryo.cli.command_context import Here
from toryo.cli.exit_codes import Misuse


def possible(here: Here) -> bool:
    return sys.stdin.isatty() and not here.json


def confirm(here: Here, question: str, *, unasked: Misuse) -> None:
    """Lets it pass if somebody says yes. Raises `unasked` where nobody can be asked, Abort after a no."""
    if not possible(here):
        raise unasked
    if not yes(question):
        raise typer.Abort


def yes(question: str) -> bool:
    """No, unless somebody types y or yes."""
    return bool(answer(f"{output.on_one_line(question)} [y/N]", "n", _yes_or_no, show_default=False))


def answer(question: str, default: str, read: Callable[[str], Any] = str, *, show_default: bool = True) -> Any:
    """What `read` makes of the answer; its ValueError says what can be answered instead."""

    def taken(text: str) -> Any:
        try:
            return read(text)
        except ValueError as wrong:
            raise typer.BadParameter(str(wrong)) from None

    try:
        return typer.prompt(question, default, value_proc=taken, show_default=show_default, err=True)
    except typer.Abort:
        output.say("")  # the cursor stands behind the question
        raise


def secret(question: str) -> str:
    """What is typed without being shown."""
    try:
        return getpass.getpass(question)
    except (EOFError, KeyboardInterrupt):
        output.say("")
        raise typer.Abort from None


def _yes_or_no(text: str) -> bool:
    word = text.strip().lower()
    if word not in ("y", "yes", "n", "no", ""):
        raise ValueError("Type y or yes, n or no (Enter means no).")
    return word in ("y", "yes")

"""How long a text may be that reaches a program as an argument or in its environment. Longer ones are refused where
they are written, or given in a file: the machine would refuse the start of the program, long after.
"""

from __future__ import annotations

from typing import Any

LONGEST = 100_000
"""Bytes of one argument, or of the value of one variable. Linux takes 131,072 with the name."""


def too_long(command: Any) -> int | None:
    """The bytes of a command (a text for the shell, or a list of words), or of its longest word, if no program can be
    started with it; None if it is short enough, or no command at all."""
    words = command if isinstance(command, list) else [command]
    longest = max((size(each) for each in words if isinstance(each, str)), default=0)
    return longest if longest > LONGEST else None


def size(text: str) -> int:
    """Its bytes, as a program gets them."""
    return len(text.encode(errors="surrogatepass"))

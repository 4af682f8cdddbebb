"""The commands that an agent may run without a shell (`provider_options.commands`): what one is, and what it allows.

A command is the first words of what may be run: `npm test` allows `npm test -- --watch`, and not `npm publish`. Words
are compared with words and given to the program as they are: no shell reads them, so nothing in them is an operator, a
variable or a second command. What only a shell would understand is refused, so that nobody expects it to work.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

MOST = 20
"""Commands of one agent."""
LONGEST = 200
"""Characters of one of them."""
LONGEST_CALL = 8_000
"""Characters of a command with its arguments."""
TOLD = 8_000
"""Characters of the end of its output that its agent is told."""

_QUOTED = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.""")
_EXPANDED = re.compile(r"\\.|[$`]")
_OF_A_SHELL = re.compile(r"[;&|<>()$`*]|(?:^|\s)[#~]")


class NotOne(ValueError):
    """The text is not one command that can be run without a shell."""


def words(text: str) -> tuple[str, ...]:
    """The words of a command line, with quotation marks as in a shell. Raises NotOne."""
    if not text.isprintable() or _OF_A_SHELL.search(_QUOTED.sub(_unquoted, text)):
        raise NotOne(text)
    try:
        found = tuple(shlex.split(text))
    except ValueError as unbalanced:
        raise NotOne(text) from unbalanced
    if not found or not found[0] or "=" in found[0]:
        raise NotOne(text)
    return found


def _unquoted(quoted: re.Match[str]) -> str:
    """What a shell would still expand: within double quotation marks, variables and commands."""
    text = quoted[0]
    return "".join(each for each in _EXPANDED.findall(text) if each in "$`") if text.startswith('"') else ""


def is_one(given: Any) -> bool:
    """Whether this can be one of an agent's commands."""
    if not isinstance(given, str) or len(given) > LONGEST:
        return False
    try:
        words(given)
    except NotOne:
        return False
    return True


def allow(commands: Iterable[str], run: Sequence[str]) -> bool:
    """Whether `run` begins with the words of one of these commands."""
    return any(tuple(run[: len(allowed)]) == allowed for allowed in map(words, commands))

"""The usage line of a command, as most programs write one: `TASK [STATUS]`, where Typer writes `{TASK} [STATUS]`."""

from __future__ import annotations

from functools import partial
from typing import Any


def plain(command: Any) -> None:
    """From here on every argument of the command, and of those below it, is written without braces."""
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            parameter.get_usage_pieces = partial(_pieces, parameter)
    for below in getattr(command, "commands", {}).values():
        plain(below)


def _pieces(argument: Any, _context: Any) -> list[str]:
    name = argument.metavar or argument.name.upper()
    several = "..." if argument.nargs != 1 and not name.endswith("...") else ""
    return [f"{name}{several}" if argument.required else f"[{name}]{several}"]

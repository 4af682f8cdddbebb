"""Refuses empty option values: they never mean "not given". If a script's variable is unset, `--token "$TOKEN"` would
otherwise act as the owner of the data directory, and `--project "$PROJECT"` on every project.

An empty environment variable counts as unset and is handled elsewhere.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from toryo.cli import clearing
from toryo.cli.exit_codes import Misuse

MAY_BE_EMPTY = frozenset({"TEXT", "TEXT|@FILE", "CMD..."})
"""What parameters are declared with that take a text of a person's, which the server judges, or another program's
words."""


def refuse(command: Any) -> None:
    """From here on every parameter of the command, and of those below it, refuses an empty value.

    It is put around what Typer calls for the value of each, because what a parameter is declared with (a callback, a
    type) sees the value converted: `--data-dir ""` is the working directory by then.
    """
    for parameter in command.params:
        if parameter.metavar not in MAY_BE_EMPTY and not isinstance(parameter.process_value, partial):
            parameter.process_value = partial(_processed, parameter, parameter.process_value)
    for below in getattr(command, "commands", {}).values():
        refuse(below)


def _clears(command: Any) -> bool:
    return any("--clear" in parameter.opts for parameter in command.params)


def _processed(parameter: Any, process_value: Any, context: Any, value: Any) -> Any:
    values = value if isinstance(value, (list, tuple)) else (value,)
    if any(isinstance(each, str) and not each.strip() for each in values):
        option = max(parameter.opts, key=len)
        optional = "" if parameter.required else ", or omit it"
        kind = context.parent.info_name if context.parent is not None and _clears(context.command) else None
        clear = clearing.hint(kind, option)
        optional = f", omit it, or clear the value with {clear}" if clear else optional
        name = option if option.startswith("-") else parameter.metavar.removesuffix("...")
        raise Misuse(
            f"{name} is empty.",
            f"Enter a value{optional}. If it comes from a variable, check that the variable is set.",
        )
    return process_value(context, value)

"""The part of the command line that a command needs: Typer builds every command that it is given, and that takes longer
than most of them run."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import typer
from typer.main import get_command_name
from typer.models import CommandInfo


def narrowed(app: typer.Typer, given: Sequence[str]) -> typer.Typer:
    """With the one command that the first words name, or with all where they name none."""
    if not given:
        return app
    commands = [each for each in app.registered_commands if _name(each) == given[0]]
    groups = [each for each in app.registered_groups if each.name == given[0]]
    if len(commands) + len(groups) != 1:
        return app
    narrow = copy.copy(app)
    narrow.registered_commands = commands
    narrow.registered_groups = [copy.copy(each) for each in groups]
    for each in narrow.registered_groups:
        if each.typer_instance is not None:
            each.typer_instance = narrowed(each.typer_instance, given[1:])
    return narrow


def _name(command: CommandInfo) -> str:
    return command.name or get_command_name(getattr(command.callback, "__name__", ""))

"""The file that `toryo apply`, `plan` and `run` are given, with the values of its parameters. What is read from it is
in manifest.py.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from toryo.cli import init_teams
from toryo.cli.command_context import argument, option
from toryo.cli.exit_codes import Misuse, missing_file, near_file

if TYPE_CHECKING:
    from toryo.cli.manifest import Manifest

TEAM = init_teams.FILE
File = Annotated[Path, argument("FILE", f"The file (default: {TEAM}).")]
Values = Annotated[list[str] | None, option("NAME=VALUE", "The value of a parameter; repeatable.", "--set")]


def noted(file: Path, given: Sequence[str] | None, command: str, after: str | None = None) -> Manifest:
    """What stands in it; its mistakes are only noted. `command`: the one that was typed; `after`: what is said after
    the mistakes. Raises Misuse."""
    from toryo.cli import manifest

    if not file.is_file():
        raise _no_file(file, command)
    return manifest.noted(file, manifest.NOTHING if after is None else after, values(given))


def values(given: Sequence[str] | None) -> dict[str, str]:
    """What `--set` says, by name. Raises Misuse."""
    found: dict[str, str] = {}
    for each in given or ():
        name, is_set, value = each.partition("=")
        if not is_set or not name:
            raise Misuse(f"{each!r} is not NAME=VALUE.", "Example: --set version=1.4.0")
        if name in found:
            raise Misuse(f"{name} is set twice.", "Set each parameter once.")
        found[name] = value
    return found


def _no_file(path: Path, command: str) -> Misuse:
    """Where it is not: which one was meant, if one has a like name, or stands in a directory above."""
    from toryo.cli import output

    typed = f"{output.program()} {command}"
    if path.is_dir():
        return Misuse(f"{path} is a directory.", f"Name the file: {typed} {shlex.quote(str(path / TEAM))}")
    above = next((each / TEAM for each in Path.cwd().parents if (each / TEAM).is_file()), None)
    if path.parent == Path() and above is not None and near_file(path) is None:
        return Misuse(
            f"There is no {path} here; {above} exists above.", f"Name that one: {typed} {shlex.quote(str(above))}"
        )
    return missing_file(path, f"Pass the path of a {TEAM}, or create one with `toryo init`.")

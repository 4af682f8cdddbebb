"""`toryo init` and `toryo apply`: a team as a file in your project, and the server made to match it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from toryo.cli import output
from toryo.cli.failures import Misuse
from toryo.cli.here import Here, command

TEAM = "toryo.yaml"
DATA = ".toryo"

_TEMPLATE = """\
# A team and its first task; `toryo apply {team}` makes what stands here, as often as you like.
# Every key is explained in docs/reference/manifest.md.

projects:
  - id: {id}
    name: {name}
    directory: .

agents:
  # Runs the command of its task in the project's directory: tests, linters, builds.
  - id: runner
    role: worker
    provider: command
    projects: [{id}]

tasks:
  - project: {id}
    title: Look around
    assignee: runner
    status: in_progress
    context:
      command: {command}
"""


def add(app: typer.Typer) -> None:
    command(app, "init", options=("json",))(init)
    command(app, "apply")(apply)


def init(
    here: Here,
    dir: Annotated[Path, typer.Option("--dir", metavar="DIR", help="Where your project is.")] = Path(),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing; take the defaults.")] = False,
) -> None:
    """Write a toryo.yaml for this directory. Also makes .toryo/, where the server keeps its data."""
    directory = dir.expanduser().resolve()
    if not directory.is_dir():
        raise Misuse(f"{directory} is no directory.", "Make it, or name another one with --dir.")
    team = directory / TEAM
    if team.exists():
        raise Misuse(f"{team} is already there.", f"Change it, then: toryo apply {TEAM}")
    name, shell = _asked(directory, ask=not (yes or here.json))
    text = _TEMPLATE.format(team=TEAM, id=_id_from(name), name=_quoted(name), command=_quoted(shell))
    team.write_text(text, encoding="utf-8")
    _make_data_directory(directory / DATA)
    here.answer({"success": True, "file": str(team), "data_dir": str(directory / DATA)}, lambda: _print_next(team))


def apply(
    here: Here,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A toryo.yaml.")],
) -> None:
    """Make everything as a file says. Projects, agents, memberships and tasks; nothing is removed."""
    from toryo.cli import applying, manifest

    if not file.is_file():
        raise Misuse(f"{file} is not there.", "Name a toryo.yaml, or write one with `toryo init`.")
    changes = applying.apply(here, manifest.read(file))
    document = {"success": True, "changes": [each.document() for each in changes]}
    here.answer(document, lambda: output.done("\n".join(each.told() for each in changes) or "nothing to change"))


def _asked(directory: Path, *, ask: bool) -> tuple[str, str]:
    """The project's name, and a command that shows that the team works."""
    name, shell = directory.name or "project", "ls -l"
    if not ask:
        return name, shell
    return (
        str(typer.prompt("The project's name", default=name)),
        str(typer.prompt("A command to run as the first task", default=shell)),
    )


def _id_from(name: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-.")[:64] or "project"


def _quoted(text: str) -> str:
    import yaml

    return str(yaml.safe_dump(text, default_style='"', width=1000, allow_unicode=True)).strip()


def _make_data_directory(data: Path) -> None:
    data.mkdir(mode=0o700, exist_ok=True)
    ignore = data / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")


def _print_next(team: Path) -> None:
    output.done(f"wrote {team}")
    typed = output.program()
    output.done(f"Next, here:\n  {typed} up                # in a terminal of its own\n  {typed} apply {TEAM}")

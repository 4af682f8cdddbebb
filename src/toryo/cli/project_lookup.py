"""Which projects there are, and the one that is meant where none is named."""

from __future__ import annotations

from toryo.cli.command_context import Here
from toryo.cli.exit_codes import Misuse


def active(here: Here) -> list[str]:
    """The projects that are not put away."""
    return [project["project_id"] for project in here.get("/projects")["projects"] if project["status"] != "archived"]


def only(here: Here) -> str:
    """The project that is meant where none is named: the only one."""
    found = active(here)
    if len(found) == 1:
        return found[0]
    there = (
        f"Available: {', '.join(found)}." if found else "There are none yet. Add one: toryo project add NAME --dir PATH"
    )
    raise Misuse("Which project?", f"Choose it with --project. {there}")

"""`toryo project …`: projects with their directories and settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from toryo.cli import clearing, edits, output, project_lookup, shell_completion, wider_rights
from toryo.cli.command_context import Here, argument, command, option
from toryo.cli.exit_codes import Misuse
from toryo.cli.from_operations import Passing, Read, sends

group = typer.Typer(help="Create, edit, pause and archive projects.", no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[str, argument("PROJECT", "The project's id.", complete=shell_completion.projects)]
Description = option("TEXT", "Its description, for people and agents.", "--description", "-d")
active, only = project_lookup.active, project_lookup.only


def settings(assignments: list[str] | None) -> dict[str, Any] | None:
    """`["language=ja", "retry_attempts=5"]` as the JSON that the server takes; it knows which names there are."""
    if not assignments:
        return None
    found: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise Misuse(f"{assignment!r} is not a setting.", "Write --set KEY=VALUE.")
        found[name.strip()] = value.strip()
    return found


Settings = Read(settings, set=Annotated[list[str] | None, option("KEY=VALUE", "A project setting; repeatable.")])


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="project")


@command(group, "add")
@sends(
    "create_project",
    name=Annotated[str, argument("NAME", "The project's name.")],
    working_directory=Annotated[Path, option("PATH", "The directory its agents work in.")],
    id=option("ID", "Its id (default: a new one, which is printed)."),
    description=Description,
    settings=Settings,
)
def add_project(here: Here, body: dict[str, Any], yes: wider_rights.Yes = False) -> None:
    """Create a project for a directory."""
    body["working_directory"] = _directory(here, body["working_directory"], yes=yes)
    answer = wider_rights.send(here, "POST", "/projects", body, yes=yes or "settings" not in body)
    here.answer(answer, lambda: print_made(answer))
    _warn(here, answer["project"])


@Passing(group, "/projects").prints("list", "GET")
def _print_all(answer: Mapping[str, Any]) -> None:
    """List all projects."""
    columns = {"ID": "project_id", "NAME": "name", "STATUS": "status", "DIRECTORY": "working_directory"}
    rows = [[project[key] for key in columns.values()] for project in answer["projects"]]
    output.table([*columns], rows, empty="No projects yet. Add one: toryo project add NAME --dir PATH")


@command(group, "show")
def show_project(here: Here, project: Id) -> None:
    """Show a project with its settings and members."""
    answer = here.get(f"/projects/{project}")
    members = here.get(f"/projects/{project}/members")["agents"]
    here.answer({**answer, "members": members}, lambda: _print_project(answer["project"], members))


@command(group, "edit")
@sends(
    "edit_project",
    name=option("NAME", "Its new name."),
    working_directory=Annotated[Path | None, option("PATH", "Its new working directory.")],
    description=Description,
    settings=Settings,
)
def edit_project(
    here: Here, project: Id, body: dict[str, Any], clear: clearing.OfProject = None, yes: wider_rights.Yes = False
) -> None:
    """Change the name, directory or settings of a project."""
    if "working_directory" in body:
        body["working_directory"] = _directory(here, body["working_directory"], yes=yes)
    body = edits.changes("project", body, clear, "Use --name, --dir, --description, --set KEY=VALUE or --clear NAME.")
    before = here.get(f"/projects/{project}")["project"]
    answer = wider_rights.patch(here, f"/projects/{project}", body, yes=yes)
    here.answer(answer, lambda: output.done(edits.edit_line(project, before, answer["project"])))
    if body.keys() & {"settings", "working_directory"}:
        _warn(here, answer["project"])


_NOW = "{project_id} is {project[status]}"
_one = Passing(group, "/projects/{project_id}", project_id=Id)
_one.says("pause", "POST /pause", "Pause a project. Running agents leave and keep their tasks; chats continue.", _NOW)
_one.says("resume", "POST /resume", "Resume a paused or archived project.", _NOW)
_one.says("archive", "POST /archive", "Archive a project: its agents stop until it is resumed.", _NOW)


def directory_problem(here: Here, path: Path) -> str | None:
    """What is wrong with a working directory. Of one on another machine nothing is known here."""
    if path.is_dir() or not here.client.address.local:
        return None
    return f"{path} is {'not a directory' if path.exists() else 'missing'}. Create it, or choose another directory"


def warn_of_directory(here: Here, name: str, directory: Path, settings: Mapping[str, Any]) -> None:
    """Says what prevents sandboxes, and worktrees that the settings ask for. Coordinators create them where they run,
    so of a directory on another machine nothing is known here."""
    if Path.home().resolve().is_relative_to(directory.resolve()) and here.client.address.local:
        output.say(
            f"toryo: warning: agents of {name} cannot start in a sandbox: {directory} contains your home directory. "
            "Choose a directory within it"
        )
    if settings.get("isolation") != "worktree" or not here.client.address.local or not directory.is_dir():
        return
    from toryo.coordinator import worktrees

    if trouble := worktrees.trouble(directory):
        output.say(f"toryo: warning: tasks of {name} cannot start (isolation: worktree): {trouble}")


def _warn(here: Here, project: dict[str, Any]) -> None:
    place = Path(project["working_directory"])
    warn_of_directory(here, project["project_id"], place, project["settings"])


def _directory(here: Here, given: Path, *, yes: bool) -> str:
    path = given.expanduser().resolve()
    wrong = directory_problem(here, path)
    if wrong is not None and not yes:
        raise Misuse(
            f"{wrong} with --dir.",
            "Nothing was changed. If the agents run on another machine that has this directory, add --yes.",
        )
    return str(path)


def print_made(answer: dict[str, Any]) -> None:
    project = answer["project"]
    output.done(f"created project {project['project_id']} in {project['working_directory']}")


def _print_project(project: dict[str, Any], members: list[dict[str, Any]]) -> None:
    output.fields(
        {
            "id": project["project_id"],
            "name": project["name"],
            "description": project.get("description"),
            "status": project["status"],
            "directory": project["working_directory"],
            "members": ", ".join(member["agent_id"] for member in members),
            **{f"  {name}": value for name, value in project.get("settings", {}).items()},
        }
    )

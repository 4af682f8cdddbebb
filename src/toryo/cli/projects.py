"""`toryo project …`: projects with their directories and settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from toryo.cli import clearing, edits, output, shell_completion, wider_rights
from toryo.cli.command_context import Here, argument, command, option
from toryo.cli.exit_codes import Misuse

group = typer.Typer(help="Create, edit, pause and archive projects.", no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[str, argument("PROJECT", "The project's id.", complete=shell_completion.projects)]
Settings = Annotated[list[str] | None, option("KEY=VALUE", "A project setting; repeatable.")]


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="project")


@command(group, "add")
def add_project(
    here: Here,
    name: Annotated[str, argument("NAME", "The project's name.")],
    dir: Annotated[Path, option("PATH", "The directory its agents work in.")],
    id: Annotated[str | None, option("ID", "Its id (default: a new one, which is printed).")] = None,
    description: Annotated[
        str | None, option("TEXT", "Its description, for people and agents.", "--description", "-d")
    ] = None,
    set: Settings = None,
    yes: wider_rights.Yes = False,
) -> None:
    """Create a project for a directory."""
    body = {
        "name": name,
        "id": id,
        "working_directory": _directory(here, dir, yes=yes),
        "description": description,
        "settings": settings(set),
    }
    answer = wider_rights.send(here, "POST", "/projects", body, yes=yes or not set)
    here.answer(answer, lambda: print_made(answer))
    _warn(here, answer["project"])


@command(group, "list")
def list_projects(here: Here) -> None:
    """List all projects."""
    answer = here.get("/projects")
    rows = [
        (project["project_id"], project["name"], project["status"], project["working_directory"])
        for project in answer["projects"]
    ]
    here.answer(
        answer,
        lambda: output.table(
            ("ID", "NAME", "STATUS", "DIRECTORY"),
            rows,
            empty="No projects yet. Add one: toryo project add NAME --dir PATH",
        ),
    )


@command(group, "show")
def show_project(here: Here, project: Id) -> None:
    """Show a project with its settings and members."""
    answer = here.get(f"/projects/{project}")
    members = here.get(f"/projects/{project}/members")["agents"]
    here.answer({**answer, "members": members}, lambda: _print_project(answer["project"], members))


@command(group, "edit")
def edit_project(
    here: Here,
    project: Id,
    name: Annotated[str | None, option("NAME", "Its new name.")] = None,
    dir: Annotated[Path | None, option("PATH", "Its new working directory.")] = None,
    description: Annotated[
        str | None, option("TEXT", "Its description, for people and agents.", "--description", "-d")
    ] = None,
    set: Settings = None,
    clear: clearing.OfProject = None,
    yes: wider_rights.Yes = False,
) -> None:
    """Change the name, directory or settings of a project."""
    body = {
        "name": name,
        "working_directory": _directory(here, dir, yes=yes) if dir else None,
        "description": description,
        "settings": settings(set),
    }
    body = clearing.cleared("project", clear, body)
    if not any(each is not None for each in body.values()):
        raise Misuse("Nothing to change.", "Use --name, --dir, --description, --set KEY=VALUE or --clear NAME.")
    before = here.get(f"/projects/{project}")["project"]
    answer = wider_rights.patch(here, f"/projects/{project}", body, yes=yes)
    here.answer(answer, lambda: output.done(edits.told(project, before, answer["project"])))
    if body["settings"] or body["working_directory"]:
        _warn(here, answer["project"])


@command(group, "pause")
def pause_project(here: Here, project: Id) -> None:
    """Pause a project. Running agents leave and keep their tasks; chats continue."""
    _turn(here, project, "pause")


@command(group, "resume")
def resume_project(here: Here, project: Id) -> None:
    """Resume a paused or archived project."""
    _turn(here, project, "resume")


@command(group, "archive")
def archive_project(here: Here, project: Id) -> None:
    """Archive a project: its agents stop until it is resumed."""
    _turn(here, project, "archive")


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


def missing(here: Here, path: Path) -> str | None:
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
    wrong = missing(here, path)
    if wrong is not None and not yes:
        raise Misuse(
            f"{wrong} with --dir.",
            "Nothing was changed. If the agents run on another machine that has this directory, add --yes.",
        )
    return str(path)


def print_made(answer: dict[str, Any]) -> None:
    project = answer["project"]
    output.done(f"created project {project['project_id']} in {project['working_directory']}")


def _turn(here: Here, project: str, verb: str) -> None:
    answer = here.send("POST", f"/projects/{project}/{verb}")
    here.answer(answer, lambda: output.done(f"{project} is {answer['project']['status']}"))


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

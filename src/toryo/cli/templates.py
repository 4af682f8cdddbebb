"""`toryo template …`: trees of tasks with parameters, saved from a file and used as often as needed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from toryo.cli import manifest_file, output, project_lookup
from toryo.cli.command_context import Here, argument, command, option
from toryo.cli.exit_codes import Misuse, missing_file
from toryo.cli.from_operations import Passing, Read
from toryo.cli.task_options import Project

group = typer.Typer(
    help="Create trees of tasks again and again, from templates.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[str, argument("TEMPLATE", "Its name, from toryo template list.")]


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="template")


_one = Passing(group, "/projects/{project_id}/templates/{name}", name=Name)


@Passing(group, "/projects/{project_id}/templates").prints("list", "GET", project_id=Project)
def _print_all(answer: Mapping[str, Any]) -> None:
    """List the templates of a project."""
    rows = [
        (
            each["name"],
            ", ".join(_parameter(one) for one in each["parameters"]),
            str(len(each["tasks"])),
            each["description"],
        )
        for each in answer["templates"]
    ]
    empty = "No templates yet. Save one: toryo template add FILE"
    output.table(("NAME", "PARAMETERS", "TASKS", "DESCRIPTION"), rows, empty=empty, right=(2,))


@_one.prints("show", "GET", project_id=Project)
def _print(answer: Mapping[str, Any]) -> None:
    """Show a template: its parameters, and the tasks that it creates."""
    template = answer["template"]
    output.done(f"{template['name']}: {template['description']}" if template["description"] else template["name"])
    for one in template["parameters"]:
        words = f": {one['description']}" if one["description"] else ""
        output.done(f"  {_parameter(one)}{words}")
    output.done("Tasks:", *(f"  {title}" for title in template["tasks"]))


@command(group, "add")
def add_template(
    here: Here,
    file: Annotated[Path, argument("FILE", "A YAML file with parameters and tasks.")],
    name: Annotated[str | None, option("NAME", "Its name (default: that of the file).")] = None,
    project: Project = None,
) -> None:
    """Save a template from a file. It replaces one of the same name."""
    from toryo.formats import yaml_documents
    from toryo.formats.task_templates import Template

    if not file.is_file():
        raise missing_file(file, "Pass the path of a template.")
    try:
        content = yaml_documents.checked(yaml_documents.of_file(file), Template)
    except yaml_documents.Mistakes as mistakes:
        raise Misuse(str(mistakes)) from None
    called = name or file.stem
    body = {"definition": content.model_dump(exclude_defaults=True)}
    answer = here.send("PUT", f"{_path(here, project)}/{called}", body)
    count = len(answer["template"]["tasks"])
    here.answer(
        answer,
        lambda: output.done(f"saved the template {called} with {count} {'task' if count == 1 else 'tasks'}"),
    )


@_one.prints(
    "use",
    "POST /use",
    values=Read(manifest_file.values, values=manifest_file.Values),
    project_id=Project,
)
def _print_used(answer: Mapping[str, Any]) -> None:
    """Create the tasks of a template: all of them, or none."""
    made = answer["task_ids"]
    output.done(f"created {len(made)} {'task' if len(made) == 1 else 'tasks'}", *made)


_DELETE = "Delete a template. The tasks that it has created stay."
_one.says("delete", "DELETE", _DELETE, "deleted {name}", project_id=Project)


def _path(here: Here, project: str | None) -> str:
    return f"/projects/{project or project_lookup.only(here)}/templates"


def _parameter(one: dict[str, Any]) -> str:
    return str(one["name"]) if one["default"] is None else f"{one['name']}={one['default']}"

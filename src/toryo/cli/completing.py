"""Ids: offered by the shell's completion, and found by a part of them or by a task's title.

Completion asks the server that a command typed here would ask, and offers nothing where that does not answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from toryo.cli.here import Here

PREFIX = "tsk_"
SHORTEST = 4
"""Characters of an id's end that are taken for it."""
MOST = 200
"""Ids that are offered."""

Offered = list[tuple[str, str]]


def projects(context: typer.Context, incomplete: str) -> Offered:
    return _offered(context, incomplete, lambda here: _of(here, "/projects", "projects", "project_id", "name"))


def agents(context: typer.Context, incomplete: str) -> Offered:
    return _offered(context, incomplete, lambda here: _of(here, "/agents", "agents", "agent_id", "role"))


def tasks(context: typer.Context, incomplete: str) -> Offered:
    return _offered(context, incomplete, lambda here: ((each["task_id"], each["title"]) for each in _tasks(here)))


def _offered(context: typer.Context, incomplete: str, find: Callable[[Here], Iterator[tuple[str, str]]]) -> Offered:
    from toryo.cli.here import Here

    found: Offered = []
    said = {**context.find_root().params, **context.params}
    with suppress(Exception):  # whoever presses Tab wants no error
        here = Here(said.get("data_dir"), said.get("server"), said.get("token"))
        for name, help_ in find(here):
            if name.startswith(incomplete) and len(found) < MOST:
                found.append((name, help_))
    return found


def _of(here: Here, path: str, what: str, key: str, help_: str) -> Iterator[tuple[str, str]]:
    return ((each[key], str(each[help_])) for each in here.get(path)[what])


def _tasks(here: Here) -> Iterator[dict[str, Any]]:
    for project in here.get("/projects")["projects"]:
        if project["status"] != "archived":
            yield from here.get(f"/projects/{project['project_id']}/tasks")["tasks"]


def meant_task(here: Here, typed: str) -> str:
    """The id of the task that is meant by its whole id, its title, or the end of its id. Raises Misuse for several.

    What means none is passed on as it is: the server says so.
    """
    from toryo.cli.failures import Misuse

    if typed.startswith(PREFIX) or not typed:
        return typed
    every = list(_tasks(here))
    ends = (each for each in every if len(typed) >= SHORTEST and each["task_id"].endswith(typed))
    found = [each for each in every if each["title"] == typed] or list(ends)
    if len(found) > 1:
        ids = ", ".join(each["task_id"] for each in found)
        raise Misuse(f"Several tasks are meant by {typed!r}: {ids}.", "Name one by its id.")
    return str(found[0]["task_id"]) if found else typed


TASK = typer.Argument(metavar="TASK", help="The task's id, its title, or the end of its id.", autocompletion=tasks)

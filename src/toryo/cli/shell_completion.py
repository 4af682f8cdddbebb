"""Ids for shell completion.

Asks the server that a command typed here would use, and offers nothing if it does not answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import typer

from toryo.cli import task_lookup
from toryo.cli.command_context import Here, argument

MOST = 200
"""Ids that are offered."""

Offered = list[tuple[str, str]]


def projects(context: typer.Context, incomplete: str) -> Offered:
    return _offered(context, incomplete, lambda here: _of(here, "/projects", "projects", "project_id", "name"))


def agents(context: typer.Context, incomplete: str) -> Offered:
    return _offered(context, incomplete, lambda here: _of(here, "/agents", "agents", "agent_id", "role"))


def tasks(context: typer.Context, incomplete: str) -> Offered:
    return _offered(
        context, incomplete, lambda here: ((task["task_id"], task["title"]) for task in task_lookup.tasks(here))
    )


def schedules(context: typer.Context, incomplete: str) -> Offered:
    return _offered(context, incomplete, _schedules)


def _schedules(here: Here) -> Iterator[tuple[str, str]]:
    for project, _ in _of(here, "/projects", "projects", "project_id", "name"):
        yield from _of(here, f"/projects/{project}/schedules", "schedules", "schedule_id", "name")


def webhooks(context: typer.Context, incomplete: str) -> Offered:
    return _offered(context, incomplete, _webhooks)


def _webhooks(here: Here) -> Iterator[tuple[str, str]]:
    for project, _ in _of(here, "/projects", "projects", "project_id", "name"):
        yield from _of(here, f"/projects/{project}/webhooks", "webhooks", "webhook_id", "name")


def _offered(context: typer.Context, incomplete: str, find: Callable[[Here], Iterator[tuple[str, str]]]) -> Offered:
    found: Offered = []
    said = {**context.find_root().params, **context.params}
    with suppress(Exception):  # An error would disturb the command line being typed.
        here = Here(said.get("data_dir"), said.get("server"), said.get("token"), starts_within_seconds=0)
        for name, help_ in find(here):
            if name.startswith(incomplete) and len(found) < MOST:
                found.append((name, help_))
    return found


def _of(here: Here, path: str, what: str, key: str, help_: str) -> Iterator[tuple[str, str]]:
    return ((each[key], str(each[help_])) for each in here.get(path)[what])


TASK = argument("TASK", "The task's id, its title, or the end of its id.", complete=tasks)

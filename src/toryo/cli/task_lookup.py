"""Finds a task by its title, or by a part of its id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from toryo.cli.exit_codes import Misuse

PREFIX = "tsk_"
SHORTEST = 4
"""Characters of an id's end that are taken for it."""


class Asked(Protocol):
    """The part of a server client that is needed here."""

    def get(self, path: str, /) -> dict[str, Any]: ...

    def every(self, path: str, key: str, /) -> list[dict[str, Any]]: ...


def tasks(here: Asked) -> Iterator[dict[str, Any]]:
    for project in here.get("/projects")["projects"]:
        yield from here.every(f"/projects/{project['project_id']}/tasks", "tasks")


def task(here: Asked, typed: str) -> str:
    """The id of the task that is meant by its whole id, its title, or the end of its id. Raises Misuse for several.

    What means none is passed on as it is: the server says so.
    """
    if typed.startswith(PREFIX) or not typed:
        return typed
    every = list(tasks(here))
    ends = (each for each in every if len(typed) >= SHORTEST and each["task_id"].endswith(typed))
    found = [each for each in every if each["title"] == typed] or list(ends)
    if len(found) > 1:
        raise Misuse(f"{typed!r} matches several tasks: {listed(found)}.", "Use the id of one of them.")
    return str(found[0]["task_id"]) if found else typed


def whose(task: Mapping[str, Any]) -> str | None:
    """Its assignee; as long as it goes to anyone who is free, as that is written: any, or any:WORD,WORD."""
    from toryo.chosen_ids import ANY

    pool, assignee = task.get("pool"), task.get("assignee_id")
    if assignee is not None or pool is None:
        return assignee
    return ":".join(filter(None, (ANY, ",".join(pool["capabilities"]))))


def is_anyone(assignee: str) -> bool:
    return _words(assignee) is not None


def is_for(task: Mapping[str, Any], assignee: str) -> bool:
    """Whether a task has this assignee, or went to anyone who is free as it is written here."""
    words = _words(assignee)
    if words is None:
        return bool(task["assignee_id"] == assignee)
    return "pool" in task and bool(task["pool"]["capabilities"] == words)


def waits_for(task: Mapping[str, Any], anyone: str) -> bool:
    """Whether it goes to anyone who is free, and needs at least these capabilities."""
    has = task["assignee_id"] is None and "pool" in task
    return has and set(_words(anyone) or ()) <= set(task["pool"]["capabilities"])


def _words(assignee: str) -> list[str] | None:
    from toryo.chosen_ids import words_of

    return words_of(assignee)


def listed(found: Iterable[Mapping[str, Any]]) -> str:
    """Several tasks to choose from."""
    return ", ".join(f"{each['task_id']} ({each['status']})" for each in found)

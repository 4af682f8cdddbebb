"""`toryo memory …`: what agents and people have noted about projects, and searching it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from toryo.cli import output, projects, shell_completion
from toryo.cli.command_context import Here, argument, command, flag, option
from toryo.cli.task_options import Project

group = typer.Typer(
    help="List, search and correct what agents know about projects.", no_args_is_help=True, rich_markup_mode=None
)

Id = Annotated[str, argument("MEMORY", "Its id, from toryo memory list.")]
Limited = Annotated[str | None, option("PRJ", "Limit to this project.", complete=shell_completion.projects)]
Text = Annotated[str, argument("TEXT", "One fact, with what is needed to understand it.")]


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="memory")


@command(group, "list")
def list_memories(here: Here, project: Limited = None) -> None:
    """List memories, the newest first."""
    names = [project] if project else projects.active(here)
    found = [each for name in names for each in here.every(f"/projects/{name}/memories", "memories")]
    rows = [
        (
            each["memory_id"],
            output.clock(each["created_at"]),
            each["author_id"],
            "pinned" if each["pinned"] else "",
            each["text"],
        )
        for each in found
    ]
    here.answer(
        {"success": True, "memories": found},
        lambda: output.table(
            ("ID", "ADDED", "BY", "", "TEXT"), rows, empty="No memories yet. Add one: toryo memory add TEXT"
        ),
    )


@command(group, "search")
def search_memories(
    here: Here,
    query: Annotated[str, argument("WORDS", "Words to look for.")],
    project: Limited = None,
    kind: Annotated[
        Literal["memory", "task", "handoff", "conversation"] | None,
        option("memory|task|handoff|conversation", "Limit to this kind."),
    ] = None,
) -> None:
    """Search memories, reports, handoffs and conversations."""
    names = [project] if project else projects.active(here)
    found = [
        each
        for name in names
        for each in here.get(f"/projects/{name}/knowledge", query=query, **({"kind": kind} if kind else {}))["found"]
    ]
    here.answer({"success": True, "found": found}, lambda: _print(found))


@command(group, "add")
def add_memory(
    here: Here,
    text: Text,
    project: Project = None,
    pin: Annotated[bool, flag("Include it in every task of the project.", "--pin")] = False,
) -> None:
    """Add a memory to a project. Its agents get it with tasks that it fits."""
    path = f"/projects/{project or projects.only(here)}/memories"
    answer = here.send("POST", path, {"text": text, "pinned": pin or None})
    memory = answer["memory"]["memory_id"]
    pinned = ", and it is pinned" if pin else ""
    told = f"{memory} says the same; nothing was added{pinned}" if answer["known"] else f"added {memory}"
    here.answer(answer, lambda: output.done(told))


@command(group, "show")
def show_memory(here: Here, memory: Id) -> None:
    """Show a memory, and who wrote it in which task."""
    answer = here.get(f"/memories/{memory}")
    here.answer(answer, lambda: output.fields(answer["memory"]))


@command(group, "replace")
def replace_memory(here: Here, memory: Id, text: Text) -> None:
    """Replace the text of a memory."""
    answer = here.send("PATCH", f"/memories/{memory}", {"text": text})
    here.answer(answer, lambda: output.done(f"updated {memory}"))


@command(group, "pin")
def pin_memory(here: Here, memory: Id) -> None:
    """Include a memory in every task of its project."""
    answer = here.send("PATCH", f"/memories/{memory}", {"pinned": True})
    here.answer(answer, lambda: output.done(f"pinned {memory}"))


@command(group, "unpin")
def unpin_memory(here: Here, memory: Id) -> None:
    """Include a memory only in tasks that it fits."""
    answer = here.send("PATCH", f"/memories/{memory}", {"pinned": False})
    here.answer(answer, lambda: output.done(f"unpinned {memory}"))


@command(group, "delete")
def delete_memory(here: Here, memory: Id) -> None:
    """Delete a memory."""
    answer = here.send("DELETE", f"/memories/{memory}")
    here.answer(answer, lambda: output.done(f"deleted {memory}"))


def _print(found: list[dict[str, Any]]) -> None:
    if not found:
        output.say("Nothing was found.")
    for each in found:
        where = f" ({each['task_id']})" if each["task_id"] and each["kind"] != "task" else ""
        title = f" {each['title']}:" if each["title"] else ""
        by = each["by"] or "nobody"
        output.done(
            f"{each['kind']} {each['id']} by {by}, {output.clock(each['at'])}{where}:{title}", f"  {each['text']}"
        )

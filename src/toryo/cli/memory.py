"""`toryo memory …`: what agents and people have noted about projects, and searching it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer

from toryo.cli import output, project_lookup, shell_completion
from toryo.cli.command_context import Here, argument, command, flag, option
from toryo.cli.from_operations import Passing
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
    names = [project] if project else project_lookup.active(here)
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
    names = [project] if project else project_lookup.active(here)
    found = [
        each
        for name in names
        for each in here.get(f"/projects/{name}/knowledge", query=query, **({"kind": kind} if kind else {}))["found"]
    ]
    here.answer({"success": True, "found": found}, lambda: _print(found))


@Passing(group, "/projects/{project_id}/memories").prints(
    "add",
    "POST",
    text=Text,
    project_id=Project,
    pinned=Annotated[bool, flag("Include it in every task of the project.", "--pin")],
)
def _print_added(answer: Mapping[str, Any]) -> None:
    """Add a memory to a project. Its agents get it with tasks that it fits."""
    memory, pinned = answer["memory"]["memory_id"], ", and it is pinned" if answer["pinned"] else ""
    output.done(f"{memory} says the same; nothing was added{pinned}" if answer["known"] else f"added {memory}")


_one = Passing(group, "/memories/{memory_id}", memory_id=Id)


@_one.prints("show", "GET")
def _print_memory(answer: Mapping[str, Any]) -> None:
    """Show a memory, and who wrote it in which task."""
    output.fields(answer["memory"])


_one.says("replace", "PATCH", "Replace the text of a memory.", "updated {memory_id}", text=Text)
_one.says("pin", "PATCH", "Include a memory in every task of its project.", "pinned {memory_id}", pinned=True)
_one.says("unpin", "PATCH", "Include a memory only in tasks that it fits.", "unpinned {memory_id}", pinned=False)
_one.says("delete", "DELETE", "Delete a memory.", "deleted {memory_id}")


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

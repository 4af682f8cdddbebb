"""`toryo needs`: what waits for a person, the most urgent first, each with the command that does something about it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toryo.cli import messages, output
from toryo.cli.here import Here, command


def add(app: typer.Typer) -> None:
    command(app, "needs")(needs)


def needs(
    here: Here,
    project: Annotated[str | None, typer.Option("--project", metavar="PRJ", help="Only in this project.")] = None,
    person: Annotated[
        str | None, typer.Option("--as", metavar="PERSON", help="Whose list, if not yours; owners only.")
    ] = None,
) -> None:
    """What needs you: approvals, blocks, messages, failures, tasks of your own."""
    answer = here.get("/needs-you", project_id=project, as_person=person)
    here.answer(answer, lambda: _print(answer["items"]))


def _print(items: list[dict[str, Any]]) -> None:
    if not items:
        output.say("Nothing needs you.")
    for each in items:
        output.done("\n".join(told(each)))


def told(item: dict[str, Any]) -> list[str]:
    """Since when and what, then the words, then what can be done."""
    text = " ".join(messages.printable(item["text"]).split())
    lines = [f"{output.clock(item['since'])}  {messages.printable(item['title'])}", *([f"  {text}"] if text else [])]
    return [*lines, *(f"  {each['name']}: {each['command']}" for each in item["actions"])]

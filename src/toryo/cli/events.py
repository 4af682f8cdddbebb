"""`toryo events`: everything that happened, in order; the audit log, the timeline and what live pages read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from toryo.cli import output
from toryo.cli.command_context import Here, command, flag, option
from toryo.cli.reconnecting import following

PAGE = 500
NEWEST = 50
"""How many are shown where nothing is said about where to begin."""
INDENT = 8
WAIT_SECONDS = 20
"""How long one look waits at the server while following."""


def add(app: typer.Typer) -> None:
    command(app, "events")(events)


def events(
    here: Here,
    after: Annotated[int | None, option("N", "Show events after this number (default: the newest 50).", min=0)] = None,
    follow: Annotated[bool, flag("Keep printing new events until ^C.", "--follow", "-f")] = False,
    project: Annotated[str | None, option("PRJ", "Limit to this project.")] = None,
    task: Annotated[str | None, option("TASK", "Limit to this task.")] = None,
    agent: Annotated[str | None, option("AGENT", "Limit to this agent.")] = None,
) -> None:
    """Show the event history. With --follow --json: one JSON document per line."""
    if project is not None:
        here.get(f"/projects/{project}")  # what is not there is refused, with what may be meant
    if agent is not None:
        here.get(f"/agents/{agent}")
    only = {"project_id": project, "task_id": task, "agent_id": agent}
    found, last, pruned_to = _newest(here, only) if after is None else all_after(here, after, only)
    if pruned_to:
        output.say(f"toryo: events up to number {pruned_to} are not complete: older ones were deleted (toryo db prune)")
    if not follow:
        here.answer({"success": True, "events": found, "last": last}, lambda: _print(found))
        return
    here = following(here)
    while True:
        for each in found:
            if here.json:
                output.line(each)
            else:
                output.done(event_line(each), indent=INDENT)
        answer = here.get("/events", after=last, limit=PAGE, wait_seconds=WAIT_SECONDS, **only)
        found, last = answer["events"], answer["last"]


def _newest(here: Here, only: dict[str, Any]) -> tuple[list[dict[str, Any]], int, int]:
    """The newest of those that are asked for, in order, and the number to go on from."""
    last = here.get("/status")["last_event"]
    found = here.get("/events", newest=True, limit=NEWEST, **only)["events"][::-1]
    return found, max([last, *(each["sequence"] for each in found)]), 0


def all_after(here: Here, after: int, only: dict[str, Any]) -> tuple[list[dict[str, Any]], int, int]:
    """Every event after a number, the number to go on from, and up to which number some are no longer kept (0: all
    are)."""
    found: list[dict[str, Any]] = []
    pruned_to = 0
    for page in pages(lambda after: here.get("/events", after=after, limit=PAGE, **only), after):
        found += page["events"]
        pruned_to = max(pruned_to, page.get("pruned_to", 0))
        after = page["last"]
    return found, after, pruned_to


def pages(read: Callable[[int], dict[str, Any]], after: int = 0) -> Iterator[dict[str, Any]]:
    """Every page after a number, the last one without events. A page before it may have none either: the caller does
    not see all events."""
    while True:
        page = read(after)
        yield page
        if page["last"] == after:
            return
        after = page["last"]


def _print(found: list[dict[str, Any]]) -> None:
    for each in found:
        output.done(event_line(each), indent=INDENT)


def event_line(event: dict[str, Any]) -> str:
    """One event on one line: number, time, what, who did it, to what, with what."""
    subjects = [event.get(f"{name}_id") for name in ("project", "task", "agent", "launch")]
    about = " ".join(dict.fromkeys(subject for subject in subjects if subject and subject != event.get("actor_id")))
    actor = event.get("actor_id") or ""
    data = _briefly(event.get("data") or {})
    when = f"{event['sequence']:>6}  {output.clock(event['at'])}"
    return f"{when}  {event['kind']:<24} {actor:<14} {about}  {data}".rstrip()


def _instant(name: str, value: Any) -> Any:
    """A moment in this place's time."""
    is_moment = isinstance(value, str) and name.endswith(("_at", "until", "since"))
    return output.clock(value) if is_moment else value


def _briefly(data: dict[str, Any]) -> str:
    """The plain values; what a decision read in detail is in --json and in `toryo why`."""
    plain = {name: value for name, value in data.items() if value is not None and not isinstance(value, (dict, list))}
    shown = {name: _instant(name, value) for name, value in plain.items()}
    if data.get("widened"):
        shown["WIDENED"] = "; ".join(data["widened"])
    return " ".join(f"{name}={_quoted(value)}" for name, value in shown.items())


def _quoted(value: Any) -> str:
    """A pair has no blank before its value: a line is folded within a text, but not between a name and its value."""
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or re.search(r'[\s"]', text) else text

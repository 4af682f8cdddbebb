"""`toryo needs`: what requires a person, most urgent first, each with the command for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from toryo.cli import output, project_lookup, questions
from toryo.cli.command_context import Here, command, option
from toryo.domain.agents import SYSTEM
from toryo.domain.texts import one_line, printable

WHEN_READY = "when_ready"


def add(app: typer.Typer) -> None:
    command(app, "needs")(needs)


def needs(
    here: Here,
    project: Annotated[str | None, option("PRJ", "Limit to this project.")] = None,
    person: Annotated[str | None, option("PERSON", "Show the list of this person; owners only.", "--as")] = None,
) -> None:
    """List what needs your attention. Approvals, blocked tasks, messages, failures, and your own tasks."""
    answer = here.get("/needs-you", project_id=project, as_person=person)
    off = [] if here.json or person else here.get("/conditions", project_id=project)["conditions"]
    _print_conditions(off)
    here.answer(answer, lambda: _print(answer["items"]))
    if not here.json:
        waiting = [] if person else _not_started(here, [project] if project else project_lookup.active(here))
        nothing = [] if off or waiting or answer["items"] else ["Nothing needs your attention."]
        output.say(*nothing, *waiting)


def _not_started(here: Here, names: list[str]) -> list[str]:
    """Nobody is needed for what is left for later on purpose; but who thinks that it runs would wait without end. Where
    tasks start by themselves, what does not was put back by hand."""
    lines = {
        each["project_id"] for each in here.get("/projects")["projects"] if each["settings"]["start"] == WHEN_READY
    }
    found = [
        task
        for name in names
        if name not in lines
        for task in here.every(f"/projects/{name}/tasks", "tasks", status="todo")
        if task["assignee_id"] and task["approval"] == "approved" and task["parent_task_id"] is None
        if not _starts_by_itself(here, task)
    ]
    if not found:
        return []
    one = len(found) == 1
    told = "1 task is assigned but not started" if one else f"{len(found)} tasks are assigned but not started"
    start = f"toryo task move {found[0]['task_id'] if one else 'TASK'} in_progress"
    return [f"{told}: toryo task list --status todo", f"  To start {'it' if one else 'one'}: {start}"]


def _starts_by_itself(here: Here, task: dict[str, Any]) -> bool:
    """A review waits for its agent only. Only the server creates reviews, so few tasks are looked at."""
    return task["created_by"] == SYSTEM and here.get(f"/tasks/{task['task_id']}")["task"]["review_of"] is not None


def _print_conditions(found: list[dict[str, Any]]) -> None:
    """What is off in projects, before what needs a person."""
    for each in found:
        since = f" Since {output.clock(each['since'])}." if each["since"] else ""
        until = f" Until {output.clock(each['until'])}." if each["until"] else ""
        output.done(f"{each['project_id']}: {one_line(each['text'])}{since}{until}")
        output.commands(*(f"  {_labelled(action)}" for action in each["actions"]))


def _print(items: list[dict[str, Any]]) -> None:
    for item in items:
        output.done(*need_lines(item))
        output.commands(*(f"  {line}" for line in _what_to_do(item)))


_LOOKS = frozenset({"review", "list", "log", "show", "why", "usage", "machines", "show_schedule", "show_webhook"})
"""Actions that only show more."""


def what_settles(item: Mapping[str, Any]) -> str | None:
    """The first command that does; one that shows more, if there is no other."""
    of_form = [line.strip() for each in item["questions"] for line in questions.commands(each)]
    actions = sorted(item["actions"], key=lambda each: each["name"] in _LOOKS)
    return next(iter([*of_form, *(str(each["command"]) for each in actions)]), None)


def _what_to_do(item: dict[str, Any]) -> list[str]:
    """Of a form, what to do about each of its questions."""
    of_form = [line.strip() for each in item["questions"] for line in questions.commands(each)]
    others = [each for each in item["actions"] if not of_form or each["name"] not in ("answer_question", "withdraw")]
    return [*of_form, *map(_labelled, others)]


def _labelled(action: dict[str, Any]) -> str:
    return f"{action['name'].replace('_', ' ')}: {action['command']}"


def need_lines(item: dict[str, Any]) -> list[str]:
    """Since when and what, then the words; what can be done is printed below."""
    request = item.get("request")
    if item.get("questions"):
        asked_ = [line for each in item["questions"] for line in questions.question_lines(each)]
        return [f"{output.clock(item['since'])}  {one_line(item['title'])}", *(f"  {line}" for line in asked_)]
    words = request_lines(request) if request is not None else _paragraphs(item["text"])
    return [f"{output.clock(item['since'])}  {one_line(item['title'])}", *(f"  {word}" for word in words if word)]


def _paragraphs(text: str) -> list[str]:
    """Ours on one line each; what is marked as somebody's words keeps its lines."""
    found: list[str] = []
    for line in printable(text).splitlines():
        if found and not any(each.startswith("| ") for each in (line, found[-1])):
            found[-1] += f" {line}"
        else:
            found.append(line)
    return [output.in_local_time(one_line(each)) for each in found]


def request_lines(request: dict[str, Any]) -> list[str]:
    """What somebody is asked to approve: who asks, and every text that counts, marked as somebody's words by a bar."""
    wish = f", for {request['asked_for']}" if request["asked_for"] else ""
    lines = [f"Requested by {request['asked_by']}{wish}. Would be assigned to {request['assignee_id'] or 'no one'}."]
    for name in ("description", "context"):
        lines += _quoted(name, printable(request[name] or "").strip().split("\n"))
    lines += _quoted("acceptance", request["acceptance"])
    lines += [f"It runs this command: {each}" for each in request["commands"]]
    return (
        lines if request["complete"] else [*lines, "The text is longer than shown here. See all of it: toryo task show"]
    )


def _quoted(name: str, lines: list[str]) -> list[str]:
    return [f"{name}:", *(f"  | {line}" for line in lines)] if any(lines) else []

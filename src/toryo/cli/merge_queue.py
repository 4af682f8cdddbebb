"""`toryo merge-queue …`: what waits to be merged, in which order, and what people change about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from toryo.cli import output, shell_completion, task_lookup
from toryo.cli.command_context import Here, command, flag, option
from toryo.cli.exit_codes import Misuse
from toryo.cli.from_operations import Passing
from toryo.domain.texts import one_line

group = typer.Typer(help="List, order and pause what waits to be merged.", no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[str, shell_completion.TASK]
Project = Annotated[
    str | None, option("PRJ", "The project's id (default: the only project).", complete=shell_completion.projects)
]


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="merge-queue")


_of_project = Passing(group, "/projects/{project_id}/merge-queue", project_id=Project)
_of_task = Passing(group, "/tasks/{task_id}/merge-queue", task_id=Id)


@_of_project.prints("list", "GET")
def _print(answer: Mapping[str, Any]) -> None:
    """List what waits to be merged, in order. Below it, what has left the queue, with the reason."""
    queue = answer["merge_queue"]
    if queue["mode"] == "off":
        output.say(
            f"{queue['project_id']} has no merge queue. Turn it on: toryo project edit {queue['project_id']} "
            "--set merge_queue=manual"
        )
    elif not queue["required_checks"]:
        output.say("This project has no required checks, so the queue finds only conflicts (required_checks).")
    if queue["paused_at"]:
        output.say(
            f"Paused by {queue['paused_by']} since {output.clock(queue['paused_at'])}. Continue: toryo merge-queue "
            f"resume --project {queue['project_id']}"
        )
    if not queue["entries"] and queue["mode"] != "off":
        output.say("Nothing waits to be merged.")
    for entry in queue["entries"]:
        output.done(f"{entry['place']:>3}  {_line(entry)}", *_below(entry))
    for entry in queue["ended"]:
        output.done(f"  -  {_line(entry)}", *_below(entry))


@_of_task.prints("add", "POST", into=option("BRANCH", "The target branch (default: the branch the work started from)."))
def _print_added(answer: Mapping[str, Any]) -> None:
    """Add the work of a completed task to the merge queue, at the end. With that of its subtasks."""
    output.done(f"{answer['entry']['task_id']}: {state(answer['entry'])}")


@_of_task.prints("remove", "DELETE")
def _print_removed(answer: Mapping[str, Any]) -> None:
    """Remove a task from the merge queue. Its work stays as it is."""
    output.done(f"{answer['entry']['task_id']}: {state(answer['entry'])}")


@command(group, "move")
def move(
    here: Here,
    task: Id,
    before: Annotated[str | None, option("TASK", "The task before which it is put.")] = None,
    last: Annotated[bool, flag("Put it at the end.", "--last")] = False,
) -> None:
    """Change the place of a task in the merge queue."""
    if (before is None) is not last:
        raise Misuse("Say where: --before TASK or --last.", "toryo merge-queue list shows the order.")
    body = {"before": task_lookup.task(here, before) if before is not None else None}
    answer = here.send("POST", f"/tasks/{task_lookup.task(here, task)}/merge-queue/move", body)
    here.answer(answer, lambda: _print(answer))


_of_project.says(
    "pause",
    "POST /pause",
    "Pause the merge queue of a project. What is being checked is stopped and waits again.",
    "paused the merge queue of {merge_queue[project_id]}",
)
_of_project.says(
    "resume",
    "POST /resume",
    "Let the merge queue of a project continue. What it could not merge is tried again at once.",
    "resumed the merge queue of {merge_queue[project_id]}",
)


def _line(entry: dict[str, Any]) -> str:
    return f"{entry['task_id']}  {state(entry)}  {one_line(entry['title'])}"


def _below(entry: dict[str, Any]) -> list[str]:
    """What it waits for, or why it was not merged."""
    lines = [entry["message"]] if entry["message"] and entry["state"] != "merged" else []
    if entry["waits_for"]:
        lines.append(f"waits for {', '.join(entry['waits_for'])}")
    if entry["changes_task_id"]:
        lines.append(f"changes requested in {entry['changes_task_id']}")  # not always of its own agent
    flaky = [each["check"] for each in entry["evidence"] if each["outcome"] == "flaky"]
    if flaky:
        lines.append(f"flaky: {', '.join(map(one_line, flaky))}")
    return [f"       {one_line(line)}" for line in lines]


def state(entry: dict[str, Any]) -> str:
    """The state of an entry in words."""
    if entry["state"] == "merged":
        return f"merged into {entry['target']} ({(entry['merged_commit'] or '')[:10]})"
    if entry["state"] == "checking":
        return "being removed" if entry["removal_by"] else f"being checked for {entry['target']}"
    if entry["state"] == "queued":
        return f"waits for {entry['target']}"
    return {"failed": "checks failed", "conflict": "conflict", "removed": "removed"}[entry["state"]]

"""`toryo queue …`: agents of queues, and queue tasks that have failed permanently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from toryo.cli import output
from toryo.cli.command_context import Here, argument, command, option
from toryo.cli.from_operations import Passing

group = typer.Typer(help="List queue agents, and requeue failed tasks.", no_args_is_help=True, rich_markup_mode=None)

Project = Annotated[str, option("PRJ", "The project's id.")]


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="queue")


_of_project = Passing(group, "/projects/{project_id}", project_id=Project)


@_of_project.prints("agents", "GET /queue-agents")
def _print_agents(answer: Mapping[str, Any]) -> None:
    """List the agents of queues. Shows the queue, when each was last seen, and its tasks."""
    rows = [
        (
            agent["agent_id"],
            agent["agent_type"],
            agent["status"],
            output.clock(agent["last_seen"]),
            ", ".join(agent["current_tasks"]),
        )
        for agent in answer["agents"]
    ]
    empty = "No queue agents yet. Start one: toryo agent run --type TYPE -- CMD"
    output.table(("ID", "TYPE", "STATUS", "LAST SEEN", "TASKS"), rows, empty=empty)


@_of_project.prints("dead", "GET /dead-letters")
def _print_dead(answer: Mapping[str, Any]) -> None:
    """List dead letters. Queue tasks that have failed permanently, newest first."""
    rows = [_row(task) for task in answer["tasks"]]
    output.table(("ID", "TYPE", "ATTEMPTS", "FAILED", "TITLE", "ERROR"), rows, empty="No dead letters.")


@command(group, "requeue")
def requeue(
    here: Here,
    task: Annotated[list[str], argument("TASK...", "The tasks' ids.")],
) -> None:
    """Put dead letters back into their queues. All attempts are available again."""
    back = [here.send("POST", f"/tasks/{each}/requeue")["task"] for each in task]
    told = [f"{each['task_id']} is back in the queue {each['agent_type']}" for each in back]
    here.answer({"success": True, "tasks": back}, lambda: output.done(*told))


def _row(task: dict[str, Any]) -> tuple[Any, ...]:
    why = (task["error"] or "").strip().splitlines()
    return (
        task["task_id"],
        task["agent_type"],
        task["attempt"],
        output.clock(task["completed_at"]),
        task["title"],
        why[0] if why else "",
    )

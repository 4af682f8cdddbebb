"""`toryo why`: why an agent runs or not, from the rules that decided it; why a task does not move."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toryo.cli import logs, output, shell_completion, task_lookup, tasks
from toryo.cli.command_context import Here, command


def add(app: typer.Typer) -> None:
    command(app, "why")(why)


def why(
    here: Here,
    of: Annotated[
        str,
        typer.Argument(
            metavar="AGENT|TASK",
            help="The agent's id; or a task's id, its title, or the end of its id.",
            autocompletion=shell_completion.agents,
        ),
    ],
    project: Annotated[str | None, typer.Option("--project", metavar="PRJ", help="Limit to this project.")] = None,
) -> None:
    """Explain why an agent is not running, or why a task waits. Also says what to do about it and, for an agent, which
    rule decided; --json has the facts."""
    from toryo.client import RefusalError

    try:
        answer = here.get(f"/agents/{of}/why", project_id=project)
    except RefusalError as unknown:
        if unknown.code != "agentNotFound":
            raise
        task_id = task_lookup.task(here, of)
        if not task_id.startswith(task_lookup.PREFIX):
            logs.refuse_unknown(here, of)
        _of_task(here, here.get(f"/tasks/{task_id}")["task"])
        return
    here.answer(answer, lambda: output.done(*(told(answer) or [f"{of} belongs to no project."])))


def _of_task(here: Here, task: dict[str, Any]) -> None:
    lines = tasks.why(here, task)
    head = f"{output.MARKS.get(task['status'], ' ')} {task['task_id']} {task['status']}  {task['title']}"
    document = {"success": True, "task_id": task["task_id"], "task": task, "explanation": lines}
    here.answer(document, lambda: output.done(head, *(f"  {each}" for each in lines)))


def told(answer: dict[str, Any]) -> list[str]:
    """One paragraph per project and purpose, as lines."""
    lines: list[str] = []
    for decision in answer["decisions"]:
        until = f" until {output.clock(decision['until'])}" if decision.get("until") else ""
        since = f" since {output.clock(decision['since'])}" if decision.get("since") else ""
        action = "cannot start" if "no_coordinator" in decision.get("facts", {}) else decision["action"]
        head = (
            f"{answer['agent_id']} in {decision['project_id']} ({decision['purpose']}): {action} {decision['reason']}"
        )
        lines.append(head + since + until)
        lines += [f"  {line}" for line in output.in_local_time(decision["explanation"]).split("\n")]
        if decision["purpose"] == "task":
            lines.append(f"  Launch rule {decision['row']}: {decision['rule']}")
    return lines

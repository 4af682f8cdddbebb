"""`toryo why AGENT`: why an agent is running or not, from the very rules that decided it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toryo.cli import output, shell_completion
from toryo.cli.command_context import Here, command


def add(app: typer.Typer) -> None:
    command(app, "why")(why)


def why(
    here: Here,
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help="The agent's id.", autocompletion=shell_completion.agents)
    ],
    project: Annotated[str | None, typer.Option("--project", metavar="PRJ", help="Limit to this project.")] = None,
) -> None:
    """Explain why an agent is running, or is not. Says what to do about it, and which rule decided; --json has the
    facts."""
    answer = here.get(f"/agents/{agent}/why", project_id=project)
    here.answer(answer, lambda: output.done(*(told(answer) or [f"{agent} belongs to no project."])))


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
        lines += [f"  {line}" for line in decision["explanation"].split("\n")]
        if decision["purpose"] == "task":
            lines.append(f"  Decided by row {decision['row']} of the table: {decision['rule']}")
    return lines

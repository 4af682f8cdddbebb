"""`toryo why AGENT`: why an agent is running or not, from the very rules that decided it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toryo.cli import completing, output
from toryo.cli.here import Here, command


def add(app: typer.Typer) -> None:
    command(app, "why")(why)


def why(
    here: Here,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The agent's id.", autocompletion=completing.agents)],
    project: Annotated[str | None, typer.Option("--project", metavar="PRJ", help="Limit to this project.")] = None,
) -> None:
    """Explain why an agent is running, or is not. Says what to do about it, and which rule decided; --json has the
    facts."""
    answer = here.get(f"/agents/{agent}/why", project_id=project)
    here.answer(answer, lambda: output.done(*(told(answer) or [f"{agent} belongs to no project."])))


def told(answer: dict[str, Any]) -> list[str]:
    """One paragraph per project and purpose, as lines."""
    lines: list[str] = []
    for each in answer["decisions"]:
        until = f" until {output.clock(each['until'])}" if each.get("until") else ""
        since = f" since {output.clock(each['since'])}" if each.get("since") else ""
        action = "cannot start" if "no_coordinator" in each.get("facts", {}) else each["action"]
        head = f"{answer['agent_id']} in {each['project_id']} ({each['purpose']}): {action} {each['reason']}"
        lines.append(head + since + until)
        lines += [f"  {line}" for line in each["explanation"].split("\n")]
        if each["purpose"] == "task":
            lines.append(f"  Decided by row {each['row']} of the table: {each['rule']}")
    return lines

"""Options that say what a task is: of `toryo task`, `toryo schedule` and `toryo webhook`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from toryo.cli import shell_completion
from toryo.cli.exit_codes import Misuse

Project = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="PRJ",
        help="The project's id; optional if there is only one.",
        autocompletion=shell_completion.projects,
    ),
]
Description = Annotated[str | None, typer.Option("--description", "-d", metavar="TEXT", help="What to do, in full.")]
Assignee = Annotated[
    str | None,
    typer.Option(
        "--assignee", metavar="AGENT", help="The agent or person who does it.", autocompletion=shell_completion.agents
    ),
]
AgentType = Annotated[
    str | None, typer.Option("--agent-type", metavar="T", help="The queue it goes to, instead of an assignee.")
]
Priority = Annotated[
    Literal["low", "medium", "high", "critical", "urgent"] | None,
    typer.Option("--priority", metavar="low|medium|high|critical", help="Its priority; urgent means critical."),
]
Context = Annotated[
    str | None,
    typer.Option(
        "--context", metavar="JSON", help='Data for the assignee, as a JSON object; a command agent runs its "command".'
    ),
]
Accept = Annotated[
    list[str] | None,
    typer.Option(
        "--accept",
        metavar="CHECK",
        help="A command that must succeed before the task can complete, or a check of any kind as JSON; repeatable.",
    ),
]
AcceptFile = Annotated[
    list[str] | None,
    typer.Option(
        "--accept-file", metavar="PATH", help="A file that must exist before the task can complete; repeatable."
    ),
]
AcceptReview = Annotated[
    list[str] | None,
    typer.Option(
        "--accept-review",
        metavar="ID",
        help="An agent or a person who must approve before the task can complete; repeatable.",
    ),
]


Touches = Annotated[
    list[str] | None,
    typer.Option("--touches", metavar="GLOB", help="Files that it will change, such as 'src/api/**'; repeatable."),
]
Budget = Annotated[
    float | None,
    typer.Option("--budget", metavar="USD", help="US dollars that it and its subtasks may cost.", min=0),
]
BudgetTokens = Annotated[
    int | None,
    typer.Option("--budget-tokens", metavar="N", help="Tokens that it and its subtasks may use.", min=0),
]
MaxFailures = Annotated[
    int | None,
    typer.Option("--max-failures", metavar="N", help="Failures in a row that stop it (default: 3); 0: none do."),
]
Status = Annotated[
    Literal["backlog", "todo", "in_progress"] | None,
    typer.Option(
        "--status",
        metavar="backlog|todo|in_progress",
        help="The first status of its tasks (default: in_progress if there is an assignee).",
    ),
]


def given_context(given: str | None) -> dict[str, Any] | None:
    if given is None:
        return None
    try:
        context = json.loads(given)
    except ValueError:
        raise Misuse("--context is not valid JSON.", 'Example: \'{"command": "make test"}\'.') from None
    if not isinstance(context, dict):
        raise Misuse("--context must be a JSON object.", 'Example: \'{"command": "make test"}\'.')
    return context


def given_acceptance(
    commands: list[str] | None, files: list[str] | None, reviewers: list[str] | None
) -> list[dict[str, Any]] | None:
    checks: list[dict[str, Any]] = [_check(each) for each in commands or []]
    checks += [{"file": each} for each in files or []]
    checks += [{"review": {"by": each}} for each in reviewers or []]
    return checks or None


def _check(given: str) -> dict[str, Any]:
    """A check as JSON, or else a command. A command may begin as an object does: `{ make lint; make test; }`."""
    if not given.lstrip().startswith("{"):
        return {"command": given}
    try:
        found = json.loads(given)
    except ValueError:
        if re.match(r'\{\s*["}]', given.lstrip()):
            raise Misuse(
                "--accept is not valid JSON.", 'Example: \'{"diff": {"max_files": 20}}\', or a command.'
            ) from None
        return {"command": given}
    return dict(found)


@dataclass
class TaskOptions:
    """The tasks that it creates, but for their title."""

    description: Description = None
    assignee: Assignee = None
    agent_type: AgentType = None
    priority: Priority = None
    status: Status = None
    context: Context = None
    accept: Accept = None
    accept_file: AcceptFile = None
    accept_review: AcceptReview = None

    def body(self) -> dict[str, Any]:
        return {
            "description": self.description,
            "assignee_id": self.assignee,
            "agent_type": self.agent_type,
            "priority": self.priority,
            "status": self.status,
            "context": given_context(self.context),
            "acceptance": given_acceptance(self.accept, self.accept_file, self.accept_review),
        }

"""Options that say what a task is: of `toryo task`, `toryo schedule` and `toryo webhook`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from toryo.cli import shell_completion
from toryo.cli.command_context import option
from toryo.cli.exit_codes import Misuse

Project = Annotated[
    str | None,
    option("PRJ", "The project's id; optional if there is only one.", "--project", complete=shell_completion.projects),
]
Description = Annotated[str | None, option("TEXT", "What to do, in full.", "--description", "-d")]
Assignee = Annotated[
    str | None,
    option(
        "AGENT",
        "The agent or person who does it; any: anyone who is free; any:WORD,…",
        complete=shell_completion.agents,
    ),
]
AgentType = Annotated[str | None, option("T", "The queue it goes to, instead of an assignee.")]
Priority = Annotated[
    Literal["low", "medium", "high", "critical", "urgent"] | None,
    option("low|medium|high|critical", "Its priority; urgent means critical."),
]
Context = Annotated[
    str | None,
    option("JSON", 'Data for the assignee, as a JSON object; a command agent runs its "command".', "--context"),
]
Accept = Annotated[
    list[str] | None,
    option(
        "CHECK", "A command that must succeed before the task can complete, or a check of any kind as JSON; repeatable."
    ),
]
AcceptFile = Annotated[
    list[str] | None, option("PATH", "A file that must exist before the task can complete; repeatable.")
]
AcceptReview = Annotated[
    list[str] | None, option("ID", "An agent or a person who must approve before the task can complete; repeatable.")
]
MaxFailures = Annotated[int | None, option("N", "Failures in a row that stop it (default: 3); 0: none do.")]
Status = Annotated[
    Literal["backlog", "todo", "in_progress"] | None,
    option("backlog|todo|in_progress", "The first status of its tasks (default: in_progress if there is an assignee)."),
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

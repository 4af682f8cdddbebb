"""Options that say what a task is: of `toryo task`, `toryo schedule` and `toryo webhook`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from toryo.cli import shell_completion
from toryo.cli.command_context import option
from toryo.cli.exit_codes import Misuse
from toryo.cli.from_operations import Read

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
Status = Annotated[
    Literal["backlog", "todo", "in_progress"] | None,
    option("backlog|todo|in_progress", "The first status of its tasks (default: in_progress if there is an assignee)."),
]


def instant(option: str, given: str, time_zone: str | None = None) -> str:
    """A time as the server takes it. Without an offset it is on the clock of that zone, or of this machine."""
    from zoneinfo import ZoneInfo

    try:
        moment = datetime.fromisoformat(given.strip())
        if moment.tzinfo is None and time_zone is not None:
            moment = moment.replace(tzinfo=ZoneInfo(time_zone))
        return moment.astimezone().isoformat()
    except (ValueError, OverflowError):
        raise Misuse(
            f"{option}: {given!r} is not a time.",
            'Example: "2027-01-31 09:30", or with an offset 2027-01-31T09:30+01:00.',
        ) from None


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


WORK: Mapping[str, Any] = {
    "context": Read(given_context, context=Context),
    "acceptance": Read(given_acceptance, accept=Accept, accept_file=AcceptFile, accept_review=AcceptReview),
}
OF_SOURCE: Mapping[str, Any] = {
    "description": Description,
    "assignee_id": Assignee,
    "agent_type": AgentType,
    "priority": Priority,
    "status": Status,
    **WORK,
}
"""What is sent of the tasks that a schedule or a webhook creates, but for their title."""

"""`toryo webhook …`: tasks that are created when another program sends a signed request."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toryo.cli import clearing, edits, output, projects, shell_completion
from toryo.cli.command_context import Here, command
from toryo.cli.exit_codes import Misuse
from toryo.cli.task_options import (
    Accept,
    AcceptFile,
    AcceptReview,
    AgentType,
    Assignee,
    Context,
    Description,
    MaxFailures,
    Priority,
    Project,
    Status,
    given_acceptance,
    given_context,
)
from toryo.domain.texts import one_line

group = typer.Typer(
    help="Create tasks from the requests of programs such as GitHub.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

SHOWN_DELIVERIES = 10

Id = Annotated[
    str, typer.Argument(metavar="WEBHOOK", help="Its id or its name.", autocompletion=shell_completion.webhooks)
]
Event = Annotated[
    list[str] | None,
    typer.Option("--event", metavar="EVENT", help="An event that creates a task, such as issues; repeatable."),
]


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="webhook")


@command(group, "add")
def add_webhook(
    here: Here,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    title: Annotated[
        str,
        typer.Option(
            "--title", metavar="TEXT", help='The title of its tasks, such as "Triage {{ body.issue.title }}".'
        ),
    ],
    project: Project = None,
    event: Event = None,
    description: Description = None,
    assignee: Assignee = None,
    agent_type: AgentType = None,
    priority: Priority = None,
    status: Status = None,
    context: Context = None,
    accept: Accept = None,
    accept_file: AcceptFile = None,
    accept_review: AcceptReview = None,
    max_failures: MaxFailures = None,
) -> None:
    """Create a webhook. Its secret is printed only once."""
    body = {
        "name": name,
        "events": event,
        "title": title,
        "description": description,
        "assignee_id": assignee,
        "agent_type": agent_type,
        "priority": priority,
        "status": status,
        "context": given_context(context),
        "acceptance": given_acceptance(accept, accept_file, accept_review),
        "max_failures": max_failures,
    }
    answer = here.send("POST", f"/projects/{project or projects.only(here)}/webhooks", body)
    here.answer(answer, lambda: _print_secret(here, answer, "created"))


@command(group, "list")
def list_webhooks(
    here: Here,
    project: Annotated[
        str | None,
        typer.Option(
            "--project", metavar="PRJ", help="Limit to this project.", autocompletion=shell_completion.projects
        ),
    ] = None,
) -> None:
    """List webhooks, with their last delivery."""
    found = _every_webhook(here, project)
    rows = [
        (each["webhook_id"], each["name"], each["state"], _events(each), each["tasks"], _last(each)) for each in found
    ]
    empty = 'No webhooks yet. Create one: toryo webhook add NAME --title "Triage {{ body.issue.title }}"'
    here.answer(
        {"success": True, "webhooks": found},
        lambda: output.table(("ID", "NAME", "STATE", "EVENTS", "TASKS", "LAST DELIVERY"), rows, empty=empty),
    )


@command(group, "show")
def show_webhook(here: Here, webhook: Id) -> None:
    """Show a webhook and its last deliveries."""
    answer = here.get(f"/webhooks/{_id(here, webhook)}")
    found = answer["webhook"]
    history = here.get(f"/webhooks/{found['webhook_id']}/deliveries", limit=SHOWN_DELIVERIES)["deliveries"]
    here.answer({**answer, "deliveries": history}, lambda: _print(here, found, history))


@command(group, "deliveries")
def list_deliveries(
    here: Here,
    webhook: Id,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=100, help="How many to list.")] = 50,
) -> None:
    """List what a webhook has received, the newest first."""
    answer = here.get(f"/webhooks/{_id(here, webhook)}/deliveries", limit=limit)
    here.answer(answer, lambda: _print_deliveries(answer["deliveries"], "Nothing has been delivered yet."))


@command(group, "edit")
def edit_webhook(
    here: Here,
    webhook: Id,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="Its new name.")] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The new title of its tasks.")] = None,
    event: Event = None,
    description: Description = None,
    assignee: Assignee = None,
    agent_type: AgentType = None,
    priority: Priority = None,
    status: Status = None,
    context: Context = None,
    accept: Accept = None,
    accept_file: AcceptFile = None,
    accept_review: AcceptReview = None,
    max_failures: MaxFailures = None,
    clear: clearing.OfWebhook = None,
) -> None:
    """Change a webhook. From then on its tasks are created with your rights."""
    body = {
        "name": name,
        "events": event,
        "title": title,
        "description": description,
        "assignee_id": assignee,
        "agent_type": agent_type,
        "priority": priority,
        "status": status,
        "context": given_context(context),
        "acceptance": given_acceptance(accept, accept_file, accept_review),
        "max_failures": max_failures,
    }
    body = clearing.cleared("webhook", clear, body)
    if not any(each is not None for each in body.values()):
        raise Misuse("Nothing to change.", "See `toryo webhook edit --help`.")
    webhook_id = _id(here, webhook)
    before = here.get(f"/webhooks/{webhook_id}")["webhook"]
    answer = here.send("PATCH", f"/webhooks/{webhook_id}", body)
    here.answer(answer, lambda: output.done(edits.told(webhook_id, before, answer["webhook"])))


@command(group, "rotate")
def rotate_secret(here: Here, webhook: Id) -> None:
    """Give a webhook a new secret, which is printed only once."""
    answer = here.send("POST", f"/webhooks/{_id(here, webhook)}/rotate-secret")
    here.answer(answer, lambda: _print_secret(here, answer, "rotated the secret of"))


@command(group, "pause")
def pause_webhook(
    here: Here,
    webhook: Id,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="The reason, for others to see.")
    ] = None,
) -> None:
    """Pause a webhook. What is delivered meanwhile creates no task."""
    answer = here.send("POST", f"/webhooks/{_id(here, webhook)}/pause", {"reason": reason})
    here.answer(answer, lambda: output.done(f"paused {answer['webhook']['webhook_id']}"))


@command(group, "resume")
def resume_webhook(here: Here, webhook: Id) -> None:
    """Resume a webhook that was paused or has stopped itself."""
    answer = here.send("POST", f"/webhooks/{_id(here, webhook)}/resume")
    here.answer(answer, lambda: output.done(f"resumed {answer['webhook']['webhook_id']}"))


@command(group, "delete")
def delete_webhook(here: Here, webhook: Id) -> None:
    """Delete a webhook and its history. Its tasks stay."""
    answer = here.send("DELETE", f"/webhooks/{_id(here, webhook)}")
    here.answer(answer, lambda: output.done(f"deleted {answer['webhook_id']}; its tasks stay"))


# --- what is typed ---------------------------------------------------------------------------------------------------


def _every_webhook(here: Here, project: str | None) -> list[dict[str, Any]]:
    names = [project] if project else projects.active(here)
    return [each for name in names for each in here.get(f"/projects/{name}/webhooks")["webhooks"]]


def _id(here: Here, given: str) -> str:
    """The id of what was typed: an id, or the name of one webhook."""
    if given.startswith("whk_"):
        return given
    named = [each for each in _every_webhook(here, None) if each["name"].casefold() == given.casefold()]
    if len(named) > 1:
        ids = ", ".join(each["webhook_id"] for each in named)
        raise Misuse(f"Several webhooks are called {given!r}: {ids}.", "Give the id of one.")
    return str(named[0]["webhook_id"]) if named else given


# --- what is shown ---------------------------------------------------------------------------------------------------


def _print_secret(here: Here, answer: dict[str, Any], what: str) -> None:
    webhook = answer["webhook"]
    output.done(f"{what} {webhook['webhook_id']}")
    output.fields({"url": _url(here, webhook), "secret": answer["secret"]})
    output.say("Save the secret: it is shown only once. The sender signs with it (X-Hub-Signature-256).")


def _url(here: Here, webhook: dict[str, Any]) -> str:
    return f"{str(here.client.address).rstrip('/')}{webhook['path']}"


def _events(webhook: dict[str, Any]) -> str:
    return ", ".join(webhook["events"]) or "all"


def _last(webhook: dict[str, Any]) -> str:
    delivery = webhook["last_delivery"]
    return "" if delivery is None else f"{output.clock(delivery['at'])} {_outcome(delivery)}"


def _outcome(delivery: dict[str, Any]) -> str:
    """What became of a delivery, in a few words."""
    if delivery["task_id"]:
        waits = ", starts when its assignee has room" if delivery["waits"] else ""
        reason = f", not started: {one_line(delivery['reason'])}" if delivery["reason"] else ""
        return f"{delivery['task_id']} {delivery['task_status']}{waits}{reason}"
    times = f", {delivery['times']} times" if delivery["times"] > 1 else ""
    told = {"ignored": "ignored", "refused": "failed"}[delivery["outcome"]]
    return f"{told}: {one_line(delivery['reason'] or '')}{times}"


def _print(here: Here, webhook: dict[str, Any], history: list[dict[str, Any]]) -> None:
    task = webhook["task"]
    whom = task["assignee_id"] or (f"queue {task['agent_type']}" if task["agent_type"] else "nobody")
    state = webhook["state"] + (f": {one_line(webhook['reason'])}" if webhook["reason"] else "")
    output.fields(
        {
            "webhook_id": webhook["webhook_id"],
            "name": webhook["name"],
            "project": webhook["project_id"],
            "state": state,
            "url": _url(here, webhook),
            "secret": webhook["secret_hint"],
            "events": _events(webhook),
            "task": task["title"],
            "description": task["description"],
            "for": whom,
            "priority": task["priority"],
            "begins in": task["status"],
            "context": task["context"],
            "acceptance": task["acceptance"],
            "max failures": str(webhook["max_failures"] or "none"),
            "failures in a row": webhook["failures"] or None,
            "runs as": webhook["runs_as"],
            "tasks created": webhook["tasks"],
        }
    )
    if history:
        _print_deliveries(history, "")


def _print_deliveries(history: list[dict[str, Any]], empty: str) -> None:
    rows = [(output.clock(each["at"]), each["event"] or "", _outcome(each), each["key"]) for each in history]
    output.table(("DELIVERED", "EVENT", "OUTCOME", "DELIVERY"), rows, empty=empty)

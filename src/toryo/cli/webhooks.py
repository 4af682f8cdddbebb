"""`toryo webhook …`: tasks that are created when another program sends a signed request.

What schedules have, too, is in `sources.py`.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from toryo.cli import clearing, output, shell_completion
from toryo.cli.command_context import Here, argument, command, option
from toryo.cli.from_operations import sends
from toryo.cli.sources import NEW_NAME, NEW_TITLE, MaxFailures, Name, OfProject, Reason, Source
from toryo.cli.task_options import OF_SOURCE, Project
from toryo.domain.texts import one_line

group = typer.Typer(
    help="Create tasks from the requests of programs such as GitHub.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Id = Annotated[str, argument("WEBHOOK", "Its id or its name.", complete=shell_completion.webhooks)]
_SENT = {
    "events": Annotated[list[str] | None, option("EVENT", "An event that creates a task, such as issues; repeatable.")],
    **OF_SOURCE,
    "max_failures": MaxFailures,
}
WEBHOOKS = Source("webhook", "whk_")


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="webhook")


@command(group, "add")
@sends(
    "add_webhook",
    name=Name,
    title=Annotated[str, option("TEXT", 'The title of its tasks, such as "Triage {{ body.issue.title }}".')],
    project_id=Project,
    **_SENT,
)
def add_webhook(here: Here, body: dict[str, Any]) -> None:
    """Create a webhook. Its secret is printed only once."""
    answer = WEBHOOKS.add(here, body)
    here.answer(answer, lambda: _print_secret(here, answer, "created"))


@command(group, "list")
def list_webhooks(here: Here, project: OfProject = None) -> None:
    """List webhooks, with their last delivery."""
    WEBHOOKS.print_all(
        here,
        project,
        ("EVENTS", "TASKS", "LAST DELIVERY"),
        lambda each: (_events(each), each["tasks"], _last(each)),
        'No webhooks yet. Create one: toryo webhook add NAME --title "Triage {{ body.issue.title }}"',
    )


@command(group, "show")
def show_webhook(here: Here, webhook: Id) -> None:
    """Show a webhook and its last deliveries."""
    WEBHOOKS.show(here, webhook, "deliveries", partial(_print, here))


@command(group, "deliveries")
def list_deliveries(
    here: Here,
    webhook: Id,
    limit: Annotated[int, option("N", "How many to list.", min=1, max=100)] = 50,
) -> None:
    """List what a webhook has received, the newest first."""
    answer = here.get(WEBHOOKS.path(here, webhook, "/deliveries"), limit=limit)
    here.answer(answer, lambda: _print_deliveries(answer["deliveries"], "Nothing has been delivered yet."))


@command(group, "edit")
@sends("edit_webhook", name=NEW_NAME, title=NEW_TITLE, **_SENT)
def edit_webhook(here: Here, webhook: Id, body: dict[str, Any], clear: clearing.OfWebhook = None) -> None:
    """Change a webhook. From then on its tasks are created with your rights."""
    WEBHOOKS.edit(here, webhook, clear, body)


@command(group, "rotate")
def rotate_secret(here: Here, webhook: Id) -> None:
    """Give a webhook a new secret, which is printed only once."""
    answer = here.send("POST", WEBHOOKS.path(here, webhook, "/rotate-secret"))
    here.answer(answer, lambda: _print_secret(here, answer, "rotated the secret of"))


@command(group, "pause")
def pause_webhook(here: Here, webhook: Id, reason: Reason = None) -> None:
    """Pause a webhook. What is delivered meanwhile creates no task."""
    WEBHOOKS.pause(here, webhook, reason)


@command(group, "resume")
def resume_webhook(here: Here, webhook: Id) -> None:
    """Resume a webhook that was paused or has stopped itself."""
    WEBHOOKS.resume(here, webhook)


@command(group, "delete")
def delete_webhook(here: Here, webhook: Id) -> None:
    """Delete a webhook and its history. Its tasks stay."""
    WEBHOOKS.delete(here, webhook)


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
    trigger = {"url": _url(here, webhook), "secret": webhook["secret_hint"], "events": _events(webhook)}
    WEBHOOKS.print(webhook, trigger, {}, webhook["tasks"])
    if history:
        _print_deliveries(history, "")


def _print_deliveries(history: list[dict[str, Any]], empty: str) -> None:
    rows = [(output.clock(each["at"]), each["event"] or "", _outcome(each), each["key"]) for each in history]
    output.table(("DELIVERED", "EVENT", "OUTCOME", "DELIVERY"), rows, empty=empty)

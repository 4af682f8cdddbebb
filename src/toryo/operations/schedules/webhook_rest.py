"""Webhooks as people create, read, change and pause them. REST and CLI.

Who changes a webhook last is the person it runs as: nobody gives it more than their own rights. Its secret is shown to
the person who creates or rotates it, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from toryo import clearable_fields
from toryo.deeds import deed
from toryo.domain import ids, webhooks
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.sources import MOST, USUAL_FAILURES, State, in_state
from toryo.domain.times import iso, iso_or_none
from toryo.domain.webhooks import Delivery, Webhook
from toryo.domain.wording import say
from toryo.operations.calls import schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Proof, Route, operation
from toryo.operations.calls.fields import Id, Lines, Name, Text, Title
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cursor_of, key_of, paged
from toryo.operations.calls.results import Result
from toryo.operations.schedules import sources
from toryo.operations.schedules.sources import ScheduledTask
from toryo.secret_patterns import WEBHOOK
from toryo.storage.sources import NEWEST

USUAL = 50
"""Deliveries of a page."""
_SHOWN_OF_SECRET = 4


def _with_placeholders(text: str) -> str:
    wrong = webhooks.not_a_placeholder(text)
    if wrong is not None:
        raise PydanticCustomError(
            "placeholder",
            "must have no placeholder {path}: write body and a path, such as body.issue.title, or event",
            {"path": wrong[:100]},
        )
    return text


Event = Annotated[str, Field(min_length=1, max_length=webhooks.LONGEST_EVENT, pattern=r"^[\w.:/-]+$")]
Events = Annotated[list[Event], Field(max_length=webhooks.MOST_EVENTS)]
Failures = Annotated[int, Field(ge=0, le=1_000)]
TitleTemplate = Annotated[Title, AfterValidator(_with_placeholders)]
TextTemplate = Annotated[Text, AfterValidator(_with_placeholders)]


class WebhookDelivery(TypedDict):
    """What became of a request; of `times` in a row with this outcome it is the last. `waits`: its task starts when its
    assignee has room. `task_status`: its task's status now."""

    delivery_id: str
    key: str
    event: str | None
    at: str
    outcome: Literal["created", "ignored", "refused"]
    times: int
    task_id: str | None
    waits: bool
    reason: str | None
    task_status: schemas.StatusName | None


class ShownWebhook(TypedDict):
    """`path`: where requests go, on this server. `secret_hint`: how its secret ends. `events`: those that create a
    task; empty: all. `failures`: deliveries that failed in a row. `tasks`: how many it has created."""

    webhook_id: str
    project_id: str
    name: str
    path: str
    secret_hint: str
    events: list[str]
    max_failures: int
    task: ScheduledTask
    runs_as: str
    created_at: str
    state: Literal["active", "paused", "stopped"]
    state_by: str | None
    state_at: str | None
    reason: str | None
    failures: int
    tasks: int
    last_delivery: WebhookDelivery | None


class Webhooks(Result):
    webhooks: list[ShownWebhook]


class OneWebhook(Result):
    webhook: ShownWebhook


class WebhookWithSecret(OneWebhook):
    """`secret` is shown only here."""

    secret: str


class DeletedWebhook(Result):
    webhook_id: str


class Deliveries(Page):
    deliveries: list[WebhookDelivery]


# --- read ------------------------------------------------------------------------------------------------------------


class ListWebhooks(Parameters):
    project_id: Id = Field(description="The project.")


@operation(
    "show_webhooks",
    grant=Grant.PERSON,
    parameters=ListWebhooks,
    route=Route("GET", "/projects/{project_id}/webhooks"),
    tool=False,
    reads=True,
)
def show_webhooks(call: Call, wanted: ListWebhooks) -> Webhooks:
    """The webhooks of a project, the oldest first, without their secrets."""
    project = call.project(wanted.project_id)
    newest = call.tx.webhooks.newest_entries(project.id)
    last = dict(zip(newest, _shown_deliveries(call, list(newest.values())), strict=True))
    found = call.tx.webhooks.of_project(project.id)
    return {"success": True, "webhooks": [_as_answer(each, last.get(each.id)) for each in found]}


class OneOf(Parameters):
    webhook_id: Id = Field(description="The webhook.")


@operation(
    "show_webhook",
    grant=Grant.PERSON,
    parameters=OneOf,
    route=Route("GET", "/webhooks/{webhook_id}"),
    tool=False,
    reads=True,
)
def show_webhook(call: Call, wanted: OneOf) -> OneWebhook:
    """One webhook, without its secret."""
    return _answered(call, _known(call, wanted.webhook_id))


class ListDeliveries(Paged):
    webhook_id: Id = Field(description="The webhook.")


@operation(
    "list_webhook_deliveries",
    grant=Grant.PERSON,
    parameters=ListDeliveries,
    route=Route("GET", "/webhooks/{webhook_id}/deliveries"),
    tool=False,
    reads=True,
)
def list_webhook_deliveries(call: Call, wanted: ListDeliveries) -> Deliveries:
    """What became of the requests that a webhook has received, the newest first; 50 a page. The last 100 without a task
    are kept, and those with a task as long as it. Requests with a wrong signature are not among them."""
    webhook, limit = _known(call, wanted.webhook_id), wanted.limit or USUAL
    key = key_of(wanted.cursor, int, str)
    before = (key[0], key[1]) if key is not None else NEWEST
    found = call.tx.webhooks.history(webhook.id, before, limit + 1)
    more = cursor_of(found[limit - 1].at, found[limit - 1].id) if len(found) > limit else None
    answer: Deliveries = {"success": True, "deliveries": _shown_deliveries(call, found[:limit])}
    return paged(answer, more)


# --- change ----------------------------------------------------------------------------------------------------------


class NewWebhook(Parameters):
    project_id: Id = Field(description="The project.")
    name: Name = Field(description="What it is called.")
    events: Events = Field(
        default_factory=list, description="The events (X-GitHub-Event) that create a task; none: all, except ping."
    )
    max_failures: Failures = Field(
        USUAL_FAILURES, description="How many failures in a row stop the webhook; 0: none do."
    )
    title: TitleTemplate = Field(description="The title of its tasks; {{ body.issue.title }} is filled in.")
    description: TextTemplate = Field("", description="Their description; {{ body.issue.title }} is filled in.")


class AddWebhook(sources.NewTask, NewWebhook):
    pass


@operation(
    "add_webhook",
    grant=Grant.WRITER,
    parameters=AddWebhook,
    route=Route("POST", "/projects/{project_id}/webhooks", 201),
    tool=False,
    proof=Proof.ALWAYS,
)
def add_webhook(call: Call, wanted: AddWebhook) -> WebhookWithSecret:
    """Create tasks when another program, such as GitHub, sends a signed request. The answer has the secret."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    known = call.tx.webhooks.of_project(project.id)
    if len(known) >= MOST:
        raise Refusal(
            Code.LIMIT_REACHED,
            say("Project {project_id} has {most} webhooks, the maximum.", project_id=project.id, most=MOST),
            say("Delete one that you no longer need{deed:: …|.}", deed=deed("list_webhooks")),
        )
    made = Webhook(
        id=call.new_id(ids.WEBHOOK, wanted.name),
        project_id=project.id,
        name=wanted.name,
        secret=call.new_token(WEBHOOK),
        events=tuple(dict.fromkeys(wanted.events)),
        failures_allowed=wanted.max_failures,
        task=sources.task_parameters(wanted, {}),
        runs_as=call.agent.id,
        login=sources.login(call),
        created_at=call.now,
    )
    sources.refuse(call, made.project_id, made.task)
    _refuse_same_name(known, made)
    call.tx.webhooks.add(made)
    sources.tell(call, "webhook.created", made)
    return {**_answered(call, made), "secret": made.secret}


class ChangedWebhook(OneOf):
    name: Name | None = Field(None, description="New name.")
    events: Events | None = Field(None, description="The events that create a task; none: all, except ping.")
    max_failures: Failures | None = Field(None, description="How many failures in a row stop it; 0: none do.")
    title: TitleTemplate | None = Field(None, description="New title of its tasks.")
    description: TextTemplate | None = Field(None, description="New description.")


class EditWebhook(sources.ChangedTask, ChangedWebhook):
    pass


@operation(
    "edit_webhook",
    grant=Grant.WRITER,
    parameters=EditWebhook,
    route=Route("PATCH", "/webhooks/{webhook_id}"),
    tool=False,
)
def edit_webhook(call: Call, wanted: EditWebhook) -> OneWebhook:
    """Change a webhook; what is left out stays. From now on it runs as you."""
    before = _entered(call, wanted.webhook_id)
    given = wanted.model_dump(exclude_unset=True)
    after = replace(
        before,
        name=wanted.name or before.name,
        events=before.events if wanted.events is None else tuple(dict.fromkeys(wanted.events)),
        failures_allowed=before.failures_allowed if wanted.max_failures is None else wanted.max_failures,
        task=sources.task_parameters(wanted, before.task, clearable_fields.nullable("edit_webhook")),
        runs_as=call.agent.id,
        login=sources.login(call),
    )
    sources.refuse(call, after.project_id, after.task)
    _refuse_same_name(call.tx.webhooks.of_project(after.project_id), after)
    call.tx.webhooks.save(before, after)
    sources.tell(call, "webhook.edited", after, changes=sorted(set(given) - {"webhook_id"}))
    return _answered(call, after)


@operation(
    "rotate_webhook_secret",
    grant=Grant.WRITER,
    parameters=OneOf,
    route=Route("POST", "/webhooks/{webhook_id}/rotate-secret"),
    tool=False,
    proof=Proof.ALWAYS,
)
def rotate_webhook_secret(call: Call, wanted: OneOf) -> WebhookWithSecret:
    """Give a webhook a new secret. Requests signed with the old one are refused from now on."""
    before = _entered(call, wanted.webhook_id)
    after = call.tx.webhooks.save(before, replace(before, secret=call.new_token(WEBHOOK)))
    sources.tell(call, "webhook.secret_rotated", after)
    return {**_answered(call, after), "secret": after.secret}


class PauseWebhook(OneOf):
    reason: Lines | None = Field(None, max_length=2_000, description="Why.")


@operation(
    "pause_webhook",
    grant=Grant.WRITER,
    parameters=PauseWebhook,
    route=Route("POST", "/webhooks/{webhook_id}/pause"),
    tool=False,
)
def pause_webhook(call: Call, wanted: PauseWebhook) -> OneWebhook:
    """Pause a webhook. Its open tasks go on; what is delivered meanwhile creates no task."""
    before = _entered(call, wanted.webhook_id)
    if before.state is State.PAUSED:
        return _answered(call, before)
    reason = (wanted.reason or "").strip() or None
    after = in_state(before, State.PAUSED, call.actor.id, call.now, reason)
    call.tx.webhooks.save(before, after)
    sources.tell(call, "webhook.paused", after, reason=reason)
    return _answered(call, after)


@operation(
    "resume_webhook",
    grant=Grant.WRITER,
    parameters=OneOf,
    route=Route("POST", "/webhooks/{webhook_id}/resume"),
    tool=False,
)
def resume_webhook(call: Call, wanted: OneOf) -> OneWebhook:
    """Resume a webhook that was paused or has stopped itself. Its failures count from zero again."""
    before = _entered(call, wanted.webhook_id)
    if before.active:
        return _answered(call, before)
    after = in_state(replace(before, failures=0), State.ACTIVE, call.actor.id, call.now)
    call.tx.webhooks.save(before, after)
    sources.tell(call, "webhook.resumed", after)
    return _answered(call, after)


@operation(
    "delete_webhook",
    grant=Grant.WRITER,
    parameters=OneOf,
    route=Route("DELETE", "/webhooks/{webhook_id}"),
    tool=False,
)
def delete_webhook(call: Call, wanted: OneOf) -> DeletedWebhook:
    """Delete a webhook and its history. Its tasks stay."""
    webhook = _entered(call, wanted.webhook_id)
    call.tx.webhooks.drop(webhook.id)
    sources.tell(call, "webhook.deleted", webhook)
    return {"success": True, "webhook_id": webhook.id}


# --- what is accepted ------------------------------------------------------------------------------------------------


def _refuse_same_name(known: list[Webhook], webhook: Webhook) -> None:
    for each in known:
        if each.name.casefold() == webhook.name.casefold() and each.id != webhook.id:
            raise Refusal(
                Code.CONFLICT,
                say("A webhook of this project is called {name} already.", name=each.name),
                say("Choose another name, or edit it{deed:: …|.}", deed=deed("edit_webhook", webhook_id=each.id)),
                webhook_id=each.id,
            )


# --- find and show ---------------------------------------------------------------------------------------------------


def _entered(call: Call, webhook_id: str) -> Webhook:
    """The webhook as nobody else can change it from here on."""
    call.enter(_known(call, webhook_id).project_id)
    return _known(call, webhook_id)


def _known(call: Call, webhook_id: str) -> Webhook:
    found = call.tx.webhooks.find(webhook_id)
    if found is None or not visibility.sees(call, found.project_id):
        raise Refusal(
            Code.WEBHOOK_NOT_FOUND,
            say("There is no webhook {webhook_id}.", webhook_id=webhook_id),
            say("{deed:List them: …}", deed=deed("list_webhooks")),
            webhook_id=webhook_id,
        )
    return found


def _answered(call: Call, webhook: Webhook) -> OneWebhook:
    newest = call.tx.webhooks.newest_entry(webhook.id)
    last = _shown_deliveries(call, [newest])[0] if newest is not None else None
    return {"success": True, "webhook": _as_answer(webhook, last)}


def _as_answer(each: Webhook, last: WebhookDelivery | None) -> ShownWebhook:
    task: Any = each.task
    state: Any = each.state.value
    return {
        "webhook_id": each.id,
        "project_id": each.project_id,
        "name": each.name,
        "path": f"/hooks/{each.id}",
        "secret_hint": f"{WEBHOOK}…{each.secret[-_SHOWN_OF_SECRET:]}",
        "events": list(each.events),
        "max_failures": each.failures_allowed,
        "task": task,
        "runs_as": each.runs_as,
        "created_at": iso(each.created_at),
        "state": state,
        "state_by": each.state_by,
        "state_at": iso_or_none(each.state_at),
        "reason": each.reason,
        "failures": each.failures,
        "tasks": each.tasks,
        "last_delivery": last,
    }


def _shown_deliveries(call: Call, found: Sequence[Delivery]) -> list[WebhookDelivery]:
    tasks = call.tx.tasks.find_all({each.task_id for each in found if each.task_id is not None})
    status = {task.id: task.status for task in tasks}
    return [
        {
            "delivery_id": each.id,
            "key": each.key,
            "event": each.event,
            "at": iso(each.at),
            "outcome": each.outcome.value,
            "times": each.times,
            "task_id": each.task_id,
            "waits": each.waits,
            "reason": each.reason,
            "task_status": status[each.task_id].value if each.task_id is not None else None,
        }
        for each in found
    ]

"""Requests for tasks of another agent: by a task session for itself, by a chat session for the person who asked.

Consent is a message of the person to this agent whose first line is the marker, named by its id and used once before it
expires (`domain/consent.py`); arguments that an agent writes are never consent. It covers words only: a request with a
context (whose values end up in commands) waits until a person has seen it.
"""

from __future__ import annotations

from pydantic import Field

from toryo.domain import consent, creation_rules
from toryo.domain.agents import Agent, Role, superiors
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Purpose
from toryo.domain.messages import Message
from toryo.domain.projects import Project
from toryo.domain.tasks import Approval, Status, Task
from toryo.domain.times import HOUR
from toryo.domain.wording import say
from toryo.operations.calls import reachable_agents, rendering
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Caller
from toryo.operations.calls.catalogue import Audience, Parameters, operation
from toryo.operations.calls.fields import Context, GivenPriority, Id, Text, Title
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, Form, listed_for
from toryo.operations.calls.results import TaskResult
from toryo.operations.tasks import approvals, given, mutations
from toryo.operations.translations import words

_CHATS = Audience.CHAT | Audience.BY_HAND


class RequestTask(Parameters):
    title: Title = Field(description="One line.", json_schema_extra=PLAIN)
    assignee_id: Id = Field(description="An agent or a person; see list_team.")
    description: Text = Field("", description="What exactly, and when it is done.")
    priority: GivenPriority = Field(
        "medium", description="How urgent.", json_schema_extra=listed_for(_CHATS, plain=True)
    )
    context: Context = Field(json_schema_extra=listed_for(_CHATS))
    message_id: Id | None = Field(
        None, description="In a chat: the person's message that asks.", json_schema_extra=listed_for(_CHATS)
    )


_BY_CHAT = Form(
    required=("title", "assignee_id", "message_id"),
    words={"message_id": "The person's message that asks for it."},
)


def _form(caller: Caller, _for_queue: bool) -> Form | None:
    by_chat = caller.launch is not None and caller.launch.purpose is Purpose.CHAT
    return _BY_CHAT if by_chat else None


@operation(
    "request_task",
    shown_to=Audience.WORKER | Audience.CHAT,
    grant=Grant.ANY_SESSION,
    parameters=RequestTask,
    form_for=_form,
    leads=True,
)
def request_task(call: Call, wanted: RequestTask) -> TaskResult:
    """Request a task for an agent or a person. Returns at once; a person must approve it."""
    project = call.project(call.session.project_id)
    assignee = _assignee(call, project, wanted.assignee_id)
    message = _consent(call, wanted.message_id)
    requester = call.agent if message is None else call.known_agent(message.from_agent_id)
    above = _stands_above(call, requester, assignee)
    approved = above and (message is None or _approves(call, message, wanted))
    if message is None or not approved:  # what a person has approved has cost one message of theirs
        _refuse_too_many(call, project, requester.id)
    task = _create(call, project, assignee, requester, wanted, approved=approved)
    if message is not None:
        call.tx.chat.save_message(message, replace(message, used_for=task.id))
    call.event(
        "task.requested",
        task=task,
        data={
            "approval": task.approval.value,
            "assignee_id": assignee.id,
            "requester": requester.id,
            "asked_by": call.agent.id,
            "message_id": message.id if message is not None else None,
        },
    )
    if not approved:
        approvals.ask_approvers(call, task)
    elif message is not None:  # a person has said yes to it
        approvals.tell_consented(call, task, requester)
        task = mutations.put_in_line(call, task)
    told = words(f"requested.{_outcome(approved, message)}", project.settings.language)
    shown = rendering.task(task, call.tx.tasks.details(task.id), ())
    return {"success": True, "task_id": task.id, "task": shown, "message": told}


def _outcome(approved: bool, message: Message | None) -> str:
    if not approved:
        return "pending"
    return "approved" if message is None else "consented"


def _approves(call: Call, message: Message, wanted: RequestTask) -> bool:
    """Whether the person's message is consent to this request."""
    age = call.now - message.created_at
    return consent.approves(message.content, age, has_context=bool(wanted.context))


def _assignee(call: Call, project: Project, agent_id: str) -> Agent:
    assignee = call.known_agent(agent_id)
    if not call.tx.agents.members_among(project.id, [assignee.id]) or not assignee.active:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("{assignee_id} is not an active member of this project.", assignee_id=assignee.id),
            reachable_agents.ids_in_words(call.tx, call.caller),
        )
    return assignee


def _consent(call: Call, message_id: str | None) -> Message | None:
    """The person's message that a chat session was asked by; None in a task session. Raises Refusal."""
    if call.session.purpose is not Purpose.CHAT:
        if message_id is not None:
            raise Refusal(
                Code.CHAT_SESSION_REQUIRED,
                "message_id is only for chat sessions.",
                "Omit message_id.",
                purpose=call.session.purpose.value,
            )
        return None
    if message_id is None:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "In a chat session you can request a task only for a person who asks for it.",
            "Pass message_id: the id of that person's message, from get_pending_messages.",
        )
    message = call.tx.chat.message(message_id)
    if message is None or (message.project_id, message.to_agent_id) != (call.session.project_id, call.agent.id):
        raise _no_message(message_id)
    box = call.tx.chat.mailbox(message.project_id, message.to_agent_id)
    if message.sequence > box.cursor:
        raise _no_message(message_id)
    _refuse_unfit(call, message)
    return message


def _no_message(message_id: str) -> Refusal:
    return Refusal(
        Code.MESSAGE_NOT_FOUND,
        say("There is no message {message_id} to you.", message_id=message_id),
        "Call get_pending_messages for the ids of your messages.",
        message_id=message_id,
    )


def _refuse_unfit(call: Call, message: Message) -> None:
    sender = call.tx.agents.find(message.from_agent_id)
    if sender is None or not sender.human:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("Message {message_id} is not from a person.", message_id=message.id),
            "In a chat session, only a person's message can request a task. A task session may request one for itself.",
            message_id=message.id,
        )
    if message.used_for is not None:
        raise Refusal(
            Code.CONFLICT,
            say(
                "Message {message_id} was already used for task {used_for}.",
                message_id=message.id,
                used_for=message.used_for,
            ),
            "One message can request one task. Ask the person to send another message.",
            message_id=message.id,
            task_id=message.used_for,
        )
    if call.now - message.created_at > consent.ASKS_WITHIN:
        raise Refusal(
            Code.NOT_NOW,
            say(
                "Message {message_id} is older than {hours} hours.",
                message_id=message.id,
                hours=consent.ASKS_WITHIN // HOUR,
            ),
            "Ask the person whether they still want it, and use their new message.",
            message_id=message.id,
        )


def _stands_above(call: Call, requester: Agent, assignee: Agent) -> bool:
    owns = requester.human and requester.role is Role.OWNER
    return owns or requester.id in superiors(assignee.id, call.tx.agents.tree())


def _create(
    call: Call, project: Project, assignee: Agent, requester: Agent, wanted: RequestTask, *, approved: bool
) -> Task:
    draft = replace(given.draft(wanted), assignee_id=assignee.id)
    creation_rules.refuse_command_for_others(draft)
    [made] = mutations.create(
        call,
        project,
        None,
        [draft],
        approval=Approval.APPROVED if approved else Approval.PENDING,
        status=Status.BACKLOG,
        requested_by=requester.id,
    ).values()
    return call.tx.tasks.save(made.task, replace(made.task, approved_by=requester.id)) if approved else made.task


def _refuse_too_many(call: Call, project: Project, requester_id: str) -> None:
    still_open = call.tx.task_lists.open_requests(project.id, requester_id)
    recent = call.tx.task_lists.requests_since(project.id, requester_id, call.now - HOUR)
    settings = project.settings
    for count, cap, what in (
        (still_open, settings.open_requests, "open"),
        (recent, settings.requests_per_hour, "within an hour"),
    ):
        if count >= cap:
            raise Refusal(
                Code.LIMIT_REACHED,
                say(
                    "{requester_id} has {count} requests {what}; the limit is {cap}.",
                    requester_id=requester_id,
                    count=count,
                    what=what,
                    cap=cap,
                ),
                "Continue with your own work (get_next_action), and request again when some are done.",
                limit=cap,
            )

"""Delegations from a task session to its own agent's chat session: creating them and reading their results."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain import ids
from toryo.domain.conversations import Conversation
from toryo.domain.delegations import Delegation, DelegationStatus
from toryo.domain.errors import Code, Refusal
from toryo.domain.messages import LONGEST_MESSAGE
from toryo.domain.tasks import Task
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls import rendering, schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Available, Later, Parameters, operation
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, listed_for
from toryo.operations.calls.results import Result, Said
from toryo.operations.calls.wire import wire
from toryo.operations.messaging import mailboxes, messages, partners
from toryo.operations.translations import words

_MESSAGES = 50
"""Of each conversation, the newest."""


class Delegate(Parameters):
    target_agent_id: Id = Field(description="An agent or a person.", json_schema_extra=PLAIN)
    purpose: Lines = Field(
        min_length=1,
        max_length=LONGEST_MESSAGE,
        pattern=r"\S",
        description="What to say, ask or agree on.",
        json_schema_extra=PLAIN,
    )
    context: Any = Field(None, description="Any JSON.", json_schema_extra=listed_for(Audience.NONE))
    await_result: bool = Field(True, description="Whether get_next_action waits for it.", json_schema_extra=PLAIN)


class Delegated(Said):
    delegation_id: str


@operation(
    "delegate_to_chat_session",
    shown_to=Audience.WORKER | Audience.MANAGER,
    grant=Grant.TASK_SESSION,
    parameters=Delegate,
    leads=True,
)
def delegate_to_chat_session(call: Call, wanted: Delegate) -> Delegated:
    """Have your chat session talk with an agent or a person. Returns at once; get_my_task shows the result."""
    task = call.task(call.session.task_id or "")
    project = call.project(call.session.project_id)
    target = call.known_agent(wanted.target_agent_id)
    partners.refuse_partner(call, project, call.agent, target)
    _refuse_too_many(call, task, project.settings.open_delegations, project.settings.delegations_ever)
    delegation = Delegation(
        id=call.new_id(ids.DELEGATION),
        project_id=project.id,
        agent_id=call.agent.id,
        task_id=task.id,
        root_id=task.root_id,
        target_agent_id=target.id,
        purpose=wanted.purpose,
        context=wanted.context,
        await_result=wanted.await_result,
        status=DelegationStatus.PENDING,
        created_at=call.now,
    )
    call.tx.chat.add_delegation(delegation)
    call.event(
        "delegation.created",
        task=task,
        agent_id=call.agent.id,
        fact=True,
        data={"delegation_id": delegation.id, "target": target.id, "await_result": wanted.await_result},
    )
    mailboxes.touch(call, project.id, call.agent.id)
    mailboxes.wake(call, project.id, call.agent.id)
    told = words("delegated", project.settings.language)
    return {"success": True, "delegation_id": delegation.id, "message": told}


def _refuse_too_many(call: Call, task: Task, open_cap: int, ever_cap: int) -> None:
    present = call.tx.chat.delegations_of_task(task.id)
    for count, cap, what in (
        (sum(1 for delegation in present if delegation.open), open_cap, "open"),
        (len(present), ever_cap, "in all"),
    ):
        if count >= cap:
            raise Refusal(
                Code.LIMIT_REACHED,
                f"Task {task.id} has {count} delegations {what}; the limit is {cap}.",
                "Continue with what you know: call get_next_action. get_task_conversations returns what was said.",
                limit=cap,
            )


class TaskTalk(TypedDict):
    """A conversation that a task has asked for, with the newest that was said in it."""

    conversation_id: str
    initiator_id: str
    partner_id: str
    purpose: str
    state: schemas.ConversationState
    turns: int
    max_turns: int
    ended_by: str | None
    reason: str | None
    summary: str | None
    delegation_id: str | None
    created_at: str
    ended_at: str | None
    messages: list[schemas.Message]


class Talks(Result):
    conversations: list[TaskTalk]
    delegations: list[schemas.Delegation]


class TaskTalks(Parameters):
    timeout_seconds: int = Field(0, ge=0, le=LONGEST_WAIT_SECONDS, description="Seconds to wait for the result.")


@operation(
    "get_task_conversations",
    available=Available.AFTER_THE_END,
    grant=Grant.TASK_SESSION,
    parameters=TaskTalks,
    waits=True,
)
def get_task_conversations(call: Call, wanted: TaskTalks) -> Talks | Later:
    """Returns the conversations and delegations of your main task, with what was said."""
    session = call.session
    task_id = session.task_id or ""
    if wanted.timeout_seconds and not session.over and call.tx.chat.awaited(session.root_id or "").get(task_id):
        if call.may_wait and not call.tx.handovers.count_waiting(session.id):
            topics = {f"session:{session.id}", f"task:{session.root_id}", f"project:{session.project_id}"}
            return Later(frozenset(topics))
        # The wait timed out and there is no other work: from now on get_next_action waits.
        call.change_session(refused_for_delegation=True)
    return {
        "success": True,
        "conversations": [
            _as_answer(call, conversation) for conversation in call.tx.chat.conversations_of_task(task_id)
        ],
        "delegations": [rendering.delegation(each) for each in call.tx.chat.delegations_of_task(task_id)],
    }


def _as_answer(call: Call, conversation: Conversation) -> TaskTalk:
    said = call.tx.chat.of_conversation(conversation.id, _MESSAGES)
    return {**_talk(conversation), "messages": [messages.as_answer(call, message) for message in said]}


_talk = wire(Conversation, TaskTalk, "messages", conversation_id="id")

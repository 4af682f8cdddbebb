"""The tools of chat sessions: fetch messages, reply, converse, and report on delegations."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain import ids
from toryo.domain.agents import Agent
from toryo.domain.conversations import (
    FEWEST_TURNS,
    MOST_TURNS,
    USUAL_TURNS,
    Conversation,
    ended,
    not_found,
    told_of_end,
)
from toryo.domain.delegations import Delegation, DelegationStatus
from toryo.domain.errors import Code, Refusal
from toryo.domain.handover import Notification, address_of_agent, address_of_task
from toryo.domain.launches import Purpose
from toryo.domain.messages import HANDED_OUT_AT_ONCE, LONGEST_MESSAGE, Message, MessageKind, thread_of
from toryo.domain.projects import Language
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Later, Parameters, operation
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, Form, listed_for
from toryo.operations.calls.results import Said
from toryo.operations.messaging import conversations as messaging_conversations
from toryo.operations.messaging import delegations, mailboxes, messages, partners, talk_limits
from toryo.operations.translations import words
from toryo.workflow import next_action

Content = Annotated[Lines, Field(min_length=1, max_length=LONGEST_MESSAGE, pattern=r"\S")]


_LEFT_AT_ONCE = 20
"""Notifications that may wait for one task session."""


# --- fetching --------------------------------------------------------------------------------------------------------


class GetPending(Parameters):
    timeout_seconds: int = Field(
        0, ge=0, le=LONGEST_WAIT_SECONDS, description="Seconds to wait.", json_schema_extra=listed_for(Audience.NONE)
    )


class Redelivered(TypedDict):
    redelivered: NotRequired[bool]


class HandedOut(schemas.Message, Redelivered):
    """A message as it is handed out; again, where the answer that held it may have been lost."""


class PendingDelegation(TypedDict):
    """What the task session of the same agent wants said."""

    delegation_id: str
    target_agent_id: str
    target_kind: schemas.KindName | None
    purpose: str
    context: Any
    task_id: str
    attempt: int
    conversation_id: str | None


class Invitation(TypedDict):
    conversation_id: str
    from_agent_id: str
    from_name: str
    purpose: str


class OwnConversation(TypedDict):
    """A conversation of the agent. `delegation_id`: for which of its own delegations it talks."""

    conversation_id: str
    with_agent_id: str
    purpose: str
    turns: int
    max_turns: int
    delegation_id: str | None


class OpenConversation(OwnConversation):
    state: schemas.ConversationState
    your_turn: bool


class EndedConversation(OwnConversation):
    ended_by: str | None
    reason: str | None
    summary: str | None


class Pending(Said):
    pending_messages: list[HandedOut]
    context_messages: list[schemas.Message]
    pending_delegations: list[PendingDelegation]
    invitations: list[Invitation]
    conversations: list[OpenConversation]
    ended_conversations: list[EndedConversation]


@operation(
    "get_pending_messages",
    shown_to=Audience.CHAT,
    grant=Grant.CHAT_SESSION,
    parameters=GetPending,
    waits=True,
    whole=True,
)
def get_pending_messages(call: Call, _: GetPending) -> Pending | Later:
    """Returns your new messages, each once, and your delegations, invitations and conversations."""
    session = call.session
    messaging_conversations.lapse(call, session.project_id, session.agent_id)
    snapshot = call.own_snapshot()
    if next_action.decide(snapshot, session).action == "wait_for_messages" and call.may_wait:
        topics = {f"session:{session.id}", mailboxes.topic(session.project_id, session.agent_id)}
        return Later(frozenset(topics), snapshot.talk.changes_at)
    return _HandOut(call).answer()


class _HandOut:
    """Collects everything for one delivery, in one transaction."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.agent = call.agent
        self.project_id = call.session.project_id
        self.box = call.tx.chat.mailbox(self.project_id, self.agent.id)
        self.redelivered_to = self.box.redelivered_to
        self.again: set[str] = set()
        """Delegations that this agent has had in hand before."""
        self.messages = call.tx.chat.undelivered(self.box, HANDED_OUT_AT_ONCE)
        self.conversations = call.tx.chat.unsettled(self.project_id, self.agent.id)
        self.delegations = call.tx.chat.open_delegations(self.project_id, self.agent.id)

    def answer(self) -> Pending:
        invited = [conversation for conversation in self.conversations if conversation.invites(self.agent.id)]
        joined = {conversation.id: messaging_conversations.join(self.call, conversation) for conversation in invited}
        self.conversations = [joined.get(conversation.id, conversation) for conversation in self.conversations]
        open_ = [conversation for conversation in self.conversations if conversation.open]
        over = [
            conversation
            for conversation in self.conversations
            if not conversation.open and not conversation.told(self.agent.id)
        ]
        waiting = [delegation for delegation in self.delegations if delegation.status is DelegationStatus.PENDING]
        self.again = {delegation.id for delegation in waiting if delegation.processed_at is not None}
        taken = [delegations.take(self.call, delegation) for delegation in waiting]
        self._deliver(over, changed=bool(self.messages or invited or over or taken))
        turns = [conversation for conversation in open_ if conversation.awaits(self.agent.id)]
        return {
            "success": True,
            "pending_messages": [self._message(message) for message in self.messages],
            "context_messages": [messages.as_answer(self.call, message) for message in self._context(turns, taken)],
            "pending_delegations": [self._delegation(delegation) for delegation in taken],
            "invitations": [self._invitation(conversation) for conversation in invited],
            "conversations": [_open(conversation, self.agent.id) for conversation in open_],
            "ended_conversations": [_over(conversation, self.agent.id) for conversation in over],
            "instruction": self._instruction(turns, taken, over),
        }

    def _deliver(self, over: list[Conversation], *, changed: bool) -> None:
        """Moves the cursor and tells the endings; what the next call does not confirm is taken back."""
        call, now = self.call, self.call.now
        for conversation in over:
            call.tx.chat.save_conversation(conversation, told_of_end(conversation, self.agent.id, now))
        if not changed:
            return
        last = self.messages[-1].sequence if self.messages else None
        box = self.box.handed_out(last, tuple(conversation.id for conversation in over), call.session.id, now)
        call.tx.chat.save_mailbox(box)
        mailboxes.touch(call, self.project_id, self.agent.id)
        if self.messages:
            data = {"from": self.messages[0].sequence, "to": last, "count": len(self.messages)}
            call.event("message.delivered", agent_id=self.agent.id, data=data)

    def _message(self, message: Message) -> HandedOut:
        again: Redelivered = {"redelivered": True} if message.sequence <= self.redelivered_to else {}
        return {**messages.as_answer(self.call, message), **again}

    def _context(self, turns: list[Conversation], taken: list[Delegation]) -> list[Message]:
        """Earlier messages with every partner who has sent something, has waited for this turn, or must be notified; a
        turn repeats its own message.
        """
        here = {each.id for each in self.messages}
        others = {each.from_agent_id for each in self.messages} | {turn.other(self.agent.id) for turn in turns}
        others |= {delegation.target_agent_id for delegation in taken}
        after_all = (self.messages[-1].sequence if self.messages else self.box.cursor) + 1
        enough = HANDED_OUT_AT_ONCE + len(here)
        found = [
            message
            for other in sorted(others)
            for message in self.call.tx.chat.before(self.project_id, thread_of(self.agent.id, other), None, enough)
            if message.id not in here and message.kind is MessageKind.MESSAGE
        ]
        found = [each for each in found if each.to_agent_id != self.agent.id or each.sequence < after_all]
        return sorted(found, key=lambda each: each.sequence)[-HANDED_OUT_AT_ONCE:]

    def _delegation(self, delegation: Delegation) -> PendingDelegation:
        target = self.call.tx.agents.find(delegation.target_agent_id)
        return {
            "delegation_id": delegation.id,
            "target_agent_id": delegation.target_agent_id,
            "target_kind": target.kind.value if target is not None else None,
            "purpose": delegation.purpose,
            "context": delegation.context,
            "task_id": delegation.task_id,
            "attempt": delegation.attempt,
            "conversation_id": delegation.conversation_id,
        }

    def _invitation(self, conversation: Conversation) -> Invitation:
        initiator = self.call.tx.agents.find(conversation.initiator_id)
        return {
            "conversation_id": conversation.id,
            "from_agent_id": conversation.initiator_id,
            "from_name": initiator.name if initiator is not None else conversation.initiator_id,
            "purpose": conversation.purpose,
        }

    def _instruction(self, turns: list[Conversation], taken: list[Delegation], over: list[Conversation]) -> str:
        """What to do with each thing that is there, in the project's language."""
        language = self.call.language
        said = [
            words(
                "chat.ended",
                language,
                conversation_id=conversation.id,
                partner=conversation.other(self.agent.id),
                reason=conversation.reason,
            )
            for conversation in over
        ]
        outside = [message for message in self.messages if message.conversation_id is None]
        notices = [message for message in outside if messages.is_notice(self.call, message)]
        if len(outside) > len(notices):
            said.append(words("chat.messages", language))
        if notices:
            said.append(words("chat.notices", language))
        said += [
            words(
                "chat.turn",
                language,
                conversation_id=turn.id,
                partner=turn.other(self.agent.id),
                turns=turn.turns,
                max_turns=turn.max_turns,
            )
            for turn in turns
        ]
        said += [self._about(delegation, language) for delegation in taken]
        mine = [delegation for delegation in self.delegations if delegation.session_id == self.call.session.id]
        finished = {conversation.delegation_id for conversation in over}
        said += [
            words("chat.delegation_in_hand", language, delegation_id=delegation.id, target=delegation.target_agent_id)
            for delegation in mine
            if delegation.id in finished or self.messages
        ]
        return " ".join([*(said or [words("chat.nothing", language)]), words("chat.then", language)])

    def _about(self, delegation: Delegation, language: Language) -> str:
        conversation = (
            self.call.tx.chat.conversation(delegation.conversation_id) if delegation.conversation_id else None
        )
        target = self.call.tx.agents.find(delegation.target_agent_id)
        key = "chat.delegation_to_person" if target is not None and target.human else "chat.delegation_to_agent"
        key = "chat.delegation_in_hand" if conversation is not None else key
        if delegation.id in self.again and any(
            message.from_agent_id == delegation.target_agent_id for message in self.messages
        ):
            key = "chat.delegation_answered"
        return words(key, language, delegation_id=delegation.id, target=delegation.target_agent_id)


def _open(conversation: Conversation, agent_id: str) -> OpenConversation:
    return {
        "conversation_id": conversation.id,
        "with_agent_id": conversation.other(agent_id),
        "purpose": conversation.purpose,
        "state": conversation.state.value,
        "your_turn": conversation.awaits(agent_id),
        "turns": conversation.turns,
        "max_turns": conversation.max_turns,
        "delegation_id": conversation.delegation_id if conversation.initiator_id == agent_id else None,
    }


def _over(conversation: Conversation, agent_id: str) -> EndedConversation:
    return {
        "conversation_id": conversation.id,
        "with_agent_id": conversation.other(agent_id),
        "purpose": conversation.purpose,
        "ended_by": conversation.ended_by,
        "reason": conversation.reason,
        "summary": conversation.summary,
        "turns": conversation.turns,
        "max_turns": conversation.max_turns,
        "delegation_id": conversation.delegation_id if conversation.initiator_id == agent_id else None,
    }


# --- answering and telling -------------------------------------------------------------------------------------------


class Sent(Said):
    message_id: NotRequired[str]
    to_agent_id: NotRequired[str]
    conversation_id: NotRequired[str | None]
    turns: NotRequired[int]
    max_turns: NotRequired[int]
    your_turn_next: NotRequired[bool]
    state: NotRequired[str]


class RespondChat(Parameters):
    content: Content = Field(description="The text.", json_schema_extra=PLAIN)
    message_id: Id | None = Field(None, description="The message to answer.")
    target_agent_id: Id | None = Field(None, description="The recipient, if there is no message_id.")


@operation("respond_chat", shown_to=Audience.CHAT, grant=Grant.CHAT_SESSION, parameters=RespondChat)
def respond_chat(call: Call, said: RespondChat) -> Sent:
    """Reply to a message. To an agent, this takes your turn in the open conversation."""
    answered = _answered(call, said)
    target = call.known_agent(answered.from_agent_id if answered is not None else said.target_agent_id or "")
    if not target.human:
        low, high = sorted((call.agent.id, target.id))
        conversation = call.tx.chat.open_between(call.session.project_id, low, high)
        if conversation is None:
            raise _conversation_required(target)
        return _turn(call, conversation, said.content)
    return _write(call, target, said.content, answered.related_task_id if answered is not None else None)


def _answered(call: Call, said: RespondChat) -> Message | None:
    """The message that is answered: one to the caller. None: the target is named instead. Raises Refusal."""
    if said.message_id is None:
        if said.target_agent_id is None:
            raise Refusal(
                Code.VALIDATION_ERROR,
                "Neither message_id nor target_agent_id was given.",
                "Pass message_id (from get_pending_messages) or target_agent_id.",
            )
        return None
    message = call.tx.chat.message(said.message_id)
    if message is None or message.project_id != call.session.project_id or message.to_agent_id != call.agent.id:
        raise message_not_found(said.message_id)
    if said.target_agent_id not in (None, message.from_agent_id):
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"Message {message.id} is from {message.from_agent_id}, not from {said.target_agent_id}.",
            "Omit target_agent_id: the answer goes to the sender of the message.",
            message_id=message.id,
        )
    return message


def message_not_found(message_id: str) -> Refusal:
    return Refusal(
        Code.MESSAGE_NOT_FOUND,
        f"There is no message {message_id} to you.",
        "Call get_pending_messages for the ids of your messages.",
        message_id=message_id,
    )


def _conversation_required(target: Agent) -> Refusal:
    return Refusal(
        Code.CONVERSATION_REQUIRED,
        f"{target.id} is an agent. Agents answer each other only in conversations, and you have no open one with it. "
        "Nothing was sent.",
        f'Call start_conversation(target_agent_id="{target.id}", initial_message="...").',
        target_agent_id=target.id,
    )


def _write(call: Call, target: Agent, content: str, related_task_id: str | None) -> Sent:
    """Sends a message outside a conversation. A recipient may always reply."""
    project = call.project(call.session.project_id)
    wrote_before = call.tx.chat.nth_last(project.id, target.id, call.agent.id, 1) is not None
    if not wrote_before:
        partners.refuse_partner(call, project, call.agent, target)
    message = messages.store(call, project.id, call.agent.id, target, content, related_task_id=related_task_id)
    return {
        "success": True,
        "message_id": message.id,
        "to_agent_id": target.id,
        "conversation_id": None,
        "instruction": words("get_next_action", call.language),
    }


class SendMessage(Parameters):
    target_agent_id: Id = Field(description="A person or an agent.", json_schema_extra=PLAIN)
    content: Content = Field(description="The text.", json_schema_extra=PLAIN)
    related_task_id: Id | None = Field(None, description="A related task.", json_schema_extra=PLAIN)


@operation("send_message", shown_to=Audience.CHAT, grant=Grant.CHAT_SESSION, parameters=SendMessage)
def send_message(call: Call, said: SendMessage) -> Sent:
    """Send a one-way message. To talk with an agent: start_conversation."""
    target = call.known_agent(said.target_agent_id)
    if said.related_task_id is not None:
        call.task(said.related_task_id)
    if not target.human:
        partners.refuse_partner(call, call.project(call.session.project_id), call.agent, target)
        talk_limits.refuse_notices(call, call.session.project_id, call.agent.id, target.id)
    return _write(call, target, said.content, said.related_task_id)


# --- conversations ---------------------------------------------------------------------------------------------------


class StartConversation(Parameters):
    target_agent_id: Id = Field(description="An agent.", json_schema_extra=PLAIN)
    initial_message: Content = Field(description="Your first turn.", json_schema_extra=PLAIN)
    purpose: Lines = Field(
        "", max_length=1_000, description="What the conversation should achieve.", json_schema_extra=PLAIN
    )
    max_turns: int = Field(
        USUAL_TURNS,
        ge=FEWEST_TURNS,
        le=MOST_TURNS,
        description="Messages of both sides in all.",
        json_schema_extra=PLAIN,
    )
    delegation_id: Id | None = Field(None, description="The delegation that it is for.", json_schema_extra=PLAIN)


class Started(Said):
    conversation_id: str
    state: str
    created: bool
    turns: NotRequired[int]
    max_turns: NotRequired[int]


@operation("start_conversation", shown_to=Audience.CHAT, grant=Grant.CHAT_SESSION, parameters=StartConversation)
def start_conversation(call: Call, wanted: StartConversation) -> Started:
    """Start a conversation with an agent, turn by turn."""
    project = call.project(call.session.project_id)
    partner = call.known_agent(wanted.target_agent_id)
    partners.refuse_partner(call, project, call.agent, partner)
    if partner.human:
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"{partner.id} is a person. Write to people with messages, not conversations.",
            f'Call send_message(target_agent_id="{partner.id}", content="...").',
            target_agent_id=partner.id,
        )
    delegation = _in_hand(call, wanted.delegation_id) if wanted.delegation_id is not None else None
    if delegation is not None and delegation.target_agent_id != partner.id:
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"Delegation {delegation.id} is about {delegation.target_agent_id}, not about {partner.id}.",
            f"Start the conversation with {delegation.target_agent_id}, or omit delegation_id.",
            delegation_id=delegation.id,
        )
    conversation, created = messaging_conversations.start(
        call, project, partner, wanted.purpose or wanted.initial_message[:200], wanted.initial_message,
        wanted.max_turns, delegation,
    )  # fmt: skip
    told = words("chat.then", call.language)
    if not created:
        told = f"A conversation with {partner.id} is already open, so your first message was not sent. {told}"
    return {
        "success": True,
        "conversation_id": conversation.id,
        "state": conversation.state.value,
        "created": created,
        "turns": conversation.turns,
        "max_turns": conversation.max_turns,
        "instruction": told,
    }


class Turn(Parameters):
    conversation_id: Id = Field(description="The conversation, from get_pending_messages.", json_schema_extra=PLAIN)
    content: Content = Field(description="The text.", json_schema_extra=PLAIN)


def send_conversation_message(call: Call, said: Turn) -> Sent:
    """Take your turn in a conversation from get_pending_messages."""
    conversation = call.tx.chat.conversation(said.conversation_id)
    if conversation is None or conversation.project_id != call.session.project_id:
        raise not_found(said.conversation_id)
    return _turn(call, conversation, said.content)


for _name, _audience in (
    ("send_conversation_message", Audience.NONE),
    ("respond_conversation_message", Audience.CHAT),
):
    operation(_name, shown_to=_audience, grant=Grant.CHAT_SESSION, parameters=Turn)(send_conversation_message)


def _turn(call: Call, conversation: Conversation, content: str) -> Sent:
    after = messaging_conversations.take_turn(call, conversation, content)
    return {
        "success": True,
        "conversation_id": after.id,
        "to_agent_id": after.other(call.agent.id),
        "turns": after.turns,
        "max_turns": after.max_turns,
        "your_turn_next": False,
        "state": after.state.value,
        "instruction": words("chat.then", call.language),
    }


class EndConversation(Parameters):
    conversation_id: Id = Field(description="The conversation.", json_schema_extra=PLAIN)
    final_message: Content | None = Field(None, description="A closing message.", json_schema_extra=PLAIN)
    summary: Lines | None = Field(None, max_length=LONGEST_MESSAGE, description="The result.", json_schema_extra=PLAIN)


class Ended(Said):
    conversation_id: str
    state: str


@operation("end_conversation", shown_to=Audience.CHAT, grant=Grant.CHAT_SESSION, parameters=EndConversation)
def end_conversation(call: Call, wanted: EndConversation) -> Ended:
    """End a conversation at any time. The other side is notified."""
    conversation = call.tx.chat.conversation(wanted.conversation_id)
    own = conversation is not None and conversation.project_id == call.session.project_id
    if conversation is None or not own or not conversation.takes_part(call.agent.id):
        raise not_found(wanted.conversation_id)
    over = ended(conversation, call.agent.id, "ended_by_participant", call.now)  # refuses before anything is said
    if wanted.final_message is not None:
        partner = call.known_agent(over.other(call.agent.id))
        messages.store(
            call,
            over.project_id,
            call.agent.id,
            partner,
            wanted.final_message,
            conversation_id=over.id,
            related_task_id=over.task_id,
        )
    after = messaging_conversations.end(call, conversation, call.agent.id, "ended_by_participant", wanted.summary)
    return {
        "success": True,
        "conversation_id": after.id,
        "state": after.state.value,
        "instruction": words("chat.then", call.language),
    }


# --- delegations -----------------------------------------------------------------------------------------------------


def _in_hand(call: Call, delegation_id: str) -> Delegation:
    """A delegation that this session has fetched. Raises Refusal."""
    delegation = _own(call, delegation_id)
    if delegation.session_id != call.session.id:
        raise Refusal(
            Code.NOT_NOW,
            f"This session is not working on delegation {delegation.id} ({delegation.status.value}).",
            "If it is still open, call get_pending_messages first.",
            delegation_id=delegation.id,
            status=delegation.status.value,
        )
    return delegation


def _own(call: Call, delegation_id: str) -> Delegation:
    delegation = call.tx.chat.delegation(delegation_id)
    foreign = delegation is not None and (delegation.project_id, delegation.agent_id) != (
        call.session.project_id,
        call.agent.id,
    )
    if delegation is None or foreign:
        raise Refusal(
            Code.DELEGATION_NOT_FOUND,
            f"You have no delegation {delegation_id}.",
            "Call get_pending_messages: it returns your delegations.",
            delegation_id=delegation_id,
        )
    return delegation


class ReportDelegation(Parameters):
    delegation_id: Id = Field(description="The delegation.", json_schema_extra=PLAIN)
    result: Any = Field(description="Text or JSON, for your task session.")
    success: bool = Field(True, description="Whether it succeeded.", json_schema_extra=PLAIN)


class DelegationReported(Said):
    delegation_id: str
    status: str


@operation(
    "report_delegation_completed",
    shown_to=Audience.CHAT,
    grant=Grant.CHAT_SESSION,
    parameters=ReportDelegation,
    form=Form(required=("delegation_id", "result", "success")),  # a failure that is not called one counts as done
)
def report_delegation_completed(call: Call, report: ReportDelegation) -> DelegationReported:
    """Report the result of a delegation from get_pending_messages."""
    if report.result in (None, "", {}, []):
        raise Refusal(Code.VALIDATION_ERROR, "The result is empty.", "Pass the outcome in `result`.")
    delegation = _own(call, report.delegation_id)
    wanted = DelegationStatus.COMPLETED if report.success else DelegationStatus.FAILED
    if not (delegation.status is wanted and delegation.result == report.result):  # the same report again is fine
        delegation = delegations.finish(
            call, _in_hand(call, report.delegation_id), report.result, success=report.success
        )
    return {
        "success": True,
        "delegation_id": delegation.id,
        "status": delegation.status.value,
        "instruction": words("chat.then", call.language),
    }


# --- to the agent's own task session ---------------------------------------------------------------------------------


class NotifyTaskSession(Parameters):
    message: Content = Field(description="The message.", json_schema_extra=PLAIN)
    task_id: Id | None = Field(None, description="Only for the session on this task.")


class Notified(Said):
    notification_id: str
    delivered_to: str


@operation(
    "notify_task_session",
    shown_to=Audience.CHAT,
    grant=Grant.CHAT_SESSION,
    parameters=NotifyTaskSession,
)
def notify_task_session(call: Call, wanted: NotifyTaskSession) -> Notified:
    """Leave a message for your task session; get_notifications returns it."""
    session = call.session
    task = call.task(wanted.task_id) if wanted.task_id is not None else None
    if task is not None and (task.assignee_id != call.agent.id or task.closed):
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"Task {task.id} is not an open task of yours.",
            "Omit task_id, or use a task that is assigned to you.",
            task_id=task.id,
        )
    live = call.tx.sessions.live_of(session.project_id, session.agent_id).get(Purpose.TASK)
    address = address_of_task(task.id) if task is not None else address_of_agent(session.project_id, session.agent_id)
    reached = live is not None and (task is None or live.task_id == task.id)
    if live is not None and reached:
        address = live.id
    if call.tx.handovers.count_waiting(address) >= _LEFT_AT_ONCE:
        raise Refusal(
            Code.RATE_LIMITED,
            f"{_LEFT_AT_ONCE} notifications are already waiting, so this one was not stored.",
            "Try again after your task session has read them.",
        )
    notification = Notification(
        id=call.new_id(ids.NOTIFICATION),
        project_id=session.project_id,
        agent_id=session.agent_id,
        purpose=Purpose.TASK,
        session_id=address,
        task_id=task.id if task is not None else None,
        kind="message",
        message=words("told_by_chat", call.language, said=wanted.message),
        cause=None,
        created_at=call.now,
    )
    call.tx.handovers.notify(notification)
    call.event("notification.left", task=task, agent_id=call.agent.id, data={"notification_id": notification.id})
    to = "the running task session" if reached else "the next task session"
    told = words("get_next_action", call.language)
    return {"success": True, "notification_id": notification.id, "delivered_to": to, "instruction": told}

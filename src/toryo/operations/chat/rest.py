"""Chat for people: panels, threads, and reading the conversations of agents below. REST and CLI.

A thread contains the messages of its two members only; threads of agents below are read-only.
"""

from __future__ import annotations

from functools import partial

from pydantic import Field

from toryo.domain import ids
from toryo.domain.agents import Agent, superiors
from toryo.domain.conversations import MOST_TURNS, Conversation
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Purpose
from toryo.domain.messages import LONGEST_MESSAGE, Message, Thread, thread_of
from toryo.domain.panels import Viewer
from toryo.domain.times import iso, iso_or_none
from toryo.domain.wording import say
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls import fault_isolation, schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Login
from toryo.operations.calls.catalogue import Later, Parameters, Route, operation
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cursor_of, cut, key_of, paged
from toryo.operations.calls.results import Result
from toryo.operations.calls.wire import wire
from toryo.operations.chat import on_behalf
from toryo.operations.launches import launch_decisions, placement, reason_texts
from toryo.operations.messaging import conversations as messaging_conversations
from toryo.operations.messaging import mailboxes, messages, partners
from toryo.workflow import chat_rules
from toryo.workflow.launch_rules import Action

_CHATS = "/projects/{project_id}/chats"
MOST_ABOUT = 500
"""Messages about a task of one page, where nobody says how many."""


class InProject(Parameters):
    project_id: Id = Field(description="The project.")
    as_person: Id | None = Field(None, description="Who talks, if not you; owners only.")


class WithAgent(InProject):
    agent_id: Id = Field(description="The other side.")


# --- the panel -------------------------------------------------------------------------------------------------------


class OpenChat(WithAgent):
    viewer_id: Id | None = Field(None, description="Of the panel that is open already: this keeps it open.")
    seen: int | None = Field(None, ge=0, description="The newest message it has shown, by sequence.")


class Opened(Result):
    viewer_id: str
    heartbeat_seconds: int
    status: schemas.ChatStatus


@operation(
    "open_chat",
    grant=Grant.WRITER,
    parameters=OpenChat,
    route=Route("POST", f"{_CHATS}/{{agent_id}}/open"),
    tool=False,
)
def open_chat(call: Call, wanted: OpenChat) -> Opened:
    """Open an agent's chat, so that it comes to talk; called again with its viewer_id, keep it open."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    me, agent = on_behalf.person(call, wanted.as_person), call.known_agent(wanted.agent_id)
    partners.refuse_partner(call, project, me, agent)
    viewer = _kept_open(call, wanted, me) or _opened(call, project.id, agent, me)
    if wanted.seen is not None:
        call.tx.threads.see(project.id, me.id, agent.id, wanted.seen)
    lease = call.context.talk.viewer_lease // 1000
    return {
        "success": True,
        "viewer_id": viewer.id,
        "heartbeat_seconds": max(1, lease // 3),
        "status": _status(call, project.id, agent),
    }


def _kept_open(call: Call, wanted: OpenChat, me: Agent) -> Viewer | None:
    """The panel if it is still open, else None."""
    viewer = call.tx.chat.viewer(wanted.viewer_id) if wanted.viewer_id is not None else None
    here = (wanted.project_id, wanted.agent_id, me.id)
    if viewer is None or viewer.closed_at is not None or (viewer.project_id, viewer.agent_id, viewer.person_id) != here:
        return None
    if viewer.seen_at <= call.now - call.context.talk.viewer_lease:
        return None
    after = replace(viewer, seen_at=call.now)
    call.tx.chat.save_viewer(viewer, after)
    return after


def _opened(call: Call, project_id: str, agent: Agent, me: Agent) -> Viewer:
    box = call.tx.chat.mailbox(project_id, agent.id)
    # Later than the last session's end, even if that was committed after this call came in.
    opened_at = max(call.now, box.left_at + 1)
    viewer = Viewer(call.new_id(ids.VIEWER), project_id, agent.id, me.id, opened_at, call.now)
    call.tx.chat.add_viewer(viewer)
    if not agent.human:
        call.tx.chat.save_mailbox(replace(box, active_at=call.now, version=box.version + 1))
    call.event("chat.opened", project_id=project_id, agent_id=agent.id, data={"viewer_id": viewer.id, "person": me.id})
    mailboxes.wake(call, project_id, agent.id)
    return viewer


class CloseChat(WithAgent):
    viewer_id: Id | None = Field(None, description="Which panel; without it all of yours on this agent.")


class Closed(Result):
    closed: int


@operation(
    "close_chat",
    grant=Grant.WRITER,
    parameters=CloseChat,
    route=Route("POST", f"{_CHATS}/{{agent_id}}/close"),
    tool=False,
)
def close_chat(call: Call, wanted: CloseChat) -> Closed:
    """Close the panel. The agent leaves when nobody else needs its chat."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    me, agent = on_behalf.person(call, wanted.as_person), call.known_agent(wanted.agent_id)
    open_ = [
        viewer
        for viewer in call.tx.chat.viewers(project.id, agent.id, 0)
        if viewer.person_id == me.id and wanted.viewer_id in (None, viewer.id)
    ]
    for each in open_:
        call.tx.chat.save_viewer(each, replace(each, closed_at=call.now))
    if open_:
        call.event("chat.closed", project_id=project.id, agent_id=agent.id, data={"person": me.id})
        mailboxes.touch(call, project.id, agent.id)
        mailboxes.wake(call, project.id, agent.id)
    return {"success": True, "closed": len(open_)}


def _status(call: Call, project_id: str, agent: Agent) -> schemas.ChatStatus:
    """`connected`, `connecting`, `terminating`, `cooling_down` or `disconnected`, and why."""
    if agent.human:
        said = say("{who} is a person.", who=agent.name)
        return {"state": "person", "explanation": said, "summary": said}
    said = reason_texts.sentence(fault_isolation.REASON)
    unknown: schemas.ChatStatus = {
        "state": "disconnected",
        "reason": fault_isolation.REASON,
        "explanation": said,
        "summary": said,
        "until": None,
    }
    look = partial(_status_of_program, call, project_id, agent)
    return fault_isolation.fenced(call, "chat_status", look, unknown, agent_id=agent.id, project_id=project_id)


def _status_of_program(call: Call, project_id: str, agent: Agent) -> schemas.ChatStatus:
    snapshot, decision = launch_decisions.decide(call, agent.id, project_id, Purpose.CHAT, changes=False)
    decision, obstacle = placement.place(call.tx.coordinators.all(), snapshot, decision, Purpose.CHAT)
    if Purpose.CHAT in snapshot.sessions:
        leaving = chat_rules.nobody_needs_it(snapshot) and not snapshot.talk.wanted
        state: schemas.ChatState = "terminating" if leaving or decision.action is Action.STOP else "connected"
    elif Purpose.CHAT in snapshot.launches or (decision.action is Action.START and obstacle is None):
        state = "connecting"
    else:
        state = "cooling_down" if decision.reason == "cooling_down" else "disconnected"
    explained = partial(
        reason_texts.explanation,
        decision,
        agent.id,
        obstacle,
        project_id,
        archived=decision.reason == "project_paused",
    )
    return {
        "state": state,
        "reason": decision.reason,
        "explanation": explained(),
        "summary": explained(commands=False),
        "until": iso_or_none(decision.until),
    }


# --- writing and reading ---------------------------------------------------------------------------------------------


class SendChat(WithAgent):
    content: Lines = Field(min_length=1, max_length=LONGEST_MESSAGE, pattern=r"\S", description="The text.")
    related_task_id: Id | None = Field(None, description="A related task.")


class ChatSent(Result):
    message: schemas.Message
    status: schemas.ChatStatus


@operation(
    "send_chat_message",
    grant=Grant.WRITER,
    parameters=SendChat,
    route=Route("POST", f"{_CHATS}/{{agent_id}}/messages", 201),
    tool=False,
)
def send_chat_message(call: Call, said: SendChat) -> ChatSent:
    """Write to an agent (or a person) of a project. It is started to read it."""
    call.enter(said.project_id)
    project = call.project(said.project_id)
    me, agent = on_behalf.person(call, said.as_person), call.known_agent(said.agent_id)
    partners.refuse_partner(call, project, me, agent)
    if said.related_task_id is not None and call.task(said.related_task_id).project_id != project.id:
        raise Refusal(
            Code.TASK_NOT_FOUND,
            say(
                "There is no task {task_id} in project {project_id}.",
                task_id=said.related_task_id,
                project_id=project.id,
            ),
            "Pass a task of this project.",
            task_id=said.related_task_id,
        )
    message = messages.store(call, project.id, me.id, agent, said.content, related_task_id=said.related_task_id)
    return {
        "success": True,
        "message": messages.as_answer(call, message),
        "status": _status(call, project.id, agent),
    }


class ReadChat(WithAgent):
    with_agent_id: Id | None = Field(None, description="The other side, if it is not you: for those above the agent.")
    after: int | None = Field(None, ge=0, description="Only messages after this sequence number.")
    before: int | None = Field(None, ge=1, description="Only messages before this one.")
    limit: int = Field(50, ge=1, le=200, description="The limit; without `after`, of the newest messages.")
    state: str | None = Field(None, max_length=40, description="With wait_seconds: also return when this has changed.")
    wait_seconds: int = Field(
        0, ge=0, le=LONGEST_WAIT_SECONDS, description="With `after`: how long to wait for a message."
    )


class ChatRead(Result):
    messages: list[schemas.Message]
    last: int
    unread: int
    observing: bool
    status: schemas.ChatStatus
    conversation: schemas.Conversation | None


@operation(
    "read_chat",
    grant=Grant.PERSON,
    parameters=ReadChat,
    route=Route("GET", f"{_CHATS}/{{agent_id}}/messages"),
    tool=False,
    reads=True,
    waits=True,
)
def read_chat(call: Call, wanted: ReadChat) -> ChatRead | Later:
    """What you and an agent have said to each other; or, of agents below you, what they say to others."""
    project = call.project(wanted.project_id)
    me, agent = on_behalf.person(call, wanted.as_person), call.known_agent(wanted.agent_id)
    other = call.known_agent(wanted.with_agent_id) if wanted.with_agent_id not in (None, me.id) else me
    observing = me.id not in (other.id, agent.id)
    if observing:
        _refuse_observer(call, me, agent, other)
    said = _messages(call, wanted, project.id, thread_of(agent.id, other.id))
    status = _status(call, project.id, agent)
    unchanged = wanted.state in (None, status["state"])
    if wanted.after is not None and wanted.wait_seconds and not said and unchanged and call.may_wait:
        comes_and_goes = f"project:{project.id}"
        return Later(frozenset({comes_and_goes, *(mailboxes.topic(project.id, each) for each in (agent.id, other.id))}))
    thread = call.tx.threads.find(project.id, agent.id, other.id)
    low, high = sorted((agent.id, other.id))
    conversation = call.tx.chat.open_between(project.id, low, high)
    return {
        "success": True,
        "messages": [messages.as_answer(call, message) for message in said],
        "last": said[-1].sequence if said else wanted.after or 0,
        "unread": call.tx.threads.unread(thread, me.id) if thread is not None and not observing else 0,
        "observing": observing,
        "status": status,
        "conversation": _conversation(conversation) if conversation is not None else None,
    }


def _messages(call: Call, wanted: ReadChat, project_id: str, thread: str) -> list[Message]:
    if wanted.after is not None:
        return call.tx.chat.after(project_id, thread, wanted.after, wanted.limit)
    return call.tx.chat.before(project_id, thread, wanted.before, wanted.limit)


def _refuse_observer(call: Call, me: Agent, agent: Agent, other: Agent) -> None:
    """Threads of others: of agents below, and for owners what agents say among themselves."""
    above = {each.id: each.reports_to for each in call.tx.agents.with_superiors((agent.id, other.id))}
    below = any(me.id in superiors(each.id, above) for each in (agent, other) if not each.human)
    among_agents = not (agent.human or other.human)
    if below or (among_agents and call.caller.login is Login.OWNER):
        return
    raise Refusal(
        Code.PERMISSION_DENIED,
        say(
            "You are neither part of the thread between {agent_id} and {other_id} nor above either of them.",
            agent_id=agent.id,
            other_id=other.id,
        ),
        "Omit with_agent_id to read your own thread.",
    )


class ListChats(InProject, Paged):
    of_agent_id: Id | None = Field(None, description="The threads of an agent below you, instead of your own.")


class Chats(Page):
    chats: list[schemas.Chat]


@operation(
    "list_chats",
    grant=Grant.PERSON,
    parameters=ListChats,
    route=Route("GET", _CHATS),
    tool=False,
    reads=True,
)
def list_chats(call: Call, wanted: ListChats) -> Chats:
    """Your threads in a project, the newest first, with what you have not seen."""
    project = call.project(wanted.project_id)
    me = on_behalf.person(call, wanted.as_person)
    whose = call.known_agent(wanted.of_agent_id) if wanted.of_agent_id not in (None, me.id) else me
    found = []
    for each in call.tx.threads.listed(project.id, whose.id):
        other = call.tx.agents.find(each.other(whose.id))
        if other is None or not _may_list(call, me, whose, other):
            continue
        found.append(_thread(call, each, whose, other, observing=me.id not in (whose.id, other.id)))
    shown, more = cut(found, wanted, lambda each: f"{each['agent_id']} {each['with_agent_id']}")
    answer: Chats = {"success": True, "chats": shown}
    return paged(answer, more)


def _may_list(call: Call, me: Agent, whose: Agent, other: Agent) -> bool:
    if me.id in (whose.id, other.id):
        return True
    try:
        _refuse_observer(call, me, whose, other)
    except Refusal:
        return False
    return True


def _thread(call: Call, thread: Thread, whose: Agent, other: Agent, *, observing: bool) -> schemas.Chat:
    newest = call.tx.chat.before(thread.project_id, thread.thread, thread.newest + 1, 1)
    return {
        "agent_id": other.id,
        "name": other.name,
        "kind": other.kind.value,
        "with_agent_id": whose.id,
        "observing": observing,
        "unread": 0 if observing or not whose.human else call.tx.threads.unread(thread, whose.id),
        "newest": messages.as_answer(call, newest[0]) if newest else None,
        "newest_at": iso(thread.newest_at),
        "status": _status(call, thread.project_id, other),
    }


# --- about a task ----------------------------------------------------------------------------------------------------


class ListTaskMessages(Paged):
    task_id: Id = Field(description="The task.")


class TaskMessages(Page):
    messages: list[schemas.Message]


@operation(
    "list_task_messages",
    grant=Grant.PERSON,
    parameters=ListTaskMessages,
    route=Route("GET", "/tasks/{task_id}/messages"),
    tool=False,
    reads=True,
)
def list_task_messages(call: Call, wanted: ListTaskMessages) -> TaskMessages:
    """What was said about a task, the oldest first: by you, to you, and by those whose threads you may read. A page may
    hold fewer than its limit."""
    task = call.task(wanted.task_id)
    limit, after = wanted.limit or MOST_ABOUT, key_of(wanted.cursor, int)
    found = call.tx.chat.about(task.id, after[0] if after is not None else 0, limit + 1)
    more = cursor_of(found[limit - 1].sequence) if len(found) > limit else None
    may: dict[str, bool] = {}
    for each in found:
        if each.thread not in may:
            one, other = (call.tx.agents.find(part) for part in each.thread.split("|"))
            may[each.thread] = one is not None and other is not None and _may_list(call, call.agent, one, other)
    answer: TaskMessages = {
        "success": True,
        "messages": [messages.as_answer(call, each) for each in found[:limit] if may[each.thread]],
    }
    return paged(answer, more)


# --- conversations of agents -----------------------------------------------------------------------------------------


class ListConversations(InProject, Paged):
    pass


class Conversations(Page):
    conversations: list[schemas.Conversation]


@operation(
    "list_conversations",
    grant=Grant.PERSON,
    parameters=ListConversations,
    route=Route("GET", "/projects/{project_id}/conversations"),
    tool=False,
    reads=True,
)
def list_conversations(call: Call, wanted: ListConversations) -> Conversations:
    """The conversations of a project's agents, the newest first: who, about what, whose turn, how it ended."""
    project = call.project(wanted.project_id)
    found, more = cut(call.tx.chat.conversations(project.id), wanted, lambda each: each.id)
    answer: Conversations = {"success": True, "conversations": [_conversation(each) for each in found]}
    return paged(answer, more)


class OneConversation(Parameters):
    conversation_id: Id = Field(description="The conversation.")


class ConversationShown(Result):
    conversation: schemas.Conversation
    messages: list[schemas.Message]


@operation(
    "show_conversation",
    grant=Grant.PERSON,
    parameters=OneConversation,
    route=Route("GET", "/conversations/{conversation_id}"),
    tool=False,
    reads=True,
)
def show_conversation(call: Call, wanted: OneConversation) -> ConversationShown:
    """A conversation of agents below you, with everything that was said."""
    conversation = _seen(call, wanted.conversation_id)
    sides = [call.known_agent(each) for each in (conversation.initiator_id, conversation.partner_id)]
    _refuse_observer(call, call.agent, *sides)
    said = call.tx.chat.of_conversation(conversation.id, MOST_TURNS + 1)
    return {
        "success": True,
        "conversation": _conversation(conversation),
        "messages": [messages.as_answer(call, message) for message in said],
    }


@operation(
    "stop_conversation",
    grant=Grant.WRITER,
    parameters=OneConversation,
    route=Route("POST", "/conversations/{conversation_id}/end"),
    tool=False,
)
def stop_conversation(call: Call, wanted: OneConversation) -> ConversationShown:
    """End a conversation of agents below you. Both sides are told."""
    call.enter(_seen(call, wanted.conversation_id).project_id)
    conversation = _seen(call, wanted.conversation_id)
    sides = [call.known_agent(each) for each in (conversation.initiator_id, conversation.partner_id)]
    _refuse_observer(call, call.agent, *sides)
    after = messaging_conversations.end(call, conversation, call.actor.id, "ended_by_person")
    return {"success": True, "conversation": _conversation(after), "messages": []}


def _seen(call: Call, conversation_id: str) -> Conversation:
    conversation = call.tx.chat.conversation(conversation_id)
    if conversation is None or not visibility.sees(call, conversation.project_id):
        raise Refusal(
            Code.CONVERSATION_NOT_FOUND,
            say("There is no conversation {conversation_id}.", conversation_id=conversation_id),
            "List the conversations of the project for their ids.",
            conversation_id=conversation_id,
        )
    return conversation


_conversation = wire(
    Conversation,
    schemas.Conversation,
    conversation_id="id",
    turn_of=lambda each: each.turn_of if each.open else None,
)

"""`toryo chats` and `toryo conversations`: read messages, your own and those of agents below you."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

from toryo.cli import message_format, output
from toryo.cli.chat import Person, only_project
from toryo.cli.command_context import Here, argument, command, option, taking
from toryo.cli.from_operations import Passing

chats = typer.Typer(
    help="List your threads, and those of agents below you.", invoke_without_command=True, rich_markup_mode=None
)
conversations = typer.Typer(
    help="List what agents say to each other.", invoke_without_command=True, rich_markup_mode=None
)

Id = Annotated[str, argument("CONVERSATION", "The conversation's id.")]
Project = Annotated[str | None, option("PRJ", "Limit to this project.")]


def add(app: typer.Typer) -> None:
    chats.callback()(taking(list_chats))
    command(chats, "show")(show_chat)
    app.add_typer(chats, name="chats")
    conversations.callback()(taking(list_conversations))
    app.add_typer(conversations, name="conversations")


def list_chats(
    here: Here,
    project: Project = None,
    of: Annotated[str | None, option("AGENT", "Show those of this agent below you, instead of your own.")] = None,
    person: Person = None,
) -> None:
    """Your threads, with what you have not seen in them."""
    if here.followed_by is not None:
        return
    found = [
        {"project_id": each, **chat}
        for each in _projects(here, project)
        for chat in here.get(f"/projects/{each}/chats", of_agent_id=of, as_person=person)["chats"]
    ]
    columns = ("WITH", "PROJECT", "NEW", "STATE", "LATEST AT", "NEWEST")
    empty = "No messages yet. Write one: toryo chat AGENT"
    here.answer(
        {"success": True, "chats": found}, lambda: output.table(columns, [_chat(each) for each in found], empty=empty)
    )


def show_chat(
    here: Here,
    agent: Annotated[str, argument("AGENT", "The agent or person on the other side of the thread.")],
    other: Annotated[
        str | None, option("OTHER", "The other side, if not you; AGENT must be below you.", "--with")
    ] = None,
    project: Annotated[
        str | None, option("PRJ", "The project of the thread; optional if AGENT belongs to only one.")
    ] = None,
    limit: Annotated[int, option("N", "Show only the newest N.", min=1, max=200)] = 50,
    person: Person = None,
) -> None:
    """Show the messages of a chat. Starts no agent and marks nothing as read."""
    path = f"/projects/{only_project(here, agent, project)}/chats/{agent}/messages"
    answer = here.get(path, with_agent_id=other, limit=limit, as_person=person)
    here.answer(answer, lambda: _print_said(answer["messages"]))


def list_conversations(here: Here, project: Project = None) -> None:
    """The conversations of agents, the newest first of each project: who, about what, whose turn, how it ended."""
    if here.followed_by is not None:
        return
    found = [
        conversation
        for each in _projects(here, project)
        for conversation in here.get(f"/projects/{each}/conversations")["conversations"]
    ]
    columns = ("ID", "PROJECT", "WHO", "STATE", "TURNS", "SINCE", "ABOUT")
    empty = "No conversations between agents."
    here.answer(
        {"success": True, "conversations": found},
        lambda: output.table(columns, [_conversation(each) for each in found], empty=empty),
    )


_one = Passing(conversations, "/conversations/{conversation_id}", conversation_id=Id)


@_one.prints("show", "GET")
def _print_conversation(answer: Mapping[str, Any]) -> None:
    """Show a conversation with all its messages."""
    output.fields({key.removesuffix("_id"): each for key, each in answer["conversation"].items()})
    if answer["messages"]:
        output.done("")
        _print_said(answer["messages"])


_END = "End a conversation between agents below you. Both are notified."
_one.says("end", "POST /end", _END, "ended {conversation_id}")


def _projects(here: Here, named: str | None) -> Iterable[str]:
    return [named] if named is not None else [project["project_id"] for project in here.get("/projects")["projects"]]


def _chat(each: dict[str, Any]) -> tuple[Any, ...]:
    newest = each["newest"]
    said = f"{newest['from_name']}: {newest['content']}" if newest else ""
    where = each["agent_id"], each["project_id"], each["unread"] or None, each["status"]["state"]
    return (*where, output.clock(each["newest_at"]), " ".join(said.split()))


def _conversation(each: dict[str, Any]) -> tuple[Any, ...]:
    turns = f"{each['turns']}/{each['max_turns']}" + (f" ({each['turn_of']}'s)" if each["turn_of"] else "")
    who = f"{each['initiator_id']} → {each['partner_id']}"
    about = each["purpose"] or ""
    since = output.clock(each["created_at"])
    return each["conversation_id"], each["project_id"], who, each["state"], turns, since, " ".join(about.split())


def _print_said(said: list[dict[str, Any]]) -> None:
    for each in said:
        output.done(*message_format.message_lines(each))
    if not said:
        output.say("The conversation has no messages.")

"""`toryo chats`, `conversations`, `task steer`, `needs`: what is said among agents, and what waits for a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.conftest import Process, Toryo
from tests.environments import clean_environment
from toryo.client import Client

ASKS = """
script:
  answers:
    - when: play with (?P<partner>\\S+)
      answer: Gladly.
      start: {target_agent_id: "{{partner}}", about: a game}
  conversations:
    - {about: a game, rounds: 2, opening: ringo, replies: {ringo: gorira}, otherwise: rappa}
"""


@pytest.fixture(scope="module")
def crew(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toryo]:
    """A server, a Coordinator, ann and ben who play, and cas whom nobody starts."""
    home = tmp_path_factory.mktemp("yard")
    environment = {**clean_environment(home), "TORYO_DATA_DIR": str(home / "data")}
    up = Process("up", "--port", "0", environment=environment, cwd=home)
    try:
        up.until("Toryo is up at http://")
        toryo = Toryo(home, environment)
        (home / "asks.yaml").write_text(ASKS)
        (home / "yard").mkdir()
        toryo.json("project", "add", "yard", "--id", "yard", "--dir", str(home / "yard"))
        member = ("--role", "worker", "--project", "yard")
        for name in ("ann", "ben"):
            toryo.json("agent", "add", name, *member, "--provider", "script", "--options", f"@{home}/asks.yaml")
        toryo.json("agent", "add", "cas", *member)
        yield toryo
    finally:
        up.end()


@pytest.fixture(scope="module")
def played(crew: Toryo) -> dict[str, Any]:
    """A conversation of ann and ben that is over."""
    events = _events(crew)
    try:
        crew.json("chat", "ann", "--send", "play with ben", "--wait", "30")
        events.until('"conversation.ended"')
    finally:
        events.end()
    return _with(crew, "ben")


def _events(crew: Toryo) -> Process:
    """Those from now on."""
    now = str(crew.json("events", "--after", "0")["last"])
    return Process("events", "--follow", "--json", "--after", now, environment=crew.environment, cwd=crew.home)


def _with(crew: Toryo, partner: str) -> dict[str, Any]:
    found = crew.json("conversations")["conversations"]
    return next(dict(each) for each in found if each["partner_id"] == partner)


def test_conversations_are_listed_with_who_about_what_and_how_far(crew: Toryo, played: dict[str, Any]) -> None:
    assert (played["project_id"], played["initiator_id"], played["turns"]) == ("yard", "ann", 4)
    assert played["purpose"].startswith("a game")
    line = next(each for each in crew("conversations", "--project", "yard").out.splitlines() if "ann → ben" in each)
    assert "4/4" in line
    assert played["conversation_id"] in line
    assert line.endswith(played["purpose"])


def test_a_conversation_is_shown_with_everything_that_was_said(crew: Toryo, played: dict[str, Any]) -> None:
    shown = crew.json("conversations", "show", played["conversation_id"])
    assert [message["content"] for message in shown["messages"]] == ["ringo", "gorira", "rappa", "rappa"]
    text = crew("conversations", "show", played["conversation_id"]).out
    assert "ann: ringo" in text
    assert "max_turns" in text


def test_threads_of_agents_below_are_read_and_none_is_seen_by_that(crew: Toryo, played: dict[str, Any]) -> None:
    of = {chat["agent_id"]: chat for chat in crew.json("chats", "--of", "ann")["chats"]}
    assert (of["ben"]["observing"], of["ben"]["unread"]) == (True, 0)
    said = crew.json("chats", "show", "ann", "--with", "ben")
    assert (said["observing"], len(said["messages"])) == (True, 4)
    assert "ben: gorira" in crew("chats", "show", "ann", "--with", "ben").out


def test_a_conversation_is_ended_by_the_person_above_and_cannot_be_ended_twice(crew: Toryo) -> None:
    events = _events(crew)
    try:
        crew.json("chat", "ann", "--send", "play with cas", "--wait", "30")
        events.until('"conversation.started"')
    finally:
        events.end()
    conversation = _with(crew, "cas")["conversation_id"]
    ended = crew.json("conversations", "end", conversation)["conversation"]
    assert (ended["reason"], ended["ended_by"]) == ("ended_by_person", "owner")
    again = crew("conversations", "end", conversation, "--json")
    assert (again.code, again.json["error"]) == (4, "conversationNotActive")


@pytest.mark.parametrize("words", [("show", "cnv_missing"), ("end", "cnv_missing"), ("show", "no such one")])
def test_an_unknown_conversation_is_refused_with_4(crew: Toryo, words: tuple[str, ...]) -> None:
    ended = crew("conversations", *words, "--json")
    assert (ended.code, ended.json["error"]) == (4, "conversationNotFound")


def test_options_may_stand_before_what_is_shown(crew: Toryo, played: dict[str, Any]) -> None:
    shown = ("show", played["conversation_id"])
    assert crew("conversations", "--json", *shown).json == crew("conversations", *shown, "--json").json


def test_where_nothing_was_said_that_is_said(server: Toryo, project: str, agent: str) -> None:
    assert "toryo chat AGENT" in server("chats", "--project", project).err
    assert "No conversations between agents" in server("conversations", "--project", project).err
    assert "has no messages" in server("chats", "show", agent).err


# --- steering --------------------------------------------------------------------------------------------------------


def test_a_task_is_steered_and_it_is_said_who_was_told(server: Toryo, project: str, agent: str) -> None:
    words = ("task", "add", "Build", "--project", project, "--assignee", agent, "--status", "in_progress")
    task = server.json(*words)["task_id"]
    assert server.json("task", "steer", task, "Use oak.")["delivered_to"] == "the next session of this task"
    assert server("task", "steer", task, "And brass.").out == "Saved. The next session of this task reads it first.\n"


def test_who_steers_a_command_is_not_told_that_it_was_told(server: Toryo, project: str, owner: Client) -> None:
    hand = f"hand-of-{project}"
    owner.rest("POST", "/agents", {"id": hand, "role": "worker", "provider": "command", "projects": [project]})
    task = server.json("task", "add", "Build", "--project", project, "--assignee", hand)["task_id"]
    told = server("task", "steer", task, "Use oak.")
    assert told.code == 0
    assert told.out.startswith(f"{hand} runs without a model (provider command)")
    assert "told " not in told.out


@pytest.mark.parametrize(("text", "error"), [("", "validationError"), (" ", "validationError")])
def test_nothing_is_no_word_to_steer_with(server: Toryo, project: str, text: str, error: str) -> None:
    task = server.json("task", "add", "Build", "--project", project)["task_id"]
    ended = server("task", "steer", task, text, "--json")
    assert (ended.code, ended.json["error"]) == (4, error)


def test_a_task_that_is_closed_or_unknown_is_not_steered(server: Toryo, project: str) -> None:
    task = server.json("task", "add", "Build", "--project", project)["task_id"]
    server.json("task", "cancel", task)
    for which, error in ((task, "invalidTransition"), ("tsk_missing", "taskNotFound")):
        ended = server("task", "steer", which, "Use oak.", "--json")
        assert (ended.code, ended.json["error"]) == (4, error)


# --- what needs a person ---------------------------------------------------------------------------------------------


def test_what_needs_a_person_is_listed_with_the_command_that_helps_and_goes_when_it_is_done(
    server: Toryo, project: str, agent: str
) -> None:
    assert "Nothing needs you" in server("needs", "--project", project).err
    ann = f"{project}.ann"
    server.json("agent", "add", ann, "--role", "worker", "--kind", "human", "--project", project)
    server.json("chat", "owner", "--project", project, "--as", ann, "--send", "Look at \x1b[31mthe roof.")
    (item,) = server.json("needs", "--project", project)["items"]
    assert (item["kind"], item["agent_id"]) == ("message", ann)
    lines = server("needs", "--project", project).out.splitlines()
    assert f"New message from {ann}" in lines[0]
    assert "the roof." in lines[1]
    assert "\x1b" not in lines[1]
    assert lines[2] == f"  answer: toryo chat {ann} --project {project}"


def test_the_list_of_somebody_else_is_theirs(server: Toryo, project: str, agent: str) -> None:
    ann = f"{project}.ann"
    server.json("agent", "add", ann, "--role", "worker", "--kind", "human", "--project", project)
    server.json("chat", ann, "--send", "Look at the roof.")
    assert server.json("needs", "--project", project)["items"] == []
    assert [item["kind"] for item in server.json("needs", "--as", ann)["items"]] == ["message"]
    ended = server("needs", "--as", agent, "--json")
    assert (ended.code, ended.json["error"]) == (4, "validationError")

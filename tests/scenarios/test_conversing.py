"""Agents talk with each other: a task has a conversation held (UC020), a person wants one (UC016, and UC016-B between a
manager and its worker), and a result goes from a task by way of a colleague to a person (UC012, UC013).
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenarios import chats
from tests.scenarios.chats import Chat
from tests.scenarios.conftest import Build
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]


def test_a_task_has_a_conversation_held_and_is_completed_by_its_result(site_on_each: Site) -> None:
    site = site_on_each
    site.project("games")
    chats.talker(site, "ann", "games")
    chats.talker(site, "bob", "games")
    task = site.file("games", "Play shiritori with bob, 6 rounds", assignee_id="ann")
    site.coordinator()
    assert chats.conversations(site, "games") == []
    assert site.launches() == []

    site.move(task, "in_progress")
    site.until_status(task, "completed")
    conversation = chats.until_conversation(site, "games", "ended")
    site.until_idle()

    _is_a_whole_game(site, conversation, "ann", "bob")
    assert (conversation["task_id"], conversation["max_turns"]) == (task, 12)
    history = site.history
    order = [
        history.first("task.started", task_id=task),
        history.first("delegation.created", task_id=task),
        history.first("conversation.started"),
        history.first("conversation.joined"),
        history.first("conversation.ended"),
        history.first("delegation.completed", task_id=task),
        history.first("task.completed", task_id=task),
    ]
    assert order == sorted(order)
    assert site.look(task)["summary"] == "bob: origami"
    assert chats.launches_by_purpose(site) == {("ann", "task"): 1, ("ann", "chat"): 1, ("bob", "chat"): 1}
    assert history.double_launches() == []


def test_two_agents_play_as_a_person_wants_and_the_person_is_told(site: Site) -> None:
    site.project("games")
    for name in ("ann", "bob"):
        chats.talker(site, name, "games")
    site.coordinator()
    chat = Chat(site, "games", "ann")
    chat.say("Please play shiritori with bob for 6 rounds")
    assert chat.answers(2) == ["I ask bob.", "bob said origami last."]
    conversation = chats.until_conversation(site, "games", "ended")
    site.until_idle()

    _is_a_whole_game(site, conversation, "ann", "bob")
    assert (conversation["reason"], conversation["delegation_id"]) == ("max_turns", None)
    assert Chat(site, "games", "bob").thread() == [], "the one who was asked tells"
    assert chats.launches_by_purpose(site) == {("ann", "chat"): 1, ("bob", "chat"): 1}


@pytest.mark.parametrize(("ends", "by"), [("starter", "lead"), ("invited", "worker")])
def test_a_manager_and_its_worker_talk_until_one_of_them_ends_it(site: Site, ends: str, by: str) -> None:
    site.project("games")
    script = {**chats.PLAYER, "conversations": [{**chats.GAME, "ends": ends, "final": "Thank you.", "summary": "Fun."}]}
    chats.talker(site, "lead", "games", role="manager", script=script)
    chats.talker(site, "worker", "games", reports_to="lead", script=script)
    site.coordinator()
    chat = Chat(site, "games", "lead")
    chat.say("Please play shiritori with worker for 6 rounds")
    assert chat.answers(2)[0] == "I ask worker."
    conversation = chats.until_conversation(site, "games", "ended")
    site.until_idle()

    _is_a_whole_game(site, conversation, "lead", "worker", final="Thank you.")
    assert (conversation["reason"], conversation["ended_by"]) == ("ended_by_participant", by)
    assert conversation["summary"] == "Fun."
    assert chats.launches_by_purpose(site) == {("lead", "chat"): 1, ("worker", "chat"): 1}


def test_a_conversation_ends_by_itself_at_its_limit_and_both_go_on(site: Site) -> None:
    site.project("games")
    script = {**chats.PLAYER, "conversations": [{**chats.GAME, "otherwise": "And?"}], "behave": "endless"}
    for name in ("ann", "bob"):
        chats.talker(site, name, "games", script=script)
    site.coordinator()
    ann, bob = (Chat(site, "games", name) for name in ("ann", "bob"))
    ann.say("Please play shiritori with bob for 2 rounds")
    assert ann.answers(2)[-1] == "bob said panda last."
    first = chats.until_conversation(site, "games", "ended")
    assert (first["turns"], first["max_turns"], first["reason"], first["ended_by"]) == (4, 4, "max_turns", None)

    bob.say("Please play shiritori with ann for 3 rounds")
    assert bob.answers(2)[-1] == "ann said gohan last."
    second = chats.until_conversation(site, "games", "ended", number=2)
    assert (second["turns"], second["reason"]) == (6, "max_turns")
    ann.say("your name?")
    assert ann.answers(3)[-1] == "I am ann."


def test_what_a_task_wants_a_person_to_know_arrives_word_for_word(site: Site) -> None:
    site.project("roof")
    site.hire("roofer", "roof")
    text = "The roof is tight: 100 %.\n@@ “Come & see” <b>"
    told = {"delegate": {"target_agent_id": "owner", "purpose": text}, "command": 'echo "$TORYO_DELEGATION_RESULT"'}
    task = site.file("roof", "Tell", assignee_id="roofer", context=told)
    chat = Chat(site, "roof", "roofer")
    assert chat.read()["unread"] == 0
    site.coordinator()

    site.move(task, "in_progress")
    assert chat.answers(1) == [text]
    assert chat.read()["unread"] == 1
    site.until_status(task, "completed")
    site.until_idle()
    assert site.look(task)["summary"] == "delivered to owner"
    assert len(site.history.of("delegation.completed", task_id=task)) == 1
    assert chats.launches_by_purpose(site) == {("roofer", "task"): 1, ("roofer", "chat"): 1}
    assert chat.answers(1) == [text]


def test_a_result_goes_from_a_task_by_way_of_a_colleague_to_a_person(site: Site) -> None:
    site.project("count")
    site.hire("ann", "count")
    passed_on = {"about": "", "tell": {"target_agent_id": "owner", "text": "{{from_id}} says: {{text}}"}}
    chats.talker(site, "bob", "count", script={"conversations": [{**passed_on, "replies": ["Noted."]}]})
    told = {"delegate": {"target_agent_id": "bob", "purpose": "The result is 100"}}
    task = site.file("count", "Count, and tell bob", assignee_id="ann", context=told)
    site.coordinator()
    assert chats.conversations(site, "count") == []

    site.move(task, "in_progress")
    assert Chat(site, "count", "bob").answers(1) == ["ann says: The result is 100"]
    site.until_status(task, "completed")
    site.until_idle()
    assert site.look(task)["summary"] == "bob: Noted."
    assert [start["data"]["reason"] for start in site.history.starts(agent_id="bob")] == ["has_pending_purpose"]
    assert chats.launches_by_purpose(site) == {("ann", "task"): 1, ("ann", "chat"): 1, ("bob", "chat"): 1}


def test_a_partner_that_never_comes_holds_nobody_up_and_may_be_asked_again(build: Build) -> None:
    site = build(TORYO_CHAT__INVITATION="8")  # in which the partner can come, too, on a busy machine
    site.project("games")
    chats.talker(site, "ann", "games")
    chats.talker(site, "bob", "games")
    site.people.rest("PATCH", "/agents/bob", {"provider": "ghost", "provider_options": {}, "replace_options": True})
    site.coordinator(ai_providers={"ghost": {"cli_command": "no-such-program"}})
    task = site.file("games", "Play shiritori with bob, 6 rounds", assignee_id="ann", status="in_progress")
    conversation = chats.until_conversation(site, "games", "expired")
    assert (conversation["turns"], conversation["reason"]) == (1, "nobody_came")
    site.until_status(task, "failed")
    site.until("ann has left", lambda: not site.sessions())
    assert "nobody_came" in site.look(task)["summary"]
    tried = site.launches(agent_id="bob")
    assert {each["exit_error"] for each in tried} == {"command_not_found"}
    assert len(tried) <= 6, "it is tried again after a while, and no more once nobody needs it"

    site.people.rest("PATCH", "/agents/bob", {"provider": "script", "provider_options": {"script": chats.PLAYER}})
    chat = Chat(site, "games", "ann")
    chat.say("Please play shiritori with bob for 6 rounds")
    assert chat.answers(2)[-1] == "bob said origami last."
    _is_a_whole_game(site, chats.until_conversation(site, "games", "ended", number=2), "ann", "bob")
    assert len(site.launches(agent_id="bob")) == len(tried) + 1


def _is_a_whole_game(
    site: Site, conversation: dict[str, Any], one: str, other: str, *, final: str | None = None
) -> None:
    """Six rounds, in turns, every word of them with the conversation's id in both histories."""
    assert (conversation["initiator_id"], conversation["partner_id"]) == (one, other)
    assert conversation["turns"] == 12
    said = chats.said_in(site, conversation)
    assert [each["content"] for each in said] == [*chats.WORDS, *([final] if final else [])]
    assert [each["from_agent_id"] for each in said[:12]] == [one, other] * 6
    assert {each["conversation_id"] for each in said} == {conversation["conversation_id"]}
    assert chats.history(site, conversation["project_id"], one, other)[-len(said) :] == said
    assert chats.history(site, conversation["project_id"], other, one)[-len(said) :] == said

"""Agents talk with each other: a task has a conversation held (UC020), a person wants one (UC016, and UC016-B between a
manager and its worker), and a result goes from a task by way of a colleague to a person (UC012, UC013).
"""

from __future__ import annotations

import pytest

from tests.scenarios import chats
from tests.scenarios.sites import Site

pytestmark = pytest.mark.timeout(90, method="signal")


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

    assert (conversation["initiator_id"], conversation["partner_id"]) == ("ann", "bob")
    assert (conversation["task_id"], conversation["turns"], conversation["max_turns"]) == (task, 12, 12)
    said = chats.said_in(site, conversation)
    assert [each["content"] for each in said] == chats.WORDS
    assert [each["from_agent_id"] for each in said] == ["ann", "bob"] * 6
    assert {each["conversation_id"] for each in said} == {conversation["conversation_id"]}
    for one, other in (("ann", "bob"), ("bob", "ann")):
        assert chats.history(site, "games", one, other) == said
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

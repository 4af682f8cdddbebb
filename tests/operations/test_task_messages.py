"""What was said about a task: in order, page by page, and to each only what they may read in any case."""

from __future__ import annotations

from tests.stories import Caller, World


def said(caller: Caller, task_id: str) -> list[str]:
    return [message["content"] for message in caller.call("list_task_messages", task_id=task_id)["messages"]]


def test_messages_about_a_task_are_found_with_it_and_no_others(pair: World) -> None:
    task, other = pair.task("a", status="todo"), pair.task("a", status="todo")
    pair.say("a", "How is it?", related_task_id=task)
    pair.say("a", "Good morning")
    pair.say("a", "And this one?", related_task_id=other)
    pair.say("b", "Look at it, too", related_task_id=task)
    assert said(pair.owner, task) == ["How is it?", "Look at it, too"]
    assert said(pair.owner, other) == ["And this one?"]


def test_what_an_agent_answers_is_found_with_the_task_as_well(pair: World) -> None:
    task = pair.task("a", status="todo")
    pair.say("a", "How is it?", related_task_id=task)
    chat = pair.start_chat("a")
    (asked,) = chat.fetch()["pending_messages"]
    chat.call("respond_chat", message_id=asked["message_id"], content="Nearly done")
    assert said(pair.owner, task) == ["How is it?", "Nearly done"]


def test_they_come_page_by_page(pair: World) -> None:
    task = pair.task("a", status="todo")
    told = [f"number {number}" for number in range(5)]
    for each in told:
        pair.say("a", each, related_task_id=task)
    found: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(3):
        page = pair.owner.call("list_task_messages", task_id=task, limit=2, **cursor)
        found += [message["content"] for message in page["messages"]]
        cursor = {"cursor": page.get("next_cursor", "")}
    assert found == told
    assert cursor == {"cursor": ""}
    pair.owner.refused("list_task_messages", "validationError", task_id=task, cursor="x")


def test_a_thread_of_somebody_else_stays_theirs(pair: World) -> None:
    """As in the chat itself: who takes no part and stands above nobody of it reads nothing."""
    zoe = pair.member("zoe")
    pair.owner.call("add_member", project_id=pair.project_id, agent_id="zoe")
    task = pair.task("a", status="todo")
    pair.say("a", "Between us", related_task_id=task)
    zoe.call("send_chat_message", project_id=pair.project_id, agent_id="a", content="Mine", related_task_id=task)
    assert said(zoe, task) == ["Mine"]
    assert said(pair.owner, task) == ["Between us"]


def test_of_a_task_of_another_project_nothing_is_said(pair: World) -> None:
    task = pair.task("a", status="todo")
    pair.member("zoe").refused("list_task_messages", "taskNotFound", task_id=task)

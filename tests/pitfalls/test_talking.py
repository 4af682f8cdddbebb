"""Pitfalls of chats, conversations, delegations and notices that no other file proves as the specification has them."""

from __future__ import annotations

from dataclasses import replace
from json import dumps, loads

import pytest
import sqlalchemy as sa
from pydantic import BaseModel

from tests.operations.talkers import begin, contents, converse, delegate, stop, two
from tests.pitfalls.schema_values import calls
from tests.stories import Answer, World
from toryo.domain.errors import Code
from toryo.operations.calls.catalogue import Audience, Operation, tools
from toryo.operations.calls.validation import meant_by
from toryo.storage import schema
from toryo.storage.engine.statements import Statement


@pytest.mark.pitfall("F27", "F28")
def test_f27_f28_ten_sessions_read_and_answer_nothing_and_a_hundred_polls_start_nobody(world: World) -> None:
    two(world)
    for number in range(10):
        world.say("a", f"For your information: {number}")
        process = world.start_chat("a")
        assert contents(process.fetch()) == [f"For your information: {number}"]
        assert process.action() == "exit"
    for _ in range(100):
        world.advance(10)
        assert world.coordinator().claim(free_chat_slots=5)["start"] == []


@pytest.mark.pitfall("F33")
def test_f33_a_panel_opened_and_closed_ten_times_within_seconds_ends_with_one_live_session(world: World) -> None:
    two(world)
    asked = {"project_id": world.project_id, "agent_id": "a"}
    for _ in range(10):
        world.open_chat("a")
        process = world.start_chat("a")
        world.owner.call("close_chat", **asked)
        assert process.action() == "exit"
        world.advance(0.2)
    assert world.open_chat("a")["status"]["state"] == "connecting"
    world.start_chat("a")
    assert world.open_chat("a")["status"]["state"] == "connected"
    assert [session["purpose"] for session in world.sessions()] == ["chat"]


@pytest.mark.pitfall("F39")
def test_f39_two_agents_that_delegate_to_each_other_both_get_their_partner_with_one_chat_slot(world: World) -> None:
    """Each chat waits for the other's: whoever is invited takes no slot."""
    two(world)
    for each, other in (("a", "b"), ("b", "a")):
        world.task(each)
        delegate(world.start(each), other)
    coordinator = world.coordinator()
    (first,) = coordinator.claim(free_slots=0, free_chat_slots=1)["start"]
    process = world.process(first)
    process.sign_in()
    process.call("report_model", provider="claude", model_id="model-1")
    other = {"a": "b", "b": "a"}[process.agent_id]
    process.fetch()
    begin(process, other)
    claimed = coordinator.claim(free_slots=0, free_chat_slots=0, running=[process.launch_id])["start"]
    assert [(each["agent_id"], each["takes_slot"]) for each in claimed] == [(other, False)]


@pytest.mark.pitfall("F91")
def test_f91_what_a_chat_asked_for_starts_under_all_the_rules(world: World) -> None:
    """Done, waiting for another task, at the limit, and of another project: each is refused."""
    two(world)
    world.task("a", title="At work")
    world.say("a", "@@\npaint the wall")
    process = world.start_chat("a")
    (message,) = process.fetch()["pending_messages"]
    asked = {"title": "Paint", "assignee_id": "a", "message_id": message["message_id"]}
    process.refused("request_task", Code.VALIDATION_ERROR, **asked, requester_id="somebody")
    elsewhere = world.project(name="Elsewhere")
    world.owner.call("create_agent", id="foreigner", role="worker", provider="claude", projects=[elsewhere])
    process.refused("request_task", Code.AGENT_NOT_FOUND, **{**asked, "assignee_id": "foreigner"})
    task = process.call("request_task", **asked)["task_id"]
    process.refused("update_task_status", Code.TASK_SESSION_REQUIRED, task_id=task, status="in_progress")
    before = world.task("b", status="todo", title="Before it")
    world.owner.call("edit_task", task_id=task, add_dependencies=[before])
    world.owner.refused("move_task", Code.DEPENDENCY_NOT_MET, task_id=task, status="in_progress")
    world.owner.call("edit_task", task_id=task, remove_dependencies=[before])
    world.owner.refused("move_task", Code.LIMIT_REACHED, task_id=task, status="in_progress")
    world.move(task, "cancelled", "not needed")
    world.owner.refused("move_task", None, task_id=task, status="in_progress")


@pytest.mark.pitfall("F98")
def test_f98_after_each_way_in_which_a_conversation_is_left_alone_a_new_one_can_begin(world: World) -> None:
    """(a) nobody comes, (b) silence, (c) the partner's process is killed and never comes back."""
    two(world)
    world.open_chat("a")
    a = world.start_chat("a")
    begin(a, "b")
    world.advance(301)
    world.housekeep()
    a, b, second = converse(world)
    world.advance(601)
    world.housekeep()
    a, b, third = converse(world)
    stop(world, b)
    world.advance(601)
    world.housekeep()
    ended = world.owner.call("list_conversations", project_id=world.project_id)["conversations"]
    reasons = {each["conversation_id"]: (each["state"], each["reason"]) for each in ended}
    assert (reasons[second][1], reasons[third][1]) == ("idle", "idle")
    assert sorted(reason for _, reason in reasons.values()) == ["idle", "idle", "nobody_came"]
    world.open_chat("a")
    assert begin(world.start_chat("a"), "b") not in reasons


@pytest.mark.pitfall("F104")
def test_f104_whether_somebody_has_mail_is_one_row_and_asks_no_message(world: World) -> None:
    """However many messages there are: with all of them taken away the answer is still there."""
    two(world)
    for number in range(30):
        world.say("a", f"{number}")
    gone = Statement(sa.delete(schema.messages))
    world.database.write(lambda connection: connection.run(gone))
    assert world.why_chat("a") == "start has_pending_purpose"


@pytest.mark.pitfall("F107")
def test_f107_a_chat_whose_agent_fails_says_so_and_not_that_it_is_coming(world: World) -> None:
    two(world)
    world.coordinator().claim(free_slots=0, free_chat_slots=0)
    world.say("a", "hello")
    assert world.open_chat("a")["status"]["state"] == "connecting"
    process = world.start_chat("a")
    world.coordinator().exited(process.launch_id, exit_code=1, error="crashed: boom")
    status = world.open_chat("a")["status"]
    assert (status["state"], status["reason"]) == ("cooling_down", "cooling_down")
    assert status["until"] is not None and status["explanation"]


@pytest.mark.pitfall("F112")
def test_f112_a_person_who_looks_around_makes_no_agents_session_and_no_launch(world: World) -> None:
    two(world)
    for _ in range(10):
        world.owner.call("list_projects")
        world.owner.call("list_chats", project_id=world.project_id)
        world.owner.call("read_chat", project_id=world.project_id, agent_id="a")
    assert (world.sessions(), world.launches()) == ([], [])


COMPLETED: tuple[Answer, ...] = (
    {},
    {"title": "x", "description": "x"},
    {"agent_type": "x", "task_description": "x"},
)
"""What else a call has to say where one tool files both subtasks and queue tasks."""


def is_taken(tool: Operation, arguments: Answer) -> bool:
    """As a call by MCP is read. A text may have to be JSON: data of any shape is listed as text."""
    given = {name: value for name, value in arguments.items() if name != tool.asks_for}
    as_json = loads(dumps(given).replace('"x"', '"{}"'))
    return any(
        isinstance(
            meant_by(tool, {**said, **{name: value for name, value in more.items() if said.get(name) is None}})[0],
            BaseModel,
        )
        for said in (given, as_json)
        for more in COMPLETED
    )


@pytest.mark.pitfall("F114")
@pytest.mark.parametrize("tool", list(tools()), ids=lambda tool: tool.name)
def test_f114_every_argument_and_every_choice_of_a_schema_is_taken(tool: Operation) -> None:
    schemas = [tool.input_schema, *(replace(tool, audience=each).listed_schema for each in Audience)]
    made = [arguments for schema in schemas for arguments in calls(schema, schema.get("$defs", {}))]
    assert made
    assert [arguments for arguments in made if not is_taken(tool, arguments)] == []


@pytest.mark.pitfall("F114")
def test_f114_every_id_that_an_answer_of_a_chat_names_can_be_used(world: World) -> None:
    two(world)
    world.task("a")
    worker = world.start("a")
    delegation = delegate(worker)
    a = world.start_chat("a")
    (got,) = a.fetch()["pending_delegations"]
    assert got["delegation_id"] == delegation
    assert a.call("get_task", task_id=got["task_id"])["task"]["task_id"] == got["task_id"]
    conversation = begin(a, got["target_agent_id"], delegation_id=got["delegation_id"])
    b = world.start_chat("b")
    answer = b.fetch()
    (invitation,) = answer["invitations"]
    (message,) = answer["pending_messages"]
    assert invitation["conversation_id"] == message["conversation_id"] == conversation
    b.call("respond_chat", message_id=message["message_id"], content="Yes.")
    shown = world.owner.call("show_conversation", conversation_id=conversation)
    assert [each["content"] for each in shown["messages"]] == ["Shall we talk?", "Yes."]
    (open_one,) = a.fetch()["conversations"]
    a.turn(open_one["conversation_id"], "Good.")
    b.fetch()
    b.call("end_conversation", conversation_id=conversation)
    (ended,) = a.fetch()["ended_conversations"]
    a.call("report_delegation_completed", delegation_id=ended["delegation_id"], result="Good.")

"""What agents are told about tasks: where they work, what was handed over, why something was rejected, how many there
are; and that nothing is chosen where there is nothing to choose."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.stories import Answer, Coordinator, Process, World

# --- where it works --------------------------------------------------------------------------------------------------


def started(crew: World, coordinator: Coordinator, agent_id: str = "w1", **more: Any) -> Process:
    """The agent's process, started by this Coordinator."""
    (launch,) = coordinator.claim(**more)["start"]
    assert launch["agent_id"] == agent_id
    process = crew.process(launch)
    process.sign_in()
    return process


def directory(process: Process) -> str:
    told: str = process.call("get_my_task")["task"]["working_directory"]
    return told


def test_an_agent_is_told_the_directory_in_which_its_coordinator_runs_it(crew: World) -> None:
    crew.task("w1")
    project = {"project_id": crew.project_id, "directory": "/home/me/house"}
    worker = started(crew, crew.coordinator(), directories=[project])
    assert directory(worker) == "/home/me/house"


def test_a_directory_of_the_agent_comes_before_that_of_the_project(crew: World) -> None:
    crew.task("w1")
    project = {"project_id": crew.project_id, "directory": "/home/me/house"}
    agent = {"agent_id": "w1", "directory": "/home/me/own"}
    worker = started(crew, crew.coordinator(), directories=[agent, project])
    assert directory(worker) == "/home/me/own"


def test_what_another_coordinator_has_in_its_file_is_not_told(crew: World) -> None:
    crew.task("w1")
    crew.coordinator("c2").claim(free_slots=0, directories=[{"agent_id": "w1", "directory": "/elsewhere"}])
    assert directory(started(crew, crew.coordinator())) == "/srv/house"


def test_who_is_started_by_hand_is_told_the_directory_of_the_project(crew: World) -> None:
    crew.task("w1")
    crew.coordinator().claim(free_slots=0, directories=[{"agent_id": "w1", "directory": "/elsewhere"}])
    signed_in = crew.nobody.call("authenticate", agent_id="w1", passkey=crew.passkeys["w1"])
    task = crew.nobody.call("get_my_task", session_token=signed_in["session_token"])["task"]
    assert task["working_directory"] == "/srv/house"


# --- handoffs --------------------------------------------------------------------------------------------------------


def test_handoffs_are_shown_with_the_task_and_ones_own_first(crew: World) -> None:
    task = crew.task("w1")
    worker = crew.start("w1")
    mine = worker.call("create_handoff", task_id=task, to_agent_id="w1", summary="for me")["handoff_id"]
    theirs = worker.call("create_handoff", task_id=task, to_agent_id="w2", summary="for w2")["handoff_id"]
    told = worker.call("get_my_task")["task"]
    assert told["handoff"]["handoff_id"] == mine
    assert [handoff["handoff_id"] for handoff in told["handoffs"]] == [mine]
    shown = worker.call("get_task", task_id=task)["task"]["handoffs"]
    assert {each["handoff_id"] for each in shown} == {mine, theirs}
    assert {handoff["handoff_id"] for handoff in crew.show(task)["handoffs"]} == {mine, theirs}


def test_a_handoff_that_was_accepted_gives_way_to_one_that_was_not(crew: World) -> None:
    task = crew.task("w1")
    worker = crew.start("w1")
    older = worker.call("create_handoff", task_id=task, summary="older")["handoff_id"]
    newer = worker.call("create_handoff", task_id=task, summary="newer")["handoff_id"]
    worker.call("accept_handoff", handoff_id=newer)
    assert worker.call("get_my_task")["task"]["handoff"]["handoff_id"] == older


# --- many tasks ------------------------------------------------------------------------------------------------------


def test_a_long_list_comes_in_pages_and_each_task_once(crew: World) -> None:
    made = {crew.task(status="todo", title=f"Task {number}") for number in range(120)}
    crew.task("w1", priority="high")
    worker = crew.start("w1")
    seen: list[str] = []
    more: Answer = {}
    while True:
        page = worker.call("list_tasks", status="todo", **more)
        assert page["total"] == 120
        assert len(page["tasks"]) <= 50
        seen += [each["task_id"] for each in page["tasks"]]
        if "next_cursor" not in page:
            break
        more = {"cursor": page["next_cursor"]}
    assert (len(seen), set(seen)) == (120, made)


def test_a_list_says_of_each_task_what_there_is_to_say_and_no_more(crew: World) -> None:
    crew.task("w1", description="x" * 5_000)
    worker = crew.start("w1")
    (task,) = worker.call("list_tasks")["tasks"]
    assert None not in {key: value for key, value in task.items() if key != "assignee_id"}.values()
    assert {"id", "project_id", "correlation_id", "version"}.isdisjoint(task)
    assert len(orjson.dumps(task)) < 1_000
    assert {"task_id", "title", "status", "priority", "assignee_id", "dependencies", "approval"} <= set(task)
    assert len(worker.call("get_task", task_id=task["task_id"])["task"]["description"]) == 5_000


# --- why it was rejected ---------------------------------------------------------------------------------------------


def requested(crew: World) -> tuple[str, Process]:
    """`w1` asks for a task of `w2`."""
    crew.task("w1")
    worker = crew.start("w1")
    asked = {"title": "Sweep the floor", "assignee_id": "w2"}
    return worker.call("request_task", **asked)["task_id"], worker


def test_the_reason_of_a_rejection_is_on_every_view_of_the_task(crew: World) -> None:
    task, worker = requested(crew)
    crew.owner.call("reject_task", task_id=task, reason="not now")
    views = [
        crew.show(task),
        next(
            each
            for each in crew.owner.call("list_project_tasks", project_id=crew.project_id)["tasks"]
            if each["task_id"] == task
        ),
        worker.call("get_task", task_id=task)["task"],
        next(each for each in worker.call("list_tasks")["tasks"] if each["task_id"] == task),
    ]
    for view in views:
        assert (view["approval"], view["rejected_by"], view["rejection_reason"]) == ("rejected", "owner", "not now")
    crew.owner.call("approve_task", task_id=task)
    assert "rejection_reason" not in crew.show(task)


def messages(process: Process) -> list[str]:
    return [notification["message"] for notification in process.call("get_notifications")["notifications"]]


def test_an_agent_whose_session_is_over_hears_of_the_verdict_when_it_works_again(crew: World) -> None:
    task, worker = requested(crew)
    worker.report()
    crew.owner.call("reject_task", task_id=task, reason="not now")
    crew.task("w1", title="More")
    (told,) = messages(crew.start("w1"))
    assert task in told
    assert "rejected" in told
    assert "not now" in told


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        ({"approve_only": True}, "backlog", "stays in the backlog until someone starts it"),
        ({}, "in_progress", "It has started."),
    ],
)
def test_who_hears_that_a_request_is_approved_hears_what_comes_next(
    crew: World, asked: dict[str, bool], status: str, words: str
) -> None:
    task, worker = requested(crew)
    crew.owner.call("approve_task", task_id=task, **asked)
    (told,) = messages(worker)
    assert words in told
    assert crew.status(task) == status


def test_a_person_who_asked_by_chat_is_told_why_not(crew: World) -> None:
    crew.person("bob")
    message = crew.say("w1", "/approve\nSweep the floor", as_person="bob")
    chat = crew.start_chat("w1")
    chat.fetch()
    task = chat.call("request_task", title="Sweep", assignee_id="w1", message_id=message)["task_id"]
    crew.owner.call("reject_task", task_id=task, reason="not now")
    told = [each["content"] for each in crew.thread("w1", as_person="bob") if each["kind"] == "system"]
    assert any(task in each and "not now" in each for each in told)


# --- choosing --------------------------------------------------------------------------------------------------------


def test_start_is_refused_where_nothing_can_be_started_and_says_what_else(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    (one,) = boss.assigned({"One": "w1"})
    boss.begin(one)
    boss.next()
    refusal = boss.refused("select_action", "notNow", action="start")
    assert refusal["alternatives"] == ["wait", "adjust"]
    assert 'select_action("wait")' in refusal["instruction"]


def test_an_edit_that_changes_nothing_does_not_say_that_it_has(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    (one,) = boss.assigned({"One": "w1"})
    assert "Nothing was changed" in boss.call("update_task", task_id=one, title="One")["message"]
    assert boss.call("update_task", task_id=one, title="Two")["updated_fields"] == ["title"]

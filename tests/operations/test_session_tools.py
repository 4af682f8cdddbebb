"""A session's own tools: notes, handoffs, notices, requests, lists; what they inform of, and what they never change."""

from __future__ import annotations

from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from tests.domain.things import CREW
from tests.stories import Answer, World
from toryo.domain.agents import Agent
from toryo.operations.calls import call_log
from toryo.operations.calls.callers import Caller, Kind, Login
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.toolsets import tools_for

# --- notes -----------------------------------------------------------------------------------------------------------


def test_a_note_changes_no_decision(crew: World):
    """F89: at any moment of a flow, a note or another get_my_task leaves the next action as it is."""
    crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    boss.next()
    boss.call("select_action", action="adjust")
    for text in ("workflow:task_fetched", "workflow:selected_start", "workflow:waiting_for_workers"):
        boss.call("save_progress", progress=text)
        boss.call("save_progress", task_id=part, progress=text)
        boss.call("get_my_task")
        assert boss.action() == "adjust"


def test_an_empty_note_and_one_outside_the_own_tree_are_refused(crew: World):
    crew.task("w1")
    other = crew.task("w2")
    worker = crew.start("w1")
    worker.refused("save_progress", "validationError")
    worker.refused("save_progress", "permissionDenied", task_id=other, progress="x")


# --- handoffs --------------------------------------------------------------------------------------------------------


def test_a_handoff_informs_the_next_one_and_never_changes_the_assignee(crew: World):
    task = crew.task("w1")
    worker = crew.start("w1")
    made = worker.call("create_handoff", task_id=task, to_agent_id="w2", summary="half", context={"a": 1})
    assert crew.show(task)["assignee_id"] == "w1"
    worker.refused("accept_handoff", "permissionDenied", handoff_id=made["handoff_id"])
    worker.call("logout")
    crew.owner.call("edit_task", task_id=task, assignee_id="w2")
    successor = crew.start("w2")
    seen = successor.call("get_my_task")["task"]["handoff"]
    assert (seen["summary"], seen["context"], seen["accepted_at"]) == ("half", {"a": 1}, None)
    accepted = successor.call("accept_handoff", handoff_id=made["handoff_id"])["handoff"]
    again = successor.call("accept_handoff", handoff_id=made["handoff_id"])["handoff"]
    assert accepted["accepted_at"] == again["accepted_at"]
    assert len(crew.events("handoff.accepted")) == 1


# --- notices ---------------------------------------------------------------------------------------------------------


def test_what_a_person_changes_about_a_running_task_is_told_once(crew: World):
    """F111."""
    task = crew.task("w1")
    worker = crew.start("w1")
    crew.owner.call("edit_task", task_id=task, title="Another title", priority="high")
    assert worker.call("list_tasks")["notifications_pending"] == 1
    (notice,) = worker.call("get_notifications")["notifications"]
    assert (notice["kind"], notice["priority"]) == ("plan_change", "normal")
    assert "title, priority" in notice["message"]
    assert worker.call("get_notifications")["notifications"] == []
    assert worker.action() == "create_subtasks"


def test_an_interrupt_is_fetched_before_anything_else_is_told(crew: World):
    task = crew.task("w1")
    worker = crew.start("w1")
    crew.move(task, "blocked", "wait")
    assert [worker.action(), worker.action()] == ["get_notifications", "get_notifications"]
    worker.call("get_notifications")
    assert worker.action() == "exit"


def test_a_notice_is_for_the_session_it_was_written_to_and_for_no_later_one(crew: World):
    """F110."""
    task = crew.task("w1")
    crew.start("w1")
    crew.owner.call("edit_task", task_id=task, title="Another title")
    crew.advance(91)
    assert crew.start("w1").call("get_notifications")["notifications"] == []


# --- lists -----------------------------------------------------------------------------------------------------------


def test_a_manager_sees_the_tasks_below_its_own_and_a_worker_those_of_the_project(crew: World):
    crew.task("boss", title="Main")
    other = crew.task("w2", title="Other", status="todo")
    boss = crew.start("boss")
    ids = boss.assigned({"One": "w1", "Two": None})
    assert [each["task_id"] for each in boss.call("list_tasks")["tasks"]] == ids
    assert boss.call("list_tasks", status="pending", assignee_id="w1")["total"] == 1
    crew.task("w1", title="Mine")
    worker = crew.start("w1")
    assert other in [each["task_id"] for each in worker.call("list_tasks")["tasks"]]


def test_a_manager_sees_who_does_what(crew: World):
    crew.owner.call("edit_agent", agent_id="w2", capabilities=["roofs"], system_prompt="You build roofs.")
    crew.task("boss")
    boss = crew.start("boss")
    one, two = boss.assigned({"One": "w1", "Two": "w1"})
    boss.begin(one)
    crew.start("w1")
    below = {subordinate["agent_id"]: subordinate for subordinate in boss.call("list_subordinates")["subordinates"]}
    assert below["w1"]["running"] is True
    assert ([each["task_id"] for each in below["w1"]["doing"]], below["w1"]["open_tasks"]) == ([one], 2)
    assert (below["w2"]["running"], below["w2"]["capabilities"], below["w2"]["doing"]) == (False, ["roofs"], [])
    profile = boss.call("get_subordinate_profile", agent_id="w2")["agent"]
    assert profile["system_prompt"] == "You build roofs."
    boss.refused("get_subordinate_profile", "agentNotFound", agent_id="boss")
    assert crew.status(two) == "todo"


def test_a_task_says_when_something_it_depends_on_will_not_come(crew: World):
    """Guard 4; F141."""
    crew.task("boss")
    boss = crew.start("boss")
    one, two = boss.assigned({"One": "w1", "Two": "w2"})
    boss.call("update_task_dependencies", task_id=two, add_dependencies=[one])
    boss.call("cancel_task", task_id=one, reason="not needed")
    assert boss.call("get_task", task_id=two)["task"]["dependency_failed"] is True
    flagged = [each["task_id"] for each in boss.call("list_tasks")["tasks"] if "dependency_failed" in each]
    assert flagged == [two]


# --- help ------------------------------------------------------------------------------------------------------------


def test_help_names_what_may_be_called_now_and_why_the_rest_may_not(crew: World):
    crew.task("w1")
    worker = crew.start("w1")
    answer = worker.call("help")
    assert "create_tasks_batch" in [tool["name"] for tool in answer["tools"]]
    why = {each["name"]: each["error"] for each in answer["not_now"]}
    assert (why["select_action"], why["claim_starts"]) == ("managerRequired", "coordinatorRequired")
    assert worker.call("help", tool_name="delegate_to_chat_session")["tools"][0]["parameters"]["required"] == [
        "target_agent_id",
        "purpose",
    ]
    worker.refused("help", "toolNotFound", tool_name="create_subtask")


def test_every_tool_that_an_instruction_names_may_be_called_by_who_hears_it(crew: World):
    """F88: asked in the states that a worker and a manager go through."""
    crew.task("boss")
    boss = crew.start("boss")
    _callable(crew, boss, boss.next())
    one, two = boss.assigned({"One": "w1", "Two": "w2"})
    _callable(crew, boss, boss.next())
    for choice in ("adjust", "start"):
        boss.call("select_action", action=choice)
        _callable(crew, boss, boss.next())
    boss.set(one, "in_progress")
    boss.set(two, "in_progress")
    boss.wait()
    worker = crew.start("w1")
    _callable(crew, worker, worker.next())
    (part,) = worker.batch("Part")
    for status in ("in_progress", "blocked"):
        _callable(crew, worker, worker.next())
        worker.set(part, status, "x")
    _callable(crew, worker, worker.next())


@pytest.mark.parametrize("person", CREW[:2], ids=lambda person: person.role.value)
def test_a_person_is_shown_the_tools_of_agents_with_the_parameter_that_takes_a_session(person: Agent):
    shown = {tool.name: tool for tool in tools_for(Caller(Kind.PERSON, agent=person, login=Login.MEMBER))}
    assert shown["get_next_action"].asks_for == "session_token"
    assert shown["list_tasks"].summary == catalogue()["list_tasks"].summary


def test_nobody_is_shown_a_name_of_an_older_protocol():
    former = {name for name, tool in catalogue().items() if tool.summary.startswith("Deprecated")}
    assert former >= {"get_pending_tasks", "report_execution_complete", "report_execution_start"}
    person = Caller(Kind.PERSON, agent=CREW[0], login=Login.MEMBER)
    for caller, toolset in ((person, None), (Caller(Kind.NOBODY), None), (Caller(Kind.NOBODY), "queue")):
        assert former.isdisjoint(tool.name for tool in tools_for(caller, toolset))


def test_help_explains_a_name_of_an_older_protocol_and_lists_none(crew: World):
    crew.task("w1")
    worker = crew.start("w1")
    said = worker.call("help")
    names = {tool["name"] for tool in (*said["tools"], *said["not_now"])}
    for name in (name for name, tool in catalogue().items() if tool.summary.startswith("Deprecated")):
        assert name not in names
        assert worker.call("help", tool_name=name)["message"].endswith("It still answers.")


def _callable(world: World, process: Any, said: dict[str, Any]) -> None:
    may = [tool["name"] for tool in process.call("help")["tools"]]
    assert set(said["tools"]) <= set(may), said


# --- what rides along ------------------------------------------------------------------------------------------------


def test_what_rides_along_is_what_asking_would_say_and_changes_nothing(crew: World):
    crew.task("w1")
    worker = crew.start("w1")
    rode = worker.call("get_my_task")["next"]
    told = worker.next()
    assert {key: rode[key] for key in rode} == {key: told[key] for key in rode}
    (one,) = worker.batch("One")
    rode = worker.set(one, "in_progress")["next"]
    told = worker.next()
    assert (rode["action"], rode["instruction"]) == (told["action"], told["instruction"])


def test_where_telling_has_an_effect_only_asking_tells(crew: World):
    """A manager's look, a wait: `next` says get_next_action instead."""
    crew.task("boss")
    boss = crew.start("boss")
    made = boss.call(
        "create_tasks_batch", tasks=[{"local_id": "a", "title": "A", "description": "x", "assignee_id": "w1"}]
    )
    assert made["next"]["action"] == "get_next_action"
    boss.begin(made["local_id_to_real_id"]["a"])
    boss.next()
    assert boss.call("select_action", action="wait")["next"]["action"] == "get_next_action"
    assert len(crew.sessions()) == 1


def test_the_same_facts_give_the_same_answer(crew: World):
    crew.task("w1")
    worker = crew.start("w1")
    first = worker.next()
    assert [worker.next() for _ in range(5)] == [first] * 5


# --- the log ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def logged(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose calls are logged."""
    monkeypatch.setattr(call_log, "calls", structlog.get_logger("toryo.calls"))
    return world


def test_each_call_is_one_line_with_who_called_what_and_no_secret(logged: World):
    """F53, F120."""
    logged.crew(workers=1)
    task = logged.task("w1")
    with capture_logs() as lines:
        process = logged.start("w1")
        process.call("save_progress", progress="x" * 5000)
        process.refused("create_task", "validationError", title="x")
        logged.nobody.refused("authenticate", None, agent_id="w1", passkey="pk_secret")
        process.report()
    by_tool = {line["metadata"]["tool"]: line for line in lines}
    note = by_tool["save_progress"]
    assert (note["event"], note["agent_id"], note["task_id"]) == ("tool_call", "w1", task)
    assert set(note["metadata"]) == {"tool", "session", "purpose", "project", "outcome", "arguments"}
    assert (note["metadata"]["outcome"], note["metadata"]["purpose"]) == ("ok", "task")
    assert len(note["metadata"]["arguments"]) <= 2048
    assert by_tool["create_task"]["metadata"]["outcome"] == "validationError"
    assert "pk_secret" not in str(lines)
    assert process.signed_in["session_token"] not in str(lines)
    assert by_tool["report_completed"]["log_level"] == "info"
    assert len([line for line in lines if line["metadata"]["tool"] == "save_progress"]) == 1


def test_polling_is_quiet_at_info(logged: World):
    logged.crew(workers=1)
    coordinator = logged.coordinator()
    with capture_logs() as lines:
        for _ in range(20):
            coordinator.claim()
            logged.nobody.call("health_check")
            logged.owner.call("why", agent_id="w1")
    assert {line["log_level"] for line in lines} <= {"debug"}


def test_every_operation_has_words_a_grant_and_described_parameters():
    from toryo.operations.calls.catalogue import catalogue

    for operation in catalogue().values():
        assert operation.summary.endswith((".", "?")), operation.name
        assert isinstance(operation.grant, Grant)
        for name, described in operation.input_schema.get("properties", {}).items():
            assert described.get("description"), f"{operation.name}.{name}"
    routes = [(each.route.method, each.route.path) for each in catalogue().values() if each.route is not None]
    assert len(routes) == len(set(routes))


def test_what_rides_along_is_as_new_as_what_is_asked_for_next(world: World) -> None:
    """`state_version` stands still as long as nothing changes: also from `next` to the answer after it."""
    world.crew(workers=2)
    task = world.task("w1")
    worker = world.start("w1")
    seen = []

    def holds(answer: Answer) -> None:
        following, asked = answer["next"], worker.next()
        if "state_version" in following:
            seen.append(following["action"])
            assert following["state_version"] == asked["state_version"]
        assert asked["state_version"] == worker.next()["state_version"]

    holds(worker.call("get_my_task"))
    parts = [{"local_id": each, "title": each, "description": each} for each in ("One", "Two")]
    made = worker.call("create_tasks_batch", parent_task_id=task, tasks=parts)
    holds(made)
    for each in worker.call("list_tasks")["tasks"]:
        if each["task_id"] != task:
            holds(worker.call("update_task_status", task_id=each["task_id"], status="in_progress"))
            holds(worker.call("update_task_status", task_id=each["task_id"], status="completed"))
    assert len(seen) >= 4


def test_a_manager_reads_what_is_below_its_task_page_by_page_and_each_once(crew: World) -> None:
    main = crew.task("boss")
    parts = {crew.task("w1", parent_task_id=main, status="todo", title=f"Part {number}") for number in range(5)}
    boss = crew.start("boss")
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(3):
        page = boss.call("list_tasks", limit=2, **({"cursor": cursor} if cursor else {}))
        seen += [each["task_id"] for each in page["tasks"]]
        cursor = page.get("next_cursor")
    assert cursor is None
    assert (len(seen), set(seen)) == (5, parts)

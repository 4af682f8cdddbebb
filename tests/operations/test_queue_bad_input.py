"""Mistakes in calls about queues: refused with the code that fits, and nothing of it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.operations.samples import cast as cast_of
from tests.operations.samples import kept, sample, untouched
from tests.operations.test_queue import claimed, filed, key, poller
from tests.stories import Answer, Caller, Process, World
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.calls.grants import KEYED
from toryo.settings import AuthSettings, Settings
from toryo.storage.engine.database import Database

NOBODYS = "tsk_0000000000000000000"
QUEUE_TOOLS = sorted(operation.name for operation in catalogue().values() if operation.grant in KEYED)


@dataclass
class Keyed:
    """An orchestrator, a planner with a claim, and another planner."""

    world: World
    chief: Caller
    planner: Caller
    other: Caller
    task: str


@pytest.fixture
def house(world: World) -> Keyed:
    world.project()
    chief = key(world, "chief", orchestrator=True)
    planner, other = poller(world, "p1"), poller(world, "p2")
    task = filed(chief)
    claimed(planner, "p1")
    return Keyed(world, chief, planner, other, task)


@pytest.fixture
def garden(house: Keyed) -> tuple[Caller, str]:
    """Another project: its orchestrator, and a task of its own."""
    project = house.world.project(name="Garden")
    made = house.world.owner.call("make_api_key", project_id=project, agent_id="gardener", orchestrator=True)
    gardener = Caller(house.world, made["token"])
    return gardener, filed(gardener)


# --- values ----------------------------------------------------------------------------------------------------------

FILES = {"agent_type": "planning", "task_description": "Plan it"}
MISTAKES: list[tuple[str, Answer, str]] = [
    ("create_task", {}, "agent_type and task_description"),
    ("create_task", {"agent_type": "planning"}, "task_description"),
    ("create_task", {"task_description": "x"}, "agent_type"),
    ("create_task", {"agent_type": " ", "task_description": "x"}, "agent_type"),
    ("create_task", {"agent_type": "planning", "task_description": ""}, "task_description"),
    ("create_task", {"agent_type": "planning", "task_description": " \n "}, "task_description"),
    ("create_task", {**FILES, "priority": "soon"}, "priority"),
    ("create_task", {**FILES, "timeout_seconds": 0}, "timeout_seconds"),
    ("create_task", {**FILES, "timeout_seconds": 86_401}, "timeout_seconds"),
    ("create_task", {**FILES, "max_attempts": 0}, "max_attempts"),
    ("create_task", {**FILES, "max_attempts": 101}, "max_attempts"),
    ("create_task", {**FILES, "dependencies": "tsk_1"}, "dependencies"),
    ("create_task", {**FILES, "dependencies": [None]}, "dependencies"),
    ("create_task", {**FILES, "correlation_id": ""}, "correlation_id"),
    ("create_task", {**FILES, "idempotency_key": ""}, "idempotency_key"),
    ("create_task", {**FILES, "assignee_id": "p1"}, "assignee_id"),
    ("create_task", {**FILES, "title": "x"}, "title"),
    ("create_task", {"title": "x", "description": "x"}, "queues"),
    ("register_agent", {"agent_id": "p1"}, "agent_type"),
    ("register_agent", {"agent_id": "", "agent_type": "planning"}, "agent_id"),
    ("register_agent", {"agent_id": "p1", "agent_type": " "}, "agent_type"),
    ("register_agent", {"agent_id": "p1", "agent_type": "planning", "capabilities": "all"}, "capabilities"),
    ("poll_tasks", {"agent_id": "p1", "max_tasks": 0}, "max_tasks"),
    ("poll_tasks", {"agent_id": "p1", "max_tasks": -1}, "max_tasks"),
    ("poll_tasks", {"agent_id": "p1", "max_tasks": 10_000}, "max_tasks"),
    ("poll_tasks", {"agent_id": "p1", "wait_seconds": -1}, "wait_seconds"),
    ("poll_tasks", {"agent_id": "p1", "wait_seconds": 46}, "wait_seconds"),
    ("submit_result", {"task_id": "TASK"}, "status"),
    ("submit_result", {"task_id": "TASK", "status": "in_progress"}, "status"),
    ("submit_result", {"task_id": "TASK", "status": "cancelled"}, "status"),
    ("submit_result", {"task_id": "TASK", "status": "completed", "attempt": 0}, "attempt"),
    ("submit_result", {"task_id": "TASK", "status": "completed", "attempt": "first"}, "attempt"),
    ("submit_result", {"task_id": "TASK", "status": "failed", "retryable": "perhaps"}, "retryable"),
    ("submit_result", {"task_id": "TASK", "status": "failed", "error": {"not": "a text"}}, "error"),
    ("get_task_status", {"task_id": "TASK", "wait_seconds": 60}, "wait_seconds"),
    ("list_agents", {"status": "asleep"}, "status"),
    ("set_shared_state", {"key": "k"}, "value"),
    ("set_shared_state", {"key": "", "value": 1}, "key"),
    ("set_shared_state", {"key": "  ", "value": 1}, "key"),
    ("set_shared_state", {"key": "k", "value": 1, "ttl": 0}, "ttl"),
    ("set_shared_state", {"key": "k", "value": 1, "ttl": -1}, "ttl"),
    ("set_shared_state", {"key": "k", "value": 1, "ttl": 2_592_001}, "ttl"),
    ("set_shared_state", {"key": "k", "value": 1, "expected_version": -1}, "expected_version"),
    ("get_shared_state", {}, "key"),
]


@pytest.mark.parametrize(("name", "arguments", "about"), MISTAKES)
def test_a_value_that_cannot_be_is_refused_with_its_name(
    house: Keyed, name: str, arguments: Answer, about: str
) -> None:
    caller = house.chief if name == "create_task" else house.planner
    given = {parameter: house.task if value == "TASK" else value for parameter, value in arguments.items()}
    refusal = untouched(house.world, caller, name, "validationError", **given)
    assert about in refusal["message"]


def test_the_forms_of_create_task_are_told_apart_to_whoever_mixes_them_or_gives_neither(house: Keyed) -> None:
    mixed = house.chief.refused("create_task", "validationError", **FILES, title="x", acceptance=[])
    assert "acceptance, title and agent_type, task_description cannot be combined" in mixed["message"]
    for given in ({}, {"priority": "high"}):
        neither = house.chief.refused("create_task", "validationError", **given)
        assert "title and description" in neither["message"]
        assert "agent_type and task_description" in neither["message"]


def test_what_is_too_large_is_refused_as_such(house: Keyed) -> None:
    huge = "x" * 10_000_000
    refusal = untouched(house.world, house.planner, "set_shared_state", "tooLarge", key="k", value=huge)
    assert (refusal["limit"], "10000002" in refusal["message"]) == (262_144, True)
    untouched(house.world, house.planner, "set_shared_state", "tooLarge", key="k" * 201, value=1)
    untouched(house.world, house.chief, "create_task", "tooLarge", agent_type="planning", task_description=huge)
    asked = {"task_id": house.task, "status": "failed", "error": huge}
    untouched(house.world, house.planner, "submit_result", "tooLarge", **asked)
    house.planner.call("set_shared_state", key="k" * 200, value="x" * (262_144 - 2))


@pytest.mark.parametrize("value", [{"a": float("nan")}, float("inf")])
def test_numbers_that_json_has_not_become_null(house: Keyed, value: Any) -> None:
    house.planner.call("set_shared_state", key="k", value=value)
    assert house.planner.call("get_shared_state", key="k")["value"] in (None, {"a": None})


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), {"half": "\ud800"}, 2**80, "nul \0"])
def test_what_is_no_json_is_refused(house: Keyed, value: Any) -> None:
    untouched(house.world, house.planner, "set_shared_state", "validationError", key="k", value=value)
    asked = {"task_id": house.task, "status": "completed", "result": value}
    untouched(house.world, house.planner, "submit_result", "validationError", **asked)


# --- dependencies, tasks, parents ------------------------------------------------------------------------------------


def chiefs_session(world: World) -> tuple[Process, str]:
    """A manager that may file for queues, at work on its task."""
    world.manager("chief-1", capabilities=["orchestrator"])
    main = world.task("chief-1", title="The whole")
    return world.start("chief-1"), main


@pytest.mark.pitfall("F135")
def test_a_circle_of_dependencies_is_refused_and_named(house: Keyed) -> None:
    """F135: what a session files below its task is waited for by it, and so may not wait for what waits for it."""
    chief, (boss, plan) = house.chief, chiefs_session(house.world)
    after = filed(chief, "Afterwards", dependencies=[plan])
    last = filed(chief, "At last", dependencies=[after])
    for waits_for in (plan, after, last):
        refusal = untouched(
            house.world,
            boss,
            "create_task",
            "dependencyCycle",
            **FILES,
            parent_task_id=plan,
            dependencies=[waits_for],
        )
        assert {plan, waits_for} <= set(refusal["cycle"])
        assert all(each in refusal["message"] for each in refusal["cycle"])


def test_unknown_and_foreign_dependencies_are_not_found(house: Keyed, garden: tuple[Caller, str]) -> None:
    _, theirs = garden
    said = [
        untouched(house.world, house.chief, "create_task", "taskNotFound", **FILES, dependencies=[house.task, each])
        for each in (theirs, NOBODYS)
    ]
    assert said[0]["message"].replace(theirs, NOBODYS) == said[1]["message"]


def test_tasks_of_another_project_are_not_found_by_any_queue_tool(house: Keyed, garden: tuple[Caller, str]) -> None:
    gardener, theirs = garden
    gardener.call("register_agent", agent_id="gardener", agent_type="planning")
    gardener.call("set_shared_state", key="k", value="theirs")
    for name, more in (
        ("get_task_status", {}),
        ("submit_result", {"status": "completed"}),
        ("create_task", FILES),
    ):
        named = "parent_task_id" if name == "create_task" else "task_id"
        caller = house.chief if name == "create_task" else house.planner
        for each in (theirs, NOBODYS):
            untouched(house.world, caller, name, "taskNotFound", **{**more, named: each})
    assert house.planner.call("get_shared_state", key="k")["found"] is False
    assert {agent["agent_id"] for agent in house.planner.call("list_agents")["agents"]} == {"p1", "p2"}
    house.planner.call("submit_result", task_id=house.task, status="completed")
    assert claimed(house.other, "p2") == []


def test_a_parent_is_one_that_the_orchestrator_filed_or_holds(house: Keyed) -> None:
    theirs = house.world.task(status="todo", title="A person's")
    refusal = untouched(house.world, house.chief, "create_task", "permissionDenied", **FILES, parent_task_id=theirs)
    assert "Omit parent_task_id" in refusal["instruction"]


def test_nothing_is_filed_below_what_is_over_and_not_more_than_the_project_allows(world: World) -> None:
    world.project(open_subtasks=2, tree_depth=2)
    boss, plan = chiefs_session(world)
    child = filed(boss, parent_task_id=plan)
    untouched(world, boss, "create_task", "depthExceeded", **FILES, parent_task_id=child)
    over = filed(boss, parent_task_id=plan)
    untouched(world, boss, "create_task", "tooManySubtasks", **FILES, parent_task_id=plan)
    world.move(over, "cancelled", "no more")
    untouched(world, boss, "create_task", "invalidTransition", **FILES, parent_task_id=over)


def test_a_queue_task_carries_no_command_for_a_coordinator(house: Keyed) -> None:
    refusal = untouched(
        house.world, house.chief, "create_task", "permissionDenied", **FILES, context={"command": ["rm", "-r", "/"]}
    )
    assert "command" in refusal["message"]


# --- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F136")
def test_a_result_from_another_agent_is_refused(house: Keyed) -> None:
    """F136."""
    asked = {"task_id": house.task, "status": "completed", "result": "stolen"}
    untouched(house.world, house.other, "submit_result", "permissionDenied", **asked)
    untouched(house.world, house.other, "submit_result", "permissionDenied", **asked, attempt=1)
    untouched(house.world, house.other, "submit_result", "permissionDenied", **asked, agent_id="p1")
    untouched(house.world, house.chief, "submit_result", "permissionDenied", **asked)
    assert house.world.status(house.task) == "in_progress"


@pytest.mark.pitfall("F136")
def test_a_result_for_an_attempt_that_is_not_the_present_one_is_refused(house: Keyed) -> None:
    asked = {"task_id": house.task, "status": "completed"}
    untouched(house.world, house.planner, "submit_result", "permissionDenied", **asked, attempt=2)
    house.planner.call("submit_result", **asked, attempt=1)


@pytest.mark.pitfall("F136")
def test_of_two_results_the_first_one_stands(house: Keyed) -> None:
    asked = {"task_id": house.task, "status": "completed", "result": {"plan": 1}}
    first = house.planner.call("submit_result", **asked)
    before = kept(house.world)
    assert house.planner.call("submit_result", **asked) == first
    assert house.planner.call("submit_result", **asked, attempt=1) == first
    assert kept(house.world) == before
    for other in ({"result": {"plan": 2}}, {"status": "failed"}, {"result": None}, {"error": "x"}):
        refusal = untouched(house.world, house.planner, "submit_result", "conflict", **{**asked, **other})
        assert "The first result is kept" in refusal["instruction"]


@pytest.mark.pitfall("F136")
def test_a_result_without_a_claim_is_refused(house: Keyed) -> None:
    free = filed(house.chief)
    untouched(house.world, house.planner, "submit_result", "permissionDenied", task_id=free, status="completed")


# --- who is who ------------------------------------------------------------------------------------------------------


def arguments_of(name: str, house: Keyed) -> Answer:
    """Arguments of the planner that every key of the house could give."""
    given: dict[str, Answer] = {
        "create_task": FILES,
        "register_agent": {"agent_id": "p1", "agent_type": "planning"},
        "create_queue_tasks": {"tasks": [FILES]},
        "submit_result": {"task_id": house.task, "status": "completed"},
        "submit_results": {"results": [{"task_id": house.task, "status": "completed"}]},
        "get_task_status": {"task_id": house.task},
        "set_shared_state": {"key": "k", "value": 1},
        "get_shared_state": {"key": "k"},
        "list_agents": {},
    }
    return given.get(name, {"agent_id": "p1"})


@pytest.mark.pitfall("F142")
@pytest.mark.parametrize("name", QUEUE_TOOLS)
def test_every_queue_tool_refuses_no_key_a_wrong_one_and_a_revoked_one(house: Keyed, name: str) -> None:
    """F142."""
    world, asked = house.world, arguments_of(name, house)
    untouched(world, world.nobody, name, "authenticationRequired", **asked)
    for wrong in ("tqk_", "tqk_" + "0" * 48, "nonsense", "tqk_\ud800"):
        untouched(world, Caller(world, wrong), name, "invalidCredentials", **asked)
        untouched(world, world.nobody, name, "invalidCredentials", **asked, api_key=wrong)
    made = world.owner.call("make_api_key", project_id=world.project_id, orchestrator=True)
    world.owner.call("revoke_api_key", key_id=made["key"]["key_id"])
    untouched(world, Caller(world, made["token"]), name, "invalidCredentials", **asked)
    untouched(world, world.nobody, name, "invalidCredentials", **asked, api_key=made["token"])


@pytest.mark.parametrize("name", QUEUE_TOOLS)
def test_every_queue_tool_takes_the_key_as_an_argument(house: Keyed, name: str) -> None:
    bearer = (house.chief if name.startswith("create_") else house.planner).bearer
    answer = house.world.nobody.call(name, **arguments_of(name, house), api_key=bearer)
    assert "tqk_" not in str(answer)


@pytest.mark.parametrize("name", QUEUE_TOOLS)
def test_two_keys_at_once_are_two_callers(house: Keyed, name: str) -> None:
    asked = {**arguments_of(name, house), "api_key": house.other.bearer}
    untouched(house.world, house.planner, name, "invalidCredentials", **asked)


@pytest.mark.pitfall("F142")
@pytest.mark.parametrize("name", QUEUE_TOOLS)
def test_no_other_credential_opens_a_queue_tool(world: World, name: str) -> None:
    """People, Coordinators, and sessions that are no orchestrators; values are shared with sessions, too."""
    there = cast_of(world)
    before = kept(world)
    callers = [world.owner, world.coordinator(), Caller(world, "tpt_owner")]
    if "shared_state" not in name:
        callers += [caller for grant, caller in there.callers.items() if grant in ("task_session", "manager")]
    for caller in callers:
        given = {**FILES} if name == "create_task" else sample(catalogue()[name], there)
        refusal = caller.refused(name, None, **given)
        assert refusal["error"] in ("authenticationRequired", "permissionDenied"), refusal
    assert kept(world) == before


def test_a_key_that_is_limited_to_tools_calls_no_others(house: Keyed) -> None:
    world = house.world
    reader = key(world, "reader", tools=["get_task_status", "create_task"])
    assert reader.call("get_task_status", task_id=house.task)["status"] == "in_progress"
    refusal = untouched(world, reader, "register_agent", "permissionDenied", agent_id="reader", agent_type="planning")
    assert "get_task_status" in refusal["instruction"]
    untouched(world, reader, "create_task", "permissionDenied", **FILES)  # named, but it is no orchestrator's key


def test_a_key_that_is_limited_to_types_serves_no_others(house: Keyed) -> None:
    world = house.world
    builder = key(world, "builder", types=["building", "painting"])
    refusal = untouched(world, builder, "register_agent", "permissionDenied", agent_id="builder", agent_type="planning")
    assert "building, painting" in refusal["instruction"]
    builder.call("register_agent", agent_id="builder", agent_type="painting")


@pytest.mark.pitfall("F142")
def test_only_an_orchestrator_files_tasks(house: Keyed) -> None:
    refusal = untouched(house.world, house.planner, "create_task", "permissionDenied", **FILES)
    assert "orchestrator" in refusal["instruction"]


@pytest.mark.parametrize("name", ["poll_tasks", "heartbeat", "unregister_agent"])
def test_whoever_is_not_registered_registers_first(house: Keyed, name: str) -> None:
    for caller, agent_id in ((key(house.world, "late"), "late"), (key(house.world), "unbound")):
        refusal = untouched(house.world, caller, name, "notNow", agent_id=agent_id)
        assert "register_agent" in refusal["instruction"]


@pytest.mark.parametrize("name", ["poll_tasks", "heartbeat", "unregister_agent"])
def test_the_key_says_who_calls_and_not_the_argument(house: Keyed, name: str) -> None:
    refusal = untouched(house.world, house.planner, name, "permissionDenied", agent_id="p2")
    assert "p1" in refusal["message"]


def test_nobody_registers_as_a_person_or_as_an_agent_that_a_coordinator_starts(house: Keyed) -> None:
    world = house.world
    world.worker("w1")
    world.person("lena")
    unbound = key(world)
    for agent_id in ("owner", "lena", "w1"):
        asked = {"agent_id": agent_id, "agent_type": "planning"}
        untouched(world, unbound, "register_agent", "permissionDenied", **asked)
        more = {"project_id": world.project_id, "agent_id": agent_id}
        untouched(world, world.owner, "make_api_key", "permissionDenied", **more)
    for agent_id in ("system:toryo", "../x", "Grün", "a b", "-x"):
        asked = {"agent_id": agent_id, "agent_type": "planning"}
        untouched(world, unbound, "register_agent", "validationError", **asked)


def test_a_key_is_bound_by_its_first_registration(house: Keyed) -> None:
    world = house.world
    caller = key(world)
    caller.call("register_agent", agent_id="first", agent_type="planning")
    refusal = untouched(world, caller, "register_agent", "permissionDenied", agent_id="second", agent_type="planning")
    assert "first" in refusal["instruction"]


@pytest.mark.pitfall("F142")
def test_an_id_that_another_key_is_bound_to_is_not_taken_over(house: Keyed) -> None:
    """Whoever has some key of the project could else take another agent's claims and submit in its name."""
    untouched(house.world, key(house.world), "register_agent", "permissionDenied", agent_id="p1", agent_type="planning")
    new = key(house.world, "p1", types=["planning"])  # a person has said whose it is
    assert new.call("register_agent", agent_id="p1", agent_type="planning")["claims"][0]["task_id"] == house.task


def test_after_its_key_was_revoked_an_agent_goes_on_with_another_one(house: Keyed) -> None:
    (made,) = [
        each
        for each in house.world.owner.call("list_api_keys", project_id=house.world.project_id)["keys"]
        if each["agent_id"] == "p1"
    ]
    house.world.owner.call("revoke_api_key", key_id=made["key_id"])
    key(house.world).call("register_agent", agent_id="p1", agent_type="planning")


def test_an_agent_that_serves_one_project_is_not_registered_in_another(
    house: Keyed, garden: tuple[Caller, str]
) -> None:
    world = house.world
    (other,) = [project for project in world.owner.call("list_projects")["projects"] if project["name"] == "Garden"]
    for asked in ({}, {"agent_id": "p1"}):
        made = world.owner.call("make_api_key", project_id=other["project_id"], **asked)
        foreign = Caller(world, made["token"])
        untouched(world, foreign, "register_agent", "permissionDenied", agent_id="p1", agent_type="planning")
    house.planner.call("submit_result", task_id=house.task, status="completed")


def test_what_only_a_person_may_do_with_queues_is_refused_to_agents(house: Keyed) -> None:
    before = kept(house.world)
    for caller in (house.planner, house.chief, house.world.nobody):
        for name in ("make_api_key", "list_api_keys", "list_dead_letters", "list_queue_agents", "list_shared_state"):
            caller.refused(name, "authenticationRequired", project_id=house.world.project_id)
        caller.refused("requeue_task", "authenticationRequired", task_id=house.task)
    assert kept(house.world) == before
    member = house.world.member("lena")
    untouched(house.world, member, "make_api_key", "permissionDenied", project_id=house.world.project_id)
    untouched(house.world, member, "requeue_task", "taskNotFound", task_id=house.task)
    for task_id in (house.task, house.world.task(status="todo")):
        untouched(house.world, house.world.owner, "requeue_task", "invalidTransition", task_id=task_id)


# --- agents of the same machine --------------------------------------------------------------------------------------


@pytest.fixture
def local(fresh: Database) -> World:
    """A server that lets agents of its machine register themselves."""
    world = World(fresh, Settings(auth=AuthSettings(mode="local")))
    world.project()
    return world


def test_where_it_is_allowed_an_agent_registers_itself_and_gets_a_key_that_files_nothing(local: World) -> None:
    asked = {"agent_id": "p1", "agent_type": "planning"}
    issued = local.nobody.call("register_agent", **asked)["api_key"]
    planner = Caller(local, issued)
    task = filed(key(local, "chief", orchestrator=True))
    assert [each["task_id"] for each in claimed(planner, "p1")] == [task]
    planner.call("submit_result", task_id=task, status="completed")
    untouched(local, planner, "create_task", "permissionDenied", **FILES)
    untouched(local, planner, "register_agent", "permissionDenied", agent_id="p1", agent_type="building")
    untouched(local, local.nobody, "register_agent", "invalidCredentials", **asked)
    assert "api_key" not in planner.call("register_agent", **asked)


def test_nobody_takes_an_id_that_has_a_key_by_registering_itself(local: World) -> None:
    """Also before its owner has come."""
    key(local, "chief", orchestrator=True)
    untouched(local, local.nobody, "register_agent", "invalidCredentials", agent_id="chief", agent_type="planning")


def test_which_project_an_agent_without_a_key_is_in_must_be_clear(local: World) -> None:
    local.project(name="Garden")
    refusal = untouched(local, local.nobody, "register_agent", "validationError", agent_id="p1", agent_type="planning")
    assert "API key of your project" in refusal["instruction"]


def test_without_being_allowed_nobody_gets_a_key_by_registering(house: Keyed) -> None:
    asked = {"agent_id": "p3", "agent_type": "planning"}
    untouched(house.world, house.world.nobody, "register_agent", "authenticationRequired", **asked)
    outcome = house.world.perform("register_agent", asked, Credentials())
    assert "api_key" in str(outcome.result)

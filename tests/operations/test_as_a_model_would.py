"""What an agent sees that knows nothing but the list of its tools and their answers: each says what is so, and what can
be done by who reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.operations.samples import Cast, cast
from tests.stories import Answer, Caller, Process, World
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.grants import Grant


@pytest.fixture
def there(world: World) -> Cast:
    return cast(world)


# --- the list of tools -----------------------------------------------------------------------------------------------


def listed(there: Cast, who: str) -> dict[str, Operation]:
    orchestrator = there.world.owner.call("make_api_key", project_id=there.world.project_id, orchestrator=True)["token"]
    plain = there.world.owner.call("make_api_key", project_id=there.world.project_id)["token"]
    callers = {
        "worker": there.callers[Grant.TASK_SESSION].credentials,
        "manager": there.callers[Grant.MANAGER].credentials,
        "chat": there.callers[Grant.CHAT_SESSION].credentials,
        "key": Credentials(bearer=plain),
        "orchestrator": Credentials(bearer=orchestrator),
        "coordinator": there.world.coordinator().credentials,
        "nobody": Credentials(),
    }
    return {list_tool.name: list_tool for list_tool in there.world.dispatcher.list_tools(callers[who])}


EVERYBODY = ("worker", "manager", "chat", "key", "orchestrator", "coordinator", "nobody")


def names_in(schema: Any) -> Iterable[str]:
    """The definitions that a schema refers to."""
    if isinstance(schema, list):
        return [name for each in schema for name in names_in(each)]
    if not isinstance(schema, dict):
        return []
    own = [str(schema["$ref"]).rpartition("/")[2]] if "$ref" in schema else []
    return [*own, *(name for each in schema.values() for name in names_in(each))]


@pytest.mark.parametrize("who", EVERYBODY)
def test_what_is_shown_of_a_tool_is_whole(there: Cast, who: str) -> None:
    for name, operation in listed(there, who).items():
        schema = operation.listed_schema
        assert set(names_in(schema)) == set(schema.get("$defs", {})), name
        assert set(schema.get("required", ())) <= set(schema.get("properties", {})), name


@pytest.mark.parametrize("who", EVERYBODY)
def test_everybody_is_shown_the_tool_that_names_the_rest(there: Cast, who: str) -> None:
    assert "help" in listed(there, who)


def properties(there: Cast, who: str, name: str) -> set[str]:
    return set(listed(there, who)[name].listed_schema["properties"])


def test_filing_for_a_queue_and_dividing_a_task_are_shown_as_two_tools(there: Cast) -> None:
    for_queue = listed(there, "orchestrator")["create_task"]
    assert for_queue.listed_schema["required"] == ["agent_type", "task_description"]
    assert properties(there, "orchestrator", "create_task").isdisjoint({"title", "assignee_id", "intent"})
    assert "main task" not in str(for_queue.listed_schema)
    assert properties(there, "nobody", "create_task").isdisjoint({"agent_type", "max_attempts"})


def test_a_worker_is_not_shown_what_only_managers_or_chats_decide(there: Cast) -> None:
    assert "intent" not in properties(there, "worker", "create_tasks_batch")
    assert "intent" in properties(there, "manager", "create_tasks_batch")
    assert "message_id" not in properties(there, "worker", "request_task")
    assert "message_id" in listed(there, "chat")["request_task"].listed_schema["required"]


def test_only_a_worker_that_was_started_for_a_review_is_shown_how_to_report_one(crew: World) -> None:
    work = crew.task("w1", acceptance=[{"review": {"by": "w2"}}])
    author = crew.start("w1")
    author.call("report_completed", result="success", summary="Built.")
    assert crew.status(work) == "in_progress"
    reviewer = crew.started("w2")

    def shown(process: Process) -> set[str]:
        return {tool.name for tool in crew.dispatcher.list_tools(process.credentials)}

    assert shown(reviewer) - shown(author) == {"submit_review"}
    assert shown(author) - shown(reviewer) == {"create_tasks_batch"}, "a review is not divided"
    before = shown(reviewer)
    reviewer.sign_in()
    assert shown(reviewer) == before


def test_a_parameter_that_changes_nothing_is_taken_and_not_shown(there: Cast) -> None:
    assert "mark_as_read" not in properties(there, "worker", "get_notifications")
    there.callers[Grant.TASK_SESSION].call("get_notifications", mark_as_read=False)


def test_a_choice_is_shown_by_one_name(there: Cast) -> None:
    status = listed(there, "worker")["update_task_status"].listed_schema["properties"]["status"]
    assert {"todo", "completed"} <= set(status["enum"])
    assert {"pending", "done"}.isdisjoint(status["enum"])


def schemas_in(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema, and those of its properties and items."""
    yield schema
    for each in schema.get("properties", {}).values():
        yield from schemas_in(each)
    for each in (schema.get("items"), *schema.get("anyOf", ())):
        if each is not None:
            yield from schemas_in(each)


@pytest.mark.parametrize("who", EVERYBODY)
def test_what_is_shown_of_the_parameters_is_plain_json_schema(there: Cast, who: str) -> None:
    """What clients hand on to models as it is: an object with properties, and no references."""
    for name, operation in listed(there, who).items():
        schema = operation.listed_schema
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object" and "properties" in schema, name
        assert "$" not in str(schema) and "x-" not in str(schema), name
        for each in schemas_in(schema):
            assert set(each.get("required", ())) <= set(each.get("properties", {})), name
            assert each.get("type") != "array" or "items" in each, name
            assert "enum" not in each or each["type"] == "string", name
            assert each.keys() & {"type", "anyOf"}, f"{name}: some clients drop or refuse what has no type"
            assert each is schema or each.get("type") != "object" or each["properties"], f"{name}: Gemini refuses it"


@pytest.mark.parametrize("who", EVERYBODY)
def test_what_is_shown_is_a_part_of_what_is_accepted_and_help_shows_all_of_it(there: Cast, who: str) -> None:
    for name, operation in listed(there, who).items():
        shown, whole = operation.listed_schema, operation.input_schema
        assert set(shown["properties"]) - {"session_token", "api_key"} <= set(whole.get("properties", {})), name
        assert set(whole.get("required", ())) <= set(shown.get("required", ())), name
        assert "x-listed" not in str(whole), name


def test_a_session_is_not_asked_who_it_is(there: Cast) -> None:
    assert properties(there, "worker", "authenticate") == set()
    assert properties(there, "nobody", "authenticate") == {"agent_id", "passkey", "project_id"}


def test_what_is_not_shown_is_accepted(crew: World) -> None:
    main = crew.task("w1")
    worker = crew.started("w1")
    worker.call("authenticate", agent_id="w1", project_id=crew.project_id)
    worker.call("report_model", provider="claude", model_id="model-1")
    worker.call("get_my_task")
    tasks = [{"local_id": "a", "title": "A", "description": "x"}]
    made = worker.call("create_tasks_batch", parent_task_id=main, tasks=tasks, idempotency_key="once")
    assert worker.call("create_tasks_batch", parent_task_id=main, tasks=tasks, idempotency_key="once") == made
    assert len(worker.call("list_tasks", limit=1)["tasks"]) == 1
    worker.set(made["local_id_to_real_id"]["a"], "cancelled", "not needed")


def test_a_manager_is_told_what_an_acceptance_check_is(there: Cast) -> None:
    batch = listed(there, "manager")["create_tasks_batch"].listed_schema
    check = batch["properties"]["tasks"]["items"]["properties"]["acceptance"]["items"]
    assert set(check["properties"]) == {"file", "command"}
    assert check["properties"]["command"]["type"] == "string", "a list of words is taken, too, and not shown"
    assert "required" not in check


def test_a_manager_lists_what_is_below_its_main_task_and_others_their_project(there: Cast) -> None:
    assert "below your main task" in listed(there, "manager")["list_tasks"].summary
    assert "of your project" in listed(there, "worker")["list_tasks"].summary


# --- answers ---------------------------------------------------------------------------------------------------------


def working(crew: World, **more: Any) -> Process:
    crew.task("w1", **more)
    return crew.start("w1")


def test_a_chat_that_reads_its_task_is_not_told_to_report_it(crew: World) -> None:
    working(crew)
    crew.open_chat("w1")
    crew.say("w1", "How is it going?")
    told = crew.start_chat("w1").call("get_my_task")["instruction"]
    assert "report_completed" not in told
    assert "get_next_action" in told


def test_who_asks_for_a_task_is_told_what_becomes_of_it(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    above = boss.call("request_task", title="Sweep", assignee_id="w1")
    assert "Requested and approved: the task stays in the backlog" in above["message"]
    worker = working(crew)
    beside = worker.call("request_task", title="Sweep", assignee_id="w2")
    assert "until a person approves it" in beside["message"]


def test_a_long_task_is_read_once_and_only_reminded_of_afterwards(crew: World) -> None:
    worker = working(crew, description="x" * 10_000)
    assert len(worker.call("get_my_task")["task"]["description"]) == 10_000
    told = worker.next()["task"]["description"]
    assert len(told) < 400
    assert told.endswith("… (get_my_task)")


def test_a_subtask_to_be_done_is_told_whole(crew: World) -> None:
    worker = working(crew)
    task = {"local_id": "a", "title": "A", "description": "x" * 10_000}
    made = worker.call("create_tasks_batch", tasks=[task])["local_id_to_real_id"]["a"]
    worker.set(made, "in_progress")
    assert len(worker.next()["subtask"]["description"]) == 10_000


def test_who_would_change_its_own_main_task_is_told_how_that_ends(crew: World) -> None:
    main = crew.task("boss")
    boss = crew.start("boss")
    refusal = boss.refused("cancel_task", "permissionDenied", task_id=main, reason="too hard")
    assert "own main task" in refusal["message"]
    assert "report_completed" in refusal["instruction"]


def test_mistakes_in_one_form_of_a_tool_do_not_name_the_parameters_of_the_other(crew: World) -> None:
    instruction = working(crew).refused("create_task", "validationError", title="A")["instruction"]
    assert "description" in instruction
    assert "max_attempts" not in instruction


def test_what_is_wrong_is_said_in_plain_words(crew: World) -> None:
    refusal = working(crew).refused("create_task", "validationError", title="A")
    assert refusal["message"] == "create_task: description is missing."


# --- queues ----------------------------------------------------------------------------------------------------------


def orchestrator(crew: World) -> Caller:
    return Caller(crew, crew.owner.call("make_api_key", project_id=crew.project_id, orchestrator=True)["token"])


def filed(crew: World, **more: Any) -> Answer:
    return orchestrator(crew).call("create_task", agent_type="build", task_description="Build it", **more)


def test_who_files_for_a_queue_that_nobody_serves_is_told_so(crew: World) -> None:
    answer = filed(crew)
    assert answer["no_agent"] is True
    assert "No agent serves the queue build" in answer["message"]


def test_who_files_what_waits_for_a_cancelled_task_is_told_so(crew: World) -> None:
    gone = filed(crew)["task_id"]
    files = orchestrator(crew)
    asked = {"agent_type": "build", "task_description": "Build on it", "dependencies": [gone], "idempotency_key": "k"}
    files.call("create_task", **asked)
    crew.move(gone, "cancelled", "not needed")
    files.refused("create_task", "dependencyNotMet", **{**asked, "idempotency_key": "another"})
    answer = files.call("create_task", **asked)
    assert answer["dependency_failed"] is True
    assert gone in answer["message"]


def test_where_all_is_well_nothing_is_said(crew: World) -> None:
    serves = Caller(crew, crew.owner.call("make_api_key", project_id=crew.project_id, types=["build"])["token"])
    serves.call("register_agent", agent_id="q1", agent_type="build")
    answer = filed(crew)
    assert {"no_agent", "dependency_failed", "message"}.isdisjoint(answer)


# --- delegations -----------------------------------------------------------------------------------------------------


def test_the_answer_that_a_delegation_waited_for_is_not_asked_for_again(crew: World) -> None:
    crew.person("ann")
    working(crew).call("delegate_to_chat_session", target_agent_id="ann", purpose="Which colour?")
    chat = crew.start_chat("w1")
    first = chat.fetch()
    assert "send_message" in first["instruction"]
    chat.call("send_message", target_agent_id="ann", content="Which colour?")
    chat.call("logout")
    crew.say("w1", "Blue.", as_person="ann")
    again = crew.start_chat("w1").fetch()
    delegation = again["pending_delegations"][0]["delegation_id"]
    assert "send_message" not in again["instruction"]
    assert f'report_delegation_completed(delegation_id="{delegation}", result)' in again["instruction"]


def test_who_goes_on_after_a_delegation_is_told_where_its_result_is(world: World) -> None:
    world.crew(workers=1, decomposition="never")
    world.person("ann")
    worker = working(world)
    worker.call("get_my_task")
    worker.call("delegate_to_chat_session", target_agent_id="ann", purpose="Which colour?")
    assert "delegations" not in worker.next()["instruction"]
    chat = world.start_chat("w1")
    delegation = chat.fetch()["pending_delegations"][0]["delegation_id"]
    chat.call("report_delegation_completed", delegation_id=delegation, result="Blue.")
    told = worker.next()
    assert "its result is in `delegations`" in told["instruction"]
    assert told["delegations"][0]["result"] == "Blue."

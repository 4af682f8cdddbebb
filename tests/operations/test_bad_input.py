"""Bad input on every operation: a refusal that names the next step; nothing changed; the dispatcher works on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.samples import (
    PATIENT,
    Cast,
    all_operations,
    anything,
    cast,
    identifiers,
    kept,
    mistakes,
    sample,
    texts,
    untouched,
)
from tests.stories import Answer, Caller, Coordinator, Process, World
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation, Parameters, catalogue
from toryo.operations.calls.grants import Grant
from toryo.storage.engine.database import Database


def nested(depth: int) -> Any:
    value: Any = "bottom"
    for _ in range(depth):
        value = [value]
    return value


EVIL_TEXTS = ["nul \0 character", "half a pair \ud800"]
EVIL_JSON = [{"text": "nul \0"}, {"half": "\ud800"}, {"huge": 2**80}, nested(2000), {"\0": 1}, {"a": float("nan")}]


@pytest.fixture
def there(fresh: Database) -> Cast:
    return cast(World(fresh, PATIENT))


def works(there: Cast) -> None:
    """The dispatcher works on: who called before can go on."""
    there.callers[Grant.TASK_SESSION].call("get_next_action")
    there.world.coordinator().claim(free_slots=0)
    there.world.task("w1", title="One more", status="todo")


@pytest.mark.parametrize("share", range(4))
def test_every_mistake_in_the_arguments_of_every_operation_is_refused_and_changes_nothing(there: Cast, share: int):
    """Missing, extra, of a wrong type, too long, no such choice: named, with what is possible."""
    before = kept(there.world)
    seen = 0
    for operation in all_operations()[share::4]:
        for mistake in mistakes(operation, there):
            refusal = there.caller(operation).refused(operation.name, None, **mistake.arguments)
            where = f"{operation.name}: {mistake.kind} {mistake.about}"
            assert refusal.get("code", refusal["error"]) in ("validationError", "toolLarge", "tooLarge"), where
            if operation.name != "authenticate":
                assert mistake.about in refusal["message"], where
                assert issubclass(operation.parameters, Parameters)
                meant = operation.parameters.names_for(mistake.arguments)
                assert all(each in refusal["instruction"] for each in meant), where
            seen += 1
    assert seen > 100
    assert kept(there.world) == before
    works(there)


@pytest.mark.parametrize(
    ("name", "given", "meant"),
    [
        ("update_task_status", "taskid", "task_id"),
        ("update_task_status", "new_status", "status"),
        ("create_task", "desciption", "description"),
        ("create_task", "depends_on", "dependencies"),
        ("report_completed", "sumary", "summary"),
        ("get_agent_action", "agent", "agent_id"),
    ],
)
def test_a_name_that_does_not_exist_is_answered_with_the_nearest_one(there: Cast, name: str, given: str, meant: str):
    operation = catalogue()[name]
    refusal = there.caller(operation).refused(name, "validationError", **{**sample(operation, there), given: "x"})
    if given == "depends_on":
        assert meant in refusal["instruction"]
    else:
        assert f"Did you mean {meant} instead of {given}?" in refusal["instruction"]


def test_a_tool_that_does_not_exist_is_answered_with_the_nearest_ones(there: Cast):
    worker = there.callers[Grant.TASK_SESSION]
    assert "create_task" in worker.refused("create_subtask", "toolNotFound")["instruction"]
    assert "create_task" in there.world.nobody.refused("create_subtask", "toolNotFound")["instruction"]
    assert "poll_tasks" not in worker.refused("poll_task", "toolNotFound")["instruction"]
    assert "help" in there.world.nobody.refused("\0\ud800", "toolNotFound")["instruction"]


def test_texts_that_cannot_be_stored_are_refused_or_do_no_harm_wherever_they_are_put(there: Cast):
    for operation in all_operations():
        for name in texts(operation):
            for evil in EVIL_TEXTS:
                arguments = {**sample(operation, there), name: evil}
                there.caller(operation).ask(operation.name, **arguments)
    assert "\\x00" not in repr(kept(there.world))
    works(there)


def test_what_a_program_prints_is_taken_with_a_sign_for_what_cannot_be_stored(there: Cast):
    """A process whose output no column takes would never be reported as ended."""
    coordinator, launch = there.world.coordinator(), there.ids["launch_id"]
    coordinator.call("append_log", launch_id=launch, offset=0, text="a\0b\n")
    assert coordinator.call("append_log", launch_id=launch, offset=4, text="\0c")["next_offset"] == 6
    assert there.world.owner.call("read_launch_log", launch_id=launch)["text"] == "a␀b\n␀c"
    coordinator.exited(launch, exit_code=1, error="crashed\0: x\0", log_tail="tail\0", usage={"a": "\0"})


def test_a_backslash_that_looks_like_one_is_no_nul_character(there: Cast):
    worker = there.callers[Grant.TASK_SESSION]
    worker.call("save_progress", progress="\\u0000 and \\\\u0000")
    worker.refused("save_progress", "validationError", progress="\\u0000 and \0")


def test_json_that_cannot_be_stored_is_refused_or_does_no_harm_wherever_it_is_put(there: Cast):
    seen = 0
    for operation in all_operations():
        for name in anything(operation):
            for evil in EVIL_JSON:
                given = [evil] if name == "artifacts" else evil
                there.caller(operation).ask(operation.name, **{**sample(operation, there), name: given})
                seen += 1
    assert seen > 50
    works(there)


@pytest.mark.parametrize("evil", EVIL_TEXTS)
def test_credentials_of_any_characters_are_refused_and_nothing_else(there: Cast, evil: str):
    for bearer, token in (
        (evil, None),
        (f"tlc_{evil}", None),
        (None, evil),
        (None, f"tst_{evil}"),
        (f"tpt_{evil}", None),
    ):
        outcome = there.world.perform("get_next_action", {}, Credentials(bearer=bearer, session_token=token))
        assert outcome.refused
    assert there.world.perform("get_next_action", {"session_token": evil}, Credentials()).refused
    passkey = there.world.nobody.refused("authenticate", None, agent_id="w1", passkey=evil)
    assert passkey["action"] == "exit"
    works(there)


def test_numbers_beyond_any_column_are_refused_or_do_no_harm(there: Cast):
    for operation in all_operations():
        for name, described in operation.input_schema.get("properties", {}).items():
            kinds = {each.get("type") for each in described.get("anyOf", [described])}
            if "integer" in kinds:
                for number in (2**63, -(2**63) - 1, 2**200):
                    there.caller(operation).ask(operation.name, **{**sample(operation, there), name: number})
    works(there)


# --- ids -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def foreign(there: Cast) -> dict[str, str]:
    """Another project, with a task, an agent, a launch, a session, a handoff and a conversation of its own."""
    world = there.world
    project = world.project(name="Garden")
    world.owner.call("create_agent", id="gardener", role="worker", provider="claude", projects=[project])
    asked = {"project_id": project, "title": "Dig", "assignee_id": "gardener", "status": "in_progress"}
    task = world.owner.call("file_task", **asked)["task_id"]
    process = world.process(world.coordinator().action("gardener")["launch"])
    process.sign_in()
    process.call("report_model", provider="claude", model_id="m")
    process.call("get_my_task")
    handoff = process.call("create_handoff", task_id=task, summary="x")["handoff_id"]
    session = next(each["session_id"] for each in world.sessions() if each["agent_id"] == "gardener")
    ids = {"project_id": project, "agent_id": "gardener", "handoff_id": handoff, "session_id": session}
    ids |= _talk_elsewhere(world, project, process)
    names = ("task_id", "parent_task_id", "dependencies", "add_dependencies", "related_task_id")
    return {**ids, "launch_id": process.launch_id, **dict.fromkeys(names, task)}


def _talk_elsewhere(world: World, project: str, process: Process) -> dict[str, str]:
    """A message, a delegation and a conversation of that project."""
    world.owner.call("create_agent", id="florist", role="worker", provider="claude", projects=[project])
    said = world.owner.call("send_chat_message", project_id=project, agent_id="gardener", content="Which flowers?")
    delegated = process.call("delegate_to_chat_session", target_agent_id="florist", purpose="Ask.")["delegation_id"]
    chat = world.start_chat("gardener")
    chat.fetch()
    asked = {"target_agent_id": "florist", "initial_message": "Roses?", "delegation_id": delegated}
    conversation = chat.call("start_conversation", **asked)["conversation_id"]
    message = said["message"]["message_id"]
    return {"message_id": message, "delegation_id": delegated, "conversation_id": conversation}


NOT_FOUND = {
    "taskNotFound", "projectNotFound", "agentNotFound", "sessionNotFound", "launchNotFound", "handoffNotFound",
    "messageNotFound", "conversationNotFound", "delegationNotFound",
}  # fmt: skip
FREE = {
    ("save_progress", "task_id"),
    ("authenticate", "agent_id"),
    ("authenticate", "project_id"),
    ("get_agent_action", "agent_id"),
    ("should_start", "agent_id"),
    ("report_execution_start", "task_id"),
    ("agent_start", "agent_id"),
    ("agent_start", "project_id"),
    ("open_chat", "viewer_id"),
    ("make_api_key", "agent_id"),
    ("add_person", "person_id"),
}
"""Parameters that answer for an unknown id in another way (a hold, a refusal to sign in), shown elsewhere."""


def test_an_id_that_does_not_exist_is_refused_on_every_operation_that_takes_one(there: Cast):
    before = kept(there.world)
    seen = 0
    for operation in all_operations():
        for name in identifiers(operation):
            if (operation.name, name) in FREE:
                continue
            arguments = {**sample(operation, there), name: "tsk_0000000000000000000"}
            outcome = there.caller(operation).ask(operation.name, **arguments)
            assert outcome.result is not None
            if not outcome.refused:  # a list of what is not there is empty
                assert empty_list(outcome.result), f"{operation.name} {name}: {outcome.result}"
            seen += 1
    assert seen > 50
    assert kept(there.world) == before


def empty_list(answer: Answer) -> bool:
    return all(value == [] for value in answer.values() if isinstance(value, list))


SESSION_TOOLS = [
    ("get_task", "task_id"),
    ("list_tasks", "parent_task_id"),
    ("save_progress", "task_id"),
    ("create_handoff", "task_id"),
    ("accept_handoff", "handoff_id"),
    ("create_task", "parent_task_id"),
    ("create_task", "dependencies"),
    ("create_tasks_batch", "parent_task_id"),
    ("update_task_status", "task_id"),
    ("update_task", "task_id"),
    ("cancel_task", "task_id"),
    ("block_task", "task_id"),
    ("update_task_dependencies", "task_id"),
    ("update_task_dependencies", "add_dependencies"),
    ("assign_task", "task_id"),
    ("get_recent_completions", "parent_task_id"),
    ("get_subordinate_profile", "agent_id"),
    ("read_task", "task_id"),
    ("read_board", "project_id"),
]
CHAT_TOOLS = [
    ("respond_chat", "message_id"),
    ("send_message", "related_task_id"),
    ("start_conversation", "delegation_id"),
    ("send_conversation_message", "conversation_id"),
    ("respond_conversation_message", "conversation_id"),
    ("end_conversation", "conversation_id"),
    ("report_delegation_completed", "delegation_id"),
    ("notify_task_session", "task_id"),
    ("request_task", "message_id"),
]


def test_an_id_of_another_project_is_not_found_by_a_session(there: Cast, foreign: dict[str, str]):
    """F118: as if it did not exist; the words differ in the id alone."""
    boss, chat = there.callers[Grant.MANAGER], there.callers[Grant.CHAT_SESSION]
    before = kept(there.world)
    for caller, name, parameter in [(boss, *each) for each in SESSION_TOOLS] + [(chat, *each) for each in CHAT_TOOLS]:
        good = sample(catalogue()[name], there)
        if name == "save_progress":
            good["progress"] = "x"
        if name in ("create_task", "create_tasks_batch"):
            good["intent"] = "new"
        of_list = parameter in ("dependencies", "add_dependencies")
        real, invented = foreign[parameter], "tsk_0000000000000000000"
        theirs, nobodys = (
            caller.refused(name, None, **{**good, parameter: [each] if of_list else each}) for each in (real, invented)
        )
        assert theirs["error"] in NOT_FOUND, f"{name} {parameter}: {theirs}"
        assert theirs["error"] == nobodys["error"]
        assert theirs["message"].replace(real, invented) == nobodys["message"]
    assert kept(there.world) == before


def test_a_person_who_is_no_member_finds_nothing_of_the_project(there: Cast, foreign: dict[str, str]):
    member = there.world.member("lena")
    for operation in all_operations():
        if operation.grant not in (Grant.PERSON, Grant.WRITER, Grant.READER) or operation.name in ("why", "show_agent"):
            continue
        for name in identifiers(operation):
            if name in foreign and name != "agent_id":
                outcome = member.ask(operation.name, **{**sample(operation, there), **_all_foreign(operation, foreign)})
                assert outcome.result is not None
                found = outcome.result
                assert outcome.refused or empty_list(found), f"{operation.name} {name}: {found}"
                assert foreign.get("task_id", "") not in str(found.get("tasks", ""))


def _all_foreign(operation: Operation, foreign: dict[str, str]) -> Answer:
    return {name: foreign[name] for name in identifiers(operation) if name in foreign}


# --- callers ---------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F79")
def test_every_operation_refuses_every_caller_that_its_grant_does_not_name(there: Cast):
    """F79, F116, F117: credentials of agents open nothing of people or Coordinators, and the other way round."""
    world = there.world
    worker, boss = there.callers[Grant.TASK_SESSION], there.callers[Grant.MANAGER]
    world.task("w2")
    unsigned = world.process(world.coordinator().action("w2")["launch"])
    people = (Grant.PERSON, Grant.WRITER, Grant.OWNER)
    sessions = (Grant.ANY_SESSION, Grant.TASK_SESSION, Grant.LEADING, Grant.FILER, Grant.SHARER)
    talks = (Grant.ANY_SESSION, Grant.CHAT_SESSION, Grant.READER, Grant.SHARER)
    keyed = (Grant.FILER, Grant.QUEUE_AGENT, Grant.SHARER, Grant.REGISTRAR)
    may: dict[str, tuple[Caller, tuple[Grant, ...]]] = {
        "nobody": (world.nobody, (Grant.REGISTRAR,)),  # whether it may is a setting
        "key": (there.callers[Grant.QUEUE_AGENT], keyed),
        "coordinator": (world.coordinator(), (Grant.COORDINATOR,)),
        "launch": (unsigned, ()),
        "worker": (worker, (*sessions, Grant.READER)),
        "manager": (boss, (*sessions, Grant.MANAGER, Grant.READER)),
        "talker": (there.callers[Grant.CHAT_SESSION], talks),
        "owner": (world.owner, (*people, Grant.READER)),
    }
    before = kept(world)
    for who, (caller, grants) in may.items():
        for operation in all_operations():
            if operation.grant is Grant.OPEN or operation.grant in grants or operation.name == "logout":
                continue  # leaving always succeeds
            refusal = caller.refused(operation.name, None, **sample(operation, there))
            assert refusal["error"] in _REASONS, f"{who} {operation.name}: {refusal}"
    assert kept(world) == before


_REASONS = {
    "authenticationRequired", "coordinatorRequired", "managerRequired", "taskSessionRequired", "chatSessionRequired",
}  # fmt: skip


def test_a_worker_is_told_that_a_tool_is_for_managers_and_what_to_do(there: Cast):
    refusal = there.callers[Grant.TASK_SESSION].refused("select_action", "managerRequired", action="wait")
    assert "get_next_action" in refusal["instruction"]


# --- rules -----------------------------------------------------------------------------------------------------------


def test_circles_of_dependencies_are_refused_and_named(there: Cast):
    """F86, F135: over dependencies, and over parents that wait for their children."""
    world, boss = there.world, there.callers[Grant.MANAGER]
    one, two = (task["task_id"] for task in boss.call("list_tasks")["tasks"])
    boss.call("update_task_dependencies", task_id=two, add_dependencies=[one])
    refusal = untouched(world, boss, "update_task_dependencies", "dependencyCycle", task_id=one, add_dependencies=[two])
    assert set(refusal["cycle"]) == {one, two}
    untouched(world, boss, "update_task_dependencies", "dependencyCycle", task_id=one, add_dependencies=[one])
    main = world.show(one)["parent_task_id"]
    untouched(world, boss, "update_task_dependencies", "dependencyCycle", task_id=one, add_dependencies=[main])
    tasks = [
        {"local_id": "a", "title": "A", "description": "x", "dependencies": ["b"]},
        {"local_id": "b", "title": "B", "description": "x", "dependencies": ["a"]},
    ]
    untouched(world, boss, "create_tasks_batch", "dependencyCycle", tasks=tasks, intent="new")


@pytest.mark.pitfall("F87")
def test_a_batch_with_a_mistake_in_its_fourth_item_creates_nothing(there: Cast):
    """F87."""
    world, boss = there.world, there.callers[Grant.MANAGER]
    tasks: list[Answer] = [{"local_id": str(number), "title": f"T{number}", "description": "x"} for number in range(5)]
    tasks[3]["dependencies"] = ["no such id"]
    untouched(world, boss, "create_tasks_batch", "taskNotFound", tasks=tasks, intent="new")
    tasks[3]["dependencies"] = []
    tasks[3]["local_id"] = "0"
    untouched(world, boss, "create_tasks_batch", "validationError", tasks=tasks, intent="new")


def test_a_plan_that_cannot_replace_the_old_one_leaves_it_as_it_is(there: Cast):
    """What was cancelled for a batch that is refused is not cancelled."""
    world, boss = there.world, there.callers[Grant.MANAGER]
    tasks = [{"local_id": "a", "title": "A", "description": "x", "dependencies": ["tsk_none"]}]
    untouched(world, boss, "create_tasks_batch", "taskNotFound", tasks=tasks, intent="replace")


def test_moves_that_do_not_exist_are_refused_with_those_that_do(there: Cast):
    world, boss = there.world, there.callers[Grant.MANAGER]
    part = there.ids["task_id"]
    for status in ("completed", "failed", "todo"):
        refusal = untouched(
            world, boss, "update_task_status", "invalidTransition", task_id=part, status=status, reason="x"
        )
        assert refusal["possible"] == ["backlog", "in_progress", "blocked", "cancelled"]
        assert all(each in refusal["instruction"] for each in refusal["possible"])
    boss.call("cancel_task", task_id=part, reason="x")
    refusal = untouched(world, boss, "update_task_status", "invalidTransition", task_id=part, status="todo")
    assert (refusal["possible"], refusal["instruction"]) == ([], "cancelled is final. Create a new task instead.")


def test_the_sixth_subtask_of_a_worker_is_refused_and_led_on(there: Cast):
    world, worker = there.world, there.callers[Grant.TASK_SESSION]
    for number in range(4):
        worker.call("create_task", title=f"More {number}", description="x")
    refusal = untouched(world, worker, "create_task", "tooManySubtasks", title="Sixth", description="x")
    assert (refusal["limit"], refusal["existing"]) == (5, 5)
    assert "get_next_action" in refusal["instruction"]


def test_a_title_that_an_open_sibling_has_is_refused_with_that_siblings_id(there: Cast):
    world, boss = there.world, there.callers[Grant.MANAGER]
    refusal = untouched(world, boss, "create_task", "duplicateSubtask", title="  PART ", description="x", intent="new")
    assert refusal["task_id"] == there.ids["task_id"]


def test_a_second_batch_without_saying_why_answers_what_exists_and_creates_nothing(there: Cast):
    """F63."""
    world, boss = there.world, there.callers[Grant.MANAGER]
    tasks = [{"local_id": "a", "title": "A", "description": "x"}]
    refusal = untouched(world, boss, "create_tasks_batch", "duplicateSubtask", tasks=tasks)
    assert [each["title"] for each in refusal["existing"]] == ["Part", "Other part"]


@pytest.mark.pitfall("F63")
def test_an_idempotency_key_creates_once_and_says_so_when_the_content_differs(there: Cast):
    world, boss = there.world, there.callers[Grant.MANAGER]
    main = there.ids["parent_task_id"]
    tasks = [{"local_id": "a", "title": "A", "description": "x"}]
    asked = {"tasks": tasks, "intent": "new", "idempotency_key": "k"}
    first = boss.call("create_tasks_batch", **asked)
    assert boss.call("create_tasks_batch", **asked)["local_id_to_real_id"] == first["local_id_to_real_id"]
    again = boss.call("create_tasks_batch", parent_task_id=main, **asked)
    assert again["local_id_to_real_id"] == first["local_id_to_real_id"]
    other = [{"local_id": "a", "title": "B", "description": "x"}]
    untouched(world, boss, "create_tasks_batch", "conflict", tasks=other, intent="new", idempotency_key="k")


@pytest.mark.pitfall("F92")
def test_a_stale_version_is_a_conflict_and_no_field_is_lost(there: Cast):
    """F92."""
    world, part = there.world, there.ids["task_id"]
    version = world.show(part)["version"]
    world.owner.call("edit_task", task_id=part, title="New title", version=version)
    refusal = untouched(world, world.owner, "edit_task", "conflict", task_id=part, description="x", version=version)
    assert refusal["version"] == world.show(part)["version"]
    untouched(
        world, world.owner, "move_task", "conflict", task_id=part, status="cancelled", reason="x", version=version
    )


def test_what_only_the_server_notes_about_a_task_is_no_conflict_for_people(there: Cast):
    """Looks, waits and counts of launches are not what a person has seen of it."""
    world, boss = there.world, there.callers[Grant.MANAGER]
    main = there.ids["parent_task_id"]
    version = world.show(main)["version"]
    boss.call("get_next_action")
    boss.call("select_action", action="start")
    boss.call("logout")
    world.start("boss").call("get_next_action")
    world.owner.call("edit_task", task_id=main, title="As planned", version=version)


def test_a_time_that_is_none_is_refused(there: Cast):
    boss = there.callers[Grant.MANAGER]
    for since in ("yesterday", "2026-13-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", ""):
        outcome = boss.ask("get_recent_completions", since=since)
        assert outcome.refused or since.startswith(("0001", "9999")), since


def test_the_depth_of_the_tree_is_limited(there: Cast):
    world, boss = there.world, there.callers[Grant.MANAGER]
    parent = there.ids["task_id"]
    for depth in (3, 4):
        parent = boss.call("create_task", title=f"Level {depth}", description="x", parent_task_id=parent)["task_id"]
    refusal = untouched(
        world, boss, "create_task", "depthExceeded", title="Level 5", description="x", parent_task_id=parent
    )
    assert refusal["limit"] == 4


def test_open_and_ever_made_subtasks_are_limited_for_managers_too(fresh: Database):
    world = World(fresh, PATIENT)
    world.crew(workers=1, open_subtasks=6, subtasks_ever=9)
    world.task("boss")
    boss = world.start("boss")

    def batch(first: int, many: int, intent: str) -> Answer:
        return {
            "tasks": [
                {"local_id": str(each), "title": f"T{each}", "description": "x"} for each in range(first, first + many)
            ],
            "intent": intent,
        }

    boss.call("create_tasks_batch", **batch(0, 6, "new"))
    assert boss.refused("create_tasks_batch", "tooManySubtasks", **batch(6, 1, "new"))["limit"] == 6
    boss.call("create_tasks_batch", **batch(6, 3, "replace"))
    assert boss.refused("create_tasks_batch", "tooManySubtasks", **batch(9, 1, "replace"))["limit"] == 9


def test_requests_are_limited_and_pend_until_a_superior_approves(there: Cast):
    world, worker = there.world, there.callers[Grant.TASK_SESSION]
    made = [worker.call("request_task", title=f"R{number}", assignee_id="w2")["task_id"] for number in range(5)]
    assert world.show(made[0])["approval"] == "pending_approval"
    untouched(world, worker, "request_task", "limitReached", title="R6", assignee_id="w2")
    world.move(made[0], "todo")
    untouched(world, world.owner, "move_task", "notApproved", task_id=made[0], status="in_progress")
    world.owner.call("approve_task", task_id=made[0])
    world.move(made[0], "in_progress")
    world.owner.call("reject_task", task_id=made[1], reason="no")
    worker.call("request_task", title="R6", assignee_id="w2")


def test_the_forms_of_queues_and_of_subtasks_do_not_mix(there: Cast):
    worker = there.callers[Grant.TASK_SESSION]
    untouched(there.world, worker, "create_task", "validationError", title="x", description="x", agent_type="build")
    untouched(there.world, worker, "create_task", "permissionDenied", agent_type="build", task_description="x")


def test_a_process_exit_with_nonsense_in_it_is_refused_and_the_launch_lives(there: Cast):
    coordinator: Coordinator = there.world.coordinator()
    launch = there.ids["launch_id"]
    coordinator.refused("report_process_exit", "validationError", launch_id=launch, exit_code="zero")
    coordinator.refused("report_process_exit", "validationError", launch_id=launch, quota_reset_seconds=-1)
    there.callers[Grant.TASK_SESSION].call("get_next_action")

"""Pitfalls F54 to F94: tasks and workflow."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.databases import empty
from tests.pitfalls.kit import left_waiting, person, starts
from tests.stories import Answer, Process, World
from toryo.domain.projects import Language
from toryo.operations.calls.catalogue import catalogue
from toryo.settings import GuardSettings, Settings
from toryo.storage import schema
from toryo.storage.engine.database import Database
from toryo.translation_catalogues import texts
from toryo.workflow.instructions import TEXTS, TOOLS


def drafts(*titles: str, **more: Any) -> list[Answer]:
    return [{"local_id": title, "title": title, "description": "x", **more} for title in titles]


@pytest.mark.pitfall("F54")
def test_f54_an_agent_that_creates_without_end_is_told_to_start_what_it_has(crew: World) -> None:
    crew.task("w1")
    worker = crew.start("w1")
    answers = [worker.ask("create_task", title=f"Part {each}", description="x") for each in range(19)]
    assert [answer.refused for answer in answers] == [False] * 5 + [True] * 14
    refusal = answers[-1].result or {}
    assert refusal["error"] == "tooManySubtasks"
    assert "get_next_action" in refusal["instruction"]
    assert worker.action() == "start_subtask"


@pytest.mark.pitfall("F55")
def test_f55_a_worker_is_led_on_by_a_task_that_has_a_parent(crew: World) -> None:
    crew.task("boss")
    left_waiting(crew, Walls="w1")
    worker = crew.start("w1")
    assert worker.action() == "create_subtasks"
    (bricks,) = worker.batch("Bricks")
    assert worker.next()["subtask"]["task_id"] == bricks


@pytest.mark.pitfall("F56")
def test_f56_only_what_can_be_started_is_offered_and_a_deadlock_says_who_waits_for_what(crew: World) -> None:
    crew.task("w1")
    worker = crew.start("w1")
    tasks = [*drafts("A"), *drafts("B", dependencies=["A"]), *drafts("C", dependencies=["B"])]
    ids = worker.call("create_tasks_batch", tasks=tasks)["local_id_to_real_id"]
    assert worker.next()["subtask"]["task_id"] == ids["A"]
    for status in ("in_progress", "completed"):
        worker.set(ids["A"], status)
    assert worker.next()["subtask"]["task_id"] == ids["B"]
    worker.call("cancel_task", task_id=ids["B"], reason="not needed")
    told = worker.next()
    assert told["action"] == "resolve_dependency_deadlock"
    assert ids["C"] in told["waiting"][0]
    assert f"waits for {ids['B']} (cancelled)" in told["waiting"][0]


@pytest.mark.pitfall("F56")
def test_f56_a_subtask_that_waits_for_a_strangers_task_says_so(crew: World) -> None:
    foreign = crew.task("w2", status="todo")
    crew.task("w1")
    worker = crew.start("w1")
    (part,) = worker.batch("Part")
    crew.owner.call("edit_task", task_id=part, add_dependencies=[foreign])
    told = worker.next()
    assert told["action"] == "resolve_dependency_deadlock"
    assert part in told["waiting"][0]
    assert f"waits for {foreign} (todo)" in told["waiting"][0]


@pytest.mark.pitfall("F57")
def test_f57_a_manager_sees_the_subtasks_that_are_its_workers(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    ids = boss.assigned({"Walls": "w1", "Roof": "w2", "Paint": None})
    assert {each["task_id"] for each in boss.call("list_tasks")["tasks"]} == set(ids)


@pytest.mark.pitfall("F61")
def test_f61_a_manager_without_workers_is_started_once_and_people_see_why_its_task_is_blocked(world: World) -> None:
    world.crew(workers=0)
    main = world.task("boss")
    boss = world.start("boss")
    assert "no_available_workers" in boss.next()["instruction"]
    boss.report("blocked", summary="no_available_workers")
    assert starts(world, "boss", 600) == 0
    assert world.show(main)["blocked_reason"] == "no_available_workers"
    assert [event["data"]["reason"] for event in world.events("task.blocked")] == ["no_available_workers"]
    (need,) = world.owner.call("needs_you")["items"]
    assert (need["kind"], need["task_id"]) == ("blocked", main)


@pytest.mark.pitfall("F62")
def test_f62_every_choice_that_the_schema_offers_is_one_the_handler_takes(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    (walls,) = boss.assigned({"Walls": "w1"})
    boss.begin(walls)
    offered = catalogue()["select_action"].input_schema["properties"]["action"]["enum"]
    assert boss.action() == "situational_awareness"
    for choice in offered:
        if choice == "start":  # taken where something can be started, as by `begin`
            boss.refused("select_action", "notNow", action=choice)
            continue
        boss.call("select_action", action=choice)
        assert boss.next()["action"] == choice
    crew.start("w1").report()
    assert crew.start("boss").action() == "report_completion"


@pytest.mark.pitfall("F63")
def test_f63_a_plan_that_is_sent_again_creates_nothing_and_gets_the_ids_that_exist(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    first = boss.call("create_tasks_batch", tasks=drafts("Walls", "Roof"), idempotency_key="plan")
    again = boss.call("create_tasks_batch", tasks=drafts("Walls", "Roof"), idempotency_key="plan")
    assert again["local_id_to_real_id"] == first["local_id_to_real_id"]
    boss.refused("create_tasks_batch", "conflict", tasks=drafts("Other"), idempotency_key="plan")
    for title in ("Walls", "Something new"):
        refusal = boss.refused("create_tasks_batch", "duplicateSubtask", tasks=drafts(title))
        assert [each["task_id"] for each in refusal["existing"]] == [*first["local_id_to_real_id"].values()]
    refusal = boss.refused("create_tasks_batch", "duplicateSubtask", tasks=drafts("  WALLS "), intent="new")
    assert refusal["task_id"] == first["local_id_to_real_id"]["Walls"]
    assert len(boss.call("list_tasks")["tasks"]) == 2


@pytest.mark.pitfall("F64")
def test_f64_a_manager_that_returns_is_told_what_was_done_while_it_was_away(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    walls, roof, paint = boss.assigned({"Walls": "w1", "Roof": "w2", "Paint": None})
    boss.call("update_task_dependencies", task_id=paint, add_dependencies=[walls, roof])
    boss.begin(walls, roof)
    boss.wait()
    crew.start("w1").report(summary="four walls")
    crew.start("w2").report(summary="a roof")
    told = crew.start("boss").next()["since_you_left"]
    assert {result["task_id"]: result["summary"] for result in told["results"]} == {walls: "four walls", roof: "a roof"}


@pytest.mark.pitfall("F66")
def test_f66_reporting_blocked_blocks_the_main_task_whatever_a_subtask_is(crew: World) -> None:
    main = crew.task("w1")
    worker = crew.start("w1")
    one, _ = worker.batch("One", "Two")
    worker.set(one, "in_progress")
    worker.set(one, "blocked", "no stone")
    worker.report("blocked", summary="no stone anywhere")
    assert (crew.status(main), crew.show(main)["blocked_reason"]) == ("blocked", "no stone anywhere")


@pytest.mark.pitfall("F67")
def test_f67_no_path_completes_a_task_whose_children_are_open(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    boss.begin(part)
    worker = crew.start("w1")
    (bricks,) = worker.batch("Bricks")
    refusals = [
        worker.refused("report_completed", "subtasksOpen", result="success"),
        boss.refused("update_task_status", "subtasksOpen", task_id=part, status="completed"),
        crew.owner.refused("move_task", "subtasksOpen", task_id=part, status="done"),
    ]
    assert [[open_subtask["task_id"] for open_subtask in refusal["open_subtasks"]] for refusal in refusals] == [
        [bricks]
    ] * 3
    assert crew.status(part) == "in_progress"


@pytest.mark.pitfall("F68")
def test_f68_no_path_starts_a_task_that_is_nobodys_or_leaves_one_at_nobody(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": None})
    boss.next()
    boss.call("select_action", action="start")
    running = crew.task("w1")
    wanted = {"project_id": crew.project_id, "title": "x", "status": "in_progress"}
    for refusal in (
        boss.refused("update_task_status", None, task_id=part, status="in_progress"),
        crew.owner.refused("move_task", None, task_id=part, status="in_progress"),
        crew.owner.refused("file_task", None, **wanted),
        crew.owner.refused("edit_task", None, task_id=running, assignee_id=None),
    ):
        assert "assignee" in refusal["message"]
    assert crew.status(part) == "todo"


@pytest.mark.pitfall("F69")
def test_f69_a_change_is_its_authors_and_superiors_at_any_distance_may_make_one_and_strangers_not(
    crew: World,
) -> None:
    hana, paul = person(crew, "hana"), person(crew, "paul")
    crew.owner.call("edit_agent", agent_id="boss", reports_to="hana")
    task = crew.task("w1")
    worker = crew.start("w1")
    (one,) = worker.batch("One")
    worker.set(one, "in_progress")
    worker.set(one, "blocked", "no stone")
    (blocked,) = worker.next()["blocked_subtasks"]
    assert (blocked["blocked_by"], blocked["you_may_resolve"]) == ("w1", True)
    assert [event["actor_id"] for event in crew.events("task.blocked")] == ["w1"]
    paul.refused("move_task", "permissionDenied", task_id=task, status="blocked", reason="x")
    hana.call("move_task", task_id=task, status="blocked", reason="not now")
    assert crew.show(task)["blocked_by"] == "hana"


@pytest.mark.pitfall("F70")
def test_f70_an_assignee_starts_what_was_put_back_and_not_what_somebody_above_blocked(crew: World) -> None:
    crew.task("w1")
    worker = crew.start("w1")
    one, two = worker.batch("One", "Two")
    for each in ("backlog", "todo"):
        crew.move(one, each)
    crew.move(two, "blocked", "not now")
    worker.set(one, "in_progress")
    refusal = worker.refused("update_task_status", "permissionDenied", task_id=two, status="in_progress")
    assert refusal["blocked_by"] == "owner"


@pytest.mark.pitfall("F71")
def test_f71_a_parent_whose_startable_children_nobody_starts_is_reported_once_and_named(crew: World) -> None:
    main = crew.task("boss")
    boss = crew.start("boss")
    walls, roof = boss.assigned({"Walls": "w1", "Roof": "w2"})
    crew.move(roof, "backlog")
    for _ in range(5):
        crew.advance(60)
        crew.housekeep()
    (stall,) = crew.events("task.stalled")
    assert (stall["task_id"], stall["data"]["startable"]) == (main, [walls])
    assert crew.coordinator().reason("boss").startswith("start")


@pytest.mark.pitfall("F72")
def test_f72_reading_a_task_and_polling_do_not_start_it(crew: World) -> None:
    crew.task("w1")
    other = crew.task("w1", title="Another", status="todo")
    worker = crew.start("w1")
    (one,) = worker.batch("One")
    coordinator = crew.coordinator()
    for _ in range(10):
        for name, more in (("get_my_task", {}), ("list_tasks", {}), ("get_task", {"task_id": one})):
            worker.call(name, **more)
        worker.next()
        coordinator.action("w1")
    assert [crew.status(each) for each in (one, other)] == ["todo", "todo"]


@pytest.mark.pitfall("F75")
def test_f75_a_start_leaves_one_record_however_often_its_task_is_read_and_it_is_closed_by_a_kill(
    crew: World,
) -> None:
    other = crew.project(name="Garden")
    crew.owner.call("add_member", project_id=other, agent_id="w1")
    crew.task("w1")
    crew.owner.call("file_task", project_id=other, title="Dig", assignee_id="w1", status="in_progress")
    launches = crew.coordinator().claim()["start"]
    (here,) = [launch for launch in launches if launch["project_id"] == crew.project_id]
    for launch in launches:
        process = crew.process(launch)
        process.sign_in()
        for _ in range(5):
            process.call("get_my_task")
    crew.coordinator().exited(here["launch_id"], signal=9, error="killed")
    (closed,) = crew.launches(project_id=crew.project_id)
    assert (closed["state"], closed["exit_error"]) == ("exited", "killed")
    assert closed["ended_at"]
    (untouched,) = crew.launches(project_id=other)
    assert (untouched["state"], untouched["ended_at"]) == ("signed_in", None)


@pytest.mark.pitfall("F76")
def test_f76_the_parallel_limit_counts_main_tasks_of_one_project(crew: World) -> None:
    other = crew.project(name="Garden")
    crew.owner.call("add_member", project_id=other, agent_id="w1")
    first = crew.task("w1")
    crew.owner.call("file_task", project_id=other, title="Dig", assignee_id="w1", status="in_progress")
    second = crew.task("w1", title="Another", status="todo")
    refusal = crew.owner.refused("move_task", "limitReached", task_id=second, status="in_progress")
    assert refusal["running"] == [first]
    worker = crew.start("w1")
    (one,) = worker.batch("One")
    worker.set(one, "in_progress")


@pytest.mark.pitfall("F77")
def test_f77_who_asked_for_a_task_is_kept_and_its_id_says_that_it_is_a_task(crew: World) -> None:
    hana = person(crew, "hana")
    filed = hana.call("file_task", project_id=crew.project_id, title="Build", assignee_id="w1")
    assert filed["task"]["created_by"] == "hana"
    assert filed["task_id"].startswith("tsk_")
    hana.call("move_task", task_id=filed["task_id"], status="in_progress")
    assert crew.start("w1").action() == "create_subtasks", "it was given, so it is decomposed"


@pytest.mark.pitfall("F80")
def test_f80_nobody_takes_a_task_over_by_adding_to_it_while_another_works_on_it(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    boss.begin(part)
    boss.refused("create_task", "notNow", title="More", description="x", parent_task_id=part)
    assert crew.show(part)["assignee_id"] == "w1"


@pytest.mark.pitfall("F81")
def test_f81_what_was_cancelled_and_replaced_does_not_keep_a_task_from_its_end(crew: World) -> None:
    crew.owner.call("edit_agent", agent_id="w1", max_parallel_tasks=5)
    crew.task("boss")
    boss = crew.start("boss")
    one, two, three = boss.assigned({"One": "w1", "Two": "w1", "Three": "w1"})
    boss.call("cancel_task", task_id=three, reason="in two parts instead")
    parts = boss.assigned({"Left part": "w1", "Right part": "w1"}, intent="new")
    boss.begin(one, two, *parts)
    boss.wait()
    for _ in range(4):
        crew.start("w1").report()
    boss = crew.start("boss")
    assert boss.action() == "report_completion"
    boss.report()


@pytest.mark.pitfall("F82")
def test_f82_success_is_of_the_reported_task_alone_and_starts_or_ends_no_other(crew: World) -> None:
    elsewhere = crew.task("boss")
    others = [crew.task("w1", title=each, parent_task_id=elsewhere, status="todo") for each in ("One", "Two")]
    main = crew.task("w1")
    crew.start("w1").report()
    assert crew.status(main) == "completed"
    assert [crew.status(each) for each in (elsewhere, *others)] == ["in_progress", "todo", "todo"]


@pytest.mark.pitfall("F83")
def test_f83_who_is_told_to_review_blocks_may_report_blocked_with_open_subtasks(crew: World) -> None:
    main = crew.task("boss")
    boss = crew.start("boss")
    walls, roof = boss.assigned({"Walls": "w1", "Roof": "w2"})
    boss.call("update_task_dependencies", task_id=roof, add_dependencies=[walls])
    boss.begin(walls)
    boss.wait()
    crew.start("w1").report("blocked", summary="no bricks")
    boss = crew.start("boss")
    assert boss.action() == "review_and_resolve_blocks"
    boss.report("blocked", summary="nobody has bricks")
    assert (crew.status(main), crew.show(main)["blocked_reason"]) == ("blocked", "nobody has bricks")
    assert [crew.status(each) for each in (walls, roof)] == ["blocked", "blocked"]


@pytest.mark.pitfall("F85")
def test_f85_a_subtask_at_work_is_not_taken_for_the_main_task(crew: World) -> None:
    main = crew.task("w1")
    worker = crew.start("w1")
    (one,) = worker.batch("One")
    worker.set(one, "in_progress")
    told = worker.next()
    assert (told["action"], told["subtask"]["task_id"], told["task"]["task_id"]) == ("execute_subtask", one, main)
    worker.report("failed", summary="cannot")
    assert crew.status(main) == "failed"
    assert crew.show(one)["blocked_cause"] == main


BAD_DEPENDENCIES: dict[str, Callable[[World, str, str], tuple[str, str]]] = {
    "missing": lambda world, main, part: ("tsk_missing", "taskNotFound"),
    "of another project": lambda world, main, part: (_elsewhere(world), "taskNotFound"),
    "its own ancestor": lambda world, main, part: (main, "dependencyCycle"),
}


def _elsewhere(world: World) -> str:
    other = world.project(name="Elsewhere")
    made: str = world.owner.call("file_task", project_id=other, title="Foreign")["task_id"]
    return made


@pytest.mark.pitfall("F86")
@pytest.mark.parametrize("bad", BAD_DEPENDENCIES)
def test_f86_a_bad_dependency_is_refused_by_every_path_that_writes_one(crew: World, bad: str) -> None:
    main = crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    wanted, code = BAD_DEPENDENCIES[bad](crew, main, part)
    before = crew.rows(schema.tasks, schema.dependencies)
    new = {"title": "New", "description": "x", "dependencies": [wanted], "intent": "new"}
    boss.refused("create_task", code, **new)
    boss.refused("create_tasks_batch", code, tasks=drafts("New", dependencies=[wanted]), intent="new")
    boss.refused("update_task_dependencies", code, task_id=part, add_dependencies=[wanted])
    crew.owner.refused("edit_task", code, task_id=part, add_dependencies=[wanted])
    filed = {"project_id": crew.project_id, "title": "New", "dependencies": [wanted], "parent_task_id": main}
    crew.owner.refused("file_task", code, **filed)
    assert crew.rows(schema.tasks, schema.dependencies) == before


@pytest.mark.pitfall("F86")
def test_f86_waiting_in_a_circle_is_refused_by_every_path_that_could_close_one(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    one, two = boss.assigned({"One": "w1", "Two": "w2"})
    boss.call("update_task_dependencies", task_id=two, add_dependencies=[one])
    refusals = [
        boss.refused("update_task_dependencies", "dependencyCycle", task_id=one, add_dependencies=[two]),
        crew.owner.refused("edit_task", "dependencyCycle", task_id=one, add_dependencies=[two]),
        crew.owner.refused("edit_task", "dependencyCycle", task_id=one, add_dependencies=[one]),
        boss.refused(
            "create_tasks_batch",
            "dependencyCycle",
            tasks=[*drafts("A", dependencies=["B"]), *drafts("B", dependencies=["A"])],
            intent="new",
        ),
    ]
    assert all(refusal["cycle"] for refusal in refusals)


@pytest.mark.pitfall("F86")
def test_f86_a_predecessor_elsewhere_in_the_project_counts_and_a_cancelled_one_flags_who_waits(crew: World) -> None:
    before = crew.task("w2", title="Before")
    after = crew.task("w1", title="After", status="todo", dependencies=[before])
    crew.owner.refused("move_task", "dependencyNotMet", task_id=after, status="in_progress")
    crew.move(before, "completed")
    crew.move(after, "in_progress")
    given_up = crew.task("w2", title="Given up")
    waiting = crew.task("w1", title="Waiting", status="todo", dependencies=[given_up])
    assert crew.show(waiting)["dependency_failed"] is False
    crew.move(given_up, "cancelled", "not needed")
    assert crew.show(waiting)["dependency_failed"] is True


@pytest.mark.pitfall("F87")
@pytest.mark.parametrize("mistake", [{"dependencies": ["tsk_missing"]}, {"local_id": "A"}, {"title": " "}])
def test_f87_a_mistake_in_one_of_five_leaves_none_of_them(crew: World, mistake: Answer) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    tasks = drafts("A", "B", "C", "D", "E")
    tasks[3].update(mistake)
    before = crew.rows(schema.tasks)
    assert boss.ask("create_tasks_batch", tasks=tasks).refused
    assert crew.rows(schema.tasks) == before


CALL = re.compile(r"\b([a-z]+(?:_[a-z]+)+)\(([^()]*)\)")
NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
NO_TOOLS = frozenset(
    {
        *("no_available_workers", "in_progress"),
        *("you_may_resolve", "you_may_cancel", "answered_before", "failed_checks"),
    }
)
"""What stands in the words and looks like a tool: a reason, a status, and keys of answers."""


@pytest.mark.pitfall("F88")
@pytest.mark.parametrize("language", Language)
def test_f88_every_instruction_names_tools_that_exist_with_parameters_that_they_have(language: Language) -> None:
    tools, told = catalogue(), texts(language)
    for key, text in TEXTS.items():
        filled = re.sub(r"\{\w+\}", "x", told.get(("", text), text))
        parameters: set[str] = set()
        for name in set(NAME.findall(filled)) & set(tools):
            parameters |= _properties(tools[name].input_schema)
        assert set(NAME.findall(filled)) <= set(tools) | parameters | NO_TOOLS, key
        for name, given in CALL.findall(filled):
            names = {each.split("=")[0].strip() for each in given.split(",")}
            assert names <= set(tools[name].input_schema["properties"]), key
        if key in TOOLS:
            assert set(NAME.findall(filled)) & set(tools) <= {*TOOLS[key], "get_next_action"}, key


def _properties(schema_: Any) -> set[str]:
    """Every property that a schema names, at any depth."""
    if isinstance(schema_, list):
        return {name for each in schema_ for name in _properties(each)}
    if not isinstance(schema_, dict):
        return set()
    return set(schema_.get("properties", {})) | _properties(list(schema_.values()))


SHOWN = re.compile(r'\b(\w+)\(((?:\w+="[^"]*"(?:, )?)+)\)')


@pytest.mark.pitfall("F88")
@pytest.mark.parametrize("language", ["en", "ja"])
def test_f88_the_call_that_an_instruction_shows_is_accepted_as_it_is_shown(world: World, language: str) -> None:
    world.crew(workers=1, language=language)
    world.task("w1")
    worker = world.started("w1")
    worker.sign_in()
    made = []
    for _ in range(12):
        told = worker.next()
        shown = SHOWN.search(told["instruction"])
        if told["action"] == "create_subtasks":
            worker.batch("One", "Two")
        elif shown:
            made.append(shown[1])
            worker.call(shown[1], **dict(re.findall(r'(\w+)="([^"]*)"', shown[2])))
        elif told["action"] == "report_completion":
            worker.report()
        elif told["action"] == "exit":
            break
        else:
            worker.call(told["tools"][0])
    assert made[:5] == ["report_model", *["update_task_status"] * 4]
    assert world.status(str(worker.call("get_my_task")["task"]["task_id"])) == "completed"


@pytest.mark.pitfall("F89")
def test_f89_a_note_or_another_look_never_changes_what_is_next(crew: World) -> None:
    crew.task("w1")
    worker = crew.start("w1")
    _unmoved_by_notes(worker)
    one, two = worker.batch("One", "Two")
    _unmoved_by_notes(worker)
    for each in (one, two):
        worker.set(each, "in_progress")
        _unmoved_by_notes(worker)
        worker.set(each, "completed")
        _unmoved_by_notes(worker)


@pytest.mark.pitfall("F89")
def test_f89_a_managers_choice_outlives_notes_and_looks(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    (walls,) = boss.assigned({"Walls": "w1"})
    boss.next()
    boss.call("select_action", action="start")
    _unmoved_by_notes(boss)
    boss.set(walls, "in_progress")
    _unmoved_by_notes(boss)


def _unmoved_by_notes(process: Process) -> None:
    before = process.next()
    process.call("save_progress", progress="half", next_steps="decompose again")
    process.call("get_my_task")
    process.call("list_tasks")
    after = process.next()
    assert {key: after.get(key) for key in ("action", "state", "subtask")} == {
        key: before.get(key) for key in ("action", "state", "subtask")
    }


@pytest.mark.pitfall("F90")
@pytest.mark.parametrize("judged", ["pending", "rejected"])
def test_f90_what_is_not_approved_starts_on_no_path(world: World, judged: str) -> None:
    world.crew(workers=2, approvals="all")
    world.task("boss")
    boss = world.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    request = boss.call("request_task", title="Asked for", assignee_id="boss")["task_id"]
    if judged == "rejected":
        for each in (part, request):
            world.owner.call("reject_task", task_id=each)
    boss.next()
    boss.refused("select_action", "notNow", action="wait") if judged == "rejected" else None
    boss.refused("select_action", "notNow", action="start")
    boss.refused("update_task_status", "notApproved", task_id=part, status="in_progress")
    for each in (part, request):
        world.owner.refused("move_task", "notApproved", task_id=each, status="in_progress")
    assert boss.action() == "situational_awareness", "there is nothing to start"
    assert world.coordinator().reason("w1") == "hold no_in_progress_task"


@pytest.mark.pitfall("F90")
def test_f90_what_an_ancestor_asked_for_is_approved_by_that_ancestor(crew: World) -> None:
    crew.task("boss")
    asked = crew.start("boss").call("request_task", title="Asked for", assignee_id="w1")["task_id"]
    shown = crew.show(asked)
    assert (shown["approval"], shown["approved_by"]) == ("approved", "boss")


@pytest.mark.pitfall("F91")
def test_f91_who_asks_for_a_task_is_the_session_that_asks_and_nobody_it_names(crew: World) -> None:
    """In a task session; a chat asks for the author of a message. All moves are one service."""
    crew.task("w1")
    worker = crew.start("w1")
    wanted = {"title": "Asked for", "assignee_id": "w2"}
    worker.refused("request_task", "validationError", **wanted, requested_by="owner")
    asked = worker.call("request_task", **wanted)["task"]
    assert (asked["created_by"], asked["approval"], asked["status"]) == ("w1", "pending_approval", "backlog")
    crew.project(name="Elsewhere", project_id="elsewhere")
    crew.agent("foreigner", "worker", projects=["elsewhere"])
    worker.refused("request_task", "agentNotFound", title="x", assignee_id="foreigner")


MOVES = {"todo": 4, "in_progress": 8, "completed": 3, "failed": 2, "blocked": 4, "cancelled": 1}
"""Each as likely as its number says: tasks that are closed at once would tell little."""
UNGUARDED = Settings(guards=GuardSettings(refusals=10_000, idle_calls=10_000, moves_of_one_task=10_000))


@pytest.mark.pitfall("F92")
def test_f92_a_hundred_random_moves_end_alike_whether_an_agent_or_a_person_makes_them(fresh: Database) -> None:
    """By a tool, and as REST does: the same answers, the same board. No retries beyond what agents may, no drafts."""
    seen = []
    for path in ("tool", "rest"):
        empty(fresh)
        seen.append(_a_hundred_moves(World(fresh, UNGUARDED), path))
    assert seen[0] == seen[1]
    assert {each[2] for each in seen[0][0]} >= {"ok", "invalidTransition", "dependencyNotMet", "subtasksOpen"}


def _a_hundred_moves(world: World, path: str) -> tuple[list[tuple[int, str, str]], list[str]]:
    world.crew(workers=2, retry_attempts=1000)
    superior = person(world, "superior")
    world.owner.call("edit_agent", agent_id="boss", reports_to="superior")
    for each in ("w1", "w2"):
        world.owner.call("edit_agent", agent_id=each, max_parallel_tasks=1000)
    main = world.task("boss")
    boss = world.start("boss")
    top = boss.assigned({f"Part {each}": ("w1", "w2")[each % 2] for each in range(16)})
    for number, (task, before) in enumerate(zip(top[1:], top, strict=False)):
        if number % 2:
            boss.call("update_task_dependencies", task_id=task, add_dependencies=[before])
    below = [
        world.task("w1", title=title, parent_task_id=task, status="todo") for task in top for title in ("Left", "Right")
    ]
    tasks, dice = [*top, *below], random.Random(92)
    made: list[tuple[int, str, str]] = []
    mover, name = (boss, "update_task_status") if path == "tool" else (superior, "move_task")
    while len(made) < 100:
        number = dice.randrange(len(tasks))
        (to,) = dice.choices(list(MOVES), list(MOVES.values()))
        if to == world.status(tasks[number]):
            continue
        answer = mover.ask(name, task_id=tasks[number], status=to, reason="by chance").result or {}
        made.append((number, to, "ok" if answer["success"] else str(answer.get("code", answer["error"]))))
    assert world.status(main) == "in_progress"
    return made, [world.status(each) for each in tasks]


@pytest.mark.pitfall("F92")
def test_f92_of_two_who_edit_the_same_version_one_is_told_and_no_field_is_lost(crew: World) -> None:
    task = crew.task("w1", status="todo")
    seen = crew.show(task)["version"]
    crew.owner.call("edit_task", task_id=task, title="First", version=seen)
    refusal = crew.owner.refused("edit_task", "conflict", task_id=task, priority="high", version=seen)
    assert refusal["version"] == crew.show(task)["version"]
    crew.owner.call("edit_task", task_id=task, priority="high", version=refusal["version"])
    shown = crew.show(task)
    assert (shown["title"], shown["priority"]) == ("First", "high")


@pytest.mark.pitfall("F93")
@pytest.mark.parametrize("path", ["tool", "rest"])
def test_f93_a_block_and_its_end_reach_all_levels_below_but_what_was_blocked_by_itself(crew: World, path: str) -> None:
    main = crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    boss.begin(part)
    worker = crew.start("w1")
    one, two = worker.batch("One", "Two")
    worker.set(one, "in_progress")
    crew.move(two, "blocked", "by itself")
    mover, name = (boss, "update_task_status") if path == "tool" else (crew.owner, "move_task")
    mover.call(name, task_id=part, status="blocked", reason="the weather")
    assert [crew.status(each) for each in (main, part, one, two)] == ["in_progress", *["blocked"] * 3]
    assert (crew.show(one)["blocked_by"], crew.show(one)["blocked_reason"]) == (mover_id(path), "the weather")
    mover.call(name, task_id=part, status="in_progress")
    assert [crew.status(each) for each in (part, one, two)] == ["in_progress", "in_progress", "blocked"]
    assert crew.show(two)["blocked_reason"] == "by itself"


def mover_id(path: str) -> str:
    return "boss" if path == "tool" else "owner"


@pytest.mark.pitfall("F94")
def test_f94_an_inactive_agent_is_not_started_signed_in_or_given_work(crew: World) -> None:
    """Locks of tasks and agents, and audit triggers, are not part of Toryo."""
    running = crew.task("w1")
    waiting = crew.task("w1", title="Waiting", status="todo")
    crew.owner.call("deactivate_agent", agent_id="w1")
    assert crew.coordinator().reason("w1") == "hold agent_inactive"
    crew.nobody.refused("authenticate", "permissionDenied", agent_id="w1", passkey=crew.passkeys["w1"])
    crew.move(running, "todo")
    for each in (running, waiting):
        refusal = crew.owner.refused("move_task", "invalidTransition", task_id=each, status="in_progress")
        assert "not an active member" in refusal["message"]
    crew.task("boss")
    boss = crew.start("boss")
    boss.refused("create_task", "permissionDenied", title="x", description="x", assignee_id="w1")

"""The first glance: states backed by evidence, the truth about what is held, and only what its reader may see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.stories import Answer, Caller, World
from toryo.domain.times import HOUR, MINUTE, SECOND, iso, parse
from toryo.operations.overview.team_status import IN_FULL
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.transaction import Transaction


@pytest.fixture
def crew(world: World) -> World:
    """A manager `boss` with two workers; `ann`, a person, stands above them."""
    world.project()
    world.person("ann")
    world.manager("boss", "ann")
    for each in ("w1", "w2"):
        world.worker(each, "boss")
    return world


def glance(world: World, caller: Caller | None = None, **wanted: Any) -> Answer:
    answer: Answer = (caller or world.owner).call("show_overview", **wanted)
    return answer


def member(world: World, agent_id: str) -> Answer:
    found: list[Answer] = [each for each in glance(world)["team"] if each["agent_id"] == agent_id]
    assert len(found) == 1
    return found[0]


def held(world: World) -> dict[str, Answer]:
    return {each["task_id"]: each for each in glance(world)["queue"]["held"]}


def counts(world: World) -> tuple[int, int, int, int]:
    queue = glance(world)["queue"]
    return queue["running"], queue["ready"], queue["waiting"], queue["held_in_all"]


def test_where_nothing_is_set_up_a_glance_is_empty_and_says_what_runs(world: World):
    answer = glance(world)
    assert answer["needs"] == answer["team"] == answer["queue"]["held"] == answer["fuel"]["today"] == []
    assert answer["plant"]["database"] == world.dialect
    assert answer["plant"]["coordinators"] == []


# --- the team --------------------------------------------------------------------------------------------------------


def test_an_agent_at_work_is_told_by_its_last_call_its_task_and_the_step_it_was_told_last(crew: World):
    task = crew.task("w1", title="Paint")
    process = crew.start("w1")
    process.call("get_next_action")
    called = crew.now
    crew.advance(30)
    now = member(crew, "w1")
    assert (now["state"], now["purpose"], now["task_id"], now["task_title"]) == ("working", "task", task, "Paint")
    assert (now["action"], now["step"]) == ("create_subtasks", "divides its task into subtasks")
    assert now["last_call_at"] == iso(called)
    assert now["lease_until"] > crew.iso()
    assert now["launch_id"] == process.launch_id
    assert now["model"] == "model-1"
    assert now["reason"] is None


def test_tokens_and_money_of_the_present_run_are_told(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    usage = {"input_tokens": 1000, "output_tokens": 50, "cost_usd": 0.25}
    crew.coordinator().call("append_log", launch_id=process.launch_id, offset=0, text="…", usage=usage)
    now = member(crew, "w1")
    assert (now["tokens"], now["cost_usd"]) == (1050, 0.25)


def test_who_talks_and_who_was_just_started_are_told_from_those_who_work(crew: World):
    crew.say("w1", "Hello")
    crew.start_chat("w1")
    crew.task("w2")
    launch = crew.started("w2")
    assert (member(crew, "w1")["state"], member(crew, "w1")["purpose"]) == ("talking", "chat")
    starting = member(crew, "w2")
    assert (starting["state"], starting["reason"], starting["launch_id"]) == (
        "starting",
        "start_pending",
        launch.launch_id,
    )
    assert starting["until"] > crew.iso()


@pytest.mark.parametrize("status", ["blocked", "cancelled"])
def test_whose_task_was_taken_away_is_stopping_at_once_and_until_when_is_told(crew: World, status: str):
    task = crew.task("w1")
    crew.start("w1")
    assert member(crew, "w1")["state"] == "working"
    crew.move(task, status, "no")
    leaving, last = member(crew, "w1"), iso(parse(crew.show(task)["updated_at"]) + MINUTE)
    assert (leaving["state"], leaving["reason"], leaving["until"]) == ("stopping", "task_withdrawn", last)
    crew.advance(61)
    assert (member(crew, "w1")["state"], member(crew, "w1")["reason"]) == ("stopping", "task_withdrawn")


def test_who_works_in_a_project_that_was_paused_is_stopping_too(crew: World):
    crew.task("w1")
    crew.start("w1")
    paused(crew)
    assert (member(crew, "w1")["state"], member(crew, "w1")["reason"]) == ("stopping", "project_paused")
    assert member(crew, "w1")["until"] is not None


def no_task(_: World) -> None:
    pass


def paused(world: World) -> None:
    world.owner.call("pause_project", project_id=world.project_id)


def inactive(world: World) -> None:
    world.owner.call("deactivate_agent", agent_id="w1")


def nobody_starts_it(world: World) -> None:
    world.task("w1")


def blocked(world: World) -> None:
    world.move(world.task("w1"), "blocked", "no paint")


def over_budget(world: World) -> None:
    world.owner.call("edit_project", project_id=world.project_id, settings={"budget_per_day": 1})
    world.task("w2")
    process = world.start("w2")
    usage = {"input_tokens": 1, "cost_usd": 2.0}
    world.coordinator().call("append_log", launch_id=process.launch_id, offset=0, text="x", usage=usage)
    world.task("w1")


def crashed(world: World) -> None:
    world.task("w1")
    process = world.start("w1")
    world.coordinator().exited(process.launch_id, exit_code=1, error="crashed")


def waits_for_workers(world: World) -> None:
    world.owner.call("edit_agent", agent_id="w1", role="manager")
    world.owner.call("edit_agent", agent_id="w2", reports_to="w1")
    world.task("w1")
    manager = world.start("w1")
    (part,) = manager.assigned({"Part": "w2"})
    manager.begin(part)
    world.start("w2")
    manager.wait()


CASES: list[tuple[Callable[[World], None], str, str]] = [
    (no_task, "idle", "no_in_progress_task"),
    (paused, "off", "project_paused"),
    (inactive, "off", "agent_inactive"),
    (nobody_starts_it, "held", "has_in_progress_task"),
    (blocked, "held", "blocked_without_in_progress"),
    (over_budget, "held", "budget_exhausted"),
    (crashed, "cooling_down", "cooling_down"),
    (waits_for_workers, "waiting", "waiting_for_workers"),
]


@pytest.mark.parametrize(("cause", "state", "reason"), CASES, ids=[each[0].__name__ for each in CASES])
def test_why_an_agent_does_not_run_is_told_as_why_tells_it(
    crew: World, cause: Callable[[World], None], state: str, reason: str
):
    cause(crew)
    now = member(crew, "w1")
    assert (now["state"], now["reason"]) == (state, reason)
    decisions = crew.owner.call("why", agent_id="w1")["decisions"]
    (told,) = [decision for decision in decisions if decision["purpose"] == "task"]
    assert (now["reason"], now["until"]) == (told["reason"], told["until"])
    assert told["explanation"].replace("\n", " ").startswith(now["explanation"])


def test_a_task_that_waits_for_a_free_slot_lets_its_agent_wait(crew: World):
    crew.task("w1")
    crew.coordinator().claim(free_slots=0)
    now = member(crew, "w1")
    assert (now["state"], now["reason"]) == ("waiting", "has_in_progress_task")
    assert "free slot" in now["explanation"]


def test_a_person_with_a_task_of_theirs_works_and_one_without_is_idle(crew: World):
    task = crew.task("ann", title="Decide")
    assert (member(crew, "ann")["state"], member(crew, "ann")["task_title"]) == ("working", "Decide")
    crew.move(task, "completed")
    assert member(crew, "ann")["state"] == "idle"


def test_an_agent_in_two_projects_has_a_row_in_each(crew: World):
    other = crew.project(name="Other")
    crew.owner.call("add_member", project_id=other, agent_id="w1")
    rows = [each["project_id"] for each in glance(crew)["team"] if each["agent_id"] == "w1"]
    assert sorted(rows) == sorted([crew.project_id, other])
    assert [each["project_id"] for each in glance(crew, project_id=other)["team"]] == [other]


def test_however_many_have_left_to_wait_the_rest_is_told_as_was_decided_last(crew: World):
    """A full decision about each would make a glance dear."""
    names = [f"m{number}" for number in range(IN_FULL + 3)]
    crew.worker("busy", max_parallel_tasks=50)
    for name in names:
        crew.manager(name, "ann")
        crew.owner.call("edit_agent", agent_id="busy", reports_to=name)
        crew.task(name)
        manager = crew.start(name)
        (part,) = manager.assigned({"Part": "busy"})
        manager.begin(part)
        if name == names[0]:
            crew.start("busy")
        manager.wait()
        crew.coordinator().claim()
    states = {name: (member(crew, name)["state"], member(crew, name)["reason"]) for name in names}
    assert set(states.values()) == {("waiting", "waiting_for_workers")}


# --- the queue -------------------------------------------------------------------------------------------------------


def test_running_ready_and_waiting_tasks_are_counted_and_not_held(crew: World):
    crew.task("w1")
    crew.start("w1")
    crew.task("w2", status="todo")
    crew.task("ann")
    assert counts(crew) == (1, 1, 1, 0)


def test_a_main_task_and_the_part_of_it_that_its_agent_does_count_once(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    part = process.batch("Part")[0]
    process.set(part, "in_progress")
    assert counts(crew)[0] == 1


@pytest.mark.parametrize(
    ("more", "reason", "released_by"),
    [
        ({"assignee_id": None}, "unassigned", "Assign it to an agent"),
        ({"dependencies": ["blocker"]}, "dependency", "“Blocker” (in_progress)"),
        ({"agent_type": "paint", "assignee_id": None}, "no_agent_for_queue", "Start an agent that serves paint"),
        ({"assignee_id": "w2"}, "parallel_limit", "“Blocker”"),
    ],
)
def test_a_task_that_is_held_says_by_what_and_what_would_release_it(
    crew: World, more: Answer, reason: str, released_by: str
):
    blocker = crew.task("w2", title="Blocker")
    given = {"assignee_id": "w1", **more}
    if "dependencies" in given:
        given["dependencies"] = [blocker]
    task = crew.task(status="todo", title="Held", **given)
    told = held(crew)[task]
    assert (told["reason"], told["status"]) == (reason, "todo")
    assert released_by in told["released_by"]
    assert told["explanation"]


def test_a_held_task_says_what_starting_it_would_answer(crew: World):
    task = crew.task("w1", status="todo", dependencies=[crew.task("w2")])
    refusal = crew.owner.refused("move_task", "dependencyNotMet", task_id=task, status="in_progress")
    assert held(crew)[task]["explanation"] == refusal["message"]


def test_what_a_request_a_pause_a_block_and_an_inactive_agent_hold_is_told(crew: World):
    crew.task("w1")
    request = crew.start("w1").call("request_task", title="Ask", assignee_id="w2", description="x")["task_id"]
    assert held(crew)[request]["reason"] == "not_approved"
    stuck = crew.task("boss", title="Stuck")
    crew.move(stuck, "blocked", "No paint.")
    assert (held(crew)[stuck]["reason"], held(crew)[stuck]["explanation"]) == ("blocked", "No paint.")
    task = crew.task("w2", status="todo")
    crew.owner.call("deactivate_agent", agent_id="w2")
    assert held(crew)[task]["reason"] == "assignee_not_active"
    crew.owner.call("pause_project", project_id=crew.project_id)
    assert held(crew)[task]["reason"] == "project_not_active"


def test_what_a_block_has_taken_along_is_not_told_beside_it(crew: World):
    main = crew.task("boss")
    part = crew.task("w1", parent_task_id=main, status="todo")
    crew.move(main, "blocked", "wait")
    assert crew.status(part) == "blocked"
    assert list(held(crew)) == [main]


def test_a_queue_task_is_ready_as_soon_as_somebody_serves_its_queue(crew: World):
    crew.task(None, status="todo", agent_type="paint")
    assert counts(crew) == (0, 0, 0, 1)
    crew.worker("painter", agent_type="paint")
    assert counts(crew) == (0, 1, 0, 0)


def test_a_task_that_rests_is_offered_to_its_agent_from_the_moment_on_at_which_it_could_be_claimed(crew: World):
    crew.worker("painter", agent_type="paint")
    task = crew.task(None, status="todo", agent_type="paint")
    until = crew.now + 10 * SECOND

    def rest(connection: Connection) -> None:
        tasks = Transaction(connection).tasks
        (found,) = tasks.find_all([task])
        tasks.save(found, replace(found, not_before=until))

    crew.database.write(rest)
    crew.tick = 0
    crew.now = until - 1
    assert member(crew, "painter")["reason"] == "no_in_progress_task"
    crew.now = until
    assert member(crew, "painter")["reason"] == "has_ready_queue_task"
    assert crew.coordinator().starts() == ["painter"]


def test_all_tasks_that_an_agent_holds_are_counted_and_the_one_it_holds_longest_is_told(crew: World):
    """The others are not read, unless something hangs on them; whether the agent has room is decided by all."""
    made = crew.owner.call("make_api_key", project_id=crew.project_id, types=["build"], orchestrator=True)
    queue = Caller(crew, made["token"])
    queue.call("register_agent", agent_id="q1", agent_type="build")
    crew.owner.call("edit_agent", agent_id="q1", max_parallel_tasks=9)
    names = [queue.call("create_task", agent_type="build", task_description=f"Build {n}")["task_id"] for n in range(4)]
    for _ in names:
        queue.call("poll_tasks", agent_id="q1")
        crew.advance(1)
    waits = crew.task("w1", title="Waits", status="todo", dependencies=[names[2]])
    more = crew.task("q1", title="More", status="todo")
    assert counts(crew)[0] == len(names)
    assert member(crew, "q1")["task_title"] == "Build 0"
    assert held(crew)[waits]["released_by"] == "“Build 2” (in_progress) must be completed."
    assert more not in held(crew)
    crew.owner.call("edit_agent", agent_id="q1", max_parallel_tasks=4)
    assert held(crew)[more]["reason"] == "parallel_limit"
    assert not [each for each in glance(crew)["needs"] if each["kind"] == "stuck"]


def test_who_polls_a_queue_is_told_with_what_it_holds(crew: World):
    made = crew.owner.call("make_api_key", project_id=crew.project_id, types=["build"], orchestrator=True)
    queue = Caller(crew, made["token"])
    queue.call("register_agent", agent_id="q1", agent_type="build")
    assert member(crew, "q1")["state"] == "idle"
    queue.call("create_task", agent_type="build", task_description="Build it")
    (task,) = queue.call("poll_tasks", agent_id="q1")["result"]
    now = member(crew, "q1")
    assert (now["state"], now["task_id"]) == ("working", task["task_id"])
    assert iso(crew.now - MINUTE) < now["last_call_at"] <= crew.iso()
    assert counts(crew)[0] == 1


# --- what needs you --------------------------------------------------------------------------------------------------


def needs(world: World) -> list[tuple[str, int]]:
    return [(need["task_id"], need["blocks"]) for need in glance(world)["needs"]]


def blocked_by_agent(world: World, agent_id: str, **more: Any) -> str:
    task = world.task(agent_id, **more)
    world.start(agent_id).report("blocked", "I cannot go on")
    return task


def test_what_holds_up_the_most_work_comes_first_and_of_the_same_weight_the_oldest(crew: World):
    crew.owner.call("edit_agent", agent_id="boss", reports_to=None)
    light = blocked_by_agent(crew, "w1", title="light")
    crew.advance(60)
    heavy = blocked_by_agent(crew, "w2", title="heavy")
    for number in range(3):
        crew.task("w1", status="todo", title=f"after {number}", dependencies=[heavy])
    crew.advance(600)
    assert needs(crew) == [(heavy, 3), (light, 0)]


def test_what_waits_behind_what_waits_is_counted_once(crew: World):
    crew.owner.call("edit_agent", agent_id="boss", reports_to=None)
    first = blocked_by_agent(crew, "w1")
    second = crew.task("w2", status="todo", dependencies=[first])
    third = crew.task("w2", status="todo", dependencies=[first, second])
    crew.task("w2", status="todo", dependencies=[second, third])
    assert needs(crew) == [(first, 3)]


def test_what_is_told_as_one_holds_up_what_waits_for_any_of_it(crew: World):
    crew.owner.call("edit_agent", agent_id="boss", reports_to=None)
    light = blocked_by_agent(crew, "w1")
    crew.task("w2", status="todo", dependencies=[light])
    made = crew.owner.call("make_api_key", project_id=crew.project_id, types=["build"], orchestrator=True)
    queue = Caller(crew, made["token"])
    queue.call("register_agent", agent_id="q1", agent_type="build")
    dead = []
    for _ in range(3):
        queue.call("create_task", agent_type="build", task_description="Build it")
        (task,) = queue.call("poll_tasks", agent_id="q1")["result"]
        dead.append(task["task_id"])
    for each in (dead[0], dead[2], dead[2]):
        crew.task("w2", status="todo", dependencies=[each])
    for each in dead:
        asked = {"task_id": each, "attempt": 1, "status": "failed", "error": "no", "retryable": False}
        queue.call("submit_result", **asked)
    crew.advance(600)
    assert [(need["kind"], need["blocks"]) for need in glance(crew)["needs"]] == [("dead_letter", 3), ("blocked", 1)]


def test_the_overview_needs_you_for_what_needs_you_lists(crew: World):
    crew.owner.call("edit_agent", agent_id="boss", reports_to=None)
    blocked_by_agent(crew, "w1")
    listed = crew.owner.call("needs_you")["items"]
    assert [{key: value for key, value in need.items() if key != "blocks"} for need in glance(crew)["needs"]] == listed


# --- since you left --------------------------------------------------------------------------------------------------


def test_who_has_never_dismissed_anything_is_told_nothing(crew: World):
    crew.move(crew.task("w1"), "completed")
    told = glance(crew)["since"]
    assert (told["at"], told["completed"], told["decided"]) == (None, [], 0)


def test_what_ended_was_decided_and_spent_since_the_last_visit_is_told_until_it_is_dismissed(crew: World):
    crew.owner.call("dismiss_news")
    at = crew.iso()
    done = crew.task("w1", title="Done")
    process = crew.start("w1")
    process.report()
    crew.coordinator().exited(process.launch_id, exit_code=0, usage={"input_tokens": 10, "cost_usd": 0.5})
    failed = crew.task("w2", title="Failed")
    crew.move(failed, "failed", "no")
    crew.move(failed, "todo")
    crew.move(failed, "in_progress")
    crew.move(failed, "failed", "again")
    told = glance(crew)["since"]
    assert told["at"] == at
    assert [(each["task_id"], each["title"]) for each in told["completed"]] == [(done, "Done")]
    assert [each["task_id"] for each in told["failed"]] == [failed]
    assert (told["completed_in_all"], told["failed_in_all"], told["decided"], told["spent_usd"]) == (1, 1, 1, 0.5)
    crew.owner.call("dismiss_news")
    told = glance(crew)["since"]
    assert (told["completed"], told["failed"], told["decided"], told["spent_usd"]) == ([], [], 0, None)


def test_a_visit_is_each_persons_own(crew: World):
    zoe = crew.member("zoe")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="zoe")
    zoe.call("dismiss_news")
    crew.move(crew.task("w1"), "completed")
    crew.owner.call("dismiss_news")
    assert glance(crew)["since"]["completed"] == []
    assert len(glance(crew, zoe)["since"]["completed"]) == 1


def test_one_may_ask_since_any_time(crew: World):
    crew.move(crew.task("w1"), "completed")
    assert glance(crew, since=iso(crew.now - HOUR))["since"]["completed_in_all"] == 1
    assert glance(crew, since=iso(crew.now + SECOND))["since"]["completed_in_all"] == 0
    crew.owner.refused("show_overview", "validationError", since="yesterday")


# --- fuel and plant --------------------------------------------------------------------------------------------------


def test_what_cools_down_is_told_with_its_end_until_then(crew: World):
    crashed(crew)
    crew.task("w2")
    process = crew.start("w2")
    crew.coordinator().exited(process.launch_id, exit_code=1, error="quota", quota_reset_seconds=600)
    told = {(cooldown["kind"], cooldown["name"]): cooldown for cooldown in glance(crew)["fuel"]["cooldowns"]}
    assert set(told) >= {("agent", "w1"), ("account", "claude")}
    assert told["account", "claude"]["until"] > crew.iso()
    assert told["agent", "w1"]["explanation"] == "its process failed"
    crew.advance(3 * HOUR // SECOND)
    assert glance(crew)["fuel"]["cooldowns"] == []


def test_tokens_and_cost_of_today_stand_beside_the_budget(crew: World):
    over_budget(crew)
    (today,) = glance(crew)["fuel"]["today"]
    assert (today["tokens"], today["cost_usd"], today["budget_usd"]) == (1, 2.0, 1.0)


def test_a_coordinator_that_has_not_called_for_a_while_is_away(crew: World):
    crew.coordinator().claim(providers=["claude"])
    (there,) = glance(crew)["plant"]["coordinators"]
    assert (there["coordinator_id"], there["providers"], there["away"]) == ("c1", ["claude"], False)
    crew.advance(91)
    assert glance(crew)["plant"]["coordinators"][0]["away"]


def test_what_a_coordinators_files_take_stands_beside_it_and_stays_while_it_calls(crew: World):
    coordinator = crew.coordinator()
    counted = {"coordinator_id": "c1", "logs_bytes": 5_000}
    coordinator.call("report_disk", **counted, worktrees_bytes=1, complete=False)
    coordinator.claim(providers=["claude"])
    assert glance(crew)["plant"]["coordinators"][0]["disk"]["complete"] is False
    coordinator.call("report_disk", **counted, worktrees_bytes=7_000_000)
    coordinator.claim(providers=["claude"])
    plant, status = glance(crew)["plant"], crew.owner.call("server_status")
    (there,) = plant["coordinators"]
    disk = there["disk"]
    assert (disk["logs_bytes"], disk["worktrees_bytes"], disk["complete"]) == (5_000, 7_000_000, True)
    assert status["coordinators"][0]["disk"] == disk
    assert plant["database_bytes"] > 10_000
    assert status["database_bytes"] > 10_000


def test_a_coordinator_that_has_not_counted_takes_an_unknown_amount(crew: World):
    crew.coordinator().claim(providers=["claude"])
    assert glance(crew)["plant"]["coordinators"][0]["disk"] is None


# --- who sees what ---------------------------------------------------------------------------------------------------


def test_a_member_sees_nothing_of_projects_that_are_not_theirs(crew: World):
    zoe = crew.member("zoe")
    crew.task("w1", status="todo")
    crew.task(None, status="todo")
    crashed(crew)
    answer = glance(crew, zoe)
    assert answer["team"] == answer["queue"]["held"] == answer["fuel"]["today"] == []
    assert [cooldown for cooldown in answer["fuel"]["cooldowns"] if cooldown["kind"] == "agent"] == []
    assert counts(crew) != (0, 0, 0, 0)
    zoe.refused("show_overview", "projectNotFound", project_id=crew.project_id)


def test_an_archived_project_is_in_no_overview(crew: World):
    crew.task("w1", status="todo")
    crew.owner.call("archive_project", project_id=crew.project_id)
    answer = glance(crew)
    assert answer["team"] == answer["fuel"]["today"] == []
    assert counts(crew) == (0, 0, 0, 0)


# --- what it costs ---------------------------------------------------------------------------------------------------


def statements(world: World, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many statements a glance runs."""
    ran: list[object] = []
    kind: Any = world.database.read(type)
    original = kind.all

    def counted(connection: Connection, statement: Statement, **values: Any) -> list[Any]:
        ran.append(statement)
        rows: list[Any] = original(connection, statement, **values)
        return rows

    with monkeypatch.context() as patch:
        patch.setattr(kind, "all", counted)
        glance(world)
    return len(ran)


def test_a_glance_runs_no_more_statements_for_more_agents_and_tasks(crew: World, monkeypatch: pytest.MonkeyPatch):
    crew.task("w1", status="todo")
    before = statements(crew, monkeypatch)
    for number in range(20):
        crew.worker(f"x{number}", "boss")
        task = crew.task(f"x{number}", title=f"{number}")
        crew.task("w1", status="todo", dependencies=[task])
    assert before > 10
    assert statements(crew, monkeypatch) <= before + 3

"""The main story of issue 2: a person files one task for a manager; the crew decomposes, works, and finishes it."""

from __future__ import annotations

import pytest

from tests.stories import World


def test_a_manager_decomposes_assigns_waits_and_is_woken_once_when_its_workers_are_done(world: World):
    world.crew(workers=2, decomposition="optional")
    main = world.task("boss")
    coordinator = world.coordinator()

    boss = world.start("boss")
    walls, roof = boss.assigned({"Walls": "w1", "Roof": None})
    boss.call("update_task_dependencies", task_id=roof, add_dependencies=[walls])
    boss.begin(walls)
    boss.wait()
    boss.call("logout")

    assert coordinator.reason("boss") == "hold waiting_for_workers"
    first = world.start("w1")
    assert first.action() == "create_subtasks"
    first.report(summary="four walls")
    assert world.status(walls) == "completed"

    boss = world.start("boss")
    seen = boss.next()
    assert seen["action"] == "situational_awareness"
    assert seen["since_you_left"]["completed"] == [walls]
    assert seen["since_you_left"]["results"] == [{"task_id": walls, "title": "Walls", "summary": "four walls"}]
    boss.call("select_action", action="start")
    boss.call("assign_task", task_id=roof, assignee_id="w2")
    boss.set(roof, "in_progress")
    boss.wait()

    world.start("w2").report(summary="a roof")
    boss = world.start("boss")
    assert boss.action() == "report_completion"
    answer = boss.report(summary="a house")
    assert (answer["action"], answer["status"]) == ("exit", "completed")
    assert world.status(main) == "completed"
    assert coordinator.starts() == []
    assert world.sessions() == []


def test_three_levels_are_done_by_their_own_people_and_every_level_is_recorded(world: World):
    """UC005: manager, worker, and the worker's own subtasks."""
    world.crew(workers=1)
    main = world.task("boss")
    boss = world.start("boss")
    (part,) = boss.assigned({"Walls": "w1"})
    boss.begin(part)
    boss.wait()

    worker = world.start("w1")
    assert worker.action() == "create_subtasks"
    bricks, mortar = worker.batch("Bricks", "Mortar")
    for each in (bricks, mortar):
        said = worker.next()
        assert (said["action"], said["subtask"]["task_id"]) == ("start_subtask", each)
        worker.set(each, "in_progress")
        assert worker.action() == "execute_subtask"
        worker.set(each, "completed")
    assert worker.action() == "report_completion"
    worker.report()

    boss = world.start("boss")
    assert boss.action() == "report_completion"
    boss.report()
    assert [world.status(each) for each in (main, part, bricks, mortar)] == ["completed"] * 4
    shown = world.show(bricks)
    assert (shown["parent_task_id"], shown["assignee_id"], shown["created_by"]) == (part, "w1", "w1")
    assert world.show(part)["parent_task_id"] == main


def test_two_workers_are_started_by_one_claim_and_work_side_by_side(world: World):
    """UC006: the workers overlap in time."""
    world.crew(workers=2)
    world.task("boss")
    boss = world.start("boss")
    one, two = boss.assigned({"Japanese": "w1", "Chinese": "w2"})
    boss.begin(one, two)
    boss.wait()
    assert sorted(world.coordinator().starts()) == ["w1", "w2"]


def test_a_task_that_depends_on_another_is_never_in_progress_before_it_is_done(world: World):
    """UC007."""
    world.crew(workers=2)
    world.task("boss")
    boss = world.start("boss")
    made = boss.call(
        "create_tasks_batch",
        tasks=[
            {"local_id": "seed", "title": "Seed", "description": "random", "assignee_id": "w1"},
            {
                "local_id": "twice",
                "title": "Twice",
                "description": "double",
                "assignee_id": "w2",
                "dependencies": ["seed"],
            },
        ],
    )["local_id_to_real_id"]
    assert world.show(made["twice"])["dependencies"] == [made["seed"]]
    boss.begin(made["seed"])
    refusal = boss.refused("update_task_status", "dependencyNotMet", task_id=made["twice"], status="in_progress")
    assert refusal["waiting_for"] == [made["seed"]]
    boss.wait()
    world.start("w1").report()
    boss = world.start("boss")
    boss.begin(made["twice"])
    boss.wait()
    world.start("w2").report()
    order = [(event["task_id"], event["kind"]) for event in world.events("task.started", "task.completed")]
    assert order.index((made["seed"], "task.completed")) < order.index((made["twice"], "task.started"))


def test_one_agent_works_in_two_projects_at_once(world: World):
    """UC004: one session per agent and project; a second start of the same pair is refused."""
    world.crew(workers=1)
    other = world.project(name="Garden")
    world.owner.call("add_member", project_id=other, agent_id="w1")
    world.task("w1")
    world.owner.call("file_task", project_id=other, title="Dig", assignee_id="w1", status="in_progress")
    coordinator = world.coordinator()
    launches = coordinator.claim()["start"]
    assert sorted(launch["project_id"] for launch in launches) == sorted([world.project_id, other])
    for launch in launches:
        process = world.process(launch)
        assert process.sign_in()["project_id"] == launch["project_id"]
    assert len(world.sessions()) == 2
    assert coordinator.reason("w1", project_id=other) == "hold already_running"


@pytest.mark.pitfall("F72")
def test_polling_and_asking_change_no_status(world: World):
    """F72: only explicit acts change a status."""
    world.crew(workers=1)
    task = world.task("w1", status="todo")
    coordinator = world.coordinator()
    for _ in range(10):
        assert coordinator.reason("w1") == "hold no_in_progress_task"
        assert coordinator.call("should_start", agent_id="w1")["should_start"] is False
    assert world.status(task) == "todo"
    assert world.why("w1") == "hold no_in_progress_task"


def test_what_an_idle_hour_of_a_crew_writes_is_next_to_nothing(world: World):
    """Section 6: a launch decision is an event only if it differs from the last one."""
    world.crew(workers=5)
    world.task("w1", status="todo")
    coordinator = world.coordinator()
    for _ in range(60):
        coordinator.claim()
        for number in range(1, 6):
            coordinator.action(f"w{number}")
        world.advance(60)
    decisions = world.events("decision.launch")
    assert len(decisions) == 2 * 5
    assert {decision["data"]["reason"] for decision in decisions} == {"no_in_progress_task", "no_chat_work"}


def test_a_part_of_an_agents_own_task_that_its_manager_gives_back_to_it_is_done(world: World) -> None:
    world.project()
    world.manager("boss")
    world.worker("w1", "boss")
    above = world.task("w1", title="Above")
    world.start("w1").call("logout")
    below = world.task("boss", title="Below", parent_task_id=above)
    boss = world.start("boss")
    boss.call("get_my_task")
    (part,) = boss.assigned({"Part": "w1"})
    assert boss.next()["state"] == "situational_awareness"
    boss.begin(part)
    boss.wait()
    assert world.why("w1").startswith("start")
    world.start("w1").report()
    assert world.status(part) == "completed"
    world.start("boss").report()
    assert world.status(below) == "completed"
    world.start("w1").report()
    assert world.status(above) == "completed"

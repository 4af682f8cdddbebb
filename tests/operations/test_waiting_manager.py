"""A waiting manager: started once per cause, never without one, and no cause is lost between its look and its wait."""

from __future__ import annotations

import pytest

from tests.stories import Process, World


def waiting(world: World, **assigned: str) -> tuple[Process, list[str]]:
    """The manager has started these subtasks and has left to wait; its session is over."""
    boss = world.start("boss")
    ids = boss.assigned(dict(assigned))
    boss.begin(*ids)
    boss.wait()
    return boss, ids


def starts_within(world: World, agent_id: str, seconds: int) -> int:
    """How often the agent is started while a Coordinator asks every ten seconds."""
    coordinator = world.coordinator()
    started = 0
    for _ in range(seconds // 10):
        world.advance(10)
        started += coordinator.action(agent_id)["action"] == "start"
    return started


@pytest.mark.pitfall("F22")
def test_no_start_while_workers_are_busy_on_grandchildren_and_exactly_one_when_they_are_done(world: World):
    """F22: the predecessor restarted its manager every 7 to 19 seconds."""
    world.crew(workers=1)
    world.task("boss")
    boss = world.start("boss")
    first, second, third = boss.assigned({"Walls": "w1", "Roof": "w1", "Paint": "w1"})
    for each in (second, third):
        boss.call("update_task_dependencies", task_id=each, add_dependencies=[first])
    boss.begin(first)
    boss.wait()
    worker = world.start("w1")
    (grandchild,) = worker.batch("Bricks")
    worker.set(grandchild, "in_progress")
    assert starts_within(world, "boss", 600) == 0
    worker.next()
    worker.set(grandchild, "completed")
    assert starts_within(world, "boss", 60) == 0
    worker.report()
    assert starts_within(world, "boss", 60) == 1


@pytest.mark.pitfall("F65")
def test_a_block_wakes_it_once(world: World):
    world.crew(workers=2)
    world.task("boss")
    _, (walls, _) = waiting(world, Walls="w1", Roof="w2")
    world.start("w1").report("blocked", summary="no bricks")
    coordinator = world.coordinator()
    assert coordinator.reason("boss") == "start worker_blocked"
    world.advance(121)
    boss = world.start("boss")
    seen = boss.next()
    assert seen["since_you_left"]["blocked"] == [walls]
    boss.wait()
    assert starts_within(world, "boss", 300) == 0
    assert coordinator.reason("boss") == "hold handled_blocked"


@pytest.mark.pitfall("F65")
def test_each_new_block_wakes_it_again(world: World):
    """F65."""
    world.crew(workers=3)
    world.task("boss")
    waiting(world, Walls="w1", Roof="w2", Paint="w3")
    for number, worker in enumerate(("w1", "w2")):
        world.start(worker).report("blocked", summary="no material")
        assert starts_within(world, "boss", 30) == 1, number
        world.advance(121)
        world.start("boss").wait()
        assert starts_within(world, "boss", 60) == 0


@pytest.mark.pitfall("F65")
def test_a_block_of_a_grandchild_wakes_it(world: World):
    world.crew(workers=2)
    world.task("boss")
    _, (walls,) = waiting(world, Walls="w1")
    worker = world.start("w1")
    one, _ = worker.batch("Bricks", "Mortar")
    worker.set(one, "in_progress")
    worker.set(one, "blocked", "no clay")
    assert world.coordinator().reason("boss") == "start worker_blocked"
    assert world.status(walls) == "in_progress"


def test_a_block_that_falls_between_its_look_and_its_wait_is_not_lost(world: World):
    world.crew(workers=2)
    world.task("boss")
    boss = world.start("boss")
    walls, roof = boss.assigned({"Walls": "w1", "Roof": "w2"})
    boss.begin(walls, roof)
    assert boss.action() == "situational_awareness"
    world.start("w1").report("blocked", summary="no bricks")
    boss.refused("select_action", "notNow", action="wait")
    said = boss.next()
    assert said["action"] == "situational_awareness"
    assert said["since_you_left"]["blocked"] == [walls]
    boss.wait()
    assert world.coordinator().reason("boss") == "hold handled_blocked"


def test_what_happens_between_the_choice_and_the_telling_of_wait_is_not_lost(world: World):
    world.crew(workers=2)
    world.task("boss")
    boss = world.start("boss")
    walls, roof = boss.assigned({"Walls": "w1", "Roof": "w2"})
    boss.begin(walls, roof)
    boss.next()
    boss.call("select_action", action="wait")
    world.start("w1").report("failed", summary="cannot")
    assert boss.action() == "situational_awareness"
    boss.refused("select_action", None, action="nothing")
    assert boss.action() == "situational_awareness"


def test_what_workers_start_note_and_call_wakes_nobody(world: World):
    world.crew(workers=2)
    world.task("boss")
    waiting(world, Walls="w1", Roof="w2")
    worker = world.start("w1")
    worker.call("save_progress", progress="half")
    one, two = worker.batch("Bricks", "Mortar")
    for each in (one, two):
        worker.set(each, "in_progress")
        worker.set(each, "completed")
    assert starts_within(world, "boss", 60) == 0


def test_what_a_person_writes_below_wakes_it_once(world: World):
    world.crew(workers=1)
    world.task("boss")
    _, (walls,) = waiting(world, Walls="w1")
    world.owner.call("edit_task", task_id=walls, description="with windows")
    assert world.coordinator().reason("boss") == "start plan_changed"
    world.advance(121)
    world.start("boss").wait()
    assert starts_within(world, "boss", 60) == 0


def test_what_a_person_answers_to_a_worker_below_is_for_that_worker_alone(world: World):
    world.crew(workers=1)
    world.task("boss")
    waiting(world, Walls="w1")
    worker = world.start("w1")
    asked = worker.call("ask_person", question="Which colour?")["question_id"]
    assert worker.action() == "wait_for_answer"
    world.owner.call("answer_question", question_id=asked, text="Blue")
    assert world.why("w1").startswith("start")
    assert world.why("boss") == "hold waiting_for_workers"


def test_a_child_that_became_dispatchable_wakes_it(world: World):
    world.crew(workers=2)
    world.task("boss")
    boss = world.start("boss")
    walls, roof, paint = boss.assigned({"Walls": "w1", "Roof": "w2", "Paint": "w1"})
    boss.call("update_task_dependencies", task_id=paint, add_dependencies=[walls])
    boss.begin(walls, roof)
    boss.wait()
    world.start("w1").report()
    assert world.coordinator().reason("boss") == "start plan_changed"


def test_a_completed_child_alone_does_not_wake_it_while_others_work(world: World):
    world.crew(workers=2)
    world.task("boss")
    waiting(world, Walls="w1", Roof="w2")
    world.start("w1").report()
    assert starts_within(world, "boss", 60) == 0
    assert world.coordinator().reason("boss") == "hold waiting_for_workers"


def test_a_person_at_work_is_waited_for(world: World):
    world.crew(workers=1)
    world.agent("lena", "worker", "boss", kind="human", provider=None)
    world.task("boss")
    _, (walls,) = waiting(world, Walls="lena")
    assert world.coordinator().reason("boss") == "hold waiting_for_person"
    [told] = [
        decision for decision in world.owner.call("why", agent_id="boss")["decisions"] if decision["purpose"] == "task"
    ]
    assert told["explanation"] == "It waits until a person finishes a task.\nlena has “Walls”."
    world.move(walls, "completed")
    assert world.coordinator().reason("boss").startswith("start")


@pytest.mark.pitfall("F23")
def test_wait_is_refused_where_nothing_would_wake_it(world: World):
    """F23: only todo children, and then only a worker that nobody starts."""
    world.crew(workers=1)
    world.task("boss")
    boss = world.start("boss")
    (walls,) = boss.assigned({"Walls": "w1"})
    boss.next()
    refusal = boss.refused("select_action", "notNow", action="wait")
    assert refusal["dispatchable"] == [walls]
    boss.call("select_action", action="start")
    boss.set(walls, "in_progress")
    world.owner.call("deactivate_agent", agent_id="w1")
    boss.next()
    assert boss.refused("select_action", "notNow", action="wait")["alternatives"] == ["adjust"]


def test_an_answer_that_was_lost_is_told_again_until_it_has_acted(world: World):
    world.crew(workers=1)
    world.task("boss")
    boss = world.start("boss")
    (walls,) = boss.assigned({"Walls": "w1"})
    boss.next()
    boss.call("select_action", action="start")
    assert [boss.action() for _ in range(3)] == ["start"] * 3
    boss.set(walls, "in_progress")
    assert boss.action() == "situational_awareness"
    boss.call("select_action", action="adjust")
    assert [boss.action() for _ in range(2)] == ["adjust"] * 2
    boss.call("update_task", task_id=walls, title="Strong walls")
    assert boss.action() == "situational_awareness"


def test_it_may_choose_anew(world: World):
    world.crew(workers=1)
    world.task("boss")
    boss = world.start("boss")
    boss.assigned({"Walls": "w1"})
    boss.next()
    for choice in ("start", "adjust", "start"):
        boss.call("select_action", action=choice)
        assert boss.action() == choice


def test_it_may_choose_only_where_there_is_something_to_choose(world: World):
    world.crew(workers=1)
    world.task("boss")
    boss = world.start("boss")
    assert "create_subtasks" in boss.refused("select_action", "notNow", action="start")["message"]


@pytest.mark.pitfall("F13")
def test_wait_ends_the_session_in_the_same_act_and_logout_still_succeeds(world: World):
    """F13, F14."""
    world.crew(workers=1)
    world.task("boss")
    boss, _ = waiting(world, Walls="w1")
    assert world.sessions() == []
    assert [launch["state"] for launch in world.launches(agent_id="boss")] == ["exited"]
    boss.call("logout")
    boss.call("logout")
    assert boss.action() == "exit"


def test_one_that_chose_to_wait_and_leaves_without_asking_once_more_waits_all_the_same(world: World):
    """Models do that; it was started again at once, and blocked for it after five times."""
    world.crew(workers=1)
    world.task("boss")
    boss = world.start("boss")
    (walls,) = boss.assigned({"Walls": "w1"})
    boss.begin(walls)
    boss.next()
    boss.call("select_action", action="wait")
    boss.call("logout")
    assert world.coordinator().reason("boss") == "hold waiting_for_workers"
    world.start("w1").report("blocked", summary="no bricks")
    assert world.coordinator().reason("boss") == "start worker_blocked"


def test_one_that_chose_to_wait_and_leaves_although_something_is_new_has_not_waited(world: World):
    world.crew(workers=2)
    world.task("boss")
    boss = world.start("boss")
    walls, roof = boss.assigned({"Walls": "w1", "Roof": "w2"})
    boss.begin(walls, roof)
    boss.next()
    boss.call("select_action", action="wait")
    world.start("w1").report("blocked", summary="no bricks")
    boss.call("logout")
    assert world.coordinator().reason("boss") == "start has_in_progress_task"


def test_a_wait_outlives_an_order_that_nobody_signed_in_for(world: World):
    """The record ends when its owner signs in for it, not when the launch is ordered."""
    world.crew(workers=1)
    world.task("boss")
    waiting(world, Walls="w1")
    world.start("w1").report("blocked", summary="no bricks")
    coordinator = world.coordinator()
    assert coordinator.reason("boss") == "start worker_blocked"
    world.advance(121)
    assert coordinator.reason("boss") == "start worker_blocked"


def test_what_was_planned_anew_by_itself_does_not_wake_it(world: World):
    """Agents and their own acts never wake themselves."""
    world.crew(workers=2)
    world.task("boss")
    boss = world.start("boss")
    walls, roof = boss.assigned({"Walls": "w1", "Roof": "w2"})
    boss.begin(walls, roof)
    assert boss.action() == "situational_awareness"
    boss.call("block_task", task_id=roof, reason="later")
    boss.call("select_action", action="wait")
    assert boss.action() == "wait"
    assert starts_within(world, "boss", 60) == 0


@pytest.mark.pitfall("F59")
def test_a_manager_may_give_the_next_part_while_others_work(world: World):
    """F59."""
    world.crew(workers=3)
    world.task("boss")
    boss = world.start("boss")
    one, two, three = boss.assigned({"One": "w1", "Two": "w2", "Three": "w3"})
    boss.begin(one)
    assert boss.action() == "situational_awareness"
    boss.begin(two, three)
    assert [world.status(each) for each in (one, two, three)] == ["in_progress"] * 3


# --- claims, which ask for everybody at once -------------------------------------------------------------------------


def test_a_claim_starts_it_for_every_cause_as_soon_as_there_is_one(world: World):
    """Claims come again and again; what a server remembers of them never hides a cause."""
    world.crew(workers=2)
    world.task("boss")
    coordinator = world.coordinator()
    _, (_, roof) = waiting(world, Walls="w1", Roof="w2")
    causes = [
        lambda: world.start("w1").report("blocked", summary="no bricks"),
        lambda: world.owner.call("edit_task", task_id=roof, description="with tiles"),
        lambda: world.start("w2").report(),
    ]
    for number, cause in enumerate(causes):
        assert [coordinator.starts(agent_ids=["boss"]) for _ in range(3)] == [[], [], []], number
        cause()
        assert coordinator.starts(agent_ids=["boss"]) == ["boss"], number
        world.advance(121)
        if number < 2:
            world.start("boss").wait()


def test_what_ends_in_another_tree_wakes_who_waits_for_it(world: World):
    world.crew(workers=2)
    stone = world.task("w2", title="Stone")
    world.task("boss")
    boss = world.start("boss")
    (walls,) = boss.assigned({"Walls": "w1"})
    boss.call("update_task_dependencies", task_id=walls, add_dependencies=[stone])
    boss.wait()
    coordinator = world.coordinator()
    digger = world.start("w2")
    assert [coordinator.starts(agent_ids=["boss"]) for _ in range(3)] == [[], [], []]
    digger.report()
    assert coordinator.starts(agent_ids=["boss"]) == ["boss"]


def test_a_place_that_becomes_free_in_another_tree_wakes_who_waits_for_it(world: World):
    """Held back only by the parallel limit of its assignee."""
    world.crew(workers=1)
    world.task("w1", title="Something else")
    world.task("boss")
    boss = world.start("boss")
    boss.assigned({"Walls": "w1"})
    boss.wait()
    coordinator = world.coordinator()
    busy = world.start("w1")
    assert [coordinator.starts(agent_ids=["boss"]) for _ in range(3)] == [[], [], []]
    busy.report()
    assert coordinator.starts(agent_ids=["boss"]) == ["boss"]


def test_who_is_employed_anew_is_taken_into_account_at_once(world: World):
    world.crew(workers=1)
    world.task("boss")
    waiting(world, Walls="w1")
    coordinator = world.coordinator()
    assert coordinator.starts(agent_ids=["boss"]) == []
    world.owner.call("deactivate_agent", agent_id="w1")
    assert coordinator.starts(agent_ids=["boss"]) == ["boss"]

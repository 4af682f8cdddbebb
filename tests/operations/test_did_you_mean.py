"""Whoever names something that is not there is told what they may have meant, of what they may see."""

from __future__ import annotations

import pytest

from tests.stories import Caller, World


@pytest.fixture
def house(world: World) -> World:
    world.project(name="Boat House", project_id="boat-house")
    world.crew(workers=2)
    world.worker("builder", name="Bob the Builder")
    return world


def test_near_ids_and_names_of_projects_agents_and_people_are_named(house: World) -> None:
    asked = house.owner
    assert (
        "Did you mean boat-house (“Boat House”)? "
        in asked.refused("show_project", "projectNotFound", project_id="boat-huose")["instruction"]
    )
    assert "boat-house" in asked.refused("show_project", "projectNotFound", project_id="Boat H")["instruction"]
    for given in ("bilder", "Builder", "bob the builder", "build"):
        assert "Did you mean builder" in asked.refused("show_agent", "agentNotFound", agent_id=given)["instruction"]
    house.owner.call("add_person", person_id="ann", login="member", projects=[house.project_id])
    assert "Did you mean ann" in asked.refused("make_sign_in_link", "agentNotFound", person_id="anne")["instruction"]
    assert "Did you mean" not in asked.refused("show_agent", "agentNotFound", agent_id="zebra")["instruction"]


def test_tasks_are_named_by_a_near_id_or_by_how_their_title_begins(house: World) -> None:
    task = house.task(title="Paint the door 100%", status="todo")
    house.task(title="Mow the lawn", status="todo")
    swapped = task[:-2] + task[-1] + task[-2]
    for given in ("paint the", "Paint the door 100%", task[:-4], swapped if swapped != task else task[:-1], f"{task}x"):
        refusal = house.owner.refused("show_task", "taskNotFound", task_id=given)
        assert f"Did you mean {task} (“Paint the door 100%”)?" in refusal["instruction"], given
    for given in ("%", "P", "_a_i", "tsk_missing"):
        assert "Did you mean" not in house.owner.refused("show_task", "taskNotFound", task_id=given)["instruction"]


def test_nothing_is_named_that_one_may_not_see(house: World) -> None:
    here, house.project_id = house.project_id, house.project(name="Secret House")
    house.worker("secret-worker", projects=[house.project_id])
    task = house.task(title="Paint it secretly", status="todo")
    launches = house.task("secret-worker")
    secret = house.start("secret-worker").launch_id
    hidden, house.project_id = house.project_id, here
    house.owner.call("add_person", person_id="ann", login="member", projects=[here])
    member = Caller(house, house.owner.call("make_access_token", name="x", person_id="ann")["token"])
    house.task("w1")
    worker = house.start("w1")
    assert launches
    asked = [
        (member, "show_project", {"project_id": f"{hidden}x"}),
        (member, "show_project", {"project_id": "Secret House"}),
        (member, "show_agent", {"agent_id": "secret-workr"}),
        (member, "show_task", {"task_id": f"{task}x"}),
        (member, "show_task", {"task_id": "Paint it"}),
        (member, "read_launch_log", {"launch_id": f"{secret}x"}),
        (worker, "get_task", {"task_id": f"{task}x"}),
        (worker, "get_task", {"task_id": "Paint it"}),
    ]
    for caller, name, arguments in asked:
        refusal = caller.refused(name, **arguments)
        assert "Did you mean" not in str(refusal), name
    assert "Did you mean" in house.owner.refused("read_launch_log", launch_id=f"{secret}x")["instruction"]
    own = house.task(title="Paint it openly", status="todo")
    assert f"Did you mean {own}" in worker.refused("get_task", "taskNotFound", task_id="Paint it")["instruction"]

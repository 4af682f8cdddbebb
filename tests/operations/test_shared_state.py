"""Values that agents share, wherever they are: and what goes on while that place is away."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.operations.samples import untouched
from tests.operations.test_queue import claimed, filed, key, poller
from tests.postgres_proxy import redis_proxy
from tests.stories import World
from toryo.domain.errors import Code
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.grants import Door
from toryo.storage.shared_state_redis import RedisState

pytestmark = pytest.mark.both


def test_sessions_and_queue_agents_of_a_project_share_and_others_do_not(world: World) -> None:
    world.crew(workers=1)
    world.task("w1")
    worker, planner = world.start("w1"), poller(world, "p1")
    worker.call("set_shared_state", key="schema", value={"users": ["id"]})
    assert planner.call("get_shared_state", key="schema")["value"] == {"users": ["id"]}
    garden = world.project(name="Garden")
    made = world.owner.call("make_api_key", project_id=garden)
    elsewhere = {"api_key": made["token"], "key": "schema"}
    assert world.nobody.call("get_shared_state", **elsewhere)["found"] is False
    world.nobody.call("set_shared_state", **elsewhere, value="theirs")
    assert worker.call("get_shared_state", key="schema")["value"] == {"users": ["id"]}
    (entry,) = world.owner.call("list_shared_state", project_id=world.project_id)["entries"]
    assert (entry["key"], entry["updated_by"]) == ("schema", "w1")


@pytest.mark.pitfall("F138")
def test_a_value_that_another_one_has_changed_meanwhile_is_not_overwritten(world: World) -> None:
    """F138."""
    world.project()
    one, two = poller(world, "p1"), poller(world, "p2")
    one.call("set_shared_state", key="k", value=["a"])
    seen = two.call("get_shared_state", key="k")["version"]
    one.call("set_shared_state", key="k", value=["a", "b"], expected_version=seen)
    refusal = untouched(world, two, "set_shared_state", Code.CONFLICT, key="k", value=["c"], expected_version=seen)
    assert refusal["version"] == 2
    assert "get_shared_state" in refusal["instruction"]


@pytest.mark.pitfall("F138")
def test_what_is_forgotten_is_only_what_expired_long_ago(world: World) -> None:
    world.project()
    planner = poller(world, "p1")
    planner.call("set_shared_state", key="k", value=1, ttl=1)
    world.advance(23 * 3600)
    world.housekeep()
    assert planner.call("get_shared_state", key="k")["expired"] is True
    world.advance(3601)
    world.housekeep()
    assert planner.call("get_shared_state", key="k")["expired"] is False


@pytest.mark.pitfall("F137")
@pytest.mark.redis
def test_while_redis_is_away_tasks_and_results_go_on_and_shared_values_say_so(world: World, redis_url: str) -> None:
    """F137."""
    seconds = 0.0
    with redis_proxy(redis_url) as wire:
        state = RedisState(wire.url, clock=lambda: seconds)
        world.dispatcher.context = replace(world.dispatcher.context, shared=state)
        world.project()
        chief, planner = key(world, "chief", orchestrator=True), poller(world, "p1")
        assert planner.call("set_shared_state", key="k", value=1)["version"] == 1
        wire.cut()
        untouched(world, planner, "set_shared_state", Code.UNAVAILABLE, key="k", value=2)
        untouched(world, planner, "get_shared_state", Code.UNAVAILABLE, key="k")
        world.owner.refused("list_shared_state", Code.UNAVAILABLE, project_id=world.project_id)
        task = filed(chief)
        assert [each["task_id"] for each in claimed(planner, "p1")] == [task]
        planner.call("submit_result", task_id=task, status="completed")
        wire.mend()
        seconds = 1.0
        assert planner.call("get_shared_state", key="k")["value"] == 1
        assert planner.call("set_shared_state", key="k", value=2, expected_version=1)["version"] == 2
        state.close()


def test_a_work_that_runs_again_has_set_a_value_in_redis_once(world: World, redis_url: str) -> None:
    """A database may roll a work back and run it again; Redis has it then, and is not asked for another version."""
    state = RedisState(redis_url)
    world.dispatcher.context = replace(world.dispatcher.context, shared=state)
    world.project()
    token = world.owner.call("make_api_key", project_id=world.project_id, agent_id="w1")["token"]
    asked = world.dispatcher._asked(
        "set_shared_state", {"key": "k", "value": 1, "expected_version": 0}, Credentials(bearer=token), Door.OWN, False
    )
    assert not isinstance(asked, Outcome)
    for _ in range(2):
        done = world.database.write(asked.work)
        assert (done.outcome.result or {})["version"] == 1
    state.close()

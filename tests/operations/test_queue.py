"""The queue protocol: register, poll, submit; leases, attempts, fencing; who may what."""

from __future__ import annotations

from typing import Any

from tests.stories import Answer, Caller, World
from toryo.domain.errors import Code


def key(world: World, agent_id: str | None = None, **more: Any) -> Caller:
    """Somebody with an API key."""
    made = world.owner.call("make_api_key", project_id=world.project_id, **{"agent_id": agent_id, **more})
    return Caller(world, made["token"])


def poller(world: World, agent_id: str = "planner-1", agent_type: str = "planning", **more: Any) -> Caller:
    """A registered queue agent."""
    agent = key(world, agent_id, types=[agent_type], **more)
    agent.call("register_agent", agent_id=agent_id, agent_type=agent_type)
    return agent


def filed(orchestrator: Caller, what: str = "Plan it", agent_type: str = "planning", **more: Any) -> str:
    task: Answer = orchestrator.call("create_task", agent_type=agent_type, task_description=what, **more)
    task_id: str = task["task_id"]
    return task_id


def claimed(agent: Caller, agent_id: str, **more: Any) -> list[Answer]:
    """What one poll hands out."""
    got: list[Answer] = agent.call("poll_tasks", agent_id=agent_id, **more)["result"]
    return got


def test_a_task_goes_through_a_queue(world: World) -> None:
    world.project()
    chief = key(world, "chief", orchestrator=True)
    planner = poller(world)
    task = filed(chief, context={"stack": ["python"]}, correlation_id="req-12345")
    assert chief.call("get_task_status", task_id=task)["status"] == "pending"
    (got,) = planner.call("poll_tasks", agent_id="planner-1")["result"]
    assert (got["task_id"], got["status"], got["attempt"]) == (task, "in_progress", 1)
    assert (got["assigned_agent_id"], got["context"]) == ("planner-1", {"stack": ["python"]})
    assert planner.call("poll_tasks", agent_id="planner-1")["result"] == []
    first = planner.call("submit_result", task_id=task, status="completed", result={"plan": [1, 2]})
    assert planner.call("submit_result", task_id=task, status="completed", result={"plan": [1, 2]}) == first
    planner.refused("submit_result", Code.CONFLICT, task_id=task, status="completed", result="other")
    done = chief.call("get_task_status", task_id=task)
    assert (done["status"], done["result"], done["correlation_id"]) == ("completed", {"plan": [1, 2]}, "req-12345")


def test_a_claim_that_runs_out_goes_to_another_with_the_next_attempt_and_a_late_result_is_refused(world: World) -> None:
    world.project()
    chief = key(world, "chief", orchestrator=True)
    one, two = poller(world, "p1"), poller(world, "p2")
    task = filed(chief, timeout_seconds=60, max_attempts=2)
    one.call("poll_tasks", agent_id="p1")
    world.advance(61)
    assert two.call("poll_tasks", agent_id="p2")["result"] == []
    world.advance(6)
    (got,) = two.call("poll_tasks", agent_id="p2")["result"]
    assert got["attempt"] == 2
    late = one.refused("submit_result", Code.NOT_NOW, task_id=task, status="completed", result="late")
    assert late["attempt"] == 2
    assert [each["data"]["outcome"]["result"] for each in world.events("claim.late_result")] == ["late"]
    world.advance(61)
    world.housekeep()
    dead = world.owner.call("list_dead_letters", project_id=world.project_id)["tasks"]
    assert [(each["task_id"], each["error"]) for each in dead] == [(task, "attemptsExhausted")]
    world.owner.call("requeue_task", task_id=task)
    (got,) = two.call("poll_tasks", agent_id="p2")["result"]
    two.call("submit_result", task_id=task, status="completed", attempt=got["attempt"])
    assert world.status(task) == "completed"


def test_shared_values_have_versions_and_an_end(world: World) -> None:
    world.project()
    agent = poller(world)
    assert agent.call("set_shared_state", key="k", value=None, ttl=10)["version"] == 1
    found = agent.call("get_shared_state", key="k")
    assert (found["found"], found["value"]) == (True, None)
    agent.refused("set_shared_state", Code.CONFLICT, key="k", value=2, expected_version=0)
    assert agent.call("set_shared_state", key="k", value=2, ttl=10, expected_version=1)["version"] == 2
    world.advance(11)
    assert agent.call("get_shared_state", key="k")["expired"] is True
    assert agent.call("get_shared_state", key="other")["expired"] is False


def test_an_agent_that_a_coordinator_starts_serves_a_queue(world: World) -> None:
    world.project(decomposition="never")
    world.worker("w1", agent_type="planning")
    chief = key(world, "chief", orchestrator=True)
    task = filed(chief)
    assert world.why("w1") == "start has_ready_queue_task"
    process = world.start("w1")
    assert process.launch["purpose"] == "task"
    assert chief.call("get_task_status", task_id=task)["assigned_agent_id"] == "w1"
    process.report(summary="planned")
    assert chief.call("get_task_status", task_id=task)["status"] == "completed"
    assert world.why("w1") == "hold no_in_progress_task"


def test_a_launch_that_nobody_signs_in_for_gives_its_queue_task_back_uncounted(world: World) -> None:
    world.project()
    world.worker("w1", agent_type="planning")
    chief = key(world, "chief", orchestrator=True)
    task = filed(chief)
    world.started("w1")
    assert world.status(task) == "in_progress"
    world.advance(121)
    world.housekeep()
    shown: dict[str, Any] = chief.call("get_task_status", task_id=task)
    assert (shown["status"], shown["attempt"], shown["assigned_agent_id"]) == ("pending", 1, None)


def test_one_request_is_one_tree(world: World) -> None:
    world.project()
    chief = key(world, "chief", orchestrator=True)
    plan = filed(chief, correlation_id="req-12345")
    part = filed(chief, "Build it", parent_task_id=plan)
    filed(chief, "Something else", correlation_id="req-2")
    for asked in ("req-12345", plan, part):
        trace = world.owner.call("show_trace", correlation_id=asked)
        (root,) = trace["tasks"]
        assert (root["task_id"], [each["task_id"] for each in root["tasks"]]) == (plan, [part])
    assert len(trace["trace_id"]) == 32
    assert [each["kind"] for each in root["events"]] == ["task.created"]
    world.owner.refused("show_trace", Code.TASK_NOT_FOUND, correlation_id="req-3")

"""The queue protocol: register, poll, submit; leases, attempts, fencing; who may what."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from tests.invariants import hold
from tests.stories import Answer, Caller, World
from toryo.domain.errors import Code
from toryo.domain.times import HOUR, SECOND
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.grants import Door
from toryo.operations.queue import claims
from toryo.settings import AuthSettings, Settings
from toryo.storage import schema
from toryo.storage.engine.database import Database

pytestmark = pytest.mark.both


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


def test_a_key_that_is_nobodys_yet_takes_no_agent_that_is_there(world: World) -> None:
    """Not one of another project, nor one that signs in with a passkey: joining a project is an owner's to decide."""
    other = world.project(name="Beta")
    world.agent("mb", "manager", provider=None, projects=[other], system_prompt="not to be told")
    home = world.project(name="Alpha")
    world.agent("here", "worker", provider=None, projects=[home])
    world.project_id = home
    for taken in ("mb", "here"):
        unbound = key(world)
        unbound.refused("register_agent", Code.PERMISSION_DENIED, agent_id=taken, agent_type="x")
        unbound.refused("heartbeat", Code.NOT_NOW, agent_id=taken)
        unbound.call("register_agent", agent_id=f"new-{taken}", agent_type="x")
    assert world.owner.call("show_agent", agent_id="mb")["projects"] == [other]
    named = key(world, "mb")
    assert named.call("register_agent", agent_id="mb", agent_type="x")["success"], "the owner has named it"


def test_a_key_that_calls_too_often_is_refused_for_a_moment_and_others_are_not(fresh: Database) -> None:
    world = World(fresh, Settings(auth=AuthSettings(key_calls_per_minute=10)))
    world.project()
    busy, calm = poller(world), poller(world, "planner-2")
    for _ in range(9):
        busy.call("heartbeat", agent_id="planner-1")
    assert busy.refused("heartbeat", Code.RATE_LIMITED, agent_id="planner-1")["retry_after"] == 6
    calm.call("heartbeat", agent_id="planner-2")
    world.advance(6)
    busy.call("heartbeat", agent_id="planner-1")


def test_a_call_that_waits_is_counted_once_however_often_it_looks(fresh: Database) -> None:
    world = World(fresh, Settings(auth=AuthSettings(key_calls_per_minute=10)))
    world.project()
    waiting = poller(world)
    asked = {"agent_id": "planner-1"}

    async def looks() -> None:
        for _ in range(20):
            outcome = await world.dispatcher.perform_async(
                "heartbeat", asked, waiting.credentials, door=Door.OWN, again=True
            )
            assert not outcome.refused

    asyncio.run(looks())
    waiting.call("heartbeat", **asked)


@pytest.mark.parametrize(
    ("remote", "proxies", "registered"),
    [(None, (), True), ("127.0.0.1", (), True), ("::ffff:127.0.0.1", (), True), ("192.0.2.1", (), False),
     ("127.0.0.1", ("127.0.0.1",), False)],
)  # fmt: skip
def test_agents_register_themselves_without_a_key_from_this_machine_only(
    fresh: Database, remote: str | None, proxies: tuple[str, ...], registered: bool
) -> None:
    world = World(fresh, Settings(auth=AuthSettings(mode="local"), trusted_proxies=proxies))
    world.project()
    asked = {"agent_id": "q1", "agent_type": "x"}
    assert world.perform("register_agent", asked, Credentials(remote=remote)).refused is not registered


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


@pytest.mark.pitfall("F134", "F136")
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
    assert [event["data"]["outcome"]["result"] for event in world.events("claim.late_result")] == ["late"]
    world.advance(61)
    world.housekeep()
    dead = world.owner.call("list_dead_letters", project_id=world.project_id)["tasks"]
    assert [(each["task_id"], each["error"]) for each in dead] == [(task, "attemptsExhausted")]
    world.owner.call("requeue_task", task_id=task)
    (got,) = two.call("poll_tasks", agent_id="p2")["result"]
    two.call("submit_result", task_id=task, status="completed", attempt=got["attempt"])
    assert world.status(task) == "completed"


@pytest.mark.parametrize("attempts", [2, 1])
@pytest.mark.parametrize("outcome", ["completed", "failed"])
@pytest.mark.parametrize("named", [True, False])
def test_a_late_result_is_accepted_if_nobody_has_claimed_the_task_since(
    world: World, attempts: int, outcome: str, named: bool
) -> None:
    world.project()
    chief, one = key(world, "chief", orchestrator=True), poller(world, "p1")
    task = filed(chief, timeout_seconds=60, max_attempts=attempts)
    next_one = filed(chief, "After it", dependencies=[task])
    one.call("poll_tasks", agent_id="p1")
    world.advance(3600)
    world.housekeep()
    assert world.status(task) == ("todo" if attempts == 2 else "failed")
    more = {"result": "here"} if outcome == "completed" else {"error": "it cannot be done"}
    said = {"task_id": task, "status": outcome, **more, **({"attempt": 1} if named else {})}
    first = one.call("submit_result", **said)
    assert (first["status"], first["result"], first["error"]) == (outcome, more.get("result"), more.get("error"))
    assert first["attempt"] == 1
    assert one.call("submit_result", **said) == first
    assert one.refused("submit_result", Code.CONFLICT, **{**said, "result": "other", "attempt": 1})
    ready = [each["task_id"] for each in one.call("poll_tasks", agent_id="p1")["result"]]
    assert ready == ([next_one] if outcome == "completed" else [])


@pytest.mark.parametrize("what", ["claimed", "claimed and given back", "moved", "requeued"])
def test_a_late_result_is_refused_once_anything_has_happened_to_the_task(world: World, what: str) -> None:
    world.project()
    chief = key(world, "chief", orchestrator=True)
    one, two = poller(world, "p1"), poller(world, "p2")
    task = filed(chief, timeout_seconds=60, max_attempts=1 if what == "requeued" else 3)
    one.call("poll_tasks", agent_id="p1")
    world.advance(70)
    world.housekeep()
    if what == "moved":
        world.move(task, "backlog")
        world.move(task, "todo")
    elif what == "requeued":
        world.owner.call("requeue_task", task_id=task)
    else:
        world.advance(10)
        assert len(two.call("poll_tasks", agent_id="p2")["result"]) == 1
        if what != "claimed":
            two.call("submit_result", task_id=task, status="failed", retryable=True)
    before = world.status(task)
    one.refused("submit_result", Code.NOT_NOW, task_id=task, status="completed", result="late")
    assert world.status(task) == before


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
        assert (root["task_id"], [task["task_id"] for task in root["tasks"]]) == (plan, [part])
    assert len(trace["trace_id"]) == 32
    assert [event["kind"] for event in root["events"]] == ["task.created"]
    world.owner.refused("show_trace", Code.TASK_NOT_FOUND, correlation_id="req-3")


# --- who gets what, and when -----------------------------------------------------------------------------------------


@dataclass
class Queue:
    """An orchestrator and two planners."""

    world: World
    chief: Caller
    one: Caller
    two: Caller

    def poll(self, which: str = "p1", **more: Any) -> list[str]:
        caller = self.one if which == "p1" else self.two
        return [each["task_id"] for each in claimed(caller, which, **more)]

    def shown(self, task: str) -> Answer:
        return self.chief.call("get_task_status", task_id=task)


@pytest.fixture
def planning(world: World) -> Iterator[Queue]:
    world.project()
    yield Queue(world, key(world, "chief", orchestrator=True), poller(world, "p1"), poller(world, "p2"))
    hold(world)


def test_tasks_are_handed_out_by_priority_and_then_by_age(planning: Queue) -> None:
    chief = planning.chief
    old, new = filed(chief, "Old"), filed(chief, "New")
    low, urgent = filed(chief, "Low", priority="low"), filed(chief, "Urgent", priority="critical")
    assert planning.poll(max_tasks=3) == [urgent, old, new]
    assert planning.poll("p2", max_tasks=50) == [low]


@pytest.mark.pitfall("F133")
def test_a_hundred_tasks_and_twenty_pollers_and_each_task_is_claimed_once(world: World) -> None:
    """F133. Pollers of one moment: see also benchmarks of claims."""
    world.project()
    chief = key(world, "chief", orchestrator=True)
    pollers = {f"p{number}": poller(world, f"p{number}") for number in range(20)}
    tasks = [filed(chief, f"Task {number}") for number in range(100)]
    got: list[str] = []
    with ThreadPoolExecutor(20) as threads:
        while len(got) < 100:
            before = len(got)
            for each in threads.map(lambda item: claimed(item[1], item[0], max_tasks=3), pollers.items()):
                got += [task["task_id"] for task in each]
            assert len(got) > before
    assert sorted(got) == sorted(tasks)
    hold(world)


@pytest.mark.pitfall("F133")
def test_at_most_fifty_claims_at_once(planning: Queue) -> None:
    tasks = [filed(planning.chief, f"Task {number}") for number in range(52)]
    assert planning.poll(max_tasks=30) + planning.poll(max_tasks=50) == tasks[:50]
    refusal = planning.one.refused("poll_tasks", Code.LIMIT_REACHED, agent_id="p1")
    assert refusal["limit"] == 50
    planning.one.call("submit_result", task_id=tasks[0], status="completed")
    assert planning.poll(max_tasks=50) == [tasks[50]]
    assert planning.poll("p2", max_tasks=50) == [tasks[51]]


def test_a_task_of_another_type_is_not_handed_out(planning: Queue) -> None:
    filed(planning.chief, agent_type="building")
    assert planning.poll() == []


def test_what_waits_for_others_comes_when_all_of_them_are_completed(planning: Queue) -> None:
    one, two = filed(planning.chief, "One"), filed(planning.chief, "Two")
    both = filed(planning.chief, "Both", dependencies=[one, two])
    assert planning.poll(max_tasks=50) == [one, two]
    for task in (one, two):
        assert planning.poll("p2") == []
        planning.one.call("submit_result", task_id=task, status="completed")
    assert planning.poll("p2") == [both]


def test_a_project_that_rests_hands_out_nothing_and_still_takes_results(planning: Queue) -> None:
    world, task = planning.world, filed(planning.chief)
    planning.poll()
    waiting = filed(planning.chief, "Another")
    world.owner.call("pause_project", project_id=world.project_id)
    assert planning.poll("p2") == []
    planning.one.call("submit_result", task_id=task, status="completed")
    world.owner.call("resume_project", project_id=world.project_id)
    assert planning.poll("p2") == [waiting]


def test_a_task_that_people_have_not_approved_is_not_handed_out(world: World) -> None:
    world.project(approvals="all")
    chief = key(world, "chief", orchestrator=True)
    planner = poller(world, "p1")
    task = filed(chief)
    assert claimed(planner, "p1") == []
    world.owner.call("approve_task", task_id=task)
    assert [each["task_id"] for each in claimed(planner, "p1")] == [task]


def test_the_same_idempotency_key_files_once(planning: Queue) -> None:
    asked: Answer = {"idempotency_key": "k", "context": {"a": 1}}
    task = filed(planning.chief, **asked)
    assert filed(planning.chief, **asked) == task
    refusal = planning.chief.refused(
        "create_task", Code.CONFLICT, agent_type="planning", task_description="Another", idempotency_key="k"
    )
    assert refusal["task_id"] == task
    other = key(planning.world, "other", orchestrator=True)
    assert filed(other, **asked) != task
    assert len(planning.poll(max_tasks=50)) == 2


def test_an_orchestrator_needs_no_registration(world: World) -> None:
    """Nor an agent of its own: who filed a task is its key."""
    world.project()
    made = world.owner.call("make_api_key", project_id=world.project_id, orchestrator=True)
    chief = Caller(world, made["token"])
    plan = filed(chief)
    part = filed(chief, parent_task_id=plan)
    assert chief.call("get_task_status", task_id=part)["created_by"] == made["key"]["key_id"]
    assert chief.call("list_agents")["agents"] == []
    hold(world)


def test_the_parent_of_a_queue_task_is_told_and_contains_nothing(planning: Queue) -> None:
    whole = filed(planning.chief)
    splitter = poller(planning.world, "splitter", orchestrator=True)
    assert [each["task_id"] for each in claimed(splitter, "splitter")] == [whole]
    part = filed(splitter, "Part", parent_task_id=whole)
    splitter.call("submit_result", task_id=whole, status="completed")
    later = filed(splitter, "Also", parent_task_id=whole, dependencies=[whole])
    assert planning.poll(max_tasks=9) == [part, later]
    assert [planning.shown(each)["parent_task_id"] for each in (part, later)] == [whole, whole]
    (tree,) = planning.world.owner.call("show_trace", correlation_id=whole)["tasks"]
    assert [each["task_id"] for each in tree["tasks"]] == [part, later]


def test_who_has_as_many_tasks_as_it_may_is_given_the_part_of_one_that_stands_behind_others(
    planning: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = planning.world
    splitter = poller(world, "splitter", orchestrator=True)
    world.owner.call("edit_agent", agent_id="splitter", max_parallel_tasks=1)
    whole = filed(planning.chief)
    assert [each["task_id"] for each in claimed(splitter, "splitter")] == [whole]
    others = [filed(planning.chief, f"Other {number}", priority="high") for number in range(5)]
    part = world.task(status="todo", title="Part", agent_type="planning", parent_task_id=whole)
    assert [each["task_id"] for each in claimed(splitter, "splitter")] == [part]
    world.hints.clear()
    monkeypatch.setattr(claims, "MOST_PASSED", 1)
    assert claimed(splitter, "splitter") == []
    assert world.hints == [], "others who may claim nothing either would wake each other for ever"
    assert planning.poll(max_tasks=9) == others


# --- attempts --------------------------------------------------------------------------------------------------------


def test_a_failure_that_may_be_retried_rests_longer_each_time_and_then_is_final(planning: Queue) -> None:
    task = filed(planning.chief)
    for attempt, rest in ((1, 5), (2, 10)):
        (got,) = claimed(planning.one, "p1")
        assert (got["task_id"], got["attempt"]) == (task, attempt)
        asked = {"task_id": task, "status": "failed", "error": f"Try {attempt}.", "retryable": True}
        first = planning.one.call("submit_result", **asked)
        assert (first["status"], first["error"], first["assigned_agent_id"]) == ("pending", f"Try {attempt}.", None)
        assert planning.one.call("submit_result", **asked, attempt=attempt) == first
        assert planning.poll("p2") == []
        planning.world.advance(rest - 1)
        assert planning.poll("p2") == []
        planning.world.advance(1)
    planning.poll("p2")
    planning.two.call("submit_result", task_id=task, status="failed", error="Try 3.", retryable=True)
    shown = planning.shown(task)
    assert (shown["status"], shown["error"], shown["attempt"]) == ("failed", "Try 3.", 3)


def test_failed_means_failed(planning: Queue) -> None:
    task = filed(planning.chief)
    planning.poll()
    answer = planning.one.call("submit_result", task_id=task, status="failed", error="It cannot be done.")
    assert (answer["status"], answer["error"]) == ("failed", "It cannot be done.")
    planning.world.advance(3600)
    assert planning.poll("p2") == []
    dead = planning.world.owner.call("list_dead_letters", project_id=planning.world.project_id)["tasks"]
    assert [each["task_id"] for each in dead] == [task]


@pytest.mark.pitfall("F134")
def test_a_dead_letter_that_is_put_back_has_all_its_attempts_again(planning: Queue) -> None:
    task = filed(planning.chief, max_attempts=2)

    def fail() -> None:
        planning.world.advance(3600)
        assert planning.poll() == [task]
        planning.one.call("submit_result", task_id=task, status="failed", retryable=True)

    for _ in range(3):
        fail()
        fail()
        assert planning.world.status(task) == "failed"
        planning.world.owner.call("requeue_task", task_id=task)


@pytest.mark.pitfall("F141")
def test_what_waits_for_a_task_that_has_failed_is_flagged_and_whoever_asks_hears_it(planning: Queue) -> None:
    """F141."""
    first = filed(planning.chief)
    second = filed(planning.chief, "Then", dependencies=[first])
    waiting = planning.world.perform(
        "get_task_status", {"task_id": second, "wait_seconds": 45}, planning.chief.credentials, may_wait=True
    )
    assert waiting.later is not None
    planning.world.hints.clear()
    planning.poll()
    planning.one.call("submit_result", task_id=first, status="failed", error="no")
    assert waiting.later.topics & frozenset().union(*planning.world.hints)
    shown = planning.shown(second)
    assert (shown["status"], shown["dependency_failed"]) == ("pending", True)
    planning.world.owner.call("requeue_task", task_id=first)
    assert planning.shown(second)["dependency_failed"] is False


def test_whoever_waits_for_a_task_is_answered_when_it_is_closed(planning: Queue) -> None:
    task = filed(planning.chief)
    asked = ("get_task_status", {"task_id": task, "wait_seconds": 45}, planning.chief.credentials)
    waiting = planning.world.perform(*asked, may_wait=True)
    planning.poll()
    assert planning.world.perform(*asked, may_wait=True).later is not None
    planning.world.hints.clear()
    planning.one.call("submit_result", task_id=task, status="completed", result=7)
    assert waiting.later is not None
    assert waiting.later.topics & frozenset().union(*planning.world.hints)
    outcome = planning.world.perform(*asked, may_wait=True)
    assert outcome.result is not None
    assert outcome.result["result"] == 7


def test_whoever_polls_is_hinted_when_a_task_comes_and_looks_again_when_a_rest_is_over(planning: Queue) -> None:
    asked = ("poll_tasks", {"agent_id": "p1", "wait_seconds": 45}, planning.one.credentials)
    waiting = planning.world.perform(*asked, may_wait=True)
    assert waiting.later is not None
    planning.world.hints.clear()
    task = filed(planning.chief)
    assert waiting.later.topics & frozenset().union(*planning.world.hints)
    planning.poll("p2")
    planning.two.call("submit_result", task_id=task, status="failed", retryable=True)
    resting = planning.world.perform(*asked, may_wait=True)
    assert resting.later is not None
    assert resting.later.at == planning.world.now - 1 + 5 * SECOND


def test_what_is_lost_together_with_the_task_above_it_is_lost_once(planning: Queue) -> None:
    """The loss of the whole puts its part back; the part's own claim, over at the same moment, is no second loss."""
    whole = filed(planning.chief, "Whole", max_attempts=1)
    part = planning.world.task(status="todo", title="Part", agent_type="planning", parent_task_id=whole)
    planning.poll()
    assert planning.poll("p2") == [part]
    planning.world.advance(1_801)
    planning.world.housekeep()
    assert planning.shown(whole)["error"] == "attemptsExhausted"
    assert len(planning.world.events("claim.lost")) == 1
    (over,) = [claim for claim in planning.world.rows(schema.claims)["claims"] if claim[0] == part]
    assert "withdrawn" in over


# --- presence --------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F139")
def test_silence_makes_an_agent_offline_and_releases_only_whom_heartbeats_were_known_of(planning: Queue) -> None:
    """F139; plain queue agents send none and keep what they have."""
    plain, beating = filed(planning.chief, "Plain"), filed(planning.chief, "Beating")
    planning.poll("p1")
    planning.poll("p2")
    planning.two.call("heartbeat", agent_id="p2")
    planning.world.advance(91)
    planning.world.housekeep()
    agents = {agent["agent_id"]: agent for agent in planning.chief.call("list_agents")["agents"]}
    assert {agent["status"] for agent in agents.values()} == {"offline"}
    assert (agents["p1"]["current_tasks"], agents["p2"]["current_tasks"]) == ([plain], [])
    assert (planning.world.status(plain), planning.world.status(beating)) == ("in_progress", "todo")
    assert [each["data"]["reason"] for each in planning.world.events("claim.lost")] == ["lost"]
    late = planning.two.refused("submit_result", Code.NOT_NOW, task_id=beating, status="completed")
    assert late["attempt"] == 2
    planning.one.call("submit_result", task_id=plain, status="completed")
    assert planning.poll("p1") == [beating]


@pytest.mark.pitfall("F139")
def test_registering_again_continues(planning: Queue) -> None:
    task = filed(planning.chief)
    planning.poll()
    planning.world.advance(91)
    planning.world.housekeep()
    again = planning.one.call("register_agent", agent_id="p1", agent_type="planning", capabilities=["python"])
    assert (again["status"], [claim["task_id"] for claim in again["claims"]]) == ("busy", [task])
    planning.one.call("submit_result", task_id=task, status="completed")


@pytest.mark.pitfall("F139")
def test_whom_nobody_has_heard_of_for_ninety_seconds_is_offline_to_whoever_asks_first(planning: Queue) -> None:
    planning.world.advance(60)
    planning.two.call("heartbeat", agent_id="p2")
    planning.world.advance(30)
    agents = planning.chief.call("list_agents")["agents"]
    assert {agent["agent_id"]: agent["status"] for agent in agents} == {"p1": "offline", "p2": "online"}
    assert [agent["agent_id"] for agent in planning.chief.call("list_agents", status="online")["agents"]] == ["p2"]
    assert planning.chief.call("list_agents", agent_type="building")["agents"] == []
    planning.poll("p1")
    assert len(planning.chief.call("list_agents", status="online")["agents"]) == 2


@pytest.mark.pitfall("F139")
def test_a_heartbeat_renews_a_claim_for_a_day_at_most(planning: Queue) -> None:
    task = filed(planning.chief, timeout_seconds=3_600)
    planning.poll()
    begun = planning.world.now
    while planning.world.now < begun + 24 * HOUR - 1800 * SECOND:
        planning.world.advance(1800)
        beat = planning.one.call("heartbeat", agent_id="p1")
        assert [claim["task_id"] for claim in beat["claims"]] == [task]
        planning.world.housekeep()
    assert planning.world.status(task) == "in_progress"
    planning.world.advance(1801)
    planning.one.call("heartbeat", agent_id="p1")
    planning.world.housekeep()
    assert planning.world.status(task) == "todo"
    assert [event["data"]["reason"] for event in planning.world.events("claim.lost")] == ["lost"]


@pytest.mark.pitfall("F143")
def test_leaving_puts_back_what_is_not_finished_at_once(planning: Queue) -> None:
    done, left = filed(planning.chief, "Done"), filed(planning.chief, "Left")
    planning.poll(max_tasks=2)
    planning.one.call("submit_result", task_id=done, status="completed")
    assert planning.one.call("unregister_agent", agent_id="p1")["released"] == [left]
    assert planning.one.call("unregister_agent", agent_id="p1")["released"] == []
    assert planning.poll("p2") == [left]
    agents = planning.chief.call("list_agents", status="offline")["agents"]
    assert [agent["agent_id"] for agent in agents] == ["p1"]


@pytest.mark.pitfall("F140")
def test_a_task_whose_queue_has_no_agent_says_so_after_the_stall_time(planning: Queue) -> None:
    """F140."""
    task = filed(planning.chief, agent_type="painting")
    planning.world.advance(100)
    planning.world.housekeep()
    assert planning.world.events("task.no_agent") == []
    planning.world.advance(21)
    for _ in range(3):
        planning.world.housekeep()
    (told,) = planning.world.events("task.no_agent")
    assert (told["task_id"], told["data"]["agent_type"]) == (task, "painting")
    assert planning.shown(task)["no_agent"] is True
    poller(planning.world, "painter", "painting")
    assert planning.shown(task)["no_agent"] is False


# --- people step in --------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F136")
@pytest.mark.parametrize(
    ("to", "back"), [("blocked", ["todo"]), ("todo", []), ("cancelled", None), ("backlog", ["todo"])]
)
def test_what_a_person_takes_out_of_its_holders_hands_takes_no_result_of_that_attempt(
    planning: Queue, to: str, back: list[str] | None
) -> None:
    task = filed(planning.chief)
    planning.poll()
    if to == "backlog":
        planning.world.move(task, "todo", "Not now.")
    planning.world.move(task, to, "Not now.")
    late = planning.one.refused("submit_result", Code.NOT_NOW, task_id=task, status="completed", result="late")
    assert late["attempt"] == 2
    assert planning.one.call("heartbeat", agent_id="p1")["claims"] == []
    if back is None:
        assert planning.world.status(task) == "cancelled"
        return
    for status in back:
        planning.world.move(task, status)
    (got,) = claimed(planning.two, "p2")
    assert (got["task_id"], got["attempt"]) == (task, 2)
    planning.one.refused("submit_result", Code.NOT_NOW, task_id=task, status="completed", attempt=1)
    planning.two.call("submit_result", task_id=task, status="completed")


def test_an_unblocked_task_goes_back_to_its_queue_and_not_to_an_agent_that_hears_nothing_of_it(planning: Queue) -> None:
    task = filed(planning.chief)
    planning.poll()
    planning.world.move(task, "blocked", "Not now.")
    planning.world.owner.refused("move_task", Code.INVALID_TRANSITION, task_id=task, status="in_progress")
    planning.world.move(task, "todo")
    assert planning.poll() == [task]


# --- agents that a Coordinator starts --------------------------------------------------------------------------------


@pytest.mark.pitfall("F134")
def test_a_process_that_crashes_gives_its_queue_task_back_and_the_attempt_counts(world: World) -> None:
    """Workflow, row 14."""
    world.project(decomposition="never")
    world.worker("w1", agent_type="planning")
    chief = key(world, "chief", orchestrator=True)
    task = filed(chief)
    process = world.start("w1")
    world.coordinator().exited(process.launch_id, exit_code=1, error="crashed")
    shown = chief.call("get_task_status", task_id=task)
    assert (shown["status"], shown["attempt"], shown["assigned_agent_id"]) == ("pending", 2, None)
    assert world.why("w1").startswith("hold")
    hold(world)
    planner = poller(world, "p1")
    world.advance(6)
    (got,) = claimed(planner, "p1")
    assert (got["task_id"], got["attempt"]) == (task, 2)


def test_a_task_whose_lease_is_over_is_not_said_to_start_before_anybody_has_swept_up(world: World) -> None:
    """It goes back to its queue, and rests there: `why`, which changes nothing, counts with that."""
    world.project(decomposition="never")
    world.worker("w1", agent_type="planning")
    chief = key(world, "chief", orchestrator=True)
    task = filed(chief)
    world.start("w1")
    world.advance(24 * 3600)
    said = world.why("w1")
    assert world.coordinator().starts() == []
    assert (said, world.why("w1"), world.status(task)) == ("hold no_in_progress_task",) * 2 + ("todo",)
    world.advance(10)
    assert world.why("w1") == "start has_ready_queue_task"
    assert world.coordinator().starts() == ["w1"]


def test_a_task_that_somebody_polled_is_not_started_for(world: World) -> None:
    world.project(decomposition="never")
    world.worker("w1", agent_type="planning")
    planner = poller(world, "p1")
    filed(key(world, "chief", orchestrator=True))
    claimed(planner, "p1")
    assert world.why("w1") == "hold no_in_progress_task"


@pytest.mark.pitfall("F140")
def test_a_manager_waits_for_a_queue_task_only_while_its_type_has_an_agent_and_is_woken(world: World) -> None:
    world.project()
    world.manager("boss", capabilities=["orchestrator"])
    main = world.task("boss")
    boss = world.start("boss")
    task = filed(boss, parent_task_id=main)
    boss.call("get_next_action")
    boss.refused("select_action", Code.NOT_NOW, action="wait")
    planner = poller(world, "p1")
    boss.wait()
    assert world.why("boss") == "hold waiting_for_workers"
    assert [each["task_id"] for each in claimed(planner, "p1")] == [task]
    assert world.why("boss") == "hold waiting_for_workers"
    planner.call("submit_result", task_id=task, status="completed", result="planned")
    assert world.why("boss") == "start workers_finished"


def test_a_manager_goes_on_waiting_for_a_plain_agent_that_works_in_silence(world: World) -> None:
    """It sends no heartbeat and is offline after 90 seconds; its claim lasts, and wakes the manager when it ends."""
    world.project()
    world.manager("boss", capabilities=["orchestrator"])
    main = world.task("boss")
    boss = world.start("boss")
    planner = poller(world, "p1")
    task = filed(boss, parent_task_id=main)
    claimed(planner, "p1")
    boss.wait()
    world.advance(120)
    world.housekeep()
    assert world.why("boss") == "hold waiting_for_workers"
    assert boss.world.owner.call("show_task", task_id=task)["task"]["status"] == "in_progress"
    planner.call("submit_result", task_id=task, status="completed")
    assert world.why("boss") == "start workers_finished"


def test_whoever_takes_a_task_and_leaves_others_wakes_more_of_those_who_wait(world: World) -> None:
    world.project()
    chief = key(world, "chief", orchestrator=True)
    planner = poller(world)
    for number in range(3):
        filed(chief, f"Plan {number}")
    topic = f"queue:{world.project_id}:planning"
    world.hints.clear()
    planner.call("poll_tasks", agent_id="planner-1", max_tasks=2)
    assert any(topic in hint for hint in world.hints)
    world.hints.clear()
    planner.call("poll_tasks", agent_id="planner-1", max_tasks=2)
    assert not any(topic in hint for hint in world.hints)


def test_who_waits_at_a_queue_hears_that_its_project_goes_on(world: World) -> None:
    world.project()
    world.owner.call("pause_project", project_id=world.project_id)
    planner = poller(world)
    asked = {"agent_id": "planner-1", "wait_seconds": 45}
    waiting = world.perform("poll_tasks", asked, planner.credentials, may_wait=True)
    assert waiting.later is not None
    world.hints.clear()
    world.owner.call("resume_project", project_id=world.project_id)
    assert any(waiting.later.topics & hint for hint in world.hints)

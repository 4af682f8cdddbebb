"""Queues in any order: agents that come, work, fail, leave and vanish while people step in. No task is ever stuck."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from tests.invariants import hold
from tests.operations.test_queue import key
from tests.stories import Caller, Process, World, seeds

pytestmark = pytest.mark.deep

AGENTS = ("p1", "p2", "p3")
STEPS = 150


@dataclass
class QueueWalk:
    """Some steps of everybody, chosen by a seed. Refusals are fine; what must hold is asked after every step."""

    world: World
    random: Random
    chief: Caller
    agents: dict[str, Caller]
    tasks: list[str] = field(default_factory=list)
    held: list[tuple[str, str, int]] = field(default_factory=list)
    """Agent, task and attempt of everything that was ever handed out."""
    accepted: dict[str, list[Any]] = field(default_factory=dict)
    process: Process | None = None

    def step(self) -> None:
        self.random.choice(STEPS_OF)(self)
        hold(self.world)

    def agent(self) -> str:
        return self.random.choice(AGENTS)

    def task(self) -> str:
        return self.random.choice(self.tasks) if self.tasks else "tsk_none"

    def file(self) -> None:
        more: dict[str, Any] = {"max_attempts": self.random.randint(1, 3), "timeout_seconds": 60}
        if self.random.random() < 0.3:
            more["dependencies"] = [self.task()]
        if self.random.random() < 0.3:
            more["parent_task_id"] = self.task()
        outcome = self.chief.ask("create_task", agent_type="planning", task_description="x", **more)
        if outcome.result and not outcome.refused:
            self.tasks.append(outcome.result["task_id"])

    def poll(self) -> None:
        name = self.agent()
        outcome = self.agents[name].ask("poll_tasks", agent_id=name, max_tasks=self.random.randint(1, 3))
        if outcome.result and not outcome.refused:
            self.held += [(name, each["task_id"], each["attempt"]) for each in outcome.result["result"]]

    def submit(self) -> None:
        """Of anything that was ever held: the present, the late, and the same again."""
        if not self.held:
            return
        name, task, attempt = self.random.choice(self.held[-12:])
        asked = {
            "status": self.random.choice(["completed", "completed", "failed"]),
            "result": self.random.randint(1, 3),
        }
        retryable = asked["status"] == "failed" and self.random.random() < 0.7
        caller = self.agents[name]
        outcome = caller.ask("submit_result", task_id=task, attempt=attempt, retryable=retryable, **asked)
        if outcome.result and not outcome.refused and asked["status"] == "completed":
            self.accepted.setdefault(task, []).append(asked["result"])

    def beat(self) -> None:
        name = self.agent()
        self.agents[name].ask("heartbeat", agent_id=name)

    def leave(self) -> None:
        name = self.agent()
        self.agents[name].ask("unregister_agent", agent_id=name)

    def come(self) -> None:
        name = self.agent()
        self.agents[name].call("register_agent", agent_id=name, agent_type="planning")

    def time(self) -> None:
        self.world.advance(self.random.choice([1, 10, 40, 70]))
        self.world.housekeep()

    def person(self) -> None:
        to = self.random.choice(["todo", "todo", "blocked", "cancelled", "in_progress"])
        self.world.owner.ask("move_task", task_id=self.task(), status=to, reason="A person says so.")

    def requeue(self) -> None:
        self.world.owner.ask("requeue_task", task_id=self.task())

    def start(self) -> None:
        started = self.world.coordinator().claim(agent_ids=["w1"], free_slots=1)["start"]
        if started:
            self.process = self.world.process(started[0])
            if self.random.random() < 0.8:
                self.process.sign_in()

    def end(self) -> None:
        """The process reports, or dies."""
        process, self.process = self.process, None
        if process is None:
            return
        if self.random.random() < 0.5:
            process.ask("report_model", provider="claude", model_id="m")
            process.ask("get_my_task")
            process.ask("report_completed", result="success", summary="done")
        self.world.coordinator().exited(process.launch_id, exit_code=0)


STEPS_OF: list[Callable[[QueueWalk], None]] = [
    *[QueueWalk.file] * 3,
    *[QueueWalk.poll] * 4,
    *[QueueWalk.submit] * 4,
    *[QueueWalk.time] * 2,
    QueueWalk.beat,
    QueueWalk.leave,
    QueueWalk.come,
    QueueWalk.person,
    QueueWalk.requeue,
    QueueWalk.start,
    QueueWalk.end,
]


def begun(world: World, seed: int) -> QueueWalk:
    world.project(decomposition="never")
    world.worker("w1", agent_type="planning")
    walk = QueueWalk(
        world, Random(seed), key(world, "chief", orchestrator=True), {name: key(world, name) for name in AGENTS}
    )
    for name in AGENTS:
        walk.agents[name].call("register_agent", agent_id=name, agent_type="planning")
    return walk


@pytest.mark.parametrize("seed", seeds(0, usual=3))
def test_whatever_agents_and_people_do_no_task_is_stuck_and_none_has_two_results(world: World, seed: int) -> None:
    walk = begun(world, seed)
    for _ in range(STEPS):
        walk.step()
    walk.end()
    assert walk.tasks
    last = walk.agents["p1"]
    for task in walk.tasks:  # people let go of what they hold back
        if world.status(task) in ("blocked", "failed", "cancelled"):
            world.owner.ask("move_task", task_id=task, status="todo")
    for _ in range(400):
        world.advance(70)
        world.housekeep()
        last.call("register_agent", agent_id="p1", agent_type="planning")
        got = last.call("poll_tasks", agent_id="p1", max_tasks=50)["result"]
        for each in got:
            last.ask("submit_result", task_id=each["task_id"], status="completed", result="last")
        for claim in last.call("register_agent", agent_id="p1", agent_type="planning")["claims"]:
            last.ask("submit_result", task_id=claim["task_id"], status="completed", result="last")
        if not any(_moving(walk, task) for task in walk.tasks):
            break
    hold(world)
    stuck = [task for task in walk.tasks if _moving(walk, task)]
    assert not stuck, [world.show(each) for each in stuck]
    for task, results in walk.accepted.items():
        if world.status(task) == "completed":
            assert world.show(task)["result"] in (*results, "last", None)


def _moving(walk: QueueWalk, task: str) -> bool:
    """Open, and neither held back by a person nor waiting for what will not come."""
    shown = walk.chief.call("get_task_status", task_id=task)
    if shown["status"] not in ("pending", "in_progress"):
        return False
    return not _waits_in_vain(walk, shown)


def _waits_in_vain(walk: QueueWalk, shown: dict[str, Any]) -> bool:
    """For a task that is blocked, has failed or was cancelled, or for one that waits so itself; or below such a one."""
    for each in [*shown["dependencies"], *([shown["parent_task_id"]] if shown["parent_task_id"] else [])]:
        other = walk.chief.call("get_task_status", task_id=each)
        if other["status"] in ("failed", "cancelled", "blocked", "backlog"):
            return True
        if each in shown["dependencies"] and other["status"] != "completed" and _waits_in_vain(walk, other):
            return True
    if shown["status"] == "in_progress":  # its own subtasks must be closed first
        children = [task for task in walk.tasks if walk.world.show(task)["parent_task_id"] == shown["task_id"]]
        return any(walk.world.status(child) in ("pending", "todo", "blocked") for child in children)
    return False

"""Left to chance: people file, edit, move and cancel tasks in line and for anyone who is free, agents fail and go, and
after each act nothing that is ready waits for a free agent. Then what the explorer found of lines, as stories."""

from __future__ import annotations

import random
from collections.abc import Callable

import orjson
import pytest

from tests.exploring.explorer import faults_of
from tests.invariants import Row, Rows, broken, free_for, place, read, ready_in_line
from tests.stories import Answer, Refused, World, seeds
from toryo.domain.times import iso

ACTS = 60
WORKERS = ("w1", "w2", "w3")
WORDS = ("any", "any:python", "any:python,tests")
ERRORS = ("not_logged_in: no key", "command_not_found: x", "crashed: exit 1", "quota: used up", None)


class Walk:
    def __init__(self, world: World, seed: int, start: str) -> None:
        self.world, self.chance = world, random.Random(seed)
        world.crew(3, start=start)
        world.owner.call("edit_agent", agent_id="w2", capabilities=["python"])
        world.owner.call("edit_agent", agent_id="w3", capabilities=["python", "tests"], max_parallel_tasks=2)
        self.coordinator = world.coordinator()
        self.coordinator.claim(free_slots=0)
        self.tasks: list[str] = []
        self.acts: list[Callable[[], object]] = [
            *[self.file] * 4,
            *[self.edit] * 3,
            *[self.move] * 4,
            *[self.put] * 3,
            self.depend,
            self.agent,
            self.project,
            self.end_a_launch,
            self.housekeep,
        ]

    def step(self) -> str:
        act = self.chance.choice(self.acts)
        try:
            return f"{act.__name__} {act()}"
        except Refused as refused:
            return f"{act.__name__} refused {refused}"

    def some(self) -> str:
        return self.chance.choice(self.tasks) if self.tasks else self.world.task("w1", status="backlog")

    def who(self) -> str:
        return self.chance.choice([*WORKERS, "boss", *WORDS])

    def file(self) -> str:
        asked: Answer = {"title": f"task {len(self.tasks)}", "priority": self.chance.choice(["low", "medium", "high"])}
        if self.chance.random() < 0.3 and self.tasks:
            asked["dependencies"] = [self.some()]
        if self.chance.random() < 0.2 and self.tasks:
            asked["parent_task_id"] = self.some()
        if self.chance.random() < 0.3:
            asked["start"] = self.chance.choice(["when_ready", "manual"])
        if self.chance.random() < 0.1:
            asked["not_before"] = iso(self.world.now + self.chance.choice([10_000, 100_000]))
        status = self.chance.choice(["backlog", "todo", "todo", "todo", "in_progress"])
        self.tasks.append(self.world.task(self.who(), status=status, **asked))
        return self.tasks[-1]

    def edit(self) -> object:
        task = self.some()
        how: Answer = self.chance.choice(
            [
                {"assignee_id": self.who()},
                {"assignee_id": None},
                {"priority": self.chance.choice(["low", "critical"])},
                {"start": self.chance.choice(["when_ready", "manual", None])},
                {"not_before": self.chance.choice([iso(self.world.now + 60_000), None])},
            ]
        )
        self.world.owner.call("edit_task", task_id=task, **how)
        return task, how

    def depend(self) -> object:
        task, other = self.some(), self.some()
        how = self.chance.choice(["add_dependencies", "remove_dependencies"])
        self.world.owner.call("edit_task", task_id=task, **{how: [other]})
        return task, how, other

    def move(self) -> object:
        task = self.some()
        to = self.chance.choice(["todo", "in_progress", "completed", "completed", "failed", "cancelled", "blocked"])
        self.world.move(task, to, "so it is")
        return task, to

    def put(self) -> object:
        task, other = self.some(), self.some()
        self.world.owner.call("move_task", task_id=task, before_task_id=other)
        return task, other

    def agent(self) -> object:
        agent_id = self.chance.choice(WORKERS)
        name = self.chance.choice(["deactivate_agent", "activate_agent", "resume_agent"])
        self.world.owner.call(name, agent_id=agent_id)
        return name, agent_id

    def project(self) -> object:
        name = self.chance.choice(["pause_project", "resume_project", "remove_member", "add_member"])
        more = {"agent_id": self.chance.choice(WORKERS)} if "member" in name else {}
        self.world.owner.call(name, project_id=self.world.project_id, **more)
        return name, more

    def end_a_launch(self) -> object:
        self.coordinator.claim(free_slots=1)
        launches = [each for each in self.world.launches(live=True) if each["signed_in_at"] is None]
        if not launches:
            return None
        launch = self.chance.choice(launches)
        error = self.chance.choice(ERRORS)
        self.coordinator.exited(launch["launch_id"], exit_code=1, **({"error": error} if error else {}))
        return launch["agent_id"], error

    def housekeep(self) -> None:
        self.world.advance(40)
        self.coordinator.claim(free_slots=0)
        self.world.housekeep()


def takes(rows: Rows, agent_id: str, task: Row) -> bool:
    """Whether a free agent could take a task of a pool."""
    pool, agent = orjson.loads(task["pool"]), rows.agents[agent_id]
    can = set(pool["capabilities"]) <= set(orjson.loads(agent["capabilities"] or "[]"))
    busy = any(
        (each["assignee_id"], each["status"]) == (agent_id, "in_progress") and rows.is_main(each)
        for each in rows.tasks.values()
    )
    parent = rows.tasks.get(task["parent_id"])
    own = parent is not None and parent["assignee_id"] == agent_id
    return can and not busy and not own and agent_id not in pool["passed"] and free_for(rows, agent_id, task)


def waits_although_somebody_is_free(rows: Rows) -> list[str]:
    pooled = [task for task in rows.tasks.values() if task["assignee_id"] is None and task["pool"] is not None]
    return [
        f"{task['id']} could be taken by {agent_id}"
        for task in pooled
        if ready_in_line(rows, task)
        for agent_id in WORKERS
        if takes(rows, agent_id, task)
    ]


def overtaken(before: Rows, after: Rows) -> list[str]:
    """What is ready in the line of an agent, and first, although Toryo has started another task of that line."""
    starts = [each for each in after["events"] if each["kind"] == "task.started" and "next in line" in each["data"]]
    new = {each["task_id"] for each in starts if each["sequence"] > before["events"][-1]["sequence"]}
    return [
        f"{waits['id']} was overtaken by {task_id}"
        for task_id in new
        for waits in after.tasks.values()
        if waits["assignee_id"] == after.tasks[task_id]["assignee_id"]
        and after.is_main(waits)
        and ready_in_line(after, waits)
        and place(waits) < place(after.tasks[task_id])
        and not any(above["assignee_id"] == waits["assignee_id"] for above in after.above(after.tasks[task_id]))
    ]


@pytest.mark.parametrize("start", ["when_ready", "manual"])
@pytest.mark.parametrize("seed", seeds(11, 12))
def test_nothing_ready_waits_while_somebody_is_free_for_it(world: World, seed: int, start: str) -> None:
    walk, log = Walk(world, seed, start), []
    rows = read(world)
    for _ in range(ACTS):
        before = rows
        log.append(walk.step())
        rows = read(world)
        wrong = broken(world) + waits_although_somebody_is_free(rows) + overtaken(before, rows)
        assert not wrong, "\n".join([*log[-8:], *wrong])


@pytest.mark.parametrize(
    ("scene", "story"),
    [
        ("lines", ["2: files below Shed (1) for w2, todo"]),
        ("lines", ["0: files below Roof (2) for boss, todo"]),
        ("lines", ["0: files below Roof (2) for boss, todo", "100: wants Below Roof (5) reviewed by w2"]),
        ("planned", ["0: gives Walls (1) to boss"]),
    ],
    ids=[
        "a worker is not started to wait for what is in line",
        "work above does not count against the limit",
        "who waits for a part can review it",
        "a manager does not wait for a part of its own",
    ],
)
def test_what_was_found_by_exploring_does_not_come_back(scene: str, story: list[str]) -> None:
    assert faults_of(scene, *story) == []

"""Agents obey, step by step, and people do anything in between: nobody is led in a circle, punished for obeying, or
started for nothing; and where nothing moves any more, whatever is not finished, and was not left on purpose, is listed
as a need.

Each story is seeded (TORYO_TEST_SEEDS says how many are told; one needs about a tenth of a second, in memory; one in
eight is told on PostgreSQL too). Who reads the tables here shares nothing with the product's own judgement of what is
stuck. Where others step in at every single step of such a run: `test_exploring.py`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.databases import empty
from tests.exploring.memory import InMemory
from tests.invariants import OPEN, Row, Rows, hold, read
from tests.obedience import LedNowhere, Obedient, ObedientManager
from tests.operations.test_queue import filed, key
from tests.stories import Answer, Process, World, seeds
from toryo.operations.calls.dispatch import Outcome
from toryo.storage.engine.database import Database
from toryo.storage.open_database import upgrade

STATUSES = ["todo", "in_progress", "completed", "failed", "blocked", "cancelled", "backlog"]
WORKERS = ["w1", "w2", "w3"]
PUNISHED = ("guard.blocked", "session.runaway", "agent.cooling_down")
IDLE = {"report_model", "get_task", "get_notifications", "wait", "wait_for_others", "wait_for_delegation", "exit"}
PROBES = frozenset({"select_action", "assign_task", "cancel_task", "update_task_status", "create_tasks_batch"})
"""What an obedient manager just tries."""


class Watched(Process):
    """A process whose refused calls are remembered."""

    refused_calls: list[tuple[str, Answer]]

    def ask(self, name: str, /, **arguments: Any) -> Outcome:
        outcome = super().ask(name, **arguments)
        if outcome.refused and outcome.result is not None:
            self.refused_calls.append((name, outcome.result))
        return outcome


@dataclass
class Working:
    agent: Obedient
    said: Answer
    """What it was told last."""
    seen: int
    """How much others had done by then."""
    born: int


@dataclass
class Story:
    world: World
    dice: random.Random
    acts: int = 0
    """What people have done."""
    working: dict[str, Working] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    def begin(self) -> None:
        world, dice = self.world, self.dice
        decomposition = dice.choice(["required", "optional", "never"])
        world.project(decomposition=decomposition, approvals=dice.choice(["requests", "requests", "all"]))
        world.person("ann")
        world.manager("boss", "ann")
        world.worker("w1", "boss")
        world.worker("w2", "boss", max_parallel_tasks=2)
        world.worker("w3", "boss", agent_type="planning")
        self.chief = key(world, "chief", orchestrator=True)
        self.desk = world.coordinator()
        for who in dice.sample(["boss", "w1", "w2"], 2):
            world.task(who, title=f"Main of {who}")
        filed(self.chief, max_attempts=2)

    def run(self, steps: int) -> None:
        acts: list[Callable[[], object]] = [self.agent_acts, self.starts, self.person_acts, self.time_passes]
        for _ in range(steps):
            self.dice.choices(acts, [45, 25, 22, 8])[0]()

    # --- agents ------------------------------------------------------------------------------------------------------

    def starts(self, free_slots: int = 10) -> bool:
        """A Coordinator starts and stops what it is told to; whether anything was started."""
        answer = self.desk.claim(free_slots=free_slots)
        for each in answer["stop"]:
            if each["grace_seconds"] == 0:
                self.gone(each["launch_id"], error="stopped")
        for launch in answer["start"]:
            self.log.append(f"start {launch['agent_id']}")
            process = Watched(self.world, launch)
            process.refused_calls = []
            kind = ObedientManager if launch["agent_id"] == "boss" else Obedient
            agent = kind(process)
            self.desk.running.append(launch["launch_id"])
            self.working[launch["launch_id"]] = Working(agent, agent.ask("authenticate"), self.acts, self.acts)
        return bool(answer["start"])

    def agent_acts(self) -> None:
        if not self.working:
            self.starts()
            return
        launch_id = self.dice.choice(sorted(self.working))
        self.goes_on(launch_id)

    def goes_on(self, launch_id: str) -> None:
        one = self.working[launch_id]
        process = one.agent.process
        assert isinstance(process, Watched)
        told, undisturbed = one.said, one.seen == self.acts
        if told["action"] == "exit":
            self.leaves(launch_id, one)
            return
        process.refused_calls.clear()
        one.said = one.agent.goes_on(told)
        one.seen = self.acts
        self.log.append(f"{process.agent_id}: {told['action']} -> {one.said['action']}")
        manages = process.agent_id == "boss"
        wrong = [refused_call for refused_call in process.refused_calls if not (manages and refused_call[0] in PROBES)]
        if undisturbed and wrong:
            self.faults.append(f"{process.agent_id} did what it was told ({told['action']}) and was refused: {wrong}")
        if one.said["action"] == "exit":
            self.leaves(launch_id, one)

    def leaves(self, launch_id: str, one: Working) -> None:
        if one.born == self.acts and set(one.agent.told) <= IDLE and "get_task" in one.agent.told:
            self.faults.append(f"{one.agent.process.agent_id} was started for nothing: {one.agent.told}")
        self.gone(launch_id, exit_code=0)

    def gone(self, launch_id: str, **how: Any) -> None:
        self.working.pop(launch_id, None)
        self.desk.exited(launch_id, **how)

    # --- people ------------------------------------------------------------------------------------------------------

    def person_acts(self) -> None:
        self.acts += 1
        tasks = list(read(self.world).tasks)
        act = self.dice.choices([self.moves, self.files, self.assigns, self.depends, self.judges, self.elsewhere],
                                [8, 5, 3, 3, 4, 3])[0]  # fmt: skip
        name, arguments = act(self.dice.choice(tasks), tasks)
        outcome = self.world.owner.ask(name, **arguments)
        self.log.append(f"owner: {name} {arguments} {'refused' if outcome.refused else ''}")

    def moves(self, task: str, _: list[str]) -> tuple[str, Answer]:
        return "move_task", {"task_id": task, "status": self.dice.choice(STATUSES), "reason": "so"}

    def files(self, task: str, tasks: list[str]) -> tuple[str, Answer]:
        whose = self.dice.choice([{"assignee_id": each} for each in ("boss", "ann", *WORKERS)] + [{}])
        above = {"parent_task_id": task} if self.dice.random() < 0.75 else {}
        waits = {"dependencies": [self.dice.choice(tasks)]} if self.dice.random() < 0.25 else {}
        status = self.dice.choice(["todo", "in_progress"])
        title = f"Filed {self.acts}"
        return "file_task", {
            "project_id": self.world.project_id, "title": title, "status": status, **whose, **above, **waits
        }  # fmt: skip

    def assigns(self, task: str, _: list[str]) -> tuple[str, Answer]:
        return "edit_task", {"task_id": task, "assignee_id": self.dice.choice(["boss", "ann", *WORKERS])}

    def depends(self, task: str, tasks: list[str]) -> tuple[str, Answer]:
        return "edit_task", {"task_id": task, "add_dependencies": [self.dice.choice(tasks)]}

    def judges(self, task: str, _: list[str]) -> tuple[str, Answer]:
        waiting = [each["id"] for each in read(self.world).tasks.values() if each["approval"] == "pending_approval"]
        judged = self.dice.choice(waiting or [task])
        if self.dice.random() < 0.8:
            return "approve_task", {"task_id": judged}
        return "reject_task", {"task_id": judged, "reason": "no"}

    def elsewhere(self, _: str, __: list[str]) -> tuple[str, Answer]:
        """About an agent, a session, or the project."""
        agent, sessions = self.dice.choice(WORKERS), self.world.sessions()
        wanted: list[tuple[str, Answer]] = [
            ("pause_project", {"project_id": self.world.project_id}),
            ("resume_project", {"project_id": self.world.project_id}),
            ("resume_project", {"project_id": self.world.project_id}),
            ("deactivate_agent", {"agent_id": agent}),
            ("activate_agent", {"agent_id": agent}),
            ("activate_agent", {"agent_id": agent}),
            *(("end_session", {"session_id": session["session_id"]}) for session in sessions),
        ]
        return self.dice.choice(wanted)

    def time_passes(self) -> None:
        """The Coordinator goes on telling what runs."""
        for _ in range(self.dice.choice([1, 2, 7])):
            self.starts(free_slots=0)
            self.world.advance(self.dice.choice([1, 60]))
        self.world.housekeep()

    # --- the end -----------------------------------------------------------------------------------------------------

    def settles(self) -> None:
        """Everybody obeys until nothing happens any more, however much time passes."""
        self.world.owner.ask("resume_project", project_id=self.world.project_id)
        quiet = 0
        for _ in range(150):
            active = self.starts()
            while self.working:
                active = True
                self.goes_on(min(self.working))
            quiet = 0 if active else quiet + 1
            if quiet > 3:
                return
            self.world.advance([1, 70, 400, 4000][quiet])
            self.world.housekeep()
        raise LedNowhere("the crew was started again and again")

    def judge(self) -> None:
        """What must hold where nothing moves any more."""
        hold(self.world)
        freed = Counter(
            event["task_id"] for event in self.world.events("task.unblocked", "task.retried") if not event["by_person"]
        )
        for event in self.world.events(*PUNISHED):
            if freed[event["task_id"]] < 3:  # else its manager has it tried again and again: what the guard is for
                self.faults.append(f"{event['kind']} {event['data']}")
        lost = [event for event in self.world.events("claim.lost") if event["data"]["reason"] == "lost"]
        self.faults += [f"an attempt was lost: {each['data']}" for each in lost]
        self.faults += standstills(self.world)


# --- an own reading of what waits for whom ---------------------------------------------------------------------------


def standstills(world: World) -> Iterator[str]:
    """What is not finished, was not left on purpose, and about which nobody is asked."""
    told: set[str] = set()
    broke: set[str] = set()
    for who in ("owner", "ann"):
        asked = {} if who == "owner" else {"as_person": who}
        items = world.owner.call("needs_you", **asked)["items"]
        told |= {each for item in items for each in (item["task_id"], *item.get("also", ()))}
        broke |= {item["project_id"] for item in items if item["kind"] == "budget_used_up"}
    rows = read(world)
    for task in rows.tasks.values():
        if task["status"] in OPEN and task["project_id"] not in broke and not _excused(rows, task, told):
            yield f"nobody is told of {task['id']} “{task['title']}” {task['status']} of {task['assignee_id']}"


def _excused(rows: Rows, task: Row, told: set[str]) -> bool:
    above = [task, *rows.above(task)]
    if told & {each["id"] for each in above} or task["status"] == "backlog" or task["approval"] == "rejected":
        return True
    led = any(each["status"] == "in_progress" and _by_agent(rows, each) for each in above[1:])
    if task["status"] == "in_progress":
        return bool(told & _waits_for(rows, task)) or (led and task["assignee_id"] == above[1]["assignee_id"])
    if task["status"] == "blocked":
        cause = rows.tasks[task["blocked_cause"] or task["id"]]
        on_purpose = cause["status"] == "blocked" and bool(cause["blocked_by_person"])
        return on_purpose or cause["id"] in told or led or bool(told & _waits_for(rows, task))
    return led or _left_to_do(rows, task, told)


def _by_agent(rows: Rows, task: Row) -> bool:
    agent = rows.agents.get(task["assignee_id"])
    return agent is not None and agent["kind"] != "human"


def _waits_for(rows: Rows, task: Row) -> set[str]:
    """Whatever its end may hang on: parts, dependencies, reviews, and what fills the limits of who is to do these."""
    found: set[str] = set()
    ahead = [task]
    while ahead:
        one = ahead.pop()
        if one["id"] in found:
            continue
        found.add(one["id"])
        ahead += rows.children[one["id"]]
        ahead += [rows.tasks[each] for each in rows.depends_on[one["id"]]]
        ahead += [each for each in rows.tasks.values() if each["review_of"] == one["id"] and each["status"] in OPEN]
        if one["status"] == "todo":
            whose = one["assignee_id"]
            ahead += [
                each
                for each in rows.tasks.values()
                if each["status"] == "in_progress" and whose in (None, each["assignee_id"])
            ]
    return found


def _left_to_do(rows: Rows, task: Row, told: set[str]) -> bool:
    others = [rows.tasks[each] for each in rows.depends_on[task["id"]]]
    if any(other["status"] == "cancelled" for other in others):
        return False
    failed = [other for other in others if other["status"] == "failed"]
    if any(not told & {each["id"], *(above["id"] for above in rows.above(each))} for each in failed):
        return all(any(_at_work(rows, above) for above in rows.above(each)) for each in failed)
    if task["agent_type"] is None or any(other["status"] != "completed" for other in others):
        return True
    serving = [agent["id"] for agent in rows.agents.values() if agent["agent_type"] and agent["status"] == "active"]
    busy = [each for each in rows.tasks.values() if each["status"] == "in_progress" and each["assignee_id"] in serving]
    waits = [each for each in rows.children[task["id"]] if each["status"] in OPEN]
    return bool(serving) and bool(busy or waits)


def _at_work(rows: Rows, task: Row) -> bool:
    return task["status"] == "in_progress" and _by_agent(rows, task)


@pytest.fixture(scope="module")
def memory() -> Iterator[InMemory]:
    found = InMemory()
    upgrade(found)
    yield found
    found.close()


@pytest.mark.parametrize("seed", seeds(41_000, 8))
def test_whatever_people_do_between_the_steps_of_those_who_obey(memory: InMemory, quiet: None, seed: int) -> None:
    with memory.moment():
        tell(World(memory), seed)


@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds(41_000, 8)[::8])
def test_the_same_on_postgresql(kept_postgresql: Database, quiet: None, seed: int) -> None:
    """One in eight, where a call costs several times as much."""
    empty(kept_postgresql)
    tell(World(kept_postgresql), seed)


def tell(world: World, seed: int) -> None:
    story = Story(world, random.Random(seed))
    story.begin()
    try:
        story.run(story.dice.randint(10, 80))
        story.settles()
        story.judge()
    except (AssertionError, LedNowhere) as error:
        story.faults.append(str(error))
    assert not story.faults, "\n".join([*story.log, "", *story.faults])

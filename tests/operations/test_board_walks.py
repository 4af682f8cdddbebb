"""The board as one keeps it by what has changed, and as it is: the same, whatever people, agents and queues do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from tests.operations import test_queue_walks as queues
from tests.stories import Answer, Process, World, seeds
from toryo.domain.tasks import Priority
from toryo.operations.tasks import board as task_board

STEPS = 120
RANK = {priority.value: priority.rank for priority in Priority}


@dataclass
class Kept:
    """A board that was read once, and from then on only what has changed is read: now and then, not after each step."""

    world: World
    random: Random
    cards: dict[str, Answer] = field(default_factory=dict)
    last: int = 0
    wholes: int = 0

    def read(self) -> None:
        answer = self.world.owner.call("show_board", project_id=self.world.project_id, after=self.last)
        self.wholes += answer["whole"]
        kept = {} if answer["whole"] else self.cards
        self.cards = kept | {task["task_id"]: task for task in answer["tasks"]}
        self.last = answer["last_event"]

    def ordered(self) -> list[Answer]:
        """As the dashboard puts them in order (web/src/api/boards.ts)."""
        places = ("line_at", "line_rank", "task_id")
        return sorted(self.cards.values(), key=lambda each: (RANK[each["priority"]], *(each[name] for name in places)))

    def look(self) -> None:
        if self.random.random() < 0.4:
            self.read()
            assert self.ordered() == self.world.owner.call("show_board", project_id=self.world.project_id)["tasks"]


@dataclass
class BoardWalk:
    """Some steps of people and of those who work for them. Refusals are fine."""

    world: World
    random: Random
    tasks: list[str] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)

    def ask(self, name: str, **arguments: Any) -> Answer:
        outcome = self.world.owner.ask(name, **arguments)
        return {} if outcome.refused or outcome.result is None else outcome.result

    def task(self) -> str:
        return self.random.choice(self.tasks) if self.tasks else "tsk_none"

    def agent(self) -> str:
        return self.random.choice(["boss", "w1", "w2"])

    def file(self) -> None:
        more: dict[str, Any] = {"status": self.random.choice(["backlog", "todo", "in_progress"])}
        more["priority"] = self.random.choice(list(RANK))
        if self.random.random() < 0.8:
            more["assignee_id"] = self.agent()
        if self.random.random() < 0.25:
            more["parent_task_id"] = self.task()
        if self.random.random() < 0.2:
            more["dependencies"] = [self.task()]
        if made := self.ask("file_task", project_id=self.world.project_id, title="Build", **more):
            self.tasks.append(made["task_id"])

    def move(self) -> None:
        to = self.random.choice(["backlog", "todo", "in_progress", "blocked", "completed", "failed", "cancelled"])
        self.ask("move_task", task_id=self.task(), status=to, reason="A person says so.")

    def edit(self) -> None:
        change: dict[str, Any] = self.random.choice(
            [
                {"title": f"Build {self.random.randint(1, 9)}"},
                {"priority": self.random.choice(list(RANK))},
                {"assignee_id": self.agent()},
                {"add_dependencies": [self.task()]},
                {"remove_dependencies": [self.task() for _ in range(5)]},
            ]
        )
        self.ask("edit_task", task_id=self.task(), **change)

    def judge(self) -> None:
        self.ask(self.random.choice(["approve_task", "reject_task"]), task_id=self.task(), reason="because")

    def pause(self) -> None:
        for each in ("pause_project", "resume_project")[: self.random.randint(1, 2)]:
            self.ask(each, project_id=self.world.project_id)

    def resume(self) -> None:
        self.ask("resume_project", project_id=self.world.project_id)

    def time(self) -> None:
        self.world.advance(self.random.choice([1, 40, 700]))
        self.world.housekeep()

    def start(self) -> None:
        for each in self.world.coordinator().claim(free_slots=2)["start"]:
            process = self.world.process(each)
            if not process.ask("authenticate").refused and self.random.random() < 0.9:
                process.ask("report_model", provider="claude", model_id="model-1")
                process.ask("get_my_task")
                self.processes.append(process)

    def work(self) -> None:
        if not self.processes:
            return
        process = self.random.choice(self.processes)
        status = self.random.choice(["in_progress", "completed"])
        parts = [{"local_id": each, "title": each, "description": each} for each in "ab"]
        asked: dict[str, Answer] = {
            "get_next_action": {},
            "create_tasks_batch": {"tasks": parts},
            "assign_task": {"task_id": self.task(), "assignee_id": self.agent()},
            "update_task_status": {"task_id": self.task(), "status": status},
            "block_task": {"task_id": self.task(), "reason": "No key."},
            "cancel_task": {"task_id": self.task(), "reason": "Not wanted."},
            "request_task": {"title": "More", "assignee_id": self.agent(), "description": "x"},
            "logout": {},
            "report_completed": {"result": self.random.choice(["success", "blocked"]), "summary": "done"},
        }
        name, arguments = self.random.choice(list(asked.items()))
        outcome = process.ask(name, **arguments)
        if outcome.result and not outcome.refused:
            self.tasks += outcome.result.get("local_id_to_real_id", {}).values()
            self.tasks += [outcome.result["task_id"]] if name == "request_task" else []

    def die(self) -> None:
        if self.processes:
            process = self.processes.pop(self.random.randrange(len(self.processes)))
            self.world.coordinator().exited(process.launch_id, exit_code=self.random.randint(0, 1))

    def kill(self) -> None:
        for session in self.world.sessions()[:1]:
            self.ask("end_session", session_id=session["session_id"], reason="A person says so.")


STEPS_OF: list[Callable[[BoardWalk], None]] = [
    *[BoardWalk.file] * 5,
    *[BoardWalk.move] * 3,
    *[BoardWalk.edit] * 3,
    *[BoardWalk.start] * 3,
    *[BoardWalk.work] * 8,
    *[BoardWalk.resume] * 2,
    BoardWalk.judge,
    BoardWalk.pause,
    BoardWalk.time,
    BoardWalk.die,
    BoardWalk.kill,
]


@pytest.mark.parametrize("seed", seeds(0))
def test_a_board_kept_by_its_changes_is_the_board_whatever_people_and_agents_do(world: World, seed: int) -> None:
    world.crew(workers=2, decomposition="optional")
    walk, kept = BoardWalk(world, Random(seed)), Kept(world, Random(seed))
    kept.read()
    for _ in range(STEPS):
        walk.random.choice(STEPS_OF)(walk)
        kept.look()
    assert len(kept.cards) > 5
    assert kept.wholes == 0


@pytest.mark.parametrize("seed", seeds(0))
def test_a_board_kept_by_its_changes_is_the_board_whatever_queues_do(world: World, seed: int) -> None:
    walk, kept = queues.begun(world, seed), Kept(world, Random(seed))
    kept.read()
    for _ in range(STEPS):
        walk.random.choice(queues.STEPS_OF)(walk)
        kept.look()
    assert kept.cards
    assert kept.wholes == 0


# --- what is answered ------------------------------------------------------------------------------------------------


def board(world: World, **wanted: Any) -> Answer:
    return world.owner.call("show_board", project_id=world.project_id, **wanted)


def test_only_what_has_changed_is_answered_with_the_parent_that_counts_it(world: World) -> None:
    world.crew()
    main = world.task("boss")
    part = world.task("w1", parent_task_id=main, status="todo")
    world.task("w2", status="todo")
    before = board(world)
    assert (len(before["tasks"]), before["whole"]) == (3, True)
    nothing = board(world, after=before["last_event"])
    assert (nothing["tasks"], nothing["whole"]) == ([], False)
    world.move(part, "in_progress")
    world.move(part, "completed")
    after = board(world, after=before["last_event"])
    assert {each["task_id"] for each in after["tasks"]} == {main, part}
    assert not after["whole"]
    assert next(each for each in after["tasks"] if each["task_id"] == main)["children_done"] == 1


def test_what_happens_in_another_project_is_not_answered(world: World) -> None:
    world.crew()
    here = world.project_id
    last = board(world)["last_event"]
    elsewhere = world.project(name="Garden")
    world.owner.call("file_task", project_id=elsewhere, title="Dig")
    assert board(world, after=last)["tasks"] == []
    world.owner.call("file_task", project_id=here, title="Paint")
    assert [task["title"] for task in board(world, after=last)["tasks"]] == ["Paint"]


def test_after_an_event_that_this_server_does_not_know_everything_is_answered(world: World) -> None:
    world.crew()
    world.task("w1")
    for unknown in (board(world)["last_event"] + 1, 2**63 - 1):
        answer = board(world, after=unknown)
        assert (len(answer["tasks"]), answer["whole"]) == (1, True)


def test_after_very_much_has_happened_everything_is_answered(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.crew()
    last = board(world)["last_event"]
    world.task("w1", status="todo")
    happened = sum(event["sequence"] > last for event in world.events(project_id=world.project_id))
    monkeypatch.setattr(task_board, "MOST_EVENTS", happened)
    assert not board(world, after=last)["whole"]
    monkeypatch.setattr(task_board, "MOST_EVENTS", happened - 1)
    assert board(world, after=last, closed=100)["whole"]  # of another size: the same request is remembered

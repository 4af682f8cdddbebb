"""The crews that are disturbed: who is there, and what they have to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from tests.exploring.crew import Crew, Desk
from tests.exploring.memory import InMemory
from tests.operations.test_queue import filed, key, poller
from toryo.domain.conversations import MOST_TURNS
from toryo.domain.times import MINUTE, iso


def _people(crew: Crew, decomposition: str = "never", **settings: Any) -> None:
    crew.world.project(decomposition=decomposition, **settings)
    crew.world.person("ann")
    crew.desks["c1"] = Desk(crew.world.coordinator("c1"))


def small(crew: Crew) -> None:
    """A manager, two workers; each does its part whole."""
    _people(crew)
    crew.world.manager("boss", "ann")
    crew.world.worker("w1", "boss")
    crew.world.worker("w2", "boss")
    crew.world.task("boss", title="House")


def deep(crew: Crew) -> None:
    """Two levels of managers, workers who divide their tasks, one of them with two at once."""
    _people(crew, "required")
    crew.world.manager("director", "ann")
    crew.world.manager("boss", "director")
    crew.world.worker("w1", "boss")
    crew.world.worker("w2", "boss", max_parallel_tasks=2)
    top = crew.world.task("director", title="Town")
    crew.world.task("boss", title="House", parent_task_id=top)
    crew.world.task("w1", title="Shed")


def talk(crew: Crew) -> None:
    """Workers have something discussed before they do their tasks."""
    _people(crew)
    crew.world.manager("boss", "ann")
    crew.world.worker("w1", "boss")
    crew.world.worker("w2", "boss")
    crew.world.task("w1", title="Doors")
    crew.world.task("w2", title="Colours")
    crew.delegates.update(w1="w2", w2="ann")


def queue(crew: Crew, approvals: str = "requests") -> None:
    """A worker that serves a queue, a self-driven agent that serves another, an orchestrator that files for both."""
    _people(crew, "optional", approvals=approvals)
    crew.world.manager("boss", "ann")
    crew.world.worker("w1", "boss", agent_type="planning")
    crew.world.worker("w2", "boss")
    chief = key(crew.world, "chief", orchestrator=True)
    crew.pollers["painter"] = poller(crew.world, "painter", "painting")
    filed(chief, max_attempts=2)
    filed(chief, "Paint it", "painting", max_attempts=2)
    crew.world.task("w2", title="Shed")


def asked(crew: Crew) -> None:
    """The same where people approve whatever agents create."""
    queue(crew, "all")


def desks(crew: Crew) -> None:
    """Two Coordinators of one slot each, two projects, an agent without a provider, what only follows on another."""
    other = crew.world.project(name="Garden", decomposition="never")
    crew.world.project_id = ""
    _people(crew, "required")
    crew.desks = {name: Desk(crew.world.coordinator(name), slots=1) for name in ("c1", "c2")}
    crew.world.manager("boss", "ann")
    crew.world.worker("w1", "boss", projects=[crew.world.project_id, other])
    crew.world.worker("w2", "boss", provider=None)
    crew.world.task("w1", title="Shed")
    first = crew.world.task("w1", title="Beds", project_id=other)
    crew.world.task("w1", title="Seeds", project_id=other, status="todo", dependencies=[first])
    crew.world.task("boss", title="House")


def trees(crew: Crew) -> None:
    """Each task in a worktree of its own, a check before it is done, a budget."""
    _people(crew, isolation="worktree", budget_per_day=100.0)
    crew.world.manager("boss", "ann")
    crew.world.worker("w1", "boss")
    crew.world.worker("w2", "boss")
    top = crew.world.task("boss", title="House")
    walls = crew.world.task("w1", title="Walls", parent_task_id=top, acceptance=[{"command": "true"}])
    crew.world.task("w2", title="Roof", parent_task_id=top, status="todo", dependencies=[walls])


def scarce(crew: Crew) -> None:
    """Little money a day, a part that fails at first and one that is a person's, a queue; all in worktrees."""
    _people(crew, isolation="worktree", budget_per_day=12.0)
    crew.price, crew.people_work = 0.5, True
    crew.world.manager("boss", "ann")
    crew.world.worker("w1", "boss", agent_type="planning")
    crew.world.worker("w2", "boss")
    chief = key(crew.world, "chief", orchestrator=True)
    top = crew.world.task("boss", title="House")
    walls = crew.world.task("w1", title="Walls", parent_task_id=top)
    crew.world.task("ann", title="Garden", parent_task_id=top)
    roof = crew.world.task("w2", title="Roof", parent_task_id=top, status="todo", dependencies=[walls])
    crew.world.task("w2", title="Cellar", parent_task_id=top, status="todo", dependencies=[roof])
    crew.fails["w2"] = "Cellar"
    filed(chief, max_attempts=2)


def merges(crew: Crew) -> None:
    """Finished work is merged by an automatic queue: one task alone, one that waits in line until that is merged, one
    in a part."""
    _people(crew, isolation="worktree", merge_queue="automatic", merge_batch_size=2, dependencies="merged")
    crew.world.manager("boss", "ann")
    crew.world.worker("w1", "boss")
    crew.world.worker("w2", "boss")
    top = crew.world.task("boss", title="House")
    walls = crew.world.task("w1", title="Walls")
    crew.world.task("w2", title="Roof", status="todo", start="when_ready", dependencies=[walls])
    crew.world.task("w2", title="Cellar", parent_task_id=top)


def timed(crew: Crew) -> None:
    """Tasks that schedules create while another is worked on: each once, so that everything comes to an end."""
    _people(crew)
    crew.world.manager("boss", "ann")
    crew.world.worker("w1", "boss")
    crew.world.worker("w2", "boss", agent_type="planning")
    crew.world.task("w1", title="Shed")
    for minutes, overlap, where in (
        (1, "buffer_one", {"assignee_id": "w1"}),
        (2, "skip", {"assignee_id": "w1"}),
        (60, "allow_all", {"agent_type": "planning"}),
    ):
        at = iso(crew.world.now + minutes * MINUTE)
        named = {"name": f"In {minutes}", "title": f"After {minutes}"}
        crew.world.owner.call(
            "add_schedule", project_id=crew.world.project_id, once_at=at, overlap=overlap, **named, **where
        )


def talkative(crew: Crew) -> None:
    """Conversations that go on until their limit of turns, of workers who delegate to each other."""
    talk(crew)
    crew.turns = MOST_TURNS
    crew.delegates.update(w1="w2", w2="w1")


def machines(crew: Crew) -> None:
    """Two Coordinators with room for all, programs that replace others when a quota is used up, handoffs."""
    _people(crew)
    crew.desks = {name: Desk(crew.world.coordinator(name)) for name in ("c1", "c2")}
    crew.hands_over = True
    crew.world.manager("boss", "ann")
    for worker in ("w1", "w2"):
        crew.world.worker(worker, "boss", provider_options={"fallback": {"provider": "gemini"}})
    crew.world.task("boss", title="House")
    crew.world.task("w2", title="Shed")


def reviewed(crew: Crew) -> None:
    """Two workers who review each other, once with findings, and go on with their lines meanwhile; a person decides
    about the whole."""
    _people(crew)
    crew.world.manager("boss", "ann")
    crew.world.worker("w1", "boss")
    crew.world.worker("w2", "boss")
    crew.finds, crew.people_work = True, True
    crew.world.task("boss", title="House", acceptance=[{"review": {}}])
    crew.world.task("w1", title="Shed", acceptance=[{"review": {"by": "w2", "rounds": 2}}])
    crew.world.task("w2", title="Fence", acceptance=[{"command": "true"}, {"review": {"by": "w1"}}])
    crew.world.task("w1", title="Gate", status="todo", start="when_ready")
    crew.world.task("any", title="Beds", status="todo")


def lines(crew: Crew) -> None:
    """Tasks that start by themselves: several in a worker's line, a chain across workers, and for anyone who is free;
    two Coordinators."""
    _people(crew, start="when_ready")
    crew.desks = {name: Desk(crew.world.coordinator(name)) for name in ("c1", "c2")}
    for desk in crew.desks.values():
        desk.caller.claim(free_slots=0)
    crew.world.manager("boss", "ann")
    crew.world.worker("w1", "boss", capabilities=["wood"])
    crew.world.worker("w2", "boss")
    walls = crew.world.task("w1", title="Walls", status="todo")
    crew.world.task("w1", title="Shed", status="todo")
    crew.world.task("w2", title="Roof", status="todo", dependencies=[walls])
    crew.world.task("any", title="Beds", status="todo")
    crew.world.task("any:wood", title="Fence", status="todo", priority="high")


def planned(crew: Crew) -> None:
    """A manager whose parts start by themselves, one after the other and for anyone who is free."""
    _people(crew)
    crew.world.manager("boss", "ann")
    crew.world.worker("w1", "boss")
    crew.world.worker("w2", "boss")
    top = crew.world.task("boss", title="House")
    walls = crew.world.task("w1", title="Walls", parent_task_id=top, status="todo", start="when_ready")
    crew.world.task("w2", title="Roof", parent_task_id=top, status="todo", start="when_ready", dependencies=[walls])
    crew.world.task("any", title="Beds", parent_task_id=top, status="todo", dependencies=[walls])


def returned(crew: Crew) -> None:
    """A manager that sends the first part back twice; another part and a task elsewhere build on it; all is merged."""
    _people(crew, isolation="worktree", merge_queue="automatic")
    crew.sends_back = 2
    crew.world.manager("boss", "ann")
    crew.world.worker("w1", "boss")
    crew.world.worker("w2", "boss")
    top = crew.world.task("boss", title="House")
    walls = crew.world.task("w1", title="Walls", parent_task_id=top, status="todo", start="when_ready")
    crew.world.task("w2", title="Roof", parent_task_id=top, status="todo", start="when_ready", dependencies=[walls])
    crew.world.task("w2", title="Fence", status="todo", start="when_ready", dependencies=[walls])


SUBJECTS: dict[str, tuple[Callable[[Crew], bool], tuple[str, ...]]] = {
    "two Coordinators": (lambda crew: len(crew.desks) == 2, ("desks", "machines", "lines")),
    "several projects": (lambda crew: len(crew.reader.rows()["projects"]) > 1, ("desks",)),
    "budgets": (lambda crew: _has_setting(crew, "budget_per_day"), ("trees", "scarce")),
    "checks that fail or cannot run": (
        lambda crew: any(task["has_acceptance"] for task in crew.reader.rows()["tasks"]),
        ("trees", "reviewed"),
    ),
    "worktrees": (lambda crew: _has_setting(crew, "isolation", "worktree"), ("trees", "scarce", "merges", "returned")),
    "schedules": (lambda crew: bool(crew.reader.rows()["schedules"]), ("timed",)),
    "a merge queue": (lambda crew: _has_setting(crew, "merge_queue", "automatic"), ("merges", "returned")),
    "queue agents that drive themselves": (lambda crew: bool(crew.pollers), ("queue", "asked")),
    "delegations": (lambda crew: bool(crew.delegates), ("talk", "talkative")),
    "conversations up to their limit": (lambda crew: crew.turns >= MOST_TURNS, ("talkative",)),
    "reviews": (lambda crew: crew.finds, ("reviewed",)),
    "lines": (lambda crew: _has_setting(crew, "start", "when_ready"), ("lines",)),
    "tasks for anyone who is free": (
        lambda crew: any(task["pool"] for task in crew.reader.rows()["tasks"]),
        ("reviewed", "lines", "planned"),
    ),
    "work that a manager sends back": (lambda crew: crew.sends_back > 0, ("returned",)),
    "handoffs": (lambda crew: crew.hands_over, ("machines",)),
    "fallback programs": (
        lambda crew: any("fallback" in each["provider_options"] for each in crew.reader.rows()["agents"]),
        ("machines",),
    ),
}
"""What must be in one scene at least, and in which it is."""
ELSEWHERE: dict[str, str] = {
    "PostgreSQL": "tests/operations/test_people_between.py",
    "several servers": "tests/operations/test_claim_starts.py",
    "calls that wait": "tests/server/test_held_polls.py",
    "real processes, killed": "tests/scenarios/test_killed.py",
    "members without the owner's login": "tests/operations/test_rights.py",
}
"""What no scene has, since they are told in one thread, in memory, by an owner: the tests that have it."""


def _has_setting(crew: Crew, name: str, value: object = None) -> bool:
    settings = [orjson.loads(project["settings"]).get(name) for project in crew.reader.rows()["projects"]]
    return any(each == value if value is not None else each is not None for each in settings)


_SCENES = (
    small,
    deep,
    talk,
    queue,
    asked,
    desks,
    trees,
    scarce,
    merges,
    timed,
    talkative,
    machines,
    reviewed,
    lines,
    planned,
    returned,
)
SCENES: dict[str, Callable[[Crew], None]] = {each.__name__: each for each in _SCENES}


def crew_of(scene: str, database: InMemory) -> Crew:
    crew = Crew(database)
    SCENES[scene](crew)
    crew.judge_events()
    return crew

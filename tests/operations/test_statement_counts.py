"""How many statements each operation sends to the database. Counts do not depend on the machine, unlike seconds.

BEGIN, COMMIT, savepoints and locks are not counted: two or more for each transaction, in which one operation of each
line below runs. A count may only fall; who lowers one lowers the number here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.operations.talkers import begin, two
from tests.operations.test_queue import filed, key, poller
from tests.stories import Caller, Process, World

pytestmark = pytest.mark.both

Thunk = Callable[[], Any]


def worker(world: World) -> Process:
    """w1 at work on its main task, which it has read; its manager's tree holds it."""
    world.crew(workers=2, decomposition="optional")
    world.task("w1")
    process = world.start("w1")
    process.next()
    return process


def manager(world: World) -> Process:
    """A manager with five subtasks in progress at its workers."""
    world.crew(workers=5, decomposition="optional")
    world.task("boss")
    boss = world.start("boss")
    parts = boss.assigned({f"Part {number}": f"w{number}" for number in range(1, 6)})
    boss.begin(*parts)
    boss.next()
    return boss


def queue(world: World) -> tuple[Caller, Caller]:
    """An orchestrator, and an agent that polls; both have called before."""
    world.project()
    chief, agent = key(world, "chief", orchestrator=True), poller(world)
    filed(chief)
    task = agent.call("poll_tasks", agent_id="planner-1")["result"][0]["task_id"]
    agent.call("submit_result", task_id=task, attempt=1, status="completed", result={})
    return chief, agent


def of_worker(name: str, **arguments: Any) -> Callable[[World], Thunk]:
    def prepare(world: World) -> Thunk:
        process = worker(world)
        return lambda: process.call(name, **arguments)

    return prepare


def first_task(world: World) -> Thunk:
    world.crew(workers=1)
    world.task("w1")
    process = world.started("w1")
    process.sign_in()
    process.call("report_model", provider="claude", model_id="model-1")
    return lambda: process.call("get_my_task")


def next_of_manager(world: World) -> Thunk:
    boss = manager(world)
    return boss.next


def create_subtask(world: World) -> Thunk:
    process = worker(world)
    process.batch("One")
    return lambda: process.call("create_task", title="Two", description="Do it.")


def start_subtask(world: World) -> Thunk:
    process = worker(world)
    part, _ = process.batch("One", "Two")
    return lambda: process.set(part, "in_progress")


def complete_subtask(world: World) -> Thunk:
    process = worker(world)
    part, _ = process.batch("One", "Two")
    process.set(part, "in_progress")
    return lambda: process.set(part, "completed")


def batch_of_five(world: World) -> Thunk:
    process = worker(world)
    return lambda: process.batch("One", "Two", "Three", "Four", "Five")


def assign(world: World) -> Thunk:
    world.crew(workers=2)
    world.task("boss")
    boss = world.start("boss")
    (part,) = boss.assigned({"Part": None})
    return lambda: boss.call("assign_task", task_id=part, assignee_id="w1")


def authenticate(world: World) -> Thunk:
    world.crew(workers=1)
    world.task("w1")
    process = world.started("w1")
    return process.sign_in


def report_model(world: World) -> Thunk:
    world.crew(workers=1)
    world.task("w1")
    process = world.started("w1")
    process.sign_in()
    return lambda: process.call("report_model", provider="claude", model_id="model-1")


def empty_poll(world: World) -> Thunk:
    _, agent = queue(world)
    return lambda: agent.call("poll_tasks", agent_id="planner-1")


def poll(count: int) -> Callable[[World], Thunk]:
    def prepare(world: World) -> Thunk:
        chief, agent = queue(world)
        for _ in range(count):
            filed(chief)
        return lambda: agent.call("poll_tasks", agent_id="planner-1", max_tasks=count)

    return prepare


def file_in_queue(world: World) -> Thunk:
    chief, _ = queue(world)
    return lambda: filed(chief)


def submit(world: World) -> Thunk:
    chief, agent = queue(world)
    task = filed(chief)
    agent.call("poll_tasks", agent_id="planner-1")
    return lambda: agent.call("submit_result", task_id=task, attempt=1, status="completed", result={})


def messages(count: int) -> Callable[[World], Thunk]:
    def prepare(world: World) -> Thunk:
        two(world)
        world.open_chat("a")
        a = world.start_chat("a")
        a.fetch()
        for number in range(count):
            world.say("a", f"Message {number}")
        return a.fetch

    return prepare


def converse(world: World) -> Thunk:
    two(world)
    world.open_chat("a")
    a = world.start_chat("a")
    return lambda: begin(a, "b")


def person_writes(world: World) -> Thunk:
    two(world)
    world.open_chat("a")
    world.start_chat("a")
    return lambda: world.say("a", "Hello")


def starts(count: int) -> Callable[[World], Thunk]:
    def prepare(world: World) -> Thunk:
        world.crew(workers=5)
        coordinator = world.coordinator()
        coordinator.claim()
        for number in range(1, count + 1):
            world.task(f"w{number}")
        return coordinator.claim

    return prepare


def output(doing: str | None) -> Callable[[World], Thunk]:
    def prepare(world: World) -> Thunk:
        process = worker(world)
        told = {} if doing is None else {"doing": {"kind": "said", "text": doing, "seconds": 0}}
        return lambda: world.coordinator().call("append_log", launch_id=process.launch_id, offset=0, text="x\n", **told)

    return prepare


TABLE: dict[str, tuple[Callable[[World], Thunk], int, int]] = {
    # operation: (what is there before, statements on SQLite, on PostgreSQL)
    "get_next_action of a worker": (of_worker("get_next_action"), 10, 13),
    "get_next_action of a manager with 5 subtasks running": (next_of_manager, 12, 15),
    "get_my_task, first": (first_task, 16, 19),
    "get_my_task": (of_worker("get_my_task"), 13, 16),
    "create_task of a subtask": (create_subtask, 15, 18),
    "update_task_status to in_progress": (start_subtask, 18, 21),
    "update_task_status to completed": (complete_subtask, 19, 22),
    "create_tasks_batch of 5": (batch_of_five, 14, 17),
    "assign_task": (assign, 15, 18),
    "report_completed": (of_worker("report_completed", result="success", summary="done"), 17, 20),
    "save_progress": (of_worker("save_progress", progress="Half of it stands."), 10, 13),
    "logout": (of_worker("logout"), 13, 16),
    "authenticate": (authenticate, 16, 19),
    "report_model": (report_model, 12, 15),
    "poll_tasks, empty": (empty_poll, 4, 4),
    "poll_tasks of 1": (poll(1), 7, 7),
    "poll_tasks of 10": (poll(10), 7, 7),
    "create_task in a queue": (file_in_queue, 4, 4),
    "submit_result": (submit, 6, 6),
    "get_pending_messages, none": (messages(0), 10, 13),
    "get_pending_messages, one": (messages(1), 16, 19),
    "start_conversation": (converse, 22, 27),
    "send_chat_message of a person": (person_writes, 17, 18),
    "append_log": (output(None), 5, 6),
    "append_log with what it does": (output("I look."), 6, 7),
    "claim_starts, nothing new": (starts(0), 20, 20),
    "claim_starts of 5": (starts(5), 88, 92),
}


@pytest.mark.parametrize("operation", TABLE)
def test_an_operation_sends_no_more_statements_than_it_needs(world: World, operation: str) -> None:
    prepare, of_sqlite, of_postgresql = TABLE[operation]
    act = prepare(world)
    most = of_sqlite if world.dialect == "sqlite" else of_postgresql
    with world.statements() as ran:
        act()
    sent = Counter(each for each, _ in ran)
    assert len(ran) <= most, f"{operation}: {len(ran)} statements: {dict(sent)}"

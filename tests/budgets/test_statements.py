"""How many statements each operation sends to the database. Counts do not depend on the machine, unlike seconds.

BEGIN, COMMIT, savepoints and locks are not counted: two or more for each transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.budgets.ceilings import hold
from tests.databases import POSTGRESQL
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


def completed(then: int) -> Callable[[World], Thunk]:
    """A person completes a task; so many are ready behind it, for its agent and for anyone. Nothing is remembered."""

    def prepare(world: World) -> Thunk:
        world.crew(workers=1, start="when_ready")
        world.coordinator().claim(free_slots=0)
        first = world.task("w1", status="todo")
        for number in range(then):
            world.task("any" if number % 2 else "w1", status="todo")
        world.dispatcher.in_passing(lambda call: call.tx.connection.unit.forget())
        return lambda: world.move(first, "completed")

    return prepare


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


OPERATIONS: dict[str, Callable[[World], Thunk]] = {
    "get_next_action of a worker": of_worker("get_next_action"),
    "get_next_action of a manager with 5 subtasks running": next_of_manager,
    "get_my_task, first": first_task,
    "get_my_task": of_worker("get_my_task"),
    "create_task of a subtask": create_subtask,
    "update_task_status to in_progress": start_subtask,
    "update_task_status to completed": complete_subtask,
    "create_tasks_batch of 5": batch_of_five,
    "assign_task": assign,
    "report_completed": of_worker("report_completed", result="success", summary="done"),
    "save_progress": of_worker("save_progress", progress="Half of it stands."),
    "logout": of_worker("logout"),
    "authenticate": authenticate,
    "report_model": report_model,
    "poll_tasks, empty": empty_poll,
    "poll_tasks of 1": poll(1),
    "poll_tasks of 10": poll(10),
    "create_task in a queue": file_in_queue,
    "submit_result": submit,
    "get_pending_messages, none": messages(0),
    "get_pending_messages, one": messages(1),
    "start_conversation": converse,
    "send_chat_message of a person": person_writes,
    "append_log": output(None),
    "append_log with what it does": output("I look."),
    "move_task to completed, nothing is ready": completed(0),
    "move_task to completed, one of 6 starts": completed(6),
    "claim_starts, nothing new": starts(0),
    "claim_starts of 5": starts(5),
}
"""What is there before each of them."""
DATABASES = {"SQLite": pytest.param("sqlite"), "PostgreSQL": POSTGRESQL}
ROWS = {
    f"{operation} on {database}": [f"statements on {database}: {operation}"]
    for operation in OPERATIONS
    for database in DATABASES
}
CASES = [
    pytest.param(f"{operation} on {database}", operation, *kind.values, marks=kind.marks)
    for operation in OPERATIONS
    for database, kind in DATABASES.items()
]


@pytest.mark.both
@pytest.mark.parametrize(("name", "operation", "kept_database"), CASES, indirect=["kept_database"])
def test_an_operation_sends_no_more_statements_than_it_may(world: World, name: str, operation: str) -> None:
    act = OPERATIONS[operation](world)
    with world.statements() as ran:
        act()
    try:
        hold(ROWS[name], len(ran))
    except AssertionError as wrong:
        raise AssertionError(f"{wrong}\n{dict(Counter(each for each, _ in ran))}") from None

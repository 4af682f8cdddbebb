"""Whatever has become of a session, its calls are refused by what they are available for: a table of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.stories import Process, World
from toryo.domain.errors import Refusal
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Caller, Kind
from toryo.operations.calls.catalogue import Available, catalogue
from toryo.operations.sessions import guards
from toryo.storage.engine.database import Connection
from toryo.storage.transaction import Transaction

Happens = Callable[[World, Process, str], object]


def now(world: World, process: Process) -> list[str]:
    """Why a call is refused, by availability in their order; empty: it is not."""

    def look(connection: Connection) -> list[str]:
        tx = Transaction(connection)
        session, agent = tx.sessions.of_launch(process.launch_id), tx.agents.find(process.agent_id)
        assert session is not None
        caller = Caller(Kind.SESSION, agent=agent, session=session, launch=tx.launches.find(session.launch_id))
        call = Call(tx, caller, world.now, world.dispatcher.context)
        return [refused(call, each) for each in Available]

    return world.database.read(look)


def refused(call: Call, available: Available) -> str:
    try:
        guards.refuse(call, replace(catalogue()["list_tasks"], available=available))
    except Refusal as refusal:
        return str(refusal.details["reason"])
    return ""


def pause(world: World, _process: Process, _task: str) -> None:
    world.owner.call("pause_project", project_id=world.project_id)


def put_back(world: World, _process: Process, task: str) -> None:
    world.move(task, "todo")


def give_away(world: World, _process: Process, task: str) -> None:
    world.owner.call("edit_task", task_id=task, assignee_id="w2")


def run_wild(world: World, process: Process, _task: str) -> None:
    while not guarded(world, process):
        process.next()


def guarded(world: World, process: Process) -> bool:
    return world.dispatcher.in_passing(lambda call: runaway(call, process), reads=True)


def runaway(call: Call, process: Process) -> bool:
    session = call.tx.sessions.of_launch(process.launch_id)
    assert session is not None
    assert session.calls < 100, "a guard trips in time"
    return session.runaway is not None


def leave(_world: World, process: Process, _task: str) -> None:
    process.call("logout")


def leave_long_ago(world: World, process: Process, task: str) -> None:
    leave(world, process, task)
    world.advance(60)


def nearly_so_long_ago(world: World, process: Process, task: str) -> None:
    at = world.now
    leave(world, process, task)
    world.now = at + 60_000


def dismiss(world: World, _process: Process, _task: str) -> None:
    world.owner.call("deactivate_agent", agent_id="w1")


def come_back(world: World, process: Process, task: str) -> None:
    dismiss(world, process, task)
    world.owner.call("activate_agent", agent_id="w1")


def remove(world: World, process: Process, task: str) -> None:
    leave(world, process, task)
    world.owner.call("remove_member", project_id=world.project_id, agent_id="w1")


OVER = "session_over"


@pytest.mark.parametrize(
    ("happens", "reasons"),
    [
        (None, ["", "", "", ""]),
        (pause, ["project_paused", "", "", ""]),
        (put_back, ["task_withdrawn", "", "", ""]),
        (give_away, ["task_withdrawn", "", "", ""]),
        (run_wild, ["runaway", "runaway", "runaway", ""]),
        (leave, [OVER, OVER, "", ""]),
        (nearly_so_long_ago, [OVER, OVER, "", ""]),
        (leave_long_ago, [OVER, OVER, OVER, ""]),
        (dismiss, [OVER, OVER, OVER, ""]),
        (come_back, [OVER, OVER, OVER, ""]),
        (remove, [OVER, OVER, OVER, ""]),
    ],
)
def test_a_working_session(crew: World, happens: Happens | None, reasons: list[str]) -> None:
    task = crew.task("w1")
    worker = crew.start("w1")
    if happens is not None:
        happens(crew, worker, task)
    assert now(crew, worker) == reasons


@pytest.mark.parametrize(("happens", "reasons"), [(None, [""] * 4), (pause, [""] * 4), (leave, [OVER, OVER, "", ""])])
def test_a_chat_goes_on_while_the_work_is_paused(crew: World, happens: Happens | None, reasons: list[str]) -> None:
    crew.say("w1", "Are you there?")
    chat = crew.start_chat("w1")
    if happens is not None:
        happens(crew, chat, "")
    assert now(crew, chat) == reasons

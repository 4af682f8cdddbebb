"""Reading boards, tasks and inboxes: what is shown to whom, and waiting for another state of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import Caller, World
from toryo.domain.errors import Code
from toryo.operations.calls.catalogue import Later


def waiting(caller: Caller, name: str, **arguments: Any) -> Later:
    """The answer to a caller who may wait, which must be: nothing yet."""
    outcome = caller.world.perform(name, {**arguments, "wait_seconds": 45}, caller.credentials, may_wait=True)
    assert outcome.later is not None, outcome.result
    return outcome.later


def columns(board: Any) -> dict[str, list[str]]:
    return {column["status"]: [task["title"] for task in column["tasks"]] for column in board["columns"]}


def test_a_board_has_one_column_for_each_status_with_what_stands_in_it(world: World) -> None:
    world.crew(workers=2)
    world.task("w1", title="Run")
    world.task(status="backlog", title="Dream")
    world.move(world.task("w2", title="Done"), "completed")
    board = world.owner.call("read_board", project_id=world.project_id)
    shown = columns(board)
    assert list(shown) == ["backlog", "todo", "in_progress", "blocked", "completed", "failed", "cancelled"]
    assert (shown["in_progress"], shown["backlog"], shown["completed"]) == (["Run"], ["Dream"], ["Done"])
    assert board["project"]["name"] == "House"


def test_of_closed_tasks_the_newest_are_shown_and_all_are_counted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toryo.operations.overview.resources.MOST", 2)
    world.project()
    for number in range(3):
        world.move(world.task(status="todo", title=f"T{number}"), "cancelled", "not needed")
        world.advance(1)
    (column,) = [
        each
        for each in world.owner.call("read_board", project_id=world.project_id)["columns"]
        if each["status"] == "cancelled"
    ]
    assert ([each["title"] for each in column["tasks"]], column["total"]) == (["T2", "T1"], 3)


def test_a_task_is_shown_as_get_task_shows_it(world: World) -> None:
    world.crew(workers=1)
    main = world.task("boss")
    boss = world.start("boss")
    boss.batch("Walls")
    assert boss.call("read_task", task_id=main)["task"] == boss.call("get_task", task_id=main)["task"]


@pytest.mark.pitfall("F108")
def test_whoever_shows_the_present_etag_waits_for_another_and_is_then_told(world: World) -> None:
    world.crew(workers=1)
    main = world.task("w1")
    worker = world.start("w1")
    for name, arguments, topic in (
        ("read_board", {"project_id": world.project_id}, f"project:{world.project_id}"),
        ("read_task", {"task_id": main}, f"task:{main}"),
        ("read_inbox", {"agent_id": "w1"}, f"project:{world.project_id}"),
    ):
        seen = worker.call(name, **arguments)["etag"]
        assert waiting(worker, name, **arguments, seen=seen).topics == {topic}
        assert worker.call(name, **arguments, seen=seen) == {"success": True, "etag": seen, "unchanged": True}
        world.hints.clear()
        world.owner.call("edit_task", task_id=main, description=f"told by {name}")
        assert any(topic in hint for hint in world.hints), "or nobody would look again"
        changed = worker.call(name, **arguments, seen=seen)
        assert changed["etag"] != seen
        assert "unchanged" not in changed


def test_reading_changes_nothing_and_counts_as_no_call(world: World) -> None:
    world.crew(workers=1)
    main = world.task("w1")
    worker = world.start("w1")
    before = world.rows()
    worker.call("read_board", project_id=world.project_id)
    worker.call("read_task", task_id=main)
    worker.call("read_inbox", agent_id="w1")
    worker.call("list_readable")
    assert world.rows() == before


@pytest.mark.pitfall("F118")
def test_ids_of_another_project_are_not_found(world: World) -> None:
    world.crew(workers=1)
    world.task("w1")
    elsewhere = world.project(name="Elsewhere")
    foreign = world.owner.call("file_task", project_id=elsewhere, title="Secret")["task_id"]
    worker = world.start("w1")
    worker.refused("read_board", Code.PROJECT_NOT_FOUND, project_id=elsewhere)
    worker.refused("read_task", Code.TASK_NOT_FOUND, task_id=foreign)
    worker.refused("read_inbox", Code.AGENT_NOT_FOUND, agent_id="boss")
    assert worker.refused("read_task", task_id=foreign)["message"].replace(foreign, "X") == (
        worker.refused("read_task", task_id="none")["message"].replace("none", "X")
    )


def test_who_has_not_signed_in_is_told_how_to_be_known(world: World) -> None:
    world.crew(workers=1)
    main = world.task("w1")
    world.nobody.refused("read_task", Code.AUTHENTICATION_REQUIRED, task_id=main)
    world.coordinator().refused("read_task", Code.AUTHENTICATION_REQUIRED, task_id=main)
    started = world.started("w1")
    told = started.refused("read_task", Code.AUTHENTICATION_REQUIRED, task_id=main)
    assert "authenticate" in told["instruction"]


def test_a_session_that_is_over_reads_during_its_grace_and_not_after(world: World) -> None:
    world.crew(workers=1)
    main = world.task("w1")
    worker = world.start("w1")
    worker.call("logout")
    worker.call("read_task", task_id=main)
    world.advance(61)
    worker.refused("read_task", Code.SESSION_EXPIRED, task_id=main)


def test_each_is_offered_what_is_theirs(world: World) -> None:
    world.crew(workers=1)
    main = world.task("w1")
    started = world.started("w1")
    own = [("board", world.project_id), ("task", main), ("inbox", "w1")]
    assert offered(started) == own, "also before it has signed in: clients ask once, at their start"
    started.sign_in()
    assert offered(started) == own
    elsewhere = world.project(name="Elsewhere")
    assert offered(world.owner) == [("board", world.project_id), ("board", elsewhere)]
    world.owner.call("archive_project", project_id=elsewhere)
    assert offered(world.owner) == [("board", world.project_id)]
    assert offered(world.nobody) == offered(world.coordinator()) == []


def offered(caller: Caller) -> list[tuple[str, str]]:
    return [(resource["kind"], resource["id"]) for resource in caller.call("list_readable")["resources"]]

"""The runner: rounds come by themselves, a chore that fails ends neither the others nor the rounds."""

from __future__ import annotations

from threading import Event

import pytest

from tests.stories import World
from toryo.housekeeping import runner
from toryo.housekeeping.runner import CHORES, Housekeeping
from toryo.operations.calls.call import Call
from toryo.settings import SessionSettings, Settings
from toryo.storage.engine.database import Database


def test_every_chore_has_a_name_of_its_own():
    assert [name for name, _ in CHORES] == [
        "sweep",
        "stalls",
        "talk",
        "questions",
        "reviews",
        "lines",
        "schedules",
        "queues",
        "notices",
        "logs",
        "worktrees",
        "merge_queues",
        "pull_requests",
        "people",
        "keys",
        "search",
    ]


def test_rounds_come_by_themselves_and_end_with_close(fresh: Database, monkeypatch: pytest.MonkeyPatch):
    world = World(fresh, Settings(session=SessionSettings(cleanup_interval=1)))
    swept = Event()
    monkeypatch.setattr(runner, "CHORES", (("sweep", lambda call: swept.set()),))
    housekeeping = Housekeeping(world.dispatcher)
    housekeeping.start()
    assert swept.wait(timeout=100)
    housekeeping.close()
    assert not housekeeping._thread.is_alive()


def test_a_chore_that_fails_does_not_keep_the_next_one_from_its_turn(world: World, monkeypatch: pytest.MonkeyPatch):
    done: list[str] = []

    def breaks(_: Call) -> None:
        raise RuntimeError("broken")

    chores = (("breaks", breaks), ("works", lambda call: done.append("works")))
    monkeypatch.setattr(runner, "CHORES", chores)
    housekeeping = Housekeeping(world.dispatcher)
    housekeeping.round()
    housekeeping.round()
    assert done == ["works", "works"]


def test_what_a_failing_chore_has_written_is_taken_back(world: World, monkeypatch: pytest.MonkeyPatch):
    world.crew(workers=1)
    task = world.task("w1")

    def breaks(call: Call) -> None:
        call.tx.tasks.save_details(task, summary="half")
        raise RuntimeError("broken")

    monkeypatch.setattr(runner, "CHORES", (("breaks", breaks),))
    Housekeeping(world.dispatcher).round()
    assert world.show(task)["summary"] is None


def test_a_round_is_at_most_half_a_minute_away(world: World):
    """Stalls are to be seen within the stall time, not a sweep later."""
    assert Housekeeping(world.dispatcher)._every == 30.0


def test_closing_one_that_was_never_started_does_nothing(world: World):
    Housekeeping(world.dispatcher).close()

"""Old output is deleted, a bounded part at a time; launches, the ends of their output and their usage stay."""

from __future__ import annotations

import pytest

from tests.stories import Process, World
from toryo.domain.times import DAY, SECOND
from toryo.housekeeping import old_logs
from toryo.operations.calls.call import Call
from toryo.settings import Settings
from toryo.storage import schema
from toryo.storage.engine.database import Database

DAYS = DAY // SECOND
USAGE = {"input_tokens": 5, "output_tokens": 1, "cost_usd": 0.5}


pytestmark = pytest.mark.crew(workers=1)


def ran(world: World, *, tail: str | None = "the end\n") -> Process:
    """A launch that has printed three pieces and ended."""
    world.task("w1")
    process = world.start("w1")
    process.report()
    for piece in range(3):
        said = {"launch_id": process.launch_id, "offset": 6 * piece, "text": "words\n"}
        world.coordinator().call("append_log", **said)
    world.coordinator().exited(process.launch_id, exit_code=0, usage=USAGE, log_tail=tail)
    return process


def printed(world: World) -> set[str]:
    """The launches of which output is stored."""
    return {str(row[0]) for row in world.rows(schema.logs)["logs"]}


def test_output_is_kept_for_thirty_days_and_then_deleted(crew: World):
    process = ran(crew)
    crew.advance(30 * DAYS - 60)
    crew.housekeep()
    assert printed(crew) == {process.launch_id}
    crew.advance(120)
    crew.housekeep()
    assert printed(crew) == set()


def test_newer_output_stays_whole(crew: World):
    ran(crew)
    crew.advance(29 * DAYS)
    newer = ran(crew)
    crew.advance(2 * DAYS)
    crew.housekeep()
    assert printed(crew) == {newer.launch_id}
    read = crew.owner.call("read_launch_log", launch_id=newer.launch_id)
    assert (read["text"], "removed" in read) == ("words\n" * 3, False)


def test_how_long_is_a_setting(fresh: Database):
    world = World(fresh, Settings(log_keep_days=2))
    world.crew(workers=1)
    process = ran(world)
    world.advance(1.9 * DAYS)
    world.housekeep()
    assert printed(world) == {process.launch_id}
    world.advance(0.2 * DAYS)
    world.housekeep()
    assert printed(world) == set()


def test_nothing_else_of_a_launch_is_lost(crew: World):
    process = ran(crew)
    crew.advance(31 * DAYS)
    kept = [schema.launches, schema.usages, schema.events]
    before = crew.rows(*kept)
    crew.housekeep()
    assert crew.rows(*kept) == before
    assert crew.owner.call("show_usage")["totals"]["cost_usd"] == 0.5
    read = crew.owner.call("read_launch_log", launch_id=process.launch_id)
    assert (read["text"], read["launch"]["usage"]["cost_usd"]) == ("the end\n", 0.5)


def test_who_reads_removed_output_is_told_so_and_where_the_file_may_be(crew: World):
    process = ran(crew, tail=None)
    crew.advance(31 * DAYS)
    read = crew.owner.call("read_launch_log", launch_id=process.launch_id)
    assert "removed" not in read
    crew.housekeep()
    read = crew.owner.call("read_launch_log", launch_id=process.launch_id)
    assert read["text"] == ""
    for words in (f"{process.launch_id}.log", "(c1)", "30 days", "TORYO_LOG_KEEP_DAYS"):
        assert words in read["removed"]


def test_a_launch_that_never_printed_is_not_called_removed(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    read = crew.owner.call("read_launch_log", launch_id=process.launch_id)
    assert (read["text"], "removed" in read) == ("", False)


def test_output_of_a_launch_that_still_lives_stays_however_old(crew: World):
    """Its Coordinator goes on where the stored output ends."""
    crew.task("w1")
    process = crew.start("w1")
    crew.coordinator().call("append_log", launch_id=process.launch_id, offset=0, text="words\n")
    crew.advance(40 * DAYS)
    assert crew.dispatcher.housekeep(old_logs.forget) == 0
    assert printed(crew) == {process.launch_id}


def test_a_round_deletes_a_bounded_part_and_whole_launches(crew: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(old_logs, "AT_ONCE", 2)
    oldest, *_, newest = launches = [ran(crew) for _ in range(5)]
    crew.advance(31 * DAYS)
    deleted, left = [], []
    for _ in range(4):
        deleted.append(crew.dispatcher.housekeep(old_logs.forget))
        left.append(len(printed(crew)))
    assert (deleted, left) == ([2, 2, 1, 0], [3, 1, 0, 0])
    assert oldest.launch_id < newest.launch_id
    assert len({launch.launch_id for launch in launches}) == 5


def test_where_nothing_is_old_a_round_writes_nothing(crew: World):
    ran(crew)
    wrote: list[bool] = []

    def forget(call: Call) -> None:
        old_logs.forget(call)
        wrote.append(call.tx.wrote)

    crew.dispatcher.housekeep(forget)
    assert wrote == [False]

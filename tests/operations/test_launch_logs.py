"""How much of what a launch prints the server keeps, whatever its Coordinator sends."""

from __future__ import annotations

import pytest

from tests.stories import Answer, World
from toryo.operations.launches import logs
from toryo.storage import schema

pytestmark = pytest.mark.crew(workers=1)

PIECE = 100


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "KEPT_OF_BEGIN", 300)
    monkeypatch.setattr(logs, "KEPT_OF_END", 300)


def prints(world: World, launch_id: str, pieces: range) -> None:
    for number in pieces:
        text = f"{number:0{PIECE - 1}}\n"
        said = world.coordinator().call("append_log", launch_id=launch_id, offset=number * PIECE, text=text)
        assert said["next_offset"] == (number + 1) * PIECE


def read(world: World, launch_id: str, offset: int = 0) -> Answer:
    return world.owner.call("read_launch_log", launch_id=launch_id, offset=offset)


def kept(world: World) -> int:
    length = list(schema.logs.c.keys()).index("length")
    return sum(row[length] for row in world.rows(schema.logs)["logs"])


def test_of_a_flood_the_beginning_and_the_end_are_kept_and_the_middle_is_said_to_be_left_out(crew: World) -> None:
    crew.task("w1")
    launch_id = crew.start("w1").launch_id
    prints(crew, launch_id, range(6))
    assert "omitted" not in read(crew, launch_id)["text"]
    prints(crew, launch_id, range(6, 50))
    answer = read(crew, launch_id)
    numbers = [int(line) for line in answer["text"].splitlines() if line.isdigit()]
    assert numbers == [0, 1, 2, 47, 48, 49]
    assert "\n… 4400 characters of output were omitted here …\n" in answer["text"]
    assert answer["next_offset"] == 50 * PIECE
    assert kept(crew) == 600
    prints(crew, launch_id, range(50, 51))
    later = read(crew, launch_id, answer["next_offset"])
    assert (int(later["text"]), later["next_offset"]) == (50, 51 * PIECE), "who follows misses nothing"


def test_the_times_of_what_is_kept_are_those_of_its_lines(crew: World) -> None:
    crew.task("w1")
    launch_id = crew.start("w1").launch_id
    for number in range(20):
        prints(crew, launch_id, range(number, number + 1))
        crew.advance(1)
    answer = read(crew, launch_id)
    lines = {answer["text"][each["offset"] :].partition("\n")[0] for each in answer["times"]}
    assert {int(line) for line in lines} == {0, 1, 2, 17, 18, 19}


def test_who_reads_on_from_what_was_left_out_since_is_told_so(crew: World) -> None:
    crew.task("w1")
    launch_id = crew.start("w1").launch_id
    prints(crew, launch_id, range(40))
    text = read(crew, launch_id, 10 * PIECE)["text"]
    assert text.startswith("\n… 2700 characters of output were omitted here …\n")
    assert int(text.splitlines()[-1]) == 39

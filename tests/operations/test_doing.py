"""What agents do at the moment: written down when it changes, shown wherever they are shown, told to who follows."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.stories import Answer, Caller, Process, World
from toryo.domain.times import SECOND, iso, parse
from toryo.operations.calls.call import DOING
from toryo.operations.overview import event_feed

pytestmark = pytest.mark.crew(workers=2)

PYTEST = {"kind": "called", "tool": "Bash", "text": "pytest -q"}


def does(world: World, process: Process, seconds: float = 0, **doing: Any) -> None:
    told = {**PYTEST, **doing, "seconds": seconds}
    world.coordinator().call("append_log", launch_id=process.launch_id, offset=0, text="", doing=told)


def working(world: World, agent: str = "w1") -> Process:
    world.task(agent)
    return world.start(agent)


def launch(world: World, process: Process, **wanted: Any) -> Answer:
    shown = world.owner.call("list_launches", **wanted)["launches"]
    found: Answer = next(each for each in shown if each["launch_id"] == process.launch_id)
    return found


def test_it_is_shown_with_the_team_the_sessions_and_the_launches_since_when_it_began(crew: World) -> None:
    process = working(crew)
    does(crew, process, seconds=12)
    now = {**PYTEST, "since": iso(crew.now - 12 * SECOND)}
    (session,) = crew.owner.call("list_sessions")["sessions"]
    (member,) = [each for each in crew.owner.call("show_overview")["team"] if each["agent_id"] == "w1"]
    assert (member["doing"], session["doing"], launch(crew, process)["doing"]) == (now, now, now)


def test_a_program_that_has_not_signed_in_yet_is_shown_with_what_it_prints(crew: World) -> None:
    crew.task("w1")
    process = crew.started("w1")
    does(crew, process, kind="printed", tool=None, text="installing …")
    (member,) = [each for each in crew.owner.call("show_overview")["team"] if each["agent_id"] == "w1"]
    assert (member["state"], member["doing"]["text"]) == ("starting", "installing …")


def test_who_is_over_does_nothing_any_longer(crew: World) -> None:
    process = working(crew)
    does(crew, process)
    crew.coordinator().exited(process.launch_id)
    assert launch(crew, process)["doing"] is None
    does(crew, process, text="afterwards")
    assert launch(crew, process)["doing"] is None


def test_what_is_told_again_is_neither_written_nor_told_to_anybody(crew: World) -> None:
    process = working(crew)
    does(crew, process)
    crew.hints.clear()
    crew.advance(1)
    with crew.statements() as ran:
        does(crew, process, seconds=1)
    assert not [each for each, _ in ran if each.startswith("UPDATE launches")]
    assert not any(DOING in each for each in crew.hints)


def test_the_same_call_once_more_is_news(crew: World) -> None:
    process = working(crew)
    does(crew, process)
    before = parse(launch(crew, process)["doing"]["since"])
    crew.advance(60)
    crew.hints.clear()
    does(crew, process)
    assert parse(launch(crew, process)["doing"]["since"]) - before >= 60 * SECOND
    assert any(DOING in each for each in crew.hints)


def test_a_change_is_one_written_row_and_no_event(crew: World) -> None:
    process = working(crew)
    does(crew, process)
    before = crew.owner.call("server_status")["last_event"]
    with crew.statements() as ran:
        does(crew, process, text="make")
    written = [each for each, _ in ran if each.startswith(("UPDATE", "INSERT", "DELETE"))]
    assert [each.split(" SET")[0] for each in written] == ["UPDATE launches"]
    assert crew.owner.call("server_status")["last_event"] == before


def test_what_has_no_known_form_is_refused(crew: World) -> None:
    process = working(crew)
    refusal = crew.coordinator().refused(
        "append_log", "validationError", launch_id=process.launch_id, offset=0, text="", doing={"kind": "dances"}
    )
    assert "doing" in str(refusal)


def told(world: World, since: int, *readers: Caller) -> list[list[Answer]]:
    """What a stream sends each of these readers of what agents do."""

    def step(call: Any) -> list[list[Answer]]:
        known = event_feed.read(call, 0, {each.credentials: None for each in readers}, again=True).readers
        signs = event_feed.signs(call, since, known)
        return [
            [
                orjson.loads(text.removeprefix(b"event: doing\ndata: "))
                for launch, (_, text) in signs.told.items()
                if launch in signs.seen[each.credentials]
            ]
            for each in readers
        ]

    found: list[list[Answer]] = world.dispatcher.in_passing(step, reads=True)
    return found


def test_a_stream_tells_it_to_who_sees_the_project(crew: World) -> None:
    process = working(crew)
    does(crew, process)
    here = crew.project_id
    crew.project(name="Elsewhere")
    stranger = crew.member("eve")
    crew.project_id = here
    (mine, theirs) = told(crew, 0, crew.owner, stranger)
    assert [(each["launch_id"], each["doing"]["text"]) for each in mine] == [(process.launch_id, "pytest -q")]
    assert theirs == []
    assert told(crew, crew.now, crew.owner) == [[]], "nothing new since"


def test_only_what_lives_is_listed_where_that_is_asked_for(crew: World) -> None:
    over, process = working(crew, "w1"), working(crew, "w2")
    crew.coordinator().exited(over.launch_id)
    found = crew.owner.call("list_launches", live=True)["launches"]
    assert [each["launch_id"] for each in found] == [process.launch_id]


def test_the_log_says_when_its_pieces_came(crew: World) -> None:
    process = working(crew)
    coordinator, began = crew.coordinator(), crew.now
    for offset, text in ((0, "one\n"), (4, "two\n"), (8, "three\n")):
        coordinator.call("append_log", launch_id=process.launch_id, offset=offset, text=text)
        crew.advance(30 if offset == 0 else 0)
    times = crew.owner.call("read_launch_log", launch_id=process.launch_id)["times"]
    assert [each["offset"] for each in times] == [0, 4], "what comes within a second comes together"
    assert began <= parse(times[0]["at"]) < began + SECOND
    assert 30 * SECOND <= parse(times[1]["at"]) - parse(times[0]["at"]) < 31 * SECOND
    (later,) = crew.owner.call("read_launch_log", launch_id=process.launch_id, offset=6)["times"]
    assert later == {"offset": 6, "at": times[1]["at"]}

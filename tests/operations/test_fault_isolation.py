"""A fault of Toryo itself while one agent or project is decided about keeps nobody else waiting, and is shown."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog

from tests.documents.test_pages import wrong as mistake_in
from tests.stories import Answer, World
from toryo.housekeeping import stalled_tasks
from toryo.operations.calls import internal_faults
from toryo.operations.launches import end_of_session, launch_decisions
from toryo.operations.overview import health, stuck
from toryo.operations.overview.needs import blocks, finding
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.errors import ConstraintBroken
from toryo.workflow import launch_rules

pytestmark = pytest.mark.both

BROKEN = "w1"
Plant = Callable[..., None]


@pytest.fixture
def crew(world: World) -> World:
    world.crew(workers=2, decomposition="never")
    world.faulty = True
    return world


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    """`plant(module, name, concerns)`: from now on that function does what it does, and fails for whom it concerns."""

    def planted(module: object, name: str, concerns: Callable[..., bool]) -> None:
        original = getattr(module, name)

        def broken(*given: Any, **named: Any) -> Any:
            result = original(*given, **named)
            if concerns(*given, **named):
                raise ZeroDivisionError("planted")
            return result

        monkeypatch.setattr(module, name, broken)

    return planted


def told(world: World) -> list[Answer]:
    """The needs that speak of internal errors; every command exists."""
    found = [each for each in world.owner.call("needs_you")["items"] if each["title"].startswith("Internal error")]
    assert [each for item in found for act in item["actions"] if (each := mistake_in(act["command"]))] == []
    return found


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[Answer]:
    """What is logged of faults, however other tests have left logging."""
    found: list[Answer] = []

    def keep(_: Any, __: str, event: Any) -> Any:
        found.append(event)
        raise structlog.DropEvent

    kept = structlog.wrap_logger(None, processors=[keep], wrapper_class=structlog.BoundLogger)
    monkeypatch.setattr(internal_faults, "_log", kept)
    return found


def test_an_agent_that_cannot_be_decided_about_keeps_no_other_from_its_start(
    crew: World, plant: Plant, logged: list[Answer]
) -> None:
    crew.task(BROKEN)
    crew.task("w2")
    plant(launch_decisions, "record", lambda call, agent_id, *_: agent_id == BROKEN)
    assert crew.coordinator().starts() == ["w2"]
    assert [(each["agent_id"], each["project_id"]) for each in logged] == [(BROKEN, crew.project_id)]
    assert [event["agent_id"] for event in crew.events("decision.launch")] == ["w2"], "what it had written is undone"
    (item,) = told(crew)
    assert (item["kind"], item["agent_id"], item["project_id"]) == ("agent_cannot_start", BROKEN, crew.project_id)
    assert item["text"] == "An internal error occurred. See the server's log (claim_starts; 1 times)."
    assert crew.dispatcher.context.faults.total == 1


def test_it_is_started_as_soon_as_it_can_be_decided_about_again(
    crew: World, monkeypatch: pytest.MonkeyPatch, plant: Plant
) -> None:
    crew.task(BROKEN)
    with monkeypatch.context() as patch:
        patch.setattr(launch_rules, "decide", _fails)
        assert crew.coordinator().starts() == []
    assert crew.coordinator().starts() == [BROKEN]
    crew.advance(internal_faults.SHOWN_FOR / 1000 + 1)
    assert told(crew) == []


def _fails(*_: object, **__: object) -> None:
    raise ZeroDivisionError("planted")


@pytest.mark.parametrize("running", [True, False])
def test_neither_stops_nor_ends_of_others_wait_for_it(crew: World, plant: Plant, running: bool) -> None:
    for each in (BROKEN, "w2"):
        crew.task(each)
        crew.start(each)
    launches = [each["launch_id"] for each in crew.launches()]
    plant(launch_decisions, "decide", lambda call, agent_id, *_, **__: agent_id == BROKEN)
    plant(end_of_session, "lapse", lambda call, launch, session: session is not None and session.agent_id == BROKEN)
    if running:
        crew.owner.call("pause_project", project_id=crew.project_id)
        crew.advance(301)
        stops = crew.coordinator().claim(running=launches)["stop"]
        assert [stop["reason"] for stop in stops] == ["project_paused"]
    else:
        crew.advance(3601)
        crew.coordinator().claim()
        assert [event["agent_id"] for event in crew.events("session.ended")] == ["w2"]


def test_chats_of_others_are_started(crew: World, plant: Plant) -> None:
    for each in (BROKEN, "w2"):
        crew.say(each, "Hello")
    plant(launch_rules, "decide_chat", lambda snapshot, **_: snapshot.agent_id == BROKEN)
    started = crew.coordinator().claim(free_chat_slots=5)["start"]
    assert [(each["agent_id"], each["purpose"]) for each in started] == [("w2", "chat")]
    assert crew.say(BROKEN, "Are you there?")


def test_a_row_that_the_database_refuses_concerns_its_agent_alone(crew: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL gives up a whole transaction after one: unless it is fenced."""
    crew.task(BROKEN)
    crew.task("w2")
    original = launch_decisions.record
    twice = Statement(schema.projects.insert(), columns=["id", "name"])

    def refused(call: Any, agent_id: str, *more: Any) -> None:
        original(call, agent_id, *more)
        if agent_id == BROKEN:
            with pytest.raises(ConstraintBroken):
                call.tx.connection.run(twice, id=crew.project_id, name=None)

    monkeypatch.setattr(launch_decisions, "record", refused)
    assert crew.coordinator().starts() == ["w2"]


def test_a_lock_that_was_taken_within_is_taken_again(fresh: Any) -> None:
    def work(connection: Connection) -> bool:
        with contextlib.suppress(ZeroDivisionError), connection.savepoint():
            connection.lock("one")
            raise ZeroDivisionError
        return connection.lock("one")

    assert fresh.write(work) is (fresh.dialect == "postgresql")


# --- what people see -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(len(finding.SOURCES)), ids=[each.__name__ for each in finding.SOURCES])
def test_a_source_of_needs_that_fails_leaves_the_others(
    crew: World, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """In whatever source it is; `told` where one of these two is left."""
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="owner")
    crew.task("owner", title="Mine")
    crew.task("w2", title="Held")
    crew.start("w2").report("blocked", "no key")

    def broken(view: Any) -> Iterator[Any]:
        raise ZeroDivisionError("planted")
        yield

    sources = list(finding.SOURCES)
    name = sources[number].__name__
    sources[number] = broken
    monkeypatch.setattr(finding, "SOURCES", tuple(sources))
    items = crew.owner.call("needs_you")["items"]
    expected = {"task", "blocked"} - {{"own_tasks": "task", "blocked_tasks": "blocked"}.get(name, "")}
    assert {item["kind"] for item in items if not item["title"].startswith("Internal error")} == expected
    assert told(crew)


@pytest.mark.parametrize(("module", "name"), [(blocks, "_block"), (stuck, "_may_be")])
def test_a_project_whose_needs_cannot_be_found_hides_none_of_another(
    crew: World, plant: Plant, module: object, name: str
) -> None:
    other = crew.project(name="Barn")
    for project in (crew.project_id, other):
        crew.owner.call("add_member", project_id=project, agent_id="w1")
    kept = crew.task("w1", project_id=other)
    crew.start("w1").report("blocked", "no key")
    lost = crew.task("w2")
    crew.start("w2").report("blocked", "no key")
    plant(module, name, lambda _, task, *_more: task.project_id == crew.project_id)
    items = crew.owner.call("needs_you")["items"]
    assert kept in [each["task_id"] for each in items]
    (item,) = [each for each in items if each["title"].startswith("Internal error")]
    assert (item["project_id"], item["agent_id"]) == (crew.project_id, None)
    assert (lost in [each["task_id"] for each in items]) is (module is stuck)


@pytest.mark.parametrize("where", ["why", "show_overview"])
def test_who_asks_about_it_is_told_of_the_error_and_of_everybody_else(crew: World, plant: Plant, where: str) -> None:
    for each in (BROKEN, "w2"):
        crew.task(each)
    plant(launch_rules, "decide", lambda snapshot, **_: snapshot.agent_id == BROKEN)
    if where == "why":
        task, chat = crew.owner.call("why", agent_id=BROKEN)["decisions"]
        assert (task["action"], task["reason"]) == ("hold", "internal_error")
        assert task["explanation"] == "Internal error. See the server's log."
        assert chat["reason"] == "no_chat_work"
    else:
        team = {each["agent_id"]: each for each in crew.owner.call("show_overview")["team"]}
        assert (team[BROKEN]["state"], team[BROKEN]["reason"]) == ("held", "internal_error")
        assert team["w2"]["reason"] == "has_in_progress_task"
    assert [each["agent_id"] for each in told(crew)] == [BROKEN]


def test_faults_are_counted_and_one_agent_is_one_need(crew: World, plant: Plant) -> None:
    crew.task(BROKEN)
    plant(launch_rules, "decide", lambda snapshot, **_: snapshot.agent_id == BROKEN)
    for _ in range(3):
        crew.coordinator().claim()
    crew.owner.call("why", agent_id=BROKEN)
    (item,) = told(crew)
    assert item["text"] == "An internal error occurred. See the server's log (claim_starts, why; 4 times)."
    assert crew.dispatcher.context.faults.total == 4


def test_members_are_not_told_what_only_owners_can_look_up(crew: World, plant: Plant) -> None:
    crew.task(BROKEN)
    member = crew.member("mia")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="mia")
    plant(launch_rules, "decide", lambda snapshot, **_: snapshot.agent_id == BROKEN)
    crew.coordinator().claim()
    assert [each["agent_id"] for each in told(crew)] == [BROKEN], "owners are"
    assert member.call("needs_you")["items"] == []


# --- housekeeping ----------------------------------------------------------------------------------------------------


def test_a_sweep_ends_the_sessions_of_others(crew: World, plant: Plant) -> None:
    for each in (BROKEN, "w2"):
        crew.task(each)
        crew.start(each)
    crew.advance(3601)
    plant(end_of_session, "lapse", lambda call, launch, session: session is not None and session.agent_id == BROKEN)
    crew.housekeep()
    assert [event["agent_id"] for event in crew.events("session.ended")] == ["w2"]
    assert {each["agent_id"] for each in crew.sessions()} == {BROKEN}


def test_stalls_of_others_are_noticed(crew: World, plant: Plant) -> None:
    mains = {}
    for each in (BROKEN, "w2"):
        mains[each] = crew.task(each)
        crew.task(each, parent_task_id=mains[each], status="todo")
    plant(stalled_tasks, "_stalls", lambda call, case: case.main.assignee_id == BROKEN)
    crew.advance(130)
    crew.housekeep()
    assert [event["task_id"] for event in crew.events("task.stalled")] == [mains["w2"]]


def test_writers_to_others_are_told_that_nobody_came(crew: World, plant: Plant) -> None:
    for each in (BROKEN, "w2"):
        crew.say(each, "Hello")
    crew.advance(310)
    plant(launch_decisions, "decide", lambda call, agent_id, *_, **__: agent_id == BROKEN)
    crew.housekeep()
    assert [event["agent_id"] for event in crew.events("message.nobody_came")] == ["w2"]


def test_metrics_count_them(crew: World) -> None:
    crew.dispatcher.context.faults.note("test", None, None, crew.now, ZeroDivisionError())
    assert ("internal_errors", {}, 1) in crew.dispatcher.housekeep(health.measures)

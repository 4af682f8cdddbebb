"""What is over is deleted when its period is, in steps; what is open, and what that rests on, stays."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa

from tests.invariants import OF_THE_WHOLE_PAST, hold
from tests.operations.talkers import converse, delegate
from tests.operations.test_queue import claimed, filed, key, poller
from tests.stories import Process, World
from toryo.domain.errors import Code
from toryo.domain.fast_dataclasses import replace
from toryo.domain.retention import Kind
from toryo.domain.times import DAY, SECOND, iso
from toryo.housekeeping.retention import Retention
from toryo.operations.admin import retention as operations
from toryo.settings import RetentionSettings, Settings
from toryo.storage import integrity, retention, schema
from toryo.storage.engine.database import Database
from toryo.storage.engine.statements import Statement

DAYS = DAY // SECOND
AGENTS = pytest.mark.crew(workers=2)
USAGE = {"input_tokens": 5, "output_tokens": 1, "cost_usd": 0.5}


def prune(world: World, *, away: bool = False) -> dict[str, int]:
    """A round of the chore, as of a server that has just started; everything holds afterwards. `away`: no server ran
    since the last round."""
    if not away and state(world).begins_at < world.now:
        save(world, begins_at=0)
    deleted = Retention(world.dispatcher).round(lambda _: False)
    hold(world, without=OF_THE_WHOLE_PAST)
    assert world.database.read(integrity.check) == []
    return {kind.value: many for kind, many in sorted(deleted.items()) if many}


def state(world: World) -> retention.State:
    return world.database.read(lambda connection: retention.Retention(connection).state())


def save(world: World, **changes: int) -> None:
    changed = replace(state(world), **changes)
    world.database.write(lambda connection: retention.Retention(connection).save(changed))


def due(world: World) -> dict[str, int]:
    """What `toryo db prune --dry-run` says."""
    kinds = world.owner.call("show_retention")["kinds"]
    return {each["kind"]: each["due"] for each in sorted(kinds, key=lambda each: each["kind"]) if each["due"]}


def at(world: World, instant: int) -> None:
    """The clock of the next round; looking takes no time."""
    world.now = instant


def count(world: World, table: sa.Table) -> int:
    return len(world.rows(table)[table.name])


def there(world: World, table: sa.Table) -> set[str]:
    return {str(row[0]) for row in world.rows(table)[table.name]}


def done(world: World, agent_id: str = "w1", **more: Any) -> tuple[str, Process]:
    """A task that an agent has done in a launch, with a note, a handoff and some usage."""
    task_id = world.task(agent_id, **more)
    process = world.start(agent_id)
    process.call("save_progress", progress="half of it")
    process.report()
    world.coordinator().exited(process.launch_id, usage=USAGE)
    return task_id, process


def closed_at(world: World, task_id: str) -> int:
    statement = Statement(sa.select(schema.tasks.c.completed_at).where(schema.tasks.c.id == sa.bindparam("id")))
    return int(world.database.read(lambda connection: connection.value(statement, id=task_id)))


def world_of(database: Database, **periods: Any) -> World:
    world = World(database, Settings(retention=RetentionSettings(**periods)))
    world.crew(workers=2)
    return world


# --- each kind at its boundary ---------------------------------------------------------------------------------------


@AGENTS
@pytest.mark.pitfall("F12")
def test_a_closed_task_is_deleted_with_what_belongs_to_it_when_its_period_is_over(crew: World) -> None:
    task_id, _ = done(crew)
    other, _ = done(crew)
    end = closed_at(crew, task_id) + 180 * DAY
    at(crew, end)
    prune(crew)
    assert task_id in there(crew, schema.tasks), "not a millisecond too early"
    at(crew, end + 1)
    assert prune(crew)["tasks"] == 1
    assert there(crew, schema.tasks) == {other}
    assert {row[1] for row in crew.rows(schema.notes)["notes"]} == {other}
    crew.owner.refused("show_task", Code.TASK_NOT_FOUND, task_id=task_id)


def left_a_file(world: World) -> str:
    """A task whose check has left a file, done by an agent that has done another one since."""
    task = world.task("w1", acceptance=[{"command": "make", "artifacts": ["a"]}])
    process = world.start("w1")
    world.perform("report_completed", {"result": "success", "summary": "x"}, process.credentials, may_wait=True)
    desk = world.coordinator()
    (check,) = desk.claim(free_slots=0)["checks"]
    file = {"place": 0, "name": "a", "size": 1, "content": "YQ=="}
    stored = desk.call("store_artifact", check_id=check["check_id"], **file)["artifact_id"]
    result = {"check": "make", "outcome": "passed", "artifacts": [stored]}
    desk.call("report_check_result", check_id=check["check_id"], failures=[], results=[result])
    process.report()
    desk.exited(process.launch_id, usage=USAGE)
    done(world)
    assert (count(world, schema.artifacts), count(world, schema.artifact_pieces)) == (1, 1)
    return task


@AGENTS
@pytest.mark.parametrize("days", [91, 181])
def test_the_files_of_a_check_are_deleted_with_its_launch_or_its_task(crew: World, days: int) -> None:
    task = left_a_file(crew)
    at(crew, closed_at(crew, task) + days * DAY)
    assert prune(crew)
    assert count(crew, schema.checks) == 0
    assert (count(crew, schema.artifacts), count(crew, schema.artifact_pieces)) == (0, 0)


@AGENTS
def test_a_launch_is_deleted_with_its_session_and_its_usage_is_kept_by_day(crew: World) -> None:
    task_id, first = done(crew)
    _, second = done(crew)
    usage = crew.owner.call("show_usage", by=["day", "task", "model"], days=3_000)
    (ended,) = (row for row in crew.rows(schema.launches)["launches"] if row[0] == first.launch_id)
    end = ended[list(schema.launches.c.keys()).index("ended_at")] + 90 * DAY
    at(crew, end)
    prune(crew)
    assert first.launch_id in there(crew, schema.launches)
    at(crew, end + 1)
    assert prune(crew)["launches"] == 1
    assert there(crew, schema.launches) == {second.launch_id}
    assert count(crew, schema.sessions) == 1
    assert crew.owner.call("show_usage", by=["day", "task", "model"], days=3_000)["rows"] == usage["rows"]
    assert crew.owner.call("show_usage", task_id=task_id)["totals"]["cost_usd"] == 0.5
    by_launch = crew.owner.call("show_usage", by=["launch"])["rows"]
    assert [each["launch_id"] for each in by_launch] == [second.launch_id, None]


@AGENTS
def test_the_usage_of_deleted_tasks_is_kept_by_day(crew: World) -> None:
    done(crew)
    done(crew)
    totals = crew.owner.call("show_usage")["totals"]
    crew.advance(181 * DAYS)
    prune(crew)
    assert crew.owner.call("show_usage")["totals"] == totals
    assert [each["launches"] for each in crew.owner.call("show_usage", by=["task"])["rows"]] == [2]


@AGENTS
def test_what_was_spent_since_a_visit_includes_launches_that_were_deleted_since(crew: World) -> None:
    visit = iso(crew.now)
    crew.advance(DAYS)
    done(crew)
    done(crew)
    crew.advance(91 * DAYS)
    assert prune(crew)["launches"] == 1
    assert crew.owner.call("show_overview", since=visit)["since"]["spent_usd"] == 2 * 0.5


@AGENTS
def test_the_last_launch_of_an_agent_stays_so_that_fences_go_on(crew: World) -> None:
    _, process = done(crew)
    crew.advance(1000 * DAYS)
    prune(crew)
    assert there(crew, schema.launches) == {process.launch_id}
    assert count(crew, schema.tasks) == 0
    crew.task("w1")
    crew.start("w1")
    fences = {row[list(schema.launches.c.keys()).index("fence")] for row in crew.rows(schema.launches)["launches"]}
    assert fences == {1, 2}


def test_a_queue_task_by_itself_is_kept_for_thirty_days_and_one_that_failed_for_longer(world: World) -> None:
    world.project()
    orchestrator, agent = key(world, orchestrator=True), poller(world)
    done_with, failed = filed(orchestrator), filed(orchestrator, max_attempts=1)
    for _ in range(2):
        (task,) = claimed(agent, "planner-1", max_tasks=1)
        result = "failed" if task["task_id"] == failed else "completed"
        agent.call("submit_result", agent_id="planner-1", task_id=task["task_id"], status=result)
    end = closed_at(world, done_with) + 30 * DAY
    at(world, end)
    prune(world)
    assert count(world, schema.tasks) == 2
    at(world, end + 1)
    assert prune(world)["queue_tasks"] == 1
    assert there(world, schema.tasks) == {failed}
    assert world.owner.call("list_dead_letters", project_id=world.project_id)["tasks"]
    at(world, closed_at(world, failed) + 180 * DAY + 1)
    assert prune(world)["tasks"] == 1
    assert count(world, schema.claims) == 0


def test_messages_and_conversations_that_everybody_knows_are_kept_for_a_year(pair: World) -> None:
    a, b, conversation = converse(pair)
    b.turn(conversation, "Gladly.")
    a.fetch()
    a.call("end_conversation", conversation_id=conversation)
    b.fetch()
    a.fetch()
    for process in (a, b):
        process.call("logout")
        pair.coordinator().exited(process.launch_id)
    pair.advance(364 * DAYS)
    pair.housekeep()
    assert "messages" not in prune(pair)
    pair.advance(2 * DAYS)
    newest = max(row[2] for row in pair.rows(schema.messages)["messages"])
    assert prune(pair)["messages"] >= 1
    (left,) = pair.rows(schema.messages)["messages"]
    assert left[2] == newest, "the newest stays, so that sequences go on"


def test_a_message_that_nobody_has_read_stays_for_ever(pair: World) -> None:
    pair.say("a", "Are you there?")
    pair.say("a", "Hello?")
    pair.advance(5000 * DAYS)
    pair.housekeep()
    prune(pair)
    texts = [each["content"] for each in pair.thread("a")]
    assert texts[:2] == ["Are you there?", "Hello?"]
    process = pair.start_chat("a")
    assert len(process.fetch()["pending_messages"]) == 2


def test_unread_counts_of_a_person_do_not_change(pair: World) -> None:
    pair.open_chat("a")
    process = pair.start_chat("a")
    for number in range(3):
        asked = pair.say("a", f"Question {number}")
        process.fetch()
        process.call("respond_chat", message_id=asked, content=f"Answer {number}")
        if number == 0:
            pair.open_chat("a", seen=2)
    (before,) = pair.owner.call("list_chats", project_id=pair.project_id)["chats"]
    pair.advance(400 * DAYS)
    pair.housekeep()
    assert prune(pair)["messages"] == 4
    (after,) = pair.owner.call("list_chats", project_id=pair.project_id)["chats"]
    assert (after["unread"], after["newest"]) == (before["unread"], before["newest"])
    assert after["unread"] == 2
    assert [each["content"] for each in pair.thread("a")] == ["Answer 1", "Answer 2"]


@AGENTS
def test_events_of_agents_go_after_ninety_days_and_those_of_people_stay(crew: World) -> None:
    task_id, _ = done(crew)
    people = [each for each in crew.events() if each["by_person"]]
    facts = [each["kind"] for each in crew.events(task_id=task_id)]
    crew.advance(91 * DAYS)
    crew.task("w2", status="todo")  # the newest event is always kept
    assert prune(crew)["events"] > 5
    left = crew.events()
    assert [each for each in left if each["by_person"]][: len(people)] == people
    kinds = [each["kind"] for each in left if each["task_id"] == task_id]
    assert {"task.completed", "task.created"} & set(facts) <= set(kinds), "what decides about a task stays with it"
    crew.advance(100 * DAYS)
    prune(crew)
    left = crew.events()
    assert not [each for each in left if each["task_id"] == task_id and not each["by_person"]]
    assert [each for each in left if each["by_person"]][: len(people)] == people


def test_events_of_people_have_a_period_of_their_own(fresh: Database) -> None:
    world = world_of(fresh, audit_days=10, event_days=0)
    end = world.events()[0]["sequence"]
    first = next(row for row in world.rows(schema.events)["events"] if row[0] == end)
    crossing = int(first[2]) + 10 * DAY
    at(world, crossing)
    assert prune(world) == {}
    at(world, crossing + 1)
    assert prune(world)["audit"] >= 1
    assert world.events()[0]["sequence"] > end


@AGENTS
def test_an_event_is_deleted_a_millisecond_after_its_period_and_not_before(crew: World) -> None:
    done(crew)
    kinds = list(schema.events.c.keys())
    rows = [dict(zip(kinds, row, strict=True)) for row in sorted(crew.rows(schema.events)["events"])]
    (first, *_) = [each for each in rows if not each["by_person"] and not each["fact"]]
    at(crew, first["at"] + 90 * DAY)
    prune(crew)
    assert first["sequence"] in {row[0] for row in crew.rows(schema.events)["events"]}
    at(crew, first["at"] + 90 * DAY + 1)
    prune(crew)
    assert first["sequence"] not in {row[0] for row in crew.rows(schema.events)["events"]}


# --- what stays ------------------------------------------------------------------------------------------------------


@AGENTS
def test_nothing_that_is_open_is_touched_however_old(crew: World) -> None:
    crew.task("w1")
    process = crew.start("w1")
    delegate(process, "w2")
    crew.task("boss")
    boss = crew.start("boss")
    (child,) = boss.batch("A part")
    crew.move(child, "cancelled")
    crew.say("w2", "Please look")
    kept = [schema.tasks, schema.launches, schema.sessions, schema.delegations, schema.messages, schema.mailboxes]
    before = crew.rows(*kept)
    crew.now += 3000 * DAY
    prune(crew)
    assert crew.rows(*kept) == before


@AGENTS
def test_a_closed_task_stays_as_long_as_an_open_one_depends_on_it(crew: World) -> None:
    task_id, _ = done(crew)
    waiting = crew.task("w2", status="todo", dependencies=[task_id])
    crew.advance(1000 * DAYS)
    prune(crew)
    assert there(crew, schema.tasks) == {task_id, waiting}
    crew.move(waiting, "cancelled")
    crew.advance(100 * DAYS)
    prune(crew)
    assert task_id in there(crew, schema.tasks), "who looks at the one that waited, sees for what"
    crew.advance(81 * DAYS)
    prune(crew)
    assert there(crew, schema.tasks) == set()


@AGENTS
def test_a_tree_stays_as_a_whole_until_the_last_of_it_was_closed_long_ago(crew: World) -> None:
    main = crew.task("boss")
    boss = crew.start("boss")
    first, second = boss.batch("One", "Two")
    crew.move(first, "cancelled")
    crew.advance(500 * DAYS)
    crew.move(second, "cancelled")
    prune(crew)
    assert there(crew, schema.tasks) == {main, first, second}
    crew.move(main, "cancelled")
    crew.housekeep()
    crew.advance(181 * DAYS)
    crew.housekeep()
    assert prune(crew)["tasks"] == 3


@AGENTS
def test_a_worktree_with_work_keeps_its_task(crew: World) -> None:
    task_id, _ = done(crew)
    columns = {
        "task_id": task_id,
        "project_id": crew.project_id,
        "coordinator_id": "c1",
        "path": "/w",
        "directory": "/w",
        "branch": "b",
        "base_commit": "0",
        "commits": 1,
        "files_changed": 1,
        "insertions": 1,
        "deletions": 0,
        "state": "open",
        "created_at": crew.now,
        "updated_at": crew.now,
    }
    crew.database.write(
        lambda connection: connection.run(Statement(sa.insert(schema.worktrees), columns=list(columns)), **columns)
    )
    crew.advance(1000 * DAYS)
    prune(crew)
    assert there(crew, schema.tasks) == {task_id}


@AGENTS
def test_the_pages_of_what_is_left_are_as_before(crew: World) -> None:
    done(crew)
    crew.advance(170 * DAYS)
    kept, _ = done(crew)
    board = crew.owner.call("show_board", project_id=crew.project_id)
    task = crew.show(kept)
    crew.advance(11 * DAYS)
    assert prune(crew)["tasks"] == 1
    after = crew.owner.call("show_board", project_id=crew.project_id)
    assert [each["task_id"] for each in after["tasks"]] == [kept]
    assert [each for each in board["tasks"] if each["task_id"] == kept] == after["tasks"]
    assert crew.show(kept) == task


def test_what_is_kept_for_ever_is_kept_for_ever(fresh: Database) -> None:
    names = ("task_days", "queue_task_days", "launch_days", "message_days", "event_days", "audit_days")
    world = world_of(fresh, **dict.fromkeys(names, 0))
    done(world)
    world.advance(10_000 * DAYS)
    kept = [table for table in schema.metadata.sorted_tables if table is not schema.retention]
    before = world.rows(*kept)
    assert due(world) == {}
    assert prune(world) == {}
    assert world.rows(*kept) == before


# --- readers of events -----------------------------------------------------------------------------------------------


@AGENTS
def test_a_reader_whose_place_was_pruned_goes_on_and_is_told(crew: World) -> None:
    done(crew)
    last = crew.owner.call("server_status")["last_event"]
    assert "pruned_to" not in crew.owner.call("read_events", after=0)
    crew.advance(91 * DAYS)
    crew.task("w2", status="todo")
    newest = crew.owner.call("server_status")["last_event"]
    prune(crew)
    read = crew.owner.call("read_events", after=1, limit=1000)
    assert 1 < read["pruned_to"] <= last
    assert read["last"] == newest == crew.owner.call("server_status")["last_event"]
    assert "pruned_to" not in crew.owner.call("read_events", after=read["pruned_to"])
    backwards = crew.owner.call("read_events", newest=True, limit=1000)
    assert backwards["pruned_to"] == read["pruned_to"]
    assert "pruned_to" not in crew.owner.call("read_events", newest=True, limit=1)
    board = crew.owner.call("show_board", project_id=crew.project_id, after=1)
    assert board["whole"], "changes before the horizon are not known any more"


@AGENTS
def test_a_reader_is_told_of_events_that_went_with_their_task(crew: World) -> None:
    """Also if of the last events that were gone through all were kept for it."""
    task_id, _ = done(crew)
    crew.move(crew.task("w2", status="todo"), "cancelled")
    crew.advance(91 * DAYS)
    prune(crew)
    facts = [each["sequence"] for each in crew.events(task_id=task_id)]
    save(crew, horizon=facts[0] - 1)
    crew.advance(90 * DAYS)
    prune(crew)
    left = {each["sequence"] for each in crew.events()}
    gone = max(each for each in facts if each not in left)
    assert crew.owner.call("read_events", after=gone - 1)["pruned_to"] >= gone


@AGENTS
def test_numbers_of_events_are_never_given_twice(crew: World) -> None:
    done(crew)
    last = crew.owner.call("server_status")["last_event"]
    crew.advance(1000 * DAYS)
    prune(crew)
    assert crew.owner.call("server_status")["last_event"] == last
    crew.task("w1", status="todo")
    assert min(each["sequence"] for each in crew.events() if each["sequence"] > last) == last + 1


# --- in steps --------------------------------------------------------------------------------------------------------


def a_lot(world: World) -> None:
    for number in range(7):
        done(world, f"w{number % 2 + 1}")
    main = world.task("boss")
    boss = world.start("boss")
    boss.batch(*(f"Part {number}" for number in range(9)))
    world.move(main, "cancelled")
    world.coordinator().exited(boss.launch_id)
    world.housekeep()


@AGENTS
def test_small_steps_delete_the_same_as_one(crew: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 3)
    monkeypatch.setattr(retention, "EVENTS_AT_ONCE", 4)
    a_lot(crew)
    crew.advance(181 * DAYS)
    steps = 0
    chore = Retention(crew.dispatcher)
    while part := crew.dispatcher.in_passing(operations.find, reads=True):
        crew.dispatcher.in_passing(partial(operations.delete, part=part))
        assert crew.database.read(integrity.check) == [], "every step leaves a sound database"
        hold(crew, without=OF_THE_WHOLE_PAST)
        steps += 1
    assert steps > 10
    assert chore.round(lambda _: False) == Counter()
    assert count(crew, schema.tasks) == 0
    assert count(crew, schema.sessions) == 3


@AGENTS
def test_a_step_leaves_at_most_one_tree_in_part(crew: World, monkeypatch: pytest.MonkeyPatch) -> None:
    trees = []
    for _ in range(3):
        main = crew.task("boss")
        boss = crew.start("boss")
        trees.append({main, *boss.batch("One", "Two")})
        crew.move(main, "cancelled")
        crew.coordinator().exited(boss.launch_id)
        crew.housekeep()
    crew.advance(181 * DAYS)
    monkeypatch.setattr(retention, "AT_ONCE", 4)
    part = crew.dispatcher.in_passing(partial(operations.find, kinds=[Kind.TASKS]), reads=True)
    assert part is not None
    assert crew.dispatcher.in_passing(partial(operations.delete, part=part))[Kind.TASKS] == 4
    left = there(crew, schema.tasks)
    assert sorted(len(tree & left) for tree in trees) == [0, 2, 3]


@AGENTS
def test_what_dry_run_says_is_what_is_deleted_then(crew: World) -> None:
    a_lot(crew)
    for days in (89, 2, 60, 40, 200, 200):
        crew.advance(days * DAYS)
        done(crew)
        said = due(crew)
        assert prune(crew) == said


@AGENTS
def test_a_server_that_stops_in_between_goes_on_where_it_stopped(crew: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 2)
    a_lot(crew)
    crew.advance(181 * DAYS)
    said = due(crew)
    deleted: Counter[str] = Counter()
    for _ in range(100):
        deleted.update({kind.value: many for kind, many in Retention(crew.dispatcher).round(lambda _: True).items()})
        crew.restart()
        if not due(crew):
            break
    assert {kind: many for kind, many in deleted.items() if many} == said


@AGENTS
def test_everybody_goes_on_meanwhile(crew: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two servers prune one database, and people file tasks that depend on tasks that are due."""
    monkeypatch.setattr(retention, "AT_ONCE", 1)
    monkeypatch.setattr(retention, "EVENTS_AT_ONCE", 5)
    a_lot(crew)
    crew.advance(181 * DAYS)
    old = sorted(there(crew, schema.tasks))
    chores = [Retention(crew.dispatcher) for _ in range(2)]
    begin = threading.Barrier(len(chores) + 1)

    def prune_all(chore: Retention) -> Counter[Kind]:
        begin.wait(60)
        return chore.round(lambda _: False)

    with ThreadPoolExecutor(len(chores)) as threads:
        rounds = [threads.submit(prune_all, chore) for chore in chores]
        begin.wait(60)
        filed, needed = [], set[str]()
        for task_id in old:
            outcome = crew.owner.ask(
                "file_task", project_id=crew.project_id, title="Later", status="todo", dependencies=[task_id]
            )
            if not outcome.refused and outcome.result is not None:
                filed.append(outcome.result["task_id"])
                needed.add(task_id)
        deleted = sum((each.result(60) for each in rounds), Counter[Kind]())
    assert {*filed, *needed} <= there(crew, schema.tasks), "what an open task needs is not deleted"
    assert deleted[Kind.TASKS] == len(old) - len(there(crew, schema.tasks) & set(old)), "nothing is deleted twice"
    assert crew.database.read(integrity.check) == []


@AGENTS
def test_a_step_that_fails_deletes_nothing(crew: World, monkeypatch: pytest.MonkeyPatch) -> None:
    a_lot(crew)
    crew.advance(181 * DAYS)
    before = crew.rows()
    monkeypatch.setattr(retention, "_DELETE_TASKS", Statement(sa.text("DELETE FROM nowhere")))
    part = retention.Part(Kind.TASKS, tuple(there(crew, schema.tasks)), crew.project_id)
    with pytest.raises(Exception, match="nowhere"):
        crew.dispatcher.in_passing(lambda call: operations.delete(call, part))
    assert crew.rows() == before


@AGENTS
def test_a_task_that_was_retried_after_it_was_found_stays(crew: World) -> None:
    task_id = crew.task("w1")
    process = crew.start("w1")
    process.report("failed", "It broke.")
    crew.coordinator().exited(process.launch_id)
    crew.advance(181 * DAYS)
    part = retention.Part(Kind.TASKS, (task_id,), crew.project_id)
    crew.move(task_id, "todo")
    assert crew.dispatcher.in_passing(lambda call: operations.delete(call, part)) == {}
    assert crew.status(task_id) in ("todo", "in_progress")


@AGENTS
def test_a_round_is_hourly_and_bounded(crew: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from toryo.housekeeping import retention as chore_module

    monkeypatch.setattr(retention, "AT_ONCE", 1)
    monkeypatch.setattr(chore_module, "STEPS", 2)
    a_lot(crew)
    crew.advance(181 * DAYS)
    chore = Retention(crew.dispatcher)
    assert sum(chore.round(lambda _: False).values()) == 2
    while chore.round(lambda _: False):
        pass
    done(crew)
    crew.advance(59 * 60)
    crew.advance(0)
    assert chore.round(lambda _: False) == Counter()


@AGENTS
def test_an_upgraded_server_waits_before_it_deletes_anything(crew: World) -> None:
    done(crew)
    crew.advance(200 * DAYS)
    save(crew, begins_at=crew.now + 14 * DAY)
    assert prune(crew) == {}
    shown = crew.owner.call("show_retention")
    assert shown["begins_at"] is not None
    assert due(crew), "what will be deleted is told"
    crew.advance(15 * DAYS)
    assert prune(crew)["tasks"] == 1


@AGENTS
def test_a_clock_that_is_set_forward_deletes_nothing_for_two_weeks(crew: World) -> None:
    done(crew)
    prune(crew)
    before = crew.rows(schema.tasks, schema.events)
    crew.advance(365 * DAYS)
    assert prune(crew, away=True) == {}
    assert crew.rows(schema.tasks, schema.events) == before
    assert crew.owner.call("show_retention")["begins_at"] is not None
    crew.advance(13 * DAYS)
    assert prune(crew, away=True) == {}
    crew.advance(2 * DAYS)
    assert prune(crew, away=True)["tasks"] == 1, "the clock was right: no server ran for so long"


@AGENTS
def test_a_clock_that_is_set_back_again_stops_deletion_for_two_weeks_at_most(crew: World) -> None:
    done(crew)
    prune(crew)
    crew.advance(3650 * DAYS)
    prune(crew, away=True)
    crew.now -= 3470 * DAY
    assert prune(crew, away=True) == {}
    crew.advance(15 * DAYS)
    assert prune(crew, away=True)["tasks"] == 1


@AGENTS
def test_a_server_that_runs_all_the_time_never_waits(crew: World) -> None:
    done(crew)
    chore = Retention(crew.dispatcher)
    deleted: Counter[Kind] = Counter()
    for _ in range(14):
        crew.advance(13 * DAYS)
        deleted.update(chore.round(lambda _: False))
    assert deleted[Kind.TASKS] == 1


@AGENTS
def test_a_kind_that_cannot_be_deleted_does_not_stop_the_others(crew: World, monkeypatch: pytest.MonkeyPatch) -> None:
    a_lot(crew)
    crew.advance(181 * DAYS)
    monkeypatch.setattr(retention, "_DELETE_TASKS", Statement(sa.text("DELETE FROM nowhere")))
    deleted = prune(crew)
    assert "tasks" not in deleted
    assert min(deleted["launches"], deleted["events"]) > 0


@AGENTS
def test_a_round_ends_when_it_has_taken_long_and_the_next_one_goes_on(
    crew: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 1)
    a_lot(crew)
    crew.advance(181 * DAYS)
    chore = Retention(crew.dispatcher)

    def slow(_: float) -> bool:
        crew.now += 11 * SECOND
        return False

    assert sum(chore.round(slow).values()) >= 1
    left = count(crew, schema.tasks)
    assert left > 0
    while chore.round(slow):
        pass
    assert count(crew, schema.tasks) == 0


# --- by hand ---------------------------------------------------------------------------------------------------------


@AGENTS
def test_an_owner_prunes_step_by_step(crew: World) -> None:
    a_lot(crew)
    crew.advance(181 * DAYS)
    said, deleted = due(crew), Counter[str]()
    while (answer := crew.owner.call("prune"))["more"]:
        deleted.update(answer["deleted"])
    # Each step is told as an event, so the event that was the newest before is not the newest any more.
    assert deleted - Counter(said) in (Counter(), Counter({"events": 1}))
    assert not Counter(said) - deleted
    assert {each["actor_id"] for each in crew.events("database.pruned")} == {"owner"}
    assert answer["deleted"] == {}


@AGENTS
def test_only_an_owner_sees_and_prunes(crew: World) -> None:
    for login in ("member", "viewer"):
        person = crew.member(f"p-{login}", login)
        person.refused("show_retention", Code.PERMISSION_DENIED)
        person.refused("prune", Code.PERMISSION_DENIED)
    crew.nobody.refused("prune", Code.AUTHENTICATION_REQUIRED)
    crew.coordinator().refused("prune", Code.AUTHENTICATION_REQUIRED)


def test_without_automatic_only_an_owner_prunes(fresh: Database) -> None:
    world = world_of(fresh, automatic=False)
    done(world)
    world.advance(200 * DAYS)
    assert prune(world) == {}
    assert not world.owner.call("show_retention")["automatic"]
    while world.owner.call("prune")["more"]:
        pass
    assert count(world, schema.tasks) == 0


@pytest.mark.parametrize("value", [-1, 36_501, "soon", None])
def test_periods_that_make_no_sense_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="task_days"):
        Settings(retention={"task_days": value})


def test_every_table_has_a_period_another_chore_or_a_reason() -> None:
    pruned = {name for names in retention.TABLES.values() for name in names}
    by_reason = {*retention.KEPT, *retention.ELSEWHERE}
    assert not pruned & by_reason
    assert pruned | by_reason == set(schema.metadata.tables)


def test_foreign_keys_are_checked_by_an_index_when_what_they_refer_to_is_deleted() -> None:
    """Otherwise each deleted row would read a whole table."""
    deleted = {name for names in retention.TABLES.values() for name in names}
    for table in schema.metadata.sorted_tables:
        begins = {
            next(iter(index.columns)).name
            for index in table.indexes
            if index.dialect_options["sqlite"]["where"] is None
        }
        begins.add(next(iter(table.primary_key.columns)).name)
        for key_ in table.foreign_keys:
            if key_.column.table.name in deleted:
                assert key_.parent.name in begins, f"{table.name}.{key_.parent.name}"

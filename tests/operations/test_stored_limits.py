"""What API keys and agents' sessions may store, and how many open tasks keys may have: whatever operation they call."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import ValidationError

from tests.operations.samples import PATIENT, Cast, anything, cast, forms, properties, sample, texts
from tests.operations.test_queue import filed, key, poller
from tests.stories import Answer, Caller, World
from toryo.domain.errors import Code
from toryo.domain.times import HOUR
from toryo.housekeeping import stored_amounts
from toryo.operations.calls import fields, stored_limits
from toryo.operations.calls.catalogue import Operation, catalogue
from toryo.operations.calls.dispatch import Dispatcher
from toryo.operations.calls.fields import LONGEST_JSON
from toryo.operations.calls.full_holders import Full
from toryo.operations.calls.grants import KEYED, Door, Grant
from toryo.operations.calls.permissions import is_allowed
from toryo.storage import schema
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.stored_amounts import PROJECT, Due
from toryo.storage.transaction import Transaction

MANY, LONG = 40, 20_000
KEYS_MAY = 200_000
"""Bytes; MANY calls that store LONG each are four times as much, and more."""
GROWS = 3
"""How many times as much as it counts as may be there: a result is kept twice, and rows have columns beside texts."""
PACELESS = 100_000


def settings(**more: Any) -> Any:
    auth = PATIENT.auth.model_copy(update={"key_calls_per_minute": PACELESS})
    return PATIENT.model_copy(update={"auth": auth, **more})


def stored(world: World) -> int:
    """Bytes of all texts and rows in the database."""

    def work(connection: Connection) -> int:
        return sum(int(connection.value(each)) for each in _SIZES)

    return world.database.read(work)


def _size(table: sa.Table) -> Statement:
    size: Any = sa.literal(0)
    for column in table.c:
        if isinstance(column.type, sa.Text):
            size = size + sa.func.coalesce(sa.func.length(column), 0)
    return Statement(sa.select(sa.func.coalesce(sa.func.sum(size), 0)).select_from(table))


_SIZES = [_size(table) for table in schema.metadata.sorted_tables]
_EMPTIED = [
    Statement(sa.delete(schema.stored_amounts)),
    Statement(sa.update(schema.sessions).values(stored_bytes=sa.literal(0))),
]


def begin_again(world: World) -> None:
    """Nobody has stored anything, as far as is counted."""

    def work(connection: Connection) -> None:
        for each in _EMPTIED:
            connection.run(each)

    world.database.write(work)
    object.__setattr__(world.dispatcher.context, "full", Full())


def large(operation: Operation, cast: Cast, number: int, *, of_key: bool) -> Answer:
    """Arguments with as much in them as the declaration lets in, up to LONG; other ones for each number."""
    content = f"{number} " + "x" * LONG
    special = (OF_KEYS if of_key else OF_SESSIONS).get(operation.name)
    if special is not None:
        return special(cast, content)
    given = sample(operation, cast)
    for name in texts(operation):
        if name in cast.ids or name.endswith("_id"):
            continue
        most = min(form.get("maxLength", LONG) for form in forms(operation, properties(operation)[name]))
        given[name] = content[: min(most, LONG)]
    for name in anything(operation):
        given[name] = {"content": content}
    return given


_QUEUED = {"agent_type": "build", "task_description": "Build it"}
OF_KEYS: dict[str, Callable[[Cast, str], Answer]] = {
    "create_task": lambda _, content: {**_QUEUED, "context": content},
    "create_queue_tasks": lambda _, content: {"tasks": [{**_QUEUED, "context": content}]},
}
OF_SESSIONS: dict[str, Callable[[Cast, str], Answer]] = {
    "create_handoff": lambda cast, content: {"task_id": cast.ids["own_task_id"], "summary": content},
    "create_task": lambda _, content: {"title": content[:50], "description": content},
    "create_tasks_batch": lambda _, content: {
        "tasks": [{"local_id": "a", "title": content[:50], "description": content}],
        "intent": "new",
    },
    "ask_person": lambda _, content: {"question": content[:2_000]},
}
"""What the declarations alone do not say."""


def storing(world: World, cast: Cast, operation: Operation, caller: Caller) -> tuple[int, set[str]]:
    """By how much the database grows while one operation is called again and again, and the refusals' codes."""
    begin_again(world)
    before, codes = stored(world), set()
    for number in range(MANY):
        given = large(operation, cast, number, of_key=caller is cast.callers[Grant.QUEUE_AGENT])
        outcome = caller.ask(operation.name, **given)
        if outcome.refused:
            assert outcome.result is not None
            codes.add(outcome.result["error"])
    return stored(world) - before, codes


def of_keys() -> list[Operation]:
    return [each for each in catalogue().values() if each.grant in KEYED and not each.reads]


ENDS = {"logout", "report_completed", "submit_review", "report_execution_complete", "unregister_agent"}
"""They end what could call again."""


def of_sessions() -> list[Operation]:
    grants = {
        *(Grant.ANY_SESSION, Grant.TASK_SESSION, Grant.CHAT_SESSION, Grant.LEADING, Grant.MANAGER, Grant.FILER),
        Grant.SHARER,
    }
    return [each for each in catalogue().values() if each.grant in grants and not each.reads and each.name not in ENDS]


@pytest.fixture
def crowded(database: Database) -> World:
    return World(database, settings())


def limited(world: World, of_key: int) -> None:
    """From now on keys may store that much, sessions a thirty-second of it."""
    object.__setattr__(world.dispatcher.settings, "max_stored_bytes_per_key", of_key)


@pytest.mark.deep
@pytest.mark.parametrize("who", ["a key", "a session"])
def test_whatever_a_key_or_a_session_calls_again_and_again_it_stores_no_more_than_it_may(
    crowded: World, who: str
) -> None:
    there = cast(crowded)
    operations = of_keys() if who == "a key" else of_sessions()
    limited(crowded, KEYS_MAY if who == "a key" else 32 * KEYS_MAY)
    if who == "a key":
        there.ids["agent_id"] = "q1"
    refused = set()
    for operation in operations:
        caller = there.callers[Grant.QUEUE_AGENT] if who == "a key" else there.caller(operation)
        grown, codes = storing(crowded, there, operation, caller)
        assert grown <= GROWS * KEYS_MAY, f"{operation.name} has stored {grown:,} bytes"
        if Code.LIMIT_REACHED in codes:
            refused.add(operation.name)
    common = {"create_task", "create_queue_tasks", "set_shared_state"}
    assert refused >= (common if who == "a key" else {"save_progress", "create_handoff", "set_shared_state"})


def test_an_operation_that_is_not_counted_is_found(crowded: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the test above would say of one that is planted."""
    there = cast(crowded)
    planted = replace(catalogue()["save_progress"], counted=False)
    monkeypatch.setitem(catalogue(), "save_progress", planted)
    limited(crowded, 32 * KEYS_MAY)
    grown, codes = storing(crowded, there, planted, there.caller(planted))
    assert grown > GROWS * KEYS_MAY
    assert Code.LIMIT_REACHED not in codes


def test_every_operation_that_is_not_counted_says_so_for_a_reason() -> None:
    """Polls: what a claim stores is a fixed amount for a task, which was counted."""
    assert {each.name for each in catalogue().values() if not each.counted} == {"poll_tasks"}


@pytest.fixture
def world(database: Database) -> World:
    return World(database, settings(max_stored_bytes_per_key=KEYS_MAY, max_open_tasks_per_key=5))


@pytest.mark.both
def test_a_key_that_has_stored_what_it_may_is_told_which_limit_and_who_can_raise_it(world: World) -> None:
    world.project()
    object.__setattr__(world.dispatcher.settings, "max_open_tasks_per_key", 0)
    chief = key(world, "chief", orchestrator=True)
    asked = {"agent_type": "planning", "task_description": "Plan", "context": "x" * 50_000}
    for _ in range(3):
        chief.call("create_task", **asked)
    refusal = chief.refused("create_task", Code.LIMIT_REACHED, **asked)
    assert refusal["limit"] == KEYS_MAY
    assert refusal["setting"] == "TORYO_MAX_STORED_BYTES_PER_KEY"
    assert "TORYO_MAX_STORED_BYTES_PER_KEY" in refusal["instruction"]
    world.restart()  # what is counted is in the database
    object.__setattr__(world.dispatcher.settings, "max_open_tasks_per_key", 0)
    chief.refused("create_task", Code.LIMIT_REACHED, **asked)
    key(world, "other", orchestrator=True).call("create_task", **asked)


def test_who_has_stored_what_it_may_still_polls_and_submits_small_results(world: World) -> None:
    world.project()
    agent, chief = poller(world), key(world, "chief", orchestrator=True)
    tasks = [filed(chief) for _ in range(4)]
    for _ in tasks:
        agent.call("poll_tasks", agent_id="planner-1")
    for task in tasks[:3]:
        agent.call("submit_result", task_id=task, status="completed", result="x" * 60_000)
    agent.refused("submit_result", Code.LIMIT_REACHED, task_id=tasks[3], status="completed", result="x" * 60_000)
    agent.call("submit_result", task_id=tasks[3], status="failed", error="There is no room for the result.")


@pytest.mark.both
def test_a_key_has_no_more_open_tasks_than_it_may_and_creates_others_once_some_are_completed(world: World) -> None:
    world.project()
    agent, chief = poller(world), key(world, "chief", orchestrator=True)
    tasks = [filed(chief) for _ in range(5)]
    asked = {"agent_type": "planning", "task_description": "Plan"}
    refusal = chief.refused("create_task", Code.LIMIT_REACHED, **asked)
    assert (refusal["open_tasks"], refusal["limit"]) == (5, 5)
    assert "TORYO_MAX_OPEN_TASKS_PER_KEY" in refusal["instruction"]
    chief.refused("create_queue_tasks", Code.LIMIT_REACHED, tasks=[asked])
    agent.call("poll_tasks", agent_id="planner-1")
    agent.call("submit_result", task_id=tasks[0], status="completed")
    filed(chief)
    chief.refused("create_task", Code.LIMIT_REACHED, **asked)


@pytest.mark.both
def test_calls_at_the_same_time_on_two_servers_store_no_more_than_calls_one_after_the_other(world: World) -> None:
    world.project()
    object.__setattr__(world.dispatcher.settings, "max_open_tasks_per_key", 0)
    chief = key(world, "chief", orchestrator=True)
    mine = world.dispatcher
    other = Dispatcher(world.database, mine.settings, mine.clock, mine.context.entropy, mine.publish)
    asked = {"agent_type": "planning", "task_description": "Plan", "context": "x" * 50_000}

    def create(number: int) -> bool:
        server = (mine, other)[number % 2]
        return not server.perform("create_task", dict(asked), chief.credentials, door=Door.MCP).refused

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(create, range(8))) == 3


@pytest.mark.both
def test_what_was_deleted_makes_room_again(world: World) -> None:
    world.project()
    chief = key(world, "chief", orchestrator=True)
    asked = {"agent_type": "planning", "task_description": "Plan", "context": "x" * 60_000}
    tasks = [chief.call("create_task", **asked)["task_id"] for _ in range(3)]
    chief.refused("create_task", Code.LIMIT_REACHED, **asked)
    world.database.write(lambda connection: connection.run(_SHORTENED, id=tasks[0]))  # in place of a period of 30 days
    world.now += HOUR
    assert stored_amounts.measure(world.dispatcher) == 1
    assert stored_amounts.measure(world.dispatcher) == 0  # before the next hour
    chief.call("create_task", **asked)
    chief.refused("create_task", Code.LIMIT_REACHED, **asked)


_SHORTENED = Statement(sa.update(schema.tasks).where(schema.tasks.c.id == sa.bindparam("id")).values(context=None))


def test_what_was_counted_is_never_less_than_what_is_there(world: World) -> None:
    """For one whole story of a queue; else a measurement would make room that is none."""
    world.project()
    object.__setattr__(world.dispatcher.settings, "max_open_tasks_per_key", 0)
    agent, chief = poller(world), key(world, "chief", orchestrator=True)
    for number in range(10):
        task = filed(chief, "Plan it", context={"data": "x" * 1_000 * number})
        agent.call("poll_tasks", agent_id="planner-1")
        agent.call("submit_result", task_id=task, status="completed", result="x" * 1_000 * number)
    chief.call("set_shared_state", key="plan", value="x" * 5_000)

    def work(connection: Connection) -> dict[str, tuple[int, int]]:
        tx = Transaction(connection)
        holders = ("chief", "planner-1", PROJECT)
        counted = tx.stored_amounts.of([(world.project_id, each) for each in holders])
        return {
            each: (
                counted[world.project_id, each].bytes,
                tx.measured_bytes(Due(world.project_id, each, 0)),
            )
            for each in holders
        }

    for counted, measured in world.database.read(work).values():
        assert counted <= GROWS * measured
        assert measured <= GROWS * counted


def test_a_project_bounds_all_its_keys_together(world: World) -> None:
    world.project()
    object.__setattr__(world.dispatcher.settings, "max_open_tasks_per_key", 0)
    asked = {"agent_type": "planning", "task_description": "Plan", "context": "x" * 60_000}
    outcomes = [key(world, f"chief{number}", orchestrator=True).ask("create_task", **asked) for number in range(15)]
    made = sum(not each.refused for each in outcomes)
    assert made == stored_limits.OF_PROJECT * KEYS_MAY // 60_500
    assert "this project" in (outcomes[-1].result or {})["message"]


@pytest.mark.parametrize("name", ["create_task", "submit_result", "create_handoff", "set_shared_state"])
def test_json_that_is_too_long_is_refused_wherever_json_is_taken(world: World, name: str) -> None:
    world.project()
    given = {
        "create_task": {"agent_type": "planning", "task_description": "Plan", "context": "x" * LONGEST_JSON},
        "submit_result": {"task_id": "tsk_1", "status": "completed", "result": "x" * LONGEST_JSON},
        "create_handoff": {"task_id": "tsk_1", "summary": "x" * 200_000},
        "set_shared_state": {"key": "k", "value": "x" * LONGEST_JSON},
    }[name]
    refusal = key(world, "chief", orchestrator=True).ask(name, **given).result or {}
    assert name == "create_handoff" or refusal["error"] == Code.TOO_LARGE


def test_a_command_that_no_program_could_be_started_with_is_refused_wherever_a_context_is_taken() -> None:
    """A program takes at most 128 kB in one argument: the start would fail, long after."""
    takers = [each.parameters for each in catalogue().values() if "context" in each.parameters.model_fields]
    takers = [each for each in takers if fields.any_json(each.model_fields["context"])]
    assert len(takers) > 8
    for command in ("x" * 100_001, ["echo", "あ" * 40_000]):
        for each in takers:
            with pytest.raises(ValidationError) as refused:
                each.model_validate({"context": {"command": command}})
            assert "command_too_long" in [error["type"] for error in refused.value.errors()], each
    with pytest.raises(ValidationError) as others:
        takers[0].model_validate({"context": {"command": "x" * 100_000}})
    assert "command_too_long" not in [error["type"] for error in others.value.errors()]


def test_a_limit_of_nothing_is_none(world: World) -> None:
    world.project()
    for name in ("max_stored_bytes_per_key", "max_open_tasks_per_key"):
        object.__setattr__(world.dispatcher.settings, name, 0)
    chief = key(world, "chief", orchestrator=True)
    for _ in range(6):
        chief.call("create_task", agent_type="planning", task_description="Plan", context="x" * 60_000)


def test_reading_and_people_are_not_counted(world: World) -> None:
    nobody = [each for each in catalogue().values() if each.reads or each.grant in (Grant.PERSON, Grant.OWNER)]
    world.project()
    caller = key(world, "chief", orchestrator=True)
    assert not any(stored_limits.counts(each, _key_caller(world, caller)) for each in nobody if each.reads)
    assert all(not is_allowed(each, _key_caller(world, caller)) for each in nobody if each.grant is Grant.OWNER)


def _key_caller(world: World, caller: Caller) -> Any:
    from toryo.operations.calls.credential_verification import identify

    return world.database.read(lambda connection: identify(Transaction(connection), caller.credentials, world.now))

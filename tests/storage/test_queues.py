"""Keys, presences, claims and ready queue tasks on both databases: as they were, in their order, by their index."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import fields, replace
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa

from tests.storage.makers import NOW, Store, project, task
from tests.storage.test_talk_plans import plan
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.queue import ApiKey, Claim, Entry, Presence, ended, renewed
from toryo.domain.tasks import Approval, Details, Priority, Status, Task
from toryo.domain.times import HOUR, MINUTE, SECOND
from toryo.storage import poll_order, queues, schema
from toryo.storage.engine.database import Database
from toryo.storage.engine.statements import Statement
from toryo.storage.errors import ConstraintBroken
from toryo.storage.measures import measures
from toryo.storage.transaction import Transaction

pytestmark = pytest.mark.both

KEY = ApiKey("key_1", "prj_1", "a name", None, ("planning", "設計"), True, ("poll_tasks",), "owner", NOW)
PRESENCE = Presence("w1", "prj_1", "planning", ("python", "日本語"), NOW, NOW + 1, NOW + 2, None)


def claim(task_id: str, attempt: int = 1, **more: Any) -> Claim:
    return Claim(task_id, attempt, "prj_1", "w1", NOW, NOW + HOUR, HOUR, **more)


def queued(task_id: str, **more: Any) -> Task:
    return task(task_id, **{"agent_type": "planning", **more})


def ready(store: Store, limit: int = 100, now: int = NOW, agent_type: str = "planning") -> list[str]:
    found = store.read(lambda tx: tx.queues.ready("prj_1", agent_type, now, limit))
    return [each.id for each in found]


@pytest.mark.parametrize(
    ("rows", "table"),
    [
        (queues.KEYS, schema.api_keys),
        (queues.PRESENCES, schema.presences),
        (queues.CLAIMS, schema.claims),
        (queues.ENTRIES, schema.shared_entries),
    ],
)
def test_every_field_of_a_noun_is_a_column_of_its_name(rows: Any, table: Any) -> None:
    assert {field.name for field in fields(rows.noun)} <= {column.name for column in table.columns}


# --- keys, presences, claims, values ---------------------------------------------------------------------------------


def test_a_key_comes_back_as_it_was_and_is_found_by_its_hash(store: Store) -> None:
    bare = ApiKey("key_2", "prj_1", "x", "w2", (), False, (), "owner", NOW + 1)
    store.each(lambda tx: tx.queues.add_key(KEY, "hash-1"), lambda tx: tx.queues.add_key(bare, "hash-2"))
    assert store.read(lambda tx: tx.queues.key_by_hash("hash-1")) == KEY
    assert store.read(lambda tx: tx.queues.key("key_2")) == bare
    assert store.read(lambda tx: tx.queues.keys("prj_1")) == [KEY, bare]
    assert store.read(lambda tx: tx.queues.key_by_hash("hash-3")) is None
    bound = replace(KEY, agent_id="w1", revoked_at=NOW + 5)
    store.write(lambda tx: tx.queues.save_key(KEY, bound))
    assert store.read(lambda tx: tx.queues.key("key_1")) == bound
    assert store.read(lambda tx: tx.queues.keys_of("w2")) == [bare]
    assert store.read(lambda tx: tx.queues.keys_of("w1")) == []  # revoked
    with pytest.raises(ConstraintBroken):
        store.write(lambda tx: tx.queues.add_key(replace(bare, id="key_3"), "hash-2"))


def test_a_presence_comes_back_as_it_was_and_is_one_row_per_agent(store: Store) -> None:
    gone = replace(PRESENCE, agent_type="building", capabilities=(), heartbeat_at=None, offline_at=NOW + 9)
    store.write(lambda tx: tx.queues.save_presence(PRESENCE))
    assert store.read(lambda tx: tx.queues.presence("w1")) == PRESENCE
    assert online(store) == ({"w1"}, {"planning"})
    assert store.read(lambda tx: tx.queues.all_online()) == [PRESENCE]
    store.write(lambda tx: tx.queues.save_presence(gone))
    assert store.read(lambda tx: tx.queues.presences("prj_1")) == [gone]
    assert online(store) == (set(), set())
    assert store.read(lambda tx: tx.queues.all_online()) == []
    store.add_tasks(queued("tsk_1"))
    store.write(lambda tx: tx.queues.add_claim(claim("tsk_1")))
    assert online(store) == ({"w1"}, {"building"})  # it works, in silence


def polled(queue: str, tx: Transaction) -> bool:
    return tx.queues.is_polled("prj_1", queue)


def online(store: Store) -> tuple[AbstractSet[str], AbstractSet[str]]:
    """Which agents are online, and the queues that they poll."""
    agents, queues = store.read(lambda tx: (tx.queues.online("prj_1", ["w1", "w2"]), tx.queues.polled("prj_1")))
    for each in ("planning", "building"):
        assert store.read(partial(polled, each)) is (each in queues)
    assert store.read(lambda tx: tx.queues.online("prj_1", ["w2"])) == frozenset()
    return agents, queues


def test_a_claim_comes_back_as_it_was_and_a_task_has_one_live_one(store: Store) -> None:
    store.add_tasks(queued("tsk_1"))
    first = claim("tsk_1", launch_id="lch_1")
    store.write(lambda tx: tx.queues.add_claim(first))
    assert store.read(lambda tx: tx.queues.live_claim("tsk_1")) == first
    with pytest.raises(ConstraintBroken):
        store.write(lambda tx: tx.queues.add_claim(claim("tsk_1", 2)))
    over = ended(first, "submitted", NOW + 1, {"result": [None, "深い"]})
    store.each(lambda tx: tx.queues.save_claim(over), lambda tx: tx.queues.add_claim(claim("tsk_1", 2)))
    assert store.read(lambda tx: tx.queues.claim("tsk_1", 1)) == over
    assert store.read(lambda tx: tx.queues.claims_of_task("tsk_1")) == [over, claim("tsk_1", 2)]
    assert store.read(lambda tx: tx.queues.claims_of("w1")) == [claim("tsk_1", 2)]
    store.write(lambda tx: tx.queues.delete_claim(claim("tsk_1", 2)))
    assert store.read(lambda tx: tx.queues.live_claim("tsk_1")) is None


def test_claims_run_out_in_their_order_and_not_before(store: Store) -> None:
    store.add_tasks(queued("tsk_1"), queued("tsk_2"), queued("tsk_3"))
    late, early = claim("tsk_1"), replace(claim("tsk_2"), expires_at=NOW + MINUTE)
    over = ended(replace(claim("tsk_3"), expires_at=NOW), "lost", NOW)
    store.each(*[lambda tx, each=each: tx.queues.add_claim(each) for each in (late, early, over)])
    assert store.read(lambda tx: tx.queues.expired_claims(["prj_1"], NOW + MINUTE - 1)) == []
    assert store.read(lambda tx: tx.queues.expired_claims(["prj_1"], NOW + HOUR)) == [early, late]
    assert store.read(lambda tx: tx.queues.expired_claims(["prj_2"], NOW + HOUR)) == []
    store.write(lambda tx: tx.queues.save_claim(renewed(early, NOW + HOUR)))
    assert store.read(lambda tx: tx.queues.expired_claims(["prj_1"], NOW + HOUR)) == [late]


def test_a_shared_value_comes_back_as_it_was_null_too(store: Store) -> None:
    entry = Entry("prj_1", "k", None, 3, NOW, "w1", NOW + HOUR)
    store.write(lambda tx: tx.queues.save_entry(entry))
    assert store.read(lambda tx: tx.queues.entry("prj_1", "k")) == entry
    store.write(lambda tx: tx.queues.save_entry(replace(entry, value={"a": [1]}, version=4)))
    assert store.read(lambda tx: tx.queues.entries("prj_1")) == [replace(entry, value={"a": [1]}, version=4)]


# --- ready tasks -----------------------------------------------------------------------------------------------------


def test_ready_tasks_come_by_priority_and_then_by_age(store: Store) -> None:
    store.add_tasks(
        queued("tsk_old", created_at=NOW),
        queued("tsk_new", created_at=NOW + 2),
        queued("tsk_low", priority=Priority.LOW, created_at=NOW - 9),
        queued("tsk_urgent", priority=Priority.CRITICAL, created_at=NOW + 9),
        queued("tsk_second", created_at=NOW + 1, ordinal=1),
        queued("tsk_first", created_at=NOW + 1, ordinal=0),
    )
    order = ["tsk_urgent", "tsk_old", "tsk_first", "tsk_second", "tsk_new", "tsk_low"]
    assert ready(store) == order
    assert ready(store, 2) == order[:2]


def test_only_what_may_be_claimed_now_is_ready(store: Store) -> None:
    closed = task("tsk_closed", status=Status.CANCELLED)
    store.add_tasks(
        closed,
        queued("tsk_ready"),
        queued("tsk_other_queue", agent_type="building"),
        queued("tsk_no_queue", agent_type=None),
        queued("tsk_unapproved", approval=Approval.PENDING),
        queued("tsk_resting", not_before=NOW + SECOND),
        queued("tsk_rested", not_before=NOW),
        task("tsk_below", closed, agent_type="planning"),
        queued("tsk_waiting"),
        *[queued(f"tsk_{each}", status=each) for each in Status if each is not Status.TODO],
    )
    store.write(lambda tx: tx.tasks.connect(queued("tsk_waiting"), ["tsk_ready"]))
    assert ready(store) == ["tsk_ready", "tsk_rested"]
    assert ready(store, now=NOW + SECOND) == ["tsk_ready", "tsk_rested", "tsk_resting"]
    assert store.read(lambda tx: tx.queues.next_retries([("prj_1", "planning")], NOW)) == {
        ("prj_1", "planning"): NOW + SECOND
    }
    assert store.read(lambda tx: tx.queues.next_retries([("prj_1", "planning")], NOW + SECOND)) == {}
    types = store.read(lambda tx: tx.queues.ready_types(NOW))
    assert sorted(types) == [("prj_1", "building", NOW), ("prj_1", "planning", NOW)]


def test_what_waits_is_ready_when_all_it_waits_for_is_completed(store: Store) -> None:
    one, two = queued("tsk_1", status=Status.COMPLETED), queued("tsk_2", status=Status.IN_PROGRESS)
    store.add_tasks(one, two, queued("tsk_3"))
    store.write(lambda tx: tx.tasks.connect(queued("tsk_3"), ["tsk_1", "tsk_2"]))
    assert ready(store) == []
    store.write(lambda tx: tx.tasks.save(two, replace(two, status=Status.COMPLETED)))
    assert ready(store) == ["tsk_3"]


def test_dead_letters_are_queue_tasks_that_failed_the_newest_first(store: Store) -> None:
    store.add_tasks(
        queued("tsk_1", status=Status.FAILED, completed_at=NOW),
        queued("tsk_2", status=Status.FAILED, completed_at=NOW + 1),
        queued("tsk_3", status=Status.CANCELLED, completed_at=NOW + 2),
        task("tsk_4", status=Status.FAILED, completed_at=NOW + 3),
    )
    assert [each.id for each in store.read(lambda tx: tx.queues.dead("prj_1", 10))] == ["tsk_2", "tsk_1"]


def test_what_waits_in_queues_and_who_holds_what_is_counted(store: Store) -> None:
    store.add_tasks(queued("tsk_1"), queued("tsk_2"), queued("tsk_3", agent_type="building"))
    store.write(lambda tx: tx.queues.add_claim(claim("tsk_1")))
    found = {(measure.name, *measure.labels.values()): measure.value for measure in store.database.read(measures)}
    assert found["queued_tasks", "prj_1", "planning"] == 2
    assert found["queued_tasks", "prj_1", "building"] == 1
    assert found["claims", "prj_1"] == 1


# --- plans -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def full(store: Store) -> Database:
    """A queue of a few among thousands of tasks that are over or belong to other projects and queues."""

    def work(tx: Transaction) -> None:
        tx.projects.add(project("prj_2", status=ProjectStatus.ACTIVE))
        for number in range(3_000):
            status = Status.TODO if number % 3 == 0 else Status.COMPLETED
            to = {"project_id": "prj_2" if number % 2 else "prj_1", "agent_type": f"type {number % 40}"}
            tx.tasks.add(queued(f"tsk_{number}", status=status, created_at=NOW + number, **to), Details())

    store.write(work)
    if store.database.read(lambda connection: connection.dialect) == "postgresql":
        store.database.write(lambda connection: connection.run(Statement(sa.text("ANALYZE tasks"))))
    return store.database


def test_what_is_ready_is_read_by_the_index_of_queues(full: Database) -> None:
    for statement in (poll_order.READY, poll_order.READY_WHOLE, poll_order.NEXT_RETRIES, poll_order.READY_TYPES):
        said = " ".join(plan(full, statement))
        assert "tasks_queued" in said, said


_UNKNOWN = (
    "UPDATE pg_class SET reltuples = -1, relpages = 0 "
    "WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'i')"
)


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("_LIVE", "claims_live"),
        ("_OF_AGENT", "claims_of_agent"),
        ("_BY_HASH", "api_keys"),
        ("_POLLED", "presences_project"),
        ("_IS_POLLED", "presences_project"),
        ("_ENTRY", "shared_entries"),
    ],
)
def test_what_every_call_asks_is_read_by_an_index(database: Database, name: str, index: str) -> None:
    if (
        database.read(lambda connection: connection.dialect) == "postgresql"
    ):  # where it knows that there are none, any is as good
        database.write(lambda connection: connection.run(Statement(sa.text(_UNKNOWN))))
    said = " ".join(plan(database, getattr(queues, name)))
    assert re.search(rf"(?:SEARCH|Index).*{index}", said), said
    assert not re.search(r"\bSCAN |Seq Scan", said), said

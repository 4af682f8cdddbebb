"""What was used, as rows: summed exactly by the databases, by an index, however many launches there were."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import pytest
import sqlalchemy as sa

from tests.storage.makers import NOW, Store, launch, project
from toryo.domain.launches import State
from toryo.domain.times import DAY
from toryo.domain.usages import Spent, Usage, date_of, day_of
from toryo.storage import usages
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.launches import _LOGS_OF_OLD
from toryo.storage.transaction import Transaction
from toryo.storage.usages import Wanted

pytestmark = pytest.mark.both

TODAY = day_of(NOW)
SPENT = Usage(100, 40, 10, 0.5, 3, 7, "m1")


def spend(launch_id: str, usage: Usage = SPENT, **more: Any) -> Callable[[Transaction], None]:
    def work(tx: Transaction) -> None:
        one = launch(launch_id, **{"state": State.EXITED, "ordered_at": NOW, "fence": int(launch_id[4:]), **more})
        assert tx.launches.add(one, launch_id)
        tx.usages.put(one, usage, NOW)

    return work


def test_what_was_used_comes_back_as_it_was_and_only_once(store: Store):
    store.write(spend("lau_1"))
    assert store.read(lambda tx: tx.usages.of_launch("lau_1")) == SPENT
    assert store.read(lambda tx: tx.usages.of_launch("lau_2")) is None
    later = replace(SPENT, cost_usd=None, model=None, lower_bound=True, output_tokens=11)
    store.write(lambda tx: tx.usages.put(launch("lau_1", model="started-with"), later, NOW + 1))
    assert store.read(lambda tx: tx.usages.of_launch("lau_1")) == replace(later, model="started-with")


def test_sums_are_whole_numbers_on_every_database_and_do_not_overflow(store: Store):
    huge = Usage(input_tokens=10**12)
    for number in range(20):
        store.write(spend(f"lau_{number}", huge))
    (found,) = store.read(lambda tx: tx.usages.sums((), Wanted(["prj_1"]), 1))
    assert found["input_tokens"] == 20 * 10**12
    assert {name: type(each) for name, each in found.items() if name != "cost_usd"} == dict.fromkeys(
        set(usages.SUMS) - {"cost_usd"}, int
    )
    assert found["cost_usd"] is None


@pytest.mark.parametrize("by", get_args(usages.Group))
def test_sums_can_be_made_by_each_column(store: Store, by: usages.Group):
    store.write(spend("lau_1"))
    store.write(spend("lau_2", agent_id="w2"))
    (found, *more) = store.read(lambda tx: tx.usages.sums((by,), Wanted(["prj_1"]), 10))
    assert len(more) == (by in ("agent_id", "launch_id"))
    assert found[by] == {"day": date_of(TODAY).isoformat(), "project_id": "prj_1"}.get(by, found[by])
    assert sum(each["output_tokens"] for each in (found, *more)) == 20


def test_no_more_rows_are_loaded_than_are_asked_for(store: Store):
    for number in range(5):
        store.write(spend(f"lau_{number}"))
    assert len(store.read(lambda tx: tx.usages.sums(("launch_id",), Wanted(["prj_1"]), 3))) == 3


def test_what_a_day_has_used_is_of_that_day_and_project(store: Store):
    store.write(lambda tx: tx.projects.add(project("prj_2")))
    store.write(spend("lau_1"))
    store.write(spend("lau_2", ordered_at=NOW + DAY, agent_id="w2"))
    store.write(spend("lau_3", replace(SPENT, cost_usd=None), agent_id="w1"))
    store.write(spend("lau_4", project_id="prj_2"))
    tokens = SPENT.input_tokens + SPENT.output_tokens
    assert store.read(lambda tx: tx.usages.spent_by("prj_1", TODAY)) == Spent(2 * tokens, 0.5)
    assert store.read(lambda tx: tx.usages.spent_by("prj_1", TODAY + 2)) == Spent()
    both = store.read(lambda tx: tx.usages.spent(["prj_1", "prj_2", "prj_3"], TODAY))
    assert both == {"prj_1": Spent(2 * tokens, 0.5), "prj_2": Spent(tokens, 0.5)}
    assert store.read(lambda tx: tx.usages.spent([], TODAY)) == {}


READS = {
    "of_launch": (usages._ONE, "usages_pkey|sqlite_autoindex_usages"),
    "spent": (usages._SPENT_BY_PROJECT, "usages_sums"),
    "last_of_day": (usages._LAST_OF_DAY, "usages_sums"),
    "of_days": (usages._summing(("day", "agent_id"), ("projects", "since_day", "until_day")), "usages_sums"),
    "of_everything": (usages._summing(("day",), ("projects",)), "usages_sums"),
    "of_agent": (usages._summing(("day",), ("projects", "agent_id", "since_day")), "usages_agent|usages_sums"),
    "of_task": (usages._summing((), ("projects", "tasks")), "usages_task|usages_sums"),
    "old_logs": (_LOGS_OF_OLD, "logs_pkey|sqlite_autoindex_logs"),
}


VALUES: dict[str, Any] = {
    **dict.fromkeys(("day", "since_day", "until_day", "most"), 1),
    "projects": ["x"],
    "tasks": ["x"],
}


def plan(connection: Connection, statement: Statement) -> list[str]:
    """The lines of the plan; of PostgreSQL for tables that are not empty."""
    sqlite = connection.dialect == "sqlite"
    text = statement.sqlite.text if sqlite else re.sub(r"%\((\w+)\)s", r":\1 ", statement.postgresql.text)
    values = {each: VALUES.get(each, "x") for each in re.findall(r"(?<!:):(\w+)", text)}
    if sqlite:
        values = {name: json.dumps(each) if isinstance(each, list) else each for name, each in values.items()}
        return [row[3] for row in connection.all(Statement(sa.text(f"EXPLAIN QUERY PLAN {text}")), **values)]
    connection.run(Statement(sa.text("SET LOCAL enable_seqscan = off")))
    return [row[0] for row in connection.all(Statement(sa.text(f"EXPLAIN {text}")), **values)]


@pytest.mark.parametrize("name", READS)
def test_what_was_used_is_read_by_an_index(database: Database, name: str):
    statement, index = READS[name]
    said = database.write(lambda connection: plan(connection, statement))
    whole = [
        each
        for each in said
        if "Seq Scan" in each or ("SCAN" in each and "json_each" not in each and each != "SCAN both")
    ]
    assert not whole, said
    assert any(one in each for one in index.split("|") for each in said), said

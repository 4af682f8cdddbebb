"""The same statement, the same answer: what Core statements do on both databases, and the text they become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.storage.tables import ITEM_IDS, NEW_COUNTER, NEW_ITEM, counters, items, number
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement, in_list, insert_or_ignore, literal, offered, upsert
from toryo.storage.errors import ConstraintBroken, Duplicate, MisusedDatabase, Unstorable

pytestmark = pytest.mark.both

FULL = ["id", "counter", "status", "place", "size", "weight", "ready", "body"]
INSERT_FULL = Statement(sa.insert(items), columns=FULL)
SELECT_FULL = Statement(sa.select(*(items.c[name] for name in FULL)).where(items.c.id == sa.bindparam("id")))
BLANK: dict[str, Any] = dict.fromkeys(FULL)

COUNT_UP = upsert(counters, ["name", "number"], ["name"], {"number": counters.c.number + offered(counters).number})


def test_constants_stand_in_the_text_and_bindparams_stay_parameters() -> None:
    statement = Statement(
        sa.select(items.c.id).where(
            items.c.status == "it's 100%", items.c.size.in_([1, 2]), items.c.id == sa.bindparam("id")
        )
    )
    assert "status = 'it''s 100%'" in statement.sqlite.text
    assert "status = 'it''s 100%%'" in statement.postgresql.text
    assert "size IN (1, 2)" in statement.sqlite.text
    assert ":id" in statement.sqlite.text
    assert "%(id)s" in statement.postgresql.text
    assert statement.sqlite.plain
    assert statement.postgresql.plain


def test_a_statement_is_compiled_once() -> None:
    statement = Statement(sa.select(items.c.id))
    assert statement.sqlite is statement.sqlite
    assert statement.postgresql is statement.postgresql


def test_an_insert_names_the_given_columns_or_all() -> None:
    assert Statement(sa.insert(counters)).sqlite.text == "INSERT INTO counters (name, number) VALUES (:name, :number)"
    assert NEW_ITEM.sqlite.text == "INSERT INTO items (id) VALUES (:id)"
    assert "RETURNING" not in NEW_ITEM.postgresql.text


def test_row_locks_are_asked_for_where_there_are_some() -> None:
    statement = Statement(sa.select(items.c.id).with_for_update(skip_locked=True))
    assert "FOR UPDATE SKIP LOCKED" in statement.postgresql.text
    assert "FOR UPDATE" not in statement.sqlite.text


def test_a_statement_may_differ_on_postgresql() -> None:
    statement = Statement(sa.text("SELECT 1"), postgresql=sa.text("SELECT 2"))
    assert (statement.sqlite.text, statement.postgresql.text) == ("SELECT 1", "SELECT 2")


@pytest.mark.parametrize("condition", [items.c.status == "live", items.c.status == literal("live")])
def test_sqlite_uses_a_partial_index_for_a_constant(sqlite_engine: Database, condition: Any) -> None:
    wanted = Statement(sa.select(items.c.id).where(condition, items.c.place == sa.bindparam("place")))
    explain = Statement(sa.text(f"EXPLAIN QUERY PLAN {wanted.sqlite.text}"))
    plan = sqlite_engine.read(lambda c: c.all(explain, place="desk"))
    assert "items_one_live_at_a_place" in plan[0][-1]


def test_sqlite_uses_an_index_for_a_list(sqlite_engine: Database) -> None:
    wanted = Statement(sa.select(items.c.size).where(in_list(items.c.id, "ids")))
    explain = Statement(sa.text(f"EXPLAIN QUERY PLAN {wanted.sqlite.text}"))
    plan = sqlite_engine.read(lambda c: c.all(explain, ids='["a"]'))
    assert plan[0][-1].startswith("SEARCH items USING INDEX")


ROWS: list[dict[str, Any]] = [
    {**BLANK, "id": "empty", "status": "todo"},
    {
        **BLANK,
        "id": "full",
        "status": "x",
        "place": "",
        "size": 2**63 - 1,
        "weight": 0.1,
        "ready": True,
        "body": b"\0\xff",
    },
    {
        **BLANK,
        "id": "other",
        "status": "ünï 🚀 'q' \"d\" \\ %s :x",
        "size": -(2**63),
        "weight": -1.5,
        "ready": False,
        "body": b"",
    },
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_every_kind_of_value_comes_back_as_it_went(engine: Database, row: dict[str, Any]) -> None:
    engine.write(lambda c: c.run(INSERT_FULL, **row))
    found = engine.read(lambda c: c.one(SELECT_FULL, id=row["id"]))
    assert found == tuple(row[name] for name in FULL)
    assert [type(each) for each in found or ()] == [type(row[name]) for name in FULL]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_any_text_comes_back_as_parameter_and_as_constant(engine: Database, text: str) -> None:
    echo = Statement(sa.select(sa.cast(sa.bindparam("text"), sa.Text), literal(text)))
    assert engine.read(lambda c: c.one(echo, text=text)) == (text, text)


@pytest.mark.parametrize(
    "row", [{"id": "half a pair \ud800"}, {"id": "long", "size": 2**63}], ids=["half a surrogate pair", "65 bits"]
)
def test_a_value_that_no_column_takes_is_refused_by_name(engine: Database, row: dict[str, Any]) -> None:
    with pytest.raises(Unstorable):
        engine.write(lambda c: c.run(INSERT_FULL, **{**BLANK, "status": "todo", **row}))
    assert engine.write(lambda c: c.all(ITEM_IDS)) == []


def test_rows_are_plain_tuples(engine: Database) -> None:
    rows = engine.write(lambda c: (c.run(NEW_ITEM, id="a"), c.all(ITEM_IDS))[1])
    assert rows == [("a",)]
    assert type(rows[0]) is tuple


def test_one_answers_the_first_row_or_none_and_value_its_first_column(engine: Database) -> None:
    engine.write(lambda c: c.many(NEW_ITEM, [{"id": "b"}, {"id": "a"}]))
    assert engine.read(lambda c: c.one(ITEM_IDS)) == ("a",)
    assert engine.read(lambda c: c.value(ITEM_IDS)) == "a"
    assert engine.read(lambda c: c.one(SELECT_FULL, id="nobody")) is None
    assert engine.read(lambda c: c.value(SELECT_FULL, id="nobody")) is None


def test_run_answers_how_many_rows_changed(engine: Database) -> None:
    finish = Statement(sa.update(items).values(status="done").where(items.c.status == "todo"))
    remove = Statement(sa.delete(items).where(items.c.status == "done"))
    engine.write(lambda c: c.many(NEW_ITEM, [{"id": str(each)} for each in range(5)]))
    assert engine.write(lambda c: c.run(finish)) == 5
    assert engine.write(lambda c: c.run(finish)) == 0
    assert engine.write(lambda c: c.run(remove)) == 5


def test_many_takes_none_too(engine: Database) -> None:
    engine.write(lambda c: c.many(NEW_ITEM, []))
    assert engine.read(lambda c: c.all(ITEM_IDS)) == []


def test_many_is_whole_or_nothing(engine: Database) -> None:
    with pytest.raises(Duplicate):
        engine.write(lambda c: c.many(NEW_ITEM, [{"id": "a"}, {"id": "b"}, {"id": "a"}]))
    assert engine.read(lambda c: c.all(ITEM_IDS)) == []


def test_an_insert_answers_the_number_it_was_given(engine: Database) -> None:
    insert = Statement(sa.insert(items).returning(items.c.sequence, items.c.status), columns=["id"])
    first = engine.write(lambda c: c.one(insert, id="a"))
    second = engine.write(lambda c: c.one(insert, id="b"))
    assert first is not None
    assert second == (first[0] + 1, "todo")


def test_the_first_of_several_returned_rows_does_not_hold_up_the_commit(engine: Database) -> None:
    finish = Statement(sa.update(items).values(status="done", ready=True).returning(items.c.ready))
    engine.write(lambda c: c.many(NEW_ITEM, [{"id": "a"}, {"id": "b"}]))
    assert engine.write(lambda c: c.one(finish)) == (True,)
    done = Statement(sa.select(sa.func.count()).where(items.c.status == "done", items.c.ready))
    assert engine.read(lambda c: c.value(done)) == 2


def test_a_sum_of_integers_is_an_integer(engine: Database) -> None:
    total = Statement(sa.select(sa.func.sum(counters.c.number), sa.func.avg(counters.c.number)))
    engine.write(lambda c: c.many(NEW_COUNTER, [{"name": "a", "number": 2**40}, {"name": "b", "number": -1}]))
    found = engine.read(lambda c: c.one(total))
    assert found is not None
    assert (found[0], type(found[0]), type(found[1])) == (2**40 - 1, int, float)


def test_insert_or_ignore_says_whether_it_inserted(engine: Database) -> None:
    insert = insert_or_ignore(counters, ["name", "number"])
    assert engine.write(lambda c: (c.run(insert, name="a", number=1), c.run(insert, name="a", number=2))) == (1, 0)
    assert engine.read(lambda c: number(c, "a")) == 1


def test_insert_or_ignore_forgives_only_the_index_it_names(engine: Database) -> None:
    insert = insert_or_ignore(
        items, ["id", "place", "status"], key=["place"], key_where=items.c.status == "live", returning=[items.c.id]
    )
    live = {"place": "desk", "status": "live"}
    assert engine.write(lambda c: c.one(insert, id="a", **live)) == ("a",)
    assert engine.write(lambda c: c.one(insert, id="b", **live)) is None
    with pytest.raises(Duplicate):
        engine.write(lambda c: c.run(insert, id="a", place="other", status="live"))


def test_upsert_inserts_or_changes(engine: Database) -> None:
    put = upsert(counters, ["name", "number"], ["name"], ["number"])
    assert engine.write(lambda c: (c.run(put, name="a", number=5), c.run(put, name="a", number=7))) == (1, 1)
    assert engine.read(lambda c: number(c, "a")) == 7
    engine.write(lambda c: (c.run(COUNT_UP, name="a", number=3), c.run(COUNT_UP, name="new", number=3)))
    assert engine.read(lambda c: (number(c, "a"), number(c, "new"))) == (10, 3)


def test_upsert_leaves_rows_alone_that_its_condition_excludes(engine: Database) -> None:
    raise_only = upsert(
        counters,
        ["name", "number"],
        ["name"],
        ["number"],
        where=counters.c.number < offered(counters).number,
        returning=[counters.c.number],
    )

    def offer(number: int) -> Any:
        return engine.write(lambda c: c.value(raise_only, name="a", number=number))

    assert [offer(5), offer(3), offer(9)] == [5, None, 9]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [([], []), (["a"], ["a"]), (["c", "a", "nobody", "a"], ["a", "c"]), (["'", '"', "\\", "%s", "ü"], ["'", "ü"])],
)
def test_in_list_matches_what_the_list_holds(engine: Database, wanted: list[str], found: list[str]) -> None:
    among = Statement(sa.select(items.c.id).where(in_list(items.c.id, "ids")).order_by(items.c.sequence))
    engine.write(lambda c: c.many(NEW_ITEM, [{"id": each} for each in ("a", "b", "c", "'", "ü")]))
    assert [row[0] for row in engine.read(lambda c: c.all(among, ids=wanted))] == found


def test_in_list_takes_numbers_and_thousands_and_combines_with_other_conditions(engine: Database) -> None:
    insert = Statement(sa.insert(items), columns=["id", "size"])
    engine.write(lambda c: c.many(insert, [{"id": f"{each:04}", "size": each} for each in range(3000)]))
    among = Statement(
        sa.select(sa.func.count()).where(in_list(items.c.size, "sizes"), items.c.status == sa.bindparam("status"))
    )
    others = Statement(sa.select(sa.func.count()).where(~in_list(items.c.size, "sizes")))
    assert engine.read(lambda c: c.value(among, sizes=list(range(1000, 9000)), status="todo")) == 2000
    assert engine.read(lambda c: c.value(among, sizes=[1], status="done")) == 0
    assert engine.read(lambda c: c.value(others, sizes=[1, 2])) == 2998


def test_in_list_serves_an_update_and_an_alias(engine: Database) -> None:
    finish = Statement(sa.update(items).values(status="done").where(in_list(items.c.id, "ids")))
    other = items.alias("other")
    look = Statement(sa.select(other.c.status).where(in_list(other.c.id, "ids")))
    engine.write(lambda c: c.many(NEW_ITEM, [{"id": "a"}, {"id": "b"}]))
    assert engine.write(lambda c: c.run(finish, ids=["a", "x"])) == 1
    assert engine.read(lambda c: c.all(look, ids=["a"])) == [("done",)]


def test_a_bindparam_with_a_value_may_be_left_out(engine: Database) -> None:
    some = Statement(sa.select(items.c.id).order_by(items.c.id).limit(sa.bindparam("most", 1)))
    engine.write(lambda c: c.many(NEW_ITEM, [{"id": "a"}, {"id": "b"}]))
    assert engine.read(lambda c: (c.all(some), c.all(some, most=2))) == ([("a",)], [("a",), ("b",)])


def test_a_claim_with_skip_locked_hands_out_each_item_once(engine: Database, at_once: Callable[..., list[Any]]) -> None:
    free = sa.select(items.c.sequence).where(items.c.status == "todo").order_by(items.c.sequence).limit(1)
    claim = Statement(
        sa.update(items)
        .values(status="claimed")
        .where(items.c.sequence == free.with_for_update(skip_locked=True).scalar_subquery())
        .returning(items.c.id)
    )
    engine.write(lambda c: c.many(NEW_ITEM, [{"id": f"{each:03}"} for each in range(200)]))
    claimed = at_once(8, lambda _: list(iter(lambda: engine.write(lambda c: c.value(claim)), None)))
    assert sorted(each for theirs in claimed for each in theirs) == [f"{each:03}" for each in range(200)]


def test_a_refused_row_says_of_which_table(engine: Database) -> None:
    headless = Statement(sa.insert(counters), columns=["name"])
    with pytest.raises(ConstraintBroken) as refused:
        engine.write(lambda c: c.run(headless, name="a"))
    assert refused.value.table == "counters"
    with pytest.raises(Duplicate) as doubled:
        engine.write(lambda c: c.run(NEW_COUNTER, name="all", number=1))
    assert doubled.value.table == "counters"


def test_a_mistaken_statement_is_not_called_an_outage(engine: Database) -> None:
    mistaken = Statement(sa.text("SELECT some FROM nowhere"))
    with pytest.raises(Exception, match="nowhere") as raised:
        engine.read(lambda c: c.all(mistaken))
    assert not isinstance(raised.value, MisusedDatabase | ConstraintBroken)
    assert engine.read(number) == 0


def test_a_missing_parameter_is_named(engine: Database) -> None:
    def forget(connection: Connection) -> None:
        connection.run(NEW_COUNTER, name="a")

    with pytest.raises(Exception, match="number"):
        engine.write(forget)

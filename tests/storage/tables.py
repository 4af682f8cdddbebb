"""Tables of the engine's own tests, which must not depend on what Toryo stores, and statements on them."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.schema import CreateIndex, CreateTable

from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement

metadata = sa.MetaData()

counters = sa.Table(
    "counters",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("number", sa.BigInteger, nullable=False),
)

items = sa.Table(
    "items",
    metadata,
    sa.Column("sequence", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("counter", sa.Text, sa.ForeignKey("counters.name")),
    sa.Column("status", sa.Text, nullable=False, server_default="todo"),
    sa.Column("place", sa.Text),
    sa.Column("size", sa.BigInteger),
    sa.Column("weight", sa.Float),
    sa.Column("ready", sa.Boolean),
    sa.Column("body", sa.LargeBinary),
    sa.Index(
        "items_one_live_at_a_place",
        "place",
        unique=True,
        sqlite_where=sa.text("status = 'live'"),
        postgresql_where=sa.text("status = 'live'"),
    ),
)

LATER = sa.Table(
    "later",
    metadata,
    sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("counter", sa.Text, sa.ForeignKey("counters.name", deferrable=True, initially="DEFERRED")),
)

NEW_COUNTER = Statement(sa.insert(counters))
NUMBER = Statement(sa.select(counters.c.number).where(counters.c.name == sa.bindparam("name")))
NUMBER_TO_CHANGE = Statement(
    sa.select(counters.c.number).where(counters.c.name == sa.bindparam("name")).with_for_update()
)
SET_NUMBER = Statement(
    sa.update(counters).values(number=sa.bindparam("new")).where(counters.c.name == sa.bindparam("which"))
)
NEW_ITEM = Statement(sa.insert(items), columns=["id"])
NEW_COUNTED_ITEM = Statement(sa.insert(items), columns=["id", "counter"])
NEW_LIVE_ITEM = Statement(sa.insert(items).values(id=sa.bindparam("id"), place=sa.bindparam("place"), status="live"))
ITEM_IDS = Statement(sa.select(items.c.id).order_by(items.c.id))
NEW_LATER = Statement(sa.insert(LATER))


def define(connection: Connection) -> None:
    """Makes the tables, and a counter called `all` at 0."""
    for table in metadata.sorted_tables:
        connection.define(CreateTable(table))
        for index in table.indexes:
            connection.define(CreateIndex(index))
    connection.run(NEW_COUNTER, name="all", number=0)


def increment(connection: Connection, name: str = "all") -> int:
    """Reads, then writes: the work that loses counts where transactions do not keep it apart from others."""
    number: int = connection.value(NUMBER_TO_CHANGE, name=name) + 1
    connection.run(SET_NUMBER, which=name, new=number)
    return number


def number(connection: Connection, name: str = "all") -> int:
    found: int = connection.value(NUMBER, name=name)
    return found


def item_ids(connection: Connection) -> list[str]:
    return [row[0] for row in connection.all(ITEM_IDS)]

"""How the databases read talk: by an index, however much was said before."""

from __future__ import annotations

import re
from typing import Any

import pytest
import sqlalchemy as sa

from toryo.storage import chat, conversations, delegations, mailboxes, messages, panels, threads
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement

pytestmark = pytest.mark.both

READS = {
    name.strip("_").lower(): statement
    for module in (chat, conversations, delegations, mailboxes, messages, panels, threads)
    for name, statement in vars(module).items()
    if isinstance(statement, Statement) and not statement.sqlite.text.startswith("INSERT")
}
NUMBERS = {"cursor", "limit", "before", "after", "until", "since", "skip", "sequence", "seen", "now"}
LIVE = r"SCAN (messages|conversations|delegations|viewers|mailboxes) USING (COVERING )?INDEX (?!sqlite_autoindex)"
"""A partial index read whole: it holds what is live and nothing of what is over."""


FREQUENT = {
    "unsettled_of": {"conversations_initiator", "conversations_partner"},
    "threads": {"threads_low", "threads_high"},
    "unwatch": {"messages_watched"},
    "overdue": {"messages_watched"},
    "undelivered": {"messages_inbox"},
    "viewers_of": {"viewers_open"},
    "open_of_agent": {"delegations_open"},
    "mail_waits": {"mailboxes_waiting"},
}


def plan(database: Database, statement: Statement) -> list[str]:
    """The lines of the plan, for parameters of any value."""
    return database.write(lambda connection: _plan(connection, statement))


def _plan(connection: Connection, statement: Statement) -> list[str]:
    text = statement.sqlite.text if connection.dialect == "sqlite" else statement.postgresql.text
    named = re.sub(r"%\((\w+)\)s", r":\1 ", text)
    values = {each: value(each, connection.dialect) for each in re.findall(r"(?<!:):(\w+)", named)}
    if connection.dialect == "sqlite":
        return [row[3] for row in connection.all(Statement(sa.text(f"EXPLAIN QUERY PLAN {named}")), **values)]
    connection.run(Statement(sa.text("SET LOCAL enable_seqscan = off")))  # an empty table is read whole otherwise
    return [row[0] for row in connection.all(Statement(sa.text(f"EXPLAIN {named}")), **values)]


def value(name: str, dialect: str) -> Any:
    if name.endswith("_ids") or name in ("projects", "types"):
        return "[]" if dialect == "sqlite" else [""]
    return 1 if name in NUMBERS else ""


def test_no_statement_about_talk_reads_a_whole_table(database: Database) -> None:
    for name, statement in READS.items():
        said = plan(database, statement)
        scans = [one for one in said if re.search(r"\bSCAN (?!json_each|anon_)|Seq Scan", one)]
        whole = [one for one in scans if not re.search(LIVE, one)]
        assert not whole, (name, said)


@pytest.mark.parametrize("kept_database", ["sqlite"], indirect=True)
def test_the_frequent_ones_are_read_by_the_index_that_was_made_for_them(database: Database) -> None:
    """PostgreSQL decides by how full the tables are: benchmarks/messages.py shows it on full ones."""
    for name, indexes in FREQUENT.items():
        said = " ".join(plan(database, READS[name]))
        assert {index for index in indexes if index in said} == indexes, (name, said)

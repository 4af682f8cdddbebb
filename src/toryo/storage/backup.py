"""Backup and restore: one file, written from one consistent snapshot without stopping the server.

The file is gzipped JSON lines, the same for SQLite and PostgreSQL, so either can restore the other's backup: a header
line, then the rows, table by table, in foreign key order. A backup of an older version is restored into the tables of
that version, and then upgraded by the same steps as a database. Before an upgrade, a database of an older version is
backed up as it is.
"""

from __future__ import annotations

import base64
import gzip
import os
import secrets
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sa

import toryo
from toryo.deeds import terminal
from toryo.domain import ids
from toryo.domain.agents import SYSTEM
from toryo.domain.events import SETUP, Event
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.projects import Status
from toryo.domain.retention import WAITS
from toryo.domain.times import Millis
from toryo.domain.worktrees import Kind
from toryo.storage import migrations, retention, schema, statistics
from toryo.storage.engine.database import Connection, Database
from toryo.storage.engine.statements import Statement
from toryo.storage.errors import DatabaseUnavailable
from toryo.storage.events import Events
from toryo.storage.migrations import OLDEST, PRESENT

FORMAT = 1
_CHUNK = 2_000
_FEW = {"artifact_pieces": 10}
"""Rows of a chunk, of tables whose rows are large."""


_TABLES = [table for table in schema.metadata.sorted_tables if table is not schema.directory]
"""The stamp of the directory belongs to a database, not to its contents: restored rows change it."""
LEFT_OUT = frozenset(
    (
        *("tokens", "access_tokens", "sign_ins", "sign_in_links", "departures", "api_keys"),
        *("push_subscriptions", "push_keys"),
    )
)
"""Tables of credentials: not restored unless requested."""
BLANKED = {"sessions": "token_hash", "launches": "credential_hash", "webhooks": "secret"}
"""Credential columns of rows that are restored: a restore replaces their values by ones that nobody knows."""
KEPT = {"agents": "passkey_hash", "people": "password_hash"}
"""Credential columns that are restored, because nobody could sign in without them."""


class NotAnArchive(DatabaseUnavailable):
    """The file is not a Toryo backup, was written by a newer version, or is damaged."""


class NotEmpty(DatabaseUnavailable):
    """The target database is not empty; a restore overwrites nothing."""


@dataclass(frozen=True, slots=True)
class Restored:
    """How many rows each table received, and how many credential rows were left out."""

    tables: dict[str, int]
    left_out: int


def backup(database: Database, file: Path) -> dict[str, int]:
    """Writes the archive (mode 0600, renamed into place when complete); returns the number of rows of each table."""
    return database.read(lambda connection: write(connection, file))


def write(connection: Connection, file: Path, version: int = PRESENT) -> dict[str, int]:
    """As `backup`, of what a transaction sees: the tables and columns of that version. It is on the disk afterwards."""
    partial = file.with_name(file.name + ".partial")
    try:
        counts = _write(connection, partial, version)
        os.replace(partial, file)  # noqa: PTH105 - atomic: a backup that was interrupted leaves the older one
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return counts


def restore(database: Database, file: Path, *, credentials: bool = False, paused_at: Millis | None = None) -> Restored:
    """Reads an archive into a database without projects.

    `paused_at`: every project is paused from then on. What was in progress may be in progress elsewhere, and people
    look at a backup in the very directories that agents work in: nothing runs there until a person says so.

    Without `credentials`, tokens and sign-ins of the backup stay invalid, because some may have been revoked since.
    Passwords and passkeys are restored: they are stored nowhere else.
    """

    def work(connection: Connection) -> Restored:
        restored = _read(connection, file, credentials=credentials)
        if paused_at is not None:
            _hold_everything(connection, paused_at)
        retention.wait(connection, WAITS)
        statistics.collect(connection)
        return restored

    return database.write(work)


def _hold_everything(connection: Connection, now: Millis) -> None:
    """Pauses what is active, and ends the jobs that a Coordinator would do in people's repositories."""
    projects, jobs, events = schema.projects, schema.worktree_jobs, Events(connection)
    active = projects.c.status == Status.ACTIVE.value
    for row in connection.all(Statement(sa.select(projects.c.id).where(active).order_by(projects.c.id))):
        event_id = ids.make(ids.EVENT, now, secrets.randbits(50))
        why = {"reason": "restored_from_backup"}
        events.append(Event(event_id, now, SYSTEM, False, "project.paused", project_id=row[0], root_id=SETUP, data=why))
    events.flush()
    paused = {"status": Status.PAUSED.value, "paused_at": sa.literal(now), "updated_at": sa.literal(now)}
    connection.run(Statement(sa.update(projects).where(active).values(paused)))
    queued = Kind.QUEUE_MERGE.value  # the merge queue sends its own again when its project is resumed
    open_ = sa.and_(jobs.c.finished_at.is_(None), jobs.c.kind != queued)
    told = {"finished_at": sa.literal(now), "done": sa.bindparam("done"), "answer": sa.bindparam("said")}
    end = Statement(sa.update(jobs).where(jobs.c.id == sa.bindparam("this_id")).values(told))
    for job_id, answer in connection.all(Statement(sa.select(jobs.c.id, jobs.c.answer).where(open_))):
        said = orjson.dumps({**(orjson.loads(answer) if answer else {}), **_NOT_DONE}).decode()
        connection.run(end, this_id=job_id, done=False, said=said)


_NOT_DONE = {
    "trouble": "The database was restored from a backup that was made before this was done. Look at the repository, "
    "then request it again.",
    "given_up": True,
}


def forget_credentials(database: Database) -> None:
    """Nothing that anybody knows opens this database any longer: all tables and columns of credentials are emptied, or
    get values that match nothing."""

    def work(connection: Connection) -> None:
        for table in reversed(schema.metadata.sorted_tables):
            if table.name in LEFT_OUT:
                connection.run(Statement(sa.delete(table)))
        for name, column in (*BLANKED.items(), *KEPT.items()):
            table = schema.metadata.tables[name]
            own = next(iter(table.primary_key.columns))
            values = {column: sa.literal("forgotten ").concat(own)}
            connection.run(Statement(sa.update(table).where(table.c[column].is_not(None)).values(values)))

    database.write(work)


def _write(connection: Connection, file: Path, version: int) -> dict[str, int]:
    there = migrations.columns(connection)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.fchmod(descriptor, 0o600)  # A file left by an interrupted backup may have any mode.
    counts: dict[str, int] = {}
    with os.fdopen(descriptor, "wb") as raw:
        with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=5) as out:
            out.write(_line({"toryo": toryo.__version__, "format": FORMAT, "schema": version}))
            for table in _TABLES:
                name = str(table.name)  # SQLAlchemy has a str of its own
                if name not in there:
                    continue
                counts[name] = 0
                columns = [column for column in table.columns if column.name in there[name]]
                names = [str(column.name) for column in columns]
                for rows in _chunks(connection, table, columns):
                    counts[name] += len(rows)
                    written = _changed(name, names, rows, lambda content: base64.b64encode(content).decode())
                    out.write(_line({"table": name, "columns": names, "rows": written}))
            out.write(_line({"end": counts}))
        raw.flush()
        os.fsync(descriptor)
    return counts


def _line(value: Any) -> bytes:
    return orjson.dumps(value) + b"\n"


def _chunks(connection: Connection, table: sa.Table, columns: list[sa.Column[Any]]) -> Iterator[list[tuple[Any, ...]]]:
    order = [table.c.depth] if table.name == "tasks" else []
    page = (
        sa.select(*columns)
        .order_by(*order, *table.primary_key.columns)
        .limit(sa.bindparam("many", type_=sa.Integer))
        .offset(sa.bindparam("after", type_=sa.Integer))
    )
    statement, after, many = Statement(page), 0, _FEW.get(table.name, _CHUNK)
    while rows := connection.all(statement, many=many, after=after):
        yield rows
        after += len(rows)


def stored(name: str, columns: list[str], rows: Iterable[Any]) -> list[Any]:
    """Rows of an archive as a database takes them."""
    return _changed(name, columns, rows, base64.b64decode)


def _changed(name: str, columns: list[str], rows: Iterable[Any], change: Callable[[Any], Any]) -> list[Any]:
    """The rows, with what is bytes in the database changed: JSON has none, so they are written in base64."""
    table = schema.metadata.tables.get(name)
    known = {str(each.name) for each in table.c if isinstance(each.type, sa.LargeBinary)} if table is not None else ()
    changed = list(rows)
    for at in (at for at, column in enumerate(columns) if column in known):
        changed = [[*row[:at], change(row[at]), *row[at + 1 :]] for row in changed]
    return changed


def _read(connection: Connection, file: Path, *, credentials: bool) -> Restored:
    lines = _lines(file)
    about = next(lines, {})
    _refuse_foreign(about, file)  # Checked first: another target would not help if the file is not a backup.
    if connection.value(Statement(sa.select(sa.func.count()).select_from(schema.projects))):
        raise NotEmpty("The database already contains projects.", "Restore into an empty database.")
    there = _emptied(connection, about["schema"])
    counts: dict[str, int] = {}
    superiors: list[dict[str, str]] = []
    for line in lines:
        if "end" in line:
            if {name: many for name, many in line["end"].items() if many} != counts:
                raise NotAnArchive(f"The contents of {file} do not match its own description.", "Use another backup.")
            connection.many(_REPORT_TO, superiors)
            _continue_sequence(connection)
            migrations.upgrade(connection)
            left_out = {} if credentials else {name: many for name, many in counts.items() if name in LEFT_OUT}
            kept = {name: many for name, many in counts.items() if name not in left_out}
            return Restored(kept, sum(left_out.values()))
        name = line["table"]
        if name not in there or not line["columns"] or not there[name] >= set(line["columns"]):
            raise NotAnArchive(f"{file} has a table {name} that its version does not have.", _NAME_ANOTHER)
        rows = line["rows"]
        counts[name] = counts.get(name, 0) + len(rows)
        if name == "agents":
            rows, more = _without_superiors(line["columns"], rows)
            superiors += more
        if credentials:
            _insert(connection, name, line["columns"], rows)
        elif name not in LEFT_OUT:
            _insert(connection, name, line["columns"], _blanked(name, line["columns"], rows))
    raise NotAnArchive(f"{file} is incomplete.", "Use another backup: this one was interrupted or cut off.")


def _emptied(connection: Connection, version: int) -> dict[str, set[str]]:
    """Leaves the tables of that version, without rows; returns their columns."""
    if version < PRESENT:
        migrations.begin_at(connection, version)
    else:
        for table in reversed(_TABLES):
            connection.run(Statement(sa.delete(table)))
    return migrations.columns(connection)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(file, "rb") as source:
            for line in source:
                yield orjson.loads(line)
    except (gzip.BadGzipFile, zlib.error, EOFError, ValueError) as error:
        raise NotAnArchive(f"{file} is not a Toryo backup, or it is damaged ({error}).", _NAME_ANOTHER) from None
    except OSError as error:
        raise NotAnArchive(
            f"{file} cannot be read: {error.strerror or error}.", "Check the path and its permissions."
        ) from None


_REPORT_TO = Statement(sa.text("UPDATE agents SET reports_to = :above WHERE id = :this_id"))
_NAME_ANOTHER = f"Choose a file that {terminal('db backup')} made."


def _refuse_foreign(about: Any, file: Path) -> None:
    if not isinstance(about, dict) or about.get("format") != FORMAT or not _is_version(about.get("schema")):
        raise NotAnArchive(f"{file} is not a Toryo backup.", _NAME_ANOTHER)
    if about["schema"] < OLDEST:
        raise NotAnArchive(
            f"{file} has version {about['schema']} of the tables. {migrations.UPGRADES_FROM}",
            "Restore it with Toryo's commit 0cac07d8 into an empty --data-dir, and back that up.",
        )
    if about["schema"] > PRESENT:
        raise NotAnArchive(
            f"{file} was made by a newer Toryo ({about.get('toryo')}).", "Install that version, or a newer one."
        )


def _is_version(schema: Any) -> bool:
    return isinstance(schema, int) and schema > 0


def _blanked(name: str, columns: list[str], rows: list[list[Any]]) -> list[list[Any]]:
    """Replaces each of them by a value that is no hash, and that nobody can sign with."""
    if name not in BLANKED:
        return rows
    at = columns.index(BLANKED[name])
    return [[*row[:at], f"restored {secrets.token_urlsafe(32)}", *row[at + 1 :]] for row in rows]


def _insert(connection: Connection, name: str, columns: list[str], rows: Iterable[list[Any]]) -> None:
    # Written out, because the table is that of the backup's version. The names are those of the database.
    bound = ", ".join(f":{column}" for column in columns)
    insert = f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({bound})"  # noqa: S608
    connection.many(
        Statement(sa.text(insert)), [dict(zip(columns, row, strict=True)) for row in stored(name, columns, rows)]
    )


def _without_superiors(columns: list[str], rows: list[list[Any]]) -> tuple[list[list[Any]], list[dict[str, str]]]:
    """The agents as if they reported to nobody, and their superiors, which may be on a later line."""
    own, above = columns.index("id"), columns.index("reports_to")
    superiors = [{"this_id": row[own], "above": row[above]} for row in rows if row[above] is not None]
    return [[*row[:above], None, *row[above + 1 :]] for row in rows], superiors


def _continue_sequence(connection: Connection) -> None:
    """Continues PostgreSQL's event numbers after the restored ones; SQLite does so by itself."""
    if connection.dialect != "postgresql":
        return
    newest = sa.select(sa.func.coalesce(sa.func.max(schema.events.c.sequence), 0) + 1).scalar_subquery()
    sequence = sa.func.pg_get_serial_sequence("events", "sequence")
    connection.all(Statement(sa.select(sa.func.setval(sequence, newest, sa.literal_column("false")))))

"""`toryo db`: upgrade, back up, restore, check and move the database directly, without a server; `prune` asks a server.

A backup and a check only read and may run beside a server; an upgrade and a restore need exclusive access.
"""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toryo import data_directories, process_locks
from toryo.cli import output
from toryo.cli.command_context import Here, argument, command, flag, option
from toryo.cli.exit_codes import Failure, Misuse, ServerAway, missing_file

if TYPE_CHECKING:
    from toryo.storage.engine.database import Database

group = typer.Typer(
    help="Upgrade, back up, restore, check or prune the database.", no_args_is_help=True, rich_markup_mode=None
)

DatabaseUrl = Annotated[
    str | None,
    option(
        "URL",
        "The database, sqlite:///… or postgresql://… (default: toryo.db in the data directory).",
        envvar="TORYO_DATABASE_URL",
    ),
]
BackupFile = Annotated[Path, argument("FILE", "The file with the backup.")]
_OPTIONS = ("data_dir", "json")


def add(app: typer.Typer) -> None:
    for name, function in _COMMANDS.items():
        command(group, name, options=_OPTIONS)(function)
    command(group, "prune")(prune)
    app.add_typer(group, name="db")


def upgrade(
    here: Here,
    database: DatabaseUrl = None,
    no_backup: Annotated[bool, flag("Write no backup first, because you have one of your own.", "--no-backup")] = False,
) -> None:
    """Upgrade the database to this version of Toryo. A backup is written first, beside an SQLite file; that of
    PostgreSQL, in the data directory. A server also does this when it starts."""
    with _opened(here, database, create=True) as opened:
        steps = _upgrade(here, opened, no_backup=no_backup)
    told = f"took {', '.join(steps)}" if steps else "the database is up to date"
    here.answer({"success": True, "steps": steps}, lambda: output.done(told))


def _upgrade(here: Here, opened: Database, *, no_backup: bool = False) -> list[str]:
    from toryo.storage import open_database

    if no_backup:
        return open_database.upgrade(opened)
    return open_database.upgrade_with_backup(opened, data_directories.data_dir(here.data_dir), output.say)


def backup(
    here: Here,
    file: BackupFile,
    database: DatabaseUrl = None,
    force: Annotated[bool, flag("Overwrite an existing file.", "--force")] = False,
) -> None:
    """Back up the database to a file. Only you can read it. The server can keep running. It can be restored into SQLite
    and PostgreSQL."""
    from toryo.storage import backup

    if file.exists() and not force:
        raise Misuse(f"{file} already exists.", "Choose another file, or overwrite it with --force.")
    if not file.absolute().parent.is_dir():
        raise Misuse(f"There is no directory {file.parent}.", "Create it first, or choose another file.")
    with _opened(here, database) as opened:
        counts = backup.backup(opened, file)
    rows = sum(counts.values())
    answer = {"success": True, "file": str(file), "rows": rows, "tables": counts}
    here.answer(answer, lambda: output.done(f"{file}: {rows} rows, {counts['tasks']} tasks, {counts['events']} events"))


def restore(
    here: Here,
    file: BackupFile,
    database: DatabaseUrl = None,
    credentials: Annotated[
        bool,
        flag(
            "Restore tokens, API keys, browsers and sessions, too, even those revoked since the backup.",
            "--with-credentials",
        ),
    ] = False,
) -> None:
    """Restore a backup into an empty database. Every project is paused until you resume it. Tokens and API keys are
    left out. Nothing that exists is overwritten."""
    from toryo.storage import backup

    if not file.is_file():
        raise missing_file(file, "Choose a file that toryo db backup made.")
    with _opened(here, database, create=True) as opened:
        _upgrade(here, opened)
        try:
            restored = backup.restore(opened, file, credentials=credentials, paused_at=int(time.time() * 1000))
        except backup.NotEmpty as error:
            raise Misuse(f"{opened.place}: {error.message}", _elsewhere(here, file, opened.place, database)) from None
    rows, left_out = sum(restored.tables.values()), restored.left_out
    without = (
        [f"left out {left_out} rows of tokens, API keys, links and browsers; --with-credentials restores them"]
        if left_out
        else []
    )
    start = " ".join(["toryo", "up", *_same_place(here, database)])
    here.answer(
        {"success": True, "rows": rows, "left_out": left_out, "tables": restored.tables},
        lambda: output.done(
            f"restored {rows} rows into {opened.place}",
            *without,
            f"To look at it: {start} (it makes new tokens)",
            "Every project is paused, so that nothing runs twice. To continue with one: toryo project resume PRJ",
        ),
    )


def _elsewhere(here: Here, file: Path, place: str, url: str | None) -> str:
    """How a backup gets back where there is something already, and how it is looked at beside that."""
    again = ["toryo", "db", "restore", shlex.quote(str(file))]
    beside = " ".join([*again, "--data-dir", "NEW_DIR"])
    if not place.startswith("/"):
        return f"Nothing was changed. Choose an empty database with --database, or use a file: {beside}"
    kept, there = shlex.quote(f"{place}.before-restore"), shlex.quote(place)
    instead = " ".join([*again, *_same_place(here, url)])
    return f"Nothing was changed.\nTo replace it: mv {there} {kept} && {instead}\nTo keep both: {beside}"


def _same_place(here: Here, url: str | None) -> list[str]:
    """The options that name the same database once more; what the environment says, it says again."""
    given = (("--data-dir", here.data_dir, "TORYO_DATA_DIR"), ("--database", url, "TORYO_DATABASE_URL"))
    return [
        word
        for option, said, variable in given
        if said is not None and str(said) != os.environ.get(variable)
        for word in (option, shlex.quote(str(said)))
    ]


def check(here: Here, database: DatabaseUrl = None) -> None:
    """Check the integrity of the database. Exit code 1 if anything is wrong."""
    from toryo.storage import integrity

    with _opened(here, database) as opened:
        problems = opened.read(integrity.check)
    found = [{"problem": problem.what, "ids": list(problem.ids)} for problem in problems]
    if found:
        lines = "\n".join(f"{problem.what}: {', '.join(problem.ids[:10])}" for problem in problems)
        raise Failure(
            f"The database has {len(found)} problems.\n{lines}",
            "Restore a backup (toryo db restore).",
            {"problems": found},
        )
    here.answer({"success": True, "problems": []}, lambda: output.done(f"{opened.place}: no problems found"))


def prune(
    here: Here,
    dry_run: Annotated[bool, flag("Delete nothing; show what would be deleted.", "--dry-run")] = False,
) -> None:
    """Delete what is older than its retention period now. The server also does this by itself, every hour
    (TORYO_RETENTION__…). To keep the event history, export it first: toryo export events."""
    if dry_run:
        found = here.get("/retention")  # counts everything: seconds in a large database
        here.answer(found, lambda: _show_retention(found))
        return
    deleted: Counter[str] = Counter()
    more = True
    while more:
        step = here.send("POST", "/retention/prune")
        deleted.update(step["deleted"])
        more = step["more"]
    told = ", ".join(f"{many} {_kind(kind)}" for kind, many in sorted(deleted.items()))
    answer = {"success": True, "deleted": dict(deleted)}
    here.answer(answer, lambda: output.done(f"deleted {told}" if told else "nothing is older than its period"))


_KINDS = {
    "notifications": "notifications",
    "chat_panels": "chat panels",
    "launches": "launches",
    "messages": "messages",
    "conversations": "conversations",
    "queue_tasks": "queue tasks",
    "tasks": "tasks",
    "audit": "events of people",
    "events": "events",
}


def _kind(kind: str) -> str:
    """Of a newer server there may be others."""
    return _KINDS.get(kind, kind.replace("_", " "))


def _show_retention(found: dict[str, Any]) -> None:
    rows = [
        (
            _kind(each["kind"]),
            "indefinitely" if each["days"] is None else f"{each['days']} days",
            "" if each["rows"] is None else each["rows"],
            output.clock(each["oldest"]),
            each["due"],
            each["setting"],
        )
        for each in found["kinds"]
    ]
    output.table(("KIND", "KEPT FOR", "ROWS", "OLDEST", "TO DELETE", "SETTING"), rows, empty="", right=(2, 4))
    if not found["automatic"]:
        output.done("The server does not delete by itself (TORYO_RETENTION__AUTOMATIC=false).")
    elif found["begins_at"] is not None:
        output.done(f"The server deletes nothing by itself before {output.clock(found['begins_at'])}.")


def move(here: Here) -> None:
    """Move a project's data out of its directory, where agents work. .toryo/ then refers to the new place.
    With --data-dir, in a directory that was moved: refer to its data again."""
    if here.data_dir is None and data_directories.project_directory() is None:
        raise Misuse("There is no project here or above (no .toryo/).", "Run this in a project, or use --data-dir.")
    place = data_directories.data_dir(here.data_dir)
    legacy = place.name == data_directories.MARK
    project = place.parent if legacy else (data_directories.project_directory() or Path.cwd())
    if not data_directories.holds_data(place):
        raise Misuse(f"{place} does not contain the data of a server.", "Choose the data directory with --data-dir.")
    for holder in process_locks.holders(place):
        raise Misuse(
            f"A {holder.name} (pid {holder.pid}) is using {place}.",
            f"Stop it first: toryo down --data-dir {shlex.quote(str(place))}",
        )
    if data_directories.is_home(place) and not legacy:
        former = data_directories.project_of(place)
        if former is not None and former != project.resolve() and former.is_dir():
            raise Misuse(f"{place} belongs to {former}, which still exists.", "Run this command in that directory.")
        data_directories.point(project, place)
        target = place
    else:
        target = _move(project, place)
    answer = {"success": True, "data_dir": str(target), "project_directory": str(project)}
    here.answer(answer, lambda: output.done(f"moved the data of {project} to {target}"))


def _move(project: Path, place: Path) -> Path:
    """Moves a data directory of no project's home into that of this project."""
    target = data_directories.default_of(project)
    for name, what in (("worktrees", "open worktrees"), ("demo", "the demo's projects")):
        if (place / name).is_dir() and any((place / name).rglob("*/*")):
            raise Misuse(
                f"{place / name} contains {what}, which cannot be moved.",
                "Merge or discard the worktrees of tasks (toryo worktrees), remove the demo, remove what is "
                "left, then try again.",
            )
    if target.is_relative_to(place):
        raise Misuse(f"{target} is inside {place}.", "Set XDG_DATA_HOME to a directory outside it.")
    if target.exists():
        raise Misuse(
            f"{target} already exists.",
            f"To move {place} there, remove {target} first. To use {target}, remove {place}.",
        )
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    target.parent.chmod(0o700)
    place.chmod(0o700)
    shutil.move(place, target)
    (target / ".gitignore").unlink(missing_ok=True)
    data_directories.point(project, target)
    return target


_COMMANDS: dict[str, Callable[..., None]] = {
    "upgrade": upgrade,
    "backup": backup,
    "restore": restore,
    "check": check,
    "move": move,
}


@contextmanager
def _opened(here: Here, url: str | None, *, create: bool = False) -> Iterator[Database]:
    """The database that a server with these settings would use; `create` also claims and makes it."""
    from toryo.settings import Settings
    from toryo.storage import migrations, open_database
    from toryo.storage.backup import NotAnArchive
    from toryo.storage.errors import (
        DatabaseInUse,
        DatabaseMisfit,
        DatabaseTooNew,
        DatabaseTooOld,
        DatabaseUnavailable,
    )

    place_of_data = data_directories.prepared(here.data_dir) if create else data_directories.data_dir(here.data_dir)
    settings = Settings(data_dir=place_of_data) if url is None else Settings(data_dir=place_of_data, database=url)
    place = settings.database_url()
    if place.startswith("sqlite:///"):
        file = Path(place.removeprefix("sqlite:///"))
        if not create and not file.is_file():
            raise Misuse(f"There is no database {file}.", "Choose one with --database, or a --data-dir that has one.")
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with open_database.open_database(place, exclusive=create, threads=2) as opened:
            if not create:
                opened.read(migrations.require_present)
            yield opened
    except DatabaseInUse as error:
        raise Misuse(error.message, "Stop the server first: toryo down") from None
    except (NotAnArchive, DatabaseTooNew, DatabaseTooOld, DatabaseMisfit) as error:
        raise Misuse(error.message, error.instruction) from None
    except DatabaseUnavailable as error:
        raise ServerAway(error.message, error.instruction) from None

"""`toryo db`: upgrade, back up, restore and check the database, straight on it and not through a server.

A backup and a check only read and may run beside a server; an upgrade and a restore want the database for themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toryo.cli import output
from toryo.cli.failures import Failure, Misuse, ServerAway
from toryo.cli.here import Here, command

if TYPE_CHECKING:
    from toryo.storage.database import Database

group = typer.Typer(help="The database: upgrade, backup, restore, check.", no_args_is_help=True, rich_markup_mode=None)

DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="TORYO_DATABASE_URL",
        metavar="URL",
        help="sqlite:///… or postgresql://… (toryo.db in the data directory).",
    ),
]
BackupFile = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]
_OPTIONS = ("data_dir", "json")


def add(app: typer.Typer) -> None:
    for name, function in _COMMANDS.items():
        command(group, name, options=_OPTIONS)(function)
    app.add_typer(group, name="db")


def upgrade(here: Here, database: DatabaseUrl = None) -> None:
    """Bring the database to this version of Toryo (a server does it by itself when it starts)."""
    with _opened(here, database, create=True) as opened:
        steps = opened.upgrade()
    told = f"took {', '.join(steps)}" if steps else "it is up to date"
    here.answer({"success": True, "steps": steps}, lambda: output.done(told))


def backup(here: Here, file: BackupFile, database: DatabaseUrl = None) -> None:
    """Write everything into one file, while others work. It restores into SQLite and PostgreSQL alike."""
    from toryo.storage import archive

    if not file.absolute().parent.is_dir():
        raise Misuse(f"There is no directory {file.parent}.", "Make it first, or name another file.")
    with _opened(here, database) as opened:
        counts = archive.backup(opened, file)
    rows = sum(counts.values())
    answer = {"success": True, "file": str(file), "rows": rows, "tables": counts}
    here.answer(answer, lambda: output.done(f"{file}: {rows} rows, {counts['tasks']} tasks, {counts['events']} events"))


def restore(here: Here, file: BackupFile, database: DatabaseUrl = None) -> None:
    """Read a backup into an empty database. Nothing that exists is overwritten."""
    from toryo.storage import archive

    if not file.is_file():
        raise Misuse(f"There is no file {file}.", "Name a file that toryo db backup made.")
    with _opened(here, database, create=True) as opened:
        opened.upgrade()
        counts = archive.restore(opened, file)
    rows = sum(counts.values())
    here.answer(
        {"success": True, "rows": rows, "tables": counts},
        lambda: output.done(f"restored {rows} rows into {opened.place}; its server's new tokens are made at its start"),
    )


def check(here: Here, database: DatabaseUrl = None) -> None:
    """Whether the file is sound and the rows keep the rules. Exit code 1 if anything is wrong."""
    from toryo.storage import checking

    with _opened(here, database) as opened:
        problems = opened.read(checking.check)
    found = [{"problem": each.what, "ids": list(each.ids)} for each in problems]
    if found:
        lines = "\n".join(f"{each.what}: {', '.join(each.ids[:10])}" for each in problems)
        raise Failure(f"The database has {len(found)} problems.\n{lines}", "Restore a backup.", {"problems": found})
    here.answer({"success": True, "problems": []}, lambda: output.done(f"{opened.place}: sound, every rule is kept"))


_COMMANDS: dict[str, Callable[..., None]] = {
    "upgrade": upgrade,
    "backup": backup,
    "restore": restore,
    "check": check,
}


@contextmanager
def _opened(here: Here, url: str | None, *, create: bool = False) -> Iterator[Database]:
    """The database that a server with these settings would use; `create` also claims and makes it."""
    from toryo.settings import Settings
    from toryo.storage.archive import NotAnArchive, NotEmpty
    from toryo.storage.database import Database
    from toryo.storage.errors import DatabaseInUse, DatabaseUnavailable

    settings = Settings(data_dir=here.data_dir) if url is None else Settings(data_dir=here.data_dir, database=url)
    place = settings.database_url()
    if place.startswith("sqlite:///"):
        file = Path(place.removeprefix("sqlite:///"))
        if not create and not file.is_file():
            raise Misuse(f"There is no database {file}.", "Name one with --database, or a --data-dir that has one.")
        file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with Database.open(place, exclusive=create, threads=2) as opened:
            yield opened
    except DatabaseInUse as error:
        raise Misuse(error.message, "Stop its server first.") from None
    except (NotAnArchive, NotEmpty) as error:
        raise Misuse(error.message, error.instruction) from None
    except DatabaseUnavailable as error:
        raise ServerAway(error.message, error.instruction) from None

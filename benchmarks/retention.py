"""How large a database is after a busy year, before and after what is older than its period was deleted.

    python benchmarks/retention.py [--tasks 50000] [--events 12] [--database URL]

A year of tasks, evenly spread, half of them queue tasks and half in trees of five, with launches, sessions, messages
and events. 250,000 tasks (20 agents, 50 tasks each on 250 days) are five times the usual number here, and everything
grows with it. Then all steps are done at once that a server does over the year, and the longest of them is told.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

import sqlalchemy as sa

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.filled import Past, fill  # noqa: E402 - after the path to the tests' helpers
from toryo.operations.admin import retention  # noqa: E402
from toryo.operations.calls.dispatch import Dispatcher  # noqa: E402
from toryo.settings import Settings  # noqa: E402
from toryo.storage.engine.database import Connection, Database  # noqa: E402
from toryo.storage.engine.statements import Statement  # noqa: E402
from toryo.storage.open_database import open_database, upgrade  # noqa: E402

_FREE = Statement(sa.text("SELECT freelist_count * page_size FROM pragma_freelist_count(), pragma_page_size()"))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--tasks", type=int, default=50_000)
    asked.add_argument("--events", type=int, default=12)
    asked.add_argument("--database", help="an empty one (default: a new SQLite file)")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="toryo-retention-") as place:
        url = given.database or f"sqlite:///{Path(place) / 'toryo.db'}"
        with open_database(url) as database:
            upgrade(database)
            fill(database, Past(tasks=given.tasks, events=given.events, open_tasks=200))
            for text in ("UPDATE events SET by_person = (sequence % 100 = 0)", "DELETE FROM logs"):
                database.write(partial(_run, text=text))  # output is deleted after 30 days, by another chore
            _measure(database)


def _run(connection: Connection, text: str) -> int:
    return connection.run(Statement(sa.text(text)))


def _measure(database: Database) -> None:
    dispatcher = Dispatcher(
        database, Settings(), lambda: int(time.time() * 1000), random.Random(1).getrandbits, lambda _: None
    )
    before = dispatcher.in_passing(lambda call: call.tx.database_bytes(), reads=True)
    _tell("a year, nothing deleted", before)
    deleted: Counter[str] = Counter()
    longest: dict[str, float] = {}
    steps, begun = 0, time.process_time()
    while part := dispatcher.in_passing(retention.find, reads=True):
        started = time.process_time()
        deleted.update(dispatcher.in_passing(partial(retention.delete, part=part)))
        longest[part.kind] = max(longest.get(part.kind, 0.0), time.process_time() - started)
        steps += 1
    for kind, many in deleted.items():
        sys.stdout.write(f"{many:11} {kind} deleted; longest step {longest.get(kind, 0.0) * 1000:.0f} ms of CPU\n")
    sys.stdout.write(f"{steps} steps, {time.process_time() - begun:.1f} s of CPU with looking for what is due\n")
    if database.dialect == "sqlite":
        free = int(database.read(lambda connection: connection.value(_FREE)))
        _tell("in use after it (the file is as large as before, its free pages are used again)", before - free)


def _tell(what: str, size: int) -> None:
    sys.stdout.write(f"{size / 1e6:8.1f} MB  {what}\n")


if __name__ == "__main__":
    main()

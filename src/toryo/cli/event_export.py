"""`toryo export events`: the event history as JSON Lines, page by page, so that its size does not matter."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TextIO

from toryo.cli import output
from toryo.cli.command_context import Here
from toryo.cli.events import pages
from toryo.cli.exit_codes import Misuse

PAGE = 1_000


def export(here: Here, file: Path | None, until: str | None, project: str | None, *, force: bool) -> None:
    """Each line is an event as `GET /api/v1/events` answers it, oldest first."""
    if file is None and here.json:
        raise Misuse("With --json, the events need a file.", "Name it with --output FILE.")
    if file is not None and file.exists() and not force:
        raise Misuse(f"{file} already exists.", "Choose another file, or overwrite it with --force.")
    if file is not None and not file.absolute().parent.is_dir():
        raise Misuse(f"There is no directory {file.parent}.", "Create it first, or choose another file.")
    wanted = {"until": _instant(until), "project_id": project}
    if project is not None:
        here.get(f"/projects/{project}")  # what is not there is refused, with what may be meant
    with _opened(file) as out:
        many, last = _write(out, lambda after: here.get("/events", after=after, limit=PAGE, **wanted))
    if file is not None:
        answer = {"success": True, "file": str(file), "events": many, "last": last}
        here.answer(answer, lambda: output.done(f"{file}: {many} events"))


def _write(out: TextIO, read: Callable[[int], dict[str, Any]]) -> tuple[int, int]:
    """How many events there were, and the number of the last."""
    many, last, told = 0, 0, False
    for page in pages(read):
        if "pruned_to" in page and not told:
            output.say(f"toryo: events up to number {page['pruned_to']} are not complete: older ones were deleted")
            told = True
        out.writelines(output.exact_line(each) for each in page["events"])
        many += len(page["events"])
        last = page["last"]
    return many, last


@contextmanager
def _opened(file: Path | None) -> Iterator[TextIO]:
    """Stdout, or a file for this user's eyes only, which is there when it is complete."""
    if file is None:
        yield sys.stdout
        return
    partial = file.with_name(file.name + ".partial")
    with os.fdopen(
        os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w", -1, "utf-8"
    ) as out:
        os.fchmod(out.fileno(), 0o600)
        yield out
    os.replace(partial, file)  # noqa: PTH105 - atomic: an export that was interrupted leaves the older one


def _instant(text: str | None) -> str | None:
    """A day begins at midnight UTC."""
    if text is None:
        return None
    try:
        day = date.fromisoformat(text)
        return datetime(day.year, day.month, day.day, tzinfo=UTC).isoformat()
    except ValueError:
        pass
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise Misuse(
            f"--until {text!r} is not a date.", "Use a date such as 2027-01-15, or a time such as 2027-01-15T08:00:00Z."
        ) from None
    return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).isoformat()

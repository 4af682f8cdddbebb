"""`toryo task artifacts`: the files that acceptance checks have left, listed or saved.

Agents wrote the files and chose their names: nothing is written outside of the directory, and nothing there is
replaced unless that is asked for.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any
from urllib.parse import quote

from toryo.artifact_limits import may_be_name
from toryo.cli import output, shell_completion
from toryo.cli.command_context import Here, flag, option
from toryo.cli.exit_codes import Failure, Misuse

_SHOWN = 5
_INTO = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def artifacts(
    here: Here,
    task: Annotated[str, shell_completion.TASK],
    save: Annotated[
        Path | None, option("DIR", "Write the files of the last run that left any into this directory.")
    ] = None,
    force: Annotated[bool, flag("Replace files that exist, with --save.", "--force")] = False,
    delete: Annotated[list[str] | None, option("ARTIFACT", "Delete this file; repeatable.")] = None,
) -> None:
    """List, save or delete the files that a task's checks left."""
    if force and save is None:
        raise Misuse("--force only makes sense with --save.", "Name a directory: --save DIR.")
    if delete:
        if save is not None:
            raise Misuse("--save and --delete cannot be combined.", "Use one after the other.")
        _delete(here, task, list(dict.fromkeys(delete)))
        return
    found = here.every(f"/tasks/{task}/artifacts", "artifacts")
    if save is None:
        here.answer({"success": True, "artifacts": found}, lambda: _print(found))
        return
    last = [each for each in found if each["check_id"] == found[0]["check_id"]]
    targets = list(_targets(last))
    earlier = bool(last) and _left_nothing_since(here, task, last)
    written = _saved(here, task, save.expanduser(), targets, force=force)
    document = {"success": True, "saved": written, "earlier_run": earlier}
    here.answer(document, lambda: _print_saved(written, last[0]["created_at"] if earlier else None))


def _delete(here: Here, task: str, named: list[str]) -> None:
    """What is not there is sent first: it is refused before anything is deleted."""
    there = {each["artifact_id"] for each in here.every(f"/tasks/{task}/artifacts", "artifacts")}
    for each in sorted(named, key=there.__contains__):
        here.send("DELETE", f"/tasks/{task}/artifacts/{quote(each, safe='')}")
    here.answer({"success": True, "deleted": named}, lambda: output.done(*(f"deleted {each}" for each in named)))


def _left_nothing_since(here: Here, task: str, files: list[dict[str, Any]]) -> bool:
    """Whether the checks have run again, and left no files."""
    results = here.get(f"/tasks/{task}")["task"]["check_results"]
    left = {file["artifact_id"] for each in results for file in each.get("artifacts") or ()}
    return bool(results) and left.isdisjoint(each["artifact_id"] for each in files)


def _print(found: list[dict[str, Any]]) -> None:
    rows = [
        (each["artifact_id"], output.clock(each["created_at"]), _size(each["bytes"]), each["media_type"], each["name"])
        for each in found
    ]
    output.table(("ARTIFACT", "STORED", "SIZE", "TYPE", "FILE"), rows, empty="No check has left files.")


def _print_saved(written: list[str], of_earlier: str | None) -> None:
    output.done(*written or ["No check has left files."])
    if of_earlier is not None:
        output.say(f"The last run of the checks left no files. These are of the run of {output.clock(of_earlier)}.")


def _size(count: int) -> str:
    for unit, size in (("MB", 1_000_000), ("kB", 1_000)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def _targets(found: Sequence[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where each goes; two checks may have left a file of the same name, or one a file where the other has a directory.
    Raises Failure for a name that leads elsewhere."""
    for each in found:
        if not may_be_name(each["name"]):
            raise Failure(f"The server named a file that cannot be written: {each['name']!r}.", "Nothing was written.")
    taken = {str(above).casefold() for each in found for above in PurePosixPath(each["name"]).parents}
    for each in found:
        name, number = PurePosixPath(each["name"]), 1
        while str(name).casefold() in taken:
            number += 1
            name = name.with_name(f"{PurePosixPath(each['name']).stem}-{number}{name.suffix}")
        taken.add(str(name).casefold())
        yield str(name), each


def _saved(
    here: Here, task: str, directory: Path, targets: list[tuple[str, dict[str, Any]]], *, force: bool
) -> list[str]:
    there = [name for name, _ in targets if os.path.lexists(directory / name)]
    if there and not force:
        more = f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
        raise Misuse(
            f"{directory} already has {', '.join(there[:_SHOWN])}{more}; nothing was written.",
            "Save into another directory, or replace them with --force.",
        )
    if not targets:
        return []
    contents = [here.file(f"/tasks/{task}/artifacts/{each['artifact_id']}") for _, each in targets]
    directory.mkdir(parents=True, exist_ok=True)
    top = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for (name, _), content in zip(targets, contents, strict=True):
            _write(top, name, content, force=force)
    finally:
        os.close(top)
    return [str(directory / name) for name, _ in targets]


def _write(top: int, name: str, content: bytes, *, force: bool) -> None:
    """Below the directory, whatever links are in it."""
    *between, own = name.split("/")
    at = os.dup(top)
    try:
        for each in between:
            with contextlib.suppress(FileExistsError):
                os.mkdir(each, dir_fd=at)
            inner = os.open(each, _INTO, dir_fd=at)
            os.close(at)
            at = inner
        if force:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(own, dir_fd=at)
        with os.fdopen(os.open(own, _NEW, 0o666, dir_fd=at), "wb") as file:
            file.write(content)
    except OSError as problem:
        raise Failure(
            f"{name} cannot be written: {problem.strerror}.", "A directory of its path may be a link or a file."
        ) from None
    finally:
        os.close(at)

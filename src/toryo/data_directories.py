"""Locations of the server's data and of agents' work. Light: every command imports it, and few need the settings.

The data directory holds the owner's token, so it is outside the directories in which agents work. Each project
directory has a *home* under the user's data directory, with the server's `data/`; directories that Toryo creates for
agents (worktrees, the demo's projects) are beside `data/`, never in it. The project's `.toryo/` contains a pointer to
it and no secret. A pointer may come with a foreign repository, so it is valid only if the data directory names the
project directory in turn.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shlex
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from toryo import data_directory_trust, process_locks
from toryo.data_directory_trust import Untrusted, check_trusted
from toryo.process_locks import Holder

MARK = ".toryo"
"""The directory in a project that says where its data is (or, made by an older Toryo, holds it)."""
POINTER = "data-dir"
CONFIRMATION = "project-directory"
_DATA = "data"
_LONGEST_NAME = 40
_LONGEST_PATH = 5000


def data_dir(given: Path | str | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """`given`, else `TORYO_DATA_DIR`, else what the nearest `.toryo/` here or above says, else the user's own.

    Raises Untrusted where a pointer leads to a directory that does not confirm it, or a file is named.
    """
    explicit = _explicit(given, environ)
    if explicit is not None:
        return explicit
    project = project_directory()
    return _of_project(project) if project is not None else _own()


def prepared(given: Path | str | None = None) -> Path:
    """As `data_dir`; that of a project is made, with its pointer, if it is not there yet."""
    explicit = _explicit(given, None)
    if explicit is not None:
        return explicit
    project = project_directory()
    return prepare(project) if project is not None else _own()


def prepare(project: Path, place: Path | None = None) -> Path:
    """The data directory of a project; where it has none, `place` or the default one is made and pointed to."""
    mark = project / MARK
    if holds_data(mark) or (place is None and (mark / POINTER).exists()):
        return _of_project(project)
    place = _in_use_nowhere_else(place or default_of(project))
    for path in (place.parent, place):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
    point(project, place)
    return place


def point(project: Path, place: Path) -> None:
    """Makes the project and its data directory name each other. Raises Untrusted where `.toryo` is a link."""
    mark = project / MARK
    if not _is_ours(mark):
        mark.mkdir(mode=0o700)
    _write(place / CONFIRMATION, f"{project.resolve()}\n")
    _write(mark / ".gitignore", "*\n")
    _write(mark / POINTER, f"{place}\n")


def project_directory(start: Path | None = None) -> Path | None:
    """The nearest directory, from here upwards, that has a `.toryo/` of this user."""
    here = (start or Path.cwd()).absolute()
    return next((path for path in (here, *here.parents) if _is_ours(path / MARK)), None)


def default_of(project: Path) -> Path:
    """The data directory that a project gets: the same for the same directory, another for any other one."""
    path = project.resolve()
    name = "".join(each if each.isalnum() or each in "-_." else "-" for each in path.name)[:_LONGEST_NAME].strip(".")
    number = hashlib.sha256(str(path).encode(errors="surrogateescape")).hexdigest()[:10]
    return users() / "projects" / f"{name or 'project'}-{number}" / _DATA


def every() -> list[Path]:
    """The data directories of this user that need not be named."""
    return [users(), users() / _DATA, *sorted((users() / "projects").glob(f"*/{_DATA}"))]


def work_dir(place: Path) -> Path:
    """Where Toryo makes directories for agents to work in: beside the data of a home, in any other data directory."""
    return place.parent if is_home(place) else place


def is_home(place: Path) -> bool:
    """Whether a data directory is the `data/` of a home."""
    return (place / CONFIRMATION).is_file() or place == users() / _DATA


def project_of(place: Path) -> Path | None:
    """The project directory that a data directory names."""
    named = _line(place / CONFIRMATION)
    return Path(named) if named else None


def holds_data(place: Path) -> bool:
    """Whether a server has kept its data there."""
    return any(os.path.lexists(place / each) for each in data_directory_trust.DATA)


def _explicit(given: Path | str | None, environ: Mapping[str, str] | None) -> Path | None:
    chosen = given or (os.environ if environ is None else environ).get("TORYO_DATA_DIR")
    if not chosen:
        return None
    place = Path(chosen).expanduser().absolute()
    if place.exists() and not place.is_dir():
        raise Untrusted(f"{place} is a file, not a directory.", "Choose a directory with --data-dir or TORYO_DATA_DIR.")
    return _in_use_nowhere_else(place)


def _of_project(project: Path) -> Path:
    mark = project / MARK
    if holds_data(mark):
        return _not_planted(project, check_trusted(mark))
    if (mark / POINTER).exists():
        return _not_planted(project, _pointed(project))
    return _in_use_nowhere_else(default_of(project))


def _not_planted(project: Path, place: Path) -> Path:
    """The data directory that a `.toryo/` leads to. Raises Untrusted where agents work, in a git worktree or anywhere
    in another project: one of them may have made both. None of them can write in the default data directory."""
    worktree = next((each for each in (project, *project.parents) if (each / ".git").is_file()), None)
    above = worktree or next((each for each in project.parents if _is_own_directory(each / MARK)), None)
    if above is None or place == default_of(project):
        return place
    raise Untrusted(
        f"{project / MARK} is in {above}, in which agents may work, so one of them may have created it.",
        f"Remove it. If you created it, name its data directory: --data-dir {shlex.quote(str(place))}",
    )


def _is_own_directory(path: Path) -> bool:
    with suppress(OSError):
        found = path.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return False


def _pointed(project: Path) -> Path:
    """What the project's pointer names, if that names the project in turn. Raises Untrusted."""
    pointer = project / MARK / POINTER
    named = _line(pointer)
    place = Path(named if named.isprintable() else "?")  # it is shown on terminals
    if place.is_absolute() and not os.path.lexists(_in_use_nowhere_else(place)):
        raise Untrusted(
            f"{pointer} refers to the data directory {place}, which does not exist.",
            "If you moved the directory, move it back, or use it at its new place: cd "
            f"{shlex.quote(str(project))} && toryo db move --data-dir DIR. If it was deleted, or if this file "
            "came with a repository or a copy, remove the file.",
        )
    doubt = _doubt(place, project)
    if doubt:
        raise Untrusted(
            f"{pointer} refers to the data directory {place}, but {doubt}.",
            "If this file came with a repository or a copy, remove it. If you moved the project: cd "
            f"{shlex.quote(str(project))} && toryo db move --data-dir {shlex.quote(str(place))}",
        )
    return place


def _in_use_nowhere_else(place: Path) -> Path:
    """The place itself. Raises Untrusted where no directory is, because the one that was there was moved or deleted
    while a server ran from it: another server there would begin with no data, and what runs would not be found."""
    if os.path.lexists(place):
        return place
    left = [each for each in left_open() if _was_at(place, each.lock)]
    if not left:
        return place
    running = min(left, key=lambda each: each.name != "toryo up")  # which ends the others
    if not running.lock.exists():
        raise Untrusted(
            f"The data directory {place} was deleted while {running.told} was using it.",
            f"Stop the process first: kill {running.pid}",
        )
    raise Untrusted(
        f"The data directory {place} was moved to {running.lock.parent} while {running.told} was using it.",
        f"Stop the process first: kill {running.pid}",
    )


def left_open() -> Iterator[Holder]:
    """What runs from data directories that may not be where they were, as `process_locks.left_open`; only from those
    that are trusted, because agents can make such directories where they work."""
    for holder in process_locks.left_open():
        with suppress(Untrusted, OSError):
            if holder.lock.exists():
                check_trusted(holder.lock.parent)
            yield holder


def _was_at(place: Path, lock: Path) -> bool:
    """Whether a lock file that a process holds was in this directory."""
    if not lock.exists():
        return lock.parent == place.resolve()
    with suppress(OSError):
        return (process_locks.server(lock.parent) or {}).get("data_dir") == str(place)
    return False


def _doubt(place: Path, project: Path) -> str:
    """Why this data directory is not taken for that of the project; empty if it is."""
    try:
        found = place.lstat()
    except (OSError, ValueError):
        return "the file cannot be read"
    if not place.is_absolute() or not stat.S_ISDIR(found.st_mode):
        return "its content is not the full path of a directory"
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        return "other users can access it (it must belong to you, with mode 0700)"
    named = _line(place / CONFIRMATION)
    if named != str(project.resolve()):
        return f"it belongs to {named}" if named else "it belongs to no project"
    return ""


def _is_ours(mark: Path) -> bool:
    """Another user's `.toryo/`, in /tmp for instance, decides nothing here. Raises Untrusted for a symbolic link: a
    repository may contain one that leads anywhere."""
    try:
        found = mark.lstat()
    except OSError:
        return False
    if stat.S_ISLNK(found.st_mode) and found.st_uid == os.geteuid():
        raise Untrusted(
            f"{mark} is a symbolic link and may have come with a repository.",
            "Remove it, or choose the data directory with --data-dir.",
        )
    return _is_own_directory(mark)


def _line(file: Path) -> str:
    """What stands in a small file; nothing where it is no plain file, as one that came from elsewhere may be."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as opened:
        plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.fsdecode(opened.read(_LONGEST_PATH)).rstrip("\n") if plain else ""


def _write(file: Path, text: str) -> None:
    """Whole or not at all, readable by this user alone."""
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as out:
        out.write(text)
    draft.replace(file)


def _own() -> Path:
    """The user's own data directory, for servers of no project; one that an older Toryo made stays where it is."""
    place = users()
    return place if holds_data(place) else _in_use_nowhere_else(place / _DATA)


def users() -> Path:
    """Where everything of Toryo's is that belongs to this user and to no project."""
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "toryo"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "toryo"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "toryo"

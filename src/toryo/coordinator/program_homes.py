"""The own directories of sandboxed programs (`Own`): a new one for each launch, and what persists of it.

Agents write there, and the same program of their user runs what it finds in its real directory, so nothing comes back
but what the provider names. Of a login, renewed tokens: validated and put into the user's file, while the launch runs,
because other launches need them. Sessions never come back: they are kept here, and only a launch of the same agent that
resumes one sees it again.

`<launch>.own/` in the directory of workspaces has one directory per `Own` and a record of what was put there, from
which a later Coordinator continues. `.sessions/` has the sessions, by agent, provider and session id.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import json
import logging
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from toryo import untrusted_files
from toryo.coordinator.orders import Launch
from toryo.coordinator.provider import BadConfig, Own

log = logging.getLogger("toryo.coordinator")

SHARED_EVERY = 1.0
"""Seconds between two looks at the logins of running launches."""
MOST_OF_A_SESSION = 512 * 1024 * 1024
MOST_FILES = 10_000
"""Of one launch: more are not looked at."""
LONGEST_TOKEN = 16 * 1024
_RECORD = "made.json"
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{3,127}")
_A_DAY = 24 * 60 * 60


@dataclass
class _Login:
    """`outside`: the user's file. `known`: the digest of what both had when they were last the same."""

    number: int
    name: str
    outside: str
    keys: list[str]
    known: str
    link: str | None = None
    """A symbolic link to it in the launch's directory, which the program may have replaced by a new file."""


@dataclass
class _Made:
    agent_id: str
    provider: str
    sessions: list[list[str]]
    """The patterns of each directory."""
    logins: list[_Login] = field(default_factory=list)


class ProgramHomes:
    def __init__(self, directory: Path) -> None:
        """`directory`: that of the workspaces."""
        self._directory = directory
        self._sessions = directory / ".sessions"
        self._made: dict[str, _Made] = {}
        self._seen: dict[str, list[tuple[int, ...]]] = {}

    def make(
        self,
        launch: Launch,
        owned: Sequence[Own],
        session: str | None,
        *,
        links: Mapping[str, Path] | None = None,
        written: Sequence[Path] = (),
    ) -> dict[Path, Path]:
        """What a program finds in place of each of its directories. Raises BadConfig.

        `links`: those to its files, by their path. `written`: where agents write; no link there is followed.
        """
        if not owned:
            return {}
        folder = self._folder(launch.launch_id)
        made = _Made(launch.agent_id, launch.ai_type, [list(own.sessions) for own in owned])
        found = {}
        try:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700, parents=True)
            for number, own in enumerate(owned):
                inside = found[own.place] = folder / str(number)
                inside.mkdir(mode=0o700)
                made.logins += _filled(own, number, inside, links or {}, written)
            self._restore(launch, session, folder)
            self._note(launch.launch_id, made)
        except OSError as problem:
            raise BadConfig(f"The own directory of {launch.ai_type} cannot be copied: {problem}") from problem
        return found

    def place(self, launch_id: str) -> Path | None:
        """What a launch in a sandbox has in place of its program's first directory; None for one in none."""
        folder = self._folder(launch_id) / "0"
        return folder if folder.is_dir() else None

    def has_session(self, launch: Launch, session: str) -> bool:
        """Whether a program of this agent left this session in a sandbox."""
        return self._session(launch.agent_id, launch.ai_type, session).is_dir()

    def share_logins(self, launch_id: str) -> None:
        """Takes over renewed tokens, in both directions. Where both sides have changed, the user's file counts."""
        made = self._read(launch_id)
        if made is None or not made.logins:
            return
        folder = self._folder(launch_id)
        seen = [_signature(path) for login in made.logins for path in self._places(folder, login)]
        if seen == self._seen.get(launch_id):
            return
        try:
            changed = [self._share(folder, login) for login in made.logins]
            if any(changed):
                self._note(launch_id, made)
        except OSError as problem:
            log.warning("a renewed login of %s cannot be saved: %s", made.provider, problem)
        self._seen[launch_id] = [_signature(path) for login in made.logins for path in self._places(folder, login)]

    def keep(self, launch_id: str, session: str | None) -> None:
        """After its end: its login and its session; everything else that it wrote is dropped."""
        made = self._read(launch_id)
        if made is None:
            return
        try:
            self.share_logins(launch_id)
            if session is not None and _SESSION.fullmatch(session):
                self._keep_session(made, self._folder(launch_id), session)
        except OSError as problem:
            log.warning("what %s leaves in the directory of its program is lost: %s", launch_id, problem)
        self.remove(launch_id)

    def remove(self, launch_id: str) -> None:
        self._made.pop(launch_id, None)
        self._seen.pop(launch_id, None)
        shutil.rmtree(self._folder(launch_id), ignore_errors=True)

    def forget_older_than(self, days: float) -> None:
        """Deletes sessions that nobody has resumed since then."""
        with contextlib.suppress(OSError):
            for each in self._sessions.iterdir():
                if each.stat().st_mtime < time.time() - days * _A_DAY:
                    shutil.rmtree(each, ignore_errors=True)

    # --- logins -------------------------------------------------------------------------------------------------------

    def _places(self, folder: Path, login: _Login) -> Iterator[Path]:
        yield Path(login.outside)
        yield folder / str(login.number) / login.name
        if login.link is not None:
            yield Path(login.link)

    def _share(self, folder: Path, login: _Login) -> bool:
        """Whether anything changed."""
        outside = _text(Path(login.outside))
        if outside is None:
            return False  # its user has logged out
        inside, at = self._inside(folder, login)
        if _digest(outside) != login.known:
            _replaced(at, outside)
            login.known = _digest(outside)
            return True
        if inside is None or _digest(inside) == login.known:
            return False
        renewed = renewed_login(outside, inside, login.keys)
        if renewed is None:
            return False
        with _closing(_directory(Path(login.outside).parent)) as parent:
            _write(parent, Path(login.outside).name, renewed, stat.S_IMODE(Path(login.outside).stat().st_mode))
        _replaced(at, renewed)
        login.known = _digest(renewed)
        return True

    def _inside(self, folder: Path, login: _Login) -> tuple[str | None, Path]:
        """The program's own file: a new one in place of the link to it, or the copy."""
        if login.link is not None and not os.path.islink(login.link):  # noqa: PTH114
            text = _text(Path(login.link), nofollow=True)
            if text is not None:
                return text, Path(login.link)
        path = folder / str(login.number) / login.name
        return _text(path, nofollow=True), path

    # --- sessions -----------------------------------------------------------------------------------------------------

    def _session(self, agent_id: str, provider: str, session: str) -> Path:
        return self._sessions / hashlib.sha256(f"{agent_id}\0{provider}\0{session}".encode()).hexdigest()[:32]

    def _restore(self, launch: Launch, session: str | None, folder: Path) -> None:
        kept = self._session(launch.agent_id, launch.ai_type, session) if session else None
        if kept is not None and kept.is_dir():
            shutil.copytree(kept, folder, symlinks=True, dirs_exist_ok=True)
            os.utime(kept)

    def _keep_session(self, made: _Made, folder: Path, session: str) -> None:
        place = self._session(made.agent_id, made.provider, session)
        new = place.with_suffix(".new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700, parents=True)
        left, files = MOST_OF_A_SESSION, 0
        for number, patterns in enumerate(made.sessions):
            for within, name, at in _files(folder / str(number)):
                files += 1
                if files > MOST_FILES or left < 0:
                    log.warning("a session of %s is too large and was not kept", made.agent_id)
                    shutil.rmtree(new, ignore_errors=True)
                    return
                if any(fnmatch.fnmatchcase(within, pattern) for pattern in patterns):
                    target = new / str(number) / within
                    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    os.rename(name, target, src_dir_fd=at)
                    facts = target.lstat()
                    left -= facts.st_size
                    if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
                        target.unlink()
        shutil.rmtree(place, ignore_errors=True)
        new.rename(place)

    # --- records ------------------------------------------------------------------------------------------------------

    def _folder(self, launch_id: str) -> Path:
        return self._directory / f"{launch_id}.own"

    def _note(self, launch_id: str, made: _Made) -> None:
        self._made[launch_id] = made
        with _closing(os.open(self._folder(launch_id), os.O_PATH | os.O_DIRECTORY)) as folder:
            _write(folder, _RECORD, json.dumps(asdict(made)))

    def _read(self, launch_id: str) -> _Made | None:
        if launch_id not in self._made:
            with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
                record = json.loads(untrusted_files.text(self._folder(launch_id) / _RECORD))
                logins = [_Login(**each) for each in record.pop("logins")]
                self._made[launch_id] = _Made(**record, logins=logins)
        return self._made.get(launch_id)


def renewed_login(before: str, after: str, keys: Sequence[str]) -> str | None:
    """The login with the new values of these keys (`a.b`, `*` for any name); None if anything else was changed."""
    try:
        old, new = json.loads(before), json.loads(after)
    except (ValueError, RecursionError):
        return None
    if not isinstance(old, dict) or not isinstance(new, dict):
        return None
    merged = _merged(old, new, [key.split(".") for key in keys])
    return None if merged is None else json.dumps(merged, indent=2, ensure_ascii=False)


def _merged(old: dict[str, Any], new: dict[str, Any], keys: Sequence[Sequence[str]]) -> dict[str, Any] | None:
    merged = dict(old)
    for name in {**old, **new}:
        if name in old and name in new and old[name] == new[name] and type(old[name]) is type(new[name]):
            continue
        within = [key[1:] for key in keys if key[0] in (name, "*")]
        there = new.get(name)
        if isinstance(old.get(name), dict) and isinstance(there, dict):
            inner = _merged(old[name], there, [key for key in within if key])
            if inner is None:
                return None
            merged[name] = inner
        elif [] in within and _is_token(old.get(name), there):
            merged[name] = there
        else:
            return None
    return merged


def _is_token(old: Any, new: Any) -> bool:
    if isinstance(new, str):
        plain = 0 < len(new) <= LONGEST_TOKEN and new.isascii() and new.isprintable()
        return plain and (old is None or isinstance(old, str))
    number = isinstance(new, (int, float)) and not isinstance(new, bool)
    return number and (old is None or (isinstance(old, (int, float)) and not isinstance(old, bool)))


def _filled(
    own: Own, number: int, inside: Path, links: Mapping[str, Path], written: Sequence[Path]
) -> Iterator[_Login]:
    """Puts there what the program is given; tells its logins."""
    real = own.place.resolve()
    nofollow = any(real.is_relative_to(each.resolve()) for each in written)
    with contextlib.suppress(OSError):
        for each in os.scandir(real):  # only their names: a program may have links to them
            if each.is_dir(follow_symlinks=False):
                (inside / each.name).mkdir(mode=0o700)
    for name in (*own.copies, *own.logins):
        text = _text(real / name, nofollow=nofollow)
        if text is None:
            continue
        with open(inside / name, "w", encoding="utf-8", opener=_own) as file:
            file.write(text)
        keys = own.logins.get(name)
        if keys:
            link = next((at for at, target in links.items() if target.resolve() == (real / name).resolve()), None)
            yield _Login(number, name, str((real / name).resolve()), list(keys), _digest(text), link)


def _files(top: Path) -> Iterator[tuple[str, str, int]]:
    """Every regular file: its path within, its name, and its directory. Follows no link."""
    for at, folders, names, directory in os.fwalk(top, follow_symlinks=False):
        folders.sort()
        for name in names:
            within = str((Path(at) / name).relative_to(top))
            with contextlib.suppress(OSError):
                if stat.S_ISREG(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
                    yield within, name, directory


def _directory(path: Path) -> int:
    """A descriptor of this real path: no component has become a link since."""
    at = os.open("/", os.O_PATH | os.O_DIRECTORY)
    try:
        for name in path.parts[1:]:
            inner = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = inner
    except BaseException:
        os.close(at)
        raise
    return at


def _text(path: Path, *, nofollow: bool = False) -> str | None:
    try:
        return untrusted_files.text(path, nofollow=nofollow)
    except OSError:
        return None


def _replaced(path: Path, text: str) -> None:
    """In a directory that an agent writes: nothing but a file in exactly this directory is made."""
    with (
        contextlib.suppress(OSError),
        _closing(os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)) as parent,
    ):
        _write(parent, path.name, text)


def _write(directory: int, name: str, text: str, mode: int = 0o600) -> None:
    """Replaces a file as a whole."""
    draft = f".{name}.{os.urandom(6).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(draft, flags, 0o600, dir_fd=directory), "w", encoding="utf-8") as file:
            file.write(text)
            os.fchmod(file.fileno(), mode)
        os.replace(draft, name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(draft, dir_fd=directory)
        raise


@contextlib.contextmanager
def _closing(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _signature(path: Path) -> tuple[int, ...]:
    try:
        facts = path.lstat()
    except OSError:
        return ()
    return facts.st_ino, facts.st_mtime_ns, facts.st_size


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _own(path: str, flags: int) -> int:
    """Opens what only this user may read, from its first moment."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)

"""The server's data directory: made private, locked by one server at a time, with the files that clients read to
connect.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Any, Final

import orjson

from toryo import process_locks, secret_patterns
from toryo.deeds import terminal
from toryo.domain.fast_dataclasses import dataclass
from toryo.server.http_errors import ConfigurationError

COORDINATOR_TOKEN: Final = "coordinator.token"  # noqa: S105 - a file name
OWNER_TOKEN: Final = "owner.token"  # noqa: S105 - a file name
_ID: Final = "directory.id"
_PRIVATE: Final = 0o600
_PREFIXES: Final = {COORDINATOR_TOKEN: secret_patterns.COORDINATOR, OWNER_TOKEN: secret_patterns.PERSON}


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """The directory while this process holds it; `release()` frees it for the next server."""

    path: Path
    lock: int

    @classmethod
    def hold(cls, path: Path) -> DataDirectory:
        """Creates the directory if necessary and locks it. Raises ConfigurationError if that fails or another server
        holds it.
        """
        try:
            for each in (path, path / "logs"):
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
                # Only its owner can change the mode of another user's directory.
                with contextlib.suppress(PermissionError):
                    each.chmod(stat.S_IMODE(each.stat().st_mode) & 0o700)  # Permissions are only ever removed here.
            if path.name == ".toryo":
                _write_once(path / ".gitignore", b"*\n", 0o644)
            lock = process_locks.hold(path / process_locks.SERVER_LOCK)
        except OSError as error:
            raise _unusable(path, error) from None
        if lock is None:
            other = process_locks.server(path) or {}
            where = f" (pid {other.get('pid')}, {other.get('url')})" if other else ""
            raise ConfigurationError(
                f"Another server is already using the data directory {path}{where}.",
                f"Use that server, or stop it: {terminal('down', data_dir=str(path))}. To run both, give this one "
                "another directory with --data-dir.",
            )
        (path / process_locks.SERVER_FILE).unlink(
            missing_ok=True
        )  # of one that was killed: it is not what this one says
        return cls(path, lock)

    def token(self, name: str) -> str:
        """The token in the file of that name; creates it, readable by this user only, if it is missing."""
        file = self.path / name
        prefix = _PREFIXES[name]
        try:
            _write_once(file, _new_token(name), _PRIVATE)
            file.chmod(_PRIVATE)
            token = file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise _unusable(self.path, error) from None
        if not token.startswith(prefix) or len(token) < 20:
            raise ConfigurationError(
                f"{file} does not contain a token (it must begin with {prefix}).",
                "Restore the file, or delete it and start again: a new token is made.",
            )
        return token

    def renew(self, name: str) -> str:
        """Replaces the token in the file of that name, atomically, and returns it."""
        try:
            _replace(self.path / name, _new_token(name))
        except OSError as error:
            raise _unusable(self.path, error) from None
        return self.token(name)

    @property
    def place(self) -> str:
        """The name of this directory among all servers that share a database."""
        file = self.path / _ID
        try:
            _write_once(file, f"{secrets.token_hex(8)}\n".encode(), _PRIVATE)
            return file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise _unusable(self.path, error) from None

    def announce(self, server: dict[str, Any]) -> None:
        """Writes `server.json` for clients, atomically and readable by this user only."""
        _replace(self.path / process_locks.SERVER_FILE, orjson.dumps(server, option=orjson.OPT_INDENT_2) + b"\n")

    def release(self) -> None:
        """Removes `server.json` and frees the directory for the next server."""
        if self._is_mine():
            (self.path / process_locks.SERVER_FILE).unlink(missing_ok=True)
        os.close(self.lock)

    def _is_mine(self) -> bool:
        """False if the directory was deleted and another server has created one of the same name."""
        with contextlib.suppress(OSError):
            return os.path.samestat(os.fstat(self.lock), (self.path / process_locks.SERVER_LOCK).stat())
        return False


def _new_token(name: str) -> bytes:
    return f"{_PREFIXES[name]}{secrets.token_urlsafe(32)}\n".encode()


def _write_once(file: Path, content: bytes, mode: int) -> None:
    """Creates the file with its content in one step; does not change an existing one."""
    if file.exists():
        return
    draft = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        _create(draft, content, mode)
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)


def _replace(file: Path, content: bytes) -> None:
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    _create(draft, content, _PRIVATE)
    draft.replace(file)


def _create(file: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as out:
        out.write(content)


def _unusable(path: Path, error: Exception) -> ConfigurationError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return ConfigurationError(
        f"The data directory {path} cannot be used: {reason}.",
        "Make it writable for this user, or choose another with --data-dir or TORYO_DATA_DIR.",
    )

"""Where the server is and which credential to show it.

Inside an agent (`TORYO_LAUNCH_CREDENTIAL` is set) that credential is the only one: no token file is ever read there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from toryo import process_locks
from toryo.client import server_address
from toryo.client.errors import Unreachable
from toryo.data_directories import data_dir as chosen_directory
from toryo.data_directories import project_directory

Role = Literal["owner", "coordinator"]

CREDENTIAL = "TORYO_LAUNCH_CREDENTIAL"
_LOOK_EVERY = 0.1


@dataclass(frozen=True, slots=True)
class Found:
    """What `Client(found.url, found.token)` needs. `token` is None where none is known."""

    url: str
    token: str | None


def find(
    server: str | None = None,
    token: str | None = None,
    data_dir: Path | str | None = None,
    *,
    role: Role | None = "owner",
    environ: Mapping[str, str] | None = None,
    wait_seconds: float = 0,
) -> Found:
    """The server and this caller's credential; `role` says which token file is read where none is given (or none is).
    `wait_seconds` is how long a server that is just starting may take.

    Raises ValueError for an argument that is empty: it must not mean that none was given. Raises Unreachable where no
    server is named and none has left its address in the data directory, or one that is
    not on this machine: that is shown no credential but the directory's own. Raises Untrusted where the directory may
    have come from somebody else, or a project's pointer leads to one that is not its own.
    """
    refuse_empty(server=server, token=token, data_dir=data_dir)
    env = os.environ if environ is None else environ
    named = server or env.get("TORYO_SERVER_URL") or None
    given = env.get(CREDENTIAL) or token or env.get("TORYO_TOKEN") or None
    if named and (given or role is None):
        return Found(named, given)
    place, explicit = directory(data_dir, env), bool(data_dir or env.get("TORYO_DATA_DIR"))
    running = process_locks.server(place) if named else _awaited(place, wait_seconds)
    if not named and running is None:
        raise Unreachable(
            f"No server is running from {described(place, data_dir, env)}. Start one with `toryo up`, or choose "
            "one with --server or --data-dir."
        )
    url = named or str((running or {})["url"])
    if given and not explicit and not server_address.parse(url).local:
        raise Unreachable(
            f"{place / 'server.json'} refers to {url}, which is not on this machine, so your token is not sent "
            "there. Name the server with --server or TORYO_SERVER_URL, or start one here with toryo up."
        )
    if given or role is None or not _ours(named, running, explicit=explicit):
        return Found(url, given)
    return Found(url, token_of(place, role))


def refuse_empty(**given: Path | str | None) -> None:
    """Raises ValueError for an argument that is an empty text: a caller whose variable is not set must not be taken for
    the owner of the data directory."""
    for name, value in given.items():
        if value is not None and not str(value).strip():
            raise ValueError(f"{name} is empty. Enter a value, or omit it.")


def directory(given: Path | str | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """The data directory: given, `TORYO_DATA_DIR`, that of the project here or above, or the user's own."""
    return chosen_directory(given, environ)


def token_of(place: Path, role: Role) -> str | None:
    """The content of `owner.token` or `coordinator.token`, or None where there is none."""
    try:
        return (place / f"{role}.token").read_text().strip() or None
    except (FileNotFoundError, NotADirectoryError):
        return None


def described(place: Path, given: Path | str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """A data directory and, where that may surprise, why it is the one that is used."""
    env = os.environ if environ is None else environ
    if given or env.get("TORYO_DATA_DIR") or project_directory() is not None:
        return str(place)
    return f"{place} (there is no .toryo/ here or above)"


def _awaited(place: Path, seconds: float) -> dict[str, Any] | None:
    """What a running server wrote; while one is starting, waits that long. Raises Unreachable if that was too short."""
    limit = time.monotonic() + seconds
    while (running := process_locks.server(place)) is None:
        holder = next((each for each in process_locks.holders(place) if each.name in ("toryo up", "server")), None)
        if holder is None:
            return process_locks.server(place)  # written since, perhaps
        if time.monotonic() >= limit:
            name = "toryo server" if holder.name == "server" else holder.name
            raise Unreachable(f"{name} (pid {holder.pid}) is starting or stopping in {place}. Try again in a moment.")
        time.sleep(_LOOK_EVERY)
    return running


def _ours(named: str | None, running: dict[str, Any] | None, *, explicit: bool) -> bool:
    """Whether the tokens of the data directory may be shown to this server: never to a stranger elsewhere."""
    if named is None or explicit or (running is not None and named.rstrip("/") == str(running["url"]).rstrip("/")):
        return True
    return server_address.parse(named).local

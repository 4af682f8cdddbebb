"""Where the server is and which credential to show it.

Inside an agent (`TORYO_LAUNCH_CREDENTIAL` is set) that credential is the only one: no token file is ever read there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from toryo.client import address
from toryo.client.errors import Unreachable
from toryo.directories import data_dir as chosen_directory
from toryo.directories import project_directory

Role = Literal["owner", "coordinator"]

CREDENTIAL = "TORYO_LAUNCH_CREDENTIAL"


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
) -> Found:
    """The server and this caller's credential; `role` says which token file is read where none is given (or none is).

    Raises Unreachable where no server is named and none has left its address in the data directory, or one that is
    not on this machine: that is shown no credential but the directory's own. Raises Untrusted where the directory may
    have come from somebody else, or a project's pointer leads to one that is not its own.
    """
    env = os.environ if environ is None else environ
    named = server or env.get("TORYO_SERVER_URL") or None
    given = env.get(CREDENTIAL) or token or env.get("TORYO_TOKEN") or None
    if named and (given or role is None):
        return Found(named, given)
    place, explicit = directory(data_dir, env), bool(data_dir or env.get("TORYO_DATA_DIR"))
    running = running_server(place)
    url = named or _left_by(running, place, explicit=explicit)
    if given and not explicit and not address.parse(url).local:
        raise Unreachable(
            f"{place / 'server.json'} names {url}, which is not on this machine, and is not given your token. Name the"
            " server with --server or TORYO_SERVER_URL (one here: toryo up)."
        )
    if given or role is None or not _ours(named, running, explicit=explicit):
        return Found(url, given)
    return Found(url, token_of(place, role))


def directory(given: Path | str | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """The data directory: given, `TORYO_DATA_DIR`, that of the project here or above, or the user's own."""
    return chosen_directory(given, environ)


def running_server(place: Path) -> dict[str, Any] | None:
    """What a running server wrote about itself (`url`, `socket`, `pid`), or None."""
    try:
        document = orjson.loads((place / "server.json").read_bytes())
    except (FileNotFoundError, NotADirectoryError, orjson.JSONDecodeError):
        return None
    return document if isinstance(document, dict) and document.get("url") else None


def token_of(place: Path, role: Role) -> str | None:
    """The content of `owner.token` or `coordinator.token`, or None where there is none."""
    try:
        return (place / f"{role}.token").read_text().strip() or None
    except (FileNotFoundError, NotADirectoryError):
        return None


def _left_by(running: dict[str, Any] | None, place: Path, *, explicit: bool) -> str:
    if running is None:
        if not explicit and project_directory() is None:
            raise Unreachable(
                f"No server is running from {place}, your own data directory, which is used because there is no .toryo/"
                f" in {Path.cwd()} or above. Change into the directory of your project, start a server with `toryo up`,"
                " or name one with --server or TORYO_SERVER_URL, or its data directory with --data-dir."
            )
        raise Unreachable(
            f"No server is running from {place}. Start one with `toryo up`, or name one with --server or"
            " TORYO_SERVER_URL, or its data directory with --data-dir."
        )
    return str(running["url"])


def _ours(named: str | None, running: dict[str, Any] | None, *, explicit: bool) -> bool:
    """Whether the tokens of the data directory may be shown to this server: never to a stranger elsewhere."""
    if named is None or explicit or (running is not None and named.rstrip("/") == str(running["url"]).rstrip("/")):
        return True
    return address.parse(named).local

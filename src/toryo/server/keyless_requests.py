"""Which requests count as calls without a key on an open server (`TORYO_AUTH__MODE=open`).

Programs of the same machine and the same user, outside of any sandbox. A program that a Coordinator has started in a
sandbox has a credential of its own and cannot become somebody else by leaving it out: neither over the host's network,
nor through the proxy of its sandbox, nor over the socket file. Web pages of a browser are none either.

Linux tells whose a connection is. On other systems there is no sandbox to tell apart.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toryo.domain.network_addresses import is_loopback

KEYLESS = "toryo.keyless"
"""In the scope of a request: whether it counts as such."""

_PROC = Path("/proc")
_TABLES = (_PROC / "net/tcp", _PROC / "net/tcp6")
_PROXY = b"network_proxy.py"
"""The way of a sandbox to the server (`coordinator/network_proxy.py`), which itself runs outside of it."""
_MOST = 1_000


class KeylessRequests:
    """Remembers what it has found of a connection: a program that polls keeps its own open."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, bool] = OrderedDict()

    def admits(self, scope: Mapping[str, Any]) -> bool:
        client, server = scope.get("client"), scope.get("server")
        if client is None or not is_loopback(client[0]):
            return False
        if any(name in (b"origin", b"authorization", b"cookie") for name, _ in scope["headers"]):
            return False
        return self._is_ours(client[1], server[1] if server else None)

    def _is_ours(self, port: int, server_port: int | None) -> bool:
        tables = [table for table in _TABLES if table.exists()]
        if not tables:
            return True
        found = next((each for table in tables if (each := _connection(table, port, server_port)) is not None), None)
        if found is None or found[0] != os.getuid():
            return False
        inode = found[1]
        if inode not in self._known:
            self._known[inode] = _outside_of_sandboxes(inode)
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        return self._known[inode]


def _connection(table: Path, port: int, server_port: int | None) -> tuple[int, str] | None:
    """User and inode of the caller's end of a connection; None: it is not in this table."""
    for line in table.read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[1].rpartition(":")[2], 16) != port:
            continue
        if server_port in (None, int(fields[2].rpartition(":")[2], 16)):
            return int(fields[7]), fields[9]
    return None


def _outside_of_sandboxes(inode: str) -> bool:
    """Whether every program that holds this end sees the same files as the server, and is no proxy of a sandbox."""
    holders = [entry for entry in _PROC.iterdir() if entry.name.isdigit() and _holds(entry, inode)]
    own = (_PROC / "self/ns/mnt").readlink()
    try:
        return bool(holders) and all(
            (entry / "ns/mnt").readlink() == own and _PROXY not in (entry / "cmdline").read_bytes() for entry in holders
        )
    except OSError:
        return False


def _holds(entry: Path, inode: str) -> bool:
    wanted = f"socket:[{inode}]"
    try:
        with os.scandir(entry / "fd") as opened:
            return any(_target(each.path) == wanted for each in opened)
    except OSError:
        return False


def _target(path: str) -> str:
    try:
        return str(Path(path).readlink())
    except OSError:
        return ""

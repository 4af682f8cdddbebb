"""What another process has open, by kind (Linux): for measurements that ask whether it grows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from pathlib import Path

ACCEPTED, DATABASE, OTHER = "accepted connections", "database", "other"
_LISTENS = "0A"


def open_handles(pid: int, database: Container[int]) -> Counter[str]:
    """How many of each kind. `database`: the ports of its PostgreSQL; the files of an SQLite are known by their name.

    A socket that the kernel lists no longer, because the other side has gone, counts as accepted.
    """
    sockets = dict(_sockets(pid))
    listening = {local for local, _, state in sockets.values() if state == _LISTENS}
    others = set(_unix_sockets(pid))
    return Counter(_kind(target, sockets, listening, others, database) for target in _targets(pid))


def _kind(
    target: str,
    sockets: dict[str, tuple[int, int, str]],
    listening: Container[int],
    others: Container[str],
    database: Container[int],
) -> str:
    if not target.startswith("socket:["):
        return DATABASE if Path(target).name.startswith("toryo.db") else OTHER
    inode = target.removeprefix("socket:[").removesuffix("]")
    if inode in others:
        return OTHER
    local, remote, state = sockets.get(inode, (-1, -1, ""))
    if state == _LISTENS:
        return OTHER
    if remote in database:
        return DATABASE
    return ACCEPTED if local in listening or not state else OTHER


def _targets(pid: int) -> Iterator[str]:
    for each in Path(f"/proc/{pid}/fd").iterdir():
        try:
            yield str(each.readlink())
        except FileNotFoundError:  # closed meanwhile
            continue


def _sockets(pid: int) -> Iterator[tuple[str, tuple[int, int, str]]]:
    """Of its network: inode, and local port, remote port and state."""
    for family in ("tcp", "tcp6"):
        for line in _lines(pid, family):
            words = line.split()
            local, remote = (int(words[column].rpartition(":")[2], 16) for column in (1, 2))
            yield words[9], (local, remote, words[3])


def _unix_sockets(pid: int) -> Iterator[str]:
    for line in _lines(pid, "unix"):
        yield line.split()[6]


def _lines(pid: int, table: str) -> list[str]:
    path = Path(f"/proc/{pid}/net/{table}")
    return path.read_text().splitlines()[1:] if path.exists() else []

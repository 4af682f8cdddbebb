"""Coordinators that have called: what they reported about themselves, and their disk usage."""

from __future__ import annotations

from dataclasses import asdict, field

import sqlalchemy as sa

from toryo.domain.coordinators import Offer
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, upsert
from toryo.storage.tables import from_json, to_json

_c = schema.coordinators

_SAYS = ["providers", "seen_at", "running", "machine"]
_SEE = upsert(_c, ["id", *_SAYS], ["id"], _SAYS)
_MEASURED = upsert(_c, ["id", "providers", "seen_at", "running", "disk"], ["id"], ["disk"])
_SEEN = Statement(sa.select(_c.c.id, *(_c.c[each] for each in (*_SAYS, "disk"))).order_by(_c.c.id))
_HEARD = Statement(
    sa.update(_c)
    .where(_c.c.seen_at >= sa.select(sa.func.max(_c.c.seen_at)).scalar_subquery() - sa.bindparam("since"))
    .values(seen_at=sa.bindparam("now"))
)


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes used by a Coordinator's logs and worktrees; `complete` is false if it stopped counting."""

    logs: int
    worktrees: int
    complete: bool
    measured_at: Millis


@dataclass(frozen=True, slots=True)
class Seen:
    """A Coordinator's last report of what it can start. None: no restriction."""

    id: str
    running: int
    providers: list[str] | None = None
    labels: list[str] = field(default_factory=list)
    capabilities: list[str] | None = None
    agents: list[str] | None = None
    seen_at: Millis = 0
    disk: Disk | None = None
    directories: dict[str, str] = field(default_factory=dict)
    """Working directories from its configuration, by `agent:ID` and `project:ID`."""
    accounts: dict[str, list[str]] = field(default_factory=dict)
    """By provider, the accounts that its configuration names."""
    sandbox: bool = False
    """Whether it starts programs in a sandbox."""

    @property
    def offer(self) -> Offer:
        return Offer(self.providers, self.agents, self.capabilities, self.labels, self.accounts)

    def directory(self, agent_id: str, project_id: str) -> str | None:
        """The agent's directory, else the project's: the same order as in the Coordinator."""
        return self.directories.get(f"agent:{agent_id}") or self.directories.get(f"project:{project_id}")


class Coordinators:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def see(self, seen: Seen, now: Millis) -> None:
        can = {"providers": seen.providers, "accounts": seen.accounts, "labels": seen.labels}
        only = {"capabilities": seen.capabilities, "agents": seen.agents, "directories": seen.directories}
        has = {"sandbox": True} if seen.sandbox else {}
        self._connection.run(
            _SEE,
            id=seen.id,
            providers=to_json(seen.providers or []),
            seen_at=now,
            running=seen.running,
            machine=to_json({**can, **only, **has}),
        )

    def measured(self, coordinator_id: str, disk: Disk) -> None:
        """Stores the latest figures of a Coordinator, even if it has not claimed anything yet."""
        taken = to_json(asdict(disk))
        self._connection.run(
            _MEASURED, id=coordinator_id, providers="[]", seen_at=disk.measured_at, running=0, disk=taken
        )

    def count_as_heard(self, now: Millis, gone_after: Millis) -> None:
        """Those that were not gone when one of them was last heard count as heard now."""
        self._connection.run(_HEARD, now=now, since=gone_after)

    def all(self) -> list[Seen]:
        """Every Coordinator that ever called, with its last report."""
        return [_seen(*row) for row in self._connection.all(_SEEN)]


def _seen(id_: str, providers: str, seen_at: Millis, running: int, machine: str | None, disk: str | None) -> Seen:
    says = from_json(machine) if machine is not None else {"providers": from_json(providers)}
    return Seen(id_, running, seen_at=seen_at, disk=Disk(**from_json(disk)) if disk is not None else None, **says)

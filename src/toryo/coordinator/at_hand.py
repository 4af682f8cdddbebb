"""What the loop and its parts share, made once when a Coordinator begins: the server, the table, the journal …"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toryo.coordinator.config import Config
from toryo.coordinator.identity_lock import IdentityLock
from toryo.coordinator.jobs import Jobs
from toryo.coordinator.launch_journal import Journal
from toryo.coordinator.launches_in_hand import LaunchesInHand
from toryo.coordinator.log_shipper import LogShipper
from toryo.coordinator.missing_logins import MissingLogins
from toryo.coordinator.pending_reports import Reports
from toryo.coordinator.process_start import Starter
from toryo.coordinator.server_api import Server
from toryo.coordinator.server_status import ServerStatus
from toryo.coordinator.worktrees import Worktree


@dataclass
class AtHand:
    config: Config
    server: Server
    contact: ServerStatus
    starter: Starter
    table: LaunchesInHand
    journal: Journal
    telling: Reports
    shipping: LogShipper
    jobs: Jobs
    logins: MissingLogins
    instance: IdentityLock
    logs_in: Path
    news: asyncio.Event
    """Set whenever something has happened: causes another turn of the loop."""
    leaving_since: float | None = None
    """When the Coordinator was told to stop."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    """What goes on beside the loop, until it is done or the Coordinator leaves."""

    @property
    def running(self) -> list[str]:
        """The current launches, including those being started or ended."""
        return [each.launch.launch_id for each in self.table]

    def beside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


def path_of(worktree: Worktree | None) -> str | None:
    return None if worktree is None else str(worktree.path)


def now() -> float:
    return time.monotonic()

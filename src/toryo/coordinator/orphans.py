"""What a predecessor of this Coordinator left running on this machine: found by the launch id in its environment.

An orphan is the leader of a launch's process group whose Coordinator has ended, so it has a different parent now. This
Coordinator takes it over: it reports it as running, stops it on the server's order, and reports its end. If the server
has moved meanwhile, the orphan cannot reach it: it is ended. Programs start others, which may lead groups with the same
launch id: the oldest process of a launch is its program (processes that our own runners start do not carry the
Coordinator's process id). The children of a program are left to the program.
Acceptance checks are ended instead, because their outcome would be lost. They run again.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
from dataclasses import dataclass, field
from typing import Any

from toryo import output_redaction
from toryo.agents import env_vars
from toryo.coordinator import processes
from toryo.coordinator.orders import Launch


@dataclass(frozen=True, slots=True)
class Orphan:
    pid: int
    launch: Launch
    lost: bool
    """Its server address is no longer valid."""
    worktree: str | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """In its environment: those of the file that its Coordinator had, which may not be in the file of this one."""


def find(server_url: str, mark: str) -> list[Orphan]:
    """Processes of this server or this Coordinator; none where `/proc` is missing."""
    found: dict[str, tuple[int, Orphan]] = {}
    for pid, environ in processes.environments():
        here = environ.get(env_vars.SERVER_URL) == server_url
        own = environ.get(env_vars.COORDINATOR_ID) == mark
        if (here or own) and _left_behind(pid, environ):
            secrets = tuple(output_redaction.among(environ))
            orphan = Orphan(pid, _launch(environ), not here, environ.get(env_vars.WORKTREE), secrets)
            began, known = processes.began(pid), found.get(orphan.launch.launch_id)
            if began is not None and (known is None or (began, pid) < (known[0], known[1].pid)):
                found[orphan.launch.launch_id] = began, orphan
    return [orphan for _, orphan in found.values()]


def end_checks(mark: str) -> None:
    """Kills the acceptance checks that a predecessor of this Coordinator was running."""
    for pid, environ in processes.environments(env_vars.CHECK_ID):
        if environ.get(env_vars.COORDINATOR_ID) == mark:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _left_behind(pid: int, environ: dict[str, str]) -> bool:
    """Whether it leads its group and the Coordinator that started it is not its parent."""
    started_by = environ.get(env_vars.COORDINATOR_PID)
    try:
        leads = os.getpgid(pid) == pid
    except ProcessLookupError:
        return False
    return leads and started_by is not None and str(processes.parent_of(pid)) != started_by


def _launch(environ: dict[str, str]) -> Launch:
    return Launch(
        launch_id=environ[env_vars.LAUNCH_ID],
        agent_id=environ.get("AGENT_ID", ""),
        project_id=environ.get("PROJECT_ID", ""),
        purpose=environ.get(env_vars.PURPOSE, "task"),
        ai_type=environ.get(env_vars.PROVIDER, ""),
        program_session=_session(environ.get(env_vars.PROGRAM_SESSION)),
    )


def _session(told: str | None) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        found = json.loads(told or "{}")
        return found if isinstance(found, dict) else {}
    return {}

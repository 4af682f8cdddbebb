"""Where an agent works, and the directory of its own for generated files (configuration with credentials, plans).

The working directory belongs to people and is only checked; the launch's directory is ours: one per launch, so that
two processes of one agent never touch each other's files, and removed at exit.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from toryo.coordinator.orders import Launch
from toryo.coordinator.provider import BadConfig


def working_directory(launch: Launch, configured: str | None) -> Path:
    """The agent's own directory if this Coordinator's file names one, else the project's; real and existing.

    Raises BadConfig with what is wrong and where to mend it.
    """
    refuse_isolation(launch)
    named = configured or launch.working_directory
    where = f"the configuration of agent {launch.agent_id}" if configured else f"project {launch.project_id}"
    if not named:
        raise BadConfig(f"{where} has no working directory: give the project one that exists on this machine.")
    path = Path(named).expanduser()
    if not path.is_absolute():
        raise BadConfig(f"The working directory {named} of {where} is not absolute: a Coordinator may run anywhere.")
    if not path.is_dir():
        raise BadConfig(
            f"The working directory {named} of {where} does not exist on this machine: create it, or name another one"
            " (the project's working_directory, or agents.<id>.working_directory in the Coordinator's file)."
        )
    return path.resolve()


def refuse_isolation(launch: Launch) -> None:
    wanted = launch.workspace
    kind = wanted.get("isolation") if isinstance(wanted, Mapping) else wanted
    if kind not in (None, "", "none"):
        raise BadConfig(
            f"This Coordinator cannot give agent {launch.agent_id} a {kind} of its own (isolation: {kind}): set the"
            " project's isolation to none."
        )


class Workspaces:
    """`<directory>/<launch id>/`, mode 0700."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def make(self, launch_id: str) -> Path:
        path = self._directory / launch_id
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        return path

    def write(self, launch_id: str, files: Mapping[str, str]) -> None:
        """Writes generated files into the launch's directory, each readable by this user alone."""
        for name, text in files.items():
            path = self._directory / launch_id / name
            path.touch(mode=0o600)
            path.write_text(text, encoding="utf-8")

    def remove(self, launch_id: str) -> None:
        shutil.rmtree(self._directory / launch_id, ignore_errors=True)

"""Where an agent works, and its directory for generated files (configuration with credentials, plans).

The working directory belongs to people and is only checked; the launch's directory is ours: one per launch, so that
two processes of one agent never touch each other's files, and removed at exit.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from toryo.coordinator.orders import Launch
from toryo.coordinator.provider import BadConfig, BadDirectory

STDIN = "stdin.txt"


def working_directory(launch: Launch, configured: str | None) -> Path:
    """The agent's directory if this Coordinator's file names one, else the project's; resolved and existing.

    Raises BadConfig with the problem and where to fix it.
    """
    named = configured or launch.working_directory
    where = f"the configuration of agent {launch.agent_id}" if configured else f"project {launch.project_id}"
    bad = BadConfig if configured else BadDirectory
    if not named:
        raise bad(
            f"{where} sets no working directory. Set the project's working directory to one that exists on this "
            "machine."
        )
    path = Path(named).expanduser()
    if not path.is_absolute():
        raise bad(f"The working directory {named} of {where} is not an absolute path. Use the full path.")
    if not path.is_dir():
        raise bad(
            f"The working directory {named} of {where} does not exist on this machine. Create it, or choose "
            "another (the project's working_directory, or agents.<id>.working_directory in the Coordinator's "
            "file)."
        )
    return path.resolve()


class Workspaces:
    """`<directory>/<launch id>/`, mode 0700."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def path(self, launch_id: str) -> Path:
        return self.directory / launch_id

    def make(self, launch_id: str) -> Path:
        path = self.path(launch_id)
        try:
            path.mkdir(mode=0o700, exist_ok=True)
        except FileNotFoundError:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.mkdir(mode=0o700, exist_ok=True)
        return path

    def write(self, launch_id: str, files: Mapping[str, str]) -> None:
        """Writes generated files into the launch's directory, each readable by this user alone."""
        for name, text in files.items():
            path = self.directory / launch_id / name
            if os.sep in name:
                path.parent.mkdir(mode=0o700, exist_ok=True)
            with open(path, "w", encoding="utf-8", opener=_own) as file:
                file.write(text)

    def link(self, launch_id: str, links: Mapping[str, Path]) -> None:
        """Makes symbolic links in the launch's directory; what they lead to is made, as a directory, if missing."""
        for name, target in links.items():
            if not target.exists():
                target.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self.directory / launch_id / name
            path.parent.mkdir(mode=0o700, exist_ok=True)
            path.unlink(missing_ok=True)
            path.symlink_to(target)

    def reading(self, launch_id: str, text: str | None) -> int:
        """A descriptor from which a program reads the text (the caller closes it); for None DEVNULL."""
        if text is None:
            return subprocess.DEVNULL
        self.write(launch_id, {STDIN: text})
        return os.open(self.path(launch_id) / STDIN, os.O_RDONLY | os.O_CLOEXEC)

    def remove(self, launch_id: str) -> None:
        shutil.rmtree(self.directory / launch_id, ignore_errors=True)


def _own(path: str, flags: int) -> int:
    """Opens what only this user may read, from its first moment."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)

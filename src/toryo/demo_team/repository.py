"""The git repository of the demo's tea house: made with git itself, without anybody's configuration.

Nothing of the user's git is read (name, address, hooks, templates, signing), so it works where none is set up.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

OLDEST = (2, 38)
"""The first git that can merge worktrees (`coordinator/worktrees/git.py`)."""
TIME_LIMIT = 60.0
_OWN = (
    *("-c", "user.name=Toryo demo", "-c", "user.email=demo@example.invalid", "-c", "init.defaultBranch=main"),
    *("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.autocrlf=false"),
)


def is_possible() -> bool:
    """Whether there is a git for worktrees here."""
    try:
        found = re.search(r"(\d+)\.(\d+)", _git(Path(), "--version"))
    except OSError:
        return False
    return found is not None and (int(found[1]), int(found[2])) >= OLDEST


def commit_all(directory: Path) -> None:
    """Commits what is there, into a new repository if there is none. Raises OSError, in git's words."""
    if not (directory / ".git").exists():
        _git(directory, "init", "--quiet", "--template=")
    _git(directory, "add", "--all")
    if _git(directory, "status", "--porcelain"):
        _git(directory, "commit", "--quiet", "--message=The tea house before the demo")


def _git(directory: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", *_OWN, *words],
            cwd=directory,
            env=_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise OSError(0, f"git did not end within {TIME_LIMIT:g} seconds", str(directory)) from late
    if done.returncode:
        raise OSError(0, f"git {words[0]}: {done.stderr.strip()}", str(directory))
    return done.stdout


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in given.items() if not name.startswith("GIT_")}
    return {**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}

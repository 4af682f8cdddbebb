"""Whether to trust a data directory that was found rather than named: a `.toryo/` in a project.

Its creator knows the owner's token in it, and its database decides what `toryo up` runs. So it is trusted only if this
user alone owns it and it did not come with a repository. An empty one belongs to nobody yet. Where agents work,
`data_directories.py` trusts none of them: what an agent creates there belongs to this user, too.
"""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

DATA = ("toryo.db", "owner.token", "coordinator.token", "server.json", "server.lock", "coordinators")
"""What a server and a Coordinator keep there: by any of these it is a data directory that has been used."""
SECRETS = ("owner.token", "coordinator.token")
WITHIN = 10.0
"""Seconds for git to answer."""


class Untrusted(Exception):
    """A directory that is not a data directory, or may have been made by someone else; with an instruction."""

    def __init__(self, what: str, instruction: str) -> None:
        super().__init__(f"{what} {instruction}")
        self.what = what
        self.instruction = instruction


def check_trusted(place: Path) -> Path:
    """The directory itself; raises Untrusted where it may have come from somebody else."""
    found = [place / each for each in DATA if os.path.lexists(place / each)]
    if not found:
        return place
    if is_tracked(place):
        raise Untrusted(
            f"{place} may have come with a git repository. The one who created it knows its owner's token and can "
            "decide what runs here.",
            f"Do not use it. Remove it (git rm -r --cached {place.name}; rm -r {place.name}), or choose a data "
            "directory of your own with --data-dir.",
        )
    for each in (place, *found):
        _refuse_shared(each, place)
    return place


def is_tracked(path: Path) -> bool:
    """Whether a git repository has this file, or anything in this directory, under version control.

    Also where git cannot tell: what git cannot read may hide what came with the repository. `safe.directory` lets it
    read a repository of another user; nothing of that repository is executed by `ls-files`.
    """
    above = path.absolute().parent
    if not any(os.path.lexists(each / ".git") for each in (above, *above.parents)):
        return False
    quiet = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        answer = subprocess.run(
            ["git", "--no-pager", *quiet, "ls-files", "--cached", "-z", "--", f":(icase,literal){path.name}"],
            cwd=above,
            env=environment | {"GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WITHIN,
            check=False,
        )
    except FileNotFoundError:  # without git nothing was cloned here; what was unpacked is judged by its mode
        return False
    except subprocess.TimeoutExpired:
        return True
    return answer.returncode != 0 or bool(answer.stdout)


def _refuse_shared(path: Path, place: Path) -> None:
    found = path.stat() if path == place else path.lstat()
    if found.st_uid != os.geteuid():
        raise Untrusted(f"{path} belongs to another user.", "Choose a data directory of your own with --data-dir.")
    strict = path == place or path.name in SECRETS
    if strict and (found.st_mode & 0o077 or (not stat.S_ISREG(found.st_mode) and path != place)):
        mode, wanted = stat.S_IMODE(found.st_mode), "700" if path == place else "600"
        raise Untrusted(
            f"Other users can access {path} (mode {mode:04o}). Toryo never creates a data directory like that.",
            f"If it is yours: chmod {wanted} {path}. If it came with a repository or an archive: remove {place}.",
        )

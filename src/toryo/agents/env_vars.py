"""Names of the environment variables with which runners learn their identity and the paths of Toryo and Python."""

from __future__ import annotations

import os
import sys
from pathlib import Path

LAUNCH_ID = "TORYO_LAUNCH_ID"
CREDENTIAL = "TORYO_LAUNCH_CREDENTIAL"
PASSKEY = "AGENT_PASSKEY"
SERVER_URL = "TORYO_SERVER_URL"
PURPOSE = "TORYO_PURPOSE"
COORDINATOR_ID = "TORYO_COORDINATOR_ID"
COORDINATOR_PID = "TORYO_COORDINATOR_PID"
PROVIDER = "TORYO_PROVIDER"
PROGRAM_SESSION = "TORYO_PROGRAM_SESSION"
"""The earlier usage of a session that this launch resumes: a later Coordinator counts from there."""
SANDBOXED = "TORYO_SANDBOXED"
"""Set where the process is in a sandbox."""
WORKTREE = "TORYO_WORKTREE"
"""Where the launch's git worktree is, if it has one."""
UNREPORTED = "TORYO_UNREPORTED"
"""The file in which a runner keeps a result until the server has taken it. Its Coordinator reports what is left."""
CHECK_ID = "TORYO_CHECK_ID"
"""By these a later Coordinator on this machine recognises what its predecessor left behind."""


def own_python_path() -> dict[str, str]:
    """Lets `python -m toryo…` find this Toryo if it runs from a source checkout, and Python its libraries if they are
    not in the usual place."""
    import toryo

    root = str(Path(toryo.__file__).resolve().parents[1])
    installed = any(root == str(Path(each).resolve()) for each in sys.path if each.endswith("-packages"))
    libraries = {name: os.environ[name] for name in LIBRARIES if name in os.environ}
    return libraries if installed else {**libraries, "PYTHONPATH": root}


def runner(directory: Path) -> dict[str, str]:
    """What a runner needs of its launch beside its identity; `directory` is the launch's own."""
    return {**own_python_path(), UNREPORTED: str(directory / UNREPORTED_FILE)}


UNREPORTED_FILE = "unreported.json"
LIBRARIES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")

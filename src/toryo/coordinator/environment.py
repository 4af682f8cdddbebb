"""What an agent's process finds in its environment: an allow-list, what its provider adds, and who it is.

Nothing else of the Coordinator's own environment reaches it (a Coordinator may be started from inside an agent, with
markers that would make its children refuse to run, and holds a token that no agent may see).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # runners import this file, and start often
    from toryo.coordinator.orders import Launch

ALLOWED = frozenset(
    {
        "PATH",
        "HOME",
        "LANG",
        "LANGUAGE",
        "LOGNAME",
        "USER",
        "SHELL",
        "TERM",
        "TMPDIR",
        "TMP",
        "TEMP",
        "TZ",
        "VIRTUAL_ENV",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "NODE_EXTRA_CA_CERTS",
        "SYSTEMROOT",
    }
)
PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"})
"""What leads to a model's service: for programs that talk to one."""
ALLOWED_PREFIXES = ("LC_", "XDG_")

LAUNCH_ID = "TORYO_LAUNCH_ID"
CREDENTIAL = "TORYO_LAUNCH_CREDENTIAL"
PASSKEY = "AGENT_PASSKEY"
SERVER_URL = "TORYO_SERVER_URL"
PURPOSE = "TORYO_PURPOSE"
COORDINATOR_ID = "TORYO_COORDINATOR_ID"
COORDINATOR_PID = "TORYO_COORDINATOR_PID"
PROVIDER = "TORYO_PROVIDER"
PROGRAM_SESSION = "TORYO_PROGRAM_SESSION"
"""What the session that it goes on with had used before, if it does: a later Coordinator counts from there."""
WORKTREE = "TORYO_WORKTREE"
"""Where the launch's git worktree is, if it has one."""
CHECK_ID = "TORYO_CHECK_ID"
"""By these a later Coordinator on this machine recognises what its predecessor left behind."""


def allowed(inherited: Mapping[str, str], more: Iterable[str] = ()) -> dict[str, str]:
    """What passes: the allow-list, and what the provider's configuration names."""
    names = ALLOWED | set(more)
    return {name: value for name, value in inherited.items() if name in names or name.startswith(ALLOWED_PREFIXES)}


def identity(
    launch: Launch, server_url: str, mark: str, coordinator_pid: int, passkey: str | None = None
) -> dict[str, str]:
    """Who the process is and how it signs in. A passkey only helps where the server hands out no credential."""
    found = {
        SERVER_URL: server_url,
        LAUNCH_ID: launch.launch_id,
        PURPOSE: launch.purpose,
        PROVIDER: launch.ai_type,
        COORDINATOR_ID: mark,
        COORDINATOR_PID: str(coordinator_pid),
        "AGENT_ID": launch.agent_id,
        "PROJECT_ID": launch.project_id,
    }
    if launch.program_session:
        found[PROGRAM_SESSION] = json.dumps(launch.program_session)
    if launch.credential:
        found[CREDENTIAL] = launch.credential
    elif passkey:
        found[PASSKEY] = passkey
    return found


def own_python_path() -> dict[str, str]:
    """Lets `python -m toryo…` find this very Toryo when it runs from a source checkout instead of an installation, and
    Python its libraries where it needs to be told."""
    import toryo

    root = str(Path(toryo.__file__).resolve().parents[1])
    installed = any(root == str(Path(each).resolve()) for each in sys.path if each.endswith("-packages"))
    libraries = {name: os.environ[name] for name in _LIBRARIES if name in os.environ}
    return libraries if installed else {**libraries, "PYTHONPATH": root}


_LIBRARIES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")

"""The environment of an agent's process: an allow-list, the provider's additions, and the agent's identity.

Nothing else of the Coordinator's own environment is passed on: it may have been started from inside an agent, with
markers that would make its children refuse to run, and it has a token that no agent may see.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from toryo.agents.env_vars import (
    COORDINATOR_ID,
    COORDINATOR_PID,
    CREDENTIAL,
    LAUNCH_ID,
    PASSKEY,
    PROGRAM_SESSION,
    PROVIDER,
    PURPOSE,
    SERVER_URL,
)

if TYPE_CHECKING:
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
"""Proxy settings, for programs that call a model's service."""
ALLOWED_PREFIXES = ("LC_", "XDG_")


def allowed_variables(inherited: Mapping[str, str], more: Iterable[str] = ()) -> dict[str, str]:
    """The variables on the allow-list, and those that the provider's configuration names."""
    names = ALLOWED | set(more)
    return {name: value for name, value in inherited.items() if name in names or name.startswith(ALLOWED_PREFIXES)}


def identity(
    launch: Launch, server_url: str, mark: str, coordinator_pid: int, passkey: str | None = None
) -> dict[str, str]:
    """The identity of the process and its credential. A passkey is used only if the server provides no credential."""
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

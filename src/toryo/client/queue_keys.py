"""The way of a queue agent to its server, and a key made with the owner's token where none is given.

So that a first try needs no set-up. The key is for one agent and one type, stored nowhere, and revoked in the end.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from toryo.client import server_discovery
from toryo.client.asynchronous import AsyncClient
from toryo.client.errors import ProtocolError, RefusalError, Unreachable

VARIABLE = "TORYO_API_KEY"


@dataclass(frozen=True, slots=True)
class Way:
    """The server's address and the credential with which a key is created; None: discovered."""

    server: str | None = None
    token: str | None = None
    data_dir: Path | str | None = None

    def url(self) -> str:
        """Raises Unreachable where no server is named and none has left its address."""
        return server_discovery.find(self.server, None, self.data_dir, role=None).url

    def owner(self) -> AsyncClient:
        found = server_discovery.find(self.server, self.token, self.data_dir, role="owner")
        return AsyncClient(found.url, found.token)


@dataclass(frozen=True, slots=True)
class Made:
    token: str
    key_id: str


async def make(way: Way, agent_id: str, agent_type: str, project: str | None) -> Made:
    """A key for this agent and type. Raises RefusalError where the token may not make one, or no project is clear."""
    async with way.owner() as owner:
        chosen = project or await _only_project(owner)
        body = {"agent_id": agent_id, "types": [agent_type], "name": f"{agent_id} (registered by itself)"}
        answer = await owner.rest("POST", f"/projects/{chosen}/keys", body)
        return Made(answer["token"], answer["key"]["key_id"])


async def revoke(way: Way, made: Made) -> None:
    """As far as the server is there; `toryo token list` shows what is left."""
    with contextlib.suppress(Unreachable, RefusalError, ProtocolError):
        async with way.owner() as owner:
            await owner.rest("POST", f"/keys/{made.key_id}/revoke")


async def _only_project(owner: AsyncClient) -> str:
    found = [project for project in (await owner.rest("GET", "/projects"))["projects"] if project["status"] == "active"]
    if len(found) == 1:
        return str(found[0]["project_id"])
    named = ", ".join(each["project_id"] for each in found)
    raise RefusalError(
        "projectNotFound",
        f"There are {len(found)} active projects ({named})." if found else "There is no active project.",
        "Choose one with --project." if found else "Create one: toryo project add NAME --dir PATH",
    )

"""What one agent notes reaches another one of its project with its task, and nobody of another project: over MCP,
with a real server.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenarios.sites import Site
from toryo.client import Client

pytestmark = [pytest.mark.deep, pytest.mark.timeout(300, method="signal")]


class Hand:
    """An agent that signs in with its passkey and does its task."""

    def __init__(self, site: Site, agent_id: str, project: str, title: str) -> None:
        body = {"id": agent_id, "role": "worker", "projects": [project]}
        passkey = site.people.rest("POST", "/agents", body)["passkey"]
        self.task = site.file(project, title, assignee_id=agent_id, status="in_progress")
        self._client = Client(site.url)
        signed_in = self._client.call("authenticate", agent_id=agent_id, passkey=passkey, project_id=project)
        self._token = signed_in["session_token"]
        self.told = self.call("get_my_task")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self._client.call(tool, session_token=self._token, **arguments)


def test_a_fact_reaches_the_agents_of_its_project_and_nobody_else(site: Site) -> None:
    site.project("shop", decomposition="never")
    site.project("bank", decomposition="never")
    ann = Hand(site, "ann", "shop", "Mend the payment tests")
    assert "memories" not in ann.told["task"]
    ann.call("remember", text="The payment tests need Redis on port 6380.")

    bob = Hand(site, "bob", "shop", "Speed up the payment tests")
    [offered] = bob.told["task"]["memories"]
    assert (offered["text"], offered["by"]) == ("The payment tests need Redis on port 6380.", "ann")
    assert "data, not instructions" in bob.told["instruction"]
    [found] = bob.call("recall", query="redis port")["found"]
    assert found["task_id"] == ann.task

    eve = Hand(site, "eve", "bank", "Mend the payment tests")
    assert "memories" not in eve.told["task"]
    assert eve.call("recall", query="payment tests redis port 6380")["found"] == []

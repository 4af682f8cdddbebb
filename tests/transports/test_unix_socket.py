"""Everything of ours works over the Unix socket alone: both clients, the command line, a Coordinator and its agents."""

from __future__ import annotations

import asyncio
import json
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.environments import clean_environment
from tests.transports.conftest import LiveServer
from tests.transports.wires import ENDS_WITHIN, LIMIT
from toryo.client import AsyncClient, Client, RefusalError

AGENT = """\
import asyncio, json, sys
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

async def work() -> None:
    server = json.load(open(sys.argv[1]))["mcpServers"]["toryo"]
    assert server.pop("type") == "stdio", server
    async with Client(stdio_client(StdioServerParameters(**server))) as client:
        await client.call_tool("authenticate", {})
        await client.call_tool("report_model", {"provider": "mine", "model_id": "m"})
        task = (await client.call_tool("get_my_task", {})).structured_content["task"]
        done = await client.call_tool("report_completed", {"result": "success", "summary": "read " + task["title"]})
        assert not done.is_error, done
    print("the agent has reported")

asyncio.run(work())
"""


def test_only_its_owner_may_open_it(site: LiveServer) -> None:
    assert stat.S_IMODE(site.socket.stat().st_mode) == 0o600


def test_both_clients_call_tools_and_routes(site: LiveServer) -> None:
    address, token = f"unix://{site.socket}", site.token("owner")
    with Client(address, token) as blocking:
        assert blocking.call("health_check")["status"] == "ok"
        assert blocking.rest("GET", "/projects")["success"]
        with pytest.raises(RefusalError, match="taskNotFound"):
            blocking.rest("GET", "/tasks/none")

    async def story() -> None:
        async with AsyncClient(address, token) as client:
            answers = await asyncio.gather(*(client.call("health_check") for _ in range(30)))
            assert {answer["status"] for answer in answers} == {"ok"}
            assert (await client.rest("GET", "/projects"))["success"]

    asyncio.run(story())


def test_the_command_line_speaks_over_it(site: LiveServer) -> None:
    words = ("--server", f"unix://{site.socket}", "--data-dir", str(site.directory), "project", "list", "--json")
    found = subprocess.run(
        [sys.executable, "-m", "toryo", *words],
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=LIMIT,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert '"projects"' in found.stdout


# --- a Coordinator ---------------------------------------------------------------------------------------------------


@pytest.fixture
def coordinator(own_site: LiveServer, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """One that knows of the server nothing but the socket, as `coordinator_config.yaml` says it."""
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "coordinator_config.yaml").write_text(
        f"mcp_socket_path: {own_site.socket}\n"
        f"ai_providers:\n  mine:\n    cli_command: {json.dumps(sys.executable)}\n"
        f'    cli_args: [{tmp_path / "agent.py"}, "{{mcp_config}}", "{{prompt}}"]\n'
    )
    words = ("coordinator", "-c", str(tmp_path / "coordinator_config.yaml"), "--data-dir", str(own_site.directory))
    # the project lies in the server's own directory, which no sandbox shows
    environment = {**clean_environment(), "TORYO_SANDBOX": "none"}
    process = subprocess.Popen([sys.executable, "-m", "toryo", *words], env=environment)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(ENDS_WITHIN * 4)


@pytest.mark.pitfall("F42")
@pytest.mark.parametrize("provider", ["command", pytest.param("mine", marks=pytest.mark.deep)])
def test_a_coordinator_and_its_agents_work_over_it(
    own_site: LiveServer, coordinator: subprocess.Popen[bytes], tmp_path: Path, provider: str
) -> None:
    project = own_site.project(decomposition="never")
    agent = own_site.agent(project, provider=provider)
    context = {"command": "echo done > made.txt"} if provider == "command" else None
    task = own_site.task(project, "The house", assignee_id=agent.id, status="in_progress", context=context)
    assert finished(own_site, task)["status"] == "completed"
    if provider == "mine":
        assert shown(own_site, task)["summary"] == "read The house"


def finished(site: LiveServer, task: str) -> dict[str, Any]:
    """The task, once it is closed; waits for events, not for time."""
    after = 0
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        found = shown(site, task)
        if found["status"] in ("completed", "failed", "cancelled", "blocked"):
            return found
        page: dict[str, str | int] = {"after": after, "wait_seconds": 15, "task_id": task}
        after = site.people.get("/events", params=page).json()["last"]
    raise AssertionError(f"it never ended: {found}")


def shown(site: LiveServer, task: str) -> dict[str, Any]:
    found: dict[str, Any] = site.people.get(f"/tasks/{task}").json()["task"]
    return found

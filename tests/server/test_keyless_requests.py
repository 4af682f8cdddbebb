"""A server that is open (`TORYO_AUTH__MODE=open`), over HTTP: seed 4's calls word for word, and who is kept out."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from tests.sandboxes import sandboxed
from tests.server.http import PLAIN, call
from toryo.server import app, listeners
from toryo.server.app import Running
from toryo.server.keyless_requests import KeylessRequests
from toryo.settings import AuthSettings, Settings

__all__ = ["sandboxed"]

JSON_RPC = dict(PLAIN[1:])
REGISTER = {
    "agent_id": "planning-agent-001",
    "agent_type": "planning",
    "capabilities": ["task_decomposition", "dependency_analysis", "risk_assessment"],
}
CREATE = {
    "agent_type": "planning",
    "task_description": "ユーザー認証機能の実装計画を作成してください。",
    "dependencies": [],
}
ASKS = """
import json, sys, urllib.request
request = urllib.request.Request(sys.argv[1], data=sys.argv[2].encode(), headers=json.loads(sys.argv[3]))
print(urllib.request.urlopen(request).read().decode())
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    socket = tmp_path / "toryo.sock"
    settings = Settings(port=0, data_dir=tmp_path / "data", socket=socket, auth=AuthSettings(mode="open"))
    with app.run_in_thread(settings) as running:
        owner = {"Authorization": f"Bearer {running.app.directory.token('owner.token')}"}
        made = httpx.post(
            f"{running.url}/api/v1/projects", json={"name": "House", "working_directory": str(tmp_path)}, headers=owner
        )
        assert made.status_code == 201, made.text
        yield running


def tool(http: httpx.Client, name: str, arguments: dict[str, Any], **headers: str) -> Any:
    answer = http.post("/mcp", content=call(name, arguments), headers={**JSON_RPC, **headers}).json()["result"]
    return answer["structuredContent"]


def test_seed_4s_calls_work_as_they_stand_there(server: Running) -> None:
    """Rows 4.34 to 4.40: no header, no key, and an agent that registers at every start."""
    with httpx.Client(base_url=server.url) as http:
        assert tool(http, "register_agent", REGISTER)["success"]
        assert tool(http, "register_agent", REGISTER)["success"]
        task = tool(http, "create_task", CREATE)
        assert (task["status"], task["assigned_agent_id"]) == ("pending", None)
        (got,) = tool(http, "poll_tasks", {"agent_id": "planning-agent-001", "max_tasks": 1})["result"]
        assert (got["task_id"], got["status"]) == (task["task_id"], "in_progress")
        tool(http, "submit_result", {"task_id": task["task_id"], "status": "completed", "result": {"plan_id": "p"}})
        assert tool(http, "get_task_status", {"task_id": task["task_id"]})["status"] == "completed"
        assert tool(http, "set_shared_state", {"key": "project:database_schema", "value": {}, "ttl": 7200})["success"]
        assert tool(http, "get_shared_state", {"key": "project:database_schema"})["found"]
        body = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        listed = http.post("/mcp", content=body, headers=JSON_RPC).json()["result"]["tools"]
        assert {"register_agent", "poll_tasks", "submit_result", "create_task"} <= {each["name"] for each in listed}


@pytest.mark.parametrize("headers", [{"Origin": "SELF"}, {"Authorization": "Bearer tqk_wrong"}, {"Cookie": "a=b"}])
def test_a_page_of_a_browser_and_a_wrong_key_are_no_call_without_a_key(
    server: Running, headers: dict[str, str]
) -> None:
    sent = {name: server.url if value == "SELF" else value for name, value in headers.items()}
    with httpx.Client(base_url=server.url) as http:
        assert tool(http, "create_task", CREATE, **sent)["error"] in ("authenticationRequired", "invalidCredentials")


def test_the_socket_file_asks_for_a_credential(server: Running) -> None:
    """A sandbox may show it, and nobody can be told apart there."""
    path = str(server.app.settings.socket)
    with httpx.Client(transport=httpx.HTTPTransport(uds=path), base_url="http://127.0.0.1") as http:
        assert tool(http, "create_task", CREATE)["error"] == "authenticationRequired"


@pytest.mark.usefixtures("sandboxed")
def test_a_program_in_a_sandbox_needs_its_credential_and_one_outside_does_not(server: Running) -> None:
    body, headers = call("create_task", CREATE).decode(), orjson.dumps(JSON_RPC).decode()
    asked = [sys.executable, "-c", ASKS, f"{server.url}/mcp", body, headers]
    outside = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert '"status":"pending"' in outside.stdout
    bwrap = shutil.which("bwrap")
    assert bwrap is not None
    shown = [bwrap, "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc"]
    inside = subprocess.run([*shown, *asked], capture_output=True, text=True, check=True)
    assert "authenticationRequired" in inside.stdout, inside.stdout


def test_what_a_program_has_open_to_another_server_is_no_call_of_this_one() -> None:
    """A port is its own at one end only: the other end says whose connection it is."""
    keyless = KeylessRequests()
    with listeners.tcp("127.0.0.1", 0) as here, listeners.tcp("127.0.0.1", 0) as elsewhere:
        here.listen()
        with socket.create_connection(here.getsockname()) as program:
            scope = {"client": program.getsockname(), "headers": []}
            assert keyless.admits({**scope, "server": here.getsockname()})
            assert not keyless.admits({**scope, "server": elsewhere.getsockname()})

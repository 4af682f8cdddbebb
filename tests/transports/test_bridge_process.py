"""`toryo mcp` as a process: when it ends, whose credential it shows, how it finds the server and finds it again."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.environments import clean_environment
from tests.transports.conftest import LiveServer
from tests.transports.wires import (
    CLIENT,
    ENDS_WITHIN,
    LIMIT,
    Bridged,
    bridged,
    call,
    content,
    request,
)
from toryo.server import app
from toryo.settings import Settings

CLAIM = {"agent_ids": [], "free_slots": 1, "timeout_seconds": 45}


def board(project: str) -> str:
    return f"toryo://project/{project}/board"


# --- its end -------------------------------------------------------------------------------------------------------


def test_it_ends_when_its_stdin_closes(site: LiveServer) -> None:
    async def story() -> None:
        async with bridged({"TORYO_SERVER_URL": site.url}) as bridge:
            await bridge.shake_hands()
            assert await bridge.end() == 0

    asyncio.run(story())


def test_it_ends_though_a_call_waits_at_the_server(site: LiveServer) -> None:
    async def story() -> None:
        async with bridged({"TORYO_SERVER_URL": site.url, "TORYO_TOKEN": site.token("coordinator")}) as bridge:
            arguments = {**CLAIM, "coordinator_id": "c-ends"}
            bridge.tell(request(1, "tools/call", {"name": "claim_starts", "arguments": arguments}))
            await asyncio.to_thread(site.until_followed, "work")
            assert await bridge.end() == 0
            await asyncio.to_thread(site.until_followed, "work", 0)

    asyncio.run(story())


def test_it_ends_though_nobody_is_there_to_serve_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with bridged({"TORYO_DATA_DIR": str(tmp_path)}) as bridge:
            bridge.tell(request(1, "tools/list"))
            assert await bridge.end() == 0
            answer = bridge.heard.get_nowait()
            assert (answer["id"], answer["error"]["code"]) == (1, -32000)
            assert "toryo up" in answer["error"]["message"]

    asyncio.run(story())


def test_a_termination_ends_it(site: LiveServer) -> None:
    async def story() -> None:
        async with bridged({"TORYO_SERVER_URL": site.url}) as bridge:
            await bridge.shake_hands()
            bridge.process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(bridge.process.wait(), ENDS_WITHIN) == -signal.SIGTERM

    asyncio.run(story())


def test_a_file_of_requests_is_answered_whole(site: LiveServer, tmp_path: Path) -> None:
    lines = [request(0, "initialize", CLIENT), *(request(n, "tools/list") for n in range(1, 6)), b"no JSON"]
    (tmp_path / "in").write_bytes(b"\n".join(lines))
    with (tmp_path / "in").open() as given, (tmp_path / "out").open("w") as answers:
        subprocess.run(
            [sys.executable, "-m", "toryo", "mcp", "--server", site.url],
            stdin=given,
            stdout=answers,
            env=clean_environment(),
            timeout=LIMIT,
            check=True,
        )
    found = [orjson.loads(line) for line in (tmp_path / "out").read_bytes().splitlines()]
    assert sorted(each["id"] for each in found if each["id"] is not None) == [0, 1, 2, 3, 4, 5]
    assert [each["error"]["code"] for each in found if each["id"] is None] == [-32700]


def test_an_address_that_is_none_is_wrong_usage() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "toryo", "mcp", "--server", "ftp://here"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=LIMIT,
        check=False,
    )
    assert (found.returncode, found.stdout) == (2, "")
    assert "ftp://here" in found.stderr


# --- whose it is -----------------------------------------------------------------------------------------------------


async def who(bridge: Bridged) -> str:
    """What the server takes the bridge for, by what it may do."""
    answer = await call(bridge, "list_managed_agents")
    return "coordinator" if not answer["isError"] else str(answer["structuredContent"]["error"])


def test_it_never_reads_a_token_file(site: LiveServer) -> None:
    async def story() -> None:
        async with bridged({"TORYO_DATA_DIR": str(site.directory)}) as bridge:
            assert (await content(bridge, "health_check"))["status"] == "ok"
            answer = await bridge.ask("resources/list")
            assert answer["result"]["resources"] == [], "the owner would be shown boards"

    asyncio.run(story())


def test_a_token_that_is_given_is_shown(site: LiveServer) -> None:
    async def story() -> None:
        for way in ({"TORYO_TOKEN": site.token("coordinator")}, {}):
            words = [] if way else ["--token", site.token("coordinator")]
            async with bridged({"TORYO_SERVER_URL": site.url, **way}, *words) as bridge:
                assert await who(bridge) == "coordinator"

    asyncio.run(story())


def test_inside_an_agent_its_launch_credential_is_the_only_one(site: LiveServer) -> None:
    agent = site.worker()

    async def story() -> None:
        coordinator = {"TORYO_SERVER_URL": site.url, "TORYO_TOKEN": site.token("coordinator")}
        async with bridged(coordinator) as bridge:
            asked = {"coordinator_id": f"c-{agent.id}", "agent_ids": [agent.id], "providers": ["command"]}
            (launch,) = (await content(bridge, "claim_starts", free_slots=1, **asked))["start"]
        async with bridged({**coordinator, "TORYO_LAUNCH_CREDENTIAL": launch["credential"]}) as bridge:
            assert (await content(bridge, "authenticate"))["agent_id"] == agent.id
            assert await who(bridge) == "coordinatorRequired"

    asyncio.run(story())


# --- a server that goes and comes -----------------------------------------------------------------------------------


def test_a_request_made_while_the_server_is_away_is_answered_when_it_is_back(own_site: LiveServer) -> None:
    async def story() -> None:
        async with bridged({"TORYO_SERVER_URL": own_site.url}) as bridge:
            await bridge.shake_hands()
            await asyncio.to_thread(own_site.stop)
            asked = asyncio.create_task(content(bridge, "health_check"))
            await asyncio.to_thread(own_site.start_again)
            assert (await asked)["status"] == "ok"

    asyncio.run(story())


def test_it_finds_a_server_that_came_back_at_another_address(tmp_path: Path) -> None:
    settings = Settings(port=0, data_dir=tmp_path)

    async def story() -> None:
        async with bridged({"TORYO_DATA_DIR": str(tmp_path)}) as bridge:
            for _ in range(2):
                running = await asyncio.to_thread(app.run_in_thread, settings)
                try:
                    assert (await content(bridge, "health_check"))["status"] == "ok"
                finally:
                    await asyncio.to_thread(running.close)

    asyncio.run(story())


def test_subscriptions_outlive_a_server_that_is_started_again(own_site: LiveServer) -> None:
    project = own_site.project()
    uri = board(project)

    async def story() -> None:
        environment = {"TORYO_SERVER_URL": own_site.url, "TORYO_TOKEN": own_site.token("owner")}
        async with bridged(environment) as bridge:
            await bridge.shake_hands()
            assert "result" in await bridge.ask("resources/subscribe", {"uri": uri})
            await asyncio.to_thread(own_site.until_followed, f"project:{project}")
            await asyncio.to_thread(own_site.stop)
            await asyncio.to_thread(own_site.start_again)
            assert await update(bridge) == uri, "something may have happened meanwhile"
            await asyncio.to_thread(own_site.until_followed, f"project:{project}")
            await asyncio.to_thread(own_site.task, project)
            assert await update(bridge) == uri

    asyncio.run(story())


async def update(bridge: Bridged) -> Any:
    message = await asyncio.wait_for(bridge.heard.get(), LIMIT)
    assert message["method"] == "notifications/resources/updated"
    return message["params"]["uri"]


# --- giving up ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("handshake", [True, False])
def test_a_cancelled_request_is_not_answered_and_leaves_nobody_waiting(site: LiveServer, handshake: bool) -> None:
    async def story() -> None:
        environment = {"TORYO_SERVER_URL": site.url, "TORYO_TOKEN": site.token("coordinator")}
        async with bridged(environment) as bridge:
            if handshake:
                await bridge.shake_hands()
            arguments = {**CLAIM, "coordinator_id": f"c-cancels-{handshake}"}
            bridge.tell(request("held", "tools/call", {"name": "claim_starts", "arguments": arguments}))
            await asyncio.to_thread(site.until_followed, "work")
            bridge.tell_of("notifications/cancelled", {"requestId": "held", "reason": "enough"})
            await asyncio.to_thread(site.until_followed, "work", 0)
            assert (await content(bridge, "health_check"))["status"] == "ok"
            assert bridge.heard.empty()

    asyncio.run(story())

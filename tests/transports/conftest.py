"""A real server on TCP and on a Unix socket, and the ways to it; each test of the suite runs over all of them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.stories import fresh, quiet, world
from tests.transports import wires
from tests.transports.wires import LIMIT, Wire
from toryo.server import app, long_polling
from toryo.server.app import Running
from toryo.settings import Settings

__all__ = ["fresh", "quiet", "world"]

KINDS = ("tcp", "unix", "stdio", pytest.param("stdio over unix", marks=pytest.mark.deep))

Connect = Callable[..., AbstractAsyncContextManager[Wire]]
"""`async with connect(token) as wire:`"""

_numbers = count(1)


@dataclass
class LiveServer:
    """A server that can be stopped and started again at the same addresses, and what a person does there."""

    directory: Path
    running: Running
    port: int = 0
    people: httpx.Client = field(init=False)

    @classmethod
    def start(cls, directory: Path) -> LiveServer:
        return cls.at(directory, _serve(directory, 0))

    @classmethod
    def at(cls, directory: Path, running: Running) -> LiveServer:
        """A server that runs already, with its data directory."""
        site = cls(directory, running, int(running.url.rsplit(":", 1)[1]))
        site.people = httpx.Client(
            base_url=f"{running.url}/api/v1",
            headers={"Authorization": f"Bearer {site.token('owner')}"},
            timeout=LIMIT,
        )
        return site

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def socket(self) -> Path:
        return self.directory / "toryo.sock"

    def token(self, role: str) -> str:
        return (self.directory / f"{role}.token").read_text().strip()

    def stop(self) -> None:
        self.running.close()

    def start_again(self) -> None:
        self.running = _serve(self.directory, self.port)

    def close(self) -> None:
        self.people.close()
        self.running.close()

    # --- people -------------------------------------------------------------------------------------------------------

    def send(self, path: str, **body: Any) -> Any:
        response = self.people.post(path, json=body)
        assert response.is_success, response.text
        return response.json()

    def project(self, **settings: Any) -> str:
        body = {"name": f"P{next(_numbers)}", "working_directory": str(self.directory), "settings": settings}
        found: str = self.send("/projects", **body)["project"]["id"]
        return found

    def agent(self, project: str, provider: str = "command") -> Agent:
        """A worker of the project, whom a Coordinator may start."""
        name = f"w{next(_numbers)}"
        made = self.send("/agents", id=name, role="worker", provider=provider, projects=[project])
        return Agent(name, made["passkey"], project)

    def task(self, project: str, title: str = "Build it", **more: Any) -> str:
        found: str = self.send(f"/projects/{project}/tasks", title=title, **more)["task_id"]
        return found

    def worker(self) -> Agent:
        """A worker with a task in progress, in a project of its own."""
        agent = self.agent(self.project())
        agent.task = self.task(agent.project, assignee_id=agent.id, status="in_progress")
        return agent

    # --- signals ------------------------------------------------------------------------------------------------------

    def until_followed(self, topic: str, times: int = 1) -> None:
        """Waits until so many waiters listen to a topic; fails if they do not."""
        self.until(lambda: len(self._listening(topic)) == times)

    def _listening(self, topic: str) -> set[Any]:
        found: set[Any] = self.running.app.bus._subscriptions._by_topic.get(topic, set())  # type: ignore[attr-defined]
        return found

    @staticmethod
    def until(condition: Callable[[], bool]) -> None:
        """Waits for something that another thread does and gives no signal of."""
        deadline = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < deadline
            threading.Event().wait(0.01)


@dataclass
class Agent:
    id: str
    passkey: str
    project: str
    task: str = ""

    @property
    def credentials(self) -> dict[str, str]:
        return {"agent_id": self.id, "passkey": self.passkey, "project_id": self.project}

    async def sign_in(self, wire: Wire) -> str:
        """Its session token."""
        token: str = (await wires.content(wire, "authenticate", **self.credentials))["session_token"]
        return token


def _serve(directory: Path, port: int) -> Running:
    return app.run_in_thread(Settings(port=port, data_dir=directory, socket=directory / "toryo.sock"))


@pytest.fixture(autouse=True)
def only_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody who waits looks again unasked, so an answer that comes at all came of a hint, however busy the machine."""
    monkeypatch.setattr(long_polling, "LOOK_AGAIN", 1000.0)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One server for the tests of a file."""
    with contextlib.closing(LiveServer.start(tmp_path_factory.mktemp("site"))) as started:
        yield started


@pytest.fixture
def own_site(tmp_path: Path) -> Iterator[LiveServer]:
    """A server that the test may stop."""
    with contextlib.closing(LiveServer.start(tmp_path)) as started:
        yield started


def way_to(site: LiveServer, kind: str) -> Connect:
    """How a client of that kind reaches the server."""

    def connect(token: str | None = None) -> AbstractAsyncContextManager[Wire]:
        if kind == "tcp":
            return wires.posting(site.url, token)
        if kind == "unix":
            return wires.posting("http://localhost:80", token, site.socket)
        named = {"TORYO_TOKEN": token} if token else {}
        server = site.url if kind == "stdio" else f"unix://{site.socket}"
        return wires.bridged({"TORYO_SERVER_URL": server, **named})

    return connect


@pytest.fixture(params=KINDS)
def connect(request: pytest.FixtureRequest, site: LiveServer) -> Connect:
    return way_to(site, request.param)


@pytest.fixture(params=KINDS)
def connect_to_own(request: pytest.FixtureRequest, own_site: LiveServer) -> Connect:
    return way_to(own_site, request.param)

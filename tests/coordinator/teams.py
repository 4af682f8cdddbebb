"""A team on a real server with a real Coordinator and real processes, seen by its owner over REST."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from toryo.client import Client, server_discovery
from toryo.coordinator.config import Config
from toryo.coordinator.loop import Coordinator
from toryo.coordinator.provider import Provider

BOUND = 100.0
CLOSED = ("completed", "failed", "cancelled", "blocked")


@contextmanager
def coordinating(data: Path, providers: Mapping[str, Provider] | None = None, **more: Any) -> Iterator[None]:
    """A Coordinator in a thread of its own; leaves, with its agents, at the end."""
    made: list[tuple[asyncio.AbstractEventLoop, Coordinator]] = []
    there = threading.Event()

    async def go() -> None:
        config = Config(**{"max_concurrent": 8, "polling_interval": 0.5, "shutdown_grace_seconds": 5, **more})
        made.append((asyncio.get_running_loop(), Coordinator(config, data_dir=data, providers=providers)))
        there.set()
        await made[0][1].run()

    thread = threading.Thread(target=lambda: asyncio.run(go()))
    thread.start()
    assert there.wait(BOUND)
    try:
        yield
    finally:
        loop, coordinator = made[0]
        loop.call_soon_threadsafe(coordinator.stop)
        thread.join(BOUND)
        assert not thread.is_alive()


class Team:
    """One project with its people, seen by its owner."""

    def __init__(self, data: Path, name: str, directory: Path) -> None:
        found = server_discovery.find(data_dir=data, environ={})
        self.client = Client(found.url, found.token)
        self.name, self.directory = name, directory
        directory.mkdir()
        body = {"id": name, "name": name, "working_directory": str(directory)}
        # In the sandbox as people get it, but with an open network: tests/scenarios have a proxy for each launch.
        settings = {"commands_from": "managers", "network": "open"}
        self.client.rest("POST", "/projects", {**body, "settings": settings})

    def hire(self, agent: str, provider: str, role: str = "worker", **more: Any) -> str:
        agent = f"{self.name}-{agent}"
        body = {"id": agent, "role": role, "provider": provider, "projects": [self.name], **more}
        self.client.rest("POST", "/agents", body)
        return agent

    def file(self, title: str, assignee: str, **more: Any) -> str:
        body = {"title": title, "assignee_id": assignee, "status": "in_progress", **more}
        return str(self.client.rest("POST", f"/projects/{self.name}/tasks", body)["task_id"])

    def task(self, task_id: str) -> dict[str, Any]:
        return dict(self.client.rest("GET", f"/tasks/{task_id}")["task"])

    def below(self, task_id: str) -> dict[str, dict[str, Any]]:
        tasks = self.client.rest("GET", f"/projects/{self.name}/tasks", params={"parent_task_id": task_id})["tasks"]
        return {task["title"]: task for task in tasks}

    def closed(self, task_id: str) -> dict[str, Any]:
        """The task when it has come to its end."""
        task: dict[str, Any] = self.until(lambda: self.task(task_id), lambda task: task["status"] in CLOSED)
        return task

    def launches(self, agent: str) -> list[dict[str, Any]]:
        return list(self.client.rest("GET", "/launches", params={"agent_id": agent})["launches"])

    def until(self, look: Any, holds: Any) -> Any:
        """Looks again at each event, for a bounded time."""
        last, give_up = 0, time.monotonic() + BOUND
        while not holds(found := look()):
            assert time.monotonic() < give_up, found
            events = self.client.rest("GET", "/events", params={"after": last, "wait_seconds": 2})
            last = events["last"]
        return found

    # --- talking ----------------------------------------------------------------------------------------------------

    def write(self, agent: str, content: str) -> dict[str, Any]:
        """The owner writes to an agent."""
        path = f"/projects/{self.name}/chats/{agent}/messages"
        return dict(self.client.rest("POST", path, {"content": content})["message"])

    def thread(self, agent: str, other: str | None = None) -> list[dict[str, Any]]:
        """What an agent and the owner (or another agent) have said to each other; Toryo's own words are left out."""
        path = f"/projects/{self.name}/chats/{agent}/messages"
        params = {"limit": 200, **({"with_agent_id": other} if other else {})}
        found = self.client.rest("GET", path, params=params)["messages"]
        return [each for each in found if each["kind"] == "message"]

    def said_by(self, agent: str, count: int = 1) -> list[str]:
        """What an agent has written to the owner, once it is so much."""
        look = lambda: [each["content"] for each in self.thread(agent) if each["from_agent_id"] == agent]  # noqa: E731
        found: list[str] = self.until(look, lambda said: len(said) >= count)
        return found

    def conversations(self) -> list[dict[str, Any]]:
        return list(self.client.rest("GET", f"/projects/{self.name}/conversations")["conversations"])

    def conversation_over(self, number: int = 0) -> dict[str, Any]:
        """A conversation of this project, once it is over."""
        over = ("ending", "ended", "expired")
        holds = lambda found: len(found) > number and found[number]["state"] in over  # noqa: E731
        found: list[dict[str, Any]] = self.until(self.conversations, holds)
        return found[number]


def running() -> set[str]:
    """The words of every process of this machine."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.add(path.read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace"))
    return found

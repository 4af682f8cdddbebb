"""A Toryo server in a thread, and the test as its people and its Coordinator: whoever is started is started by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from toryo.client import Client
from toryo.server import app
from toryo.settings import Settings

PROJECT = "house"


@dataclass(frozen=True)
class Order:
    """What a Coordinator would start."""

    launch_id: str
    agent_id: str
    credential: str


class Office:
    """`with Office(directory) as office:` has a server with one project."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._running = app.run_in_thread(Settings(port=0, data_dir=directory, socket=directory / "toryo.sock"))
        self.url = self._running.url
        self.people = Client(self.url, self._token("owner"))
        self._coordinator = Client(self.url, self._token("coordinator"))

    def __enter__(self) -> Self:
        body = {"id": PROJECT, "name": PROJECT, "working_directory": str(self._directory)}
        self.people.rest("POST", "/projects", body)
        return self

    def __exit__(self, *_: object) -> None:
        self.people.close()
        self._coordinator.close()
        self._running.close()

    def hire(self, name: str, provider: str, role: str = "worker", **more: Any) -> str:
        more.setdefault("provider_options", {"permissions": "full"})
        body = {"id": name, "role": role, "provider": provider, "projects": [PROJECT], **more}
        self.people.rest("POST", "/agents", body)
        return name

    def file(self, assignee: str, title: str = "Build it") -> str:
        """Files a task that is in progress; its id."""
        filed = {"title": title, "assignee_id": assignee, "status": "in_progress"}
        return str(self.people.rest("POST", f"/projects/{PROJECT}/tasks", filed)["task_id"])

    def worker(self, name: str, provider: str) -> str:
        """Makes a worker, and files a task for it; the task's id."""
        return self.file(self.hire(name, provider))

    def orders(self) -> list[Order]:
        """The starts that there are to make now."""
        starts = self._coordinator.call("claim_starts", coordinator_id="desk", free_slots=9)["start"]
        return [Order(start["launch_id"], start["agent_id"], start["credential"]) for start in starts]

    def order(self) -> Order:
        """The one start that there is to make."""
        (only,) = self.orders()
        return only

    def ended(self, order: Order, exit_code: int) -> None:
        told = {"launch_id": order.launch_id, "exit_code": exit_code}
        self._coordinator.call("report_process_exit", **told)

    def task(self, task_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.people.rest("GET", f"/tasks/{task_id}")["task"]
        return found

    def _token(self, role: str) -> str:
        return (self._directory / f"{role}.token").read_text().strip()

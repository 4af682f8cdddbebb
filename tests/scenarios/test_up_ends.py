"""`toryo up` takes what it has started with it, however it ends; who works in a project does not meet its tokens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.environments import clean_environment
from tests.scenarios import programs
from tests.scenarios.histories import History
from tests.scenarios.programs import Program
from tests.scenarios.sites import Site
from toryo.client import Client

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

WITHIN = 100.0
BLOCKED = "echo at work; exec sleep 1000"
LOOK = """
up() { d=$PWD; while [ "$d" != / ]; do ls -a "$d" "$d/.toryo" 2>/dev/null; d=$(dirname "$d"); done; }
up | grep -c "token$"; find . -name "*.token" | wc -l; pwd
"""


class Bakery:
    """A project as `toryo init` leaves it, `toryo up` in it, and an agent that runs commands."""

    def __init__(self, directory: Path) -> None:
        self.place = directory / "bakery"
        self.place.mkdir()
        self.environment = clean_environment(directory)
        self._run("init", "--yes", "--provider", "none")
        config = directory / "coordinator.yaml"
        self.shown = directory / "shown"
        self.shown.mkdir()
        config.write_text(f"shutdown_grace_seconds: 1\npolling_interval: 0.5\nsandbox_write: [{self.shown}]\n")
        self.up = Program("up", ["up", "--port", "0", "-c", str(config)], self.environment, self.place, real=True)

    @property
    def data(self) -> Path:
        return Path((self.place / ".toryo" / "data-dir").read_text().strip())

    @property
    def server(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.data / "server.json").read_text())
        return found

    @property
    def people(self) -> Client:
        return Client(self.server["url"], (self.data / "owner.token").read_text().strip(), patience_seconds=60)

    def start(self) -> None:
        self.up.start().says("connected to http")

    def work(self, command: str, **settings: Any) -> str:
        """Has an agent run a command; the task's id."""
        self.people.rest(
            "POST",
            "/projects",
            {"id": "bakery", "name": "Bakery", "working_directory": str(self.place), "settings": settings},
        )
        self.people.rest(
            "POST", "/agents", {"id": "baker", "role": "worker", "provider": "command", "projects": ["bakery"]}
        )
        task = {"title": "Bake", "assignee_id": "baker", "status": "in_progress", "context": {"command": command}}
        return str(self.people.rest("POST", "/projects/bakery/tasks", task)["task_id"])

    def launch(self) -> dict[str, Any]:
        """The one launch, when its agent has signed in."""
        people = self.people
        self.until(lambda: any(each["state"] == "signed_in" for each in people.rest("GET", "/launches")["launches"]))
        launch: dict[str, Any] = people.rest("GET", "/launches")["launches"][0]
        return launch

    def until(self, condition: Callable[[], bool]) -> None:
        """Looks whenever something has happened."""
        history, limit = History(self.people), time.monotonic() + WITHIN
        while not condition():
            assert time.monotonic() < limit
            history.read(wait_seconds=1)

    def processes(self) -> list[int]:
        """Server, Coordinator, and every process of an agent."""
        url = self.server["url"]
        coordinators = [int(path.read_text()) for path in (self.data / "coordinators").glob("*.lock")]
        return [self.server["pid"], *coordinators, *programs.everything_of([url])]

    def toryo(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "toryo", *words],
            env=self.environment,
            cwd=self.place,
            capture_output=True,
            text=True,
            check=False,
            timeout=WITHIN,
        )

    def _run(self, *words: str) -> None:
        ended = self.toryo(*words)
        assert ended.returncode == 0, ended.stderr

    def close(self) -> None:
        self.up.end()
        self.toryo("down")


@pytest.fixture
def bakery(tmp_path: Path) -> Iterator[Bakery]:
    made = Bakery(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("how", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGHUP, 0), (signal.SIGTERM, 0), (signal.SIGINT, 130)]
)
def test_server_coordinator_and_agents_end_with_up_and_the_server_hears_of_it(
    bakery: Bakery, how: signal.Signals, code: int
) -> None:
    bakery.start()
    bakery.work(BLOCKED)
    launch = bakery.launch()
    running = bakery.processes()
    assert len(running) >= 3

    assert bakery.up.leave(how) == code
    assert [pid for pid in running if not programs.gone(pid, WITHIN)] == []
    assert bakery.toryo("down").returncode == 3, "nothing runs any more"

    bakery.start()
    ended = [
        event for event in bakery.people.rest("GET", "/events")["events"] if event["kind"] == "launch.process_ended"
    ]
    assert [each["data"]["error"] for each in ended] == ["coordinator_stopped"], "it was told before the server left"
    assert ended[0]["launch_id"] == launch["launch_id"]


def test_down_ends_up_with_all_it_has_started_and_says_so(bakery: Bakery) -> None:
    bakery.start()
    bakery.work(BLOCKED)
    bakery.launch()
    running = bakery.processes()
    second = bakery.toryo("up", "--port", "0")
    assert (second.returncode, "down --data-dir" in second.stderr) == (2, True)

    ended = bakery.toryo("down", "--json")
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["stopped"] == [{"name": "toryo up", "pid": bakery.up.pid}]
    assert [pid for pid in running if not programs.gone(pid, 0)] == []
    assert bakery.up.ended_with() == 0


def test_down_ends_a_server_and_a_coordinator_that_were_started_by_hand(bakery: Bakery) -> None:
    server = Program("server", ["server", "--port", "0"], bakery.environment, bakery.place, real=True).start()
    server.says("ready http://")
    coordinator = Program("coordinator", ["coordinator"], bakery.environment, bakery.place, real=True).start()
    coordinator.says("connected to")
    again = bakery.toryo("server", "--port", "0")
    assert (again.returncode, f"toryo down --data-dir {bakery.data}" in again.stderr) == (2, True)

    stopped = json.loads(bakery.toryo("down", "--json").stdout)["stopped"]
    assert [each["name"] for each in stopped] == ["Coordinator", "server"]
    assert (coordinator.ended_with(), server.ended_with()) == (0, 0)


def test_up_ends_with_the_code_of_a_server_that_cannot_start(bakery: Bakery, tmp_path: Path) -> None:
    bakery.start()
    port = bakery.server["url"].rpartition(":")[2]
    other = bakery.toryo("up", "--port", port, "--data-dir", str(tmp_path / "other"))
    assert other.returncode == 2
    assert f"Port {port} on 127.0.0.1 is in use by the Toryo server of the data directory" in " ".join(
        other.stderr.split()
    )


def test_a_closed_terminal_ends_a_server_and_a_coordinator_in_order_too(bakery: Bakery) -> None:
    server = Program("server", ["server", "--port", "0"], bakery.environment, bakery.place, real=True).start()
    server.says("ready http://")
    coordinator = Program("coordinator", ["coordinator"], bakery.environment, bakery.place, real=True).start()
    coordinator.says("connected to")
    bakery.work(BLOCKED)
    bakery.launch()
    agents = programs.everything_of([bakery.server["url"]])
    assert coordinator.leave(signal.SIGHUP) == 0
    assert [pid for pid in agents if not programs.gone(pid, 0)] == []
    assert server.leave(signal.SIGHUP) == 0
    assert not (bakery.data / "server.json").exists()


@pytest.mark.parametrize("isolation", ["none", "worktree"])
def test_an_agent_that_looks_around_where_it_works_and_above_finds_no_token(bakery: Bakery, isolation: str) -> None:
    if isolation == "worktree":
        for words in (["init", "-q"], ["add", "toryo.yaml"], ["commit", "-qm", "begin"]):
            git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
            subprocess.run(git, cwd=bakery.place, env=bakery.environment, check=True)
    bakery.start()
    found = bakery.shown / "found"
    task = bakery.work(f"({LOOK}) > {found}", isolation=isolation)
    bakery.until(lambda: bakery.people.rest("GET", f"/tasks/{task}")["task"]["status"] == "completed")
    above, below, place = found.read_text().split()
    assert (above, below) == ("0", "0")
    assert (Path(place) == bakery.place) is (isolation == "none")
    assert not bakery.data.is_relative_to(place)
    assert (bakery.data / "owner.token").is_file()


def test_a_coordinator_never_works_with_another_server_that_answers_at_its_servers_address(site: Site) -> None:
    coordinator = site.coordinator()
    assert site.server.leave() == 0
    coordinator.says("cannot work with the server")

    other = site.directory / "other"
    other.mkdir(mode=0o700)
    for name in ("owner.token", "coordinator.token"):
        (other / name).write_bytes((site.data / name).read_bytes())
    port = site.url.rpartition(":")[2]
    environment = {**site.environment, "TORYO_DATA_DIR": str(other)}
    stranger = Program("stranger", ["server", "--port", port], environment, site.directory)
    stranger.start().says("ready http://")
    try:
        coordinator.says("is now a different server")
        people = Client(site.url, site.token("owner"), patience_seconds=60)
        assert people.rest("GET", "/status")["coordinators"] == []
    finally:
        assert stranger.leave() == 0

    site.serve()
    site.until("it works with its own server again", lambda: coordinator.said("connected to") == 2)
    os.kill(coordinator.pid, 0)

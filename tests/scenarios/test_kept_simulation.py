"""A server on what `toryo simulate --keep` has written shows the run; nothing goes on, is sent or opens anything."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.scenarios.conftest import Build
from tests.scenarios.sites import Site
from toryo.cli import main, manifest, manifest_apply, simulated_server
from toryo.client import Client, RefusalError
from toryo.simulation.run import BEGINS_AT
from toryo.simulation.world import COORDINATOR_TOKEN, OWNER_TOKEN, World

pytestmark = [pytest.mark.deep, pytest.mark.timeout(300, method="signal")]

TEAM = """\
projects:
  - {id: house, name: House, directory: .}
agents:
  - {id: mason, role: worker, provider: command, projects: [house]}
  - {id: painter, role: worker, provider: command, projects: [house]}
  - {id: glazier, role: worker, projects: [house]}
tasks:
  - {project: house, title: Wall, assignee: mason, status: in_progress, context: {command: "touch started"}}
  - {project: house, title: Window, assignee: glazier, status: in_progress}
simulation:
  hours: 0.75
  agents:
    mason: {minutes: 100}
    painter: {failures: 1, minutes: 5}
  arrivals:
    - {title: "Room {n}", project: house, assignee: painter, count: 9, every_minutes: 10}
"""


class Received:
    """A webhook that notes what it is sent."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.came = threading.Event()
        received = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                received.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                received.came.set()
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def webhook() -> Iterator[Received]:
    received = Received()
    yield received
    received.server.shutdown()
    received.server.server_close()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory of the site that is built next, with a simulated run in it."""
    file = tmp_path / "toryo.yaml"
    file.write_text(TEAM)
    monkeypatch.setenv("TORYO_NOTICES__WEBHOOK_URL", "http://127.0.0.1:9/")
    with pytest.raises(SystemExit) as ended:
        main.main(["simulate", str(file), "--keep", str(tmp_path / "data")])
    assert ended.value.code in (0, None)
    return tmp_path / "data"


def _free_to_start(site: Site) -> list[str]:
    return _claimed(site, site.token("coordinator"))


def _claimed(site: Site, token: str) -> list[str]:
    """Whose programs a Coordinator with free slots would be told to start."""
    asked = {"coordinator_id": "another", "free_slots": 9, "free_chat_slots": 9, "running": [], "timeout_seconds": 0}
    return [each["agent_id"] for each in Client(site.url, token).call("claim_starts", **asked)["start"]]


def test_nothing_of_a_kept_run_is_started_until_somebody_resumes_its_project(kept: Path, build: Build) -> None:
    site = build()

    assert _free_to_start(site) == []
    assert site.launches()
    assert not site.sessions()
    for agent in ("mason", "painter"):
        decisions = site.people.rest("GET", f"/agents/{agent}/why")["decisions"]
        assert ("hold", "project_paused") in [(each["action"], each["reason"]) for each in decisions]

    site.people.rest("POST", "/projects/house/resume")
    assert "mason" in _free_to_start(site)


def test_nobody_is_notified_of_what_needed_people_in_the_simulation(
    kept: Path, build: Build, webhook: Received
) -> None:
    site = build(TORYO_NOTICES__WEBHOOK_URL=webhook.url)
    assert site.people.rest("GET", "/needs-you")["items"]

    site.people.rest("POST", "/projects", {"id": "new", "name": "New", "working_directory": str(kept)})
    site.people.rest("POST", "/projects/new/members/owner")
    site.file("new", "Real work", assignee_id="owner", status="in_progress")

    assert webhook.came.wait(100), "nothing was sent of what is real"
    assert all(b"Real work" in body for body in webhook.bodies), webhook.bodies


@pytest.mark.parametrize("token", [OWNER_TOKEN, COORDINATOR_TOKEN])
def test_the_tokens_of_a_simulation_open_nothing(kept: Path, build: Build, token: str) -> None:
    site = build()

    for ask in (lambda: Client(site.url, token).rest("GET", "/projects"), lambda: _claimed(site, token)):
        with pytest.raises(RefusalError) as refused:
            ask()
        assert refused.value.code in ("authenticationRequired", "invalidCredentials")


def test_the_passkeys_of_a_simulation_which_follow_from_its_seed_open_nothing(kept: Path, build: Build) -> None:
    team = manifest.read(kept.parent / "toryo.yaml")
    again = manifest_apply.apply(simulated_server.Inside(world=World(BEGINS_AT, 0)), team, yes=True)
    [passkey] = [change.passkey for change in again.changes if change.passkey]
    site = build()
    site.people.rest("POST", "/projects/house/resume")

    with pytest.raises(RefusalError) as refused:
        Client(site.url, "").call("authenticate", agent_id="glazier", passkey=passkey, project_id="house")

    assert refused.value.code == "invalidCredentials"

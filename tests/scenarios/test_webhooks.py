"""Tasks that other programs begin, with a server, a Coordinator and the command line as real processes. What requests
may hold is in tests/operations/test_webhooks.py and tests/server/test_hooks.py.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading

import httpx
import pytest

from tests.scenarios.sites import Site
from tests.scenarios.test_schedules import WRITES, typed

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]
BODY = json.dumps({"action": "opened", "issue": {"title": "It rains"}}).encode()


class Hub:
    """Sends as GitHub does."""

    def __init__(self, site: Site) -> None:
        asked = ["Issues", "--project", "house", "--event", "issues", "--assignee", "cleaner"]
        task = ["--title", "Triage {{ body.issue.title }}", "--context", json.dumps(WRITES)]
        printed = typed(site, "webhook", "add", *asked, *task).split()
        self.site, self.secret = site, printed[printed.index("secret") + 1]
        self.path = "/hooks/" + printed[printed.index("url") + 1].rpartition("/")[2]

    def send(self, delivery: str, secret: str | None = None) -> httpx.Response:
        code = hmac.new((secret or self.secret).encode(), BODY, hashlib.sha256).hexdigest()
        headers = {
            "content-type": "application/json",
            "x-github-delivery": delivery,
            "x-github-event": "issues",
            "x-hub-signature-256": f"sha256={code}",
        }
        return httpx.post(f"{self.site.url}{self.path}", content=BODY, headers=headers, timeout=60)


def created(site: Site) -> list[str]:
    return [each["task_id"] for each in site.people.rest("GET", "/projects/house/tasks")["tasks"]]


def test_a_delivery_starts_an_agent_once_and_people_see_what_came(site: Site) -> None:
    directory = site.project("house", commands_from="managers")
    site.hire("cleaner", "house")
    site.coordinator()
    hub = Hub(site)
    assert hub.send("0", "wrong").status_code == 401
    first, again = hub.send("1"), hub.send("1")
    assert (first.status_code, again.status_code) == (201, 200)
    task = first.json()["task_id"]
    site.until_status(task, "completed")
    assert (directory / "done.txt").read_text() == "done\n"
    assert site.look(task)["title"] == "Triage It rains"
    assert f"{task} completed" in typed(site, "webhook", "show", "issues")
    assert hub.secret not in typed(site, "webhook", "show", "issues", "--json")

    typed(site, "webhook", "pause", "issues")
    assert hub.send("2").status_code == 409
    typed(site, "webhook", "resume", "issues")
    second = hub.send("2")
    assert second.status_code == 201
    assert hub.secret not in typed(site, "webhook", "rotate", "issues")
    assert hub.send("3").status_code == 401
    site.until_status(second.json()["task_id"], "completed")
    site.until_idle()
    assert len(created(site)) == 2
    assert len(site.history.starts(agent_id="cleaner")) == 2


def test_a_delivery_that_is_sent_until_it_is_answered_creates_one_task_though_the_server_is_killed(site: Site) -> None:
    site.project("house", commands_from="managers")
    site.hire("cleaner", "house")
    hub = Hub(site)
    for number in range(3):
        sending = threading.Thread(target=_until_answered, args=(hub, f"delivery {number}"))
        sending.start()
        site.server.kill()
        site.serve()
        sending.join()
    assert len(created(site)) == 3


def _until_answered(hub: Hub, delivery: str) -> None:
    while True:
        try:
            if hub.send(delivery).status_code in (200, 201):
                return
        except httpx.TransportError:
            continue

"""Webhooks over HTTP: what a sender and a stranger are answered, and what strangers cannot do."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import orjson
import pytest

from tests.server.http import MAX_BODY
from tests.server.test_connection_limits import bounded, connected, rest_of
from toryo.domain.webhooks import AT_ONCE
from toryo.server import app
from toryo.server.app import Running
from toryo.server.connection_limits import Bounds
from toryo.settings import Settings

BODY = orjson.dumps({"action": "opened", "issue": {"title": "It rains"}})


class Sender:
    """Somebody who knows the address and the secret of a webhook."""

    def __init__(self, http: httpx.Client, path: str, secret: str) -> None:
        self._http, self.path, self._secret = http, path, secret

    def signed(self, body: bytes = BODY, **more: str) -> dict[str, str]:
        code = hmac.new(self._secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "content-type": "application/json",
            "x-github-event": "issues",
            "x-hub-signature-256": f"sha256={code}",
        }
        return {**headers, **{name.replace("_", "-"): each for name, each in more.items()}}

    def send(self, body: bytes = BODY, **more: str) -> httpx.Response:
        return self._http.post(self.path, content=body, headers=self.signed(body, **more))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Running]:
    with app.run_in_thread(Settings(port=0, data_dir=place)) as running:
        yield running


@pytest.fixture(scope="module")
def http(server: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url) as client:
        yield client


@pytest.fixture(scope="module")
def owner(server: Running, place: Path) -> Iterator[httpx.Client]:
    token = (place / "owner.token").read_text().strip()
    with httpx.Client(base_url=f"{server.url}/api/v1", headers={"authorization": f"Bearer {token}"}) as client:
        directory = str(place)
        assert client.post(
            "/projects", json={"id": "house", "name": "House", "working_directory": directory}
        ).is_success
        yield client


@pytest.fixture
def sender(http: httpx.Client, owner: httpx.Client, request: pytest.FixtureRequest) -> Sender:
    asked = {"name": request.node.name[:200], "title": "Triage {{ body.issue.title }}"}
    made = owner.post("/projects/house/webhooks", json=asked).json()
    return Sender(http, made["webhook"]["path"], made["secret"])


def state(owner: httpx.Client, sender: Sender) -> dict[str, Any]:
    found: dict[str, Any] = owner.get(f"/webhooks/{sender.path.rpartition('/')[2]}").json()["webhook"]
    return found


def test_a_delivery_of_github_creates_one_task_also_if_it_comes_again(sender: Sender, owner: httpx.Client) -> None:
    first = sender.send(x_github_delivery="72d3162e-cc78-11e3-81ab-4c9367dc0958")
    again = sender.send(x_github_delivery="72d3162e-cc78-11e3-81ab-4c9367dc0958")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["task_id"] == first.json()["task_id"]
    assert owner.get(f"/tasks/{first.json()['task_id']}").json()["task"]["title"] == "Triage It rains"
    assert sender.send(idempotency_key="other").status_code == 201


def test_a_form_is_read_whatever_its_charset(sender: Sender, owner: httpx.Client) -> None:
    form = urlencode({"payload": BODY.decode()}).encode()
    made = sender.send(form, content_type="Application/X-WWW-Form-Urlencoded ; charset=utf-8")
    assert made.status_code == 201, made.text
    assert owner.get(f"/tasks/{made.json()['task_id']}").json()["task"]["title"] == "Triage It rains"


def test_one_delivery_that_arrives_many_times_at_once_creates_one_task(sender: Sender, owner: httpx.Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: sender.send(x_github_delivery="at once"), range(16)))
    assert sorted(each.status_code for each in answers) == [*[200] * 15, 201]
    assert state(owner, sender)["tasks"] == 1


def test_a_stranger_learns_nothing_is_slowed_down_and_stops_nothing(
    sender: Sender, http: httpx.Client, owner: httpx.Client
) -> None:
    wrong = {**sender.signed(), "x-hub-signature-256": "sha256=" + "0" * 64}
    known = http.post(sender.path, content=BODY, headers=wrong)
    unknown = http.post("/hooks/whk_0", content=BODY, headers=sender.signed())
    assert (known.status_code, unknown.status_code) == (401, 401)
    assert known.content == unknown.content
    assert http.post(sender.path, content=BODY).status_code == 401
    statuses = {http.post(sender.path, content=BODY, headers=wrong).status_code for _ in range(60)}
    assert statuses == {401, 429}
    assert sender.send().status_code == 201  # from the same address
    assert (state(owner, sender)["state"], state(owner, sender)["failures"]) == ("active", 0)
    assert len(owner.get(f"/webhooks/{state(owner, sender)['webhook_id']}/deliveries").json()["deliveries"]) == 1


def test_no_other_credential_opens_it_and_it_opens_nothing_else(
    sender: Sender, owner: httpx.Client, http: httpx.Client
) -> None:
    token = owner.headers["authorization"]
    assert http.post(sender.path, content=BODY, headers={"authorization": token}).status_code in (401, 429)
    assert http.get(sender.path).status_code == 405
    assert http.post(sender.path + "/deliveries", content=BODY, headers=sender.signed()).status_code == 404
    assert http.get("/api/v1/projects", headers=sender.signed()).status_code == 401


def test_a_huge_body_is_refused_before_its_signature_is_looked_at(sender: Sender) -> None:
    assert sender.send(b'{"a":"' + b"x" * MAX_BODY + b'"}').status_code == 413
    assert sender.send(b"[" + b"1," * 400_000 + b"1]").status_code == 413
    assert sender.send(b"[" * 500_000, x_github_delivery="deep").status_code in (413, 422)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"{}", b"[]", b'{"issue":{"title":{}'])
def test_a_signed_body_that_does_not_fit_is_told_and_kept_in_the_history(
    sender: Sender, owner: httpx.Client, body: bytes
) -> None:
    answer = sender.send(body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert state(owner, sender)["last_delivery"]["outcome"] == "refused"
    assert state(owner, sender)["failures"] == 1


@pytest.mark.parametrize("name", ["x-github-delivery", "x-github-event", "idempotency-key"])
def test_a_header_that_is_too_long_is_refused(sender: Sender, name: str) -> None:
    assert sender.send(BODY, **{name: "x" * 201}).status_code == 422


def test_a_header_that_is_sent_twice_is_refused(sender: Sender, http: httpx.Client) -> None:
    headers = [*sender.signed().items(), ("x-hub-signature-256", "sha256=0")]
    assert http.post(sender.path, content=BODY, headers=headers).status_code == 400


def test_what_a_webhook_receives_at_once_is_bounded(sender: Sender) -> None:
    answers = [sender.send(x_github_delivery=f"flood {number}") for number in range(AT_ONCE + 20)]
    refused = [each for each in answers if each.status_code == 429]
    assert refused and all(int(each.headers["retry-after"]) >= 1 for each in refused)


def test_a_body_that_is_sent_slowly_ends() -> None:
    head = b"POST /hooks/whk_0 HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 10000\r\n\r\n"
    with bounded(Bounds(body_seconds=0.3)) as (server, _), connected(server, head) as connection:
        ended = threading.Event()

        def drip() -> None:
            try:
                while not ended.wait(0.05):
                    connection.sendall(b"x")
            except OSError:
                pass

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            assert rest_of(connection).startswith(b"HTTP/1.1 408")
        finally:
            ended.set()
            dripping.join()

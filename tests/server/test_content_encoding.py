"""Compressed answers: what is long and read, for who accepts it; never what may hold a new secret, never a stream."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from toryo.operations.calls.catalogue import Operation, catalogue
from toryo.server import app, dashboard_files
from toryo.server.app import Running
from toryo.server.content_encoding import LEAST, accepts_gzip
from toryo.settings import Settings

READ = [each for each in catalogue().values() if each.route is not None and each.route.method == "GET"]
SECRET = re.compile(r"passkey|secret|password|token$|^code$")
"""How answers name what opens a door."""
CHECKED = ("list_projects", "show_project", "show_task", "show_schedules", "show_schedule")
NO_SECRETS = {
    "ways_to_sign_in": {"password"},  # whether there is that way
    "list_people": {"password"},  # whether they have one
    "show_agent": {"passkey"},  # only in the answer that makes it, which has the same type
    "show_moves": {"code"},  # of a refusal
    **{each: {"forbid_secrets", "secret_hint"} for each in ("show_webhooks", "show_webhook")},  # its last characters
    **{each: {"forbid_secrets"} for each in CHECKED},  # whether that is checked
}
"""Words of answers that say something about a secret, and hold none."""


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    place = tmp_path_factory.mktemp("data")
    with app.run_in_thread(Settings(port=0, data_dir=place)) as running:
        yield person(running, (place / "owner.token").read_text().strip(), str(place))


def person(running: Running, token: str, place: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"}
    http = httpx.Client(base_url=f"{running.url}/api/v1", headers=headers)
    project = {"id": "shop", "name": "Shop", "working_directory": place}
    assert http.post("/projects", json=project).status_code == 201
    for number in range(20):
        task = {"title": f"Task {number}", "description": "Saw the boards. " * 20}
        assert http.post("/projects/shop/tasks", json=task).status_code == 201
    return http


def raw(http: httpx.Client, method: str, path: str, accepted: str, **how: Any) -> tuple[httpx.Headers, bytes]:
    headers = {"Accept-Encoding": accepted}
    with http.stream(method, path, headers=headers, **how) as answer:
        return answer.headers, b"".join(answer.iter_raw())


def test_a_long_answer_is_compressed_and_says_the_same(http: httpx.Client) -> None:
    plain, whole = raw(http, "GET", "/projects/shop/board", "identity")
    packed, body = raw(http, "GET", "/projects/shop/board", "br, gzip")
    assert "content-encoding" not in plain
    assert packed["content-encoding"] == "gzip"
    assert int(packed["content-length"]) == len(body) < len(whole) / 4
    assert gzip.decompress(body) == whole
    assert [headers["vary"] for headers in (plain, packed)] == ["accept-encoding"] * 2


def test_the_language_of_an_answer_is_among_what_it_varies_by(http: httpx.Client) -> None:
    http.headers["Accept-Language"] = "ja"
    try:
        packed, _ = raw(http, "GET", "/projects/shop/board", "gzip")
    finally:
        del http.headers["Accept-Language"]
    assert packed["vary"] == "accept-language, accept-encoding"


def test_a_short_answer_is_left_as_it_is(http: httpx.Client) -> None:
    headers, body = raw(http, "GET", "/me", "gzip")
    assert len(body) < LEAST
    assert "content-encoding" not in headers


def test_the_answer_to_a_change_is_never_compressed(http: httpx.Client) -> None:
    long = {"title": "Long", "description": "Plane the boards. " * 500}
    headers, body = raw(http, "POST", "/projects/shop/tasks", "gzip", json=long)
    assert len(body) > LEAST
    assert "content-encoding" not in headers


def test_the_stream_of_events_is_never_compressed(http: httpx.Client) -> None:
    with http.stream("GET", "/events/stream?after=0", headers={"Accept-Encoding": "gzip"}) as answer:
        first = next(answer.iter_raw())
    assert "content-encoding" not in answer.headers
    assert first.startswith(b"id: ")


@pytest.mark.parametrize("operation", READ, ids=lambda each: each.name)
def test_what_may_be_compressed_holds_no_secret(operation: Operation) -> None:
    found = {name for name in names(operation.output_schema) if SECRET.search(name)}
    assert found <= NO_SECRETS.get(operation.name, set())


def names(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for each in schema:
            yield from names(each)
    elif isinstance(schema, dict):
        yield from schema.get("properties", {})
        for each in schema.values():
            yield from names(each)


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("*", True),
        ("x-gzip", True),
        ("gzip;q=0", False),
        ("gzip;q=0, *", False),
        ("br", False),
        ("", False),
        ("gzip;q=much", False),
        ("identity;q=1, *;q=0", False),
    ],
)
def test_gzip_is_sent_only_to_who_accepts_it(header: str, accepted: bool) -> None:
    assert accepts_gzip(header) is accepted


def test_a_file_of_the_dashboard_is_sent_as_it_is_to_who_refuses_gzip(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>" + "hello " * 1000)
    pages = dashboard_files.Pages(tmp_path)

    def asked(accepted: str) -> bool:
        headers = [(b"accept-encoding", accepted.encode())]
        answer = pages.answer(Request({"type": "http", "method": "GET", "path": "/", "headers": headers}))
        return "content-encoding" in answer.headers

    assert [asked("gzip"), asked("gzip;q=0")] == [True, False]

"""The conformance suite of the Model Context Protocol, against Toryo's transport.

Its requirement sets ask for tools, prompts and resources of certain names: `catalogue.py` has them, behind the edge
that serves Toryo. What the suite asks of headers is also asked of a whole server.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clis import programs
from tests.conformance import catalogue
from tests.server.http import served
from toryo.server import app, mcp_fast_path, mcp_progress, mcp_sdk
from toryo.server.mcp_results import Call
from toryo.server.request_bodies import Receive, Scope, Send
from toryo.settings import Settings

pytestmark = pytest.mark.deep

HERE = Path(__file__).parent
NODE = 22
LIMIT = 100.0
"""Seconds for one run of the suite, on a busy machine; it takes less than ten."""

Check = Callable[..., str]


@pytest.fixture(scope="module")
def program() -> list[str]:
    """The suite, installed: that takes no time of a test's own."""
    node, modules = programs.locked(HERE, NODE)
    return [str(node), str(modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js")]


def run(program: list[str], url: str, folder: Path, *arguments: str) -> str:
    """What the suite says of a server, once it finds nothing that is not expected."""
    words = ["server", "--url", url.replace("127.0.0.1", "localhost") + "/mcp", "-o", str(folder)]
    done = subprocess.run(
        [*program, *words, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
    return done.stdout


def with_credential(edge: Any) -> Any:
    """The suite sends no credential, and only callers that could read something may follow it."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        await edge({**scope, "headers": [*scope["headers"], (b"authorization", b"Bearer of-the-suite")]}, receive, send)

    return serve


@pytest.fixture
def suite_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of Toryo's edge with the suite's catalogue."""
    recognise = mcp_fast_path.recognise

    def only_operations(*given: Any) -> Any:
        found = recognise(*given)
        return None if isinstance(found, Call) and found.name not in operations else found

    monkeypatch.setattr(mcp_sdk, "declare", catalogue.declare)
    monkeypatch.setattr(mcp_fast_path, "recognise", only_operations)
    monkeypatch.setattr(mcp_progress, "EVERY", 0.05)
    with served(make_dispatcher=catalogue.Suite, around=with_credential) as server:
        operations = server.dispatcher.operations
        yield server.url


NEXT = {
    "2025-11-25": ("server-session-lifecycle", "json-schema-2020-12"),
    "2026-07-28": ("http-header-validation", "http-custom-header-server-validation", "json-schema-2020-12"),
}
"""Scenarios that the suite runs with a revision and does not count: they were added later, or are not final."""


@pytest.mark.parametrize("revision", NEXT)
def test_the_transport_does_what_a_revision_of_the_protocol_requires(
    revision: str, program: list[str], suite_server: str, tmp_path: Path
) -> None:
    known = ["--expected-failures", str(HERE / "expected_failures.yml")] if revision == "2025-11-25" else []
    told = run(program, suite_server, tmp_path, "--requirements", revision, *known)
    assert [name for name in NEXT[revision] if f"✓ {name}: " not in told] == []


def test_a_whole_server_checks_the_headers_of_calls(program: list[str], tmp_path: Path) -> None:
    with app.run_in_thread(Settings(port=0, data_dir=tmp_path / "data")) as running:
        assert "Passed: 14/14, 0 failed" in run(program, running.url, tmp_path, "--scenario", "http-header-validation")

"""Both clients, and a server on another machine that falls silent: the kernel ends the connection before the call gives
up, whether the other machine has got the request or not.
"""

from __future__ import annotations

import asyncio
import errno
import subprocess
import sys
from collections.abc import Callable, Iterator
from threading import Thread

import pytest

from tests.network_namespaces import Namespace, network_namespace
from tests.reliability.counting import injected
from toryo.client import AsyncClient, Client, Unreachable, routes

WITHIN = 100.0

SERVER = """
import socket, sys
listening = socket.create_server((sys.argv[1], 0))
print(listening.getsockname()[1], flush=True)
connection, _ = listening.accept()
print("connected", flush=True)
sys.stdin.readline()
connection.recv(65536)
print("asked", flush=True)
sys.stdin.readline()
"""
"""Reads a request when it is told to, and never answers."""

pytestmark = pytest.mark.deep


@pytest.fixture
def machine() -> Iterator[Namespace]:
    with network_namespace() as made:
        yield made


@pytest.fixture
def server(machine: Namespace) -> Iterator[subprocess.Popen[str]]:
    words = [*machine.inside, sys.executable, "-c", SERVER, machine.there]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        yield running
        running.kill()


@pytest.fixture(params=["blocking", "async"])
def ask(request: pytest.FixtureRequest) -> Callable[[str], object]:
    """Calls a tool of the server at this address."""
    if request.param == "blocking":
        return lambda url: Client(url).call("get_next_action")
    return lambda url: asyncio.run(AsyncClient(url).call("get_next_action"))


@pytest.mark.parametrize("asked", [True, False], ids=["while it waits for the answer", "before it has asked"])
def test_a_call_of_a_machine_that_has_vanished_is_ended_by_the_kernel(
    asked: bool,
    machine: Namespace,
    server: subprocess.Popen[str],
    ask: Callable[[str], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(routes, "SILENT_FOR", 6)
    assert server.stdin is not None
    assert server.stdout is not None
    port = int(server.stdout.readline())
    lost: list[Unreachable] = []

    def calling() -> None:
        try:
            ask(f"http://{machine.there}:{port}")
        except Unreachable as away:
            lost.append(away)

    if not asked:
        _silent_once_connected(monkeypatch, machine)
    thread = Thread(target=calling)
    thread.start()
    assert server.stdout.readline() == "connected\n"
    if asked:
        server.stdin.write("read\n")
        server.stdin.flush()
        assert server.stdout.readline() == "asked\n"
        machine.silence()
    injected("network half-open")
    thread.join(WITHIN)
    assert [(away.sent, getattr(away.__cause__, "errno", None)) for away in lost] == [(True, errno.ETIMEDOUT)]


def _silent_once_connected(monkeypatch: pytest.MonkeyPatch, machine: Namespace) -> None:
    chosen = routes.notice_silence

    def silent_from_now(connection: object) -> None:
        chosen(connection)  # type: ignore[arg-type]
        machine.silence()

    monkeypatch.setattr(routes, "notice_silence", silent_from_now)

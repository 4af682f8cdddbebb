"""Ports, sockets and signals: what is taken is named, what is stale is replaced, what is asked to stop stops soon."""

from __future__ import annotations

import resource
import signal
import socket
import stat
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.server.http import LIMIT, PLAIN, call, served
from toryo.server import listeners
from toryo.server.http_errors import ConfigurationError
from toryo.server.listeners import Listener

STOPS_WITHIN = 40.0
"""Seconds: a call would be held for 45, a connection kept for 75."""


def test_a_port_in_use_is_named_with_what_to_do() -> None:
    with listeners.tcp("127.0.0.1", 0) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(ConfigurationError, match=str(port)) as caught:
            listeners.tcp("127.0.0.1", port)
        assert "--port" in caught.value.instruction


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
def test_an_address_of_another_machine_is_named_with_what_to_do(host: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        listeners.tcp(host, 0)
    assert "--host" in caught.value.instruction


@pytest.mark.parametrize(
    ("host", "shown"),
    [("127.0.0.1", "http://127.0.0.1:"), ("localhost", "http://localhost:"), ("0.0.0.0", "http://127.0.0.1:")],
)
def test_the_url_is_one_that_clients_here_can_use(host: str, shown: str) -> None:
    with listeners.tcp(host, 0) as bound:
        assert listeners.url(bound, host) == shown + str(bound.getsockname()[1])


@pytest.mark.pitfall("F52")
def test_the_unix_socket_is_for_this_user_alone_and_a_stale_one_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "toryo.sock"
    listeners.unix(path).close()  # nobody listens on it any more
    with listeners.unix(path) as bound:
        bound.listen()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(ConfigurationError, match="Another server is listening"):
            listeners.unix(path)


def test_the_directory_of_the_unix_socket_is_made_for_this_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "run" / "toryo.sock"
    with listeners.unix(path):
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_in_the_place_of_the_socket_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("precious")
    with pytest.raises(ConfigurationError):
        listeners.unix(path)
    assert path.read_text() == "precious"


def test_a_path_too_long_for_a_socket_is_refused_with_what_to_do(tmp_path: Path) -> None:
    held = set(Path("/proc/self/fd").iterdir())
    with pytest.raises(ConfigurationError, match="socket") as caught:
        listeners.unix(tmp_path / ("x" * 120))
    assert set(Path("/proc/self/fd").iterdir()) <= held, f"a socket is left open beside {caught.value}"


def test_the_unix_socket_answers_as_the_port_does(tmp_path: Path) -> None:
    path = tmp_path / "toryo.sock"
    with served(path), httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://localhost") as http:
        answer = http.post("/mcp", content=call("whoami"), headers=dict(PLAIN[1:]))
        assert answer.json()["result"]["structuredContent"]["success"] is True


def test_a_stop_answers_held_calls_and_ends_long_before_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listeners, "GRACE", 60)  # on a busy machine the answers may take longer than people would wait
    answers: list[int] = []

    def hold(url: str) -> None:
        with httpx.Client(base_url=url, timeout=LIMIT) as http:
            response = http.post("/mcp", content=call("await_bell"), headers=dict(PLAIN[1:]))
            answers.append(response.status_code)

    with served() as server:
        holders = [threading.Thread(target=hold, args=(server.url,)) for _ in range(20)]
        for holder in holders:
            holder.start()
        for _ in range(40):  # two looks each: now they all wait
            assert server.dispatcher.looks_made.acquire(timeout=LIMIT)
        began = time.monotonic()
    took = time.monotonic() - began
    for holder in holders:
        holder.join(LIMIT)
    assert answers == [200] * 20
    assert took < STOPS_WITHIN


def test_a_signal_stops_it_and_is_known_afterwards() -> None:
    with served() as server:
        server.listener.handle_exit(signal.SIGINT, None)
        assert server.listener.should_exit
    assert server.listener.signal == signal.SIGINT


def test_as_many_files_may_be_open_as_the_system_allows() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (500, before[1]))
        most = listeners.raise_file_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == most > 500
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_an_idle_connection_does_not_delay_a_stop() -> None:
    with served() as server, socket.create_connection(("127.0.0.1", server.port)):
        began = time.monotonic()
        server.listener.stop()
    assert time.monotonic() - began < STOPS_WITHIN


@pytest.mark.parametrize("outlives", [False, True], ids=["as usual", "nohup"])
def test_a_terminal_that_closes_ends_it_in_order_unless_it_was_started_to_outlive_it(outlives: bool) -> None:
    heard: list[int] = []
    listener = Listener(None, lambda: None, lambda: None)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if outlives else lambda number, _frame: heard.append(number))
    try:
        with listener.capture_signals():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert (listener.should_exit, listener.signal) == ((False, None) if outlives else (True, signal.SIGHUP))
    assert heard == []

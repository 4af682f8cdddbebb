"""Both clients against a scripted server: one set of promises, kept twice."""

from __future__ import annotations

import asyncio
import math
import socket
import subprocess
import sys
import threading
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from tests.client.fake_server import FakeServer, Refused
from toryo.client import (
    AsyncClient,
    Client,
    ProtocolError,
    RefusalError,
    Unreachable,
    asynchronous,
    blocking,
    routes,
    wire,
)
from toryo.long_waits import LONGEST_WAIT_SECONDS


class InALoop:
    """The async client behind the blocking one's face, so that each test runs for both."""

    def __init__(self, *args, **options) -> None:
        self._loop = asyncio.new_event_loop()
        self._args, self._options = args, options
        self._client: AsyncClient | None = None

    def _run(self, name, *args, **options):
        async def go():
            if self._client is None:
                self._client = AsyncClient(*self._args, **self._options)
            return await getattr(self._client, name)(*args, **options)

        return self._loop.run_until_complete(go())

    def call(self, *args, **options):
        return self._run("call", *args, **options)

    def rest(self, *args, **options):
        return self._run("rest", *args, **options)

    def close(self) -> None:
        if self._client is not None:
            self._run("close")
        self._loop.close()


@pytest.fixture(params=[Client, InALoop], ids=["blocking", "async"])
def connect(request):
    opened = []

    def make(*args, **options):
        opened.append(request.param(*args, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def test_a_tool_is_called_with_its_arguments_and_the_credential(server: FakeServer, connect) -> None:
    server.on("echo", lambda call: {"success": True, "got": call.arguments})
    assert connect(server.url, "tct_1").call("echo", text="棟梁", number=3) == {
        "success": True,
        "got": {"text": "棟梁", "number": 3},
    }
    [call] = server.seen("echo")
    assert call.token == "tct_1"
    assert call.headers["MCP-Protocol-Version"] == "2025-11-25"
    assert call.headers["Accept"] == "application/json, text/event-stream"
    assert call.headers["Host"] == f"127.0.0.1:{server.port}"


def test_an_answer_as_an_event_stream_is_read_past_its_notifications(server: FakeServer, connect) -> None:
    server.as_events = True
    server.on("echo", {"value": 1})
    assert connect(server.url).call("echo") == {"success": True, "value": 1}


def test_an_answer_that_comes_only_as_text_is_read(server: FakeServer, connect) -> None:
    server.as_text_only = True
    server.on("echo", {"value": 1})
    assert connect(server.url).call("echo") == {"success": True, "value": 1}


def test_a_refusal_is_raised_with_its_code_words_and_what_comes_next(server: FakeServer, connect) -> None:
    def no(_):
        raise Refused("notNow", "Not now.", "Call get_next_action.", next={"action": "start"})

    server.on("select_action", no)
    with pytest.raises(RefusalError) as caught:
        connect(server.url).call("select_action", action="wait")
    assert (caught.value.code, caught.value.message, caught.value.instruction) == (
        "notNow",
        "Not now.",
        "Call get_next_action.",
    )
    assert caught.value.data["next"] == {"action": "start"}


def test_a_refused_sign_in_is_raised_with_its_code_and_its_sentence(server: FakeServer, connect) -> None:
    """There `error` is the seed's sentence and `code` the code; and no client may take `success: false` for data."""
    server.on("authenticate", lambda _: {"success": False, "error": "Agent already running", "code": "alreadyRunning"})
    with pytest.raises(RefusalError) as caught:
        connect(server.url).call("authenticate")
    assert (caught.value.code, caught.value.message) == ("alreadyRunning", "Agent already running")


def test_an_unknown_tool_is_a_protocol_error(server: FakeServer, connect) -> None:
    with pytest.raises(ProtocolError, match="Unknown tool"):
        connect(server.url).call("no_such_tool")


def test_a_server_that_is_not_toryo_is_a_protocol_error(server: FakeServer, connect) -> None:
    server.raw = (200, "text/html", b"<html>")
    with pytest.raises(ProtocolError, match="not a Toryo server"):
        connect(server.url).call("health_check")


def test_a_broken_gateway_counts_as_away(server: FakeServer, connect) -> None:
    server.raw = (502, "text/html", b"<html>")
    with pytest.raises(Unreachable, match="502"):
        connect(server.url).call("health_check")


def test_a_gateway_is_asked_again_as_long_as_the_server_behind_it_is_waited_for(server: FakeServer, connect) -> None:
    server.raw = (502, "text/plain", b"server.example:8765 cannot be reached")
    client = connect(server.url, patience_seconds=100, repeat_lost=True)
    timer = threading.Timer(0.3, setattr, (server, "raw", None))
    timer.start()
    assert client.call("health_check")["status"] == "ok"
    timer.join()


def test_a_credential_refused_by_status_is_a_refusal(server: FakeServer, connect) -> None:
    server.raw = (401, "application/problem+json", b'{"code":"invalidCredentials","detail":"Unknown token"}')
    with pytest.raises(RefusalError, match="invalidCredentials: Unknown token"):
        connect(server.url).call("health_check")


def test_rest_answers_are_documents_and_its_problems_refusals(server: FakeServer, connect) -> None:
    server.routes["GET", "/api/v1/projects"] = (200, {"success": True, "projects": []})
    server.routes["DELETE", "/api/v1/sessions/ses_1"] = (204, None)
    problem = {"code": "invalidTransition", "detail": "No.", "instruction": "Try todo.", "moves": ["todo"]}
    server.routes["POST", "/api/v1/tasks/tsk_1/move"] = (409, problem)
    client = connect(server.url, "tpt_1")
    assert client.rest("GET", "/projects", params={"status": "active", "none": None}) == {
        "success": True,
        "projects": [],
    }
    assert server.requests[0] == ("GET", "/api/v1/projects?status=active", None)
    assert client.rest("DELETE", "/sessions/ses_1") == {}
    with pytest.raises(RefusalError) as caught:
        client.rest("POST", "/tasks/tsk_1/move", {"status": "completed"})
    assert caught.value.code == "invalidTransition"
    assert caught.value.data["moves"] == ["todo"]


def test_connections_are_kept(server: FakeServer, connect) -> None:
    client = connect(server.url)
    for _ in range(5):
        client.call("health_check")
    assert server.connections == 1


def test_a_unix_socket_is_an_address_like_any_other(tmp_path, connect) -> None:
    fake = FakeServer(unix=str(tmp_path / "s"))
    try:
        assert connect(fake.url).call("health_check")["status"] == "ok"
        assert connect(None, socket=str(tmp_path / "s")).call("health_check")["status"] == "ok"
        assert fake.seen("health_check")[0].headers["Host"] == "localhost:80"
    finally:
        fake.close()


def test_a_server_that_is_away_is_unreachable_and_nothing_was_sent(connect, nobody_listens: str) -> None:
    with pytest.raises(Unreachable) as caught:
        connect(nobody_listens).call("health_check")
    assert caught.value.sent is False


def test_a_lost_answer_is_not_asked_for_again_unless_every_call_may_be_repeated(server: FakeServer, connect) -> None:
    server.drop_next = 1
    with pytest.raises(Unreachable) as caught:
        connect(server.url, patience_seconds=60).call("create_task")
    assert caught.value.sent is True
    server.drop_next = 1
    assert connect(server.url, patience_seconds=10, repeat_lost=True).call("health_check")["status"] == "ok"


def test_patience_begins_when_an_answer_is_lost_not_when_it_was_asked_for(
    server: FakeServer, connect, monkeypatch
) -> None:
    """An answer that is given up after 75 seconds leaves the patience as it was."""
    server.drop_next = 1
    clock = SimpleNamespace(monotonic=lambda: 0.0 if server.drop_next else 75.0, sleep=lambda _: None)
    for module in (blocking, asynchronous):
        monkeypatch.setattr(module, "time", clock)
    assert connect(server.url, patience_seconds=60, repeat_lost=True).call("health_check")["status"] == "ok"


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="TCP_USER_TIMEOUT is an option of Linux")
def test_the_kernel_ends_a_connection_on_which_nothing_is_acknowledged(
    server: FakeServer, connect, monkeypatch
) -> None:
    """Before the call itself gives up, and later than a short interruption of the network."""
    chosen, choose = [], routes.notice_silence

    def noticed(connection: socket.socket) -> None:
        choose(connection)
        names = (socket.TCP_USER_TIMEOUT, socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
        chosen.append([connection.getsockopt(socket.IPPROTO_TCP, name) for name in names])
        chosen[-1].append(connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))

    monkeypatch.setattr(routes, "notice_silence", noticed)
    assert connect(server.url).call("health_check")["status"] == "ok"
    [[milliseconds, idle, every, probes, alive]] = chosen
    assert 20_000 < milliseconds < 1000 * (LONGEST_WAIT_SECONDS + wire.MARGIN)
    assert (idle + every * probes, alive) == (milliseconds / 1000, 1)


def test_a_patient_client_waits_for_a_server_that_comes_back(tmp_path, connect) -> None:
    path = str(tmp_path / "s")
    started: list[FakeServer] = []
    later = threading.Timer(0.3, lambda: started.append(FakeServer(unix=path)))
    later.start()
    try:
        assert connect(f"unix://{path}", patience_seconds=60).call("health_check")["status"] == "ok"
    finally:
        later.join()
        started[0].close()


def test_an_answer_that_does_not_come_in_time_is_unreachable(server: FakeServer, connect) -> None:
    release = threading.Event()
    server.on("slow", lambda _: {"success": release.wait(10)})
    with pytest.raises(Unreachable, match="no answer in time"):
        connect(server.url, timeout=0.2).call("slow")
    release.set()


def test_a_call_that_waits_gets_more_time_than_it_asks_the_server_to_wait(server: FakeServer, connect) -> None:
    server.on("claim", lambda call: {"success": not threading.Event().wait(0.4)})
    assert connect(server.url, timeout=0.1).call("claim", timeout_seconds=1)["success"]


def test_a_kept_connection_that_the_server_closed_is_not_used_again(server: FakeServer, connect) -> None:
    server.hangs_up = True
    client = connect(server.url)
    for _ in range(3):
        assert client.call("health_check")["status"] == "ok"
        assert server.hung_up.acquire(timeout=100)
    assert server.connections == 3


def test_threads_may_share_one_blocking_client(server: FakeServer) -> None:
    server.on("echo", lambda call: {"success": True, "n": call.arguments["n"]})
    with Client(server.url) as client:
        answers: list[int] = []
        threads = [threading.Thread(target=lambda n=n: answers.append(client.call("echo", n=n)["n"])) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(answers) == list(range(8))


@pytest.mark.parametrize("wrong", ["localhost:8765", "ftp://host", "http://"])
def test_what_is_no_address_says_what_one_looks_like(wrong, connect) -> None:
    with pytest.raises(ValueError, match="use http"):
        connect(wrong).call("health_check")


def test_importing_the_client_loads_nothing_that_is_dear() -> None:
    """Agents start often; each would pay for it."""
    dear = ("httpx", "asyncio", "pydantic", "orjson", "http.client", "ssl", "dataclasses")
    code = f"import sys, toryo.client; print([m for m in {dear} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_json_has_no_words_for_is_written_as_orjson_writes_it(server: FakeServer, connect) -> None:
    server.on("echo", lambda call: {"got": call.arguments})
    when = datetime(2026, 11, 22, tzinfo=UTC)
    assert connect(server.url).call("echo", at=when, none=math.nan)["got"] == {
        "at": "2026-11-22T00:00:00+00:00",
        "none": None,
    }
    with pytest.raises(TypeError):
        connect(server.url).call("echo", thing=object())

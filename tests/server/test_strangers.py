"""What callers without a credential can do to a whole server: nothing that grows, in answers, log, files and memory."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
import structlog

from tests.server.http import MAX_BODY, PLAIN, Exchange, call, edge, request
from toryo.domain import log_redaction
from toryo.server import app, mcp_streams, server_log
from toryo.server.app import Running
from toryo.server.http_errors import ConfigurationError
from toryo.server.request_bodies import MOST_VALUES, Bodies
from toryo.settings import Settings
from toryo.storage.errors import DatabaseUnavailable

JSON_RPC = dict(PLAIN[1:])
BROWSER = {"accept": "text/html"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with app.run_in_thread(Settings(port=0, data_dir=tmp_path_factory.mktemp("server"))) as running:
        yield running


@pytest.fixture(scope="module")
def http(server: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url) as client:
        yield client


# --- sizes -----------------------------------------------------------------------------------------------------------


def test_a_call_with_a_hundred_thousand_unknown_names_is_refused_in_few_words(http: httpx.Client) -> None:
    arguments = {f"name{number}": number for number in range(100_000)}
    answer = http.post("/mcp", content=call("authenticate", arguments), headers=JSON_RPC)
    assert answer.json()["result"]["structuredContent"]["error"] == "validationError"
    assert len(answer.content) < 5_000
    answer = http.post("/api/v1/sign-in", json=arguments, headers={"X-Toryo": "1"})
    assert answer.status_code == 422
    assert len(answer.content) < 5_000


@pytest.mark.parametrize("piece", [b"[],", b"{},", b'"a":1,'])
def test_a_body_that_is_nothing_but_values_is_refused_unread(http: httpx.Client, piece: bytes) -> None:
    times = MAX_BODY // len(piece) - 100
    if piece.startswith(b'"'):
        body = call("authenticate", {"x": 1}).replace(b'"x":1', (piece * times)[:-1])
    else:
        body = call("authenticate", {"x": 1}).replace(b"1}", b"[" + (piece * times)[:-1] + b"]}", 1)
    answer = http.post("/mcp", content=body, headers=JSON_RPC)
    if body.count(b",") + body.count(b"[") + body.count(b"{") > MOST_VALUES:
        assert answer.status_code == 413
    assert len(answer.content) < 5_000


def test_large_bodies_take_turns_and_small_ones_pass_between() -> None:
    async def story() -> list[str]:
        bodies, order = Bodies(MAX_BODY), []

        async def read(name: str, size: int) -> None:
            async def receive() -> dict[str, Any]:
                return {"type": "http.request", "body": b"x" * size, "more_body": False}

            await bodies.read(receive, {})
            order.append(name)

        large = [read(f"large {number}", 1_000_000) for number in range(3)]
        await asyncio.gather(*large, read("small", 10))
        return order

    assert asyncio.run(story())[0] == "small"


# --- streams ---------------------------------------------------------------------------------------------------------


def test_no_stream_is_held_open_for_somebody_who_may_read_nothing(http: httpx.Client) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    begun = http.post("/mcp", content=request("initialize", hello), headers=JSON_RPC)
    named = {"mcp-session-id": begun.headers["mcp-session-id"], "accept": "text/event-stream"}
    assert http.get("/mcp", headers=named).status_code == 405


@pytest.mark.parametrize("guess", ["tpt_guessed", "tlc_guessed", "tqk_guessed", "anything"])
def test_a_token_that_proves_nobody_is_told_so_and_does_not_pass_for_none(http: httpx.Client, guess: str) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    headers = {**JSON_RPC, "authorization": f"Bearer {guess}"}
    asked = [request("initialize", hello)]
    asked += [request(each) for each in ("tools/list", "resources/list", "prompts/list")]
    answers = [http.post("/mcp", content=body, headers=headers) for body in asked] + [http.get("/mcp", headers=headers)]
    for answer in answers:
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == 'Bearer realm="toryo", error="invalid_token"'
        assert answer.json()["error"]["data"]["error"] == "invalidCredentials"
    told = http.post("/mcp", content=call("get_my_task"), headers=headers)
    assert told.json()["result"]["isError"], "a model reads the refusal of a tool"


def test_while_the_database_is_away_a_client_with_a_token_begins_all_the_same_and_hears_why_it_must_wait(
    server: Running, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> Any:
        raise DatabaseUnavailable("The database is away.", "Try again.")

    monkeypatch.setattr("toryo.operations.calls.dispatch.Dispatcher._why_unknown", away)
    monkeypatch.setattr("toryo.operations.calls.dispatch.Request.work", away)
    token = (server.app.directory.path / "owner.token").read_text().strip()
    headers = {**JSON_RPC, "authorization": f"Bearer {token}"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    assert "result" in http.post("/mcp", content=request("initialize", hello), headers=headers).json()
    told = http.post("/mcp", content=request("resources/list"), headers=headers).json()
    assert "The database is away." in told["error"]["message"]


def test_without_a_token_and_with_that_of_an_old_session_an_agent_can_sign_in(http: httpx.Client) -> None:
    for further in ({}, {"authorization": "Bearer tst_of_an_old_session"}):
        listed = http.post("/mcp", content=request("tools/list"), headers={**JSON_RPC, **further}).json()
        assert "authenticate" in {each["name"] for each in listed["result"]["tools"]}


def test_a_client_notices_that_the_server_was_started_again_and_calls_go_on(
    server: Running, http: httpx.Client
) -> None:
    token = (server.app.directory.path / "owner.token").read_text().strip()
    headers = {**JSON_RPC, "authorization": f"Bearer {token}", "mcp-session-id": "of-the-server-before"}
    board = {"uri": "toryo://project/p/board"}
    for method, params in (("ping", None), ("resources/subscribe", board), ("resources/unsubscribe", board)):
        lost = http.post("/mcp", content=request(method, params), headers=headers)
        assert (lost.status_code, lost.json()["error"]["code"]) == (404, -32001), method
    assert http.get("/mcp", headers={**headers, "accept": "text/event-stream"}).status_code == 404
    assert http.post("/mcp", content=call("health_check"), headers=headers).json()["result"]["isError"] is False
    assert http.post("/mcp", content=request("tools/list"), headers=headers).json()["result"]["tools"]
    without = {name: value for name, value in headers.items() if name != "mcp-session-id"}
    assert http.post("/mcp", content=request("ping"), headers=without).json()["result"] == {}


def test_an_open_stream_ends_when_the_token_that_opened_it_is_revoked(server: Running, http: httpx.Client) -> None:
    owner = {"authorization": f"Bearer {(server.app.directory.path / 'owner.token').read_text().strip()}"}
    made = http.post("/api/v1/access-tokens", json={"name": "t"}, headers=owner).json()
    person = {"authorization": f"Bearer {made['token']}"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    begun = http.post("/mcp", content=request("initialize", hello), headers={**JSON_RPC, **person})
    named = {"mcp-session-id": begun.headers["mcp-session-id"], "accept": "text/event-stream", **person}
    with http.stream("GET", "/mcp", headers=named, timeout=100) as stream:
        pieces = stream.iter_bytes()
        assert next(pieces) == b": ping\n\n"
        with httpx.Client(base_url=server.url, headers=owner) as other:
            assert other.delete(f"/api/v1/access-tokens/{made['access_token']['token_id']}").is_success
        assert list(pieces) == [], "it ends at once, and in order"


def test_what_is_remembered_of_a_session_has_one_size() -> None:
    assert len(mcp_streams._digest("x" * 60_000) or b"") == 32


# --- what every answer says ------------------------------------------------------------------------------------------

ANSWERS = [
    ("POST", "/mcp", call("echo", {"text": "x"}), PLAIN),
    ("POST", "/mcp", b"no json", PLAIN),
    ("POST", "/mcp", request("tools/list"), PLAIN),
    ("GET", "/mcp", b"", PLAIN),
    ("GET", "/api/v1/public", b"", PLAIN),
    ("GET", "/api/v1/things", b"", PLAIN),
    ("GET", "/api/v1/nowhere", b"", PLAIN),
    ("GET", "/api/v1/openapi.json", b"", PLAIN),
    ("GET", "/health", b"", PLAIN),
    ("GET", "/nowhere", b"", PLAIN),
    ("GET", "/health", b"", (("host", "evil.example"),)),
]


@pytest.mark.parametrize(("method", "target", "body", "headers"), ANSWERS)
def test_every_answer_is_what_it_says_it_is_and_is_not_kept(
    method: str, target: str, body: bytes, headers: Any
) -> None:
    async def story() -> dict[str, str]:
        async with edge() as built:
            return (await Exchange(built, body, method, target, headers).run()).headers

    answered = asyncio.run(story())
    assert answered["x-content-type-options"] == "nosniff"
    assert answered["cache-control"] == "no-store"


def test_strict_transport_security_is_left_to_the_proxy_which_knows_the_other_services_of_its_host() -> None:
    from toryo.server.allowed_hosts import Hosts

    async def story() -> dict[str, str]:
        async with edge(hosts=Hosts("127.0.0.1", ("toryo.example",))) as built:
            asked = Exchange(built, b"", "GET", "/health", (("host", "toryo.example"),))
            asked._scope["scheme"] = "https"
            return (await asked.run()).headers

    assert "strict-transport-security" not in asyncio.run(story())


def test_files_of_the_page_may_still_be_kept(http: httpx.Client) -> None:
    assert http.get("/", headers=BROWSER).headers["x-content-type-options"] == "nosniff"


# --- the log ---------------------------------------------------------------------------------------------------------


def test_wrong_sign_ins_leave_few_lines_in_the_log_and_no_passkey(tmp_path: Path) -> None:
    with app.run_in_thread(Settings(port=0, data_dir=tmp_path)) as running, httpx.Client(base_url=running.url) as http:
        for number in range(server_log.STRANGERS_BURST * 2):
            wrong = {"agent_id": f"nobody-{number}", "passkey": "guessed-passkey-0123456789"}
            http.post("/mcp", content=call("authenticate", wrong), headers=JSON_RPC)
    lines = [orjson.loads(line) for line in (tmp_path / "logs" / "server.log").read_bytes().splitlines()]
    calls = [line for line in lines if line["event"] == "tool_call"]
    assert 0 < len(calls) <= server_log.STRANGERS_BURST + 20
    assert "guessed-passkey" not in (tmp_path / "logs" / "server.log").read_text()


def test_what_was_left_out_is_counted_on_the_next_line() -> None:
    now = 0.0
    spare = server_log._Sparing(lambda: now)

    def line() -> dict[str, Any] | None:
        try:
            return dict(spare(None, "info", {"event": "tool_call", "stranger": True}))
        except structlog.DropEvent:
            return None

    written = [line() for _ in range(server_log.STRANGERS_BURST + 50)]
    assert sum(each is not None for each in written) == server_log.STRANGERS_BURST
    now += server_log.STRANGERS_EVERY_SECONDS
    assert line() == {"event": "tool_call", "left_out": 50}
    assert line() is None
    assert spare(None, "info", {"event": "tool_call"}) == {"event": "tool_call"}


# --- files -----------------------------------------------------------------------------------------------------------


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("earlier", [False, True], ids=["new", "made by somebody before, for all to read"])
def test_everything_in_the_data_directory_is_for_this_user_alone(tmp_path: Path, earlier: bool) -> None:
    data = tmp_path / "data"
    if earlier:
        (data / "logs").mkdir(parents=True)
        for each in (data / "toryo.db", data / "logs" / "server.log"):
            each.touch()
            each.chmod(0o644)
        data.chmod(0o755)
        (data / "logs").chmod(0o755)
    with app.run_in_thread(Settings(port=0, data_dir=data)):
        found = {each: mode(each) for each in (data, *data.rglob("*"))}
    wider = {each.name: oct(bits) for each, bits in found.items() if bits & 0o077 and each.name != ".gitignore"}
    assert wider == {}


def test_what_is_exported_is_for_this_user_alone(tmp_path: Path) -> None:
    from toryo.cli import manifest_export

    file = tmp_path / "team.yaml"
    file.touch(0o644)
    manifest_export._write(file, "projects: []\n")
    assert (mode(file), file.read_text()) == (0o600, "projects: []\n")


# --- addresses that sign in ------------------------------------------------------------------------------------------

PASSWORDS = ["s3cret-word", "s3cret/word", "s3cret@word", "s3cret#word", "s3cret%word", "s3cret:word", "[s3cret-word"]


@pytest.mark.parametrize("rest", ["@[bad", "@host:port/0", "@host/0?x=y&password=s3cret-word", "@host"])
@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize("scheme", ["redis", "rediss", "unknown", "postgresql", "sqlite", "mysql"])
def test_no_url_that_is_shown_holds_what_signs_in(scheme: str, password: str, rest: str) -> None:
    shown = log_redaction.address(f"{scheme}://user:{password}{rest}")
    assert shown.startswith(f"{scheme}://")
    assert not any(part in shown for part in ("s3cret", "word", "user"))
    assert log_redaction.address(password) == log_redaction.MASK


@pytest.mark.parametrize(
    "wrong",
    [
        {"redis": "redis://:s3cret-word@[bad"},
        {"redis": "redis://:s3cret/word@host:6379"},
        {"redis": "s3cret-word"},
        {"database": "postgresql://u:s3cret-word@[bad"},
        {"database": "postgresql://u:s3cret%word@host/db"},
        {"database": "mysql://u:s3cret-word@host/db"},
        {"database": "s3cret-word"},
    ],
    ids=str,
)
def test_a_server_that_cannot_start_says_why_without_the_password(tmp_path: Path, wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        app.build(Settings(port=0, data_dir=tmp_path, **wrong)).close()  # type: ignore[arg-type]
    said = caught.value.message + caught.value.instruction
    assert "s3cret" not in said
    assert "word@" not in said


@pytest.mark.parametrize("name", ["TORYO_AUTH", "TORYO_NOTICES", "TORYO_AUTH__OIDC_ROLES", "TORYO_PORT"])
def test_a_setting_that_cannot_be_read_is_named_and_not_repeated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from toryo.cli import up_down
    from toryo.cli.exit_codes import Misuse

    monkeypatch.setenv(name, '{"oidc_client_secret": "s3cret-word", ')
    with pytest.raises(Misuse) as caught:
        up_down._settings()
    assert "s3cret" not in str(caught.value)

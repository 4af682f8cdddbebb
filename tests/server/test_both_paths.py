"""The plain path and the SDK answer the same requests alike: status, headers, JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.http import ENVELOPE, PLAIN, Headers, Response, call, edge, exchange, modern, request
from toryo.server import mcp_fast_path

UNUSUAL = {"lone": "\u2028", "quote": '"\\', "null": None, "deep": {"list": [None, 1.5, True, "é"]}, "big": 2**62}


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


async def _both(app: Any, body: bytes, headers: Headers, monkeypatch: pytest.MonkeyPatch) -> tuple[Response, Response]:
    """The answers of the plain path (it must have been taken) and of the SDK."""
    taken: list[Any] = []
    recognise = mcp_fast_path.recognise

    def noted(*given: Any) -> Any:
        taken.append(recognise(*given))
        return taken[-1]

    monkeypatch.setattr(mcp_fast_path, "recognise", noted)
    quick = await exchange(app, body, headers=headers)
    assert taken[-1] is not None, "the plain path did not take this request"
    monkeypatch.setattr(mcp_fast_path, "recognise", lambda *_: None)
    official = await exchange(app, body, headers=headers)
    monkeypatch.setattr(mcp_fast_path, "recognise", recognise)
    return quick, official


def _assert_alike(quick: Response, official: Response) -> None:
    assert quick.status == official.status
    assert quick.headers == {**official.headers, "content-length": str(len(quick.body))}
    assert quick.json() == official.json()


HANDSHAKE_REQUESTS = {
    "a call": call("echo", {"text": "hello"}),
    "a call without arguments": call("health_check"),
    "a call with null arguments": request("tools/call", {"name": "health_check", "arguments": None}),
    "a text id": call("echo", {"text": "x"}, request_id="seven"),
    "a negative id": call("echo", {"text": "x"}, request_id=-1),
    "an empty id": call("echo", {"text": "x"}, request_id=""),
    "unusual text": call("echo", {"text": '\u2028 é 漢 " \\ \n', "anything": UNUSUAL}),
    "a refusal": call("refuse"),
    "an unknown tool": call("ecko"),
    "wrong arguments": call("echo", {"text": 5}),
    "unknown arguments": call("echo", {"text": "x", "more": 1}),
    "a crash": call("crash"),
    "meta": call("echo", {"text": "x"}, _meta={"progressToken": 3, "vendor/x": {"y": 1}}),
    "null meta": call("echo", {"text": "x"}, _meta=None),
    "a wait that does not wait": call("await_bell", {"timeout_seconds": 0}),
    "a ping": request("ping"),
    "a ping with params": request("ping", {}),
    "an empty tool name": call(""),
}
HANDSHAKE_HEADERS: dict[str, Headers] = {
    "no version": PLAIN,
    **{
        version: (*PLAIN, ("mcp-protocol-version", version))
        for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
    },
    "a session id of another server": (*PLAIN, ("mcp-session-id", "abc"), ("mcp-protocol-version", "2025-06-18")),
    "a charset": (
        *(each for each in PLAIN if each[0] != "content-type"),
        ("content-type", "application/json; charset=utf-8"),
    ),
    "any answer": (PLAIN[0], PLAIN[1], ("accept", "*/*")),
    "only JSON": (PLAIN[0], PLAIN[1], ("accept", "application/json;q=0.9")),
}


@pytest.mark.parametrize("body", HANDSHAKE_REQUESTS.values(), ids=HANDSHAKE_REQUESTS.keys())
def test_a_request_of_the_handshake_era_is_answered_alike(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async def compare() -> None:
        async with edge() as app:
            _assert_alike(*await _both(app, body, PLAIN, monkeypatch))

    _run(compare())


@pytest.mark.parametrize("headers", HANDSHAKE_HEADERS.values(), ids=HANDSHAKE_HEADERS.keys())
def test_headers_of_the_handshake_era_make_no_difference_between_the_paths(
    headers: Headers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def compare() -> None:
        async with edge() as app:
            _assert_alike(*await _both(app, call("echo", {"text": "x"}), headers, monkeypatch))

    _run(compare())


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("echo", {"text": "é\u2028", "anything": UNUSUAL}),
        ("health_check", None),
        ("refuse", {}),
        ("ecko", {}),
        ("echo", {"text": 5}),
        ("crash", {}),
    ],
)
def test_a_request_without_handshake_is_answered_alike_once_its_client_is_known(
    tool: str, arguments: dict[str, Any] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def compare() -> None:
        async with edge() as app:
            body = call(tool, arguments, _meta={**ENVELOPE, "progressToken": "p"})
            await exchange(app, body, headers=modern(tool))  # the SDK has judged this client's envelope now
            _assert_alike(*await _both(app, body, modern(tool), monkeypatch))

    _run(compare())


def test_a_client_whose_envelope_the_sdk_refuses_is_never_taken_for_plain() -> None:
    async def compare() -> None:
        async with edge() as app:
            broken = {**ENVELOPE, "io.modelcontextprotocol/clientInfo": {"name": 5}}
            body = call("echo", {"text": "x"}, _meta=broken)
            for _ in range(2):
                answer = await exchange(app, body, headers=modern("echo"))
                assert answer.status == 400
                assert answer.json()["error"]["code"] == -32602

    _run(compare())


def test_a_client_that_is_known_and_names_another_tool_in_its_headers_is_refused() -> None:
    """Who stands between, and lets calls through by their headers, is not deceived."""

    async def story() -> None:
        async with edge() as app:
            body = call("echo", {"text": "x"}, _meta=ENVELOPE)
            assert (await exchange(app, body, headers=modern("echo"))).status == 200
            assert (await exchange(app, body, headers=modern("health_check"))).status == 400

    _run(story())


@pytest.mark.parametrize("params", [[], ["x"], 5, {"_meta": 5}, {"x": 1}], ids=str)
def test_a_ping_with_params_is_answered_as_the_sdk_does(params: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def compare() -> None:
        async with edge() as app:
            quick = await exchange(app, request("ping", params))
            monkeypatch.setattr(mcp_fast_path, "recognise", lambda *_: None)
            official = await exchange(app, request("ping", params))
            assert (quick.status, _content(quick)) == (official.status, _content(official))

    _run(compare())


_CALL = request("tools/call", {"name": "echo"})
UNUSUAL_MESSAGES: dict[str, tuple[bytes, Headers]] = {
    "several at once": (b"[" + _CALL + b"]", PLAIN),
    "a text": (b'"tools/call"', PLAIN),
    "more than a request has": (_CALL[:-1] + b',"result":{}}', PLAIN),
    **{
        f"the progress token {token}": (call("echo", _meta={**ENVELOPE, "progressToken": token}), modern("echo"))
        for token in (None, True, 1.5)
    },
}


@pytest.mark.parametrize(("body", "headers"), UNUSUAL_MESSAGES.values(), ids=UNUSUAL_MESSAGES.keys())
def test_what_is_unusual_is_left_to_the_sdk_also_of_a_client_that_is_known(body: bytes, headers: Headers) -> None:
    envelopes = mcp_fast_path.Envelopes()
    envelopes.accept(ENVELOPE)
    given = {name.encode(): value.encode() for name, value in headers}
    usual = call("echo", _meta={**ENVELOPE, "progressToken": 1})
    assert mcp_fast_path.recognise(given, usual, envelopes) is not None
    assert mcp_fast_path.recognise(given, body, envelopes) is None


def _content(response: Response) -> Any:
    return response.json() if response.body.startswith(b"{") else response.body


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_META: list[Any] = [None, {}, {"progressToken": 1}, {"progressToken": None}, {"progressToken": True}, 7, {"x": 1}]
_MESSAGE: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
_message_changes = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0", 2]),
        "id": st.sampled_from([1, "a", None, 1.5, True, 2**70, [], {}]),
        "method": st.sampled_from(["ping", "nope", 5, None]),
        "result": _json,
    },
)
_param_changes = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["ecko", "", "health_check", 5, None]),
        "arguments": st.just({"text": "y"}) | _json,
        "_meta": st.sampled_from([*_META, ENVELOPE, {**ENVELOPE, "progressToken": 2}]),
        "task": st.sampled_from([None, {"ttl": 5}, 5]),
        "extra": _json,
    },
)
_header_changes = st.fixed_dictionaries(
    {},
    optional={
        "content-type": st.sampled_from(["application/jsonx", "text/plain", "APPLICATION/JSON", "application/json;x"]),
        "accept": st.sampled_from(["*/*", "text/event-stream", "application/*", "text/html", "application/jsonp"]),
        "mcp-protocol-version": st.sampled_from(["2025-11-25", "2024-11-05", "1999-01-01", ""]),
        "mcp-method": st.sampled_from(["tools/call", "ping", ""]),
        "mcp-name": st.sampled_from(["echo", "=?base64?ZWNobw==?=", "x"]),
    },
)


@st.composite
def _requests(draw: st.DrawFn) -> tuple[bytes, Headers]:
    """A proper request of either era with a few things changed; often none."""
    new = draw(st.booleans())
    params = {"name": "echo", "arguments": {"text": "x"}, **({"_meta": ENVELOPE} if new else {})}
    message = {**_MESSAGE, "params": params}
    headers = dict(modern("echo") if new else PLAIN)
    if draw(st.booleans()):
        message |= draw(_message_changes)
    if draw(st.booleans()):
        message["params"] = draw(st.just({**params, **draw(_param_changes)}) | _json)
    if draw(st.booleans()):
        headers |= draw(_header_changes)
    return json.dumps(message).encode(), tuple(headers.items())


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(requests=st.lists(_requests(), min_size=1, max_size=30))
def test_whatever_is_taken_for_plain_is_answered_as_the_sdk_would(requests: list[tuple[bytes, Headers]]) -> None:
    async def compare() -> None:
        async with edge() as app:
            await exchange(app, call("echo", {"text": "x"}, _meta=ENVELOPE), headers=modern("echo"))
            for body, headers in requests:
                quick = await exchange(app, body, headers=headers)
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(mcp_fast_path, "recognise", lambda *_: None)
                    official = await exchange(app, body, headers=headers)
                assert (quick.status, _content(quick)) == (official.status, _content(official))

    _run(compare())

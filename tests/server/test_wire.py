"""Bad input over real TCP: every mistake is answered clearly, and the server serves on."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator

import httpx
import pytest

from tests.server.http import ENVELOPE, PLAIN, Served, call, modern, request, served
from toryo import exact_json

JSON_RPC = dict(PLAIN[1:])


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as running:
        yield running


@pytest.fixture
def http(server: Served) -> Iterator[httpx.Client]:
    """A client; afterwards the server must still answer a proper call."""
    with httpx.Client(base_url=server.url) as client:
        yield client
        answer = client.post("/mcp", content=call("echo", {"text": "alive"}), headers=JSON_RPC)
        assert answer.json()["result"]["structuredContent"]["text"] == "alive"


def error_of(response: httpx.Response) -> tuple[int, int]:
    return response.status_code, response.json()["error"]["code"]


BROKEN_JSON = {
    "cut off": b'{"jsonrpc":"2.0","id":1,"method":"tools/c',
    "empty": b"",
    "invalid UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\xff\xfe"}}',
    "huge nesting": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":'
    + b'{"a":' * 50_000
    + b"1"
    + b"}" * 50_002,
    "half a surrogate": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}',
}


@pytest.mark.parametrize("body", BROKEN_JSON.values(), ids=BROKEN_JSON.keys())
def test_what_is_not_json_is_a_parse_error(http: httpx.Client, body: bytes) -> None:
    assert error_of(http.post("/mcp", content=body, headers=JSON_RPC)) == (400, -32700)


@pytest.mark.parametrize("body", [b"[]", b"5", b"null", b"[" + call("echo", {"text": "x"}) + b"]", b"{}"])
def test_what_is_not_one_message_is_refused(http: httpx.Client, body: bytes) -> None:
    response = http.post("/mcp", content=body, headers=JSON_RPC)
    assert response.status_code == 400
    assert response.json()["id"] is None


@pytest.mark.parametrize("arguments", [[], "text", 5, True])
def test_arguments_that_are_no_object_are_invalid(http: httpx.Client, arguments: object) -> None:
    assert error_of(http.post("/mcp", content=call("echo", arguments), headers=JSON_RPC)) == (200, -32602)


def test_an_unknown_method_is_named(http: httpx.Client) -> None:
    response = http.post("/mcp", content=request("tools/burn"), headers=JSON_RPC)
    assert error_of(response) == (200, -32601)


NUMBERS = {"18446744073709551615": True, "-9223372036854775808": True, "0.1": True, "1e30": True}
NUMBERS |= dict.fromkeys(("18446744073709551616", "-9223372036854775809", "9" * 5000, "NaN", "-Infinity"), False)
"""As JSON or its writers spell them, and whether they can be stored as they are."""


@pytest.mark.parametrize(("number", "kept"), NUMBERS.items())
def test_a_number_is_taken_as_it_is_or_refused(http: httpx.Client, number: str, kept: bool) -> None:
    """Never rounded, and never turned into null."""
    asked = call("echo", {"text": f"a text may have any: {number}", "anything": {"here": ["?"]}})
    response = http.post("/mcp", content=asked.replace(b'"?"', number.encode()), headers=JSON_RPC).json()
    answer = response.get("result", {}).get("structuredContent", response)
    assert ("error" in answer) is not kept
    if kept:
        assert answer["anything"] == {"here": [json.loads(number)]}
        assert exact_json.loads(number.encode()) == json.loads(number)
    else:
        with pytest.raises(ValueError, match=r"."):
            exact_json.loads(number.encode())


def test_half_a_surrogate_in_an_argument_is_a_refusal(http: httpx.Client) -> None:
    body = call("echo", {"text": "x"}).replace(b'"x"', b'"\\ud800"')
    assert error_of(http.post("/mcp", content=body, headers=JSON_RPC))[0] == 400
    message = {**json.loads(call("echo", {"text": "x"}))}
    message["params"]["_meta"] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = json.dumps(message).encode().replace(b'"x"', b'"\\ud800"')
    result = http.post("/mcp", content=body, headers=dict(modern("echo")[1:])).json()["result"]
    assert result["isError"]
    assert result["structuredContent"]["error"] == "validationError"


def test_a_wrong_content_type_is_refused(http: httpx.Client) -> None:
    headers = {**JSON_RPC, "content-type": "text/plain"}
    assert http.post("/mcp", content=call("echo"), headers=headers).status_code == 400


@pytest.mark.parametrize("media_type", ["Application/JSON", "APPLICATION/json; charset=UTF-8"])
def test_a_content_type_means_the_same_in_capitals(http: httpx.Client, media_type: str) -> None:
    for body in (call("health_check"), request("tools/list")):
        answer = http.post("/mcp", content=body, headers={**JSON_RPC, "content-type": media_type})
        assert answer.status_code == 200, answer.text
        assert "result" in answer.json()


@pytest.mark.parametrize("strange", [1.5, None, True, ["1"], {"n": 1}])
def test_a_request_whose_id_is_none_that_can_be_answered_is_refused(http: httpx.Client, strange: object) -> None:
    for body in (call("health_check", request_id=strange), request("tools/list", request_id=strange)):
        answer = http.post("/mcp", content=body, headers=JSON_RPC)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)
        assert "id" in answer.json()["error"]["message"]


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip"])
def test_a_compressed_body_is_refused_as_such(http: httpx.Client, encoding: str) -> None:
    packed = gzip.compress(call("health_check"))
    answer = http.post("/mcp", content=packed, headers={**JSON_RPC, "content-encoding": encoding})
    assert answer.status_code == 415
    assert encoding in answer.json()["error"]["message"]


@pytest.mark.parametrize("accept", ["text/html", "text/event-stream", ""])
def test_a_client_that_takes_no_json_is_told_so(http: httpx.Client, accept: str) -> None:
    headers = {**JSON_RPC, "accept": accept}
    assert http.post("/mcp", content=call("echo"), headers=headers).status_code == 406


def test_an_unknown_protocol_version_is_refused_with_the_known_ones(http: httpx.Client) -> None:
    headers = {**JSON_RPC, "mcp-protocol-version": "1999-01-01"}
    response = http.post("/mcp", content=call("echo"), headers=headers)
    assert response.status_code == 400


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_than_post_are_told_which_one(http: httpx.Client, method: str) -> None:
    response = http.request(method, "/mcp", headers=JSON_RPC)
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("space", ["  {}  ", "\t{}\t", "{} "])
def test_spaces_around_the_value_of_a_header_are_no_part_of_it(server: Served, space: str) -> None:
    body = call("whoami", {}, _meta=ENVELOPE)
    given = (*modern("whoami"), ("authorization", "Bearer secret"), ("connection", "close"))
    lines = "".join(f"{name}:{space.format(value)}\r\n" for name, value in (*given, ("content-length", f"{len(body)}")))
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as raw:
        raw.sendall(b"POST /mcp HTTP/1.1\r\n" + lines.encode() + b"\r\n" + body)
        answered = b"".join(iter(lambda: raw.recv(65_536), b""))
    assert answered.startswith(b"HTTP/1.1 200 "), answered
    assert b'"bearer":"secret"' in answered


def test_notifications_are_accepted_without_an_answer(http: httpx.Client) -> None:
    body = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    response = http.post("/mcp", content=body, headers=JSON_RPC)
    assert (response.status_code, response.content) == (202, b"")


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:80"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/api/v1/things", "/health", "/"])
def test_foreign_hosts_and_origins_are_kept_out_everywhere(
    http: httpx.Client, header: dict[str, str], status: int, path: str
) -> None:
    response = http.post(path, content=call("echo", {"text": "x"}), headers={**JSON_RPC, **header})
    assert response.status_code == status
    assert "TORYO_ALLOWED_HOSTS" in response.text


def test_a_large_body_is_refused_by_its_declared_length(http: httpx.Client) -> None:
    response = http.post("/mcp", content=call("echo", {"text": "x" * 10_000_000}), headers=JSON_RPC)
    assert response.status_code == 413
    assert response.json()["error"]["data"]["error"] == "tooLarge"
    assert "2,000,000" in response.json()["error"]["message"]


def test_a_large_body_without_a_length_is_refused_while_it_comes(http: httpx.Client) -> None:
    pieces = (b"x" * 100_000 for _ in range(100))
    response = http.post("/mcp", content=pieces, headers=JSON_RPC)
    assert response.status_code == 413


def test_a_body_just_below_the_limit_passes(http: httpx.Client) -> None:
    response = http.post("/mcp", content=call("echo", {"text": "x" * 1_900_000}), headers=JSON_RPC)
    assert len(response.json()["result"]["structuredContent"]["text"]) == 1_900_000


def test_a_body_that_comes_in_many_pieces_is_put_together(http: httpx.Client) -> None:
    body = call("echo", {"text": "in pieces"})
    pieces = (body[start : start + 7] for start in range(0, len(body), 7))
    response = http.post("/mcp", content=pieces, headers=JSON_RPC)
    assert response.json()["result"]["structuredContent"]["text"] == "in pieces"


@pytest.mark.parametrize("garbage", [b"\x16\x03\x01\x02\x00", b"HELLO\r\n\r\n", b"GET / HTTP/1.1\r\nHo", b"\0" * 5000])
def test_garbage_instead_of_http_disturbs_nobody(http: httpx.Client, server: Served, garbage: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as raw:
        raw.sendall(garbage)
        raw.shutdown(socket.SHUT_WR)
        while raw.recv(4096):
            pass


def test_a_client_that_leaves_in_the_middle_of_its_request_disturbs_nobody(http: httpx.Client, server: Served) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as raw:
        raw.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")


def test_paths_that_do_not_exist_are_answered_with_what_does(http: httpx.Client) -> None:
    response = http.get("/nothing")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"
    assert "/mcp" in response.json()["instruction"]


def test_health_needs_no_credential(http: httpx.Client) -> None:
    response = http.get("/health")
    assert (response.status_code, response.json()["status"]) == (200, "ok")

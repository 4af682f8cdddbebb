"""HTTP as values: answers in every way that servers send them, cut anywhere, and what is none."""

from __future__ import annotations

import pytest

from toryo.client import http1
from toryo.client.http1 import Answer, Garbled

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nfour"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    b"4\r\nfour\r\nD;name=value\r\n and\r\n twelve\r\n0\r\nTrailer: x\r\n\r\n"
)
TOLD_TO_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + PLAIN
EMPTY = b"HTTP/1.1 204 No Content\r\nConnection: Close\r\n\r\n"
WITHOUT_LENGTH = b"HTTP/1.1 200 OK\r\n\r\nuntil the end"
OLD = b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"
OLD_AND_KEPT = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize("step", [1, 2, 7, 10_000])
@pytest.mark.parametrize(
    ("sent", "status", "body", "keeps"),
    [
        (PLAIN, 200, b"four", True),
        (CHUNKED, 200, b"four and\r\n twelve", True),
        (TOLD_TO_CONTINUE, 200, b"four", True),
        (EMPTY, 204, b"", False),
        (WITHOUT_LENGTH, 200, b"until the end", False),
        (OLD, 200, b"", False),
        (OLD_AND_KEPT, 200, b"", True),
    ],
)
def test_an_answer_is_read_wherever_it_is_cut(sent: bytes, status: int, body: bytes, keeps: bool, step: int) -> None:
    answer = Answer()
    for at in range(0, len(sent), step):
        assert not answer.complete
        answer.take(sent[at : at + step])
    answer.end()
    assert (answer.status, bytes(answer.body), answer.complete, answer.keeps) == (status, body, True, keeps)


def test_headers_are_found_by_their_names_in_lower_case_and_repeated_ones_are_joined() -> None:
    answer = Answer()
    answer.take(b"HTTP/1.1 200 OK\r\nX-One:  a \r\nx-ONE: b\r\nContent-Length: 0\r\n\r\n")
    assert answer.headers == {"x-one": "a, b", "content-length": "0"}


def test_what_a_reader_takes_away_of_a_stream_does_not_disturb_what_follows() -> None:
    answer, read = Answer(), b""
    for at in range(len(CHUNKED)):
        answer.take(CHUNKED[at : at + 1])
        read += bytes(answer.body)
        answer.body.clear()
    assert answer.complete
    assert read == b"four and\r\n twelve"


def test_a_connection_with_more_than_one_answer_is_not_used_again() -> None:
    answer = Answer()
    assert answer.take(PLAIN + PLAIN)
    assert bytes(answer.body) == b"four"
    assert not answer.keeps


def test_an_opened_tunnel_has_no_body() -> None:
    answer = Answer(of_tunnel=True)
    assert answer.take(b"HTTP/1.1 200 Connection established\r\n\r\n")


@pytest.mark.parametrize(
    "sent",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 2x0 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: " + b"1" * 5_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-4\r\nfour\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x4\r\nfour\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour and more\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * (http1.LARGEST_HEAD + 1),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * (http1.LARGEST_HEAD + 1),
    ],
)
def test_what_is_no_answer_is_refused(sent: bytes) -> None:
    with pytest.raises(Garbled):
        Answer().take(sent)


@pytest.mark.parametrize("sent", [b"", PLAIN[:10], PLAIN[:-1], CHUNKED[:-4], CHUNKED[:70]])
def test_an_answer_that_ends_too_early_is_refused(sent: bytes) -> None:
    answer = Answer()
    answer.take(sent)
    with pytest.raises(Garbled, match="closed"):
        answer.end()


def test_a_request_is_its_lines_and_its_body() -> None:
    sent = http1.request("POST", "/mcp", {"Host": "h:1", "Accept": "*/*"}, b"{}")
    assert sent == b"POST /mcp HTTP/1.1\r\nHost: h:1\r\nAccept: */*\r\nContent-Length: 2\r\n\r\n{}"
    assert b"Content-Length" not in http1.request("GET", "/", {}, None)
    assert b"Content-Length: 0" in http1.request("POST", "/", {}, None)


def test_no_value_can_add_a_header_or_a_request() -> None:
    assert http1.request("GET", "/a b\r\nX: y/棟?q=%20&r=1", {}, None).splitlines() == [
        b"GET /a%20b%0D%0AX:%20y/%E6%A3%9F?q=%20&r=1 HTTP/1.1",
        b"",
    ]
    with pytest.raises(ValueError, match="Authorization"):
        http1.request("GET", "/", {"Authorization": "Bearer x\r\nX: y"}, None)

"""HTTP/1.1 as values: the bytes of a request, and an answer that is read as its bytes arrive. No I/O.

Both clients use it instead of `http.client` and httpx: agents start often, and importing those costs each of them more
CPU than all of its calls. It reads what servers and proxies send: lengths, chunks, and bodies that end with the
connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

LARGEST_HEAD = 256 * 1024
"""Bytes of a status line and its headers, and of the size of a chunk."""
_PLAIN = "!#$%&'()*+,/:;=?@[]~"
"""What stays in a target as it is, beside letters and digits. `%`: it is quoted already."""
_WITHOUT_BODY = (204, 304)
_WITH_BODY = ("POST", "PUT", "PATCH")
_SIZE = frozenset(b"0123456789abcdefABCDEF")
_LONGEST_SIZE = 16
_LONGEST_LENGTH = 19
"""Digits: as many bytes as nobody sends. Python refuses to read thousands of them, with an error of its own."""


class Garbled(Exception):
    """What arrived is not HTTP, or ended too early."""


def request(method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    """A request with its body. Raises ValueError for a header that cannot be sent."""
    if not (target.isascii() and target.isprintable()) or " " in target:
        target = quote(target, safe=_PLAIN)
    lines = [f"{method} {target} HTTP/1.1"]
    for name, value in headers.items():
        if not value.isprintable():
            raise ValueError(f"the header {name} cannot be sent: its value contains control characters")
        lines.append(f"{name}: {value}")
    if body is not None or method in _WITH_BODY:
        lines.append(f"Content-Length: {len(body or b'')}")
    return "\r\n".join([*lines, "\r\n"]).encode("latin-1") + (body or b"")


class Answer:
    """One answer: `take` what arrives until it is `complete`. Raises Garbled."""

    __slots__ = (
        "_chunked",
        "_expects",
        "_left",
        "_of_tunnel",
        "_rest",
        "body",
        "complete",
        "headers",
        "keeps",
        "status",
    )

    def __init__(self, *, of_tunnel: bool = False) -> None:
        """`of_tunnel`: the answer to CONNECT, which has no body: the bytes after it belong to the tunnel."""
        self.status = 0
        """0 until its headers are there."""
        self.headers: dict[str, str] = {}
        """By their names in lower case."""
        self.body = bytearray()
        """What has arrived of it. A reader of a stream removes what it has read."""
        self.complete = False
        self.keeps = False
        """Whether the connection may be used again after it."""
        self._of_tunnel = of_tunnel
        self._rest = bytearray()
        self._chunked = False
        self._left: int | None = None
        """Bytes to come, of the body or of a chunk; None: until the connection ends, and after the last chunk."""
        self._expects: bytes | None = None
        """The line that must follow."""

    def take(self, data: bytes) -> bool:
        """Takes in what has arrived; returns whether the answer is complete."""
        if self._rest:
            self._rest += data
        else:
            self._rest = bytearray(data)
        while not self.status:
            end = self._rest.find(b"\r\n\r\n")
            if end < 0:
                self._bounded()
                return False
            head = bytes(self._rest[:end])
            del self._rest[: end + 4]
            self._begin(head)
        if not self.complete:
            self._take_chunks() if self._chunked else self._take_body()
        if self.complete and self._rest:
            self.keeps = False  # more than one answer to one request
        return self.complete

    def end(self) -> None:
        """The connection has ended: that is the end of a body without a length. Raises Garbled for any other."""
        if self.complete:
            return
        if not self.status or self._chunked or self._left is not None:
            raise Garbled("the connection was closed before the answer was complete")
        self.complete = True

    def _begin(self, head: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        version, _, rest = first.partition(" ")
        code = rest[:3]
        if not version.startswith("HTTP/1.") or not (len(code) == 3 and code.isascii() and code.isdigit()):
            raise Garbled("what answers does not speak HTTP")
        if code.startswith("1"):
            if code == "101":
                raise Garbled("the server changed the protocol")
            return  # the answer itself follows
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            name, value = name.lower(), value.strip(" \t")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        self.status, self.headers = int(code), headers
        connection = headers.get("connection", "").lower()
        self.keeps = "close" not in connection and (version == "HTTP/1.1" or "keep-alive" in connection)
        self._chunked = headers.get("transfer-encoding", "").lower().endswith("chunked")
        if self.status in _WITHOUT_BODY or (self._of_tunnel and self.status < 300):
            self._chunked, self._left = False, 0
        elif self._chunked:
            self._left = 0
        elif "content-length" in headers:
            length = headers["content-length"]
            if not (length.isascii() and length.isdigit() and len(length) <= _LONGEST_LENGTH):
                raise Garbled("the answer has no valid length")
            self._left = int(length)
        else:
            self.keeps = False

    def _take_body(self) -> None:
        if self._left is None:
            self.body += self._rest
            self._rest.clear()
            return
        self._move()
        self.complete = self._left == 0

    def _take_chunks(self) -> None:
        while not self.complete:
            if self._left:
                self._move()
                if self._left:
                    return
                self._expects = b""  # the line end of the chunk
            end = self._rest.find(b"\r\n")
            if end < 0:
                self._bounded()
                return
            line = bytes(self._rest[:end])
            del self._rest[: end + 2]
            self._line_between(line)

    def _line_between(self, line: bytes) -> None:
        """The size of a chunk, the empty line end after its bytes, or, after the last one, a trailer."""
        if self._left is None:
            self.complete = not line
        elif self._expects is not None:
            if line != self._expects:
                raise Garbled("a piece of the answer does not end where it should")
            self._expects = None
        else:
            size = line.partition(b";")[0].strip()
            if not _SIZE.issuperset(size) or not 0 < len(size) <= _LONGEST_SIZE:
                raise Garbled("a piece of the answer has no valid length")
            self._left = int(size, 16) or None

    def _move(self) -> None:
        assert self._left is not None, "only a body with a length is counted"
        taken = min(self._left, len(self._rest))
        self.body += self._rest[:taken]
        del self._rest[:taken]
        self._left -= taken

    def _bounded(self) -> None:
        if len(self._rest) > LARGEST_HEAD:
            raise Garbled("the head of the answer is too long")

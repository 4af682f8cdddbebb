"""The way out of a sandbox with a limited network: one small HTTP proxy per launch, a process of its own.

It starts as a file, with the standard library alone, in place of the sandbox: a child becomes the proxy, and bubblewrap
takes the place of the parent. So it belongs to the process group of the launch, ends with it, and goes on working while
the Coordinator is restarted. It gets listening sockets that were made in the sandbox (`network_entry.py`), admits by
host name and port, and resolves names itself: whatever a name resolves to, an address of this machine or of a private
network is not reached by it. Further sockets lead to exactly one address of this machine each: the server, a model.

A plain request gets a connection of its own, and only its own body is passed on; everything else is a tunnel
(CONNECT). Every connection has its own threads, and there is a limit for each bound that a program could abuse.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import json
import os
import re
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve()
"""Is executed outside of the sandbox, so it is found once: an agent could lead a link to it elsewhere later."""

if __name__ == "__main__":
    # By its file alone: the directory around the package may be a project's, where agents write what Python would find.
    _name, _beside = "toryo.sandbox_network", FILE.parents[1] / "sandbox_network.py"
    _found = importlib.util.spec_from_file_location(_name, _beside)
    assert _found is not None
    assert _found.loader is not None
    sys.modules[_name] = importlib.util.module_from_spec(_found)
    _found.loader.exec_module(sys.modules[_name])

from toryo.sandbox_network import USUAL_PORTS, Rule, address, exactly, goes_directly, is_public, plain_host, rule, split  # noqa: E402

MOST_CONNECTIONS = 256
MOST_FROM_OUTSIDE = 128
"""Connections to ports of the program. Each connection has two descriptors, of which a process often has 1024."""
LARGEST_HEADER = 32 * 1024
HEADER_WITHIN = 20.0
CONNECT_WITHIN = 20.0
IDLE_FOR = 1800.0
"""Seconds without a byte in either direction: a model that thinks is silent for long."""
UNRESOLVED_FOR = 300.0
"""Seconds for which a name that this machine cannot resolve is not tried again: each attempt may take long."""
PORTION = 64 * 1024
MOST_TOLD = 50
"""Different hosts of which a refusal is noted."""
NO_HOST = "(not the name of a host)"
OF_PRIVATE = " (this name leads to a private address, which must be listed itself)"
"""After a host that is refused although it is listed."""

_LINE = re.compile(rb"([A-Z]{1,20}) ([\x21-\x7e]+) HTTP/1\.([01])")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\x80-\xff\t]*)")
_PLAIN = re.compile(r"http://([^/?#@]+)(/[^#]*|\?[^#]*)?", re.IGNORECASE)
_OF_ONE_CONNECTION = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"proxy-authenticate"),
        *(b"te", b"trailer", b"upgrade", b"expect", b"host", b"content-length", b"transfer-encoding"),
        b"max-forwards",
    }
)
_ECHOING = frozenset({"TRACE", "TRACK"})
"""Methods that answer with the request, to which this machine's own proxy may have added something."""


class Refused(Exception):
    """Is answered with this status and text, and the connection is closed."""

    def __init__(self, status: str, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class Policy:
    """What is reachable through the proxy. `trusted`: host and port of the server and of the model's base URL, wherever
    their names lead. `upstream`: the machine's own proxy, with `authorization`; `direct` hosts are reached without."""

    rules: tuple[Rule, ...] = ()
    trusted: frozenset[tuple[str, int]] = frozenset()
    why: str = ""
    """What a person has to do so that a refused host is reachable; `{host}` is that host."""
    upstream: tuple[str, int] | None = None
    direct: tuple[str, ...] = ()
    authorization: str = field(default="", repr=False)

    @staticmethod
    def read(given: Mapping[str, Any]) -> Policy:
        trusted = frozenset((str(host), int(port)) for host, port in given["trusted"])
        upstream = given.get("upstream")
        return Policy(
            tuple(each for text in given["hosts"] if (each := rule(text)) is not None),
            trusted,
            str(given["why"]),
            (str(upstream[0]), int(upstream[1])) if upstream else None,
            tuple(map(str, given.get("direct") or ())),
            str(given.get("authorization") or ""),
        )

    def admits(self, host: str, port: int) -> bool:
        return (host, port) in self.trusted or any(each.admits(host, port) for each in self.rules)

    def lists(self, host: str, port: int) -> bool:
        """Whether it is admitted by its own name, not only by one with `*`."""
        return any(each.host == host and port in each.ports for each in self.rules)

    def by_upstream(self, host: str, port: int) -> bool:
        """Whether this machine's own proxy is asked."""
        return self.upstream is not None and not goes_directly(host, port, self.direct)


Resolve = Callable[[str, int], Sequence[str]]


def resolved(host: str, port: int) -> list[str]:
    """The addresses of a name. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


class Served:
    """`most`: connections at once, of all its sockets together."""

    def __init__(self, most: int) -> None:
        self._room = threading.BoundedSemaphore(most)

    def serve(self, listening: socket.socket, work: Callable[[socket.socket], None]) -> None:
        """Accepts connections until the socket is closed. Connections beyond the limit, and those for which no thread
        can be started, are closed at once."""
        while True:
            try:
                client, _ = listening.accept()
            except OSError as problem:
                if listening.fileno() < 0 or problem.errno not in _PASSING:
                    return
                time.sleep(0.1)  # no descriptor is free: connections that end give some back
                continue
            if not self._room.acquire(blocking=False):
                client.close()
                continue
            try:
                _started(self._in_thread, work, client)
            except OSError:
                self._room.release()
                client.close()

    def _in_thread(self, work: Callable[[socket.socket], None], client: socket.socket) -> None:
        try:
            with client, contextlib.suppress(OSError):
                work(client)
        finally:
            self._room.release()


def _started(work: Callable[..., None], *given: Any) -> threading.Thread:
    """Raises OSError if this machine has no thread left."""
    made = threading.Thread(target=work, args=given, daemon=True)
    try:
        made.start()
    except RuntimeError as problem:
        raise OSError(errno.EAGAIN, str(problem)) from None
    return made


class Proxy(Served):
    """`note` is told each refused `host:port`, once."""

    def __init__(self, policy: Policy, note: Callable[[str], None], resolve: Resolve = resolved) -> None:
        super().__init__(MOST_CONNECTIONS)
        self._policy, self._note, self._resolve = policy, note, resolve
        self._told: set[str] = set()
        self._unresolved: dict[str, float] = {}
        self._lock = threading.Lock()

    def answer(self, client: socket.socket) -> None:
        """Answers one request. Raises OSError."""
        try:
            head, rest = _head(client)
            request = _Request.read(head)
            if request.method in _ECHOING:
                raise Refused("405 Method Not Allowed", f"{request.method} is not passed on.")
            if request.method == "CONNECT":
                self._tunnel(client, request, rest)
            else:
                self._forward(client, request, rest)
        except Refused as no:
            text = f"{no}\n".encode()
            lines = f"HTTP/1.1 {no.status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(text)}"
            client.sendall(f"{lines}\r\nConnection: close\r\n\r\n".encode() + text)

    def lead_to(self, host: str, port: int) -> Callable[[socket.socket], None]:
        """Passes a whole connection on to one address."""

        def work(client: socket.socket) -> None:
            with socket.create_connection((host, port), timeout=CONNECT_WITHIN) as server:
                _relay(client, server)

        return work

    def _tunnel(self, client: socket.socket, request: _Request, rest: bytes) -> None:
        host, port = self._admitted(request.target)
        server, upstream = self._connected(host, port)
        with server:
            more = self._opened(server, host, port) if upstream else b""
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n" + more)
            server.sendall(rest)
            _relay(client, server)

    def _opened(self, server: socket.socket, host: str, port: int) -> bytes:
        """Has this machine's own proxy connect to a host. Answers what that host has said already."""
        signs = f"Proxy-Authorization: {self._policy.authorization}\r\n" if self._policy.authorization else ""
        name = exactly(host, port)
        server.sendall(f"CONNECT {name} HTTP/1.1\r\nHost: {name}\r\n{signs}\r\n".encode())
        answer, more = _head(server)
        if not re.match(rb"HTTP/1\.[01] 2\d\d", answer):
            raise Refused("502 Bad Gateway", f"The proxy of this machine did not open a connection to {name}.")
        return more

    def _forward(self, client: socket.socket, request: _Request, rest: bytes) -> None:
        found = _PLAIN.fullmatch(request.target)
        if found is None:
            raise Refused("400 Bad Request", "This is a proxy: ask it for http://HOST/PATH, or for CONNECT HOST:PORT.")
        authority, path = found[1], found[2] or "/"
        host, port = self._admitted(authority if split(authority)[1] is not None else f"{authority}:80")
        server, upstream = self._connected(host, port)
        with server:
            path = f"{'/' if path.startswith('?') else ''}{path}"
            if upstream and self._policy.authorization:  # in a plain request the program could have it echoed
                upstream = False
                if self._opened(server, host, port):
                    raise Refused("502 Bad Gateway", f"{exactly(host, port)} answered before it was asked.")
            target = f"http://{exactly(host, port)}{path}" if upstream else path
            lines = [f"{request.method} {target} HTTP/1.1".encode(), *request.passed_on]
            host_line = f"Host: {exactly(host, port)}\r\n\r\n".encode()
            server.sendall(b"\r\n".join([*lines, b"Connection: close", host_line]))
            sending = _started(_send_body, client, server, request, rest)
            _pass_on(server, client, _Activity())
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            sending.join(CONNECT_WITHIN)

    def _admitted(self, authority: str) -> tuple[str, int]:
        text, number = split(authority)
        host = plain_host(text)
        port = int(number) if number is not None and number.isascii() and number.isdigit() and len(number) < 6 else 0
        if host is None or not 0 < port < 65536:
            self._tell(NO_HOST)
            raise Refused("403 Forbidden", "The sandbox refused this: it is not the name of a host with a port.")
        if not self._policy.admits(host, port):
            raise self._refusal(host, port)
        return host, port

    def _refusal(self, host: str, port: int, why: str = "") -> Refused:
        self._tell(f"{exactly(host, port)}{OF_PRIVATE if why else ''}")
        entry = host if port in USUAL_PORTS else exactly(host, port)
        text = why or self._policy.why.replace("{host}", entry)
        return Refused("403 Forbidden", f"The sandbox refused: {exactly(host, port)}\n{text}")

    def _tell(self, what: str) -> None:
        with self._lock:
            if what in self._told or len(self._told) >= MOST_TOLD:
                return
            self._told.add(what)
        self._note(what)

    def _connected(self, host: str, port: int) -> tuple[socket.socket, bool]:
        """A connection to an admitted host, and whether it is one to this machine's own proxy. Raises Refused."""
        upstream = self._policy.upstream if self._policy.by_upstream(host, port) else None
        if upstream is not None:
            self._check_before_upstream(host, port)
        failed = "no address"
        for there in [upstream] if upstream is not None else self._addresses(host, port):
            try:
                made = socket.create_connection(there, timeout=CONNECT_WITHIN)
            except OSError as problem:
                failed = _problem_in_words(problem)
                continue
            if upstream is None and not self._anywhere(host, port) and _leads_here(made):
                made.close()
                raise self._refusal(host, port, _PRIVATE)
            return made, upstream is not None
        raise Refused("502 Bad Gateway", f"{exactly(host, port)} cannot be reached: {failed}")

    def _check_before_upstream(self, host: str, port: int) -> None:
        """This machine's own proxy resolves names itself, in a network that may be private. Raises Refused."""
        if time.monotonic() < self._unresolved.get(host, 0.0):
            return
        try:
            found = self._resolve(host, port)
        except OSError:
            if not self._policy.lists(host, port):
                raise self._refusal(host, port, _UNRESOLVED) from None
            self._unresolved[host] = time.monotonic() + UNRESOLVED_FOR
            return
        if not found or not all(map(is_public, found)):
            raise self._refusal(host, port, _PRIVATE)

    def _addresses(self, host: str, port: int) -> list[tuple[str, int]]:
        """Where an admitted host may be reached. Raises Refused."""
        if address(host) is not None:
            return [(host, port)]
        try:
            found = list(self._resolve(host, port))
        except OSError as problem:
            raise Refused(
                "502 Bad Gateway", f"{exactly(host, port)} cannot be reached: {_problem_in_words(problem)}"
            ) from None
        usable = [(each, port) for each in found if self._anywhere(host, port) or is_public(each)]
        if not usable:
            raise self._refusal(host, port, _PRIVATE)
        return usable

    def _anywhere(self, host: str, port: int) -> bool:
        """Whether a host may lead to this machine or to a private network."""
        return address(host) is not None or (host, port) in self._policy.trusted


_PASSING = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.ECONNABORTED, errno.EPROTO, errno.EAGAIN}
)
"""Faults of `accept` after which it may be called again."""
_PRIVATE = (
    "Its name leads to an address of this machine or of a private network, which the name of a host does not open. If "
    "that is wanted, a person can enter the address itself in network_hosts of the project."
)
_UNRESOLVED = (
    "This machine cannot resolve the name, so it may lead to a private network. If that is wanted, a person "
    "can enter exactly this name in network_hosts of the project: one with * does not allow it."
)


def _leads_here(connection: socket.socket) -> bool:
    """Whether it is one to this machine, by whatever address."""
    there = connection.getpeername()[0]
    if there == connection.getsockname()[0]:
        return True
    nobodys = "2001:db8::1" if connection.family is socket.AF_INET6 else "192.0.2.1"
    return _can_be_bound(connection.family, there) and not _can_be_bound(connection.family, nobodys)


def _can_be_bound(family: int, host: str) -> bool:
    """It is an address of this machine, unless this machine is set so that it binds any."""
    with socket.socket(family, socket.SOCK_DGRAM) as made:
        try:
            made.bind((host, 0))
        except OSError:
            return False
        return True


def _problem_in_words(problem: OSError) -> str:
    return problem.strerror or str(problem) or type(problem).__name__


# --- one request ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    target: str
    fields: tuple[tuple[bytes, bytes], ...]
    length: int | None
    """Of the body; None: chunked."""

    @staticmethod
    def read(head: bytes) -> _Request:
        """Strict: what could be read in two ways is refused."""
        first, *lines = head.split(b"\r\n")
        found = _LINE.fullmatch(first)
        if found is None:
            raise Refused("400 Bad Request", "This is not a request that a proxy understands.")
        fields = []
        for line in lines:
            matched = _FIELD.fullmatch(line)
            if matched is None:
                raise Refused("400 Bad Request", "A header of this request is malformed.")
            fields.append((matched[1].lower(), matched[2].rstrip(b" \t")))
        lengths = [value for name, value in fields if name == b"content-length"]
        codings = [value.lower() for name, value in fields if name == b"transfer-encoding"]
        chunked = codings == [b"chunked"] and not lengths and found[3] == b"1"
        simple = not codings and (not lengths or (len(lengths) == 1 and re.fullmatch(rb"[0-9]{1,15}", lengths[0])))
        if not chunked and not simple:
            raise Refused("400 Bad Request", "The length of this request's body is not clear.")
        named = {each.strip().lower() for name, value in fields if name == b"connection" for each in value.split(b",")}
        kept = tuple(each for each in fields if each[0] not in _OF_ONE_CONNECTION and each[0] not in named)
        length = None if chunked else int(lengths[0]) if lengths else 0
        return _Request(found[1].decode(), found[2].decode(), kept, length)

    @property
    def passed_on(self) -> Iterator[bytes]:
        yield from (name + b": " + value for name, value in self.fields)
        if self.length is None:
            yield b"Transfer-Encoding: chunked"
        elif self.length:
            yield b"Content-Length: %d" % self.length


def _head(client: socket.socket) -> tuple[bytes, bytes]:
    """A header without its last empty line, and what came after it. Raises Refused or OSError."""
    until, data = time.monotonic() + HEADER_WITHIN, b""
    while (end := data.find(b"\r\n\r\n")) < 0:
        if len(data) > LARGEST_HEADER:
            raise Refused("431 Request Header Fields Too Large", f"A header has at most {LARGEST_HEADER} bytes.")
        client.settimeout(max(0.01, until - time.monotonic()))
        try:
            more = client.recv(min(PORTION, LARGEST_HEADER + 1 - len(data)))
        except TimeoutError:
            raise Refused("408 Request Timeout", "The header did not come in time.") from None
        if not more:
            raise OSError("closed")
        data += more
    return data[:end], data[end + 4 :]


def _send_body(client: socket.socket, server: socket.socket, request: _Request, rest: bytes) -> None:
    """Exactly the request's own body: what follows it is no request of this connection."""
    client.settimeout(IDLE_FOR)
    source = _Source(client, rest)
    with contextlib.suppress(OSError, ValueError):
        for part in source.exactly(request.length) if request.length is not None else source.chunks():
            server.sendall(part)


class _Source:
    def __init__(self, connection: socket.socket, rest: bytes) -> None:
        self._connection, self._rest = connection, rest

    def exactly(self, length: int) -> Iterator[bytes]:
        while length > 0:
            part = self._rest[:length] or self._connection.recv(min(PORTION, length))
            if not part:
                raise OSError("closed")
            self._rest = self._rest[len(part) :]
            length -= len(part)
            yield part

    def chunks(self) -> Iterator[bytes]:
        """Trailers are left out. Raises ValueError for what is malformed."""
        while True:
            line = self._line()
            if not re.fullmatch(rb"[0-9a-fA-F]{1,15}", line):
                raise ValueError(line)
            size = int(line, 16)
            yield line + b"\r\n"
            if size == 0:
                yield b"\r\n"
                return
            yield from self.exactly(size)
            if b"".join(self.exactly(2)) != b"\r\n":
                raise ValueError("the end of a chunk is missing")
            yield b"\r\n"

    def _line(self) -> bytes:
        while (end := self._rest.find(b"\r\n")) < 0:
            more = self._connection.recv(256) if len(self._rest) < 256 else b""
            if not more:
                raise ValueError("a line is too long")
            self._rest += more
        line, self._rest = self._rest[:end], self._rest[end + 2 :]
        return line


class _Activity:
    def __init__(self) -> None:
        self.at = time.monotonic()


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Passes bytes on in both directions until both have ended."""
    activity = _Activity()
    back = _started(_pass_on, other, one, activity)
    _pass_on(one, other, activity)
    back.join()


def _pass_on(source: socket.socket, target: socket.socket, activity: _Activity) -> None:
    try:
        source.settimeout(IDLE_FOR)
        target.settimeout(IDLE_FOR)
        while True:
            try:
                data = source.recv(PORTION)
            except TimeoutError:
                if time.monotonic() - activity.at < IDLE_FOR:
                    continue
                raise
            if not data:
                break
            activity.at = time.monotonic()
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


# --- ports of the program ---------------------------------------------------------------------------------------------


class Ports(Served):
    """Connections to ports of the program: `control` leads to the process in the sandbox that makes them, which the
    program can influence. Who holds these connections takes none from the program's own way out."""

    def __init__(self, control: socket.socket) -> None:
        super().__init__(MOST_FROM_OUTSIDE)
        self._control, self._lock = control, threading.Lock()

    def lead_to(self, port: int) -> Callable[[socket.socket], None]:
        def work(client: socket.socket) -> None:
            with self._connected(port) as program:
                _relay(client, program)

        return work

    def _connected(self, port: int) -> socket.socket:
        with self._lock:
            self._control.settimeout(CONNECT_WITHIN)
            self._control.send(str(port).encode())
            said, passed, *_ = socket.recv_fds(self._control, 16, 4)
        if said != b"ok" or len(passed) != 1:
            for each in passed:
                os.close(each)
            raise OSError("nothing listens there")
        try:
            return socket.socket(fileno=passed[0])
        except OSError:  # no socket
            os.close(passed[0])
            raise


def published(port: int) -> socket.socket:
    """Listens on this port of this machine's loopback; on another one if it is taken. Raises OSError."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what is left of the last launch's connections
    try:
        made.bind(("127.0.0.1", port))
    except OSError:
        made.bind(("127.0.0.1", 0))
    made.listen(128)
    return made


# --- the process ------------------------------------------------------------------------------------------------------


def _run(given: Mapping[str, Any], control: socket.socket, refusals: int, parent: int) -> None:
    """Until bubblewrap, at whose place the parent was, has ended."""

    def note(host: str) -> None:
        os.write(refusals, f"{host}\n".encode())
        _tell(f"The sandbox refused: {host}")

    proxy, leads = Proxy(Policy.read(given), note), {(host, port): (to, at) for host, port, to, at in given["leads"]}
    waiting = select.poll()
    waiting.register(parent, select.POLLIN)
    waiting.register(control, select.POLLIN)
    if parent in dict(waiting.poll()):
        return
    told, passed, *_ = socket.recv_fds(control, 64 * 1024, 64)
    for (host, port), number in zip(json.loads(told or b"[]"), passed, strict=True):
        listening, to = socket.socket(fileno=number), leads.get((host, port))
        _started(proxy.serve, listening, proxy.lead_to(*to) if to is not None else proxy.answer)
    ports = Ports(control)
    for port in given["ports"]:
        with contextlib.suppress(OSError):
            listening = published(port)
            at = listening.getsockname()[1]
            _tell(f"Port {port} of the program: http://127.0.0.1:{at}")
            with contextlib.suppress(OSError):  # of a full disk; the port is there anyway
                os.write(refusals, f"= {port} {at}\n".encode())
            _started(ports.serve, listening, ports.lead_to(port))
    waiting.unregister(control)
    waiting.poll()


def _tell(line: str) -> None:
    """Into the log of the launch."""
    os.write(1, f"· {line}\n".encode())


def _close_all_but(kept: Sequence[int]) -> None:
    for number in [int(each.name) for each in Path("/proc/self/fd").iterdir()]:
        if number not in kept:
            with contextlib.suppress(OSError):
                os.close(number)


def main(spec: str, ours: str, refusals: str, *words: str) -> None:
    """Descriptors of what is reachable (JSON), of the way into the sandbox, of the file of refusals and ports; the
    sandbox."""
    numbers = [int(spec), int(ours), int(refusals)]
    for each in numbers:
        os.set_inheritable(each, False)
    parent = os.pidfd_open(os.getpid())
    if os.fork():
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and programs would go on with that
            signal.signal(number, signal.SIG_DFL)
        os.execv(words[0], words)  # noqa: S606
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it is asked to leave with its group, and ends with the sandbox
    _close_all_but((1, 2, parent, *numbers))
    try:
        with os.fdopen(numbers[0], "rb") as file:
            given = json.load(file)
        _run(given, socket.socket(fileno=numbers[1]), numbers[2], parent)
    except Exception as problem:  # noqa: BLE001 - nobody else would say it
        _tell(f"The proxy of the sandbox has failed: {type(problem).__name__}: {problem}")
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])

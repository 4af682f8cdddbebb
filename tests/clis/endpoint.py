"""A scripted model endpoint on loopback: four model APIs, answered by one policy that knows none of them.

`with Endpoint(policy) as endpoint:` serves at `endpoint.url` until the block ends. It records every request. It is also
the HTTP proxy of the programs under test (`endpoint.proxying()` is the environment that says so): whoever wants to
leave loopback asks it, is refused, and is found in `endpoint.strays`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.clis.anthropic import Anthropic
from tests.clis.api import Api
from tests.clis.completions import Completions
from tests.clis.gemini import Gemini
from tests.clis.responses import Responses
from tests.clis.turns import Answer, Cut, Fault, Garbage, Hang, Policy, Reply, Say, Slow, Turn, Usage
from tests.clis.wiring import NoSuchTool, as_reply, wired

APIS: Sequence[Api] = (Anthropic(), Gemini(), Responses(), Completions())
SIDE = Reply([Say("A title")], Usage(0, 0))
"""The answer to requests that are no work of the agent's. It costs nothing, so that sums are those of the policy."""


@dataclass
class Request:
    """What came in, and what was answered."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any = None
    turn: Turn | None = None
    answer: Answer | None = None


@dataclass
class Endpoint:
    """`policy` is asked in the thread of each request; it may be replaced between runs."""

    policy: Policy
    requests: list[Request] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    """What was to leave loopback, as `host:port`."""
    unknown: list[str] = field(default_factory=list)
    """Paths on loopback that no API has."""

    def __post_init__(self) -> None:
        self.closing = threading.Event()
        self._numbers = itertools.count(1)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.endpoint = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def proxying(self) -> dict[str, str]:
        """Environment by which everything that is not on loopback is asked of this endpoint."""
        loopback = "127.0.0.1,localhost,::1"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
        return {**dict.fromkeys(names, self.url), "NO_PROXY": loopback, "no_proxy": loopback}

    @property
    def turns(self) -> list[Turn]:
        """The requests that were work of an agent's."""
        return [request.turn for request in self.requests if request.turn is not None and not request.turn.side]

    @property
    def usage(self) -> Usage:
        """What all answers together have cost."""
        replies = [request.answer for request in self.requests if isinstance(request.answer, Reply)]
        return Usage(*(sum(getattr(reply.usage, name) for reply in replies) for name in ("input", "output", "cached")))

    def answer(self, request: Request) -> Answer:
        """What the policy says; a mistake of a test's is answered (and recorded) as an error of the API."""
        assert request.turn is not None, "it is read before it is answered"
        try:
            said = SIDE if request.turn.side else self.policy(request.turn)
        except Exception as problem:  # noqa: BLE001 - the program under test has to end; the test sees what happened
            said = Fault(400, f"the policy failed: {problem!r}")
        return said

    def number(self) -> str:
        return f"{next(self._numbers):04d}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    endpoint: Endpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A program that was ended leaves its connections open: no news. Anything else is told."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection, one request: the programs open as many as they like."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "scripted", ""
    server: _Server

    @property
    def _endpoint(self) -> Endpoint:
        return self.server.endpoint

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Nothing: everything is recorded."""

    # --- what comes in ------------------------------------------------------------------------------------------------

    def do_CONNECT(self) -> None:
        self._endpoint.strays.append(self.path)
        self._send(403, {"error": "nothing leaves loopback"})

    def do_HEAD(self) -> None:
        self._record(None)
        self._send(200, {})

    def do_GET(self) -> None:
        if self._strays():
            return
        self._record(None)
        path = self.path.partition("?")[0]
        if path.endswith("/models"):
            self._send(200, {"object": "list", "data": [], "models": []})
        elif path == "/":
            self._send(200, {"status": "scripted"})
        else:
            self._not_known(path)

    def do_POST(self) -> None:
        body = self._body()
        if self._strays():
            return
        path = self.path.partition("?")[0]
        request = self._record(body)
        if path.endswith("/count_tokens"):
            self._send(200, {"input_tokens": 100})
            return
        api = next((each for each in APIS if each.serves(path)), None)
        if api is None or not isinstance(body, dict):
            self._not_known(path)
            return
        request.turn = api.turn(path, body, request.headers)
        self._answer(api, request, self._endpoint.answer(request))

    def _body(self) -> Any:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            return json.loads(raw)
        except ValueError:
            return raw.decode(errors="replace")

    def _record(self, body: Any) -> Request:
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, body)
        self._endpoint.requests.append(request)
        return request

    def _strays(self) -> bool:
        """An absolute address in the first line is for a proxy."""
        if self.path.startswith("/"):
            return False
        self._endpoint.strays.append(self.path)
        self._send(403, {"error": "nothing leaves loopback"})
        return True

    def _not_known(self, path: str) -> None:
        self._endpoint.unknown.append(f"{self.command} {path}")
        self._send(404, {"error": {"message": f"no such path: {path}"}})

    # --- what goes out ------------------------------------------------------------------------------------------------

    def _answer(self, api: Api, request: Request, answer: Answer) -> None:
        request.answer = answer
        if isinstance(answer, Slow):
            self._wait(answer.until)
            self._answer(api, request, answer.then)
        elif isinstance(answer, Hang):
            self._endpoint.closing.wait()
            self.close_connection = True
        elif isinstance(answer, Garbage):
            self._stream([answer.text])
        elif isinstance(answer, Cut):
            self._cut(api, request, answer)
        elif isinstance(answer, Fault):
            self._fail(api, answer)
        else:
            self._reply(api, request, answer)

    def _wait(self, until: threading.Event) -> None:
        """For the event, looking now and then whether the endpoint closes."""
        while not (until.wait(0.05) or self._endpoint.closing.is_set()):
            pass

    def _fail(self, api: Api, fault: Fault) -> None:
        more = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
        self._send(fault.status, fault.body if fault.body is not None else api.error(fault), {**more, **fault.headers})

    def _cut(self, api: Api, request: Request, cut: Cut) -> None:
        """The first events of a text (of one event, half of it), then nothing. Of a length that is not reached, a
        client's HTTP tells."""
        assert request.turn is not None, "it is read before it is answered"
        events = list(api.events(wired(request.turn, Say("I will begin with"), self._endpoint.number)))
        whole = "".join(events[: (len(events) - 1) // 2]) or events[0][: len(events[0]) // 2]
        length = {"Content-Length": str(len(whole) + 1000)} if cut.told else {"Connection": "close"}
        with contextlib.suppress(OSError):
            self.send_response(200)
            for name, value in {"Content-Type": "text/event-stream", **length}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(whole.encode())
        self.close_connection = True

    def _reply(self, api: Api, request: Request, answer: Any) -> None:
        assert request.turn is not None, "it is read before it is answered"
        try:
            reply = wired(request.turn, answer, self._endpoint.number)
        except NoSuchTool as problem:
            self._answer(api, request, Fault(400, str(problem)))
            return
        request.answer = as_reply(answer)
        if api.streams(request.turn.path, request.body):
            self._stream(list(api.events(reply)))
        else:
            self._send(200, api.whole(reply))

    def _stream(self, events: list[str]) -> None:
        self._write(200, "text/event-stream", "".join(events).encode(), {})

    def _send(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        text = body if isinstance(body, str) else json.dumps(body)
        self._write(status, "application/json", text.encode(), headers or {})

    def _write(self, status: int, kind: str, body: bytes, headers: Mapping[str, str]) -> None:
        """Whoever has gone away meanwhile misses nothing."""
        try:
            self.send_response(status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)
        except OSError:
            self.close_connection = True

"""The proxy of a sandbox against hostile requests, in process: what it admits, and what it refuses without harm."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import runpy
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import toryo
from toryo import sandbox_network
from toryo.coordinator import network_entry, network_limits, network_proxy
from toryo.coordinator.network_limits import Program
from toryo.coordinator.network_proxy import Policy, Ports, Proxy
from toryo.coordinator.provider import Needs, Own
from toryo.sandbox_network import Asked, InForce, Network, Setting, in_force, rule

BOUND = 10.0


class Service:
    """Listens on this machine's loopback. `heard`: what each connection has sent."""

    def __init__(self, answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine") -> None:
        self.heard: list[bytes] = []
        self._answer = answer
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._hear, args=(client,), daemon=True).start()

    def _hear(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            data = client.recv(65536)
            self.heard.append(data)
            client.sendall(self._answer)

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.close()


class Way:
    """A proxy that listens; `told` are the hosts that it has refused."""

    def __init__(self, policy: Policy, resolve: Callable[[str, int], Sequence[str]] = network_proxy.resolved) -> None:
        self.told: list[str] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.at = self._listening.getsockname()
        self.proxy = Proxy(policy, self.told.append, resolve)
        threading.Thread(target=self.proxy.serve, args=(self._listening, self.proxy.answer), daemon=True).start()

    def ask(self, request: bytes, *, ends: bool = False) -> bytes:
        """All that is answered until the connection ends."""
        with socket.create_connection(self.at, timeout=BOUND) as client:
            client.sendall(request)
            if ends:
                client.shutdown(socket.SHUT_WR)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while part := client.recv(65536):
                    answer += part
            return answer


def way(*hosts: str, trusted: Sequence[tuple[str, int]] = (), leads: Sequence[str] = ("127.0.0.1",)) -> Way:
    rules = tuple(each for text in hosts if (each := rule(text)) is not None)
    return Way(Policy(rules, frozenset(trusted), "Say so: {host}"), lambda *_: leads)


def test_a_plain_request_reaches_an_admitted_host_with_its_own_name_and_nothing_of_the_connection(
    service: Service,
) -> None:
    way_ = way(trusted=[("model.example", service.port)])
    head = f"GET http://Model.example:{service.port}/v1?x=1 HTTP/1.1\r\nHost: inner.example\r\nX-Key: k\r\n"
    answer = way_.ask(f"{head}Proxy-Authorization: p\r\nConnection: keep-alive, X-Hop\r\nX-Hop: h\r\n\r\n".encode())
    assert answer.endswith(b"fine")
    (heard,) = service.heard
    assert heard.splitlines() == [
        b"GET /v1?x=1 HTTP/1.1",
        b"x-key: k",
        b"Connection: close",
        f"Host: model.example:{service.port}".encode(),
        b"",
    ]
    assert way_.told == []


def test_a_tunnel_passes_bytes_in_both_directions(service: Service) -> None:
    way_ = way(trusted=[("model.example", service.port)])
    answer = way_.ask(f"CONNECT model.example:{service.port} HTTP/1.1\r\n\r\nhello".encode(), ends=True)
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\n")
    assert answer.endswith(b"fine")
    assert service.heard == [b"hello"]


def test_a_refusal_names_the_host_and_what_to_set_and_is_told_once() -> None:
    way_ = way("other.example")
    for _ in range(2):
        answer = way_.ask(b"CONNECT Evil.example:443 HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
        assert answer.endswith(b"The sandbox refused: evil.example:443\nSay so: evil.example\n")
    assert way_.told == ["evil.example:443"]


@pytest.mark.parametrize(
    "target",
    [
        *("127.0.0.1:{port}", "localhost:{port}", "2130706433:{port}", "0x7f000001:{port}", "127.1:{port}", "0:{port}"),
        *(
            "[::1]:{port}",
            "[::ffff:127.0.0.1]:{port}",
            "0177.0.0.1:{port}",
            "127.0.0.1.:{port}",
            "model.example:{port}",
        ),
        *(
            "/run/toryo.sock",
            "unix:/run/toryo.sock",
            "@toryo:1",
            "a@model.example:443",
            "model.example",
            "model.example:",
        ),
        *("model.example:99999", "model.example:-1", "model.example:4 43", "model.example:४४३", ":443", "*:443"),
    ],
)
def test_no_spelling_of_an_address_or_of_a_path_leads_to_this_machine(service: Service, target: str) -> None:
    way_ = way("model.example", "*.example")
    for line in (f"CONNECT {target}", f"GET http://{target}/"):
        answer = way_.ask(f"{line} HTTP/1.1\r\n\r\n".replace("{port}", str(service.port)).encode())
        assert answer.split(b"\r\n")[0] in (b"HTTP/1.1 403 Forbidden", b"HTTP/1.1 400 Bad Request"), line
    assert service.heard == []


@pytest.mark.parametrize("leads", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fe80::1"])
def test_an_admitted_name_that_leads_to_this_machine_or_a_private_network_is_refused(leads: str) -> None:
    way_ = way("model.example", leads=[leads])
    answer = way_.ask(b"CONNECT model.example:443 HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"private network" in answer
    assert way_.told == [f"model.example:443{network_proxy.OF_PRIVATE}"]


@pytest.mark.parametrize("leads", ["127.0.0.1", "127.0.0.2"])
def test_an_admitted_name_that_leads_to_a_public_address_of_this_machine_is_refused(
    leads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_proxy, "is_public", lambda _: True)
    with socket.create_server((leads, 0)) as listening:
        port = listening.getsockname()[1]
        way_ = way(f"model.example:{port}", leads=[leads])
        answer = way_.ask(f"CONNECT model.example:{port} HTTP/1.1\r\n\r\nhello".encode())
        assert answer.startswith(b"HTTP/1.1 403")
        assert b"private network" in answer
        with listening.accept()[0] as reached:
            reached.settimeout(BOUND)
            assert reached.recv(16) == b""


def test_an_address_that_a_person_entered_is_reached_at_its_port_alone(service: Service) -> None:
    way_ = way(f"127.0.0.1:{service.port}")
    assert way_.ask(f"GET http://127.0.0.1:{service.port}/ HTTP/1.1\r\n\r\n".encode()).endswith(b"fine")
    assert way_.ask(f"GET http://127.0.0.1:{service.port + 1}/ HTTP/1.1\r\n\r\n".encode()).startswith(b"HTTP/1.1 403")


SMUGGLED = b"GET /inner HTTP/1.1\r\nHost: inner.example\r\n\r\n"


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        (b"Content-Length: 2\r\n", b"ab"),
        (b"", b""),
        (b"Transfer-Encoding: chunked\r\n", b"2\r\nab\r\n0\r\n\r\n"),
    ],
)
def test_a_second_request_on_a_plain_connection_is_not_passed_on(fields: bytes, body: bytes, service: Service) -> None:
    way_ = way(trusted=[("model.example", service.port)])
    head = f"POST http://model.example:{service.port}/ HTTP/1.1\r\n".encode()
    assert way_.ask(head + fields + b"\r\n" + body + SMUGGLED).endswith(b"fine")
    assert b"inner" not in b"".join(service.heard)


@pytest.mark.parametrize(
    "fields",
    [
        b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 2\r\nContent-Length: 3\r\n",
        b"Content-Length: +2\r\n",
        b"Content-Length: 0x2\r\n",
        b"Transfer-Encoding: chunked, chunked\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"X: a\n\r\n",
        b"X: a\r\n b\r\n",
        b"X\r\n",
        b"X: a\x00b\r\n",
        b": a\r\n",
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(fields: bytes, service: Service) -> None:
    way_ = way(trusted=[("model.example", service.port)])
    head = f"POST http://model.example:{service.port}/ HTTP/1.1\r\n".encode()
    assert way_.ask(head + fields + b"\r\nab").startswith(b"HTTP/1.1 400")
    assert service.heard == []


@pytest.mark.parametrize(
    "line", [b"GET / HTTP/1.1", b"GET  http://a/ HTTP/1.1", b"get http://a/ HTTP/1.1", b"\x16\x03\x01"]
)
def test_what_is_no_request_to_a_proxy_is_refused(line: bytes) -> None:
    assert way("a.example").ask(line + b"\r\n\r\n").startswith(b"HTTP/1.1 400")


def test_a_huge_header_a_silent_client_and_too_many_connections_hurt_nobody_else(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_proxy, "HEADER_WITHIN", 0.2)
    monkeypatch.setattr(network_proxy, "MOST_CONNECTIONS", 3)
    way_ = way(trusted=[("model.example", service.port)])
    assert way_.ask(b"GET http://a/ HTTP/1.1\r\nX: " + b"x" * network_proxy.LARGEST_HEADER).startswith(b"HTTP/1.1 431")
    with contextlib.ExitStack() as silent:
        held = [silent.enter_context(socket.create_connection(way_.at, timeout=BOUND)) for _ in range(3)]
        assert way_.ask(b"") == b"", "beyond the limit a connection is closed at once"
        assert [each.recv(65536)[:12] for each in held] == [b"HTTP/1.1 408"] * 3
    request = f"GET http://model.example:{service.port}/ HTTP/1.1\r\n\r\n".encode()
    while not (answer := way_.ask(request)):  # until the last of them has given its place back
        pass
    assert answer.endswith(b"fine")


def test_a_connection_for_which_no_thread_can_be_started_is_closed_and_the_next_one_is_answered(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_proxy, "MOST_CONNECTIONS", 1)
    way_ = way(trusted=[("model.example", service.port)])
    real, failures = threading.Thread.start, iter([True])

    def start(thread: threading.Thread) -> None:
        if next(failures, False):
            raise RuntimeError("can't start new thread")
        real(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    request = f"GET http://model.example:{service.port}/ HTTP/1.1\r\n\r\n".encode()
    assert way_.ask(b"") == b""
    assert way_.ask(request).endswith(b"fine")


def test_who_holds_all_connections_to_the_programs_ports_does_not_cut_the_program_off(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_proxy, "MOST_FROM_OUTSIDE", 1)
    monkeypatch.setattr(network_proxy, "MOST_CONNECTIONS", 1)
    told: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr(network_proxy, "_tell", told.put)
    spec = {"hosts": [f"127.0.0.1:{service.port}"], "trusted": [], "leads": [], "ports": [0], "why": ""}
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.settimeout(BOUND)
    launch, its_end = os.pipe()
    with ours, theirs, socket.create_server(("127.0.0.1", 0)) as way_out:
        socket.send_fds(theirs, [b'[["127.0.0.1", 1]]'], [way_out.fileno()])
        running = threading.Thread(target=network_proxy._run, args=(spec, ours, -1, launch), daemon=True)
        running.start()
        port = int(told.get(timeout=BOUND).rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=BOUND):
            assert theirs.recv(16) == b"0", "this connection is held"
            with socket.create_connection(way_out.getsockname(), timeout=BOUND) as program:
                program.sendall(b"GET http://127.0.0.1:%d/ HTTP/1.1\r\n\r\n" % service.port)
                assert program.recv(65536).startswith(b"HTTP/1.1 200")
        os.close(its_end)
        running.join(BOUND)
    os.close(launch)


def test_only_so_many_different_hosts_are_noted() -> None:
    way_ = way("a.example")
    for number in range(network_proxy.MOST_TOLD + 5):
        way_.proxy._tell(f"{number}.example:443")
    assert len(way_.told) == network_proxy.MOST_TOLD


def test_a_host_that_cannot_be_reached_is_told_apart_from_one_that_is_refused() -> None:
    def resolve(*_: object) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    way_ = Way(Policy((rule("gone.example"),)), resolve)  # type: ignore[arg-type]
    answer = way_.ask(b"CONNECT gone.example:443 HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 502")
    assert b"gone.example:443 cannot be reached: Name or service not known" in answer
    assert way_.told == []


def test_the_machines_own_proxy_is_asked_for_public_hosts_and_not_for_those_that_need_none(service: Service) -> None:
    tunnel = Service(b"HTTP/1.1 200 OK\r\n\r\nfar")
    policy = Policy(
        (rule("far.example"), rule(f"near.example:{service.port}")),  # type: ignore[arg-type]
        upstream=("127.0.0.1", tunnel.port),
        direct=("near.example",),
        authorization="Basic abc",
    )
    way_ = Way(policy, lambda host, _: ["127.0.0.1" if host == "near.example" else "93.184.216.34"])
    assert way_.ask(b"CONNECT far.example:443 HTTP/1.1\r\n\r\n", ends=True).endswith(b"far")
    assert tunnel.heard[0].splitlines()[:3] == [
        b"CONNECT far.example:443 HTTP/1.1",
        b"Host: far.example:443",
        b"Proxy-Authorization: Basic abc",
    ]
    assert way_.ask(f"CONNECT near.example:{service.port} HTTP/1.1\r\n\r\n".encode()).startswith(b"HTTP/1.1 403")
    tunnel.close()


@pytest.mark.parametrize("request_", ["CONNECT {host}:443", "GET http://{host}/"])
def test_the_machines_own_proxy_is_not_asked_for_a_name_that_leads_to_a_private_network(request_: str) -> None:
    upstream = Echoing(opens=True)
    rules = tuple(each for text in ("listed.example", "*.wild.example") if (each := rule(text)) is not None)
    asked: list[str] = []

    def resolve(host: str, _: int) -> list[str]:
        asked.append(host)
        if "unknown" in host or host == "listed.example":
            raise socket.gaierror(-3, "Temporary failure in name resolution")
        return ["93.184.216.34", *(["10.0.0.7"] if "private" in host else [])]

    way_ = Way(Policy(rules, upstream=("127.0.0.1", upstream.port)), resolve)
    hosts = ("public.wild.example", "private.wild.example", "unknown.wild.example", "listed.example", "listed.example")
    answers = [way_.ask(f"{request_.format(host=each)} HTTP/1.1\r\n\r\nx".encode(), ends=True) for each in hosts]
    upstream.close()
    assert [answer[9:12] for answer in answers] == [b"200", b"403", b"403", b"200", b"200"]
    assert b"exactly this name" in answers[2]
    assert not [each for each in upstream.heard if b"private" in each or b"unknown" in each]
    assert asked.count("listed.example") == 1, "a name that cannot be resolved is not tried at each connection"


class Echoing(Service):
    """The machine's own proxy, and all hosts behind it: each answers with what it was asked. `opens`: for CONNECT."""

    def __init__(self, *, opens: bool) -> None:
        self._opens = opens
        super().__init__()

    def _hear(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            data = client.recv(65536)
            self.heard.append(data)
            if data.startswith(b"CONNECT") and self._opens:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                data = client.recv(65536)
                self.heard.append(data)
            client.sendall(b"HTTP/1.1 %d Echo\r\n\r\n" % (403 if data.startswith(b"CONNECT") else 200) + data)


@pytest.mark.parametrize("opens", [True, False])
@pytest.mark.parametrize(
    "request_",
    [
        b"GET http://far.example/ HTTP/1.1\r\nMax-Forwards: 0\r\n",
        b"POST http://far.example/ HTTP/1.1\r\nContent-Length: 1\r\nMax-Forwards: 0\r\n",
        b"OPTIONS http://far.example/ HTTP/1.1\r\nMax-Forwards: 0\r\n",
        b"TRACE http://far.example/ HTTP/1.1\r\nMax-Forwards: 0\r\n",
        b"TRACK http://far.example/ HTTP/1.1\r\n",
        b"CONNECT far.example:443 HTTP/1.1\r\n",
    ],
)
def test_the_login_of_the_machines_own_proxy_never_reaches_the_program(request_: bytes, *, opens: bool) -> None:
    upstream = Echoing(opens=opens)
    policy = Policy((rule("far.example"),), upstream=("127.0.0.1", upstream.port), authorization="Basic abc")  # type: ignore[arg-type]
    answer = Way(policy, lambda *_: ["93.184.216.34"]).ask(request_ + b"\r\nx", ends=True)
    upstream.close()
    assert b"abc" not in answer
    assert b"uthorization" not in answer
    traced = request_.startswith(b"TRAC")
    assert answer.startswith(b"HTTP/1.1 %d" % (405 if traced else 200 if opens else 502))
    assert traced == (upstream.heard == [])
    assert [each for each in upstream.heard if b"abc" in each] == upstream.heard[:1], "it alone is shown the login"
    assert b"max-forwards" not in b"".join(upstream.heard).lower()


def test_a_proxy_of_the_machine_without_a_login_gets_plain_requests_as_they_are() -> None:
    upstream = Echoing(opens=False)
    policy = Policy((rule("far.example"),), upstream=("127.0.0.1", upstream.port))  # type: ignore[arg-type]
    answer = Way(policy, lambda *_: ["93.184.216.34"]).ask(b"GET http://far.example/x HTTP/1.1\r\n\r\n")
    upstream.close()
    assert answer.endswith(b"GET http://far.example:80/x HTTP/1.1\r\nConnection: close\r\nHost: far.example:80\r\n\r\n")


@pytest.mark.parametrize("passed", [0, 1, 3])
def test_a_hostile_process_in_the_sandbox_gives_nothing_but_one_socket_for_a_port(passed: int, tmp_path: Path) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, (tmp_path / "file").open("wb") as file:
        socket.send_fds(theirs, [b"ok"], [file.fileno()] * passed)
        with pytest.raises(OSError, match=r"listens|socket"):
            Ports(ours)._connected(3000)


def test_the_next_launch_publishes_a_port_where_the_last_one_did() -> None:
    with network_proxy.published(0) as listening:
        at = listening.getsockname()
        with socket.create_connection(at, timeout=BOUND) as client:
            listening.accept()[0].close()  # the end that closes first waits
            assert client.recv(1) == b""
    with network_proxy.published(at[1]) as listening:
        assert listening.getsockname() == at


# --- the two files, as they are executed ------------------------------------------------------------------------------


def _executed(
    *words: str, package: Path | None = None, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> tuple[str, int]:
    """What a program prints through both files without a sandbox, and its status. `package`: a copy of `toryo`."""
    files = [Path(str(each.__file__)) for each in (network_proxy, network_entry)]
    proxy, entry = [package / "coordinator" / each.name for each in files] if package is not None else files
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, tempfile.TemporaryFile() as spec, Path(os.devnull).open("wb") as refusals:
        spec.write(json.dumps({"hosts": [], "trusted": [], "leads": [], "ports": [], "why": ""}).encode())
        spec.seek(0)
        python = (sys.executable, "-I", "-S")
        kept = (spec.fileno(), ours.fileno(), refusals.fileno(), theirs.fileno())
        before = (*python, str(proxy), *map(str, kept[:3]), *python, str(entry), str(kept[3]))
        argv = (*before, '{"listen": [], "ports": []}', *words)
        done = subprocess.run(
            argv,
            pass_fds=kept,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
            cwd=cwd,
            env=env,
        )
    return done.stdout, done.returncode


def test_nothing_beside_the_package_is_executed_outside_of_the_sandbox(tmp_path: Path) -> None:
    package = tmp_path / "src" / "toryo"
    (package / "coordinator").mkdir(parents=True)
    for each in (network_proxy, network_entry, sandbox_network):
        file = Path(str(each.__file__))
        shutil.copy(file, package / file.relative_to(Path(toryo.__file__).parent))
    for name in sys.stdlib_module_names | {"toryo/__init__", "sitecustomize", "usercustomize"}:
        for folder in (package.parent, package, package / "coordinator"):
            if (folder / name).parent.is_dir() and not (folder / f"{name}.py").exists():
                (folder / f"{name}.py").write_text(f"print('planted', {name!r})\n")
    env = {**os.environ, "PYTHONPATH": str(package.parent)}
    assert _executed("/bin/echo", "ran", package=package, cwd=package.parent, env=env) == ("ran\n", 0)


def test_a_program_ignores_the_same_signals_as_without_a_limited_network() -> None:
    words = ("/bin/grep", "SigIgn", "/proc/self/status")
    assert _executed(*words)[0] == subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.deep
def test_a_program_that_cannot_be_executed_ends_as_with_a_shell(tmp_path: Path) -> None:
    texts = {"plain": "echo without an interpreter, $1", "other": "#!/missing/interpreter\n", "no": "#!/bin/sh\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o644 if name == "no" else 0o755)
    plain, other, no, gone = (str(tmp_path / each) for each in (*texts, "gone"))
    assert _executed(plain, "one") == ("without an interpreter, one\n", 0)
    assert _executed(other) == (f"{other}: not found\n", 127)
    assert _executed(gone) == (f"{gone}: not found\n", 127)
    assert _executed(no) == (f"{no}: Permission denied\n", 126)


def test_a_link_to_the_package_is_followed_once_and_not_at_each_launch(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(Path(toryo.__file__).parent)
    found = runpy.run_path(str(tmp_path / "link" / "coordinator" / "network_proxy.py"))["FILE"]
    assert found == network_proxy.FILE == Path(str(network_proxy.__file__)).resolve()


# --- what one launch is told ------------------------------------------------------------------------------------------


def _limits(asked: Asked, **more: object) -> network_limits.Limits | None:
    program = Program(**{"name": "claude", "server_url": "http://127.0.0.1:8765", "project_id": "prj_1", **more})  # type: ignore[arg-type]
    return network_limits.limits(in_force(asked), asked, program)


def test_the_server_and_a_local_model_are_led_to_directly_and_hosts_by_the_proxy() -> None:
    environ = {"ANTHROPIC_BASE_URL": "http://localhost:11434", "HTTPS_PROXY": "http://u:p@gate.example:3128", "A": "1"}
    found = _limits(Asked(Network.ALLOWLIST, ("a.example",), ports=(3000, 8765)), environ=environ)
    assert found is not None
    assert found.listen[1:] == tuple((host, port) for port in (8765, 11434) for host in ("127.0.0.1", "::1"))
    assert found.spec["leads"][2] == ["127.0.0.1", 11434, "localhost", 11434]
    assert {"a.example", "api.anthropic.com"} <= set(found.spec["hosts"])
    assert found.spec["upstream"] == ["gate.example", 3128]
    assert found.ports == (3000,), "the server's own port is taken"
    env = found.around({**environ, "ALL_PROXY": "socks5://x", "no_proxy": "z"})
    assert env["https_proxy"] == env["HTTP_PROXY"] == f"http://127.0.0.1:{network_limits.PROXY_PORT}"
    assert "ALL_PROXY" not in env
    assert env["no_proxy"] == "localhost,127.0.0.1,::1"
    assert env["A"] == "1"


def test_a_port_of_the_program_is_never_the_one_of_its_proxy() -> None:
    found = _limits(Asked(Network.MODEL, ports=(network_limits.PROXY_PORT,)))
    assert found is not None
    assert found.ports == (network_limits.PROXY_PORT,)
    assert network_limits.PROXY_PORT not in [port for _, port in found.listen]


def test_nothing_is_limited_where_it_is_open_and_a_socket_is_the_only_way_where_it_is_off() -> None:
    assert _limits(Asked()) is None
    off = _limits(Asked(Network.OFF), server_url="unix:///run/toryo.sock")
    assert off is not None
    assert off.listen == ()
    far = _limits(Asked(Network.OFF), server_url="https://toryo.example")
    assert far is not None
    assert far.spec["trusted"] == [["toryo.example", 443]]
    assert far.spec["hosts"] == []


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            InForce(Network.MODEL, Setting.PROJECT),
            '--set network=allowlist --set network_hosts=\'["a.example", "{host}"]\'',
        ),
        (InForce(Network.ALLOWLIST, Setting.PROJECT), 'prj_1 --set network_hosts=\'["a.example", "{host}"]\''),
        (InForce(Network.ALLOWLIST, Setting.SETUP), "prj_1 --set setup_network='[\"{host}\"]'"),
        (InForce(Network.OFF, Setting.AGENT), "toryo agent edit ann --option sandbox_network=allowlist"),
        (InForce(Network.MODEL, Setting.COORDINATOR), "model (sandbox_network of the Coordinator's file)"),
    ],
)
def test_a_refusal_says_where_what_is_in_force_stands_and_how_to_change_it(found: InForce, words: str) -> None:
    program = Program(project_id="prj_1", agent_id="ann")
    assert words in network_limits.why(found, Asked(hosts=("a.example",)), program)


def test_base_urls_are_found_in_what_people_have_written_for_the_program(tmp_path: Path) -> None:
    own = tmp_path / ".codex"
    own.mkdir()
    (own / "config.toml").write_text(
        '[model_providers.x]\nbase_url = "http://127.0.0.1:1234/v1"\nhome = "http://no.example"\n'
    )
    (own / "settings.json").write_text(json.dumps({"env": {"ANTHROPIC_BASE_URL": "https://gate.example"}}))
    (own / ".env").write_text("OPENAI_BASE_URL=http://10.0.0.7:8000/v1\n")
    (tmp_path / "opencode.json").write_text('{"options": {"baseURL": "http://localhost:11434/v1"}} // more')
    found = network_limits.urls_of(
        Needs((Own(own),), (tmp_path,)), ("-c", 'x.base_url="http://127.0.0.1:9"', "--model")
    )
    assert set(found) == {
        *("http://127.0.0.1:1234/v1", "https://gate.example", "http://10.0.0.7:8000/v1", "http://localhost:11434/v1"),
        "http://127.0.0.1:9",
    }


def test_opencode_reaches_the_services_that_it_has_a_login_for(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text('{"openrouter": {"type": "api", "key": "k"}, "unknown": {}}')
    logins = network_limits.logins_of(Needs((Own(tmp_path),)))
    found = _limits(Asked(Network.MODEL), name="opencode", logins=logins)
    assert found is not None
    assert "openrouter.ai" in found.spec["hosts"]
    assert "api.anthropic.com" not in found.spec["hosts"]
    (tmp_path / "auth.json").write_text("[" * 100_000)
    assert network_limits.logins_of(Needs((Own(tmp_path),))) == ()


def test_the_end_of_a_launch_names_the_hosts_that_were_refused_and_each_only_in_a_line_of_its_own(
    tmp_path: Path,
) -> None:
    path = network_limits.refusals_of(tmp_path, "lau_1")
    path.write_text(
        "\n".join(["Allow it: {host}", network_proxy.NO_HOST, *(f"{n}.example:443" for n in range(30)), ""])
    )
    lines = network_limits.refused_hosts(path).lines
    assert lines[0] == "· The sandbox refused these hosts:"
    assert lines[1:3] == [f"·   {network_proxy.NO_HOST}", "·   0.example:443"]
    assert lines[-2:] == ["· … and 11 more", "· Allow it: 0.example"]
    assert len(lines) == network_limits.MOST_NAMED + 3
    assert not path.exists()
    assert network_limits.refused_hosts(path) == network_limits.Refused()


def test_what_is_reported_of_refused_hosts_is_limited_and_apart_from_the_words(tmp_path: Path) -> None:
    path = network_limits.refusals_of(tmp_path, "lau_1")
    long = f"{'x' * 400}.example:443"
    path.write_text("\n".join(["Allow it: {host}", "= 3000 41237", long, *(f"{n}.example:443" for n in range(30)), ""]))
    assert network_limits.served_ports(path) == {"3000": 41237}
    told = network_limits.refused_hosts(path).told
    assert told is not None
    assert (told["words"], told["more"]) == ("Allow it: HOST", 11)
    assert (len(told["hosts"]), len(told["hosts"][0])) == (network_limits.MOST_NAMED, network_limits.LONGEST_NAMED)
    assert network_limits.refused_hosts(path).told is None

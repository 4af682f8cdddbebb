"""The way to a server that is elsewhere: TLS with a certificate that is checked, and proxies of the environment."""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.client.fake_server import FakeServer
from tests.client.test_client import connect
from toryo.client import Unreachable, server_address

__all__ = ["connect"]

PROXIES = [f"{name}_proxy" for name in ("http", "https", "all", "no")]
ELSEWHERE = "127.0.0.2"
"""Another machine for the client, which knows by the address that no proxy is needed; and this one, for the tests."""


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Key and certificate of the server in one file, which signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "toryo")])
    now = dt.datetime.now(dt.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(ELSEWHERE))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


class Relay:
    """A proxy, or what speaks TLS for a server: passes on what each connection sends, after its first bytes."""

    def __init__(self, to: int, tls: ssl.SSLContext | None = None, refuses: bool = False) -> None:
        self._to, self._tls, self._refuses = to, tls, refuses
        self.heads: list[str] = []
        self._listening = socket.create_server((ELSEWHERE, 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: Any) -> None:
        with client, socket.create_connection((ELSEWHERE if self._to < 0 else "127.0.0.1", abs(self._to))) as server:
            try:
                if self._tls is not None:
                    client = self._tls.wrap_socket(client, server_side=True)
                else:
                    head = client.recv(65536)
                    self.heads.append(head.decode())
                    if self._refuses:
                        client.sendall(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
                        return
                    if head.startswith(b"CONNECT "):
                        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    else:
                        server.sendall(head.replace(b" http://", b" ", 1).replace(ELSEWHERE.encode() + b":1/", b"/", 1))
                back = threading.Thread(target=_pass_on, args=(server, client), daemon=True)
                back.start()
                _pass_on(client, server)
                back.join(60)
            except OSError:
                return


def _pass_on(one: Any, other: Any) -> None:
    try:
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        return


@pytest.fixture
def relays() -> Iterator[Any]:
    opened: list[Relay] = []

    def make(*args: Any, **options: Any) -> Relay:
        opened.append(Relay(*args, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def secure(server: FakeServer, certificate: Path, relays: Any) -> Relay:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    found: Relay = relays(server.port, tls)
    return found


def test_a_server_with_a_certificate_that_this_machine_trusts_is_reached_by_tls(
    secure: Relay, certificate: Path, server: FakeServer, connect, monkeypatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    client = connect(f"https://{ELSEWHERE}:{secure.port}", "tpt_1")
    for _ in range(3):
        assert client.call("health_check")["status"] == "ok"
    assert server.seen("health_check")[0].token == "tpt_1"
    assert server.connections == 1


def test_a_certificate_that_nobody_vouches_for_is_refused_before_anything_is_sent(
    secure: Relay, server: FakeServer, connect
) -> None:
    with pytest.raises(Unreachable, match="certificate verify failed") as caught:
        connect(f"https://{ELSEWHERE}:{secure.port}", "tpt_1").call("health_check")
    assert not caught.value.sent
    assert server.calls == []


def test_a_server_without_tls_is_named_as_such(server: FakeServer, connect) -> None:
    with pytest.raises(Unreachable, match="does not speak HTTPS: use http://"):
        connect(f"https://127.0.0.1:{server.port}").call("health_check")


def test_tls_goes_through_the_proxy_which_sees_no_credential(
    secure: Relay, certificate: Path, relays, connect, monkeypatch
) -> None:
    proxy = relays(-secure.port)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setenv("HTTPS_PROXY", f"http://ann:p%20w@{ELSEWHERE}:{proxy.port}")
    client = connect(f"https://{ELSEWHERE}:{secure.port}", "tpt_1")
    for _ in range(2):
        assert client.call("health_check")["status"] == "ok"
    [head] = proxy.heads
    signed_in = base64.b64encode(b"ann:p w").decode()
    assert head.startswith(f"CONNECT {ELSEWHERE}:{secure.port} HTTP/1.1\r\n")
    assert f"Proxy-Authorization: Basic {signed_in}\r\n" in head
    assert "tpt_1" not in head


def test_a_server_without_tls_is_asked_through_the_proxy(server: FakeServer, relays, connect, monkeypatch) -> None:
    proxy = relays(server.port)
    monkeypatch.setenv("HTTP_PROXY", f"{ELSEWHERE}:{proxy.port}")
    assert connect(f"http://{ELSEWHERE}:1").call("health_check")["status"] == "ok"
    assert proxy.heads[0].startswith(f"POST http://{ELSEWHERE}:1/mcp HTTP/1.1\r\nHost: {ELSEWHERE}:1\r\n")


def test_no_proxy_is_used_for_this_machine_or_for_what_is_excepted(
    server: FakeServer, relays, connect, monkeypatch
) -> None:
    proxy = relays(server.port)
    monkeypatch.setenv("ALL_PROXY", f"http://{ELSEWHERE}:{proxy.port}")
    assert connect(server.url).call("health_check")["status"] == "ok"
    monkeypatch.setenv("NO_PROXY", ELSEWHERE)
    with pytest.raises(Unreachable, match="Connection refused"):
        connect(f"http://{ELSEWHERE}:1").call("health_check")
    assert proxy.heads == []


@pytest.mark.parametrize(
    ("proxy", "words"), [("socks5://127.0.0.2:1", "must be http://HOST:PORT, but it is socks5"), (None, "407")]
)
def test_a_proxy_that_does_not_serve_is_the_reason(proxy, words, server: FakeServer, relays, connect, monkeypatch):
    refusing = relays(server.port, refuses=True)
    monkeypatch.setenv("HTTPS_PROXY", proxy or f"http://{ELSEWHERE}:{refusing.port}")
    with pytest.raises(Unreachable, match=words) as caught:
        connect(f"https://{ELSEWHERE}:1", "tpt_1").call("health_check")
    assert not caught.value.sent


def test_an_address_of_this_machine_is_local() -> None:
    assert server_address.parse("http://127.0.0.1:1").local
    assert not server_address.parse(f"http://{ELSEWHERE}:1").local

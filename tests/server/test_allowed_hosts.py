"""Which names address this server, and which pages may call it."""

from __future__ import annotations

import pytest

from toryo.server.allowed_hosts import Hosts


def verdict(hosts: Hosts, host: str | None, origin: str | None = None) -> int | None:
    headers = [] if host is None else [(b"host", host.encode())]
    if origin is not None:
        headers.append((b"origin", origin.encode()))
    refusal = hosts.refusal(headers)
    return refusal[0] if refusal else None


LOCAL = Hosts("127.0.0.1", ("toryo.example", "other.example:9000"))


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:1", "LocalHost:8765", "127.0.0.1:8765", "[::1]:8765", "[::1]", "localhost.:80",
     "toryo.example", "toryo.example:443", "other.example:9000"],
)  # fmt: skip
def test_loopback_and_configured_names_address_it(host: str) -> None:
    assert verdict(LOCAL, host) is None
    assert verdict(LOCAL, host) is None, "and again, when it is remembered"


@pytest.mark.parametrize(
    "host",
    [None, "", "evil.example", "evil.example:8765", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.1.5",
     "other.example", "other.example:1", "localhost@evil.example", "localhost:8765/x", "[::1", ":8765", "a b"],
)  # fmt: skip
def test_every_other_name_is_misdirected(host: str | None) -> None:
    assert verdict(LOCAL, host) == 421


@pytest.mark.parametrize(
    "origin", ["http://localhost:5173", "http://127.0.0.1:8765", "https://toryo.example", "http://[::1]:1"]
)
def test_pages_of_this_machine_and_of_configured_names_may_call(origin: str) -> None:
    assert verdict(LOCAL, "localhost:8765", origin) is None


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", "chrome-extension://abc", "http://localhost.evil.example", "http://["]
)
def test_other_pages_may_not(origin: str) -> None:
    assert verdict(LOCAL, "localhost:8765", origin) == 403


def test_a_public_server_may_be_addressed_by_any_ip_address_and_called_by_its_own_pages_only() -> None:
    public = Hosts("0.0.0.0")
    assert verdict(public, "192.168.1.5:8765") is None
    assert verdict(public, "192.168.1.5:8765", "http://192.168.1.5:8765") is None
    assert verdict(public, "192.168.1.5:8765", "http://192.168.1.66:8765") == 403
    assert verdict(public, "evil.example") == 421


def test_a_star_lets_any_name_address_it_and_still_keeps_other_pages_out() -> None:
    anything = Hosts("127.0.0.1", ("*", "proxied.example"))
    assert verdict(anything, "anything.example") is None
    assert verdict(anything, "anything.example", "https://anything.example") is None
    assert verdict(anything, "inside:8765", "https://proxied.example") is None
    assert verdict(anything, "anything.example", "http://evil.example") == 403
    assert verdict(anything, "anything.example", "null") == 403

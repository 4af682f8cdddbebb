"""Addresses of callers: which ones are of this machine, and which are one household."""

from __future__ import annotations

import pytest

from toryo.domain.network_addresses import household, is_loopback


@pytest.mark.parametrize("name", ["localhost", "LocalHost", "127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_these_reach_only_this_machine(name: str) -> None:
    assert is_loopback(name)


@pytest.mark.parametrize("name", ["localhost.example.org", "10.0.0.1", "::2", "::ffff:10.0.0.1", "0.0.0.0", ""])
def test_these_may_be_anywhere(name: str) -> None:
    assert not is_loopback(name)


def test_an_address_of_ipv6_counts_with_its_network_and_one_of_ipv4_alone() -> None:
    assert household("2001:db8:1:2:3:4:5:6") == household("2001:db8:1:2::") == "2001:db8:1:2::/64"
    assert household("2001:db8:1:3::1") != household("2001:db8:1:2::1")
    assert (household("192.0.2.1"), household("::ffff:192.0.2.1")) == ("192.0.2.1", "192.0.2.1")
    assert household("unix") == "unix"

"""Another machine, as far as the network is concerned: a network namespace that a pair of interfaces joins to this one.

Its cable can be pulled (`cut`: the interface is down), and packets can vanish on the way without a trace, both ways or
one way (`silence`: they are sent to an address that no interface has). That needs root on Linux; where it may not be
made, the test is skipped and says why. `ip` is a program like PostgreSQL: where everything is required, it must be
there.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.databases import missing

NOBODY = "02:00:00:00:00:01"
"""The address of no interface."""


class Namespace:
    """`here` and `there` are the addresses of its two ends; `inside` runs a command in it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._ends = (f"{name}a", f"{name}b")
        first = random.randrange(0, 256, 4)
        network = f"198.{random.choice((18, 19))}.{random.randrange(256)}"  # what is kept for tests of networks
        self.here, self.there = f"{network}.{first + 1}", f"{network}.{first + 2}"
        self.inside = ("ip", "netns", "exec", name)

    def make(self) -> None:
        here, there = self._ends
        done = subprocess.run(["ip", "netns", "add", self.name], check=False, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"no network namespace can be made here: {done.stderr.strip()}")
        _ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", self.name)
        _ip("address", "add", f"{self.here}/30", "dev", here)
        _ip("link", "set", here, "up")
        self._ip("address", "add", f"{self.there}/30", "dev", there)
        self._ip("link", "set", there, "up")
        self._ip("link", "set", "lo", "up")

    def remove(self) -> None:
        """Its interfaces go with it."""
        subprocess.run(["ip", "netns", "delete", self.name], check=False, capture_output=True)

    def cut(self) -> None:
        _ip("link", "set", self._ends[0], "down")

    def mend(self) -> None:
        _ip("link", "set", self._ends[0], "up")

    def silence(self, *, from_there: bool = True) -> None:
        """What is sent from here vanishes, and by default what is sent from there too."""
        here, there = self._ends
        _ip("neighbour", "replace", self.there, "lladdr", NOBODY, "dev", here, "nud", "permanent")
        if from_there:
            self._ip("neighbour", "replace", self.here, "lladdr", NOBODY, "dev", there, "nud", "permanent")

    def hear_again(self) -> None:
        here, there = self._ends
        _ip("neighbour", "flush", "dev", here, "nud", "permanent")
        self._ip("neighbour", "flush", "dev", there, "nud", "permanent")

    def _ip(self, *words: str) -> None:
        _ip("-netns", self.name, *words)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"


@contextmanager
def network_namespace() -> Iterator[Namespace]:
    """One that is joined to this machine; it is removed with the test."""
    if not Path("/proc/self/ns/net").exists():
        pytest.skip("network namespaces are a part of Linux")
    if shutil.which("ip") is None:
        missing("ip (Debian: iproute2) is not on the PATH")
    made = Namespace(f"toryo{random.randrange(100_000)}")
    try:
        made.make()
        yield made
    finally:
        made.remove()

"""Fixtures of the scripted server, and of one that is not there."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.client.fake_server import server

__all__ = ["server"]


@pytest.fixture
def nobody_listens() -> Iterator[str]:
    """An address at which nobody answers: it is held here, and not listened at."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"

"""Fixtures of the scripted server."""

from tests.client.fake_server import server

__all__ = ["server"]

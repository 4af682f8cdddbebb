"""A server's address: an http(s) URL, or a Unix socket (`unix:///path/to.sock`, or a path beside the URL)."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Address(NamedTuple):
    """`root` is `scheme://host[:port][/prefix]`; with `socket`, `root` only names the host."""

    root: str
    scheme: str
    host: str
    port: int
    prefix: str
    socket: str | None

    @property
    def host_header(self) -> str:
        """Always with the port: the check against DNS rebinding knows hosts by name and port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def local(self) -> bool:
        """Whether it is on this machine, so that no proxy belongs between."""
        return self.socket is not None or self.host in LOOPBACK

    @property
    def in_clear(self) -> bool:
        """Whether what is sent there, tokens too, crosses a network without encryption."""
        return self.scheme == "http" and not self.local

    def __str__(self) -> str:
        return f"unix://{self.socket}" if self.socket else self.root


def parse(url: str | None, socket: str | None = None) -> Address:
    """The address that a URL (with or without a trailing `/mcp`) and a socket path mean; raises ValueError."""
    if url and url.startswith("unix:"):
        socket, url = url.removeprefix("unix:").removeprefix("//"), None
    if url is None and not socket:
        raise ValueError("enter a URL or a socket")
    parts = urlsplit((url or "http://localhost").rstrip("/").removesuffix("/mcp"))
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not the address of a server: use http://HOST:PORT, https://… or unix:///PATH")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    prefix = parts.path.rstrip("/")
    return Address(f"{parts.scheme}://{parts.netloc}{prefix}", parts.scheme, parts.hostname, port, prefix, socket)

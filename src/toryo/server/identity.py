"""What a request brings to prove who makes it. Whether it proves anything is decided by the operations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toryo.operations.calls.callers import Credentials

_TRACEPARENT = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_CORRELATION = re.compile(rb"[\x21-\x7e]{1,128}")


def credentials(headers: Mapping[bytes, bytes], scope: Mapping[str, Any]) -> Credentials:
    """The bearer token, the correlation id and the address of a request; whatever is malformed counts as missing."""
    client = scope.get("client")
    return Credentials(
        bearer=_bearer(headers.get(b"authorization")),
        correlation_id=_correlation(headers),
        remote=client[0] if client else None,
        browser=headers.get(b"user-agent", b"").decode("latin-1")[:300] or None,
    )


def cookie_name(headers: Mapping[bytes, bytes], scope: Mapping[str, Any]) -> bytes:
    """Of the cookie that signs a browser in. Browsers keep cookies by host, not by port: several servers of one
    machine would sign one another's people out. `__Host-` is a browser's promise that no other host has set it."""
    if scope.get("scheme") == "https":
        return b"__Host-toryo"
    port = headers.get(b"host", b"").rpartition(b":")[2]
    return b"toryo-" + port if port.isdigit() else b"toryo"


def from_cookie(headers: Mapping[bytes, bytes], name: bytes) -> str | None:
    """What the cookie of that name holds."""
    for pair in headers.get(b"cookie", b"").split(b";"):
        given, _, value = pair.strip().partition(b"=")
        if given == name and value:
            return value.decode("latin-1")
    return None


def browser_token(headers: Mapping[bytes, bytes], scope: Mapping[str, Any]) -> str | None:
    """The token of a browser that is signed in. Scripts cannot read it, other sites cannot send it."""
    return from_cookie(headers, cookie_name(headers, scope)) if b"cookie" in headers else None


def set_cookie(
    name: bytes, value: str | None, *, secure: bool, seconds: int = 14 * 86_400, path: bytes = b"/", lax: bool = False
) -> tuple[bytes, bytes]:
    """The header that gives a browser a cookie, or (None) takes it away. No script reads it.

    `lax`: it also comes along when somebody is sent here from elsewhere, which a stricter one does not.
    """
    life = b"Max-Age=%d" % (0 if value is None else seconds)
    same_site = b"SameSite=Lax" if lax else b"SameSite=Strict"
    parts = [name + b"=" + (value or "").encode(), b"Path=" + path, b"HttpOnly", same_site, life]
    return b"set-cookie", b"; ".join([*parts, b"Secure"] if secure else parts)


def signed_in(token: str | None, headers: Mapping[bytes, bytes], scope: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """The header that signs a browser in, or (None) out."""
    return set_cookie(cookie_name(headers, scope), token, secure=scope.get("scheme") == "https")


def _bearer(header: bytes | None) -> str | None:
    if header is None or header[:7].lower() != b"bearer ":
        return None
    return header[7:].strip().decode("latin-1") or None


def _correlation(headers: Mapping[bytes, bytes]) -> str | None:
    """`X-Correlation-Id` as it is, else the trace id of a W3C `traceparent` (all zeros is none)."""
    given = headers.get(b"x-correlation-id")
    if given is not None and _CORRELATION.fullmatch(given):
        return given.decode("ascii")
    trace = headers.get(b"traceparent")
    found = _TRACEPARENT.fullmatch(trace) if trace is not None else None
    return found[1].decode("ascii") if found and found[1].strip(b"0") else None

"""What a request brings to prove who makes it. Whether it proves anything is decided by the operations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toryo.operations.permissions import Credentials

_TRACEPARENT = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_CORRELATION = re.compile(rb"[\x21-\x7e]{1,128}")


def credentials(headers: Mapping[bytes, bytes], scope: Mapping[str, Any]) -> Credentials:
    """The bearer token, the correlation id and the address of a request; whatever is malformed counts as missing."""
    client = scope.get("client")
    return Credentials(
        bearer=_bearer(headers.get(b"authorization")),
        correlation_id=_correlation(headers),
        remote=client[0] if client else None,
    )


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

"""Correlation ids, and the trace ids that other tools know them by (W3C Trace Context: 32 hexadecimal digits)."""

from __future__ import annotations

import hashlib
import re

_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")


def trace_id_of(correlation_id: str) -> str:
    """The id itself if it is a valid trace id, else one derived from it, always the same."""
    if _TRACE_ID.fullmatch(correlation_id):
        return correlation_id
    return hashlib.sha256(correlation_id.encode(errors="surrogatepass")).hexdigest()[:32]

"""Answers compressed with gzip, for clients that accept it.

Only what is read (GET) is compressed. An answer to a change can hold a new secret (a passkey, a token, a link) beside
text that somebody else chose, and the length of a compressed answer then says something about the secret (BREACH). An
answer to GET holds no secret: tests/server/test_content_encoding.py checks that with the catalogue. Event streams are
not compressed either: each event must leave at once.
"""

from __future__ import annotations

import asyncio
import gzip
from functools import lru_cache, partial

from starlette.responses import Response

LEAST = 1024
"""Bytes from which it pays: a smaller answer is one packet anyway."""
_LEVEL = 3
"""Most of the gain for the least time: higher levels take longer and make a board hardly smaller."""
_AT_ONCE = 64 * 1024
"""Bytes that are compressed in the event loop; more than that in a thread, so that nobody waits for it."""


def accepts_gzip(header: str) -> bool:
    """Whether `Accept-Encoding` allows gzip: by its name or by `*`, and not with a weight of 0."""
    return _accepts_gzip(header[:1000])


@lru_cache(256)
def _accepts_gzip(header: str) -> bool:
    weights = dict(_weighed(part) for part in header.lower().split(",") if part.strip())
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0))) > 0


async def compress(response: Response, accepted: str) -> None:
    """Compresses the body of a response to GET if it is long enough and the client accepts it."""
    body = bytes(response.body)
    if len(body) < LEAST:
        return
    response.headers.add_vary_header("accept-encoding")
    if not accepts_gzip(accepted):
        return
    pack = partial(gzip.compress, body, _LEVEL, mtime=0)
    response.body = pack() if len(body) <= _AT_ONCE else await asyncio.to_thread(pack)
    response.headers["content-encoding"] = "gzip"
    response.headers["content-length"] = str(len(response.body))


def _weighed(part: str) -> tuple[str, float]:
    """`gzip;q=0.5` as ("gzip", 0.5)."""
    name, *options = (each.strip() for each in part.split(";"))
    weights = [option[2:] for option in options if option.startswith("q=")]
    try:
        return name, float(weights[0]) if weights else 1.0
    except ValueError:
        return name, 0.0

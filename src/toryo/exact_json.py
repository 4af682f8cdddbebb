"""JSON that is read as it is written, or not at all."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

_LONG = re.compile(rb"[0-9]{19}")
_LEAST, _MOST = -(2**63), 2**64 - 1


def loads(text: bytes) -> Any:
    """As orjson reads it. Raises JSONDecodeError, which is a ValueError, also for a whole number beyond 64 bits: orjson
    would round it."""
    found = orjson.loads(text)
    if _LONG.search(text):
        json.loads(text, parse_int=_whole)
    return found


def _whole(digits: str) -> int:
    if len(digits) > 20 or not _LEAST <= int(digits) <= _MOST:
        raise orjson.JSONDecodeError("a whole number has more than 64 bits", digits[:40], 0)
    return int(digits)

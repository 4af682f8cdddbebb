"""Files as answers. Agents wrote them, so a browser must not run them: it shows pictures, and saves everything else."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from toryo.domain.artifacts import PICTURES, UNKNOWN, saved_as

_GUARDS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "cross-origin-resource-policy": "same-origin",
}


def file(result: Mapping[str, Any]) -> Response:
    """The bytes of a result with `content` (in base64), `name` and `media_type`."""
    picture = result["media_type"] in PICTURES
    name = saved_as(str(result["name"]), result["media_type"])
    plain = "".join(each if each.isascii() and (each.isalnum() or each in "._-") else "_" for each in name)
    shown = "inline" if picture else "attachment"
    headers = {"content-disposition": f"{shown}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"}
    media_type = result["media_type"] if picture else UNKNOWN
    return Response(base64.b64decode(result["content"]), 200, {**_GUARDS, **headers}, media_type)

"""The dashboard's files, as they were built into the package (`web/` has their source). They are read once.

Whatever address of the page somebody opens, they get the one page; its script shows the view. Which files there are
is decided by the build, what they may do by the content security policy here.
"""

from __future__ import annotations

import gzip
import mimetypes
from pathlib import Path
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from toryo.deeds import terminal
from toryo.domain.fast_dataclasses import dataclass
from toryo.server.content_encoding import accepts_gzip

STATIC = Path(__file__).with_name("static")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
GUARDS = {
    "content-security-policy": _POLICY,
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}
_TYPES = {".webmanifest": "application/manifest+json"}
"""Those that Python does not know, or only where the system tells it."""
NOT_BUILT = (
    "This installation of Toryo has no dashboard; everything else works. In a checkout, run make web, then "
    f"{terminal('open')}. Elsewhere, install a wheel that contains the dashboard (make wheel in a checkout builds one)."
)
_NOT_BUILT = f"""<!doctype html><meta charset="utf-8"><title>Toryo</title>
<p>{NOT_BUILT}
<p>REST is at /api/v1, MCP at /mcp."""


def is_built() -> bool:
    """Whether this Toryo has a dashboard."""
    return (STATIC / "index.html").is_file()


@dataclass(frozen=True, slots=True)
class File:
    body: bytes
    packed: bytes | None
    """gzip, where that is smaller."""
    media_type: str
    lasting: bool
    """Whether its name changes with its content, so that a browser may cache it permanently."""


class Pages:
    def __init__(self, directory: Path = STATIC) -> None:
        self._directory = directory
        self._read: dict[str, File] = {}

    @property
    def built(self) -> bool:
        return "/index.html" in self._files

    def wanted(self, request: Request) -> bool:
        """Whether a request asks for a page or one of its files, and not for data."""
        return unquote(request.scope["path"]) in self._files or "text/html" in request.headers.get("accept", "")

    def answer(self, request: Request) -> Response:
        file = self._files.get(unquote(request.scope["path"])) or self._files.get("/index.html")
        if file is None:
            return HTMLResponse(_NOT_BUILT, headers=GUARDS)
        keep = "public, max-age=31536000, immutable" if file.lasting else "no-cache"
        headers = {**GUARDS, "cache-control": keep, "vary": "accept-encoding"}
        if file.packed is not None and accepts_gzip(request.headers.get("accept-encoding", "")):
            return Response(file.packed, headers={**headers, "content-encoding": "gzip"}, media_type=file.media_type)
        return Response(file.body, headers=headers, media_type=file.media_type)

    @property
    def _files(self) -> dict[str, File]:
        """By path, as an address names them. What is built while the server runs is there at once."""
        if "/index.html" not in self._read:
            found = {}
            for path in sorted(self._directory.rglob("*")) if self._directory.is_dir() else ():
                if path.is_file():
                    name = "/" + path.relative_to(self._directory).as_posix()
                    found[name] = _file(path, lasting=name.startswith("/assets/"))
            self._read = found
        return self._read


def _file(path: Path, *, lasting: bool) -> File:
    body = path.read_bytes()
    media_type = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    packed = gzip.compress(body, 6, mtime=0)
    text = (media_type or "").startswith("text/") or media_type in ("application/javascript", "application/json")
    declared = f"{media_type or 'application/octet-stream'}{'; charset=utf-8' if text else ''}"
    return File(body, packed if len(packed) < len(body) * 0.95 else None, declared, lasting)

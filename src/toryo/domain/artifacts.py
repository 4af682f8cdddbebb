"""Files that acceptance checks leave as evidence: what they are, and which of them a page may show."""

from __future__ import annotations

from typing import Annotated

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.shape import Small, TaskId, To
from toryo.domain.times import Millis

PICTURES = {"image/png": ("png",), "image/jpeg": ("jpg", "jpeg"), "image/gif": ("gif",), "image/webp": ("webp",)}
"""What a page may show, and how the names of such files end. HTML and SVG may contain scripts, so they are only
downloaded."""
UNKNOWN = "application/octet-stream"
_BY_ENDING = {
    "css": "text/css",
    "csv": "text/csv",
    "gz": "application/gzip",
    "htm": "text/html",
    "html": "text/html",
    "json": "application/json",
    "log": "text/plain",
    "md": "text/markdown",
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "txt": "text/plain",
    "xml": "application/xml",
    "zip": "application/zip",
}


@dataclass(frozen=True, slots=True)
class Artifact:
    """`place`: of the check that left it, among those that ran together. `name`: its path where the check ran."""

    id: str
    check_id: Annotated[str, To("checks")]
    task_id: TaskId
    place: Annotated[int, Small]
    name: str
    bytes: int
    media_type: str
    created_at: Millis


def media_type(name: str, beginning: bytes) -> str:
    """Of pictures by how they begin: a page shows them. Of others by the name."""
    if beginning.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if beginning.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if beginning.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if beginning.startswith(b"RIFF") and beginning[8:12] == b"WEBP":
        return "image/webp"
    return _BY_ENDING.get(_ending(name), UNKNOWN)


def saved_as(name: str, media_type: str) -> str:
    """How a browser names the file. A picture can be a page, too: opened from a disk, its ending decides what it is."""
    own, endings = name.rpartition("/")[2], PICTURES.get(media_type)
    return own if endings is None or _ending(own) in endings else f"{own}.{endings[0]}"


def _ending(name: str) -> str:
    _, dot, ending = name.rpartition("/")[2].rpartition(".")
    return ending.lower() if dot else ""

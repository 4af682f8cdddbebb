"""Files that acceptance checks leave as evidence: what they are, which fit, and which of them a page may show."""

from __future__ import annotations

from collections.abc import Iterable

from toryo.artifact_limits import LARGEST, LARGEST_OF_CHECK, LARGEST_OF_RUN, MOST_FILES
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import Millis

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What a page may show. HTML and SVG may contain scripts, so they are only downloaded."""
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
    check_id: str
    task_id: str
    place: int
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
    return _BY_ENDING.get(name.rpartition("/")[2].rpartition(".")[2].lower(), UNKNOWN)


def refuse_more(name: str, size: int, place: int, others: Iterable[Artifact]) -> None:
    """Raises Refusal if a file is one too many, or too large, beside the others of the same run."""
    run = list(others)
    own = [each for each in run if each.place == place]
    together, of_run = (sum(each.bytes for each in group) + size for group in (own, run))
    if size > LARGEST:
        raise _too_large(name, LARGEST, "One file")
    if len(own) >= MOST_FILES:
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"{name} is one file too many.",
            f"One check can leave {MOST_FILES} files.",
        )
    if together > LARGEST_OF_CHECK:
        raise _too_large(name, LARGEST_OF_CHECK, "The files of one check together")
    if of_run > LARGEST_OF_RUN:
        raise _too_large(name, LARGEST_OF_RUN, "The files of all checks that ran together")


def _too_large(name: str, most: int, what: str) -> Refusal:
    return Refusal(
        Code.VALIDATION_ERROR, f"{name} is too large.", f"{what} can have {most / 1e6:g} MB. Leave this one out."
    )

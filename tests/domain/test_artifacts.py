"""Files that are kept as evidence: what they are, and how a browser names them."""

from __future__ import annotations

import pytest

from toryo.domain.artifacts import PICTURES, UNKNOWN, media_type, saved_as

PNG, JPEG, WEBP = b"\x89PNG\r\n\x1a\n...", b"\xff\xd8\xff\xe0", b"RIFF\0\0\0\0WEBPVP8 "


@pytest.mark.parametrize(
    ("name", "beginning", "found"),
    [
        ("a.html", PNG, "image/png"),
        ("a.png", JPEG, "image/jpeg"),
        ("a", b"GIF87a..", "image/gif"),
        ("a", b"GIF89a..", "image/gif"),
        ("a.txt", WEBP, "image/webp"),
        ("a.wav", b"RIFF\0\0\0\0WAVE", UNKNOWN),
        ("a.txt", b"....\0\0\0\0WEBP", "text/plain"),
        ("a.png", b"<html>", UNKNOWN),
        *(
            (f"dir.x/A.{ending.upper()}", b"", kind)
            for ending, kind in {
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
            }.items()
        ),
        ("txt", b"", UNKNOWN),
        ("a.txt/b", b"", UNKNOWN),
        ("a.", b"", UNKNOWN),
    ],
)
def test_pictures_are_known_by_how_they_begin_and_others_by_their_name(name: str, beginning: bytes, found: str) -> None:
    assert media_type(name, beginning) == found


@pytest.mark.parametrize(
    ("name", "kind", "saved"),
    [
        ("out/a.png", "image/png", "a.png"),
        ("out/a.PNG", "image/png", "a.PNG"),
        ("a.html", "image/png", "a.html.png"),
        ("a.jpg", "image/jpeg", "a.jpg"),
        ("a.jpeg", "image/jpeg", "a.jpeg"),
        ("a.jpe", "image/jpeg", "a.jpe.jpg"),
        ("a.svg", "image/gif", "a.svg.gif"),
        ("a", "image/webp", "a.webp"),
        ("x/a.html", "text/html", "a.html"),
        ("a", UNKNOWN, "a"),
    ],
)
def test_a_picture_is_saved_with_an_ending_of_pictures(name: str, kind: str, saved: str) -> None:
    assert saved_as(name, kind) == saved


def test_nothing_that_may_contain_scripts_is_shown() -> None:
    assert set(PICTURES) == {"image/png", "image/jpeg", "image/gif", "image/webp"}

"""Files that agents wrote, as a browser gets them: pictures are shown, everything else is saved and never run."""

from __future__ import annotations

import base64

import pytest

from toryo.domain import artifacts
from toryo.server import file_answers

PNG = b"\x89PNG\r\n\x1a\n"
WEBP = b"RIFF\x10\0\0\0WEBPVP8 "


def answered(name: str, content: bytes, media_type: str | None = None) -> dict[str, str]:
    kind = media_type or artifacts.media_type(name, content)
    given = {"name": name, "media_type": kind, "content": base64.b64encode(content).decode()}
    response = file_answers.file(given)
    assert bytes(response.body) == content
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    return dict(response.headers)


@pytest.mark.parametrize("beginning", [PNG, b"\xff\xd8\xff\xe0", b"GIF89a", b"GIF87a", WEBP])
def test_pictures_are_shown_as_what_they_are_whatever_they_are_called(beginning: bytes) -> None:
    found = answered("a/b.html", beginning + b"more")
    assert found["content-type"] in artifacts.PICTURES
    assert found["content-disposition"].startswith("inline; ")


@pytest.mark.parametrize(
    ("name", "content", "saved"),
    [
        ("a/evil.html", PNG, "evil.html.png"),
        ("evil.svg", b"\xff\xd8\xff", "evil.svg.jpg"),
        ("png", PNG, "png.png"),
        ("a.PNG", PNG, "a.PNG"),
        ("a.jpeg", b"\xff\xd8\xff", "a.jpeg"),
        ("a.gif", b"GIF89a", "a.gif"),
        ("a.html", b"<script>", "a.html"),
    ],
)
def test_a_picture_is_saved_as_a_picture_although_it_may_be_a_page_too(name: str, content: bytes, saved: str) -> None:
    assert f"filename=\"{saved}\"; filename*=UTF-8''{saved}" in answered(name, content)["content-disposition"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", b"<script>"),
        ("a.png", b"<script>"),
        ("a.svg", b"<svg onload=''/>"),
        ("a.svg", b"RIFF"),
        ("a.xhtml", b"<html/>"),
        ("a.webp", b"RIFF1234WAVE"),
        ("a.js", b"alert(1)"),
        ("a", b""),
    ],
)
def test_everything_else_is_saved_as_bytes_of_no_kind(name: str, content: bytes) -> None:
    found = answered(name, content)
    assert found["content-type"] == "application/octet-stream"
    assert found["content-disposition"].startswith("attachment; ")


@pytest.mark.parametrize("kind", ["text/html", "image/svg+xml", "application/pdf", "text/plain"])
def test_a_kind_that_can_carry_scripts_is_never_sent(kind: str) -> None:
    assert answered("a", b"x", kind)["content-type"] == "application/octet-stream"


def test_no_name_breaks_a_header() -> None:
    found = answered('a/évil";\r\nx: y.txt', b"x")
    assert found["content-disposition"] == (
        "attachment; filename=\"_vil____x__y.txt\"; filename*=UTF-8''%C3%A9vil%22%3B%0D%0Ax%3A%20y.txt"
    )

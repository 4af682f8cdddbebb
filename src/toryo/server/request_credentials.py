"""The credentials of a request. Operations decide what they prove."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import Response

from toryo.domain.errors import Code, Refusal
from toryo.domain.people import SIGN_IN_LIVES
from toryo.domain.times import SECOND
from toryo.operations.calls.callers import Credentials
from toryo.server.keyless_requests import KEYLESS

_TRACEPARENT = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_CORRELATION = re.compile(rb"[\x21-\x7e]{1,128}")


def credentials(headers: Mapping[bytes, bytes], scope: Mapping[str, Any]) -> Credentials:
    """The bearer token, the correlation id and the address of a request; whatever is malformed counts as missing."""
    client = scope.get("client")
    return Credentials(
        bearer=_bearer(headers.get(b"authorization")),
        correlation_id=_correlation(headers),
        remote=client[0] if client else None,
        browser=headers.get(b"user-agent", b"")[:300].decode("latin-1") or None,
        keyless=bool(scope.get(KEYLESS)),
    )


def browser_token(request: Request) -> str | None:
    """The token of a signed-in browser. Scripts cannot read it, and other sites cannot send it; but the browser sends
    it to every port of the host.
    """
    return cookie(request, _cookie_name(request))


def page_secret(request: Request) -> str | None:
    """What a page of this server says beside it (`X-Toryo`), from the storage of its origin, which is host and port. A
    page that is not signed in sends the header without a secret. No form can send it, and no script of another origin.
    """
    return request.headers.get("x-toryo")


def refuse_others(request: Request) -> None:
    """Raises Refusal if the request, which changes what a browser is signed in by, was not sent by a page of this
    server (or by a program, which has no browser to change)."""
    if page_secret(request) is None:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "This request was not sent by a page of this server.",
            "Sign in at /sign-in. Programs use a token: Authorization: Bearer.",
        )


def cookie(request: Request, name: str) -> str | None:
    """The value of the first cookie of exactly this name.

    Not `request.cookies`: the standard library takes seconds to unquote some values, prefers the last of several, and
    strips more than ASCII blanks from names, which weakens `__Host-`.
    """
    for header in request.headers.getlist("cookie"):
        for pair in header.split(";"):
            given, _, value = pair.strip(" \t").partition("=")
            if given == name and value:
                return value
    return None


def keep_signed_in(response: Response, request: Request, token: str | None) -> None:
    """Signs the browser in, or (None) out."""
    set_cookie(response, request, _cookie_name(request), token)


def set_cookie(
    response: Response,
    request: Request,
    name: str,
    value: str | None,
    *,
    seconds: int = SIGN_IN_LIVES // SECOND,
    path: str = "/",
    same_site: Literal["strict", "lax"] = "strict",
) -> None:
    """Sets a cookie that scripts cannot read, or (None) deletes it.

    `lax`: also sent when the browser follows a link from another site, unlike a strict one.
    """
    response.set_cookie(
        name,
        value or "",
        max_age=0 if value is None else seconds,
        path=path,
        secure=is_https(request),
        httponly=True,
        samesite=same_site,
    )


def is_https(request: Request) -> bool:
    """As the browser sees it (`trusted_proxies.py`). Not `request.url`, which is built from what strangers send."""
    return bool(request.scope.get("scheme") == "https")


def _cookie_name(request: Request) -> str:
    """The name of the sign-in cookie. Cookies belong to a host, not a port, so servers on one machine need different
    names. `__Host-`: the browser guarantees that no other host has set it.
    """
    if is_https(request):
        return "__Host-toryo"
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"toryo-{port}" if port.isascii() and port.isdigit() else "toryo"


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

"""Requests that another site makes a browser send: refused. (`Origin` is looked at by `allowed_hosts.py`.)"""

from __future__ import annotations

from starlette.requests import Request

from toryo.domain.errors import Code, Refusal


def refuse_forged(request: Request) -> None:
    """What a browser sends with its cookie comes from a page of this server.

    A change says so in a header that other sites cannot send: neither a form can, nor a script without being allowed
    to, and nobody is. Besides, browsers say themselves where a request comes from; pages at other ports of the same
    host, to which `SameSite` means nothing, are strangers, too. (`Origin` is looked at by `hosts`.)
    """
    came_from = request.headers.get("sec-fetch-site", "same-origin")
    reads = request.method in ("GET", "HEAD")
    if (not reads and "x-toryo" not in request.headers) or came_from not in ("same-origin", "none"):
        raise Refusal(
            Code.PERMISSION_DENIED,
            "This request was not sent by a page of this server.",
            "Send changes from a page of this server, with the header X-Toryo: 1.",
        )

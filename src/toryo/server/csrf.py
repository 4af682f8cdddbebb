"""Protection against cross-site request forgery. `allowed_hosts.py` checks `Origin`."""

from __future__ import annotations

from starlette.requests import Request

from toryo.domain.errors import Code, Refusal


def refuse_forged(request: Request) -> None:
    """Raises Refusal if a browser's request with a cookie does not come from a page of this server.

    A change needs a header that forms cannot send, nor scripts of other sites without permission, which no site has.
    Browsers also state where a request comes from; pages on other ports of the same host, which `SameSite` allows, are
    refused too.
    """
    came_from = request.headers.get("sec-fetch-site", "same-origin")
    reads = request.method in ("GET", "HEAD")
    if (not reads and "x-toryo" not in request.headers) or came_from not in ("same-origin", "none"):
        raise Refusal(
            Code.PERMISSION_DENIED,
            "This request was not sent by a page of this server.",
            "Send changes from a page of this server, with the header X-Toryo: 1.",
        )

"""Requests that another site makes a browser send: refused. (`Origin` is looked at by `hosts.py`.)"""

from __future__ import annotations

from collections.abc import Mapping

from toryo.domain.errors import Code, Refusal


def refuse_forged(method: str, headers: Mapping[bytes, bytes]) -> None:
    """What a browser sends with its cookie comes from a page of this server.

    A change says so in a header that other sites cannot send: neither a form can, nor a script without being allowed
    to, and nobody is. Besides, browsers say themselves where a request comes from; pages at other ports of the same
    host, to which `SameSite` means nothing, are strangers, too. (`Origin` is looked at by `hosts`.)
    """
    came_from = headers.get(b"sec-fetch-site", b"same-origin")
    if (method != "GET" and b"x-toryo" not in headers) or came_from not in (b"same-origin", b"none"):
        raise Refusal(
            Code.PERMISSION_DENIED,
            "This request does not come from a page of this server.",
            "Send the header X-Toryo: 1 with every change, from a page of this server.",
        )

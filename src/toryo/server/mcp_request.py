"""The HTTP request behind a call of the SDK's handlers: its address and credentials."""

from __future__ import annotations

from typing import Any

from mcp.server.context import ServerRequestContext

from toryo.operations.calls.callers import Credentials
from toryo.server import request_credentials
from toryo.server.request_bodies import Scope

Context = ServerRequestContext[Any, Any]


def scope_of(context: Context) -> Scope:
    if context.request is None:
        raise RuntimeError("this server speaks HTTP only")
    scope: Scope = context.request.scope
    return scope


def headers_of(context: Context) -> dict[bytes, bytes]:
    return dict(scope_of(context)["headers"])


def credentials_of(context: Context) -> Credentials:
    return request_credentials.credentials(headers_of(context), scope_of(context))

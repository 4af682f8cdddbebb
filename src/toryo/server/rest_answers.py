"""Responses of REST and pages: JSON in the caller's language, and refusals as problem details (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from toryo.domain.errors import Refusal
from toryo.domain.wording import constant, say
from toryo.server import accept_language, http_errors, request_bodies

API = "/api/v1"
_JSON = "application/json"
_PROBLEM = "application/problem+json"


def json(request: Request, result: Any, status: int = 200) -> Response:
    """`X-Toryo` is what the dashboard sends: it is answered as a page shows it."""
    language = accept_language.wanted_language(request.headers.get("accept-language", ""))
    body = accept_language.as_json(result, language, page="x-toryo" in request.headers)
    return Response(body, status, accept_language.HEADERS[language], _JSON)


def problem(
    request: Request, result: dict[str, Any], status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """A refusal's result as problem details; the status follows from its code unless it is given."""
    status, document = http_errors.problem(result, status)
    response = json(request, document, status)
    response.headers["content-type"] = _PROBLEM
    response.headers.update(headers or {})
    if status == 401:
        response.headers["www-authenticate"] = 'Bearer realm="toryo"'
    if status == 429 and "retry_after" in result:
        response.headers["retry-after"] = str(result["retry_after"])
    return response


async def refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return problem(request, error.answer())


async def lost(request: Request, error: Exception) -> Response:
    """404 for a path that does not exist, 405 for a method that the path does not have."""
    assert isinstance(error, HTTPException)
    path = request.scope["path"][:200]
    if error.status_code == 404:
        text = say("There is no page or resource at {path}.", path=path)
        where = constant("MCP is at /mcp, REST at /api/v1, the health check at /health.")
        then = constant("GET /api/v1/openapi.json lists every path.") if path.startswith(API + "/") else where
        return problem(request, {"error": "notFound", "message": text, "instruction": then}, 404)
    allowed = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
    text = say("{path} does not support {method}.", path=path, method=request.method)
    result = {"error": "methodNotAllowed", "message": text, "instruction": say("Use {possible}.", possible=allowed)}
    return problem(request, result, 405, {"allow": allowed})


async def left(_request: Request, _error: Exception) -> Response:
    """A response that nobody receives: the client is gone."""
    return Response(status_code=499)


HANDLERS = {Refusal: refused, HTTPException: lost, request_bodies.Gone: left}
"""The response for each exception of an endpoint."""

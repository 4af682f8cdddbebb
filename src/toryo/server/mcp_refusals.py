"""Refusals of requests that have no error results in MCP (resources, prompts): protocol errors with an instruction."""

from __future__ import annotations

from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST

from toryo.domain.errors import Code
from toryo.operations.calls.dispatch import Outcome
from toryo.server import mcp_results

_NOT_FOUND_BEFORE_2026 = -32002


def result_of(outcome: Outcome, version: str) -> dict[str, Any]:
    """The outcome's result. Raises the protocol error for a refusal in this protocol version."""
    result = outcome.result or {}
    if not outcome.refused:
        return result
    raise MCPError(_code(str(result.get("error")), version), f"{result['message']} {result['instruction']}", result)


def not_found(uri: str, version: str) -> MCPError:
    """The protocol error for an unknown URI."""
    message = f"There is no resource {uri[:200]!r}. Call resources/templates/list for the addresses."
    return MCPError(_code("resourceNotFound", version), message, {"uri": uri})


def _code(refusal: str, version: str) -> int:
    if refusal.endswith("NotFound"):
        return INVALID_PARAMS if version == mcp_results.PROTOCOL else _NOT_FOUND_BEFORE_2026
    if refusal in (Code.VALIDATION_ERROR, Code.TOO_LARGE):
        return INVALID_PARAMS
    return INTERNAL_ERROR if refusal == Code.UNAVAILABLE else INVALID_REQUEST

"""MCP tools: listed and called by way of the SDK. Plain calls do not come here (`mcp_fast_path.py`).

Arguments are not validated by the SDK's low-level server: the operations do that, and refuse in words a model can act
on.
"""

from __future__ import annotations

import json
from typing import Any, Protocol
from urllib.parse import parse_qs

import mcp_types as types
import orjson
from mcp.server.lowlevel.server import Server

from toryo.domain.errors import Code, Refusal
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.grants import Door
from toryo.server import mcp_results
from toryo.server.mcp_request import Context, credentials_of, scope_of

_MOST_SHOWN = "anthropic/maxResultSizeChars"
"""Without it Claude Code shows its model the first 2 kB of a long answer and puts the rest into a file."""
_CHARACTERS = 500_000
"""The most that it takes."""


class Answering(Protocol):
    """What is needed of `mcp.py`."""

    async def answer(self, name: str, arguments: dict[str, Any], credentials: Credentials, door: Door) -> Outcome: ...

    async def list_tools(self, credentials: Credentials, toolset: str | None) -> list[Operation]: ...

    def accepted(self, meta: dict[str, Any]) -> None: ...


class Tools:
    def __init__(self, handlers: Answering, server: Server[Any]) -> None:
        self._handlers = handlers
        server.add_request_handler("tools/list", types.PaginatedRequestParams, self._list)
        server.add_request_handler("tools/call", types.CallToolRequestParams, self._call)

    async def _list(self, context: Context, _page: types.PaginatedRequestParams) -> types.ListToolsResult:
        query = parse_qs(scope_of(context).get("query_string", b"").decode("latin-1"))
        listed = await self._handlers.list_tools(credentials_of(context), query.get("toolset", [None])[-1])
        answers = query.get("output_schemas", [""])[-1].lower() in ("true", "1")
        return types.ListToolsResult(tools=[tool(operation, answers=answers) for operation in listed])

    async def _call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        meta = (context.params or {}).get("_meta")
        if context.protocol_version == mcp_results.PROTOCOL and isinstance(meta, dict):
            self._handlers.accepted(meta)
        arguments = params.arguments or {}
        outcome = _unspeakable(arguments)
        if outcome is None:
            outcome = await self._handlers.answer(params.name, arguments, credentials_of(context), Door.MCP)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=mcp_results.text(outcome).decode())],
            structured_content=outcome.result,
            is_error=outcome.refused,
        )


def tool(operation: Operation, *, answers: bool = False) -> types.Tool:
    """What an agent is told about an operation: as few words as it needs.

    The schema of its answers is for clients that ask for it (`answers`): it would cost every agent more tokens than the
    tools themselves.
    """
    return types.Tool(
        name=operation.name,
        description=operation.summary,
        input_schema=operation.listed_schema,
        output_schema=operation.answer_schema if answers else None,
        annotations=types.ToolAnnotations(read_only_hint=True) if operation.reads else None,
        _meta={_MOST_SHOWN: _CHARACTERS} if operation.whole else None,
    )


def _unspeakable(arguments: dict[str, Any]) -> Outcome | None:
    """Refuses what JSON can spell and nobody can store: half a surrogate pair, NaN, numbers beyond 64 bits."""
    try:
        orjson.dumps(arguments)
        json.dumps(arguments, allow_nan=False)  # orjson writes null for them
    except (TypeError, ValueError) as error:
        refusal = Refusal(
            Code.VALIDATION_ERROR,
            f"The arguments cannot be stored: {error}.",
            "Send plain Unicode text, and numbers of at most 64 bits.",
        )
        return Outcome(refusal.answer(), refused=True, later=None, operation=None)
    return None

"""MCP prompts: one per operation of `operations/overview/prompts.py`; its parameters are the arguments."""

from __future__ import annotations

from typing import Any, Protocol

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation, catalogue
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.grants import Door
from toryo.operations.overview.prompts import PROMPTS
from toryo.server import mcp_refusals
from toryo.server.mcp_request import Context, credentials_of


class Answering(Protocol):
    """What is needed of `mcp.py`."""

    async def answer(self, name: str, arguments: dict[str, Any], credentials: Credentials, door: Door) -> Outcome: ...


class Prompts:
    def __init__(self, handlers: Answering, server: Server[Any]) -> None:
        self._handlers = handlers
        server.add_request_handler("prompts/list", types.PaginatedRequestParams, self._list)
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, self._get)

    async def _list(self, _context: Context, _page: types.PaginatedRequestParams) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_prompt(catalogue()[name]) for name in PROMPTS])

    async def _get(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name not in PROMPTS:
            raise MCPError(
                types.INVALID_PARAMS, f"There is no prompt {params.name[:100]!r}. Available: {', '.join(PROMPTS)}."
            )
        # Clients with a form send empty fields as empty strings.
        arguments = {name: value for name, value in (params.arguments or {}).items() if value != ""}
        outcome = await self._handlers.answer(params.name, arguments, credentials_of(context), Door.CONTEXT)
        result = mcp_refusals.result_of(outcome, context.protocol_version)
        words = types.TextContent(type="text", text=result["text"])
        return types.GetPromptResult(
            description=result["description"], messages=[types.PromptMessage(role="user", content=words)]
        )


def _prompt(operation: Operation) -> types.Prompt:
    return types.Prompt(
        name=operation.name,
        description=operation.summary,
        arguments=[
            types.PromptArgument(name=name, description=field.description, required=field.is_required())
            for name, field in operation.parameters.model_fields.items()
        ],
    )

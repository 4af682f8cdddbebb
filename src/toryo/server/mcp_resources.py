"""MCP resources: listed, read, and followed, in both eras of the protocol.

The operations that read them check permissions. In the era with a handshake `mcp_streams.py` reports changes; in the
newer one each `subscriptions/listen` is a stream of its own.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

import mcp_types as types
import orjson
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.grants import Door
from toryo.server import mcp_refusals, mcp_resource_updates, resource_uris
from toryo.server.mcp_request import Context, credentials_of, headers_of
from toryo.server.mcp_resource_updates import Read
from toryo.server.mcp_streams import MOST_SUBSCRIPTIONS, Streams, Subscribed

JSON = "application/json"
SESSION_NOT_FOUND = -32001
_NOT_CONTENT = frozenset({"success", "etag"})


class Answering(Protocol):
    """What is needed of `mcp.py`."""

    streams: Streams
    stopping: asyncio.Event

    async def answer(self, name: str, arguments: dict[str, Any], credentials: Credentials, door: Door) -> Outcome: ...

    async def may_listen(self, credentials: Credentials) -> bool: ...


class Resources:
    def __init__(self, handlers: Answering, server: Server[Any]) -> None:
        self._handlers = handlers
        server.add_request_handler("resources/list", types.PaginatedRequestParams, self._list)
        server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, self._list_templates)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, self._read)
        server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, self._subscribe)
        server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, self._unsubscribe)
        server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, self._listen)

    # --- reading ------------------------------------------------------------------------------------------------------

    async def _list(self, context: Context, _page: types.PaginatedRequestParams) -> types.ListResourcesResult:
        """What this caller is likely to want; the templates say how to reach the rest."""
        outcome = await self._handlers.answer("list_readable", {}, credentials_of(context), Door.CONTEXT)
        found = mcp_refusals.result_of(outcome, context.protocol_version)["resources"]
        return types.ListResourcesResult(resources=[_resource(each) for each in found])

    async def _list_templates(
        self, _context: Context, _page: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    name=kind.name,
                    title=kind.title,
                    uri_template=kind.template,
                    description=kind.description,
                    mime_type=JSON,
                )
                for kind in resource_uris.KINDS.values()
            ]
        )

    async def _read(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        result = await self._look(params.uri, context)
        content = {name: value for name, value in result.items() if name not in _NOT_CONTENT}
        text = types.TextResourceContents(uri=params.uri, mime_type=JSON, text=orjson.dumps(content).decode())
        return types.ReadResourceResult(contents=[text])

    async def _look(self, uri: str, context: Context) -> dict[str, Any]:
        """What is at an address now. Raises MCPError."""
        read = self._reader(uri, credentials_of(context))
        if read is None:
            raise mcp_refusals.not_found(uri, context.protocol_version)
        return mcp_refusals.result_of(await read(None, 0), context.protocol_version)

    def _reader(self, uri: str, credentials: Credentials) -> Read | None:
        found = resource_uris.reading(uri)
        if found is None:
            return None

        async def read(seen: str | None, wait_seconds: int) -> Outcome:
            arguments = {**found.arguments, "seen": seen, "wait_seconds": wait_seconds}
            return await self._handlers.answer(found.operation, arguments, credentials, Door.CONTEXT)

        return read

    # --- following, with a handshake ----------------------------------------------------------------------------------

    async def _subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        credentials = credentials_of(context)
        session = self._handlers.streams.session(headers_of(context), credentials)
        if session is None:
            raise MCPError(
                SESSION_NOT_FOUND,
                "Changes are sent on the stream of a session. Send initialize first, then send the "
                "Mcp-Session-Id of its answer with this request and with a GET.",
            )
        result = await self._look(params.uri, context)
        if len(session.subscriptions) >= MOST_SUBSCRIPTIONS and params.uri not in session.subscriptions:
            raise MCPError(
                types.INVALID_REQUEST,
                f"You have {MOST_SUBSCRIPTIONS} subscriptions, which is the limit. End one first.",
            )
        read = self._reader(params.uri, credentials)
        assert read is not None
        session.subscriptions[params.uri] = Subscribed(read, result["etag"])
        session.changed()
        return types.EmptyResult()

    async def _unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        session = self._handlers.streams.session(headers_of(context), credentials_of(context))
        if session is not None and session.subscriptions.pop(params.uri, None) is not None:
            session.changed()
        return types.EmptyResult()

    # --- following, without one ---------------------------------------------------------------------------------------

    async def _listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """One stream. What the caller may not read is left out of what it is promised; so are changes of lists, which
        nobody is told of.
        """
        credentials = credentials_of(context)
        if not await self._handlers.may_listen(credentials):
            raise MCPError(
                types.INVALID_REQUEST,
                "Only callers who can read resources can subscribe. Connect with Authorization: Bearer and a "
                "credential of this server.",
            )
        etags = await self._readable(params.notifications.resource_subscriptions or [], context)
        promised = types.SubscriptionFilter(resource_subscriptions=list(etags) or None)
        bus = InMemorySubscriptionBus()
        stream = ListenHandler(bus)

        async def follow(uri: str, etag: str) -> None:
            async def changed(_etag: str) -> None:
                await bus.publish(ResourceUpdated(uri))

            read = self._reader(uri, credentials)
            assert read is not None
            await mcp_resource_updates.follow(read, etag, changed, self._handlers.stopping)

        async def end() -> None:
            await self._handlers.stopping.wait()
            stream.close()

        # They begin at the next turn of the loop; by then `stream` listens to the bus.
        beside = [asyncio.create_task(coroutine) for coroutine in (end(), *(follow(*each) for each in etags.items()))]
        try:
            return await stream(context, params.model_copy(update={"notifications": promised}))
        finally:
            for task in beside:
                task.cancel()

    async def _readable(self, uris: list[str], context: Context) -> dict[str, str]:
        """The etags of those resources that the caller may read."""
        found: dict[str, str] = {}
        for uri in uris[:MOST_SUBSCRIPTIONS]:
            read = self._reader(uri, credentials_of(context))
            outcome = await read(None, 0) if read is not None else None
            if outcome is not None and not outcome.refused and outcome.result is not None:
                found[uri] = outcome.result["etag"]
        return found


def _resource(found: dict[str, str]) -> types.Resource:
    kind = resource_uris.KINDS[found["kind"]]
    return types.Resource(
        name=kind.name,
        title=found["title"],
        uri=kind.uri(found["id"]),
        description=kind.description,
        mime_type=JSON,
    )

"""The Messages API (`POST /v1/messages`), as Claude Code speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.clis.api import Api, Body, event, texts, words
from tests.clis.turns import Fault, Result, Turn, offered, result
from tests.clis.wiring import WireReply

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


class Anthropic(Api):
    name = "anthropic"

    def serves(self, path: str) -> bool:
        return path.endswith("/v1/messages")

    def streams(self, path: str, body: Body) -> bool:
        return bool(body.get("stream"))

    def turn(self, path: str, body: Body, headers: Mapping[str, str]) -> Turn:
        messages = body.get("messages", [])
        tools = [(tool["name"], tool.get("input_schema", {}), None, False) for tool in body.get("tools", [])]
        called = _calls(messages)
        return Turn(
            api=self.name,
            model=body.get("model", ""),
            system=texts(body.get("system")),
            prompts=[said for each in messages if each["role"] == "user" and (said := texts(each["content"]))],
            tools=offered(tools),
            results=[each for message in messages for each in _results(message, called)],
            number=1 + sum(each["role"] == "assistant" for each in messages),
            headers=headers,
            path=path,
            fresh=[each for message in _since_last_answer(messages) for each in _results(message, called)],
        )

    def events(self, reply: WireReply) -> Iterator[str]:
        start = {**self.whole(reply), "content": [], "stop_reason": None}
        start["usage"] = {**start["usage"], "output_tokens": 1}
        yield event({"type": "message_start", "message": start}, "message_start")
        for index, block in enumerate(_blocks(reply)):
            yield from _block_events(index, block)
        delta = {"stop_reason": _stop(reply), "stop_sequence": None}
        usage = {"output_tokens": reply.usage.output}
        yield event({"type": "message_delta", "delta": delta, "usage": usage}, "message_delta")
        yield event({"type": "message_stop"}, "message_stop")

    def whole(self, reply: WireReply) -> dict[str, Any]:
        usage = {
            "input_tokens": reply.usage.input - reply.usage.cached,
            "cache_read_input_tokens": reply.usage.cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": reply.usage.output,
        }
        return {
            "id": f"msg_{reply.id}",
            "type": "message",
            "role": "assistant",
            "model": reply.model,
            "content": _blocks(reply),
            "stop_reason": _stop(reply),
            "stop_sequence": None,
            "usage": usage,
        }

    def error(self, fault: Fault) -> Body:
        kind = _TYPES.get(fault.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": words(fault)}, "request_id": "req_scripted"}


def _stop(reply: WireReply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def _blocks(reply: WireReply) -> list[dict[str, Any]]:
    said = [{"type": "text", "text": text} for text in reply.texts]
    called = [
        {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.name, "input": dict(call.arguments)}
        for call in reply.calls
    ]
    return [*said, *called]


def _block_events(index: int, block: dict[str, Any]) -> Iterator[str]:
    if block["type"] == "text":
        opened, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        opened = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield event({"type": "content_block_start", "index": index, "content_block": opened}, "content_block_start")
    yield event({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
    yield event({"type": "content_block_stop", "index": index}, "content_block_stop")


def _since_last_answer(messages: list[Body]) -> list[Body]:
    """A word of the program's own may follow the results, in a message of its own."""
    answers = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    return messages[answers[-1] + 1 :] if answers else messages


def _of_type(message: Body, kind: str) -> list[Body]:
    content = message.get("content")
    return [each for each in content if each.get("type") == kind] if isinstance(content, list) else []


def _calls(messages: list[Body]) -> dict[str, tuple[str, Any]]:
    made = [each for message in messages for each in _of_type(message, "tool_use")]
    return {each["id"]: (each["name"], each["input"]) for each in made}


def _results(message: Body, called: dict[str, tuple[str, Any]]) -> list[Result]:
    """Without those of a search for tools: the policy never asked for it."""
    answered = [(*called.get(each["tool_use_id"], ("", {})), each) for each in _of_type(message, "tool_result")]
    return [result(name, given, each.get("content")) for name, given, each in answered if name != "ToolSearch"]

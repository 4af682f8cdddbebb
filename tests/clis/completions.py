"""The Chat Completions API (`POST /v1/chat/completions`), as opencode, Qwen Code and Copilot speak it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.clis.api import Api, Body, event, texts, words
from tests.clis.turns import Fault, Result, Turn, arguments_of, offered, result
from tests.clis.wiring import WireReply

_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded", 500: "server_error"}


class Completions(Api):
    name = "completions"

    def serves(self, path: str) -> bool:
        return path.endswith("/chat/completions")

    def streams(self, path: str, body: Body) -> bool:
        return bool(body.get("stream"))

    def turn(self, path: str, body: Body, headers: Mapping[str, str]) -> Turn:
        messages = body.get("messages", [])
        functions = [tool["function"] for tool in body.get("tools") or [] if "function" in tool]
        tools = [(function["name"], function.get("parameters", {}), None, False) for function in functions]
        results = _results(messages)
        return Turn(
            api=self.name,
            model=body.get("model", ""),
            system="\n".join(texts(message.get("content")) for message in messages if message["role"] == "system"),
            prompts=[texts(message.get("content")) for message in messages if message["role"] == "user"],
            tools=offered(tools),
            results=results,
            number=1 + sum(message["role"] == "assistant" for message in messages),
            headers=headers,
            path=path,
            fresh=results[len(results) - _fresh(messages) :],
        )

    def events(self, reply: WireReply) -> Iterator[str]:
        message = _message(reply)
        for index, call in enumerate(message.get("tool_calls", [])):
            call["index"] = index
        yield event(_chunk(reply, [{"index": 0, "delta": message, "finish_reason": None}]))
        yield event(_chunk(reply, [{"index": 0, "delta": {}, "finish_reason": _finish(reply)}]))
        yield event({**_chunk(reply, []), "usage": _usage(reply)})
        yield "data: [DONE]\n\n"

    def whole(self, reply: WireReply) -> Body:
        choice = {"index": 0, "message": _message(reply), "finish_reason": _finish(reply)}
        return {**_chunk(reply, [choice]), "object": "chat.completion", "usage": _usage(reply)}

    def error(self, fault: Fault) -> Body:
        code = _CODES.get(fault.status, "server_error")
        return {"error": {"message": words(fault), "type": code, "code": code, "param": None}}


def _chunk(reply: WireReply, choices: list[dict[str, Any]]) -> dict[str, Any]:
    head = {"id": f"chatcmpl-{reply.id}", "object": "chat.completion.chunk", "created": 0}
    return {**head, "model": reply.model, "choices": choices}


def _finish(reply: WireReply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _message(reply: WireReply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "\n".join(reply.texts) or None}
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{call.id}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for call in reply.calls
        ]
    return message


def _usage(reply: WireReply) -> dict[str, Any]:
    return {
        "prompt_tokens": reply.usage.input,
        "completion_tokens": reply.usage.output,
        "total_tokens": reply.usage.input + reply.usage.output,
        "prompt_tokens_details": {"cached_tokens": reply.usage.cached},
    }


def _fresh(messages: list[Body]) -> int:
    count = 0
    for message in reversed(messages):
        if message["role"] == "assistant":
            break
        count += message["role"] == "tool"
    return count


def _results(messages: list[Body]) -> list[Result]:
    """Without those of a search for tools: the policy never asked for it."""
    calls = {
        tool_call["id"]: tool_call["function"] for message in messages for tool_call in message.get("tool_calls") or []
    }
    answers = [(calls.get(each["tool_call_id"], {}), each) for each in messages if each["role"] == "tool"]
    return [
        result(call.get("name", ""), arguments_of(call.get("arguments")), answer.get("content"))
        for call, answer in answers
        if call.get("name") != "tool_search"
    ]

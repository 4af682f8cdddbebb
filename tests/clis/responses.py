"""The Responses API (`POST /v1/responses`), as Codex speaks it: MCP tools come in a namespace, calls carry it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.clis.api import Api, Body, event, texts, words
from tests.clis.turns import Fault, Result, Turn, offered, result
from tests.clis.wiring import WireCall, WireReply

_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded", 500: "server_error"}
_CALLS = ("function_call", "custom_tool_call")


class Responses(Api):
    name = "responses"

    def serves(self, path: str) -> bool:
        return path.endswith("/responses")

    def streams(self, path: str, body: Body) -> bool:
        return bool(body.get("stream"))

    def turn(self, path: str, body: Body, headers: Mapping[str, str]) -> Turn:
        items = body.get("input", [])
        said = [texts(item.get("content")) for item in items if item.get("role") == "user"]
        results = _results(items)
        return Turn(
            api=self.name,
            model=body.get("model", ""),
            system=body.get("instructions") or "",
            prompts=[each for each in said if each],
            tools=offered(list(_tools(body.get("tools", [])))),
            results=results,
            number=1 + _answers(items),
            headers=headers,
            path=path,
            fresh=results[len(results) - _fresh(items) :],
        )

    def events(self, reply: WireReply) -> Iterator[str]:
        whole = self.whole(reply)
        yield _numbered({"type": "response.created", "response": {**whole, "output": [], "status": "in_progress"}}, 0)
        number = 0
        for index, item in enumerate(whole["output"]):
            for kind in ("response.output_item.added", "response.output_item.done"):
                number += 1
                yield _numbered({"type": kind, "output_index": index, "item": item}, number)
        yield _numbered({"type": "response.completed", "response": whole}, number + 1)

    def whole(self, reply: WireReply) -> Body:
        usage = {
            "input_tokens": reply.usage.input,
            "input_tokens_details": {"cached_tokens": reply.usage.cached},
            "output_tokens": reply.usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.usage.input + reply.usage.output,
        }
        head = {"id": f"resp_{reply.id}", "object": "response", "created_at": 0, "status": "completed"}
        return {**head, "model": reply.model, "output": _items(reply), "usage": usage}

    def error(self, fault: Fault) -> Body:
        code = _CODES.get(fault.status, "server_error")
        return {"error": {"type": code, "code": code, "message": words(fault), "param": None}}


def _numbered(data: dict[str, Any], number: int) -> str:
    return event({**data, "sequence_number": number}, data["type"])


def _items(reply: WireReply) -> list[dict[str, Any]]:
    said = [
        {
            "type": "message",
            "id": f"msg_{reply.id}_{number}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }
        for number, text in enumerate(reply.texts)
    ]
    return said + [_call(call) for call in reply.calls]


def _call(call: WireCall) -> dict[str, Any]:
    head = {"id": f"fc_{call.id}", "call_id": f"call_{call.id}", "name": call.name, "status": "completed"}
    if call.text is not None:
        return {"type": "custom_tool_call", **head, "input": call.text}
    namespace = {"namespace": call.namespace} if call.namespace else {}
    return {"type": "function_call", **head, **namespace, "arguments": json.dumps(dict(call.arguments))}


def _tools(declared: list[Body]) -> Iterator[tuple[str, Mapping[str, Any], str | None, bool]]:
    for each in declared:
        if each.get("type") == "namespace":
            for inner in each.get("tools", []):
                yield inner["name"], inner.get("parameters", {}), each["name"], False
        elif each.get("name"):
            yield each["name"], each.get("parameters", {}), None, each.get("type") == "custom"


def _answers(items: list[Body]) -> int:
    """How many answers the model has given: runs of what it said and called."""
    made = [item.get("role") == "assistant" or item.get("type") in _CALLS for item in items]
    return sum(mine and not before for mine, before in zip(made, [False, *made], strict=False))


def _fresh(items: list[Body]) -> int:
    """How many results stand after the model's last answer."""
    count = 0
    for item in reversed(items):
        if item.get("type") in _CALLS or item.get("role") == "assistant":
            break
        count += str(item.get("type", "")).endswith("_call_output")
    return count


def _results(items: list[Body]) -> list[Result]:
    calls = {item["call_id"]: item for item in items if item.get("type") in _CALLS}
    answers = [item for item in items if str(item.get("type", "")).endswith("_call_output")]
    return [_result(calls.get(answer["call_id"], {}), answer) for answer in answers]


def _result(call: Body, answer: Body) -> Result:
    given = call.get("arguments")
    arguments = json.loads(given) if isinstance(given, str) and given.startswith("{") else {}
    return result(call.get("name", ""), arguments, answer.get("output"))

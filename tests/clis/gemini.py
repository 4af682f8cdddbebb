"""The Gemini API (`POST /v1beta/models/M:streamGenerateContent`), as Gemini CLI speaks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.clis.api import Api, Body, event, texts, words
from tests.clis.turns import Fault, Result, Turn, offered, result
from tests.clis.wiring import WireReply

_STATUSES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


class Gemini(Api):
    name = "gemini"

    def serves(self, path: str) -> bool:
        return path.endswith((":streamGenerateContent", ":generateContent"))

    def streams(self, path: str, body: Body) -> bool:
        return path.endswith(":streamGenerateContent")

    def turn(self, path: str, body: Body, headers: Mapping[str, str]) -> Turn:
        contents = body.get("contents", [])
        declared = [each for group in body.get("tools", []) for each in group.get("functionDeclarations", [])]
        tools = [(each["name"], each.get("parametersJsonSchema", {}), None, False) for each in declared]
        results = _results(contents)
        said = [texts(content["parts"]) for content in contents if content.get("role") == "user"]
        return Turn(
            api=self.name,
            model=path.rpartition("/")[2].partition(":")[0],
            system=texts(body.get("systemInstruction", {}).get("parts")),
            prompts=[each for each in said if each],
            tools=offered(tools),
            results=results,
            number=1 + sum(content.get("role") == "model" for content in contents),
            headers=headers,
            path=path,
            fresh=results[len(results) - _fresh(contents) :],
        )

    def events(self, reply: WireReply) -> Iterator[str]:
        yield event(self.whole(reply))

    def whole(self, reply: WireReply) -> Body:
        usage = {
            "promptTokenCount": reply.usage.input,
            "candidatesTokenCount": reply.usage.output,
            "totalTokenCount": reply.usage.input + reply.usage.output,
            "cachedContentTokenCount": reply.usage.cached,
        }
        candidate = {"content": {"role": "model", "parts": _parts(reply)}, "finishReason": "STOP", "index": 0}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": reply.model, "responseId": reply.id}

    def error(self, fault: Fault) -> Body:
        status = _STATUSES.get(fault.status, "UNKNOWN")
        error: dict[str, Any] = {"code": fault.status, "message": words(fault), "status": status}
        if fault.retry_after is not None:
            kind = "type.googleapis.com/google.rpc.RetryInfo"
            error["details"] = [{"@type": kind, "retryDelay": f"{fault.retry_after}s"}]
        return {"error": error}


def _parts(reply: WireReply) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = [{"text": text} for text in reply.texts]
    return said + [{"functionCall": {"name": call.name, "args": dict(call.arguments)}} for call in reply.calls]


def _fresh(contents: list[Body]) -> int:
    """How many results the last message has."""
    parts = contents[-1].get("parts", []) if contents else []
    return sum("functionResponse" in part for part in parts)


def _results(contents: list[Body]) -> list[Result]:
    """Answers follow calls in order; ids are not always sent."""
    parts = [part for content in contents for part in content.get("parts", [])]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
    pairs = zip(calls, answers, strict=False)
    return [result(answer["name"], call.get("args", {}), answer.get("response")) for call, answer in pairs]

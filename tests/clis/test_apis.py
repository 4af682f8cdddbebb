"""The scripted endpoint without any agent program: what each API's requests mean to a policy, and what its answers,
faults and silences are on the wire. The requests are as the programs send them, cut down to what matters.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.clis.endpoint import Endpoint
from tests.clis.turns import (
    Answer,
    CallTool,
    Fault,
    Garbage,
    Hang,
    Reply,
    Result,
    Say,
    Shell,
    Slow,
    Turn,
    Usage,
    WriteFile,
    result,
)

pytestmark = pytest.mark.deep

LIMIT = 100.0
ASKED = {"success": True, "action": "get_task"}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True)
class Spoken:
    """One API: where it is asked, and how a conversation looks in which get_next_action was called and has answered."""

    path: str
    opening: Mapping[str, Any]
    answered: Mapping[str, Any]
    ours: str
    """The tool's name on the wire."""


def _gemini() -> Spoken:
    declared = [{"name": each, "parametersJsonSchema": SCHEMA} for each in ("mcp_toryo_get_next_action", "write_file")]
    user = {"role": "user", "parts": [{"text": "Go."}]}
    call = {"role": "model", "parts": [{"functionCall": {"name": "mcp_toryo_get_next_action", "args": {}}}]}
    response = {"name": "mcp_toryo_get_next_action", "response": {"output": json.dumps(ASKED)}}
    told = {"role": "user", "parts": [{"functionResponse": response}]}
    head = {"tools": [{"functionDeclarations": declared}], "systemInstruction": {"parts": [{"text": "Be good."}]}}
    return Spoken(
        "/v1beta/models/scripted:streamGenerateContent?alt=sse",
        {**head, "contents": [user]},
        {**head, "contents": [user, call, told]},
        "mcp_toryo_get_next_action",
    )


def _anthropic() -> Spoken:
    tools = [{"name": each, "input_schema": SCHEMA} for each in ("mcp__toryo__get_next_action", "Write", "Bash")]
    user = {"role": "user", "content": [{"type": "text", "text": "Go."}]}
    use = {"type": "tool_use", "id": "t1", "name": "mcp__toryo__get_next_action", "input": {}}
    blocks = [{"type": "text", "text": json.dumps(ASKED)}]
    told = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": blocks}]}
    head = {"model": "scripted", "stream": True, "tools": tools, "system": [{"type": "text", "text": "Be good."}]}
    return Spoken(
        "/v1/messages?beta=true",
        {**head, "messages": [user]},
        {**head, "messages": [user, {"role": "assistant", "content": [use]}, told]},
        "mcp__toryo__get_next_action",
    )


def _responses() -> Spoken:
    inner = [{"type": "function", "name": "get_next_action", "parameters": SCHEMA}]
    tools = [{"type": "namespace", "name": "mcp__toryo", "tools": inner}]
    own = [{"type": "function", "name": "exec_command", "parameters": SCHEMA}]
    user = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]}
    call = {"type": "function_call", "call_id": "c1", "name": "get_next_action", "arguments": "{}"}
    wrapped = "Wall time: 0.01 seconds\nOutput:\n" + json.dumps([{"type": "text", "text": json.dumps(ASKED)}])
    told = {"type": "function_call_output", "call_id": "c1", "output": wrapped}
    head = {"model": "scripted", "stream": True, "tools": [*tools, *own], "instructions": "Be good."}
    return Spoken("/v1/responses", {**head, "input": [user]}, {**head, "input": [user, call, told]}, "get_next_action")


def _completions() -> Spoken:
    functions = [{"name": each, "parameters": SCHEMA} for each in ("toryo-get_next_action", "create", "bash")]
    system, user = {"role": "system", "content": "Be good."}, {"role": "user", "content": "Go."}
    made = {"name": "toryo-get_next_action", "arguments": "{}"}
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": made}]}
    told = {"role": "tool", "tool_call_id": "c1", "content": json.dumps(ASKED)}
    tools = [{"type": "function", "function": function} for function in functions]
    head = {"model": "scripted", "stream": True, "tools": tools}
    return Spoken(
        "/v1/chat/completions",
        {**head, "messages": [system, user]},
        {**head, "messages": [system, user, call, told]},
        "toryo-get_next_action",
    )


APIS = {"anthropic": _anthropic(), "gemini": _gemini(), "responses": _responses(), "completions": _completions()}


@pytest.fixture(params=APIS)
def spoken(request: pytest.FixtureRequest) -> Spoken:
    return APIS[request.param]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(lambda turn: Say("Hello.")) as opened:
        yield opened


def _asked(endpoint: Endpoint, spoken: Spoken, body: Mapping[str, Any], answer: Answer) -> httpx.Response:
    endpoint.policy = lambda turn: answer
    return httpx.post(endpoint.url + spoken.path, json=body, timeout=LIMIT)


def _documents(text: str) -> list[dict[str, Any]]:
    """The data of server-sent events."""
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(each) for each in lines if each != "[DONE]"]


# --- what a policy sees ----------------------------------------------------------------------------------------------


def test_a_request_reads_the_same_whichever_api_it_comes_by(endpoint: Endpoint, spoken: Spoken) -> None:
    _asked(endpoint, spoken, spoken.opening, Say("Hello."))
    (turn,) = endpoint.turns
    assert (turn.prompt, turn.system, turn.model, turn.number) == ("Go.", "Be good.", "scripted", 1)
    assert turn.tools["get_next_action"].ours
    assert [tool.name for tool in turn.tools.values() if tool.ours] == ["get_next_action"]
    assert (turn.results, turn.fresh) == ([], [])


def test_a_tools_answer_is_unwrapped_whatever_stands_around_it(endpoint: Endpoint, spoken: Spoken) -> None:
    _asked(endpoint, spoken, spoken.answered, Say("Hello."))
    (turn,) = endpoint.turns
    assert turn.results == turn.fresh == [Result("get_next_action", {}, json.dumps(ASKED), ASKED)]
    assert turn.number == 2


REFUSED = {"success": False, "error": "notNow"}
_GEMINIS = 'MCP tool \'x\' reported tool error for function call: {"name":"x","args":{}} with response: '


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(REFUSED),
        [{"type": "text", "text": json.dumps(REFUSED)}],
        {"output": json.dumps(REFUSED)},
        f"MCP server 'toryo': {json.dumps(REFUSED)}",
        f"<untrusted_context>\n{json.dumps(REFUSED)}\n</untrusted_context>",
        "Wall time: 0.0 seconds\nOutput:\n" + json.dumps([{"type": "text", "text": json.dumps(REFUSED)}]),
        {"error": f'{_GEMINIS}[{{"functionResponse":{{"structuredContent":{json.dumps(REFUSED)}}}}}]'},
    ],
)
def test_a_refusal_is_seen_whatever_a_program_has_put_around_it(content: Any) -> None:
    read = result("mcp__toryo__x", {}, content)
    assert (read.name, read.data, read.refused) == ("x", REFUSED, True)


def test_a_request_that_offers_nothing_of_toryos_never_reaches_the_policy(endpoint: Endpoint, spoken: Spoken) -> None:
    answer = _asked(endpoint, spoken, {**spoken.opening, "tools": []}, Fault(500))
    assert answer.status_code == 200
    assert "A title" in answer.text
    assert (endpoint.turns, endpoint.usage) == ([], Usage(0, 0))


# --- what a model answers --------------------------------------------------------------------------------------------


def test_a_call_goes_out_under_the_name_the_program_knows(endpoint: Endpoint, spoken: Spoken) -> None:
    answer = _asked(endpoint, spoken, spoken.opening, CallTool("get_next_action", {"deep": [1]}))
    assert _names(_documents(answer.text)) == {spoken.ours}
    assert "deep" in answer.text


def test_several_calls_go_out_in_one_answer(endpoint: Endpoint, spoken: Spoken) -> None:
    calls = [CallTool("get_next_action", {"number": each}) for each in (1, 2)]
    answer = _asked(endpoint, spoken, spoken.opening, [Say("Both."), *calls])
    assert "Both." in answer.text
    assert len(endpoint.turns) == 1
    assert len(_ids(_documents(answer.text))) == 2 or spoken is APIS["gemini"]
    assert answer.text.replace("\\", "").count('"number": ') >= 2


@pytest.mark.parametrize(
    ("name", "file", "shell"),
    [
        ("anthropic", "Write", "Bash"),
        ("responses", "exec_command", "exec_command"),
        ("completions", "create", "bash"),
    ],
)
def test_files_and_commands_go_to_the_tools_the_program_has(
    name: str, file: str, shell: str, endpoint: Endpoint
) -> None:
    written = _asked(endpoint, APIS[name], APIS[name].opening, WriteFile("/srv/a b.txt", "it's"))
    run = _asked(endpoint, APIS[name], APIS[name].opening, Shell("make"))
    assert (_names(_documents(written.text)), _names(_documents(run.text))) == ({file}, {shell})
    assert "a b.txt" in written.text


def test_a_program_without_a_shell_is_told_that_the_policy_asks_too_much(endpoint: Endpoint) -> None:
    answer = _asked(endpoint, APIS["gemini"], APIS["gemini"].opening, Shell("make"))
    assert answer.status_code == 400
    assert "no tool for a shell" in answer.text


def test_tokens_are_those_the_policy_names(endpoint: Endpoint, spoken: Spoken) -> None:
    answer = _asked(endpoint, spoken, spoken.opening, Reply([Say("Hello.")], Usage(input=777, output=55, cached=77)))
    assert endpoint.usage == Usage(777, 55, 77)
    total, without, output = "777", "700", "55"
    assert output in answer.text
    assert (without if spoken is APIS["anthropic"] else total) in answer.text


def test_a_tool_that_is_held_back_is_searched_first() -> None:
    search = {"name": "ToolSearch", "input_schema": SCHEMA}
    body = {**APIS["anthropic"].opening, "tools": [search]}
    with Endpoint(lambda turn: CallTool("get_next_action")) as endpoint:
        answer = httpx.post(endpoint.url + "/v1/messages", json=body, timeout=LIMIT)
    assert _names(_documents(answer.text)) == {"ToolSearch"}
    assert "select:mcp__toryo__get_next_action" in answer.text


def _names(found: Any) -> set[str]:
    """The names of the tools that are called anywhere in it."""
    if isinstance(found, list):
        return {name for each in found for name in _names(each)}
    if not isinstance(found, dict):
        return set()
    inner = {name for each in found.values() for name in _names(each)}
    is_call = found.get("type") in ("tool_use", "function_call") or {"name", "args"} <= set(found)
    called = found if is_call else found.get("function", {})
    return inner | ({called["name"]} if isinstance(called, dict) and "name" in called else set())


def _ids(found: Any) -> set[str]:
    if isinstance(found, list):
        return {each for one in found for each in _ids(one)}
    if not isinstance(found, dict):
        return set()
    own = {str(found[key]) for key in ("id", "call_id") if str(found.get(key, "")).startswith(("toolu_", "call_"))}
    return own | {each for one in found.values() for each in _ids(one)}


# --- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 404, 429, 500, 529])
def test_a_fault_is_worded_as_the_api_does(status: int, endpoint: Endpoint, spoken: Spoken) -> None:
    answer = _asked(endpoint, spoken, spoken.opening, Fault(status, "no and no", retry_after=7))
    assert (answer.status_code, answer.headers["retry-after"]) == (status, "7")
    assert answer.json()["error"]["message"] == "no and no"


def test_garbage_is_a_stream_that_is_none(endpoint: Endpoint, spoken: Spoken) -> None:
    answer = _asked(endpoint, spoken, spoken.opening, Garbage())
    assert answer.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        _documents(answer.text)


def test_who_hangs_is_let_go_when_the_endpoint_closes(spoken: Spoken) -> None:
    seen = threading.Event()

    def hangs(turn: Turn) -> Answer:
        seen.set()
        return Hang()

    with Endpoint(hangs) as endpoint:
        heard: list[Exception] = []
        client = threading.Thread(target=_post, args=(endpoint.url + spoken.path, spoken.opening, heard))
        client.start()
        assert seen.wait(LIMIT)
        assert client.is_alive()
    client.join(LIMIT)
    assert [type(exception) for exception in heard] == [httpx.RemoteProtocolError]


def _post(url: str, body: Mapping[str, Any], heard: list[Exception]) -> None:
    try:
        httpx.post(url, json=body, timeout=LIMIT)
    except httpx.HTTPError as problem:
        heard.append(problem)


def test_who_is_slow_answers_when_the_test_says_so(endpoint: Endpoint, spoken: Spoken) -> None:
    go, asked = threading.Event(), threading.Event()

    def waits(turn: Turn) -> Answer:
        asked.set()
        return Slow(go, Say("At last."))

    endpoint.policy = waits
    answers: list[str] = []
    url, body = endpoint.url + spoken.path, dict(spoken.opening)
    client = threading.Thread(target=lambda: answers.append(httpx.post(url, json=body, timeout=LIMIT).text))
    client.start()
    assert asked.wait(LIMIT)
    assert answers == []
    go.set()
    client.join(LIMIT)
    assert "At last." in answers[0]


def test_a_policy_that_fails_is_answered_as_an_error_and_seen_by_the_test(endpoint: Endpoint, spoken: Spoken) -> None:
    def fails(turn: Turn) -> Answer:
        raise LookupError("which agent?")

    endpoint.policy = fails
    answer = httpx.post(endpoint.url + spoken.path, json=spoken.opening, timeout=LIMIT)
    assert answer.status_code == 400
    assert "which agent?" in answer.text
    assert isinstance(endpoint.requests[-1].answer, Fault)


# --- the rest of a model's server ------------------------------------------------------------------------------------


def test_what_programs_ask_besides_is_answered(endpoint: Endpoint) -> None:
    assert httpx.head(endpoint.url + "/", timeout=LIMIT).status_code == 200
    assert httpx.get(endpoint.url + "/", timeout=LIMIT).status_code == 200
    assert httpx.get(endpoint.url + "/v1/models", timeout=LIMIT).json()["data"] == []
    counted = httpx.post(endpoint.url + "/v1/messages/count_tokens", json={}, timeout=LIMIT)
    assert counted.json() == {"input_tokens": 100}
    assert [request.method for request in endpoint.requests] == ["HEAD", "GET", "GET", "POST"]


def test_what_no_api_has_is_not_found_and_told(endpoint: Endpoint) -> None:
    assert httpx.post(endpoint.url + "/v1/telemetry", json={}, timeout=LIMIT).status_code == 404
    assert endpoint.unknown == ["POST /v1/telemetry"]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_nobody_who_uses_the_endpoint_as_proxy_gets_beyond_loopback(scheme: str, endpoint: Endpoint) -> None:
    with httpx.Client(proxy=endpoint.url, timeout=LIMIT) as client:
        if scheme == "https":
            with pytest.raises(httpx.ProxyError):
                client.get("https://example.invalid/x")
        else:
            assert client.get("http://example.invalid/x").status_code == 403
    assert ["example.invalid" in stray for stray in endpoint.strays] == [True]
    assert endpoint.requests == []

"""What the conformance suite asks a server for by name: its tools, prompts and resources, over Toryo's own transport.

Toryo's operations are text in JSON. What the suite wants beside that (images, questions to the client, completion) is
declared to the SDK alone; the three plain tools below are operations, so that the suite tests the plain path as well.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import Field

from tests.server.fakes import Answer, FakeDispatcher
from toryo.domain.errors import Code, Refusal
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Later, Operation, Parameters
from toryo.operations.calls.dispatch import Outcome
from toryo.server.mcp_request import Context
from toryo.server.mcp_resource_updates import Read
from toryo.server.mcp_resources import Resources
from toryo.server.mcp_sdk import Handlers
from toryo.server.mcp_tools import Tools

PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
        "0000000d49444154789c63f8cfc0f01f0005000101ad0a2db40000000049454e44ae426082"
    )
).decode()
WAV = base64.b64encode(b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\2\0\0\0\0\0").decode()


# --- operations ------------------------------------------------------------------------------------------------------


class Patience(Parameters):
    timeout_seconds: float = Field(0.5, description="How long to work.")


class Suite(FakeDispatcher):
    """The tools that are plain text; the resources of the suite hang on `list_readable`, which everybody may."""

    def _declare(self) -> None:
        self._operation("test_simple_text", self._simple_text, bare="text")
        self._operation("test_error_handling", self._error)
        self._operation("test_tool_with_progress", self._work, Patience, waits=True)
        self._operation("list_readable", lambda *_: {"resources": []}, reads=True)

    async def list_tools_async(self, credentials: Credentials, toolset: str | None = None) -> list[Operation]:
        return [
            self.operations[name] for name in ("test_simple_text", "test_error_handling", "test_tool_with_progress")
        ]

    @staticmethod
    def _simple_text(*_: Any) -> Answer:
        return {"text": "This is a simple text response for testing."}

    @staticmethod
    def _error(*_: Any) -> Answer:
        raise Refusal(Code.CONFLICT, "This tool intentionally returns an error for testing.", "Call another tool.")

    @staticmethod
    def _work(_given: Patience, _who: Credentials, may_wait: bool) -> Answer | Later:
        return Later(frozenset({"work"})) if may_wait else {"done": True}


# --- tools -----------------------------------------------------------------------------------------------------------


def declare(handlers: Handlers, server: Server[Any]) -> None:
    """In place of what `toryo.server.mcp_sdk` declares."""
    SuiteTools(handlers, server)
    SuiteResources(handlers, server)
    server.add_request_handler("prompts/list", types.PaginatedRequestParams, list_prompts)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get_prompt)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, complete)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    server.get_tool_input_schema = SCHEMAS.get


ADDRESS = {
    "$anchor": "addressDef",
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
SCHEMAS: dict[str, dict[str, Any]] = {
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": ADDRESS},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
    "test_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "additionalProperties": False,
    },
}


def text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


def embedded(uri: str, words: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    resource = types.TextResourceContents(uri=uri, mime_type=mime_type, text=words)
    return types.EmbeddedResource(type="resource", resource=resource)


IMAGE = types.ImageContent(type="image", data=PNG, mime_type="image/png")
CONTENTS: dict[str, list[types.ContentBlock]] = {
    "test_image_content": [IMAGE],
    "test_audio_content": [types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [embedded("test://embedded-resource", "This is an embedded resource content.")],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ],
    "json_schema_2020_12_tool": [text("Thank you.")],
    "test_header": [text("Thank you.")],
    "test_logging_tool": [text("Nothing is logged to clients.")],
}


class SuiteTools(Tools):
    async def _list(self, context: Context, page: types.PaginatedRequestParams) -> types.ListToolsResult:
        plain = await super()._list(context, page)
        more = [
            types.Tool(name=name, description=f"The suite's {name}.", input_schema=SCHEMAS.get(name, NOTHING))
            for name in (*CONTENTS, *QUESTIONS, "test_missing_capability")
        ]
        return types.ListToolsResult(tools=[*plain.tools, *more])

    async def _call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        if params.name in CONTENTS:
            return types.CallToolResult(content=CONTENTS[params.name])
        if params.name in QUESTIONS:
            asked = QUESTIONS[params.name](Round(context, params))
            return types.CallToolResult(content=[text(asked)]) if isinstance(asked, str) else asked
        if params.name == "test_missing_capability" and "sampling" not in _capabilities(context):
            needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs sampling.", needed)
        return await super()._call(context, params)


def _capabilities(context: Context) -> Mapping[str, Any]:
    """What the client says it can do, in this request."""
    meta: Mapping[str, Any] = (context.params or {}).get("_meta") or {}
    found: Mapping[str, Any] = meta.get(types.CLIENT_CAPABILITIES_META_KEY) or {}
    return found


# --- questions to the client -----------------------------------------------------------------------------------------

KEY = b"of the questions in this test"


class Round:
    """One round of a call that asks its client: what it has answered so far."""

    def __init__(self, context: Context, params: types.InputResponseRequestParams) -> None:
        self.can = _capabilities(context)
        self._answers = params.input_responses or {}
        self._state = params.request_state

    def answer(self, name: str) -> dict[str, Any] | None:
        found = self._answers.get(name)
        return None if found is None else found.model_dump(by_alias=True, exclude_none=True)

    def content(self, name: str, field: str) -> Any:
        """A field of a form that was filled in."""
        answered = self.answer(name) or {}
        return (answered.get("content") or {}).get(field) if answered.get("action") == "accept" else None

    @property
    def state(self) -> str | None:
        """The state that was handed out, if any came back. Raises MCPError if it is not ours."""
        if self._state is None:
            return None
        stage, _, seal = self._state.partition(".")
        if not hmac.compare_digest(seal, _seal(stage)):
            raise MCPError(types.INVALID_PARAMS, "This requestState is not one of this server.")
        return stage


def _seal(stage: str) -> str:
    return hmac.new(KEY, stage.encode(), hashlib.sha256).hexdigest()


def ask(state: str | None = None, **questions: types.InputRequest) -> types.InputRequiredResult:
    sealed = None if state is None else f"{state}.{_seal(state)}"
    return types.InputRequiredResult(input_requests=questions, request_state=sealed)


def form(message: str, field: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(words: str, most: int) -> types.CreateMessageRequest:
    said = [types.SamplingMessage(role="user", content=text(words))]
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=said, max_tokens=most))


Asked = str | types.InputRequiredResult
NAME = form("What is your name?", "name")
CAPITAL = sample("What is the capital of France?", 100)
GREETING = sample("Generate a greeting", 50)
ROOTS = types.ListRootsRequest()
CONFIRM = form("Please confirm", "ok", "boolean")


def _name(round_: Round) -> Asked:
    name = round_.content("user_name", "name")
    return f"Hello, {name}!" if name is not None else ask(user_name=NAME)


def _sampling(round_: Round) -> Asked:
    answered = round_.answer("capital_question")
    return f"The model says: {answered['content']['text']}" if answered else ask(capital_question=CAPITAL)


def _roots(round_: Round) -> Asked:
    answered = round_.answer("client_roots")
    return f"Roots: {answered['roots']}" if answered else ask(client_roots=ROOTS)


def _confirmed(round_: Round) -> Asked:
    confirmed = round_.content("confirm", "ok")
    return "state-ok" if round_.state == "confirm" and confirmed is not None else ask("confirm", confirm=CONFIRM)


def _several(round_: Round) -> Asked:
    names = ("user_name", "greeting", "client_roots")
    if round_.state == "several" and all(round_.answer(name) for name in names):
        return "All three were answered."
    return ask("several", user_name=NAME, greeting=GREETING, client_roots=ROOTS)


def _rounds(round_: Round) -> Asked:
    if round_.state == "second" and round_.content("step2", "color") is not None:
        return "Both rounds are done."
    if round_.state == "first" and round_.content("step1", "name") is not None:
        return ask("second", step2=form("Step 2: What is your favorite color?", "color"))
    return ask("first", step1=form("Step 1: What is your name?", "name"))


def _only_what_it_can(round_: Round) -> Asked:
    questions: dict[str, types.InputRequest] = {}
    if "elicitation" in round_.can:
        questions["user_name"] = NAME
    if "sampling" in round_.can:
        questions["greeting"] = GREETING
    return (
        ask(None, **questions) if questions and not any(map(round_.answer, questions)) else "There is nothing to ask."
    )


QUESTIONS: dict[str, Callable[[Round], Asked]] = {
    "test_input_required_result_elicitation": _name,
    "test_input_required_result_sampling": _sampling,
    "test_input_required_result_list_roots": _roots,
    "test_input_required_result_request_state": _confirmed,
    "test_input_required_result_multiple_inputs": _several,
    "test_input_required_result_multi_round": _rounds,
    "test_input_required_result_tampered_state": _confirmed,
    "test_input_required_result_capabilities": _only_what_it_can,
    "test_streaming_elicitation": _name,
}


# --- resources -------------------------------------------------------------------------------------------------------

TEXTS = {
    "test://static-text": "This is the content of the static text resource.",
    "test://watched-resource": "Watched resource content.",
}
BINARY = "test://static-binary"
TEMPLATE = ("test://template/", "/data")


class SuiteResources(Resources):
    """The suite's resources. Following them is Toryo's own."""

    async def _list(self, _context: Context, _page: types.PaginatedRequestParams) -> types.ListResourcesResult:
        kinds = {**dict.fromkeys(TEXTS, "text/plain"), BINARY: "image/png"}
        return types.ListResourcesResult(
            resources=[
                types.Resource(name=uri.rpartition("/")[2], uri=uri, description=f"The suite's {uri}.", mime_type=kind)
                for uri, kind in kinds.items()
            ]
        )

    async def _list_templates(
        self, _context: Context, _page: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="template", uri_template="{id}".join(TEMPLATE), description="By id.", mime_type="application/json"
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        await self._look(params.uri, context)
        contents = _contents(params.uri)
        assert contents is not None
        return types.ReadResourceResult(contents=[contents])

    def _reader(self, uri: str, _credentials: Credentials) -> Read | None:
        if _contents(uri) is None:
            return None

        async def read(_seen: str | None, wait_seconds: int) -> Outcome:
            with contextlib.suppress(TimeoutError):  # nothing changes here
                await asyncio.wait_for(self._handlers.stopping.wait(), wait_seconds)
            return Outcome({"success": True, "etag": "1"})

        return read


def _contents(uri: str) -> types.TextResourceContents | types.BlobResourceContents | None:
    if uri == BINARY:
        return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    if uri in TEXTS:
        return types.TextResourceContents(uri=uri, mime_type="text/plain", text=TEXTS[uri])
    begin, end = TEMPLATE
    if not (uri.startswith(begin) and uri.endswith(end)):
        return None
    name = uri.removeprefix(begin).removesuffix(end)
    told = f'{{"id":"{name}","templateTest":true,"data":"Data for ID: {name}"}}'
    return types.TextResourceContents(uri=uri, mime_type="application/json", text=told)


# --- prompts, completion, levels -------------------------------------------------------------------------------------

ARGUMENTS: dict[str, list[str]] = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
    "test_input_required_result_prompt": [],
}


async def list_prompts(_context: Context, _page: types.PaginatedRequestParams) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description=f"The suite's {name}.",
                arguments=[types.PromptArgument(name=each, description="Any text.", required=True) for each in names],
            )
            for name, names in ARGUMENTS.items()
        ]
    )


async def get_prompt(
    context: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    given = params.arguments or {}
    said: list[types.ContentBlock]
    match params.name:
        case "test_simple_prompt":
            said = [text("This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            said = [text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")]
        case "test_prompt_with_embedded_resource":
            resource = embedded(given["resourceUri"], "Embedded resource content for testing.")
            said = [resource, text("Please process the embedded resource above.")]
        case "test_prompt_with_image":
            said = [IMAGE, text("Please analyze the image above.")]
        case "test_input_required_result_prompt":
            about = Round(context, params).content("user_context", "context")
            if about is None:
                return ask(user_context=form("What context should the prompt use?", "context"))
            said = [text(f"About {about}.")]
        case _:
            raise MCPError(types.INVALID_PARAMS, "There is no such prompt.")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=each) for each in said])


async def complete(_context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    known = [each for each in ("paris", "park", "party") if each.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=known, total=len(known), has_more=False))


async def set_level(_context: Context, _params: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()

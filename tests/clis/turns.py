"""What a policy sees of a model request, and what it may answer: one vocabulary for every API and every program.

How each API writes it down stands in `anthropic.py`, `gemini.py`, `responses.py` and `completions.py`. Names of MCP
tools reach a model with a prefix of the program's own; here they have none.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SERVER = "toryo"
"""The name under which every configuration in these tests knows the MCP server."""
_PREFIXES = (f"mcp__{SERVER}__", f"mcp_{SERVER}_", f"{SERVER}_", f"{SERVER}-", f"{SERVER}__")
_NAMESPACES = (f"mcp__{SERVER}", SERVER, f"mcp__{SERVER}_launch")
_SEARCHES = ("ToolSearch", "tool_search")


# --- what is asked ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tool:
    """A tool the model may call. `wire` is the name it has in this program; `ours`: it belongs to the MCP server."""

    name: str
    wire: str
    ours: bool
    schema: Mapping[str, Any] = field(default_factory=dict, hash=False)
    namespace: str | None = None
    free_text: bool = False
    """It takes a text in place of arguments (codex: apply_patch)."""


@dataclass(frozen=True)
class Result:
    """What a tool call has answered, without the program's wrapping; `data` where the text is a JSON object."""

    name: str
    arguments: Mapping[str, Any]
    text: str
    data: Mapping[str, Any] | None = None

    @property
    def refused(self) -> bool:
        """Toryo has said no."""
        return self.data is not None and self.data.get("success") is False


@dataclass(frozen=True)
class Turn:
    """One request: what the model is to continue."""

    api: str
    model: str
    system: str
    prompts: Sequence[str]
    """What the user has said, oldest first: a resumed session has several."""
    tools: Mapping[str, Tool]
    results: Sequence[Result]
    """Of all tool calls of the conversation, oldest first."""
    number: int
    """1 for the first answer of the conversation."""
    headers: Mapping[str, str]
    """Names in lower case."""
    path: str
    fresh: Sequence[Result] = ()
    """The results that came since the model's last answer."""

    @property
    def prompt(self) -> str:
        return self.prompts[-1] if self.prompts else ""

    @property
    def last(self) -> Result | None:
        return self.results[-1] if self.results else None

    @property
    def side(self) -> bool:
        """No work of the agent's: a title for the session and the like. Nothing of Toryo's is offered."""
        return not any(tool.ours for tool in self.tools.values()) and self.search is None

    @property
    def search(self) -> Tool | None:
        """The tool by which a program hands out tools that it holds back."""
        return next((self.tools[name] for name in _SEARCHES if name in self.tools), None)


# --- what is answered ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Say:
    text: str


@dataclass(frozen=True)
class CallTool:
    """A tool by its bare name."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class WriteFile:
    """By the program's own tool for files, else by its shell."""

    path: str
    text: str


@dataclass(frozen=True)
class Shell:
    """By the program's own tool for commands."""

    command: str


@dataclass(frozen=True)
class Usage:
    """Tokens of one answer. `input` counts all of the input, `cached` of it came from a cache."""

    input: int = 100
    output: int = 10
    cached: int = 0


@dataclass(frozen=True)
class Reply:
    """Several things in one answer (calls among them are parallel), with the tokens they cost."""

    parts: Sequence[Say | CallTool | WriteFile | Shell]
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Fault:
    """An HTTP error as the API words it, or with a body of one's own."""

    status: int
    message: str = ""
    retry_after: int | None = None
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Garbage:
    """200, and a stream that is none."""

    text: str = "data: {not json\n\n<html>Bad gateway</html>\n\n"


@dataclass(frozen=True)
class Hang:
    """Nothing, until the endpoint closes."""


@dataclass(frozen=True)
class Cut:
    """The connection ends within an answer: without a word, or, `told`, so that the client's HTTP notices it."""

    told: bool = True


@dataclass(frozen=True)
class Slow:
    """The answer comes when the event is set (or the endpoint closes)."""

    until: threading.Event = field(hash=False)
    then: Answer


Part = Say | CallTool | WriteFile | Shell
Answer = Part | Reply | Fault | Garbage | Hang | Cut | Slow | list[Part]
Policy = Callable[[Turn], Answer]


# --- names -----------------------------------------------------------------------------------------------------------


def bare(wire: str, namespace: str | None = None) -> tuple[str, bool]:
    """The name without the program's prefix, and whether it is one of the MCP server's."""
    if namespace is not None:
        return wire, namespace.removesuffix("__") in _NAMESPACES
    for prefix in _PREFIXES:
        if wire.startswith(prefix):
            return wire.removeprefix(prefix), True
    return wire, False


def offered(wires: Sequence[tuple[str, Mapping[str, Any], str | None, bool]]) -> dict[str, Tool]:
    """The tools by bare name; the MCP server's win over a program's own of the same name."""
    found: dict[str, Tool] = {}
    for wire, schema, namespace, free_text in wires:
        name, ours = bare(wire, namespace)
        if ours or name not in found:
            found[name] = Tool(name, wire, ours, schema, namespace, free_text)
    return found


# --- results ---------------------------------------------------------------------------------------------------------

_STRUCTURED = '"structuredContent":'
_CODEX_HEAD = re.compile(r"\A(?:Wall time: .*?)\nOutput:\n", re.DOTALL)


def result(name: str, arguments: Any, content: Any) -> Result:
    """A tool's answer out of whatever the program has wrapped around it."""
    text = unwrapped(content)
    return Result(bare(name)[0], arguments if isinstance(arguments, dict) else {}, text, json_in(text))


def unwrapped(content: Any) -> str:
    """The text within lists of blocks, `output` and `content` keys, and heads about the time it took."""
    if isinstance(content, str):
        return _text(content)
    if isinstance(content, list):
        return "\n".join(unwrapped(each) for each in content)
    if isinstance(content, dict):
        for key in ("text", "output", "content", "error"):
            if key in content and len(content) <= 3:
                return unwrapped(content[key])
        return json.dumps(content)
    return "" if content is None else str(content)


def _text(content: str) -> str:
    inner = _CODEX_HEAD.sub("", content)
    try:
        value = json.loads(inner)
    except ValueError:
        return inner
    wrapped = isinstance(value, list) or (isinstance(value, dict) and set(value) <= {"output", "content", "type"})
    return unwrapped(value) if wrapped and value else inner


def json_in(text: str) -> Mapping[str, Any] | None:
    """The JSON object that the text is, or that it begins somewhere.

    Around a refusal Gemini tells its own call and the whole result: what is meant stands in its structured content.
    """
    start = text.find("{", max(text.find(_STRUCTURED), 0))
    if start < 0:
        return None
    try:
        found, _ = json.JSONDecoder().raw_decode(text[start:])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def arguments_of(text: Any) -> dict[str, Any]:
    """Arguments as APIs write them: an object, or the JSON text of one."""
    if isinstance(text, dict):
        return text
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}

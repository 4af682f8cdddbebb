"""What a policy answers, as calls in a program's own words: names with its prefix, its own tools for files and shell.

A tool of the MCP server that a program holds back is asked for first, by the program's search tool; the policy, which
sees no result of that, answers the same again.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clis.turns import SERVER, Answer, CallTool, Part, Reply, Say, Shell, Turn, Usage, WriteFile


@dataclass(frozen=True)
class WireCall:
    """A call as it goes over the wire; `text` in place of arguments for a tool that takes a text."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    namespace: str | None = None
    text: str | None = None


@dataclass(frozen=True)
class WireReply:
    """What the model says and calls, ready to be written down."""

    id: str
    model: str
    texts: Sequence[str]
    calls: Sequence[WireCall]
    usage: Usage


class NoSuchTool(Exception):
    """The policy wants a tool that the program does not offer: a mistake of the test, answered as an error."""


Own = Callable[[str, str], dict[str, Any]]

_FILES: Mapping[str, Own] = {
    "Write": lambda path, text: {"file_path": path, "content": text},
    "write_file": lambda path, text: {"file_path": path, "content": text},
    "write": lambda path, text: {"filePath": path, "content": text},
    "create": lambda path, text: {"path": path, "file_text": text},
}
"""The tools that write a file, by name: Claude Code; Gemini and Qwen; opencode; Copilot. Codex has none but a patch."""

_SHELLS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "Bash": lambda command: {"command": command, "description": "as told"},
    "run_shell_command": lambda command: {"command": command, "description": "as told", "is_background": False},
    "exec_command": lambda command: {"cmd": command},
    "shell_command": lambda command: {"command": command},
    "shell": lambda command: {"command": ["sh", "-c", command]},
    "bash": lambda command: {"command": command, "description": "as told"},
}
"""The tools that run a command: Claude Code; Gemini and Qwen; Codex (three, by version); opencode and Copilot."""


def wired(turn: Turn, answer: Answer, call_id: Callable[[], str]) -> WireReply:
    """Raises NoSuchTool."""
    reply = as_reply(answer)
    texts = [part.text for part in reply.parts if isinstance(part, Say)]
    wanted = [_as_call(turn, part) for part in reply.parts if not isinstance(part, Say)]
    calls = [_wire_call(turn, call_tool, call_id()) for call_tool in _behind_search(turn, wanted)]
    return WireReply(call_id(), turn.model, texts, calls, reply.usage)


def as_reply(answer: Answer) -> Reply:
    """Single parts, and lists of them, cost what an answer costs by default."""
    if isinstance(answer, Reply):
        return answer
    parts: list[Part] = answer if isinstance(answer, list) else [answer]  # type: ignore[list-item]
    return Reply(parts)


def _as_call(turn: Turn, part: Part) -> CallTool:
    if isinstance(part, WriteFile):
        return _writing(turn, part)
    if isinstance(part, Shell):
        return _running(turn, part)
    assert isinstance(part, CallTool)
    return part


def _writing(turn: Turn, part: WriteFile) -> CallTool:
    for name, arguments in _FILES.items():
        if name == "create" and _own(turn, name) and (path := Path(part.path)).exists():
            # Copilot's tool replaces no file: a model edits it
            changed = {"path": part.path, "old_str": path.read_text(), "new_str": part.text}
            return CallTool("edit", _fitting(turn, "edit", changed))
        if _own(turn, name):
            return CallTool(name, _fitting(turn, name, arguments(part.path, part.text)))
    folder = shlex.quote(part.path.rpartition("/")[0] or ".")
    return _running(turn, Shell(f"mkdir -p {folder} && printf %s {shlex.quote(part.text)} > {shlex.quote(part.path)}"))


def _running(turn: Turn, part: Shell) -> CallTool:
    for name, arguments in _SHELLS.items():
        if _own(turn, name):
            return CallTool(name, _fitting(turn, name, arguments(part.command)))
    raise NoSuchTool(f"no tool for a shell among {sorted(turn.tools)}")


def _own(turn: Turn, name: str) -> bool:
    return name in turn.tools and not turn.tools[name].ours


def _fitting(turn: Turn, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Without what this version of the tool does not take."""
    known = turn.tools[name].schema.get("properties")
    return {key: value for key, value in arguments.items() if not known or key in known}


def _behind_search(turn: Turn, wanted: Sequence[CallTool]) -> Sequence[CallTool]:
    missing = [call_tool.name for call_tool in wanted if call_tool.name not in turn.tools]
    if not missing or turn.search is None:
        return wanted
    return [CallTool(turn.search.name, {"query": "select:" + ",".join(f"mcp__{SERVER}__{each}" for each in missing)})]


def _wire_call(turn: Turn, call: CallTool, call_id: str) -> WireCall:
    tool = turn.tools.get(call.name)
    if tool is None:
        return WireCall(call_id, _unknown(turn, call.name), call.arguments)
    text = str(call.arguments.get("input", "")) if tool.free_text else None
    return WireCall(call_id, tool.wire, call.arguments, tool.namespace, text)


def _unknown(turn: Turn, name: str) -> str:
    """Models do call what was never offered: under the name it would have."""
    ours = next((tool for tool in turn.tools.values() if tool.ours and tool.namespace is None), None)
    return name if ours is None else ours.wire.removesuffix(ours.name) + name

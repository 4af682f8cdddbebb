"""The tool `help`: which tools there are, and why the caller may not call one now."""

from __future__ import annotations

from typing import NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain.errors import Code, Refusal
from toryo.domain.wording import say
from toryo.operations.calls import permissions
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Available, Operation, Parameters, operation, tools
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import JsonObject, Result

FORMER_NAMES = {
    "exit": 'Now select_action("wait"): leave until your workers are done.',
    "delegate": 'Now select_action("start"): assign and start tasks. To have your chat session talk to someone: '
    "delegate_to_chat_session.",
    "needs_assignment": 'Now part of select_action("start"): assign_task, then update_task_status.',
    "needs_start": 'For managers, now part of select_action("start"). Workers are told start_subtask.',
    "waiting_for_dependencies": 'Now part of select_action("wait").',
    "get_pending_tasks": "Now get_my_task. It still answers.",
    "report_execution_start": "Nothing to do: get_my_task records the start. It still answers.",
    "report_execution_complete": "Now report_completed. It still answers.",
}
"""Names of the older protocol that agents may still know: asked for by name they are explained, never listed."""


class Help(Parameters):
    tool_name: str | None = Field(None, max_length=100, description="Only this tool, with all its parameters.")


class RefusedNow(TypedDict):
    """Why the caller may not call a tool now."""

    error: str
    why: str


class RefusedTool(RefusedNow):
    name: str


class RefusedInDetail(RefusedNow):
    instruction: str


class HelpedTool(TypedDict):
    """A tool; asked for by its name, with its parameters as JSON Schema, and why it may not be called now."""

    name: str
    description: str
    parameters: NotRequired[JsonObject]
    not_now: NotRequired[RefusedInDetail]


class Helped(Result):
    tools: list[HelpedTool]
    not_now: NotRequired[list[RefusedTool]]
    message: NotRequired[str]


@operation(
    "help",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT | Audience.QUEUE,
    available=Available.ALWAYS,
    grant=Grant.OPEN,
    parameters=Help,
    reads=True,
    little=True,
)
def help_(call: Call, wanted: Help) -> Helped:
    """Returns the tools that you may call now, and why not the others."""
    if wanted.tool_name is not None:
        return _about(call, wanted.tool_name)
    may: list[HelpedTool] = []
    may_not: list[RefusedTool] = []
    for tool in tools():
        if tool.name in FORMER_NAMES:
            continue
        refusal = _refusal(call, tool)
        if refusal is None:
            may.append({"name": tool.name, "description": tool.summary})
        else:
            may_not.append({"name": tool.name, "error": refusal.code.value, "why": refusal.message})
    return {"success": True, "tools": may, "not_now": may_not}


def _about(call: Call, name: str) -> Helped:
    if name in FORMER_NAMES:
        return {"success": True, "tools": [], "message": FORMER_NAMES[name]}
    found = next((tool for tool in tools() if tool.name == name), None)
    if found is None:
        raise Refusal(
            Code.TOOL_NOT_FOUND,
            say("There is no tool {name!r}.", name=name),
            "Call help without arguments to list all tools.",
        )
    refusal = _refusal(call, found)
    about: HelpedTool = {"name": name, "description": found.summary, "parameters": found.input_schema}
    if refusal is not None:
        about["not_now"] = {"error": refusal.code.value, "why": refusal.message, "instruction": refusal.instruction}
    return {"success": True, "tools": [about]}


def _refusal(call: Call, each: Operation) -> Refusal | None:
    try:
        permissions.refuse(each, call.caller)
    except Refusal as refusal:
        return refusal
    return None

"""What anybody may call: is the server well, and which tools there are."""

from __future__ import annotations

from typing import Any, NotRequired

from pydantic import Field

import toryo
from toryo.domain.errors import Code, Refusal
from toryo.domain.times import iso
from toryo.domain.wording import say
from toryo.operations.calls import permissions, server_id
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Available, NoParameters, Operation, Parameters, operation, tools
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result

FORMER_NAMES = {
    "exit": "Now called wait: leave until your workers are done (select_action).",
    "delegate": "Now called start: assign and start tasks (select_action). To delegate talk, a chat session is used.",
    "needs_assignment": "Now part of start: assign_task, then update_task_status.",
    "needs_start": "For managers now part of start; workers are told start_subtask.",
    "waiting_for_dependencies": "Now part of wait.",
}
"""Names of the older protocol that agents may still know."""


class Health(Result):
    status: str
    version: str
    server_id: str
    timestamp: str


@operation("health_check", available=Available.ALWAYS, grant=Grant.OPEN, result=Health, reads=True)
def health_check(call: Call, _: NoParameters) -> dict[str, Any]:
    """Whether the server is well, and which one it is: `server_id` is that of its database, whatever its address."""
    told = {"status": "ok", "version": toryo.__version__, "server_id": server_id.of(call.tx)}
    return {"success": True, **told, "timestamp": iso(call.now)}


class Measures(Result):
    measures: list[dict[str, Any]]


@operation("read_measures", grant=Grant.INTERNAL, result=Measures, tool=False, reads=True)
def read_measures(call: Call, _: NoParameters) -> dict[str, Any]:
    """How many tasks, sessions, launches and claims there are, for /metrics; where the settings open it."""
    if not call.context.settings.metrics:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "This server does not tell how it is doing.",
            "Start it with TORYO_METRICS=true to open /metrics.",
        )
    faults = {"name": "internal_errors", "labels": {}, "value": call.context.faults.total}
    return {"success": True, "measures": [*call.tx.measures(), faults]}


class Help(Parameters):
    tool_name: str | None = Field(None, max_length=100, description="Only this tool, in detail.")


class Helped(Result):
    tools: list[dict[str, Any]]
    not_now: NotRequired[list[dict[str, Any]]]
    message: NotRequired[str]


@operation(
    "help",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.ALWAYS,
    grant=Grant.OPEN,
    parameters=Help,
    result=Helped,
    reads=True,
)
def help_(call: Call, wanted: Help) -> dict[str, Any]:
    """The tools you may call now, and why the others are not for you now."""
    if wanted.tool_name is not None:
        return _about(call, wanted.tool_name)
    may, may_not = [], []
    for each in tools():
        refusal = _refusal(call, each)
        if refusal is None:
            may.append({"name": each.name, "description": each.summary})
        else:
            may_not.append({"name": each.name, "error": refusal.code.value, "why": refusal.message})
    return {"success": True, "tools": may, "not_now": may_not}


def _about(call: Call, name: str) -> dict[str, Any]:
    if name in FORMER_NAMES:
        return {"success": True, "tools": [], "message": FORMER_NAMES[name]}
    found = next((each for each in tools() if each.name == name), None)
    if found is None:
        raise Refusal(
            Code.TOOL_NOT_FOUND,
            say("There is no tool {name!r}.", name=name),
            "Call help without arguments for all of them.",
        )
    refusal = _refusal(call, found)
    about: dict[str, Any] = {"name": name, "description": found.summary, "parameters": found.input_schema}
    if refusal is not None:
        about["not_now"] = {"error": refusal.code.value, "why": refusal.message, "instruction": refusal.instruction}
    return {"success": True, "tools": [about]}


def _refusal(call: Call, each: Operation) -> Refusal | None:
    try:
        permissions.refuse(each, call.caller)
    except Refusal as refusal:
        return refusal
    return None

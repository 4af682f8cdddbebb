"""Validates arguments against the declared parameters before any transaction; reports every mistake."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Mapping
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from toryo import wrong_values
from toryo.deeds import Word
from toryo.domain.errors import Code, Refusal
from toryo.domain.wording import Worded, say, together
from toryo.nearest import nearest
from toryo.operations.calls import meant_arguments, toolsets
from toryo.operations.calls.callers import Caller
from toryo.operations.calls.catalogue import (
    MOST_NAMES,
    NoParameters,
    Operation,
    Parameters,
    catalogue,
    tools,
)
from toryo.operations.calls.grants import Door, Grant
from toryo.operations.calls.permissions import is_allowed, refuse

_NONE = NoParameters()
_LONGEST_NAME = 100
_OF_PEOPLE = frozenset({Grant.PERSON, Grant.WRITER, Grant.OWNER})


def parameters_of(operation: Operation, arguments: dict[str, Any]) -> BaseModel | Refusal:
    """The arguments as the declared parameters, or what names each mistake and the nearest valid name."""
    if not arguments and operation.parameters is NoParameters:
        return _NONE
    try:
        if len(arguments) <= MOST_NAMES:
            _refuse_unstorable(operation, arguments)
        return operation.parameters.model_validate(arguments)
    except Refusal as refusal:
        return refusal
    except ValidationError as invalid:
        return _invalid(operation, invalid, arguments)


def meant_by(operation: Operation, arguments: dict[str, Any]) -> tuple[BaseModel | Refusal, tuple[str, ...]]:
    """The same for a call of a model, and the names that were ignored."""
    if not arguments and operation.parameters is NoParameters:
        return _NONE, ()
    try:
        if len(arguments) <= MOST_NAMES:
            _refuse_unstorable(operation, arguments)
        return meant_arguments.read(operation.parameters, arguments)
    except Refusal as refusal:
        return refusal, ()
    except ValidationError as invalid:
        return _invalid(operation, invalid, arguments), ()


def _refuse_unstorable(operation: Operation, arguments: dict[str, Any]) -> None:
    """What JSON can hold but no column, log line or answer: seen here once, not where it would break something."""
    try:
        dumped = orjson.dumps(arguments)
    except TypeError as error:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say(
                "{operation_name}: the arguments contain a value that cannot be stored ({error}).",
                operation_name=operation.name,
                error=str(error),
            ),
            "Remove unpaired surrogates, numbers beyond 64 bits, and JSON nested more than 250 levels deep.",
        ) from None
    # what programs print is a Coordinator's to report as it is; those operations make it readable themselves
    if b"\\u0000" in dumped and operation.grant is not Grant.COORDINATOR and _has_nul(dumped):
        raise Refusal(
            Code.VALIDATION_ERROR,
            say(
                "{operation_name}: a text contains a NUL character, which cannot be stored.",
                operation_name=operation.name,
            ),
            "Remove NUL characters and call it again.",
        )


def _has_nul(dumped: bytes) -> bool:
    """Whether JSON as orjson writes it holds an escaped NUL, and not just an escaped backslash before `u0000`."""
    return b"\\u0000" in dumped.replace(b"\\\\", b"")


def _invalid(operation: Operation, invalid: ValidationError, arguments: Mapping[str, Any]) -> Refusal:
    """How many mistakes there can be is bounded by the declarations: of names, of items of a list (`Parameters`)."""
    errors = invalid.errors(include_url=False, include_input=False)
    too_long = all(
        error["type"] in ("string_too_long", "too_long", "json_too_long", "command_too_long") for error in errors
    )
    mistakes = [
        {"parameter": ".".join(_short(part) for part in error["loc"]), "problem": _problem(error)}
        for error in errors[:20]
    ]
    known = list(operation.parameters.model_fields)
    meant = operation.parameters.names_for(arguments) if issubclass(operation.parameters, Parameters) else known
    unknown = (
        _short(error["loc"][0]) for error in errors if error["type"] == "extra_forbidden" and len(error["loc"]) == 1
    )
    hints = [_nearest(name, known) for name in itertools.islice(unknown, 5)]
    listed = (
        say("{parameter}: {problem}", parameter=mistake["parameter"], problem=mistake["problem"])
        if mistake["parameter"]
        else mistake["problem"]
        for mistake in mistakes[:5]
    )
    told = together(listed, "; ")
    instruction = together(hints) or say("{call:Fix these, then call it again.}", call=Word(operation.name))
    with_limit = all(error["type"] in ("json_too_long", "command_too_long") for error in errors)
    return Refusal(
        Code.TOO_LARGE if too_long else Code.VALIDATION_ERROR,
        say("{call:…: }{told}.", call=Word(operation.name), told=told),
        say(
            "{instruction}{names: Its parameters: ….}", instruction=instruction, names=Word(", ".join(meant) or "none")
        ),
        errors=mistakes,
        **({"limit": errors[0]["ctx"]["most"]} if with_limit else {}),
    )


def _short(name: object) -> str:
    """A name as an answer repeats it, and as near ones are looked for: both cost by its length."""
    return str(name)[:_LONGEST_NAME]


def _problem(mistake: Mapping[str, Any]) -> Worded:
    """What is wrong with one value, and by pydantic's type of mistake what other languages say."""
    return Worded(
        wrong_values.in_words(mistake), wrong_values.kind(mistake), dict(mistake.get("ctx", {})), context="pydantic"
    )


def _nearest(name: str, known: list[str]) -> Worded:
    close = nearest(name, known)
    if close is None:
        return say("Omit {name}.", name=name)
    return say("Did you mean {close} instead of {name}?", close=close, name=name)


def no_such_tool(name: str, door: Door, caller: Caller) -> Refusal:
    """Near names are those of tools that this caller is shown or may call; what only people do is said to be theirs."""
    known = catalogue().get(name)
    if door is Door.MCP and known is not None and known.grant in _OF_PEOPLE and not caller.is_person:
        try:
            refuse(known, caller)
        except Refusal as refusal:
            return refusal
    shown = {tool.name for tool in toolsets.tools_for(caller)}
    names = [tool.name for tool in tools() if tool.name in shown or is_allowed(tool, caller)]
    close = difflib.get_close_matches(_short(name), names, 3)
    instruction = say("Did you mean {names}?", names=" or ".join(close)) if close else "Call help for a list of tools."
    return Refusal(Code.TOOL_NOT_FOUND, say("There is no tool {name!r}.", name=_short(name)), instruction)

"""The parameters of an operation as JSON Schema: whole, and as `tools/list` shows them.

Every agent pays for the list at each start, so it has what a model needs to call a tool correctly, and nothing else.
What is not shown is still accepted: `help(tool_name)` shows it, and a refusal names the limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Flag
from functools import cache
from typing import Any, Final

from pydantic import BaseModel

from toryo.domain.fast_dataclasses import dataclass

_MARK: Final = "x-listed"
_ONLY_FOR, _CHOICES, _PLAIN = f"{_MARK}-for", f"{_MARK}-choices", f"{_MARK}-plain"

PLAIN: Final[dict[str, Any]] = {_PLAIN: True}
"""For `json_schema_extra`: name and type say it all, so there must be a type. The description is for the reference and
`help`."""


def listed_for(audience: Flag, *, plain: bool = False) -> dict[str, Any]:
    """For `json_schema_extra`: only these are shown the parameter; the empty audience is nobody."""
    return {_ONLY_FOR: audience.value, **(PLAIN if plain else {})}


def listed_choices(*choices: str, plain: bool = True) -> dict[str, Any]:
    """For `json_schema_extra`: of the accepted values those that a model should choose from."""
    return {_CHOICES: list(choices), **(PLAIN if plain else {})}


@dataclass(frozen=True, slots=True)
class Form:
    """How an operation is shown to one kind of caller, where it is several tools in one.

    `words` are descriptions that replace the declared ones.
    """

    without: frozenset[str] = frozenset()
    required: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict, hash=False)
    summary: str = ""
    """Replaces the operation's own, which describes all of the tools."""


@cache
def whole(parameters: type[BaseModel]) -> dict[str, Any]:
    """As declared, without the titles that pydantic adds."""
    schema: dict[str, Any] = _clean(parameters.model_json_schema(by_alias=True))
    return schema


@cache
def listed_schema(
    parameters: type[BaseModel], form: Form | None, audience: Flag, asks_for: str | None
) -> dict[str, Any]:
    """As `tools/list` shows them to this audience. `asks_for` is a token that the caller has to pass."""
    declared = parameters.model_json_schema(by_alias=True)
    declared = declared if form is None else _formed(declared, form)
    shown = _Brief(declared.get("$defs", {}), audience).of(declared)
    shown.pop("description", None)  # the docstring of the model
    if asks_for:
        told = "From authenticate." if asks_for == "session_token" else "Your API key."
        token = {"type": "string", "description": told}
        shown = {**shown, "properties": {**shown.get("properties", {}), asks_for: token}}
    return shown


def _formed(schema: dict[str, Any], form: Form) -> dict[str, Any]:
    kept = {name: each for name, each in schema["properties"].items() if name not in form.without}
    for name, text in form.words.items():
        kept[name] = {**{key: value for key, value in kept[name].items() if key != _PLAIN}, "description": text}
    required = list(form.required) or schema.get("required", [])
    return {**schema, "properties": kept, "required": required}


_KEPT: Final = ("description", "type", "enum", "const", "items", "properties", "required", "anyOf", "maximum")
"""Keywords in their order. Lengths, patterns and unknown names are left to the server, which refuses and says why;
so are defaults: a model leaves out what it has nothing to say about."""


class _Brief:
    def __init__(self, defined: Mapping[str, Any], audience: Flag) -> None:
        self._defined = defined
        self._audience = audience

    def of(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Definitions are written where they are used: that is shorter, and every client reads it."""
        schema = self._resolved(self._simplest(self._resolved(schema)))
        brief: dict[str, Any] = {key: schema[key] for key in _KEPT if key in schema}
        if schema.get(_PLAIN):
            brief.pop("description", None)
        if "enum" in brief:
            brief["enum"] = schema.get(_CHOICES) or _choices(brief["enum"])
        if "items" in brief:
            brief["items"] = _typed(self.of(brief["items"]))
        if "anyOf" in brief:
            brief["anyOf"] = [self.of(each) for each in brief["anyOf"]]
        if "properties" in brief:
            brief["properties"] = {
                name: _typed(self.of(each)) for name, each in brief["properties"].items() if self._is_for_them(each)
            }
            brief["required"] = [name for name in brief.get("required", ()) if name in brief["properties"]]
            if not brief["required"]:
                del brief["required"]
        if schema.get("minimum", 0) > 1:
            brief["minimum"] = schema["minimum"]
        return brief

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A reference replaced by what it refers to, without the docstring of that model."""
        if "$ref" not in schema:
            return schema
        definition = dict(self._defined[schema["$ref"].rpartition("/")[2]])
        definition.pop("description", None)
        return {**definition, **{key: value for key, value in schema.items() if key != "$ref"}}

    def _is_for_them(self, schema: dict[str, Any]) -> bool:
        return bool(schema.get(_ONLY_FOR, self._audience.value) & self._audience.value)

    def _simplest(self, schema: dict[str, Any]) -> dict[str, Any]:
        """What may be null need not say so, nor what may be a text that it may be something else, too; objects that one
        name tells apart are one with the names of all."""
        others = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
        if not others or (len(others) < len(schema["anyOf"]) and "default" not in schema):
            return schema
        kept = {key: value for key, value in schema.items() if key != "anyOf"}
        others = [each for each in others if each.get("type") == "string"] or others
        if len(others) == 1:
            return {**others[0], **kept}
        objects = [self._resolved(each) for each in others]
        if any(one.get("type") != "object" for one in objects):
            return {**kept, "anyOf": others}
        names = {name: each for one in objects for name, each in one["properties"].items()}
        required = [set(one.get("required", ())) for one in objects]
        needed = set.intersection(*required)
        if any(len(each - needed) > 1 for each in required):
            return {**kept, "anyOf": others}
        return {"type": "object", "properties": names, "required": sorted(needed), **kept}


def _typed(brief: dict[str, Any]) -> dict[str, Any]:
    """Data of any shape is listed as text, and read as the JSON that it is: some clients drop or refuse what has no
    type, and Gemini's API refuses all tools if one has an object of unknown properties."""
    if brief.get("type") == "object":
        return brief if "properties" in brief else {**brief, "type": "string"}
    return brief if {"type", "anyOf", "enum", "const"} & {*brief} else {**brief, "type": "string"}


_ALSO_TAKEN: Final = {"pending": "todo", "done": "completed", "urgent": "critical"}
"""Other names of the same choice: accepted, and not worth a token."""


def _choices(values: list[Any]) -> list[Any]:
    return [each for each in values if _ALSO_TAKEN.get(each) not in values]


def _clean(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_clean(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _clean(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "description" and value == "")
        and not key.startswith(_MARK)
    }

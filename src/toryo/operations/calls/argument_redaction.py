"""The arguments of a call as the log shows them: ids, names, numbers and choices, and never a secret.

Texts and objects of people and agents (messages, shared values, results, contexts) are logged by size only: readers of
the log may not be allowed to read them, and pasted secrets cannot always be recognised. The parameter declarations
decide which parameters these are.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import orjson
from pydantic import BaseModel

from toryo.domain import log_redaction

LONGEST_TEXT = 300
"""Characters that a declared text may have to be shown: ids, names and titles do."""
_LONGEST_NAME = 100
_MOST = 20
"""Parameters that are named, and items of a list that are shown."""


def logged_text(parameters: type[BaseModel], arguments: dict[str, Any]) -> str:
    """The arguments as a log line has them: JSON."""
    plain = _plain(parameters)
    told = {}
    for name, value in itertools.islice(arguments.items(), _MOST):
        shown_name, secret = _declared(name) if name in parameters.model_fields else _name(name)
        told[shown_name] = log_redaction.MASK if secret else _value(value, plain=name in plain)
    if len(arguments) > _MOST:
        told["…"] = f"({len(arguments) - _MOST} more)"
    return orjson.dumps(told).decode()


def _name(name: str) -> tuple[str, bool]:
    """The name as it is shown, and whether its value is a secret."""
    return _speakable(log_redaction.hide_secrets(name[:_LONGEST_NAME])), log_redaction.is_named(name)


_declared = cache(_name)
"""The names of parameters are few; what else callers send is not remembered."""


def _value(value: Any, *, plain: bool) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if plain and abs(value) < 2**53 else "(number)"
    if isinstance(value, str):
        if plain and len(value) <= LONGEST_TEXT:
            return _speakable(log_redaction.hide_secrets(value))
        return f"(text of {len(value)} characters)"
    if isinstance(value, list):
        if plain and len(value) <= _MOST and all(isinstance(each, str | int) for each in value):
            return [_value(each, plain=True) for each in value]
        return f"(list of {len(value)})"
    return f"(object of {len(value)})" if isinstance(value, dict) else f"({type(value).__name__})"


def _speakable(text: str) -> str:
    """Without half characters, which JSON can spell and nobody can write down."""
    return text.encode(errors="replace").decode()


@cache
def _plain(parameters: type[BaseModel]) -> frozenset[str]:
    schema = parameters.model_json_schema(by_alias=True)
    defined = schema.get("$defs", {})
    return frozenset(name for name, each in schema.get("properties", {}).items() if _is_plain(each, defined))


def _is_plain(schema: dict[str, Any], defined: dict[str, Any]) -> bool:
    if "$ref" in schema:
        return _is_plain(defined[schema["$ref"].rpartition("/")[2]], defined)
    if "anyOf" in schema:
        return all(_is_plain(each, defined) for each in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return True
    kind = schema.get("type")
    if kind == "array":
        return _is_plain(schema.get("items", {}), defined)
    if kind == "string":
        return bool(schema.get("maxLength", LONGEST_TEXT + 1) <= LONGEST_TEXT)
    return kind in ("integer", "number", "boolean", "null")

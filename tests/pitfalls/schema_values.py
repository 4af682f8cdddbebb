"""Values and calls that a JSON schema allows, made from it: a list by hand cannot keep up with the declarations."""

from __future__ import annotations

from typing import Any

from tests.stories import Answer


def values(schema: Answer, defined: Answer) -> list[Any]:
    """Values of a schema: every choice, else the smallest; of an object, with each of its properties."""
    if "$ref" in schema:
        schema = {**defined[schema["$ref"].rsplit("/", 1)[1]], **schema}
    if "const" in schema or "enum" in schema:
        return list(schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return [value for each in schema["anyOf"] for value in values(each, defined)]
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        return [value for each in kind for value in values({**schema, "type": each}, defined)]
    if kind == "array":
        return [[value] for value in values(schema.get("items", {}), defined)]
    if kind == "object":
        return calls(schema, defined)
    number = schema.get("minimum", 1)
    text = "x" * max(1, schema.get("minLength", 1))
    return {"string": [text], "integer": [number], "number": [number], "boolean": [True, False], "null": [None]}[kind]


def calls(schema: Answer, defined: Answer) -> list[Answer]:
    """Arguments of an object's schema: what is required, and with it each value of each property."""
    properties = schema.get("properties", {})
    base = {name: values(properties[name], defined)[0] for name in schema.get("required", ())}
    if "command" in properties and not base:  # one of two kinds of acceptance check
        return [{"command": value} for value in values(properties["command"], defined)] + [{"file": "x"}]
    if schema.get("minProperties"):
        return [{name: each} for name, of in properties.items() for each in values(of, defined) if each is not None]
    return [base, *({**base, name: each} for name, of in properties.items() for each in values(of, defined))]

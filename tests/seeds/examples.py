"""Comparing answers and schemas with the JSON examples of the seed documents: keys and types, not values."""

from __future__ import annotations

from typing import Any

from toryo.operations.calls.catalogue import Operation, catalogue


def like(example: Any, answer: Any, at: str = "") -> None:
    """The answer has every key of the example, each of the example's type; further keys may come along."""
    if isinstance(example, dict):
        assert isinstance(answer, dict), f"{at}: {answer!r}"
        missing = sorted(set(example) - set(answer))
        assert not missing, f"{at or 'the answer'} lacks {missing}: {answer}"
        for key, value in example.items():
            like(value, answer[key], f"{at}.{key}")
        return
    if isinstance(example, list):
        assert isinstance(answer, list), f"{at}: {answer!r}"
        for each in answer if example else ():
            like(example[0], each, f"{at}[]")
        return
    assert type(answer) is type(example), f"{at}: {answer!r} is not like {example!r}"


def takes(name: str, schema: dict[str, Any]) -> None:
    """The tool of that name takes what the example's inputSchema describes: names, types, choices, what is required."""
    operation: Operation = catalogue()[name]
    ours = operation.input_schema
    assert set(schema["properties"]) <= set(ours["properties"])
    assert sorted(ours.get("required", [])) == sorted(schema["required"])
    for parameter, wanted in schema["properties"].items():
        forms = _forms(ours["properties"][parameter])
        assert wanted["type"] in {form.get("type") for form in forms}, parameter
        if "enum" in wanted:
            assert any(set(wanted["enum"]) <= set(form.get("enum", ())) for form in forms), parameter


def _forms(schema: dict[str, Any]) -> list[dict[str, Any]]:
    forms: list[dict[str, Any]] = schema.get("anyOf", [schema])
    return forms

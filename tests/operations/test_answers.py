"""Answers are types: what a handler is annotated to answer is what its operation promises, and mypy reads the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema_rs import Draft202012Validator

from tests.server.http import references
from tests.stories import World, hold_to_promise
from toryo import operations
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import NoParameters, catalogue, operation, tools
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.grants import Grant

ROOT = Path(operations.__file__).parent


def _answers() -> dict[str, str]:
    """What the declared handlers are annotated to answer."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(map(_declares, node.decorator_list)):
                told = ast.unparse(node.returns) if node.returns else ""
                found[f"{path.stem}.{node.name}"] = re.sub(
                    r"^dict\[Asked\[\w+\], (.*)\]$", r"\1", told
                )  # of many calls
    return found


def _declares(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "operation"


def test_every_handler_answers_a_declared_type() -> None:
    answers = _answers()
    assert len(answers) > 100
    loose = ("dict", "Mapping", "Any", "JsonObject")
    assert {name: told for name, told in answers.items() if not told or any(each in told for each in loose)} == {}


def test_a_handler_without_a_declared_answer_cannot_be_an_operation() -> None:
    def loose(call: Call, _: NoParameters) -> dict[str, Any]:
        """Answers anything."""
        return {}

    with pytest.raises(TypeError, match="loose: the return annotation names no declared type"):
        operation("loose", grant=Grant.OPEN)(loose)
    assert "loose" not in catalogue()


OTHERS_JSON = {
    "answer",
    "arguments",
    "context",
    "data",
    "definition",
    "effective_options",
    "facts",
    "options",
    "parameters",
    "program_session",
    "provider_options",
}
"""Names under which an answer carries JSON that others have written, that is kept as it was told, or whose form is that
of another operation."""


def _open(schema: Any, name: str = "") -> Iterator[str]:
    """The names of what takes any key, wherever they stand in a schema."""
    if isinstance(schema, list):
        for each in schema:
            yield from _open(each, name)
    elif isinstance(schema, dict):
        if schema.get("type") == "object" and schema.get("additionalProperties") is True:
            yield name
        for key, each in schema.items():
            if key in ("properties", "$defs"):
                for inner, one in each.items():
                    yield from _open(one, inner)
            else:
                yield from _open(each, name)


def test_an_answer_is_open_only_where_it_carries_what_others_wrote() -> None:
    found = {operation.name: set(_open(operation.output_schema)) - OTHERS_JSON for operation in catalogue().values()}
    assert {name: names for name, names in found.items() if names} == {}


def test_the_schema_that_clients_may_ask_for_tells_answers_from_refusals(world: World) -> None:
    for name, arguments in (("health_check", {}), ("help", {}), ("help", {"tool_name": 5}), ("get_my_task", {})):
        outcome = world.dispatcher.perform(name, arguments, Credentials())
        assert outcome.operation is not None
        answer = orjson.loads(orjson.dumps(outcome.result))
        promised = Draft202012Validator(outcome.operation.answer_schema)
        assert promised.is_valid(answer)
        assert not promised.is_valid({**answer, "success": outcome.refused})


def test_every_answer_schema_stands_for_itself() -> None:
    for tool in tools():
        schema = tool.answer_schema
        assert schema["type"] == "object"
        Draft202012Validator(schema)
        for reference in references(schema):
            assert reference.removeprefix("#/$defs/") in schema["$defs"], tool.name


def test_a_key_that_is_answered_and_not_declared_breaks_the_promise(world: World) -> None:
    outcome = world.dispatcher.perform("health_check", {}, Credentials())
    assert outcome.result is not None
    more = Outcome({**outcome.result, "mood": "good"}, operation=outcome.operation)
    with pytest.raises(AssertionError, match="mood"):
        hold_to_promise("health_check", more)


def _whole(node: Any, defs: dict[str, Any]) -> set[str]:
    """The keys of an object of an answer, if it is one, also where it may be null."""
    if "$ref" in node:
        return _whole(defs[node["$ref"].removeprefix("#/$defs/")], defs)
    first: dict[str, Any] = next((each for each in node.get("anyOf", []) if each.get("type") != "null"), {})
    return _whole(first, defs) if first else set(node.get("properties", {}))


TOLD_TWICE = {"get_task_status": {"task"}}
"""Orchestrators read it either way since the first version."""


def test_no_answer_tells_a_thing_again_within_itself() -> None:
    found = {}
    for name, each in catalogue().items():
        schema = each.output_schema
        outer, always = set(schema.get("properties", {})), schema.get("required", ())
        inner = {key: _whole(schema["properties"][key], schema.get("$defs", {})) for key in always}
        if twice := {key for key, keys in inner.items() if len(keys) > 3 and len(keys & outer) * 2 > len(keys)}:
            found[name] = twice
    assert found == TOLD_TWICE

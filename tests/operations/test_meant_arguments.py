"""What models and their clients really send to each tool: names of their own, null, JSON as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest
from pydantic import BaseModel

from tests.operations import samples
from tests.stories import Answer, World
from toryo.domain.errors import Refusal
from toryo.operations.calls.catalogue import Operation, tools
from toryo.operations.calls.grants import Door
from toryo.operations.calls.validation import meant_by, parameters_of

NOBODY = samples.Cast(cast("World", None), {}, {})
NESTED = [{"local_id": "a", "title": "T", "description": "D", "context": {"command": "make"}, "dependencies": []}]

TOOLS = {each.name: each for each in tools()}


def plain(tool: Operation) -> tuple[Answer, BaseModel]:
    """As many valid arguments as the sample can have at once, and what they are validated to."""
    arguments = samples.sample(tool, NOBODY)
    for name, schema in samples.properties(tool).items():
        more = {**arguments, name: arguments.get(name, samples.value(tool, name, schema, NOBODY))}
        if not isinstance(parameters_of(tool, more), Refusal):
            arguments = more
    found = parameters_of(tool, arguments)
    assert isinstance(found, BaseModel), found
    return arguments, found


def read(tool: Operation, arguments: Answer) -> tuple[BaseModel, tuple[str, ...]]:
    found, ignored = meant_by(tool, arguments)
    assert isinstance(found, BaseModel), found
    return found, ignored


def test_what_a_client_adds_to_every_tool_is_not_spoken_of_and_what_a_model_adds_is_named() -> None:
    for tool in TOOLS.values():
        arguments, expected = plain(tool)
        assert read(tool, {**arguments, "wait_for_previous": False}) == (expected, ())
        assert read(tool, {**arguments, "zqzqzq": {"a": 1}, "wait_for_previous": True}) == (expected, ("zqzqzq",))


def test_lists_and_objects_that_come_as_text_are_what_they_say() -> None:
    for tool in TOOLS.values():
        arguments, expected = plain(tool)
        written = {
            name: json.dumps(each) if isinstance(each, list | dict) else each for name, each in arguments.items()
        }
        assert read(tool, written) == (expected, ())


def test_null_is_left_out_unless_the_parameter_has_one_of_its_own() -> None:
    for tool in TOOLS.values():
        arguments, _ = plain(tool)
        for name in {*samples.properties(tool)} - {*samples.required(tool)}:
            without = {each: value for each, value in arguments.items() if each != name}
            if not of_its_own(tool, name):
                assert meant_by(tool, {**without, name: None}) == meant_by(tool, without), (tool.name, name)
            else:
                assert getattr(read(tool, {**arguments, name: None})[0], name) is None, (tool.name, name)


def of_its_own(tool: Operation, name: str) -> bool:
    schema: Mapping[str, Any] = samples.properties(tool)[name]
    return {"type": "null"} in schema.get("anyOf", []) or not ({"type", "anyOf", "enum", "$ref", "const"} & {*schema})


def test_a_name_that_is_nearly_one_of_the_tool_is_a_mistake_that_names_it() -> None:
    for tool in TOOLS.values():
        arguments, _ = plain(tool)
        for name in samples.properties(tool):
            found, _ = meant_by(tool, {**arguments, f"{name}x": 1})
            assert isinstance(found, Refusal), name
            assert "Did you mean" in found.instruction


def spellings(value: Any) -> Iterator[Any]:
    yield json.dumps(value)
    yield json.dumps([{**each, "context": json.dumps(each["context"])} for each in value])
    yield [json.dumps(each) for each in value]
    yield [{**each, "dependencies": "[]", "context": json.dumps(each["context"])} for each in value]
    yield [{**each, "touches": None, "priority": None} for each in value]
    yield [{**each, "wait_for_previous": True} for each in value]


@pytest.mark.parametrize("tasks", [*spellings(NESTED)])
def test_it_is_so_at_any_depth(tasks: Any) -> None:
    tool = TOOLS["create_tasks_batch"]
    assert read(tool, {"tasks": tasks}) == (parameters_of(tool, {"tasks": NESTED}), ())


def test_what_is_within_an_object_of_a_list_is_ignored_there_or_near_there() -> None:
    tool = TOOLS["create_tasks_batch"]
    assert read(tool, {"tasks": [{**NESTED[0], "qqzz": 1}]})[1] == ("qqzz",)
    assert isinstance(meant_by(tool, {"tasks": [{**NESTED[0], "dependancies": []}]})[0], Refusal)


@pytest.mark.parametrize(
    "text", ['{"a": 18446744073709551616}', '{"a": NaN}', '{"a": "\\u0000"}', "{not json}", "[" * 999]
)
def test_a_text_that_cannot_be_stored_as_what_it_says_stays_text(text: str) -> None:
    tool = TOOLS["submit_result"]
    given = {**samples.sample(tool, NOBODY), "result": text}
    assert getattr(read(tool, given)[0], "result") == text  # noqa: B009


def test_many_names_are_a_mistake_at_once() -> None:
    """Whoever sends thousands keeps nobody waiting while near ones are looked for."""
    tool, tasks = TOOLS["create_tasks_batch"], [{**NESTED[0], **{f"zq{each}": 1 for each in range(15)}}] * 2
    assert len(read(tool, {"tasks": tasks[:1]})[1]) == 15
    assert isinstance(meant_by(tool, {"tasks": tasks})[0], Refusal)


def test_something_is_missing_and_something_is_unknown_so_that_both_are_said() -> None:
    tool = TOOLS["send_message"]
    found, _ = meant_by(tool, {"zqzqzq": "Hello"})
    assert isinstance(found, Refusal)
    assert "zqzqzq is unknown" in found.message.replace(":", "")


def test_the_answer_names_what_was_ignored_and_only_calls_of_models_are_read_so(world: World) -> None:
    world.crew(workers=1)
    world.task("w1")
    worker = world.start("w1")
    perform = world.dispatcher.perform
    asked = {"zqzqzq": 1, "wait_for_previous": True}
    answer = perform("get_my_task", asked, worker.credentials, door=Door.MCP).result
    assert answer is not None
    assert answer["ignored"] == ["zqzqzq"]
    assert answer["success"]
    refusal = perform("list_projects", {"zqzqzq": 1}, world.owner.credentials, door=Door.REST)
    assert refusal.refused


def test_a_command_that_comes_as_text_is_a_command(world: World) -> None:
    world.crew(workers=1)
    world.task("boss")
    boss = world.start("boss")
    told = {"title": "T", "description": "D", "assignee_id": "w1", "context": json.dumps({"command": "make"})}
    refusal = world.dispatcher.perform("create_task", told, boss.credentials, door=Door.MCP)
    assert refusal.refused
    assert "commands_from" in str(refusal.result)

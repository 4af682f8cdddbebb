"""Commands from declarations: what a command sends is what its operation takes, with the same choices and bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from typer.models import ParameterInfo

from toryo.cli import command_line, from_operations
from toryo.cli.from_operations import Read
from toryo.operations.calls.catalogue import Operation, catalogue

command_line.whole()
SENT = [pytest.param(operation, sent, id=operation) for operation, sent in from_operations.SENT]
OF_KIND: Mapping[Any, tuple[Any, ...]] = {bool: (True, False), int: (1,), float: (0.5,), list: (["a"], ["a", "b"])}
"""Values that an option of a kind can have, where the option says no more."""
READ_HERE = {"project_id"}
"""What a command finds out where it is not given."""


def operation_of(named: str) -> Operation:
    """By its name, or by its method and path."""
    method, _, path = named.partition(" ")
    if not path:
        return catalogue()[named]
    found = [
        each
        for each in catalogue().values()
        if each.route is not None and (each.route.method, each.route.path) == (method, path)
    ]
    assert len(found) == 1, f"No operation has the route {named}."
    return found[0]


def fields_of(named: str) -> Mapping[str, FieldInfo]:
    return operation_of(named).parameters.model_fields


def plain(sent: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The parameters that an option sets as it is typed: the name, the type of the option and the rest of it."""
    for name, declared in sent.items():
        option = declared[0] if isinstance(declared, tuple) else declared
        if isinstance(option, ParameterInfo):
            yield name, str, option
        elif hasattr(option, "__metadata__"):
            yield name, option.__origin__, option.__metadata__[0]


def values(kind: Any, option: Any) -> Iterator[Any]:
    """Some that can be typed: all choices, both bounds."""
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    for each in parts:
        if get_origin(each) is Literal:
            yield from get_args(each)
        elif option.min is not None:
            yield from {option.min, option.max} - {None}
        else:
            yield from OF_KIND.get(get_origin(each) or each, ())


def accepts(field: FieldInfo, value: Any) -> bool:
    try:
        TypeAdapter(field.rebuild_annotation()).validate_python(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(("operation", "sent"), SENT)
def test_an_operation_takes_what_its_command_sends(operation: str, sent: Mapping[str, Any]) -> None:
    assert sent.keys() <= fields_of(operation).keys()


@pytest.mark.parametrize(("operation", "sent"), SENT)
def test_a_command_asks_for_what_its_operation_requires(operation: str, sent: Mapping[str, Any]) -> None:
    required = {name for name, field in fields_of(operation).items() if field.is_required()}
    optional = {name for name, kind, _ in plain(sent) if NoneType in get_args(kind)}
    typed_elsewhere = required - sent.keys() if " " not in operation else set()
    assert required - typed_elsewhere - READ_HERE <= sent.keys() - optional


@pytest.mark.parametrize(("operation", "sent"), SENT)
def test_what_an_option_takes_its_operation_takes_too(operation: str, sent: Mapping[str, Any]) -> None:
    refused = [
        (name, value)
        for name, kind, option in plain(sent)
        for value in values(kind, option)
        if not accepts(fields_of(operation)[name], value)
    ]
    assert refused == []


@pytest.mark.parametrize(("operation", "sent"), SENT)
def test_the_bounds_of_an_option_are_those_of_its_operation(operation: str, sent: Mapping[str, Any]) -> None:
    wider = [
        (name, beyond)
        for name, _, option in plain(sent)
        for beyond in ([option.min - 1] if option.min is not None else []) + ([option.max + 1] if option.max else [])
        if accepts(fields_of(operation)[name], beyond)
    ]
    assert wider == []


@pytest.mark.parametrize(("operation", "sent"), SENT)
def test_what_is_always_sent_is_taken(operation: str, sent: Mapping[str, Any]) -> None:
    typed = {name for name, _, _ in plain(sent)} | {name for name, each in sent.items() if isinstance(each, Read)}
    assert all(accepts(fields_of(operation)[name], sent[name]) for name in sent.keys() - typed)

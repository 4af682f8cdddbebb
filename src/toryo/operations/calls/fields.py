"""Text types of parameters. A text is one line unless its type says otherwise.

`Lines` is multi-line prose, in which control characters are replaced. `Command` may also have several lines, but is
refused instead of changed. `Printed` (output of programs) and secrets are kept unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

import orjson
from pydantic import AfterValidator, Field
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, PydanticKnownError

from toryo import argument_limits
from toryo.chosen_ids import ANY
from toryo.domain import texts

Id = Annotated[str, Field(min_length=1, max_length=64)]
"""An id of anything."""


def _assignee(text: str) -> str:
    longest = 1_000 if text.startswith(f"{ANY}:") else 64
    if len(text) > longest:
        raise PydanticKnownError("string_too_long", {"max_length": longest})
    return text


Assignee = Annotated[str, Field(min_length=1), AfterValidator(_assignee)]
"""An agent, or anyone who is free: `any`, `any:python,tests`."""


def _command(text: str) -> str:
    if texts.several_lines(text) != text:
        raise PydanticCustomError(
            "control_character", "must not contain control characters other than newlines and tabs"
        )
    return text


_LINES, _COMMAND, _PRINTED = (
    AfterValidator(texts.several_lines),
    AfterValidator(_command),
    AfterValidator(texts.storable),
)

GivenStatus = Literal[
    "backlog", "todo", "pending", "in_progress", "blocked", "completed", "done", "failed", "cancelled"
]
GivenPriority = Literal["low", "medium", "high", "critical", "urgent"]
"""With the other words that are understood: pending is todo, done is completed, urgent is critical."""

Lines = Annotated[str, _LINES]
Command = Annotated[str, _COMMAND]
Printed = Annotated[str, _PRINTED]
LONGEST_TEXT, LONGEST_TITLE = 100_000, 300
Text = Annotated[Lines, Field(max_length=LONGEST_TEXT)]
"""A description, a summary: prose as long as anybody needs."""
LONGEST_JSON = 1024 * 1024
"""Bytes of any JSON: a context, a result."""
Title = Annotated[str, Field(min_length=1, max_length=LONGEST_TITLE, pattern=r"\S")]
"""Of a task."""
Context = Annotated[Any, Field(default=None, description="JSON for the assignee.")]
"""Of a task."""
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
"""Of a person, an agent or a project."""


def any_json(field: FieldInfo) -> bool:
    """Whether a field takes JSON of any shape."""
    return field.annotation is Any


def short_json(value: Any, most: int = LONGEST_JSON) -> Any:
    """As it is; raises for one that is too long to be stored."""
    size = len(orjson.dumps(value, default=str)) if value is not None else 0
    if size > most:
        raise PydanticCustomError(
            "json_too_long",
            "must be at most {most} bytes long as JSON, but has {size}; store it in a file and pass its path",
            {"most": most, "size": size},
        )
    return value


def startable(context: Any) -> Any:
    """A task's context as it is; raises for one whose command no program could be started with."""
    size = argument_limits.too_long(context.get("command")) if isinstance(context, dict) else None
    if size is not None:
        raise PydanticCustomError(
            "command_too_long",
            "has a command of {size} bytes, but a program takes at most {most} in one argument; store it in a file and "
            "run that",
            {"most": argument_limits.LONGEST, "size": size},
        )
    return context


def one_line(field: FieldInfo) -> bool:
    """Whether the texts that a field takes are one line each. Data of any shape (`Any`) is not a text."""
    kinds = [*field.metadata, *_parts(field.annotation)]
    return str in kinds and not any(kind in (_LINES, _COMMAND, _PRINTED) for kind in kinds)


def line(value: Any) -> Any:
    """A text, or a list of texts, as it is stored; raises for one that holds what cannot be part of one line."""
    if isinstance(value, (list, tuple)):
        return type(value)(line(each) for each in value)
    if not isinstance(value, str):
        return value
    text = texts.trimmed(value) or value
    found = texts.not_of_a_line(text)
    if found is not None:
        raise PydanticCustomError(
            "one_line", "must be one line of visible characters, but contains {character}", {"character": found}
        )
    return text


def _parts(annotation: Any) -> Iterator[Any]:
    """A type, and the types and marks within it."""
    yield annotation
    for argument in get_args(annotation):
        yield from _parts(argument)

"""Texts of every operation, from the declarations: one line where one is meant, and nothing that steers a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from tests.stories import World
from toryo.domain.errors import Code
from toryo.operations.calls import fields
from toryo.operations.calls.catalogue import Parameters, catalogue
from toryo.operations.calls.grants import Grant

PROSE = {
    *(
        "description",
        "rubric",
        "reason",
        "message",
        "content",
        "text",
        "summary",
        "next_steps",
        "progress",
        "findings",
        "blockers",
    ),
    *(
        "recommendations",
        "purpose",
        "question",
        "initial_message",
        "final_message",
        "error",
        "system_prompt",
        "task_description",
        "query",
    ),
}
"""Fields that may have several lines; a new one is a decision, and stands here."""


def models() -> Iterator[tuple[str, type[BaseModel]]]:
    """Every model of parameters, also those within others."""
    seen: set[type[BaseModel]] = set()
    for operation in catalogue().values():
        for each in _within(operation.parameters):
            if each not in seen:
                seen.add(each)
                yield f"{operation.name} {each.__name__}", each


def _within(kind: Any) -> Iterator[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
        for field in kind.model_fields.values():
            yield from _within(field.annotation)
    for argument in get_args(kind):
        yield from _within(argument)


MODELS = dict(models())
TEXTS = {
    f"{name} {field}": (model, field)
    for name, model in MODELS.items()
    for field, about in model.model_fields.items()
    if "'str'" in str(about.annotation) or about.annotation is str or "str" in str(about.annotation)
    if "SecretStr" not in str(about.annotation) and "Any" not in str(about.annotation)
}


def test_every_model_of_parameters_knows_the_rule() -> None:
    assert [name for name, each in MODELS.items() if not issubclass(each, Parameters)] == []


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_one_line_or_prose_or_a_command_or_what_a_program_printed(name: str) -> None:
    model, field = TEXTS[name]
    about = model.model_fields[field]
    if fields.one_line(about):
        for sign in ("\x1b[2J", "\n", "\t", "\r", "\x9b", "\u202e", "\u2066", "\u200b", "\u2028"):
            with pytest.raises(ValidationError):
                model.__pydantic_validator__.validate_assignment(model.model_construct(), field, f"a{sign}b")
    elif field not in PROSE:
        coordinators = {each.parameters for each in catalogue().values() if each.grant is Grant.COORDINATOR}
        of_programs = any(model in _within(coordinator) for coordinator in coordinators)
        assert of_programs or field == "command" or not _of_text(about.annotation), "say which kind of text it is"


def _of_text(kind: Any) -> bool:
    return kind is str or any(_of_text(argument) for argument in get_args(kind))


def test_prose_keeps_newlines_and_tabs_only() -> None:
    kept = TypeAdapter(fields.Lines).validate_python("one\r\ntwo\rthree\tfour\x1b[2J\x07\x9b日本語")
    assert kept == "one\ntwo\nthree\tfour\ufffd[2J\ufffd\ufffd日本語"


def test_a_command_is_refused_and_not_changed() -> None:
    assert TypeAdapter(fields.Command).validate_python("make\n\ttest") == "make\n\ttest"
    with pytest.raises(ValidationError):
        TypeAdapter(fields.Command).validate_python("make\x1b[2J")


def test_the_refusal_says_which_character_it_is(world: World) -> None:
    world.project()
    refusal = world.owner.refused(
        "file_task", Code.VALIDATION_ERROR, project_id=world.project_id, title="Paint\x1b]0;TITLE\x07"
    )
    assert "title: must be one line of visible characters, but contains U+001B" in refusal["message"]

"""Every number of the section `simulation:` has a finite range, and a mistake in one says what is accepted."""

from __future__ import annotations

import math
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, ValidationError

from toryo.cli import manifest
from toryo.cli.exit_codes import Misuse
from toryo.formats.simulation_format import MOST_ARRIVALS, MOST_SUBTASKS, Agent, Simulation, Subtasks, Times
from toryo.operations.tasks.create_tools import CreateBatch

BAD = [math.inf, -math.inf, math.nan, 1e300, -1, True, 10**30, 10**400, "12", [1], None]
"""None of them is a valid value of any number here; None only where it is not the default."""


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in typing.get_args(annotation):
        yield from _models(each)


def _every_model(model: type[BaseModel], seen: dict[type[BaseModel], None]) -> dict[type[BaseModel], None]:
    if model not in seen:
        seen[model] = None
        for field in model.model_fields.values():
            for inner in _models(field.annotation):
                _every_model(inner, seen)
    return seen


def _numbers(annotation: Any) -> bool:
    """Whether a field holds a number, or a list of them."""
    if annotation in (int, float):
        return True
    return any(_numbers(each) for each in typing.get_args(annotation))


def _fields() -> list[tuple[type[BaseModel], str]]:
    return [
        (model, name)
        for model in _every_model(Simulation, {})
        for name, field in model.model_fields.items()
        if _numbers(field.annotation) or any(issubclass(each, Times) for each in _models(field.annotation))
    ]


FIELDS = _fields()


def test_the_fields_that_are_tried_are_those_of_the_format() -> None:
    names = {f"{model.__name__}.{name}" for model, name in FIELDS}

    assert {"Times.mean", "Subtasks.samples", "Agent.minutes", "Agent.subtasks", "Tokens.minute"} <= names
    assert {"Coordinator.max_chat", "Arrival.at_minutes", "Simulation.seed", "Simulation.hours"} <= names


@pytest.mark.parametrize("bad", BAD, ids=lambda each: str(each)[:8])
@pytest.mark.parametrize(("model", "name"), FIELDS, ids=lambda each: each if isinstance(each, str) else each.__name__)
def test_a_number_out_of_its_range_is_refused(model: type[BaseModel], name: str, bad: Any) -> None:
    field = model.model_fields[name]
    if bad is None and field.default is None:
        return
    given = [bad] if typing.get_origin(field.annotation) is list and not isinstance(bad, list) else bad
    others = {"title": "x", "project": "p", "assignee": "a"} if "assignee" in model.model_fields else {}
    if name == "samples" and given == [1]:
        return

    with pytest.raises(ValidationError) as refused:
        model.model_validate({**others, name: given})

    assert any(error["loc"][:1] == (name,) for error in refused.value.errors()), refused.value


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("hours: .inf", "simulation.hours: must be a number, such as 1.5"),
        ("hours: 100000", "simulation.hours: must be at most 1000"),
        ("seed: -1", "simulation.seed: must be at least 0"),
        ("defaults: {minutes: quick}", "simulation.defaults.minutes: must be a number, such as 12, or a mapping with "),
        ("defaults: {subtasks: true}", "simulation.defaults.subtasks: must be a number, such as 12, or a mapping"),
        ("defaults: {subtasks: 0}", "simulation.defaults.subtasks.mean: must be at least 1"),
        ("defaults: {subtasks: 300}", f"simulation.defaults.subtasks.mean: must be at most {MOST_SUBTASKS}"),
        ("defaults: {dollars_per_million: .inf}", "dollars_per_million: must be a number, such as 1.5"),
        ("defaults: {tokens: {start: 1000000000000000000000}}", "tokens.start: must be at most 1000000000"),
        ("coordinator: {max_concurrent: true}", "max_concurrent: must be a whole number, such as 10"),
        (
            "arrivals: [{title: a, project: house, assignee: b, at_minutes: .inf}]",
            "simulation.arrivals[0].at_minutes: must be a number, such as 1.5",
        ),
    ],
)
def test_people_are_told_where_it_stands_and_what_is_accepted(tmp_path: Path, section: str, words: str) -> None:
    file = tmp_path / "toryo.yaml"
    file.write_text(f"agents: []\nsimulation:\n  {section}\n")

    with pytest.raises(Misuse) as told:
        manifest.read(file)

    assert re.match(rf"{re.escape(str(file))}:3: .*{re.escape(words)}", told.value.what), told.value.what


def test_all_arrivals_together_are_bounded() -> None:
    one = {"title": "x", "project": "p", "assignee": "a"}
    Simulation.model_validate({"arrivals": [{**one, "count": MOST_ARRIVALS - 1}, one]})

    with pytest.raises(ValidationError, match=f"at most {MOST_ARRIVALS:,} tasks together"):
        Simulation.model_validate({"arrivals": [{**one, "count": MOST_ARRIVALS}, one]})


def test_as_many_subtasks_are_accepted_as_a_manager_can_create_at_once() -> None:
    [most] = [each.max_length for each in CreateBatch.model_fields["tasks"].metadata if hasattr(each, "max_length")]

    assert most == MOST_SUBTASKS
    assert Agent.model_validate({"subtasks": MOST_SUBTASKS}).subtasks == Subtasks(mean=MOST_SUBTASKS)


def test_a_number_alone_is_a_mean() -> None:
    assert Agent.model_validate(yaml.safe_load("minutes: 7")).minutes == Times(mean=7)

"""The format of a playbook, and what is wrong with a given one (by line, where it came as text).

```yaml
tasks:
  - match: "Translate (?P<file>\\w+)\\.txt"   # the title: as it is, or a regular expression for all of it, or a glob
    variables: {target: "{{file}}_ja.txt"}
    retry: 1                                  # how often a failed or blocked subtask is tried again
    subtasks:
      - id: translate
        title: "Translate {{file}}.txt"
        capability: japanese                  # or assignee: worker-a; neither: whoever has least to do
        context: {command: "…", outputs: ["{{target}}"]}
      - {id: check, title: "Check {{target}}", depends_on: [translate], run: "test -s {{target}}"}
```

`{{…}}` names: `title`, `description`, `task_id`, `context.KEY` of the task at hand, groups of the pattern, `variables`.
How a plan is chosen and filled in stands in `runners/plays.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from toryo.coordinator import documents
from toryo.coordinator.documents import Document, Mistake, Mistakes
from toryo.coordinator.runners.plays import FACTS, VARIABLE, compiled

__all__ = ["Mistakes", "Playbook", "given", "parse"]

SOURCE = "provider_options.playbook"


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Subtask(Section):
    id: str = Field(min_length=1, description="Local: what depends_on names.")
    title: str = Field(min_length=1)
    description: str = ""
    assignee: str | None = None
    capability: str | None = None
    depends_on: list[str] = []
    priority: Literal["low", "medium", "high", "critical"] = "medium"
    context: dict[str, Any] = {}
    acceptance: list[dict[str, Any]] = []
    run: str | list[str] | None = Field(None, description="What a worker's own runner executes for this subtask.")
    timeout_seconds: float | None = Field(None, gt=0, description="For run.")
    retry: int | None = Field(None, ge=0, description="In place of the plan's.")

    @model_validator(mode="after")
    def _one_way_to_assign(self) -> Subtask:
        if self.assignee and self.capability:
            raise ValueError("assignee and capability are both given: one of them says who does it")
        return self


class Plan(Section):
    match: str = Field("*", description="Which titles this plan is for.")
    variables: dict[str, Any] = {}
    retry: int = Field(0, ge=0)
    subtasks: list[Subtask] = Field(min_length=1)


class Playbook(Section):
    tasks: list[Plan] = Field(min_length=1)


def given(value: Any, project_directory: Path) -> dict[str, Any]:
    """The checked playbook of `provider_options.playbook`: text, a mapping, or a file's path in the project.

    Raises Mistakes.
    """
    if isinstance(value, Mapping):
        return parse(Document(dict(value), SOURCE))
    if not isinstance(value, str) or not value.strip():
        words = "is missing: give the plan as YAML, or the path of a file in the project directory"
        raise Mistakes(SOURCE, [Mistake(words)])
    if "\n" in value.strip() or value.lstrip().startswith(("tasks:", "{")):
        return parse(documents.read(value, SOURCE))
    return parse(documents.read(_text_of(value.strip(), project_directory), value.strip()))


def parse(document: Document) -> dict[str, Any]:
    """The playbook as plain data with every default filled in; raises Mistakes."""
    playbook = documents.checked(document, Playbook)
    for number, plan in enumerate(playbook.tasks):
        _check_plan(document, plan, ("tasks", number))
    document.fail_if_mistaken()
    return playbook.model_dump(mode="json")


def _text_of(name: str, project_directory: Path) -> str:
    path = (project_directory / name).resolve()
    if not path.is_relative_to(project_directory.resolve()):
        raise Mistakes(name, [Mistake("lies outside the project directory")])
    try:
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        raise Mistakes(name, [Mistake(f"{problem.strerror} (looked in {project_directory})")]) from problem


def _check_plan(document: Document, plan: Plan, path: documents.Path) -> None:
    ids = [each.id for each in plan.subtasks]
    steps = [((*path, "subtasks", number), each) for number, each in enumerate(plan.subtasks)]
    for where, double in [*_said_twice(steps, "id"), *_said_twice(steps, "title")]:
        document.mistake(where, f"{documents.place(where)}two subtasks have the {where[-1]} {double!r}")
    for where, each in steps:
        for other in each.depends_on:
            if other not in ids:
                found = f"there is no subtask {other!r}; {documents.nearest(other, ids)}"
                document.mistake((*where, "depends_on"), documents.place((*where, "depends_on")) + found)
    circle = _circle({each.id: each.depends_on for each in plan.subtasks})
    if circle:
        document.mistake(path, f"{documents.place(path)}these subtasks wait for each other: {' -> '.join(circle)}")
    _check_variables(document, plan, path)


def _said_twice(steps: Iterable[tuple[documents.Path, Subtask]], name: str) -> Iterable[tuple[documents.Path, str]]:
    seen: set[str] = set()
    for where, each in steps:
        value = str(getattr(each, name))
        if value in seen:
            yield (*where, name), value
        seen.add(value)


def _circle(depends: Mapping[str, list[str]]) -> list[str]:
    """One circle of dependencies, or nothing."""
    done: set[str] = set()

    def walk(at: str, way: list[str]) -> list[str]:
        if at in way:
            return [*way[way.index(at) :], at]
        if at in done:
            return []
        for each in depends.get(at, ()):
            found = walk(each, [*way, at])
            if found:
                return found
        done.add(at)
        return []

    return next((found for each in depends if (found := walk(each, []))), [])


def _check_variables(document: Document, plan: Plan, path: documents.Path) -> None:
    pattern = compiled(plan.match)
    groups = [*pattern.groupindex, *map(str, range(1, pattern.groups + 1))] if pattern else []
    known = [*FACTS, *groups, *plan.variables]
    for where, text in documents.every_text(plan.model_dump(exclude={"match"}), path):
        for name in VARIABLE.findall(text):
            if name not in known and not re.match(r"context\.", name):
                found = f"there is no variable {name!r}; {documents.nearest(name, known)}"
                document.mistake(where, f"{documents.place(where)}{found}")

"""The format of a template: a tree of tasks with parameters, which a person uses as often as needed.

```yaml
description: Publish a version
parameters:
  version: {description: Such as 1.4.0}
  branch: {default: main}                 # optional: it has a default
tasks:
  - title: Release {{version}}
    assignee: lead
  - title: Build {{version}}
    parent: Release {{version}}           # the title of a task above, as it is written there
    assignee: builder
    status: in_progress                   # backlog, todo (the default) or in_progress
    context: {command: "./build.sh {{branch}}"}
  - title: Publish {{version}}
    parent: Release {{version}}
    depends_on: ["Build {{version}}"]
```

A value is data: a command gets it as a quoted word (`command_templates.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from toryo.formats import command_templates
from toryo.formats.command_templates import VARIABLE
from toryo.nearest import nearest
from toryo.task_forms import LONGEST_VALUE, MOST_PARAMETERS, Name, TaskForm

MOST_TASKS = 200
MOST_CHARACTERS = 5_000_000
"""Of all texts of its tasks, with the values in their place."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Parameter(_Part):
    description: str = Field("", max_length=500)
    default: str | None = Field(None, max_length=LONGEST_VALUE)
    """Without one, a value must be given."""


class _Parameters(_Part):
    parameters: dict[Name, Parameter] = Field(max_length=MOST_PARAMETERS)


class TemplateTask(TaskForm, _Part):
    title: str = Field(min_length=1, max_length=500)
    """Says which task of the template is meant."""
    description: str = ""
    assignee: str | None = None
    queue: str | None = None
    priority: Literal["low", "medium", "high", "critical", "urgent"] = "medium"
    status: Literal["backlog", "todo", "in_progress"] = "todo"
    parent: str | None = None
    """The title of a task above it."""
    depends_on: list[str] = Field(default_factory=list, max_length=100)
    """Titles of tasks above it that must be completed first."""
    context: Any = None
    acceptance: list[Any] = Field(default_factory=list, max_length=20)


class Template(_Part):
    description: str = Field("", max_length=2_000)
    parameters: dict[Name, Parameter] = Field(default_factory=dict, max_length=MOST_PARAMETERS)
    tasks: list[TemplateTask] = Field(min_length=1, max_length=MOST_TASKS)

    @model_validator(mode="after")
    def _fits_together(self) -> Template:
        above: list[str] = []
        for task in self.tasks:
            if task.title in above:
                raise ValueError(f"two tasks have the title {task.title!r}")
            for name in [*([task.parent] if task.parent is not None else []), *task.depends_on]:
                if name not in above:
                    raise ValueError(f"{task.title!r} refers to {name!r}, which is not the title of a task above it")
            above.append(task.title)
            _refuse_misplaced(task.model_dump(), self.parameters)
        return self


def _refuse_misplaced(task: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> None:
    """Raises ValueError for a placeholder that is no parameter, or that stands where a command takes no value."""
    for name in _placeholders(task):
        if name not in parameters:
            near = nearest(name, list(parameters))
            hint = f"; did you mean {near}?" if near else ""
            raise ValueError(f"{{{{{name}}}}} in {task.get('title')!r} is not one of the parameters{hint}")
    for _, command in command_templates.within(_section(task)):
        if (wrong := command_templates.problem(command)) is not None:
            raise ValueError(f"the command of {task.get('title')!r}: {wrong}")


def _section(task: Mapping[str, Any]) -> dict[str, Any]:
    return {key: task[key] for key in ("context", "acceptance") if task.get(key) is not None}


def _placeholders(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from VARIABLE.findall(value)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _placeholders(each)
    elif isinstance(value, list):
        for each in value:
            yield from _placeholders(each)


def fill(template: Template, values: Mapping[str, str]) -> list[dict[str, Any]]:
    """The tasks with every value in its place, in order. Raises `command_templates.Unfit`."""
    known = {name: each.default or "" for name, each in template.parameters.items()} | dict(values)
    if _size(template.model_dump(), max(map(len, known.values()), default=0)) > MOST_CHARACTERS:
        raise command_templates.Unfit(f"with these values the tasks have more than {MOST_CHARACTERS:,} characters")
    return [_filled(task.model_dump(), known) for task in template.tasks]


def parameters(given: Any) -> dict[str, Parameter]:
    """The section `parameters` of a document. Raises ValidationError."""
    return _Parameters.model_validate({"parameters": given}).parameters


def filled_task(
    task: Mapping[str, Any], parameters: Mapping[str, Parameter], values: Mapping[str, str]
) -> dict[str, Any]:
    """A task of another document, with every value in its place. Raises ValueError, which says what is wrong."""
    _refuse_misplaced(task, parameters)
    known = {name: each.default or "" for name, each in parameters.items()} | dict(values)
    try:
        return _filled(task, known)
    except command_templates.Unfit as unfit:
        raise ValueError(str(unfit)) from None


def _size(value: Any, longest: int) -> int:
    """An upper bound of the characters of all texts, once values of this length are in their place."""
    if isinstance(value, str):
        return len(value) + longest * len(VARIABLE.findall(value))
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return sum(_size(each, longest) for each in parts)


def _filled(task: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = _put(task, values)
    for path, command in command_templates.within(_section(task)):
        place: Any = found
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = command_templates.fill(command, lambda name: values[name])
    return found


def _put(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return VARIABLE.sub(lambda found: values[found[1]], value)
    if isinstance(value, Mapping):
        return {name: _put(each, values) for name, each in value.items()}
    return [_put(each, values) for each in value] if isinstance(value, list) else value

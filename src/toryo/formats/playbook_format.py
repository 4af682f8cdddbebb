"""The format of a playbook, and what is wrong with a given one (by line, where it came as text).

```yaml
tasks:
  - match: "Translate (?P<file>\\w+)\\.txt"   # the title: as it is, or a regular expression for all of it, or a glob
    variables: {target: "{{file}}_ja.txt"}
    retry: 1                                  # how often a failed or blocked subtask is tried again
    subtasks:
      - id: translate
        title: "Translate {{file}}.txt"
        capability: japanese                  # or assignee: worker-a; neither: the one with the least to do
        context: {command: "…", outputs: ["{{target}}"]}
      - {id: check, title: "Check {{target}}", depends_on: [translate], run: "test -s {{target}}"}
      - id: fix
        title: "Fix {{target}}"
        when: {subtask: check, status: failed}  # left out if that does not hold; a list: all of them must hold
        assignee: editor
```

`for_each: "{{context.files}}"` (or a list) makes a subtask for each thing of a list, which is `{{item}}` in it; two
subtasks for the same list depend on each other thing by thing, others on all of them.

A condition speaks of how another subtask ended (`status`, `result`, `summary_matches`) or of a variable (`equals`,
`not_equals`, `matches`). What follows from it is in `conditions.py`.

In a command (`run`, `context.command`, a `command` of `acceptance`) a value is data: see `command_templates.py`.

`{{…}}` names: `title`, `description`, `task_id`, `context.KEY` of the task at hand, groups of the pattern, `variables`.
How a plan is chosen and filled in is in `plan_options.py`.
"""

from __future__ import annotations

import graphlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from toryo.formats import yaml_documents
from toryo.formats.command_templates import VARIABLE
from toryo.formats.plan_patterns import FACTS, LONGEST_PATTERN, compile_pattern
from toryo.formats.yaml_documents import Document, Mistakes

__all__ = ["Mistakes", "Playbook", "parse", "read"]

CHECK = ("file", "command", "timeout_seconds", "retries", "artifacts", "diff")
"""Keys of an acceptance check."""
_ITEM = re.compile(r"\{\{\s*item\b")


Pattern = Annotated[str, Field(max_length=LONGEST_PATTERN)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Ending = Literal["completed", "failed", "cancelled", "closed"]


class Condition(Section):
    """One of two kinds: about a `subtask`, or about a `variable`."""

    subtask: str | None = Field(
        None, description="The id of another subtask. The condition is checked when that subtask has ended."
    )
    status: list[Ending] | None = Field(None, min_length=1, description="How it must have ended. closed: in any way.")
    result: Literal["success", "failed"] | None = Field(
        None, description="The same, with the words of reports: success or failed."
    )
    summary_matches: Pattern | None = Field(None, description="A regular expression that its summary must match.")
    variable: Any = Field(None, description='The variable, as in "{{context.kind}}".')
    equals: Any = None
    not_equals: Any = None
    matches: Pattern | None = Field(None, description="A regular expression that the variable must match.")

    @model_validator(mode="after")
    def _of_one_kind(self) -> Condition:
        of_subtask = [self.status, self.result, self.summary_matches]
        of_variable = [self.equals, self.not_equals, self.matches]
        if (self.subtask is None) == (self.variable is None):
            raise ValueError("a condition checks either a subtask or a variable: use one of the two")
        if self.subtask is None and not (_any(of_variable) and not _any(of_subtask)):
            raise ValueError("add what the variable must be: equals, not_equals or matches")
        if self.variable is None and not (_any(of_subtask) and not _any(of_variable)):
            raise ValueError("add what the subtask must be: status, result or summary_matches")
        if self.status is not None and self.result is not None:
            raise ValueError("status and result cannot be combined: use one of them")
        return self

    @field_validator("status", mode="before")
    @classmethod
    def _as_list(cls, status: Any) -> Any:
        return [status] if isinstance(status, str) else status

    @field_validator("variable", "equals", "not_equals")
    @classmethod
    def _is_one_value(cls, value: Any) -> Any:
        if isinstance(value, (list, dict)):
            raise ValueError("must be a text, a number, true or false")
        return value

    @field_validator("summary_matches", "matches")
    @classmethod
    def _is_a_pattern(cls, pattern: str | None) -> str | None:
        yaml_documents.regular(VARIABLE.sub("", pattern or ""))
        return pattern


def _any(values: list[Any]) -> bool:
    return any(each is not None for each in values)


class Subtask(Section):
    id: str = Field(min_length=1, description="An id within this plan, for depends_on.")
    title: str = Field(min_length=1)
    description: str = ""
    assignee: str | None = None
    capability: str | None = None
    depends_on: list[str] = []
    priority: Literal["low", "medium", "high", "critical"] = "medium"
    context: dict[str, Any] = {}
    acceptance: list[dict[str, Any]] = []
    touches: list[str] = Field(
        [], description="The files that it will change, from the top of the repository, with * and **."
    )
    run: str | list[str] | None = Field(
        None, description="The command that a worker's own runner executes for this subtask."
    )
    timeout_seconds: float | None = Field(None, gt=0, description="Seconds that run may take.")
    retry: int | None = Field(None, ge=0, description="Overrides the limit of the plan.")
    for_each: list[Any] | str | None = Field(
        None, description="A list, or a variable that contains one. The subtask is created once for each {{item}}."
    )
    when: list[Condition] = Field(
        [], description="The subtask is left out unless all of these conditions hold. A single condition needs no list."
    )

    @field_validator("acceptance")
    @classmethod
    def _are_checks(cls, checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for check in checks:
            unknown = [key for key in check if key not in CHECK]
            if unknown:
                raise ValueError(
                    f"a check has no key {unknown[0]!r}; {yaml_documents.hint(str(unknown[0]), list(CHECK))}"
                )
            if sum(each in check for each in ("file", "command", "diff")) != 1:
                raise ValueError("each check needs a file, a command or a diff, for example [{file: NOTES.md}]")
        return checks

    @model_validator(mode="after")
    def _one_way_to_assign(self) -> Subtask:
        if self.assignee and self.capability:
            raise ValueError("assignee and capability cannot be combined: use one of them")
        return self


class Plan(Section):
    match: Pattern = Field("*", description="The titles that this plan is for.")
    variables: dict[str, Any] = {}
    retry: int = Field(0, ge=0)
    subtasks: list[Subtask] = Field(min_length=1, max_length=500)

    @field_validator("match")
    @classmethod
    def _is_a_pattern(cls, pattern: str) -> str:
        return yaml_documents.regular(pattern, or_glob=True)


class Playbook(Section):
    tasks: list[Plan] = Field(min_length=1, max_length=500)


def is_path(value: Any) -> bool:
    """Whether `provider_options.playbook` names a file; else it is the plan itself."""
    return isinstance(value, str) and "\n" not in value.strip() and not value.lstrip().startswith(("tasks:", "{"))


def read(value: Any, project_directory: Path | yaml_documents.FileText) -> dict[str, Any]:
    """The checked playbook of `provider_options.playbook`: text, a mapping, or a file's path in the project.

    Raises Mistakes.
    """
    return parse(yaml_documents.of_option(value, "playbook", is_path, project_directory))


def parse(document: Document) -> dict[str, Any]:
    """The playbook as plain data with every default filled in; raises Mistakes."""
    _list_conditions(document)
    playbook = yaml_documents.checked(document, Playbook)
    for number, plan in enumerate(playbook.tasks):
        _check_plan(document, plan, ("tasks", number))
    document.fail_if_mistaken()
    return playbook.model_dump(mode="json")


def _check_plan(document: Document, plan: Plan, path: yaml_documents.Path) -> None:
    ids = [each.id for each in plan.subtasks]
    steps = [((*path, "subtasks", number), each) for number, each in enumerate(plan.subtasks)]
    for where, double in [*_said_twice(steps, "id"), *_said_twice(steps, "title")]:
        document.mistake(where, f"{yaml_documents.place(where)}two subtasks have the {where[-1]} {double!r}")
    for where, each in steps:
        for other in each.depends_on:
            if other not in ids:
                found = f"there is no subtask {other!r}; {yaml_documents.hint(other, ids)}"
                document.mistake((*where, "depends_on"), yaml_documents.place((*where, "depends_on")) + found)
        for number, condition in enumerate(each.when):
            if condition.subtask is not None and condition.subtask not in ids:
                found = f"there is no subtask {condition.subtask!r}; {yaml_documents.hint(condition.subtask, ids)}"
                path_of = (*where, "when", number, "subtask")
                document.mistake(path_of, yaml_documents.place(path_of) + found)
        _check_list(document, plan, each, where)
        yaml_documents.check_commands(document, each.model_dump(), where)
    circle = _circle({each.id: [*each.depends_on, *_named(each)] for each in plan.subtasks})
    if circle:
        document.mistake(path, f"{yaml_documents.place(path)}these subtasks wait for each other: {' -> '.join(circle)}")
    _check_variables(document, plan, path)


def _check_list(document: Document, plan: Plan, subtask: Subtask, where: yaml_documents.Path) -> None:
    """What a subtask that is made for each thing of a list needs, and who may ask how such a one ended."""
    lists = {each.id: each.for_each for each in plan.subtasks}
    if subtask.for_each is not None and not _ITEM.search(subtask.title):
        path = (*where, "title")
        document.mistake(
            path, f"{yaml_documents.place(path)}is the same for each item of the list: put {{{{item}}}} into it"
        )
    if isinstance(subtask.for_each, str) and not VARIABLE.fullmatch(subtask.for_each.strip()):
        path = (*where, "for_each")
        document.mistake(
            path,
            f'{yaml_documents.place(path)}must be a list, or a variable that contains one: "{{{{context.files}}}}"',
        )
    for other in _named(subtask):
        if lists.get(other) is not None and lists[other] != subtask.for_each:
            path = (*where, "when")
            found = (
                f"{other} is created for each item of a list, so only a subtask with the same list can check how "
                "it ended"
            )
            document.mistake(path, yaml_documents.place(path) + found)


def _named(subtask: Subtask) -> list[str]:
    return [condition.subtask for condition in subtask.when if condition.subtask is not None]


_TO_CONDITION = len(("tasks", 0, "subtasks", 0, "when"))


def _list_conditions(document: Document) -> None:
    """A condition alone becomes a list of one, in the data and in what is known of lines."""
    conditions: set[yaml_documents.Path] = set()
    for path, subtask in _subtasks_of(document.data):
        alone = subtask.get("when")
        if isinstance(alone, Mapping):
            subtask["when"] = [dict(alone)]
            conditions.add((*path, "when"))
    for place, line in list(document.lines.items()):
        before, below = place[:_TO_CONDITION], place[_TO_CONDITION:]
        if below and before in conditions:
            document.lines[(*before, 0, *below)] = line


def _subtasks_of(data: Any) -> Iterator[tuple[yaml_documents.Path, dict[str, Any]]]:
    """Wherever a playbook that may be wrong in any way has something like subtasks."""
    plans = data.get("tasks") if isinstance(data, Mapping) else None
    for number, plan in enumerate(plans if isinstance(plans, list) else ()):
        subtasks = plan.get("subtasks") if isinstance(plan, Mapping) else None
        for place, subtask in enumerate(subtasks if isinstance(subtasks, list) else ()):
            if isinstance(subtask, dict):
                yield ("tasks", number, "subtasks", place), subtask


def _said_twice(
    steps: Iterable[tuple[yaml_documents.Path, Subtask]], name: str
) -> Iterable[tuple[yaml_documents.Path, str]]:
    seen: set[str] = set()
    for where, subtask in steps:
        value = str(getattr(subtask, name))
        if value in seen:
            yield (*where, name), value
        seen.add(value)


def _circle(depends: Mapping[str, list[str]]) -> list[str]:
    """One circle of dependencies, or nothing."""
    try:
        graphlib.TopologicalSorter(depends).prepare()
    except graphlib.CycleError as found:
        return list(reversed(found.args[1]))
    return []


def _check_variables(document: Document, plan: Plan, path: yaml_documents.Path) -> None:
    pattern = compile_pattern(plan.match)
    groups = [*pattern.groupindex, *map(str, range(1, pattern.groups + 1))] if pattern else []
    known = [*FACTS, *groups, *plan.variables]
    for where, text in yaml_documents.every_text(plan.model_dump(exclude={"match"}), path):
        for name in VARIABLE.findall(text):
            if name not in known and not re.match(r"context\.", name) and not _is_item(name, plan, where):
                found = f"there is no variable {name!r}; {yaml_documents.hint(name, known)}"
                document.mistake(where, f"{yaml_documents.place(where)}{found}")


def _is_item(name: str, plan: Plan, where: yaml_documents.Path) -> bool:
    """`item` means something in a subtask that is made for each thing of a list."""
    number = where[3] if len(where) > 3 and where[2] == "subtasks" else None
    return (
        bool(re.match(r"item(\.|$)", name)) and isinstance(number, int) and plan.subtasks[number].for_each is not None
    )

"""toryo.yaml: a team and its tasks as a file. Reading it and saying which line is wrong; applying.py carries it out.

Keys are those of the REST interface, with three shorter ways to write: `directory` (relative to the file),
`assignee`, and `parent` / `depends_on` by title. Unknown keys are mistakes: a typing error must not be silence.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toryo.cli.failures import Misuse

Location = tuple[str | int, ...]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    def said(self, *without: str) -> dict[str, Any]:
        """The keys that the file gives; what it does not mention is left as it is."""
        return {key: each for key, each in self.model_dump(exclude_unset=True).items() if key not in without}


class Project(_Entry):
    id: str | None = None
    """Without one, the name says which project is meant."""
    name: str
    directory: Path
    description: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)


class Agent(_Entry):
    id: str
    role: Literal["worker", "manager", "owner"]
    kind: Literal["ai", "human"] = "ai"
    name: str | None = None
    reports_to: str | None = None
    provider: str | None = None
    model: str | None = None
    system_prompt: str | None = None
    agent_type: str | None = None
    capabilities: list[str] = Field(default_factory=list)
    max_parallel_tasks: int | None = Field(None, ge=1)
    provider_options: dict[str, Any] = Field(default_factory=dict)
    projects: list[str] = Field(default_factory=list)
    """Ids or names."""


class Task(_Entry):
    project: str
    title: str
    description: str | None = None
    assignee: str | None = None
    priority: Literal["low", "medium", "high", "critical", "urgent"] | None = None
    parent: str | None = None
    """The title of another task of this file and project."""
    depends_on: list[str] = Field(default_factory=list)
    status: Literal["backlog", "todo", "in_progress"] | None = None
    context: dict[str, Any] | None = None
    acceptance: list[dict[str, str]] = Field(default_factory=list)


class Manifest(_Entry):
    projects: list[Project] = Field(default_factory=list)
    agents: list[Agent] = Field(default_factory=list)
    tasks: list[Task] = Field(default_factory=list)


_KEYS: dict[Location, type[_Entry]] = {(): Manifest, ("projects",): Project, ("agents",): Agent, ("tasks",): Task}


def read(path: Path) -> Manifest:
    """What a file says, directories made absolute; raises Misuse with a line per mistake."""
    text = path.read_text(encoding="utf-8")
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        document = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise Misuse(
            f"{path}, line {line}: this is no YAML: {error.problem}.", "Look at the line and the one before."
        ) from None
    try:
        manifest = Manifest.model_validate(document or {})
    except ValidationError as error:
        raise Misuse(_mistakes(path, error, _lines(node)), "Nothing was changed.") from None
    for project in manifest.projects:
        project.directory = (path.resolve().parent / project.directory.expanduser()).resolve()
    return manifest


def _mistakes(path: Path, error: ValidationError, lines: Mapping[Location, int]) -> str:
    return "\n".join(f"{path}, line {_line(each['loc'], lines)}: {_mistake(each)}" for each in error.errors())


def _mistake(error: Mapping[str, Any]) -> str:
    *inside, last = error["loc"] or ("",)
    within = f" in {inside[0]}" if inside else ""
    if error["type"] == "extra_forbidden":
        return f"there is no key {last!r}{within}; {_nearest(str(last), tuple(inside[:1]))}"
    if error["type"] == "missing":
        return f"the key {last!r} is missing{within}"
    where = ".".join(str(each) for each in error["loc"] if isinstance(each, str))
    return f"{where or 'the file'}: {error['msg']}, not {error['input']!r}"


def _nearest(key: str, group: Location) -> str:
    possible = list(_KEYS[group].model_fields) if group in _KEYS else []
    near = difflib.get_close_matches(key, possible, 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else "use one of " + ", ".join(possible)


def _line(location: Location, lines: Mapping[Location, int]) -> int:
    """Of the place itself or, where it is missing, of what it is missing in."""
    while location not in lines and location:
        location = location[:-1]
    return lines.get(location, 1)


def _lines(node: yaml.Node | None) -> dict[Location, int]:
    return {} if node is None else {location: mark.line + 1 for location, mark in _marks(node, ())}


def _marks(node: yaml.Node, location: Location) -> Iterator[tuple[Location, yaml.Mark]]:
    yield location, node.start_mark
    if isinstance(node, yaml.SequenceNode):
        for number, each in enumerate(node.value):
            yield from _marks(each, (*location, number))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _marks(value, (*location, key.value))
            yield (*location, key.value), key.start_mark

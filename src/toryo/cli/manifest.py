"""toryo.yaml: a team and its tasks as a file, read and checked; manifest_apply.py carries it out.

Keys are those of the REST interface, with three shorter ways to write: `directory` (relative to the file),
`assignee`, and `parent` / `depends_on` by title. Unknown keys are mistakes: a typing error must not be silence. With
`parameters`, the texts of its tasks have `{{name}}` in them, as those of a template (`formats/task_templates.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from toryo import artifact_limits, check_limits, provider_options
from toryo.chosen_ids import MOST_REPLICAS
from toryo.cli.exit_codes import Misuse
from toryo.domain import acceptance, ids, review_checks
from toryo.domain.errors import Refusal
from toryo.domain.projects import Settings
from toryo.formats import task_templates, yaml_documents
from toryo.formats.simulation_format import Simulation
from toryo.formats.task_templates import Parameter
from toryo.task_forms import MOST_PARAMETERS, Name, PeoplesForm

NOTHING = "Nothing was changed."


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    _where: yaml_documents.Path = PrivateAttr(default=())

    @property
    def where(self) -> yaml_documents.Path:
        """Where in the file it stands."""
        return self._where

    def each(self) -> Iterator[Any]:
        """All that the entry stands for."""
        yield self

    def put(self, where: yaml_documents.Path) -> None:
        self._where = where

    def said(self, *without: str) -> dict[str, Any]:
        """The keys that the file gives; what it does not mention is left as it is."""
        return {key: each for key, each in self.model_dump(exclude_unset=True).items() if key not in without}


class Project(_Entry):
    id: str | None = None
    """Its id, if you want to choose it; without one, the name says which project is meant."""
    name: str
    """The project's name."""
    directory: Path
    """Where its agents work; relative to the file."""
    description: str | None = None
    """For people and agents."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Project settings; those that are not named keep their values."""


class Agent(_Entry):
    id: str
    """1-64 of `a-z 0-9 . _ -`."""
    replicas: int | None = Field(None, ge=1, le=MOST_REPLICAS)
    """Makes that many of it: id-1, id-2, …"""
    role: Literal["worker", "manager", "owner"]
    """`owner` is for people."""
    kind: Literal["ai", "human"] = "ai"
    """Whether a program or a person works under this name."""
    name: str | None = None
    """What people call it; else its id."""
    reports_to: str | None = None
    """The id of the agent above it."""
    provider: str | None = None
    """The program that runs it; none: nobody starts it, it signs in by itself with its passkey."""
    model: str | None = None
    """The model, where its program has several."""
    system_prompt: str | None = None
    """What it is told about itself when it signs in."""
    agent_type: str | None = None
    """The queue it serves."""
    capabilities: list[str] = Field(default_factory=list)
    """What it is good at, in words that managers and playbooks look for."""
    max_parallel_tasks: int | None = Field(None, ge=1)
    """How many tasks may be in progress for it in one project; 1 if not said."""
    provider_options: dict[str, Any] = Field(default_factory=dict)
    """What its program takes, such as a `playbook`: all of it, options not listed here are removed."""
    projects: list[str] = Field(default_factory=list)
    """The projects it belongs to, by id or name."""

    def each(self) -> Iterator[Agent]:
        if self.replicas is None:
            yield self
            return
        for number in range(1, self.replicas + 1):
            named = {} if self.name is None else {"name": f"{self.name} {number}"}
            one = self.model_copy(update={"id": f"{self.id}-{number}", "replicas": None, **named})
            one.model_fields_set.discard("replicas")
            yield one


class DiffLimits(_Entry):
    max_files: int | None = Field(None, ge=0, le=acceptance.MOST_CHANGED)
    """The largest number of changed files."""
    max_lines: int | None = Field(None, ge=0, le=acceptance.MOST_CHANGED)
    """The largest number of added and deleted lines."""
    forbidden_paths: list[str] | None = Field(None, min_length=1, max_length=acceptance.MOST_PATHS)
    """Patterns of paths that must not change, as in .gitignore."""
    forbid_secrets: Literal[True] | None = None
    """Added lines must not look like secrets."""


class Review(_Entry):
    by: str | None = None
    """The agent or the person who reviews; none: who is responsible for the author."""
    rubric: str | None = Field(None, min_length=1, max_length=review_checks.LONGEST_RUBRIC)
    """What to look for."""
    rounds: int | None = Field(None, ge=1, le=review_checks.MOST_ROUNDS)
    """How often an agent may request changes before a person decides."""


class Check(_Entry):
    file: str | None = None
    """A path that must exist, in the working directory."""
    command: str | list[str] | None = None
    """A command that must end with 0."""
    timeout_seconds: int | None = Field(None, ge=1, le=acceptance.LONGEST_SECONDS)
    """Seconds that the command may take."""
    retries: int | None = Field(None, ge=0, le=check_limits.MOST_RETRIES)
    """How often the command runs again after a failure; a pass then is reported as flaky."""
    artifacts: list[str] | None = Field(None, min_length=1, max_length=artifact_limits.MOST_PATTERNS)
    """Patterns of files that are kept as evidence of the command, as in .gitignore."""
    diff: DiffLimits | None = None
    """Limits on the changes in the task's worktree."""
    review: Review | None = None
    """A reviewer who must approve."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Check:
        if [self.file, self.command, self.diff, self.review].count(None) != 3:
            raise ValueError("a check names exactly one of: a file, a command, a diff, a review")
        return self


class _Task(_Entry):
    project: str
    """The project's id or name."""
    title: str
    """Within its project, the title says which task is meant."""
    description: str | None = None
    """What to do."""
    assignee: str | None = None
    """The id of the agent that does it."""
    priority: Literal["low", "medium", "high", "critical", "urgent"] | None = None
    """`medium` if not said; `urgent` is `critical`."""
    parent: str | None = None
    """The title (or the id) of the task it is a part of."""
    depends_on: list[str] = Field(default_factory=list)
    """Titles (or ids) of tasks that must be completed first."""
    status: Literal["backlog", "todo", "in_progress"] | None = None
    """Where it begins; `in_progress` starts its assignee. Later runs leave the status alone."""
    start: Literal["when_ready", "manual"] | None = None
    """How it starts in `todo`: by Toryo as soon as it is ready, or by hand; else as the project's setting says."""
    context: dict[str, Any] | None = None
    """For its assignee, such as the `command` of a command agent."""
    acceptance: list[Check] = Field(default_factory=list)
    """Checks before it can complete: `file: PATH` or `command: CMD` each."""


class Task(PeoplesForm, _Task):
    pass


Entry = TypeVar("Entry", Project, Agent, Task)


class Manifest(_Entry):
    parameters: dict[Name, Parameter] = Field(default_factory=dict, max_length=MOST_PARAMETERS)
    """What `{{name}}` stands for in the texts of `tasks`."""
    projects: list[Project] = Field(default_factory=list)
    agents: list[Agent] = Field(default_factory=list)
    tasks: list[Task] = Field(default_factory=list)
    simulation: Simulation | None = None
    """How `toryo simulate` plays this team; `toryo apply` only checks it."""

    _document: yaml_documents.Document = PrivateAttr(default_factory=lambda: yaml_documents.Document({}, "toryo.yaml"))
    _named: dict[str, list[str]] = PrivateAttr(default_factory=dict)
    _after: str = PrivateAttr(default=NOTHING)

    @property
    def after(self) -> str:
        """What is said after its mistakes."""
        return self._after

    @classmethod
    def of(cls, document: yaml_documents.Document, after: str = NOTHING) -> Manifest:
        """What a document says; its mistakes are noted there. An entry with one is left out, and known by name only:
        what refers to it is no mistake."""
        manifest = cls()
        manifest._after = after
        try:
            yaml_documents.checked(document, cls)
        except yaml_documents.Mistakes as mistakes:
            document.mistakes = list(mistakes.found)
        manifest._document = document
        manifest.simulation = _simulation(document)
        entries: tuple[tuple[str, type[Project | Agent | Task], list[Any]], ...] = (
            ("projects", Project, manifest.projects),
            ("agents", Agent, manifest.agents),
            ("tasks", Task, manifest.tasks),
        )
        for kind, model, found in entries:
            said = document.data.get(kind)
            for number, each in enumerate(said if isinstance(said, list) else ()):
                try:
                    entry = model.model_validate(each)
                except ValidationError:
                    names = [each.get(key) for key in ("id", "name", "title")] if isinstance(each, dict) else []
                    manifest._named.setdefault(kind, []).extend(name for name in names if isinstance(name, str))
                    continue
                for one in entry.each():
                    one.put((kind, number))
                    found.append(one)
        return manifest

    def left_out(self, kind: Literal["projects", "agents", "tasks"]) -> list[str]:
        """The names of entries that have a mistake."""
        return self._named.get(kind, [])

    def place(self, entry: _Entry, *key: str | int) -> str:
        """`toryo.yaml:7`, to stand before what is wrong there."""
        line = self._document.line((*entry.where, *key))
        return self._document.source if line is None else f"{self._document.source}:{line}"

    def mistake(self, entry: _Entry, *key: str | int, message: str) -> None:
        """Notes it; `fail_if_mistaken` tells all of them."""
        with _as_misuse(self._after):
            self._document.mistake((*entry.where, *key), message)

    def note(self, where: yaml_documents.Path, message: str) -> None:
        """The same, for a place in the file."""
        with _as_misuse(self._after):
            self._document.mistake(where, message)

    def option(
        self, given: Any, option: str, is_path: Callable[[Any], bool], directory: Path | None, at: yaml_documents.Path
    ) -> yaml_documents.Document:
        """What an agent's option holds, as a document that knows its lines in this file."""
        return yaml_documents.of_option(given, option, is_path, directory or Path(), self._document, at)

    def take_over(self, mistakes: yaml_documents.Mistakes, what: str, at: yaml_documents.Path) -> None:
        """Notes those of an option's document, which stands at `at`, or is a file that is named there."""
        own = mistakes.source == self._document.source
        with _as_misuse(self._after):
            for mistake in mistakes.found:
                message = f"{what}: {mistake.message if own else mistake.told(mistakes.source)}"
                line = mistake.line if own and mistake.line is not None else self._document.line(at)
                self._document.add(yaml_documents.Mistake(message, line, mistake.column if own else None))

    @property
    def mistaken(self) -> bool:
        return bool(self._document.mistakes)

    def fail_if_mistaken(self) -> None:
        with _as_misuse(self._after):
            self._document.fail_if_mistaken()

    def project_of(self, name: str) -> Project | None:
        """The file's project that an agent or a task names."""
        return next((project for project in self.projects if name in (project.id, project.name)), None)


def _simulation(document: yaml_documents.Document) -> Simulation | None:
    """None without one, and for one with a mistake, which is noted already."""
    said = document.data.get("simulation")
    try:
        return None if said is None else Simulation.model_validate(said)
    except ValidationError:
        return None


@contextmanager
def _as_misuse(after: str) -> Iterator[None]:
    try:
        yield
    except yaml_documents.Mistakes as mistakes:
        raise Misuse(str(mistakes), after) from None


def read(path: Path, values: Mapping[str, str] | None = None) -> Manifest:
    """What a file says, directories made absolute; raises Misuse with a line per mistake."""
    manifest = noted(path, values=values)
    manifest.fail_if_mistaken()
    return manifest


def noted(path: Path, after: str = NOTHING, values: Mapping[str, str] | None = None) -> Manifest:
    """The same, its mistakes only noted: more is checked before all of them are reported (`fail_if_mistaken`).

    `after`: what is said after the mistakes; `values`: of its parameters, by name. Raises Misuse.
    """
    with _as_misuse(after):
        document = yaml_documents.of_file(path)
        if document.data is None:
            document.mistake((), "the file is empty: list projects, agents or tasks in it")
        elif not isinstance(document.data, dict):
            document.mistake((), "this is not a toryo.yaml: it must begin with projects:, agents: or tasks:")
        if not isinstance(document.data, dict):
            document.fail_if_mistaken()
        _fill_in(document, values or {})
        manifest = Manifest.of(document, after)
        _check_options(manifest)
        _check_settings_and_ids(manifest)
        if not _check_doubles(manifest):  # what stands there twice would look like a circle
            _check_circles(manifest)
    for project in manifest.projects:
        project.directory = (path.resolve().parent / project.directory.expanduser()).resolve()
    return manifest


def _fill_in(document: yaml_documents.Document, values: Mapping[str, str]) -> None:
    """Puts the values of its parameters into its tasks. A file without parameters stays as it is: its texts may have
    braces of their own."""
    said = document.data.get("parameters")
    if said is None and not values:
        return
    try:
        parameters = task_templates.parameters({} if said is None else said)
    except ValidationError:
        return  # `Manifest.of` tells where
    for name in values.keys() - parameters.keys():
        hint = yaml_documents.hint(name, list(parameters)) if parameters else "this file has none."
        document.mistake(("parameters",), f"there is no parameter {name!r}; {hint}")
    for name, each in parameters.items():
        if each.default is None and name not in values:
            document.mistake(("parameters", name), f"{name} has no value: add --set {name}=VALUE")
    tasks = document.data.get("tasks")
    for number, task in enumerate(tasks if isinstance(tasks, list) and not document.mistakes else ()):
        try:
            tasks[number] = task_templates.filled_task(task, parameters, values) if isinstance(task, dict) else task
        except ValueError as wrong:
            document.mistake(("tasks", number), f"tasks[{number}]: {wrong}")


def _check_options(manifest: Manifest) -> None:
    """As the server does, with the line: before anything of the file is carried out."""
    for agent in manifest.agents:
        for wrong in provider_options.check(agent.provider, agent.provider_options):
            manifest.mistake(agent, "provider_options", wrong.option, message=f"agent {agent.id}: {wrong}")
        for wrong in provider_options.check_model(agent.model):
            manifest.mistake(agent, "model", message=f"agent {agent.id}: {wrong}")


def _check_settings_and_ids(manifest: Manifest) -> None:
    """By the server's own rules."""
    named: Iterator[Project | Agent] = chain(manifest.projects, manifest.agents)
    for entry in named:
        if entry.id is not None:
            _check(manifest, entry, ("id",), partial(ids.chosen, entry.id))
    for project in manifest.projects:
        for name, value in project.settings.items():
            _check(manifest, project, ("settings", name), partial(Settings().changed, {name: value}))


def _check(manifest: Manifest, entry: _Entry, key: yaml_documents.Path, rule: Callable[[], object]) -> None:
    try:
        rule()
    except Refusal as refusal:
        manifest.mistake(entry, *key, message=f"{refusal.message} {refusal.instruction}")


def _check_doubles(manifest: Manifest) -> bool:
    """The same thing twice: one would silently undo the other. Answers whether there is any."""
    projects, agents = manifest.projects, manifest.agents
    found = [
        _check_double(manifest, projects, "id", lambda each: each.id, "projects with the id"),
        _check_double(manifest, projects, "name", lambda each: None if each.id else each.name, "projects named"),
        _check_double(manifest, agents, "id", lambda each: each.id, "agents with the id"),
    ]
    what = "tasks of this project with the title"
    found += [_check_double(manifest, tasks, "title", lambda each: each.title, what) for tasks in by_project(manifest)]
    return any(found)


def _check_double(
    manifest: Manifest, entries: Sequence[Entry], key: str, name: Callable[[Entry], str | None], what: str
) -> bool:
    twice = False
    seen: dict[str, Entry] = {}
    for entry in entries:
        named = name(entry)
        if named is None:
            continue
        if named in seen:
            twice = True
            first = manifest.place(seen[named], key).rpartition(":")[2]
            manifest.mistake(entry, key, message=f"there are two {what} {named!r}; the other one is on line {first}")
        seen.setdefault(named, entry)
    return twice


def by_project(manifest: Manifest) -> list[list[Task]]:
    """The file's tasks, those of one project together: by its entry, for names may be those of other projects."""
    found: dict[object, list[Task]] = {}
    for task in manifest.tasks:
        own = manifest.project_of(task.project)
        found.setdefault(task.project if own is None else own.where, []).append(task)
    return list(found.values())


def _check_circles(manifest: Manifest) -> None:
    try:
        agents_in_order(manifest.agents)
        for tasks in by_project(manifest):
            tasks_in_order(tasks)
    except Circle as circle:
        entry, key = circle.entry, "reports_to" if isinstance(circle.entry, Agent) else "depends_on"
        manifest.mistake(entry, key, message=str(circle))


class Circle(Exception):
    """Entries that refer to each other in a circle; one of them, and all in words."""

    def __init__(self, entry: _Entry, what: str, names: Iterable[str]) -> None:
        super().__init__(f"{what} in a circle: {' → '.join(names)}")
        self.entry = entry


def agents_in_order(agents: Sequence[Agent]) -> list[Agent]:
    """Each after the one above it. Raises Circle."""
    return _ordered(agents, lambda each: each.id, lambda each: [each.reports_to], "these agents report to each other")


def tasks_in_order(tasks: Sequence[Task]) -> list[Task]:
    """Each after those it refers to. Raises Circle."""
    what = "these tasks wait for each other"
    return _ordered(tasks, lambda each: each.title, lambda each: [each.parent, *each.depends_on], what)


def _ordered(
    entries: Sequence[Entry], name: Callable[[Entry], str], needs: Callable[[Entry], Iterable[str | None]], what: str
) -> list[Entry]:
    by_name = {name(entry): entry for entry in entries}
    graph = {name(entry): [other for other in needs(entry) if other in by_name] for entry in entries}
    try:
        return [by_name[each] for each in TopologicalSorter(graph).static_order()]
    except CycleError as error:
        raise Circle(by_name[error.args[1][0]], what, error.args[1]) from None

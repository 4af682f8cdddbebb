"""toryo.yaml: a team and its tasks as a file, read and checked; applying.py carries it out.

Keys are those of the REST interface, with three shorter ways to write: `directory` (relative to the file),
`assignee`, and `parent` / `depends_on` by title. Unknown keys are mistakes: a typing error must not be silence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from toryo import provider_options
from toryo.cli.failures import Misuse
from toryo.coordinator import documents


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    def said(self, *without: str) -> dict[str, Any]:
        """The keys that the file gives; what it does not mention is left as it is."""
        return {key: each for key, each in self.model_dump(exclude_unset=True).items() if key not in without}


class Project(_Entry):
    id: str | None = None
    """Its id, if you want to choose it; without one, the name says which project is meant."""
    name: str
    """What people call it."""
    directory: Path
    """Where its agents work; relative to the file."""
    description: str | None = None
    """For people and agents."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Project settings; those that are not named keep their values."""


class Agent(_Entry):
    id: str
    """1-64 of `a-z 0-9 . _ -`."""
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
    """What its program takes, such as a `playbook`: all of it, options that are not here are taken away."""
    projects: list[str] = Field(default_factory=list)
    """The projects it belongs to, by id or name."""


class Check(_Entry):
    file: str | None = None
    """A path that must exist, in the working directory."""
    command: str | list[str] | None = None
    """A command that must end with 0."""
    timeout_seconds: int | None = Field(None, ge=1, le=3600)
    """Seconds that the command may take."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Check:
        if (self.file is None) is (self.command is None):
            raise ValueError("a check names either a file or a command")
        return self


class Task(_Entry):
    project: str
    """The project's id or name."""
    title: str
    """Within its project, the title says which task is meant."""
    description: str | None = None
    """What is to be done."""
    assignee: str | None = None
    """The id of the agent who is to do it."""
    priority: Literal["low", "medium", "high", "critical", "urgent"] | None = None
    """`medium` if not said."""
    parent: str | None = None
    """The title (or the id) of the task it is a part of."""
    depends_on: list[str] = Field(default_factory=list)
    """Titles (or ids) of tasks that must be completed first."""
    status: Literal["backlog", "todo", "in_progress"] | None = None
    """Where it begins; `in_progress` starts its assignee. Later runs leave the status alone."""
    context: dict[str, Any] | None = None
    """For its assignee, such as the `command` of a command agent."""
    acceptance: list[Check] = Field(default_factory=list)
    """Checks before it can complete: `file: PATH` or `command: CMD` each."""


class Manifest(_Entry):
    projects: list[Project] = Field(default_factory=list)
    agents: list[Agent] = Field(default_factory=list)
    tasks: list[Task] = Field(default_factory=list)


def read(path: Path) -> Manifest:
    """What a file says, directories made absolute; raises Misuse with a line per mistake."""
    try:
        document = documents.of_file(path)
        manifest = documents.checked(document, Manifest)
        _check_options(document, manifest)
    except documents.Mistakes as mistakes:
        raise Misuse(str(mistakes), "Nothing was changed.") from None
    for project in manifest.projects:
        project.directory = (path.resolve().parent / project.directory.expanduser()).resolve()
    return manifest


def _check_options(document: documents.Document, manifest: Manifest) -> None:
    """As the server does, with the line: before anything of the file is carried out."""
    for number, agent in enumerate(manifest.agents):
        for wrong in provider_options.check(agent.provider, agent.provider_options):
            document.mistake(("agents", number, "provider_options", wrong.option), f"agent {agent.id}: {wrong}")
        for wrong in provider_options.check_model(agent.model):
            document.mistake(("agents", number, "model"), f"agent {agent.id}: {wrong}")
    document.fail_if_mistaken()

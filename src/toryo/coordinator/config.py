"""The Coordinator's file, `coordinator_config.yaml`: its keys, defaults and validation.

A file with a mistake prevents the start. Without a file the defaults apply: agents come from the server's database, and
the providers that need no program of their own are available.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from toryo import untrusted_files
from toryo.client import server_address
from toryo.formats import yaml_documents
from toryo.formats.yaml_documents import Mistakes

__all__ = ["AgentConfig", "Config", "ErrorProtection", "Mistakes", "ProviderConfig", "load", "parse"]


KNOWN = frozenset({"command", "playbook", "script", "claude", "gemini", "codex", "opencode", "copilot", "qwen"})
"""Providers that Toryo can start by itself: their sections need no `cli_command`."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Price(Section):
    """US dollars for a million tokens of one model."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(None, ge=0, description="For input read from a cache; default: as input.")


class ProviderConfig(Section):
    """How one provider's program is started on this machine."""

    cli_command: str | None = Field(None, description="The program, found on PATH or by its path.")
    cli_args: list[str] = Field(
        [], description="Its arguments; {prompt} {model} {mcp_config} {max_turns} {working_directory} are filled in."
    )
    model_flag: str | None = Field("--model", description="The flag before the model's name; empty: none.")
    prompt_flag: str | None = Field("-p", description="The flag before the first words; empty: they stand alone.")
    env: list[str] | dict[str, str] = Field(
        [], description="Names that pass from this environment, or names with their values."
    )
    max_turns: int | None = Field(
        None, ge=1, description="Answers of the model after which a process is stopped; {max_turns} in cli_args."
    )
    time_limit: float | None = Field(None, gt=0, description="Seconds after which a process is stopped.")
    max_output_mb: float = Field(64, gt=0, description="Megabytes of output after which a process is stopped.")
    patience: float = Field(
        300, gt=0, description="Seconds that a program may go on asking a model's service that says no."
    )
    resume: bool = Field(
        False, description="Whether a later start on the same task goes on with the program's own session."
    )
    prices: dict[str, Price] = Field(
        {}, description="US dollars per million tokens, by model or *, for programs that tell tokens and no money."
    )


class ProjectConfig(Section):
    """One project on this machine."""

    working_directory: str | None = Field(
        None, pattern=r"\S", description="Where it is here, in place of the project's own."
    )

    @field_validator("working_directory")
    @classmethod
    def _expanded(cls, value: str | None) -> str | None:
        return None if value is None else str(Path(value).expanduser())


class AgentConfig(Section):
    """One agent on this machine."""

    passkey: str | None = Field(None, description="Only for servers that hand out no launch credential.")
    working_directory: str | None = Field(None, pattern=r"\S", description="In place of the project's.")

    @field_validator("passkey")
    @classmethod
    def _not_empty(cls, value: str | None) -> str | None:
        if value is not None and not value.strip():
            raise ValueError("is empty: give the agent's passkey, or leave it out")
        return value

    @field_validator("working_directory")
    @classmethod
    def _expanded(cls, value: str | None) -> str | None:
        return None if value is None else str(Path(value).expanduser())


class ErrorProtection(Section):
    """Accepted for files written for older Coordinators: cooldowns are decided and stored by the server."""

    default_cooldown_seconds: float = Field(60, ge=0)
    max_cooldown_seconds: float = Field(3600, ge=0)
    quota_margin_percent: float = Field(10, ge=0)


class Config(Section):
    polling_interval: float = Field(10, gt=0, description="Longest pause, in seconds, between tries to reach a server.")
    max_concurrent: int = Field(3, ge=1, description="Task processes at a time.")
    max_chat: int | None = Field(None, ge=0, description="Chat processes at a time; default: max_concurrent.")
    mcp_socket_path: str | None = Field(None, pattern=r"\S", description="The server's Unix socket.")
    server_url: str | None = Field(None, description="The server's address.")
    coordinator_token: str | None = Field(None, pattern=r"\S", repr=False, description="This Coordinator's credential.")
    coordinator_id: str | None = Field(None, min_length=1, description="Default: of this machine and data directory.")
    labels: list[str] = Field([], description="What this machine offers; agents may ask for a label.")
    capabilities: list[str] | None = Field(
        None, description="Only agents with one of these capabilities are started here; default: every one."
    )
    projects: dict[str, ProjectConfig] = Field({}, description="Projects that stand elsewhere on this machine.")
    ai_providers: dict[str, ProviderConfig] = Field({})
    agents: dict[str, AgentConfig] | None = Field(None, description="Only these are started here; default: every one.")
    error_protection: ErrorProtection | None = None
    log_directory: Path | None = Field(None, description="Output of the agents; default: logs in the data directory.")
    log_keep_days: float = Field(30, gt=0, description="Files of older launches are removed at start.")
    workspace_directory: Path | None = Field(None, description="Generated files; default: workspaces, as above.")
    worktree_directory: Path | None = Field(None, description="Worktrees of tasks; default: worktrees, as above.")
    isolation: Literal["none", "worktree"] | None = Field(
        None,
        description="none: no worktrees here, whatever a project says; worktree, or left out: as each project says.",
    )
    sandbox: Literal["auto", "bwrap", "none"] | None = Field(
        None,
        description="Whether agents' programs run in a bubblewrap sandbox: auto (where it works), bwrap (never"
        " without), none. Default: TORYO_SANDBOX of the environment, else auto.",
    )
    sandbox_network: bool = Field(True, description="Whether they may use the network; models' programs need it.")
    sandbox_read: list[Path] = Field([], description="More that programs may read in their sandbox.")
    sandbox_write: list[Path] = Field([], description="More that programs may read and write there.")
    shutdown_grace_seconds: float = Field(10, ge=0, description="How long agents may tidy up when this ends.")

    @field_validator("mcp_socket_path")
    @classmethod
    def _expanded(cls, value: str | None) -> str | None:
        return None if value is None else str(Path(value).expanduser())

    @field_validator("log_directory", "workspace_directory", "worktree_directory")
    @classmethod
    def _expanded_path(cls, value: Path | None) -> Path | None:
        return None if value is None else value.expanduser().absolute()

    @field_validator("sandbox_read", "sandbox_write")
    @classmethod
    def _expanded_paths(cls, value: list[Path]) -> list[Path]:
        return [each.expanduser().absolute() for each in value]

    @field_validator("sandbox", mode="before")
    @classmethod
    def _not_empty(cls, value: object) -> object:
        if value is None:
            raise ValueError("is empty: use auto, bwrap or none, or leave it out")
        return value

    @field_validator("server_url")
    @classmethod
    def _an_address(cls, value: str | None) -> str | None:
        if value is not None:
            server_address.parse(value)
        return value

    @model_validator(mode="after")
    def _one_server(self) -> Config:
        if self.mcp_socket_path and self.server_url:
            raise ValueError("mcp_socket_path and server_url are both given: one server is enough")
        return self

    @property
    def server(self) -> str | None:
        """The server address in this file, if any."""
        return f"unix://{self.mcp_socket_path}" if self.mcp_socket_path else self.server_url

    @property
    def chat_slots(self) -> int:
        return self.max_concurrent if self.max_chat is None else self.max_chat

    def agent(self, agent_id: str) -> AgentConfig:
        return (self.agents or {}).get(agent_id, AgentConfig())

    @property
    def directories(self) -> list[dict[str, str]]:
        """The inputs of `working_directory` as reported to the server, which tells agents the directories."""
        agents = {name: agent.working_directory for name, agent in (self.agents or {}).items()}
        projects = {name: project.working_directory for name, project in self.projects.items()}
        return [
            *({"agent_id": name, "directory": path} for name, path in agents.items() if path),
            *({"project_id": name, "directory": path} for name, path in projects.items() if path),
        ]

    def working_directory(self, agent_id: str, project_id: str) -> str | None:
        """The directory that this file names: the agent's before the project's."""
        return (
            self.agent(agent_id).working_directory or self.projects.get(project_id, ProjectConfig()).working_directory
        )


def load(path: Path, environ: Mapping[str, str] | None = None) -> Config:
    """The file's configuration; raises Mistakes (all of them) or OSError."""
    return parse(untrusted_files.text(path), str(path), environ)


def parse(text: str, source: str, environ: Mapping[str, str] | None = None) -> Config:
    document = yaml_documents.read(text, source)
    yaml_documents.with_environment(document, os.environ if environ is None else environ)
    config = yaml_documents.checked(document, Config)
    for name, section in config.ai_providers.items():
        if section.cli_command is None and name not in KNOWN:
            document.mistake(("ai_providers", name), f"ai_providers.{name}: cli_command is missing: name its program")
    document.fail_if_mistaken()
    return config

"""The Coordinator's file, `coordinator_config.yaml`: its keys, defaults and validation.

A file with a mistake prevents the start. Without a file the defaults apply: agents come from the server's database, and
the providers that need no external program are available.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from toryo import removed_keys, sandbox_network, untrusted_files
from toryo.client import server_address
from toryo.formats import yaml_documents
from toryo.formats.yaml_documents import Document, Mistakes
from toryo.nearest import nearest
from toryo.provider_options import wrong_value
from toryo.sandbox_network import Network
from toryo.usual_slots import USUAL_SLOTS

log = logging.getLogger("toryo.coordinator")

__all__ = ["AgentConfig", "Config", "Mistakes", "ProviderConfig", "load", "parse"]


KNOWN = frozenset({"command", "playbook", "script", "claude", "gemini", "codex", "opencode", "copilot", "qwen"})
"""Providers that Toryo can start by itself: their sections need no `cli_command`."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Price(Section):
    """US dollars for a million tokens of one model."""

    input: float = Field(ge=0, description="For input.")
    output: float = Field(ge=0, description="For output.")
    cached: float | None = Field(None, ge=0, description="For input read from a cache. Default: the price of input.")


def _expanded(value: str) -> str:
    unreplaced = re.fullmatch(r"\$([A-Za-z_]\w*)(/.*)?", value)
    if unreplaced is not None:
        raise ValueError(f"${unreplaced[1]} is not replaced: write ${{{unreplaced[1]}}}")
    return _at_home(value)


def _at_home(value: str) -> str:
    return os.path.expanduser(value) if value.startswith("~/") else value  # noqa: PTH111 - not every value is a path


MOST_OF_A_NAME = 200
"""Characters in the name of an account, as the server accepts it (`claim_starts`)."""

Variable = Annotated[str, AfterValidator(_expanded)]
"""The value of an environment variable; `~/` at its beginning is the home directory, as in a shell."""
Word = Annotated[str, AfterValidator(_at_home)]
"""An argument of a program; `~/` at its beginning is the home directory. `$NAME` may be meant for the program."""


class AccountConfig(Section):
    """A further login of a provider on this machine."""

    env: dict[str, Variable] = Field(
        min_length=1,
        description="Environment variables that select the login. Of the provider's other variables the program gets "
        "only those of proxies.",
    )


_LIFTING = re.compile(
    r"--(dangerously-[\w-]+|yolo|allow-all-tools|allow-all|full-auto)|-y|"
    r"--(?:approval-mode|permission-mode)=(?:yolo|bypassPermissions)"
)
"""Options by which programs stop asking. What they may use at all, Toryo says beside them."""


def without_effect(arguments: Sequence[str]) -> str | None:
    """The first of these arguments that gives no more than the agent's `permissions` do."""
    return next((each for each in arguments if _LIFTING.fullmatch(each)), None)


NO_EFFECT = (
    "{option} of cli_args gives the program no more than the agent's permissions: {permissions}. For commands, set "
    "them to full: toryo agent edit ID --option permissions=full"
)


class ProviderConfig(Section):
    """How one provider's program is started on this machine."""

    cli_command: Variable | None = Field(None, description="The program: a name on PATH, or a path.")
    cli_args: list[Word] = Field(
        [],
        description="Arguments of the program. {prompt}, {model}, {mcp_config}, {max_turns} and "
        "{working_directory} are replaced.",
    )
    model_flag: str | None = Field("--model", description="The option before the model's name. Empty: no option.")
    prompt_flag: str | None = Field(
        "-p", description="The option before the prompt. Empty: the prompt is passed without one."
    )
    env: list[str] | dict[str, Variable] = Field(
        [], description="Names of environment variables to pass on, or names with values."
    )
    max_turns: int | None = Field(
        None, ge=1, description="How many answers the model may give in one launch; {max_turns} in cli_args."
    )
    time_limit: float | None = Field(None, gt=0, description="How long a process may run, in seconds.")
    max_output_mb: float = Field(64, gt=0, description="How much a process may print, in megabytes.")
    patience: float = Field(
        300, gt=0, description="How long a program may keep retrying a model's service that fails, in seconds."
    )
    resume: bool = Field(
        False, description="Whether a later launch for the same task continues the session of the program."
    )
    account: str | None = Field(
        None,
        pattern=r"\S",
        description="The account of this machine's own login. Default, where accounts are named: the provider's name.",
    )
    accounts: dict[str, AccountConfig] = Field(
        {}, description="Further accounts of this provider on this machine, by name. Agents select one by name."
    )
    prices: dict[str, Price] = Field(
        {}, description="US dollars per million tokens, by model or *, for programs that report tokens but no cost."
    )

    def own_account(self, provider: str) -> str | None:
        """The name of this machine's own login; None: neither it nor a further one is named."""
        return (self.account or provider) if self.account is not None or self.accounts else None


class ProjectConfig(Section):
    """One project on this machine."""

    working_directory: str | None = Field(
        None,
        pattern=r"\S",
        description="The directory of the project on this machine, instead of the one stored on the server.",
    )

    @field_validator("working_directory")
    @classmethod
    def _expanded(cls, value: str | None) -> str | None:
        return None if value is None else str(Path(value).expanduser())


class AgentConfig(Section):
    """One agent on this machine."""

    passkey: str | None = Field(None, description="Only for servers that issue no launch credentials.")
    working_directory: str | None = Field(
        None, pattern=r"\S", description="The working directory of the agent, instead of the project's."
    )

    @field_validator("passkey")
    @classmethod
    def _not_empty(cls, value: str | None) -> str | None:
        if value is not None and not value.strip():
            raise ValueError("is empty: enter the agent's passkey, or remove it")
        return value

    @field_validator("working_directory")
    @classmethod
    def _expanded(cls, value: str | None) -> str | None:
        return None if value is None else str(Path(value).expanduser())


class Config(Section):
    polling_interval: float = Field(
        10, gt=0, description="Longest pause between attempts to reach the server, in seconds."
    )
    max_concurrent: int = Field(USUAL_SLOTS, ge=1, description="How many task processes run at a time.")
    max_chat: int | None = Field(
        None, ge=0, description="How many chat processes run at a time. Default: max_concurrent."
    )
    mcp_socket_path: str | None = Field(None, pattern=r"\S", description="Path of the server's Unix socket.")
    server_url: str | None = Field(None, description="URL of the server.")
    coordinator_token: str | None = Field(None, pattern=r"\S", repr=False, description="Token of this Coordinator.")
    coordinator_id: str | None = Field(
        None, min_length=1, description="Id of this Coordinator. Default: derived from this machine and data directory."
    )
    labels: list[str] = Field([], description="Labels of this machine. Agents can require labels.")
    capabilities: list[str] | None = Field(
        None, description="Starts only agents with one of these capabilities. Default: all agents."
    )
    projects: dict[str, ProjectConfig] = Field(
        {}, description="Projects that are in another directory on this machine."
    )
    ai_providers: dict[str, ProviderConfig] = Field(
        {}, description="Programs that start agents, by provider. Those that Toryo knows need no entry."
    )
    agents: dict[str, AgentConfig] | None = Field(None, description="Starts only these agents. Default: all agents.")
    log_directory: Path | None = Field(
        None, description="Directory for the output of agents. Default: logs in the data directory."
    )
    log_keep_days: float = Field(
        30, gt=0, description="How long files of old launches are kept, in days. They are removed at start."
    )
    workspace_directory: Path | None = Field(
        None, description="Directory for generated files. Default: workspaces in the data directory."
    )
    worktree_directory: Path | None = Field(
        None, description="Directory for worktrees. Default: worktrees in the data directory."
    )
    isolation: Literal["none", "worktree"] | None = Field(
        None,
        description="none: uses no worktrees, whatever a project's setting is. worktree, or not set: as each "
        "project is configured.",
    )
    sandbox: Literal["auto", "bwrap", "none"] | None = Field(
        None,
        description="Whether agents' programs run in a bubblewrap sandbox: auto (if it works), bwrap (always), "
        "none. Default: TORYO_SANDBOX of the environment, else auto.",
    )
    sandbox_network: Network = Field(
        Network.OPEN,
        description="What agents in a sandbox reach at most, whatever their projects allow: off (only the server), "
        "model (also their models' services), allowlist (also the projects' network_hosts), open.",
    )
    sandbox_read: list[Path] = Field([], description="Additional paths that agents may read in a sandbox.")
    sandbox_write: list[Path] = Field([], description="Additional paths that agents may read and write in a sandbox.")
    shutdown_grace_seconds: float = Field(
        10, ge=0, description="How long agents may take to finish when the Coordinator stops, in seconds."
    )

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

    @field_validator("sandbox_network", mode="before")
    @classmethod
    def _a_word(cls, value: object) -> Network:
        found = sandbox_network.word(value)
        if found is None:
            raise ValueError("must be off, model, allowlist or open")
        return found

    @field_validator("sandbox", mode="before")
    @classmethod
    def _not_empty(cls, value: object) -> object:
        if value is None:
            raise ValueError("is empty: use auto, bwrap or none, or remove it")
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
            raise ValueError("mcp_socket_path and server_url cannot be combined: use one")
        return self

    @property
    def server(self) -> str | None:
        """The server address in this file, if any."""
        return f"unix://{self.mcp_socket_path}" if self.mcp_socket_path else self.server_url

    @property
    def accounts(self) -> list[dict[str, str]]:
        """The accounts that this file names, as reported to the server; that of the machine's own login first."""
        return [
            {"provider": name, "account": account}
            for name, section in self.ai_providers.items()
            if (own := section.own_account(name)) is not None
            for account in (own, *section.accounts)
        ]

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
    _drop_removed(document)
    _note_misplaced(document)
    config = yaml_documents.checked(document, Config)
    for name, section in config.ai_providers.items():
        if section.cli_command is None and name not in KNOWN:
            near = nearest(name, sorted(KNOWN))
            meant = f"Did you mean {near}? Otherwise enter" if near is not None else "Enter"
            document.mistake(
                ("ai_providers", name), f"ai_providers.{name}: cli_command is missing. {meant} the name of its program."
            )
        for key, what in _mistaken_accounts(name, section):
            document.mistake(("ai_providers", name, key), f"ai_providers.{name}.{key}: {what}")
    document.fail_if_mistaken()
    return config


def _mistaken_accounts(name: str, section: ProviderConfig) -> Iterator[tuple[str, str]]:
    """Accounts that the server does not accept, and those that cannot be told apart from another one."""
    own, seen = section.own_account(name), dict[tuple[tuple[str, str], ...], str]()
    if section.account is not None and not _is_account(section.account):
        yield "account", _NO_ACCOUNT.format(wrong_value(section.account))
    elif section.account is not None and "," in section.account:
        yield "account", "this is one account. Write further ones below accounts."
    for account, login in section.accounts.items():
        first = seen.setdefault(tuple(sorted(login.env.items())), account)
        if not _is_account(account):
            yield "accounts", _NO_ACCOUNT.format(wrong_value(account))
        elif account == own:
            yield "accounts", _OWN_ACCOUNT.format(own=own, name=name)
        elif first != account:
            yield "accounts", f"{first} and {account} have the same env, so they are one account. Remove one of them."
        for variable in (each for each, value in login.env.items() if _is_place(each) and not value.startswith("/")):
            yield "accounts", f"{account}: {variable} must be an absolute path, or begin with ~/."


_OWN_ACCOUNT = (
    "{own} is the account of this machine's own login. Give the further one another name, or set "
    "ai_providers.{name}.account."
)
_NO_ACCOUNT = (
    f"{{}} is not a valid account name. Use 1 to {MOST_OF_A_NAME} printable characters, without spaces around them."
)


def _is_place(variable: str) -> bool:
    """Whether it names the directory of a login: a relative one would be in the project, where agents write."""
    return variable == "HOME" or variable.endswith(("_HOME", "_DIR"))


def _is_account(name: str) -> bool:
    return 0 < len(name) <= MOST_OF_A_NAME and name.isprintable() and name.strip() == name


def _drop_removed(document: Document) -> None:
    found = document.data if isinstance(document.data, dict) else {}
    for key, warning in removed_keys.among(found).items():
        del found[key]
        log.warning(warning)


OF_SERVER = frozenset({"auth", "chat", "guards", "notices", "retention", "session"})
"""Groups of the server's settings, which people look for in this file."""


def _of_server(key: str, given: object) -> str:
    names = [str(each) for each in given] if isinstance(given, dict) else []
    variables = [f"TORYO_{key}__{name}".upper() for name in names if name.isidentifier()] or [f"TORYO_{key}__…".upper()]
    return (
        f"{key}: this belongs to the server, which reads its settings from environment variables: "
        f"{', '.join(variables)} (docs/reference/settings.md in Toryo's source)."
    )


def _note_misplaced(document: Document) -> None:
    """Keys of a provider that are at another level; raises Mistakes: what follows from them would only confuse."""
    found = document.data if isinstance(document.data, dict) else {}
    for key in found.keys() - Config.model_fields.keys():
        if key in KNOWN:
            document.mistake((key,), f"{key}: this is a provider: write it below ai_providers, indented.")
        elif key in OF_SERVER:
            document.mistake((key,), _of_server(key, found[key]))
        elif key in ProviderConfig.model_fields:
            document.mistake(
                (key,), f"{key}: this belongs to one provider: write it below ai_providers.NAME, indented."
            )
    sections = found.get("ai_providers")
    for key, section in sections.items() if isinstance(sections, dict) else ():
        of_its_own = isinstance(section, dict) and "cli_command" in section
        if key in ProviderConfig.model_fields and not of_its_own:
            document.mistake(
                ("ai_providers", key),
                f"ai_providers.{key}: this belongs to one provider: indent it below the name of that provider.",
            )
    document.fail_if_mistaken()

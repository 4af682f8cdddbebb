"""What a provider is: how to start one kind of agent program, and how to judge its end. One value per provider.

`providers/` holds the values, one file each; a provider never needs another one. What every program has in common
(environment, output, ending it) is not here; what the words of a failing program mean is in `failure_words.py`.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from toryo import provider_options
from toryo.coordinator.orders import Launch
from toryo.coordinator.prices import Prices
from toryo.coordinator.program_output import Event, Parse, Troubled
from toryo.failures import Ended, Failure
from toryo.provider_options import PERMISSIONS, Option, Permissions


class StartFailure(Exception):
    """This agent cannot be started; `str()` says what is wrong and where to fix it."""

    failure = Failure.CRASHED


class CommandNotFound(StartFailure):
    failure = Failure.COMMAND_NOT_FOUND


class BadConfig(StartFailure):
    failure = Failure.BAD_CONFIG


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything a provider may know when it prepares a start. `workspace` is the launch's own directory."""

    launch: Launch
    working_directory: Path
    workspace: Path
    server_url: str
    max_turns: int | None = None
    prompt: str = ""
    """The first words: who it is, how to connect, what to do; or, to one that is resumed, what it has forgotten."""
    resume: str | None = None
    """The program's own name of the session to go on with; None: a new one."""
    environ: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What passes to it of this machine's environment: where its login is, which keys it has."""

    @property
    def options(self) -> Mapping[str, Any]:
        """The agent's `provider_options`."""
        return self.launch.provider_options


@dataclass(frozen=True, slots=True)
class Command:
    """What to execute: argv (found on PATH), more environment, and files to write into the workspace before."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    links: Mapping[str, Path] = field(default_factory=dict, hash=False)
    """Symbolic links in the workspace, to what outlives it; a directory is made where there is nothing yet."""
    stdin: str | None = None
    """What it reads on its standard input; None: nothing, it is closed."""


def permissions(setting: Setting) -> Permissions:
    """What its program may do by itself, beside our tools. Where nobody says it, the narrowest."""
    return Permissions(setting.options.get(PERMISSIONS.name, PERMISSIONS.default))


def extra_arguments(setting: Setting) -> tuple[str, ...]:
    """`provider_options.args`: arguments of the program that Toryo need not know."""
    return tuple(setting.options.get("args", ()))


def refuse_mistakes(setting: Setting, provider: Provider) -> None:
    """Nothing is started with an option that its provider does not know, or with a value that it does not take.

    The server refuses the same, in the same words; this one holds whatever the server does. Raises BadConfig.
    """
    launch = setting.launch
    declared = provider_options.of(launch.ai_type) if provider.options is None else provider.options
    passed_over = () if provider.options is None else launch.defaults  # a template says its rights itself
    options = {name: value for name, value in setting.options.items() if name not in passed_over}
    wrong = provider_options.check(launch.ai_type, options, declared)
    wrong += provider_options.check_model(launch.model)
    if wrong:
        raise BadConfig(f"Agent {launch.agent_id}: " + " ".join(str(each) for each in wrong))


def home(environ: Mapping[str, str]) -> Path:
    """The home that a program's environment names."""
    return Path(environ.get("HOME") or "~").expanduser().resolve()


def named_files(environ: Mapping[str, str], *names: str) -> tuple[Path, ...]:
    """What these variables lead to, where they are set."""
    return tuple(Path(environ[name]).expanduser() for name in names if environ.get(name))


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: an exit code or the signal that ended it, and the end of its output."""

    exit_code: int | None
    signal: int | None
    tail: str = ""
    """Of what was no event: the program's own words."""
    trouble: Troubled | None = None
    """The last no of the model's service that nothing good has followed."""
    not_connected: str | None = None
    now: datetime | None = None
    """When it ended, in local time: programs say when to come back by the clock."""

    @property
    def told(self) -> str:
        """For logs. Nobody learns how a process ended that an earlier Coordinator had started."""
        if self.signal is not None:
            known = self.signal in set(signal.Signals)
            return f"by signal {self.signal}{f' ({signal.Signals(self.signal).name})' if known else ''}"
        return f"with exit code {self.exit_code}" if self.exit_code is not None else "(exit code unknown)"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an exit means; `reset_seconds` where the program named when its quota comes back."""

    failure: Failure | Ended | None
    reset_seconds: float | None = None
    words: str = ""
    """What the program said of it, for people."""


FINE = Verdict(None)


@dataclass(frozen=True, slots=True)
class Needs:
    """What a program needs of its user's home when it runs in a sandbox, where all else of the home is hidden."""

    writes: tuple[Path, ...] = ()
    """Directories where it keeps its login and its sessions; made if missing."""
    reads: tuple[Path, ...] = ()
    fixed: tuple[Path, ...] = ()
    """What is read-only in `writes`: settings by which the program would run commands, also when a person starts it."""
    made: Mapping[Path, str] = field(default_factory=dict, hash=False)
    """The same, with what is written there where there is none yet: else an agent could make it."""
    copies: Mapping[Path, Path] = field(default_factory=dict, hash=False)
    """Files of which it gets a copy: where → of which. What it writes there is lost."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A file of the launch's directory in which a program tells, while it runs, what its output does not."""

    file: str
    lines: Callable[[str], Iterable[str]]
    """What was written there since the last look, as lines of its output that `parse` understands."""


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    prepare: Callable[[Setting], Command]
    """Raises StartFailure. Pure but for looking at files."""
    judge: Callable[[Exit], Verdict]
    version: tuple[str, ...] | None = None
    """A command that proves the program is there, for `toryo coordinator check`; None: nothing to check."""
    env: frozenset[str] = frozenset()
    """Names of the Coordinator's environment that pass to it besides the allow-list."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Environment it is given by the configuration."""
    time_limit: float | None = None
    max_turns: int | None = None
    max_output: int = 64 * 1024 * 1024
    """Bytes of output after which a process is stopped."""
    patience: float = 300.0
    """Seconds that a program may go on asking a model's service that says no, until it is stopped."""
    parse: Parse | None = None
    """How to read its output, one JSON object per line; None: its output is its own words."""
    also: Callable[[Path], Iterable[Event]] | None = None
    """What it told elsewhere than in its output: reads the launch's directory after the end."""
    asks_untold: bool = False
    """It tells when it could not reach our server, and nothing when it asks its model."""
    beside: Beside | None = None
    reads_project: bool = False
    """Whether `prepare` reads files of the project: agents write there, so it is done beside everything else."""
    options: tuple[Option, ...] | None = None
    """What agents may say to it; None: what is declared for its name."""
    resumes: bool = False
    """Whether its own sessions can be gone on with (`Setting.resume`)."""
    keeps_context: bool = False
    """Whether a later launch on the same task goes on with the session of the one before (configuration: `resume`)."""
    prices: Mapping[str, Prices] = field(default_factory=dict, hash=False)
    """By model (or `*`), for programs that tell tokens and no money."""
    login: Callable[[Mapping[str, str]], Login] | None = None
    """Whether it is logged in, from its environment and without spending a token; None: nothing to log in to."""
    needs: Callable[[Mapping[str, str]], Needs] | None = None
    """What it needs of the home that its environment names, when it runs in a sandbox; None: nothing."""
    install: str = ""
    """How to get it, as a person types it."""
    log_in: str = ""
    """How to log in, as a sentence."""
    tried: str = ""
    """The version of the program that this was tried with."""

    @property
    def model_cli(self) -> bool:
        """Whether it is a program of a model, on somebody's account."""
        return self.parse is not None or self.login is not None


@dataclass(frozen=True, slots=True)
class Login:
    """`ok` None: it cannot be told without asking the service."""

    ok: bool | None
    what: str

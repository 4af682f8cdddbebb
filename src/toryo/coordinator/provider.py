"""What a provider is: how to start one kind of agent program, and how to judge its end. One value per provider.

`providers/` holds the values, one file each; a provider never needs another one. What every program has in common
(environment, output, ending it) is not here; what the words of a failing program mean is in `failure_words.py`.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from toryo import provider_options
from toryo.coordinator.environment import PROXIES
from toryo.coordinator.orders import Launch
from toryo.coordinator.prices import Prices
from toryo.coordinator.program_output import Event, Parse, Price, Troubled, Window
from toryo.failures import Ended, Failure
from toryo.provider_options import PERMISSIONS, UNMETERED, Option, Permissions


class StartFailure(Exception):
    """This agent cannot be started; `str()` says what is wrong and where to fix it."""

    failure = Failure.CRASHED


class CommandNotFound(StartFailure):
    failure = Failure.COMMAND_NOT_FOUND


class BadConfig(StartFailure):
    failure = Failure.BAD_CONFIG


class Unmetered(StartFailure):
    failure = Failure.UNMETERED


class BadDirectory(BadConfig):
    failure = Failure.BAD_DIRECTORY


class BadWorktree(BadConfig):
    failure = Failure.BAD_WORKTREE


class BadSetup(BadConfig):
    failure = Failure.BAD_SETUP


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything a provider may know when it prepares a start. `workspace` is the launch's own directory."""

    launch: Launch
    working_directory: Path
    workspace: Path
    server_url: str
    max_turns: int | None = None
    prompt: str = ""
    """The prompt: identity, how to connect, what to do; for a resumed session, a reminder."""
    resume: str | None = None
    """The program's own id of the session to resume; None: a new one."""
    environ: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The part of this machine's environment that it gets: for its login and API keys."""
    plans: Callable[[str], str] | None = field(default=None, hash=False)
    """The text of a file of the project as people have merged it; None: it is read where the agent works. Raises
    Mistakes."""

    own_sandbox: bool = True
    """Whether a sandbox that the program makes for its commands can be made. Within ours, none can be made as root."""

    @property
    def options(self) -> Mapping[str, Any]:
        """The agent's `provider_options`."""
        return self.launch.provider_options


@dataclass(frozen=True, slots=True)
class Command:
    """What to execute: argv (found on PATH), additional environment, and files to write into the workspace first."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    links: Mapping[str, Path] = field(default_factory=dict, hash=False)
    """Symbolic links in the workspace to files outside it; a missing target is created as a directory."""
    stdin: str | None = None
    """The text for its standard input; None: closed."""


def permissions(setting: Setting) -> Permissions:
    """The permissions of its program beside Toryo's tools. The narrowest by default."""
    return Permissions(setting.options.get(PERMISSIONS.name, PERMISSIONS.default))


def extra_arguments(setting: Setting) -> tuple[str, ...]:
    """`provider_options.args`: arguments for the program that Toryo does not interpret."""
    return tuple(setting.options.get("args", ()))


def refuse_mistakes(setting: Setting, provider: Provider) -> None:
    """Raises BadConfig for an option that the provider does not know, or a value that it does not accept.

    The server refuses the same with the same words; this check does not depend on the server.
    """
    launch = setting.launch
    declared = provider_options.options_of(launch.ai_type) if provider.options is None else provider.options
    passed_over = () if provider.options is None else launch.defaults  # a template sets its own permissions
    options = {name: value for name, value in setting.options.items() if name not in passed_over}
    wrong = provider_options.check(launch.ai_type, options, declared)
    wrong += provider_options.check_model(launch.model)
    if wrong:
        raise BadConfig(f"Agent {launch.agent_id}: " + " ".join(str(each) for each in wrong))


def refuse_unmetered(launch: Launch, provider: Provider) -> None:
    """Raises Unmetered where budgets limit a launch and none of them can, unless a person has accepted that."""
    limited = {"usd": launch.budget_usd, "tokens": launch.budget_tokens}
    kinds = [kind for kind, left in limited.items() if left is not None]
    if not kinds or launch.provider_options.get(UNMETERED.name) is True:
        return
    if any(provider.counts(launch.model, money=kind == "usd") for kind in kinds):
        return
    name = provider.name
    how = (
        f"{name} does not report what it spends, so no budget can limit it."
        if provider.metering is Metering.NEVER
        else f"{name} reports tokens but no cost, so only a budget in tokens can limit it: set tokens_per_day, or "
        f"prices in the Coordinator's file (ai_providers.{name}.prices)."
    )
    raise Unmetered(f"{how} To start it without a limit: toryo agent edit {launch.agent_id} --option unmetered=true.")


def home(environ: Mapping[str, str]) -> Path:
    """The home directory in a program's environment."""
    return Path(environ.get("HOME") or "~").expanduser().resolve()


def named_files(environ: Mapping[str, str], *names: str) -> tuple[Path, ...]:
    """The files and directories named by these variables, if set."""
    return tuple(Path(environ[name]).expanduser() for name in names if environ.get(name))


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: an exit code or the signal that ended it, and the end of its output."""

    exit_code: int | None
    signal: int | None
    tail: str = ""
    """The end of its output that was not an event: the program's own words."""
    trouble: Troubled | None = None
    """The last error of the model's service without a success after it."""
    not_connected: str | None = None
    now: datetime | None = None
    """When it ended, in local time: programs name reset times by the clock."""

    @property
    def told(self) -> str:
        """For logs. The exit code is unknown for a process that an earlier Coordinator had started."""
        if self.signal is not None:
            known = self.signal in set(signal.Signals)
            return f"by signal {self.signal}{f' ({signal.Signals(self.signal).name})' if known else ''}"
        return f"with exit code {self.exit_code}" if self.exit_code is not None else "(exit code unknown)"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The meaning of an exit; `reset_seconds` if the program or its service said when its quota resets."""

    failure: Failure | Ended | None
    reset_seconds: float | None = None
    window: Window | None = None
    """Which quota is used up, if the words name it."""
    words: str = ""
    """The program's message, for people."""


FINE = Verdict(None)


@dataclass(frozen=True, slots=True)
class Own:
    """A program's own directory in the home. A launch in a sandbox has a new one at its path (`program_homes.py`), with
    what is named here; what the program writes there is dropped, but for renewed tokens and its session.
    """

    place: Path
    fixed: tuple[str, ...] = ()
    """Settings and installed parts, read-only. A missing one is empty: the program must not obey what it wrote itself,
    since its `permissions` may be narrower than the sandbox."""
    made: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The same, with what stands there if they are missing."""
    copies: tuple[str, ...] = ()
    """Files of which it gets a copy."""
    logins: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """The same; JSON objects, with the keys of tokens that it renews (`a.b`, `*` for any name). No key may lead the
    program anywhere: no address, no command, no account."""
    sessions: tuple[str, ...] = ()
    """Patterns of the files that it needs to resume a session (`*` matches `/` too)."""


@dataclass(frozen=True, slots=True)
class Needs:
    """The files of the user's home that a program needs in a sandbox. The rest of the home is hidden."""

    own: tuple[Own, ...] = ()
    reads: tuple[Path, ...] = ()
    made: Mapping[Path, str] = field(default_factory=dict, hash=False)
    """Read-only files, with their content if they are missing."""
    copies: Mapping[Path, Path] = field(default_factory=dict, hash=False)
    """Files of which it gets a copy, by target path. Changes to the copy are lost."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A file in which a program reports, while it runs, what its output lacks: in the launch's directory, or the one in
    which the program keeps its session."""

    file: str | Callable[[Path, str], Path | None]
    """Its name; or from the program's own directory (`Own.place`) and the id of its session where that is kept, None
    while it is not there. A session that is resumed is read from where it ended before."""
    lines: Callable[[str], Iterable[str]]
    """What was added since the last read, as lines of output that `parse` accepts."""
    to_the_end: bool = False
    """Whether what it wrote last counts too, after its end. It is of whole lines then."""


class Metering(StrEnum):
    """When the tokens of a program are known; without them no budget can limit it."""

    EACH_ANSWER = "each_answer"
    """While it runs: it is stopped soon after the answer that uses a budget up."""
    AS_TOLD = "as_told"
    """It asks no model, or its command tells what it uses: nothing else is spent."""
    NEVER = "never"
    """What it spends is not known."""


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    prepare: Callable[[Setting], Command]
    """Builds the command of a start. Raises StartFailure. Reads files, and has no other side effects."""
    judge: Callable[[Exit], Verdict]
    version: tuple[str, ...] | None = None
    """A command that shows that the program is installed, for `toryo coordinator check`; None: nothing to check."""
    env: frozenset[str] = frozenset()
    """Variables of the Coordinator's environment that it gets in addition to the allow-list."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Additional environment from the configuration."""
    account: str | None = None
    """The account of this machine's own login; None: it has no name, so it is whatever account is asked for."""
    accounts: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    """The environment of each further account, instead of `env` and `settings`."""
    time_limit: float | None = None
    max_turns: int | None = None
    max_output: int = 64 * 1024 * 1024
    """Bytes of output after which a process is stopped."""
    patience: float = 300.0
    """Seconds for which a program may retry a failing model service before it is stopped."""
    parse: Parse | None = None
    """Parses its output, one JSON object per line; None: its output is plain text."""
    also: Callable[[Path], Iterable[Event]] | None = None
    """Reads what it reported outside its output, from the launch's directory after the end."""
    asks_untold: bool = False
    """Whether it reports a failed connection to Toryo's server, but not its requests to the model."""
    beside: Beside | None = None
    runs_model: bool = True
    """Whether a program with `parse` is one of a model, which needs an account and keeps to `permissions`."""
    reads_project: bool = False
    """Whether `prepare` reads files of the project: agents write there and it may be slow, so it runs in a thread."""
    options: tuple[Option, ...] | None = None
    """The options that it accepts; None: those declared for its name."""
    resumes: bool = False
    """Whether its sessions can be resumed (`Setting.resume`)."""
    keeps_context: bool = False
    """Whether a later launch on the same task resumes the previous session (configuration: `resume`)."""
    prices: Mapping[str, Prices] = field(default_factory=dict, hash=False)
    """By model (or `*`), for programs that report tokens but no cost."""
    metering: Metering = Metering.NEVER
    tells_cost: bool = False
    """Whether it reports what it costs, in US dollars."""
    so_far: Price | None = None
    """What tokens cost at least, for a program that reports its cost only at its end: where no `prices` are set."""
    login: Callable[[Mapping[str, str]], Login] | None = None
    """Whether it is logged in, judged from its environment without using tokens; None: it needs no login."""
    needs: Callable[[Mapping[str, str]], Needs] | None = None
    """What it needs from the home directory when it runs in a sandbox; None: nothing."""
    install: str = ""
    """The command that installs it."""
    log_in: str = ""
    """How to log in, as a sentence."""
    tried: str = ""
    """The version of the program with which this provider was tested."""

    def for_account(self, account: str | None) -> Provider:
        """With the login of this account; raises BadConfig for one that the configuration does not have.

        A further account gets nothing else of this machine's environment that could be a login: no program may use one
        account for another unnoticed.
        """
        if account is None or self.account in (None, account):
            return self
        if account not in self.accounts:
            have = ", ".join(sorted({self.account, *self.accounts} - {None}))
            raise BadConfig(
                f"This Coordinator has no account {account!r} of {self.name}. It has: {have}. Add "
                f"ai_providers.{self.name}.accounts.{account} to the Coordinator's file."
            )
        proxies = {name: value for name, value in self.settings.items() if name in PROXIES}
        return replace(self, env=self.env & PROXIES, settings={**proxies, **self.accounts[account]})

    @property
    def logins(self) -> tuple[Provider, ...]:
        """Itself, and with each further account; under a name that says the account, unless that is the provider's."""
        own = self if self.account in (None, self.name) else replace(self, name=f"{self.name} ({self.account})")
        return (own, *(self._login_of(each) for each in self.accounts))

    def _login_of(self, account: str) -> Provider:
        found, how = self.for_account(account), self.log_in
        place = f"In the environment of this account ({', '.join(self.accounts[account])})"
        return replace(
            found,
            name=f"{self.name} ({account})",
            log_in=f"{place}: {how[:1].lower()}{how[1:]}" if how else "",
        )

    def counts(self, model: str | None, *, money: bool) -> bool:
        """Whether what a launch with this model spends is known: in tokens, or (`money`) in US dollars."""
        if self.metering is not Metering.EACH_ANSWER:
            return self.metering is Metering.AS_TOLD
        priced = bool(self.prices) if model is None else model in self.prices or "*" in self.prices
        return not money or self.tells_cost or priced

    @property
    def model_cli(self) -> bool:
        """Whether the program uses a model, and so an account."""
        return (self.parse is not None and self.runs_model) or self.login is not None


@dataclass(frozen=True, slots=True)
class Login:
    """`ok` None: unknown without asking the service."""

    ok: bool | None
    what: str

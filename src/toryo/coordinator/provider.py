"""What a provider is: how to start one kind of agent program, and what its failures mean. One value per provider.

`providers/` holds the values, one file each; a provider never needs another one. What every program has in common
(environment, output, ending it) is not here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from toryo.coordinator.orders import Launch


class Failure(StrEnum):
    """Why a process did not do its work, as it is named and shown everywhere."""

    COMMAND_NOT_FOUND = "command_not_found"
    NOT_LOGGED_IN = "not_logged_in"
    MODEL_NOT_AVAILABLE = "model_not_available"
    QUOTA = "quota"
    RATE_LIMITED = "rate_limited"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    KILLED = "killed"
    LEFT_WITHOUT_REPORTING = "left_without_reporting"
    """Only the server can see this one."""
    COULD_NOT_CONNECT = "could_not_connect"
    BAD_CONFIG = "bad_config"


class Ended(StrEnum):
    """Ends that somebody ordered: no failure of the agent, and told apart from one."""

    STOPPED = "stopped"
    COORDINATOR_STOPPED = "coordinator_stopped"


class StartFailure(Exception):
    """This agent cannot be started; `str()` says what is wrong and where to mend it."""

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


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: an exit code or the signal that ended it, and the end of its output."""

    exit_code: int | None
    signal: int | None
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an exit means; `reset_seconds` where the program named when its quota comes back."""

    failure: Failure | Ended | None
    reset_seconds: float | None = None


FINE = Verdict(None)


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


RUNNER_EXITS: Mapping[int, Failure] = {
    69: Failure.COULD_NOT_CONNECT,
    77: Failure.COULD_NOT_CONNECT,
    78: Failure.BAD_CONFIG,
}
"""Exit codes of our own runners (sysexits.h: unavailable, no permission, configuration)."""


def judge_runner(end: Exit) -> Verdict:
    """For programs that say by their exit code alone what happened; their output is other programs' words."""
    if end.signal is not None:
        return Verdict(Failure.KILLED if end.signal in _FROM_OUTSIDE else Failure.CRASHED)
    return FINE if not end.exit_code else Verdict(RUNNER_EXITS.get(end.exit_code, Failure.CRASHED))


def judge_by_words(end: Exit) -> Verdict:
    """For model CLIs: a failed end is explained by what it printed last."""
    if end.exit_code == 0:
        return FINE
    for pattern, failure, seconds in _WORDS:
        found = pattern.search(end.tail)
        if found:
            return Verdict(failure, _seconds(found) or seconds)
    return judge_runner(end)


_FROM_OUTSIDE = frozenset({1, 2, 9, 15})
"""HUP, INT, KILL, TERM: somebody ended it; any other signal is its own fault."""

_DURATION = r"(?:(?P<h>\d+)\s*h\w*)?\s*(?:(?P<m>\d+)\s*m\w*?)?\s*(?:(?P<s>\d+(?:\.\d+)?)\s*s\w*)?"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_WORDS: tuple[tuple[re.Pattern[str], Failure, float | None], ...] = (
    (_pattern(r"quota will reset after (?=\d)" + _DURATION), Failure.QUOTA, None),
    (_pattern(r"TerminalQuotaError"), Failure.QUOTA, 1800.0),
    (_pattern(r"retry[- ]after:?\s*(?P<s>\d+(?:\.\d+)?)"), Failure.RATE_LIMITED, None),
    (_pattern(r"quota\b.{0,40}\bexhausted|exhausted\b.{0,40}\bquota"), Failure.QUOTA, 1800.0),
    (_pattern(r"RateLimitError|rate limit|429 Too Many Requests"), Failure.RATE_LIMITED, 300.0),
    (_pattern(r"not logged in|please log ?in|invalid api key|401 Unauthorized"), Failure.NOT_LOGGED_IN, None),
    (_pattern(r"model .{0,80}(?:not found|not available|does not exist)"), Failure.MODEL_NOT_AVAILABLE, None),
)
"""The first that is found wins; a time it names counts, else the one beside it."""


def _seconds(found: re.Match[str]) -> float | None:
    parts = found.groupdict()
    units = (("h", 3600.0), ("m", 60.0), ("s", 1.0))
    total = sum(float(parts[unit]) * worth for unit, worth in units if parts.get(unit))
    return total or None

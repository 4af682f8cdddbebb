"""Projects and their settings: names, defaults, and allowed values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import StrEnum
from math import isfinite
from typing import Any

from typing_extensions import TypedDict

from toryo import sandbox_network
from toryo.domain import acceptance, budgets
from toryo.domain.budgets import Budget
from toryo.domain.conflict_forecast import ConflictPolicy
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.merge_queue import MOST_IN_BATCH
from toryo.domain.tasks import AcceptanceCheck, CheckFailure, Start
from toryo.domain.texts import exact, several_lines
from toryo.domain.times import Millis
from toryo.domain.usages import Spent
from toryo.domain.wording import say
from toryo.nearest import nearest
from toryo.provider_options import MOST_AMOUNT
from toryo.sandbox_network import WIDTH, Network


class Status(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    ARCHIVED = "archived"


class Language(StrEnum):
    """Language of the instructions that agents read."""

    ENGLISH = "en"
    JAPANESE = "ja"


class Decomposition(StrEnum):
    REQUIRED = "required"
    OPTIONAL = "optional"
    NEVER = "never"


class Isolation(StrEnum):
    NONE = "none"
    WORKTREE = "worktree"


class CommandsFrom(StrEnum):
    """Who may write commands that the Coordinator runs."""

    PEOPLE = "people"
    MANAGERS = "managers"


class Dependencies(StrEnum):
    """What tasks in line wait for, of those that they depend on."""

    COMPLETED = "completed"
    MERGED = "merged"
    """With worktrees: until the work is on its target branch, too."""


class MergeQueue(StrEnum):
    """Whether finished work waits in a queue to be merged."""

    OFF = "off"
    MANUAL = "manual"
    """People add the work that they have reviewed."""
    AUTOMATIC = "automatic"
    """Completed work is added by itself."""


class PullRequests(StrEnum):
    """What a merge that a person orders does."""

    OFF = "off"
    """The Coordinator merges into the local branch."""
    OPEN = "open"
    """It pushes the branch and opens a pull request."""


class Approvals(StrEnum):
    REQUESTS = "requests"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one project. Times are seconds."""

    language: Language = Language.ENGLISH
    decomposition: Decomposition = Decomposition.REQUIRED
    isolation: Isolation = Isolation.NONE
    commands_from: CommandsFrom = CommandsFrom.PEOPLE
    approvals: Approvals = Approvals.REQUESTS
    start: Start = Start.MANUAL
    """Who starts the tasks that people, schedules and webhooks create with an assignee."""
    dependencies: Dependencies = Dependencies.COMPLETED
    """When a task starts by itself after those that it depends on."""
    required_checks: tuple[AcceptanceCheck, ...] = ()
    """Checks that a success must pass, before the task's own."""
    worktree_setup: tuple[str, ...] = ()
    """Commands that make a new worktree ready, and the clean checkout of a check."""
    worktree_copy: tuple[str, ...] = ()
    """Patterns of ignored files of the project's directory that are copied there first."""
    network: Network = Network.MODEL
    """What agents' programs reach from their sandbox."""
    network_hosts: tuple[str, ...] = ()
    """Hosts that the network `allowlist` adds to the services of models."""
    setup_network: tuple[str, ...] = ()
    """Hosts that the commands which set a worktree up reach, and no others; empty: what the agent reaches."""
    ports: tuple[int, ...] = ()
    """Ports of agents' programs that are reachable on their Coordinator's machine."""
    merge_queue: MergeQueue = MergeQueue.OFF
    merge_batch_size: int = 5
    """How much queued work is checked together."""
    pull_requests: PullRequests = PullRequests.OFF
    """What happens to approved work: a local merge, or a pull request."""
    conflict_policy: ConflictPolicy = ConflictPolicy.WARN
    """With worktrees: what happens before a task starts that would change the same files as another one."""
    retry_attempts: int = 3
    stall_seconds: int = 120
    budget_per_day: float | None = None
    """US dollars."""
    tokens_per_day: int | None = None
    worker_subtasks: int = 5
    open_subtasks: int = 20
    subtasks_ever: int = 60
    tree_depth: int = 4
    open_requests: int = 5
    requests_per_hour: int = 20
    open_delegations: int = 5
    delegations_ever: int = 20

    @property
    def forecasts_conflicts(self) -> bool:
        return self.isolation is Isolation.WORKTREE and self.conflict_policy is not ConflictPolicy.OFF

    @property
    def waits_for_merges(self) -> bool:
        return self.isolation is Isolation.WORKTREE and self.dependencies is Dependencies.MERGED

    @property
    def budget(self) -> Budget:
        """For one day."""
        return Budget(self.budget_per_day, self.tokens_per_day)

    @property
    def has_budget(self) -> bool:
        return self.budget.limits

    def used_up_budget(self, today: Spent) -> str | None:
        """The setting whose daily budget is used up; None if agents may continue."""
        found = self.budget.used_up(today)
        return None if found is None else budgets.A_DAY[found]

    def changed(self, values: dict[str, Any]) -> Settings:
        """A copy with other values. Raises Refusal for an unknown name or a value that is not allowed, and lists what
        is.
        """
        known = {field.name: field for field in fields(Settings)}
        accepted: dict[str, Any] = {}
        for name, value in values.items():
            if name not in known:
                near, names = nearest(name, known), ", ".join(known)
                raise Refusal(
                    Code.VALIDATION_ERROR,
                    say("There is no project setting {name!r}.", name=name),
                    say("Did you mean {nearest}? Use one of: {names}.", nearest=near, names=names)
                    if near
                    else say("Use one of: {names}.", names=names),
                )
            accepted[name] = _accepted(name, value, getattr(Settings(), name))
        after = replace(self, **accepted)
        if after.merge_queue is not MergeQueue.OFF and after.pull_requests is not PullRequests.OFF:
            raise Refusal(
                Code.VALIDATION_ERROR,
                "A project has either a merge queue or pull requests, not both.",
                "Turn the other one off: set merge_queue or pull_requests to off.",
            )
        return after

    def values(self) -> dict[str, Any]:
        """As JSON has them."""
        found = {field.name: getattr(self, field.name) for field in fields(Settings)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    @property
    def tree_setup(self) -> dict[str, list[str]] | None:
        """How a Coordinator makes a new tree ready; None if there is nothing to do."""
        if not self.worktree_setup and not self.worktree_copy:
            return None
        return {"commands": list(self.worktree_setup), "copies": list(self.worktree_copy)}


LINES = {"worktree_setup": acceptance.LONGEST_COMMAND, "worktree_copy": acceptance.LONGEST_FILE}
"""Lists of texts, and how long each may be."""
MOST_LINES = 20
HOSTS = ("network_hosts", "setup_network")
MOST_HOSTS = 100
MOST_PORTS = 20
BUDGETS = tuple(budgets.A_DAY.values())


def widened(before: Settings, after: Settings) -> list[str]:
    """Every change that lets agents do more without asking, as `name: before → after`."""
    found = []
    if before.commands_from is CommandsFrom.PEOPLE and after.commands_from is not CommandsFrom.PEOPLE:
        found.append("commands_from")
    if before.approvals is Approvals.ALL and after.approvals is not Approvals.ALL:
        found.append("approvals")
    if before.merge_queue is not MergeQueue.AUTOMATIC and after.merge_queue is MergeQueue.AUTOMATIC:
        found.append("merge_queue")
    found += [name for name in BUDGETS if getattr(before, name) is not None and getattr(after, name) is None]
    if any(each not in after.required_checks for each in before.required_checks):
        found.append("required_checks")
    if any(each not in before.worktree_copy for each in after.worktree_copy):
        found.append("worktree_copy")
    if WIDTH[after.network] > WIDTH[before.network]:
        found.append("network")
    found += [
        each for each in ("network_hosts", "ports") if not set(getattr(after, each)) <= set(getattr(before, each))
    ]
    if not set(after.setup_network) <= set(before.setup_network) or (before.setup_network and not after.setup_network):
        found.append("setup_network")
    values = [(each, _said(getattr(before, each)), _said(getattr(after, each))) for each in found]
    return [f"{name}: {was} → {'none' if now is None else now}" for name, was, now in values]


def _said(value: Any) -> Any:
    return exact(list(value)) if isinstance(value, tuple) else value


class ChecksTried(TypedDict):
    """What the required commands did before anybody had worked, on the commit `base` of `branch`, begun `at`. `of`: a
    digest of what was tried; `failed`: those that do not pass, each with what it printed."""

    of: str
    base: str
    branch: str
    failed: list[CheckFailure]
    passed: bool
    at: Millis


@dataclass(frozen=True, slots=True)
class Project:
    id: str
    name: str
    description: str
    status: Status
    working_directory: str
    settings: Settings
    created_at: Millis
    updated_at: Millis
    paused_at: Millis | None = None
    version: int = 1
    checks_tried: ChecksTried | None = None

    @property
    def active(self) -> bool:
        return self.status is Status.ACTIVE


def _accepted(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, StrEnum):
        return _choice(name, value, type(default))
    if name in _LISTS:
        return _LISTS[name](name, value)
    if name in BUDGETS:
        if value in (None, "", "none"):
            return None
        number, whole = _number(value), name == "tokens_per_day"
        if number is None or not 0 <= number <= MOST_AMOUNT or (whole and number != int(number)):
            raise _impossible(name, value, "a whole number from 0, or none" if whole else "a number from 0, or none")
        return int(number) if whole else number
    number, most = _number(value), MOST_IN_BATCH if name == "merge_batch_size" else 1_000_000
    if number is None or number != int(number) or not 1 <= number <= most:
        raise _impossible(name, value, f"a whole number from 1 to {most}")
    return int(number)


def _choice(name: str, value: Any, kind: type[StrEnum]) -> StrEnum:
    """`off` also as YAML reads that word."""
    if kind is Network and (network := sandbox_network.word(value)) is not None:
        return network
    if value is False and "off" in list(kind):
        return kind("off")
    try:
        return kind(value)
    except ValueError:
        raise _impossible(name, value, " or ".join(member.value for member in kind)) from None


def _lines(name: str, value: Any) -> tuple[str, ...]:
    """A list of texts, as JSON too, or one per line."""
    if value in (None, "", "none"):
        return ()
    given = _read_lines(value) if isinstance(value, str) else value
    found = [each.strip() for each in given if isinstance(each, str)] if isinstance(given, (list, tuple)) else []
    fit = all(each == several_lines(each) and len(each) <= LINES[name] for each in found)
    outside = name == "worktree_copy" and any(acceptance.leaves_directory(each.lstrip("/")) for each in found)
    if not isinstance(given, (list, tuple)) or len(found) != len(given) or not fit or outside:
        example = '["npm ci"]' if name == "worktree_setup" else '[".env.test"]'
        raise _impossible(name, value, f"a list such as {example}, or one per line")
    lines = tuple(filter(None, found))
    if len(lines) > MOST_LINES:
        raise _impossible(name, value, f"at most {MOST_LINES} lines")
    return lines


def _hosts(name: str, value: Any) -> tuple[str, ...]:
    """As `_lines`, in the one way that a host is written."""
    given = () if value in (None, "", "none") else _read_lines(value) if isinstance(value, str) else value
    lines = [each.strip() for each in given if isinstance(each, str)] if isinstance(given, (list, tuple)) else []
    rules = {each: sandbox_network.rule(each) for each in filter(None, lines)}
    if not isinstance(given, (list, tuple)) or len(lines) != len(given) or None in rules.values():
        wrong = next((line for line, found in rules.items() if found is None), value)
        raise _impossible(name, wrong, 'a list of hosts such as ["example.org", "*.example.org:8443"], or one per line')
    far = next((line for line, found in rules.items() if found and not sandbox_network.is_led_to(found)), None)
    if far is not None:
        example = f"hosts; of this machine's loopback, each with a port from {sandbox_network.FIRST_PORT}, such as"
        raise _impossible(name, far, f'{example} "127.0.0.1:5432"')
    if len(rules) > MOST_HOSTS:
        raise _impossible(name, value, f"at most {MOST_HOSTS} hosts")
    return tuple(dict.fromkeys(each.written for each in rules.values() if each is not None))


def _ports(name: str, value: Any) -> tuple[int, ...]:
    given = () if value in (None, "", "none") else _read_lines(value) if isinstance(value, str) else value
    numbers = [_number(each) for each in given] if isinstance(given, (list, tuple)) else [_number(given)]
    if len(numbers) > MOST_PORTS or any(each is None or not 1024 <= each <= 65535 or each % 1 for each in numbers):
        raise _impossible(name, value, f"a list of at most {MOST_PORTS} numbers from 1024 to 65535, such as [3000]")
    return tuple(dict.fromkeys(int(each) for each in numbers if each is not None))


def _read_lines(text: str) -> Any:
    """A command may begin as a list does: `[ -f package.json ]`. None for what can only be a broken list."""
    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            if text.lstrip().startswith('["'):
                return None
    return text.splitlines()


def _number(value: Any) -> float | None:
    """The finite number that a value is or spells; None otherwise."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError):
        return None
    return number if isfinite(number) else None


_LISTS: Mapping[str, Callable[[str, Any], tuple[Any, ...]]] = {
    "required_checks": lambda _, value: acceptance.required_checks(value),
    **dict.fromkeys(LINES, _lines),
    **dict.fromkeys(HOSTS, _hosts),
    "ports": _ports,
}


def _impossible(name: str, value: Any, possible: str) -> Refusal:
    return Refusal(
        Code.VALIDATION_ERROR,
        say("{value!r} is not a valid value of the project setting {name}.", value=value, name=name),
        say("Use {possible}.", possible=possible),
    )

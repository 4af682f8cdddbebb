"""The server's orders: launches to start, launches to stop, acceptance checks to run. Values only.

Parsed tolerantly from the answer of `claim_starts`: unknown keys are ignored, missing ones have defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar


@dataclass(frozen=True, slots=True)
class Launch:
    """An order to start one process. `takes_slot` is false for chats that another agent waits for."""

    launch_id: str
    agent_id: str
    project_id: str = ""
    purpose: str = "task"
    ai_type: str = ""
    model: str | None = None
    account: str | None = None
    working_directory: str = ""
    workspace: Any = None
    credential: str | None = field(default=None, repr=False)
    takes_slot: bool = True
    provider_options: dict[str, Any] = field(default_factory=dict, hash=False)
    defaults: tuple[str, ...] | list[str] = field(default=(), hash=False)
    """The options that no person set: the server has filled in the default of the role."""
    network: Any = field(default=None, hash=False)
    """What of the network its project lets it reach (`toryo.sandbox_network.Asked`)."""
    language: str = "en"
    reason: str = ""
    budget_usd: float | None = None
    """The least that its budgets leave, in US dollars; None: none is in dollars."""
    budget_tokens: int | None = None
    """The same in tokens."""
    program_session: dict[str, Any] = field(default_factory=dict, hash=False)
    """The session of the program that the launch before on the same task left: `id`, and its `totals`."""

    @property
    def seat(self) -> tuple[str, str, str]:
        """Of each of these there is one process at a time."""
        return (self.agent_id, self.project_id, self.purpose)


@dataclass(frozen=True, slots=True)
class StopOrder:
    """`grace_seconds`: how long the process may still leave by itself before it is interrupted."""

    launch_id: str
    reason: str = ""
    grace_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class CheckOrder:
    """Acceptance checks of one report: `{"file": path}`, `{"command": text or list}` or `{"diff": limits}`."""

    check_id: str
    working_directory: str
    checks: tuple[dict[str, Any], ...] = field(hash=False)
    agent_id: str = ""
    project_id: str = ""
    launch_id: str = ""
    worktree: str | None = None
    """The project's directory within the task's worktree; checks run there."""
    worktree_task_id: str = ""
    worktree_path: str = ""
    """Whose worktree that is, and its topmost directory: limits on changes look at these."""
    ai_type: str = ""
    provider_options: dict[str, Any] = field(default_factory=dict, hash=False)
    """Of the agent whose work is checked: its sandbox is that of the checks."""
    network: Any = field(default=None, hash=False)
    """As of a launch."""
    setup: Any = field(default=None, hash=False)
    """How a clean checkout is made ready for commands: `commands`, and `copies` of ignored files."""
    required: int = 0
    """How many of the checks, the first ones, the project requires: what they run is not for the work to bring."""


@dataclass(frozen=True, slots=True)
class WorktreeJob:
    """A job for a worktree on this machine: `diff`, `merge`, `discard`, `clean`, `merge_subtasks`, `queue_merge`,
    `checks`, `base_checks`, `command` or `pull_request`."""

    job_id: str
    kind: str = ""
    task_id: str = ""
    project_id: str = ""
    path: str = ""
    branch: str = ""
    working_directory: str = ""
    asked_by: str = ""
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    name: str = ""
    email: str = ""
    """The name of the member who ordered it, if the server knows it: the author of the merge."""


@dataclass(frozen=True, slots=True)
class Orders:
    """One answer of `claim_starts`."""

    start: tuple[Launch, ...] = ()
    stop: tuple[StopOrder, ...] = ()
    checks: tuple[CheckOrder, ...] = ()
    worktree_jobs: tuple[WorktreeJob, ...] = ()
    stop_worktree_jobs: tuple[str, ...] = ()
    """Jobs of the merge queue that are no longer wanted."""


NONE = Orders()
Order = TypeVar("Order", Launch, StopOrder, CheckOrder, WorktreeJob)


def read(answer: Mapping[str, Any]) -> Orders:
    return Orders(
        tuple(_of(Launch, each) for each in answer.get("start") or ()),
        tuple(_of(StopOrder, each) for each in answer.get("stop") or ()),
        tuple(_check(check) for check in answer.get("checks") or ()),
        tuple(_of(WorktreeJob, job) for job in answer.get("worktree_jobs") or ()),
        tuple(map(str, answer.get("stop_worktree_jobs") or ())),
    )


def _check(answer: Mapping[str, Any]) -> CheckOrder:
    return _of(CheckOrder, {**answer, "checks": tuple(answer.get("checks") or ())})


def _of(kind: type[Order], answer: Mapping[str, Any]) -> Order:
    """None counts as missing, so that defaults apply where the server sends no value."""
    return kind(**{each.name: answer[each.name] for each in fields(kind) if answer.get(each.name) is not None})

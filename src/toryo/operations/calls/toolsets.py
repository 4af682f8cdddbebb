"""The tools that `tools/list` shows, by caller; kept small. An allowed tool works without being listed."""

from __future__ import annotations

from toryo import provider_options
from toryo.domain.agents import Agent, Role
from toryo.domain.coordinators import is_gone
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Launch, Purpose
from toryo.domain.projects import Isolation, Project
from toryo.domain.tasks import Task
from toryo.domain.times import Millis
from toryo.operations.calls.callers import Caller, Kind
from toryo.operations.calls.catalogue import Audience, Operation, tools
from toryo.operations.calls.grants import KEYED, Grant
from toryo.operations.calls.permissions import is_allowed
from toryo.provider_options import PERMISSIONS, Permissions
from toryo.storage.transaction import Transaction

COORDINATOR_TOOLSET, QUEUE_TOOLSET = "coordinator", "queue"


def _for_caller(operation: Operation, caller: Caller, audience: Audience, for_queue: bool) -> Operation:
    """As this caller is shown it; `for_queue`: tasks that it creates go to a queue."""
    form = operation.form_for(caller, for_queue) if operation.form_for is not None else operation.form
    summary = form.summary if form is not None and form.summary else operation.summary
    return replace(operation, form=form, summary=summary, audience=audience)


def tools_for(
    caller: Caller,
    toolset: str | None = None,
    *,
    reviews: bool = False,
    worktrees: bool = False,
    tries_checks: bool = False,
    runs_commands: bool = False,
) -> list[Operation]:
    """What `tools/list` answers: by the credential, else (`?toolset=coordinator`) by what was asked for.

    `reviews`: the task that the caller was started for is a review. `worktrees`: what it judges is in worktrees.
    `tries_checks`: it may run the checks of that task. `runs_commands`: it may run commands by their names.
    """
    for_queue = caller.orchestrates or (caller.kind is Kind.NOBODY and toolset == QUEUE_TOOLSET)
    started = caller.kind in (Kind.SESSION, Kind.LAUNCH)
    audience = _audience(caller, reviews=reviews, worktrees=worktrees) if started else Audience.EVERYONE
    audience |= Audience.TRIES_CHECKS if tries_checks and audience & Audience.DIVIDER else Audience.NONE
    audience |= Audience.RUNS_COMMANDS if runs_commands else Audience.NONE
    return [_for_caller(operation, caller, audience, for_queue) for operation in _listed(caller, toolset, audience)]


def tools_without_key(caller: Caller) -> list[Operation]:
    """Where the server is open: the tools of queues as they are called without a key, and those of an agent that is
    started by hand.
    """
    queue = {tool.name: tool for tool in tools() if (tool.grant in KEYED and tool.listed)}
    by_hand = [tool for tool in tools_for(caller) if tool.name not in queue]
    return [*(_for_caller(tool, caller, Audience.EVERYONE, for_queue=True) for tool in queue.values()), *by_hand]


def tries_checks(tx: Transaction, caller: Caller, task: Task | None, project: Project | None, now: Millis) -> bool:
    """Whether the checks of the task that the caller was started for can be run while it works: they run what it has
    written, so in a sandbox, or for an agent that may run commands anyway."""
    if task is None or project is None or caller.agent is None or caller.launch is None or task.review_of is not None:
        return False
    if project.settings.isolation is not Isolation.WORKTREE:
        return False
    if not task.has_acceptance and not project.settings.required_checks:
        return False
    if may_everything(caller.agent):
        return True
    return may_change(caller.agent) and _in_sandbox(tx, caller.launch, now)


def runs_commands(tx: Transaction, caller: Caller, now: Millis) -> bool:
    """Whether the commands that its options name can be run: only in a sandbox, because who may run a test that it has
    written may run anything."""
    launch = caller.launch
    return bool(commands_of(caller)) and launch is not None and _in_sandbox(tx, launch, now)


def commands_of(caller: Caller) -> list[str]:
    """The commands that people have named for an agent that a Coordinator has started for a task."""
    agent, launch = caller.agent, caller.launch
    if agent is None or launch is None or launch.by_passkey or launch.purpose is not Purpose.TASK:
        return []
    return provider_options.commands(agent.started_with(launch.provider))


def _in_sandbox(tx: Transaction, launch: Launch, now: Millis) -> bool:
    here = next((each for each in tx.coordinators.all() if each.id == launch.coordinator_id), None)
    return here is not None and here.sandbox and not is_gone(here.seen_at, now)


def may_change(agent: Agent) -> bool:
    return _permissions(agent) != Permissions.READ


def may_everything(agent: Agent) -> bool:
    return _permissions(agent) == Permissions.FULL


def _permissions(agent: Agent) -> str:
    """What the template of a Coordinator's file allows a program is not known here."""
    return str(agent.effective_options.get(PERMISSIONS.name, Permissions.EDIT.value))


def _listed(caller: Caller, toolset: str | None, audience: Audience) -> list[Operation]:
    if caller.kind is Kind.COORDINATOR or (toolset == COORDINATOR_TOOLSET and caller.kind is Kind.NOBODY):
        return [operation for operation in tools() if operation.grant in (Grant.COORDINATOR, Grant.OPEN)]
    if caller.key is not None or (toolset == QUEUE_TOOLSET and caller.kind is Kind.NOBODY):
        # What an API key opens; without one, all that there are, with the parameter that takes it.
        found = [tool for tool in tools() if (tool.grant in KEYED and tool.listed) or tool.shown_to & Audience.QUEUE]
        if caller.key is None:
            return [
                operation if operation.grant is Grant.OPEN else replace(operation, asks_for="api_key")
                for operation in found
            ]
        return [operation for operation in found if is_allowed(operation, caller)]
    if caller.kind in (Kind.SESSION, Kind.LAUNCH):
        return [tool for tool in tools() if tool.shown_to & audience]
    return [_by_hand(operation) for operation in tools() if operation.listed and operation.grant not in _NOT_BY_HAND]


_NOT_BY_HAND = frozenset({Grant.COORDINATOR, Grant.QUEUE_AGENT, Grant.REGISTRAR})


def _by_hand(operation: Operation) -> Operation:
    """For an agent started by hand: its session tools take the token that authenticate gave."""
    return operation if operation.grant is Grant.OPEN else replace(operation, asks_for="session_token")


def _audience(caller: Caller, *, reviews: bool, worktrees: bool) -> Audience:
    if caller.launch is not None and caller.launch.purpose is Purpose.CHAT:
        return Audience.CHAT
    manages = caller.agent is not None and caller.agent.role is Role.MANAGER
    own = Audience.MANAGER if manages else Audience.WORKER
    own |= Audience.REVIEWER if reviews else Audience.NONE if manages else Audience.DIVIDER
    own |= Audience.DIFFS if worktrees and (reviews or manages) else Audience.NONE
    return own | Audience.ORCHESTRATOR if caller.orchestrates else own

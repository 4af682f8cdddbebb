"""Carries out a start: creates the launch and its credential, and the order for a Coordinator."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from toryo.domain import ids
from toryo.domain.agents import Agent, Program
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import SIGN_IN_WITHIN, Launch, Purpose, State
from toryo.domain.projects import Project
from toryo.domain.times import iso
from toryo.operations.calls import rendering, schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.credential_verification import LAUNCH, digest
from toryo.operations.calls.results import JsonObject
from toryo.operations.launches import end_of_session, usage_counting
from toryo.operations.queue import claims
from toryo.operations.worktrees import worktree_locks
from toryo.workflow.launch_rules import Decision
from toryo.workflow.snapshot import Snapshot


def order(
    call: Call,
    snapshot: Snapshot,
    decision: Decision,
    purpose: Purpose,
    program: Program | None,
    coordinator_id: str | None = None,
) -> tuple[Launch, str] | None:
    """Creates the launch of a start, with a fresh credential. None if somebody else was faster."""
    assert snapshot.agent is not None
    launch = Launch(
        id=call.new_id(ids.LAUNCH),
        agent_id=snapshot.agent_id,
        project_id=snapshot.project_id,
        purpose=purpose,
        task_id=decision.task_id,
        reason=decision.reason,
        fence=call.tx.launches.next_fence(snapshot.agent_id, snapshot.project_id, purpose),
        state=State.ORDERED,
        provider=program.provider if program is not None else None,
        model=program.model if program is not None else None,
        account=program.account if program is not None else None,
        coordinator_id=coordinator_id,
        ordered_at=call.now,
        deadline=call.now + SIGN_IN_WITHIN,
        takes_slot=not (purpose is Purpose.CHAT and snapshot.talk.answers_somebody),
    )
    credential = call.new_token(LAUNCH)
    if not call.tx.launches.add(launch, digest(credential)):
        return None
    if decision.reason == "has_ready_queue_task" and not _claimed(call, launch, snapshot.agent):
        end_of_session.end_launch(call, launch, State.EXITED, "task_taken", told=True)
        return None
    if purpose is Purpose.TASK and launch.task_id is not None:
        claims.claim_again(call, launch.task_id, launch.agent_id, launch.id)
    call.event(
        "launch.ordered",
        of=launch,
        data={
            "reason": launch.reason,
            "purpose": purpose.value,
            "task_id": launch.task_id,
            **_fallback(snapshot, program),
        },
    )
    return launch, credential


def _fallback(snapshot: Snapshot, program: Program | None) -> dict[str, str]:
    """Which program is used instead of the agent's own."""
    own = snapshot.agent.program if snapshot.agent is not None else None
    return {"fallback": program.name} if program is not None and program != own else {}


def _claimed(call: Call, launch: Launch, agent: Agent) -> bool:
    """The launch has its queue task; not if somebody else was faster."""
    task = call.tx.tasks.find(launch.task_id or "")
    return task is not None and claims.claim(call, task, agent, launch.id) is not None


def handed_out_again(call: Call, launch: Launch, coordinator_id: str) -> str:
    """A fresh credential for an order whose answer was lost; the old one is worth nothing from here on."""
    credential = call.new_token(LAUNCH)
    call.tx.launches.renew_credential(launch.id, digest(credential))
    call.tx.launches.save(launch, replace(launch, coordinator_id=coordinator_id, deadline=call.now + SIGN_IN_WITHIN))
    return credential


class Workspace(TypedDict):
    """Where it works: with worktrees, the name of its own, and those whose work it starts from or must see. `merges`:
    branches whose merge is begun in it, for an agent that resolves what conflicts. `watched`: the paths that it changes
    are reported while it works. `setup`: `commands` that make a new worktree ready, and `copies`: patterns of ignored
    files."""

    isolation: schemas.IsolationName
    name: NotRequired[str]
    bases: NotRequired[list[str]]
    brings: NotRequired[list[str]]
    merges: NotRequired[list[str]]
    watched: NotRequired[bool]
    setup: NotRequired[dict[str, list[str]] | None]


class Start(TypedDict):
    """How to start one process, without its task. `defaults`: options that are not set explicitly; `program_session`:
    the session of the program to resume, its `id` and the `totals` that it had reported. `budget_usd`, `budget_tokens`:
    the least that its budgets leave.
    """

    launch_id: str
    agent_id: str
    project_id: str
    purpose: schemas.PurposeName
    reason: str
    ai_type: str | None
    model: str | None
    account: str | None
    working_directory: str
    workspace: Workspace
    credential: str
    deadline: str
    takes_slot: bool
    provider_options: JsonObject
    defaults: list[str]
    network: schemas.AskedNetwork
    language: schemas.LanguageName
    program_session: JsonObject | None
    budget_usd: float | None
    budget_tokens: int | None


def _workspace(call: Call, launch: Launch, project: Project) -> Workspace:
    if launch.purpose is not Purpose.TASK or launch.task_id is None:
        return {"isolation": "none"}
    if not worktree_locks.has_own(call, launch.task_id, project.id, launch.id):
        return {"isolation": "none"}
    found = worktree_locks.sources(call, launch.task_id)
    return {
        "isolation": "worktree",
        "name": launch.task_id,
        "bases": list(found.bases),
        "brings": list(found.brings),
        "merges": list(found.merges),
        "watched": project.settings.forecasts_conflicts,
        "setup": project.settings.tree_setup,
    }


def _left_to_spend(call: Call, launch: Launch) -> tuple[float | None, int | None]:
    """The least that any of its budgets leaves, in US dollars and in tokens. Chat goes on when a budget is used up."""
    if launch.purpose is not Purpose.TASK:
        return None, None
    limits = list(usage_counting.limits(call, launch))
    usd = [each.budget.usd - each.before.usd for each in limits if each.budget.usd is not None]
    tokens = [each.budget.tokens - each.before.tokens for each in limits if each.budget.tokens is not None]
    return max(_LEAST, round(min(usd), 6)) if usd else None, max(1, min(tokens)) if tokens else None


_LEAST = 0.01
"""US dollars: programs take no limit of nothing."""


def as_answer(call: Call, launch: Launch, credential: str) -> Start:
    """A launch for a Coordinator: how to start it, and nothing about the task."""
    agent, project = call.tx.agents.find(launch.agent_id), call.tx.projects.find(launch.project_id)
    assert agent is not None and project is not None
    options = agent.started_with(launch.provider)
    usd, tokens = _left_to_spend(call, launch)
    return {
        "launch_id": launch.id,
        "agent_id": launch.agent_id,
        "project_id": launch.project_id,
        "purpose": launch.purpose.value,
        "reason": launch.reason,
        "ai_type": launch.provider,
        "model": launch.model,
        "account": launch.account,
        "working_directory": agent.directory or project.working_directory,
        "workspace": _workspace(call, launch, project),
        "credential": credential,
        "deadline": iso(launch.deadline),
        "takes_slot": launch.takes_slot,
        "provider_options": options,
        "defaults": sorted(options.keys() - agent.options_for(launch.provider).keys()),
        "network": rendering.asked_network(project),
        "language": project.settings.language.value,
        "program_session": call.tx.launches.session_left_behind(launch),
        "budget_usd": usd,
        "budget_tokens": tokens,
    }

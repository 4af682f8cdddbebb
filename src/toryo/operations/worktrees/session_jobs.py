"""Jobs that an agent asks of the Coordinator that has started it, while it works: `run_check` and `run_command`.

Each call waits for its own run: one that did not wait long enough gets the same run when it is repeated, and a run is
told once.
"""

from __future__ import annotations

from typing import Any

from toryo.domain.agents import Agent
from toryo.domain.errors import Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.projects import Project
from toryo.domain.worktrees import Kind, WorktreeJob
from toryo.operations.calls import rendering
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later
from toryo.operations.calls.results import Refused
from toryo.operations.worktrees import worktree_locks, worktree_requests

_TOLD = "told"


def as_started(call: Call) -> dict[str, Any]:
    """What decides on the sandbox of what runs for the caller."""
    launch = call.tx.launches.find(call.session.launch_id)
    provider = launch.provider if launch is not None else call.agent.provider
    return as_launched(call.project(call.session.project_id), call.agent, call.session.launch_id, provider)


def as_launched(project: Project, agent: Agent, launch_id: str, provider: str | None) -> dict[str, Any]:
    """What decides on the sandbox of what runs for an agent: how its program was started."""
    return {
        "launch_id": launch_id,
        "agent_id": agent.id,
        "ai_type": provider,
        "provider_options": agent.started_with(provider),
        "network": {**rendering.asked_network(project)},
    }


def unanswered_run(
    call: Call, kind: Kind, task_id: str, coordinator_id: str, options: dict[str, Any]
) -> WorktreeJob | None:
    """The run that this session has asked for with the same words and has not been told of."""
    asked = call.tx.worktrees.recent(kind, task_id, call.agent.id, worktree_requests.MOST_KEPT)
    job = next((each for each in asked if each.options == options), None)
    return None if job is None or (not job.over and worktree_locks.is_away(call, coordinator_id)) else job


def wait_for(call: Call, job: WorktreeJob, still: Refusal) -> Later | Refused:
    """Waits for a run, as long as a call may. The refusal is returned: what is raised would take the job back."""
    return Later(frozenset({f"worktree_job:{job.id}"})) if call.may_wait else Refused(still.answer())


def tell(call: Call, job: WorktreeJob) -> WorktreeJob:
    """What becomes of a run whose result is answered now."""
    call.tx.worktrees.save_job(job, replace(job, options={**(job.options or {}), _TOLD: True}))
    return job

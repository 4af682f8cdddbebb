"""The checks that a project requires are tried once before anybody has worked: on the commit that the first worktree
since they were set begins with. What does not pass there passes for nobody, so the owners are told; it counts for no
task. Where they did not pass, they are tried again as soon as work begins with another commit.
"""

from __future__ import annotations

import orjson

from toryo.domain import review_checks
from toryo.domain.acceptance import LONGEST_OUTPUT
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Launch
from toryo.domain.projects import ChecksTried, Project
from toryo.domain.tasks import AcceptanceCheck, CheckFailure, CheckOutcome
from toryo.domain.worktrees import Kind, Worktree, WorktreeJob
from toryo.operations.calls.call import Call
from toryo.operations.calls.credential_verification import digest
from toryo.operations.tasks import due_checks
from toryo.operations.worktrees import session_jobs, worktree_locks

ON_BASE = "on_base"
"""The option of a job that does not look at the work."""


def due(call: Call, worktree: Worktree, launch: Launch) -> None:
    """A task has a new worktree."""
    project, agent = call.project(worktree.project_id), call.tx.agents.find(launch.agent_id)
    checks, tried = _commands(project), project.checks_tried
    if not checks or agent is None:
        return
    known = tried is not None and tried["of"] == _of(project)
    if known and tried is not None and (not tried["failed"] or tried["base"] == worktree.base_commit):
        return
    if worktree_locks.sources(call, worktree.task_id).bases:  # it begins with the work of others
        return
    if any((job.options or {}).get(ON_BASE) for job in call.tx.worktrees.jobs_for(worktree.coordinator_id)):
        return
    options = {
        **session_jobs.as_launched(project, agent, launch.id, launch.provider),
        "checks": [{**each} for each in checks],
        "setup": project.settings.tree_setup,
        "worktree": worktree.directory,
        ON_BASE: _of(project),
    }
    worktree_locks.send(call, worktree, Kind.CHECKS, options)


def settled(call: Call, job: WorktreeJob) -> None:
    """They have ended, or could not be run: then the next worktree tries."""
    tried_of = (job.options or {}).get(ON_BASE)
    project, worktree = call.project(job.project_id), call.tx.worktrees.find(job.task_id)
    if tried_of is None or not job.done or worktree is None:
        return
    evidence = (job.answer or {}).get("evidence") or ()
    failed: list[CheckFailure] = [
        {"check": each["check"], "message": (each.get("output") or "")[-LONGEST_OUTPUT:]}
        for each in evidence
        if not CheckOutcome(each["outcome"]).counts
    ]
    before = project.checks_tried
    after: ChecksTried = {
        "of": tried_of,
        "base": worktree.base_commit,
        "branch": worktree.base_branch or worktree.base_commit[:10],
        "failed": failed,
        "at": call.now,
    }
    call.tx.projects.save(project, replace(project, checks_tried=after))
    if failed or (before is not None and before["failed"]):
        data = {"branch": after["branch"], "checks": due_checks.names_of(failed), "commit": after["base"]}
        call.event("project.checks_tried", project_id=project.id, data=data)
        call.tx.hint(f"project:{project.id}")


def failing(project: Project) -> ChecksTried | None:
    """What is known of the checks as they are set now, if they do not pass."""
    tried = project.checks_tried
    return tried if tried is not None and tried["failed"] and tried["of"] == _of(project) else None


def _commands(project: Project) -> list[AcceptanceCheck]:
    """Files may be for the work to bring, and limits are about changes."""
    return [each for each in review_checks.run_by_program(project.settings.required_checks) if "command" in each]


def _of(project: Project) -> str:
    """What decides on the result, but for the commit."""
    settings = project.settings
    place = (project.working_directory, settings.tree_setup, settings.network, settings.network_hosts)
    return digest(orjson.dumps([_commands(project), *place], default=list).decode())

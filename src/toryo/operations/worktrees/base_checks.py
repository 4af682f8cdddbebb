"""The commands that a project requires are tried before anybody has worked: on the commit that the first worktree since
they were set begins with, in a checkout of their own. The owners are told of what fails there; it counts for no task.

They are tried once. Where they failed, they are tried again as soon as work begins with another commit, and after a
while; so are those that could not be tried. A command that passes for a task no longer fails.
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from toryo.domain import review_checks
from toryo.domain.acceptance import LONGEST_OUTPUT, TRIED_AGAIN_AFTER
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Launch
from toryo.domain.projects import ChecksTried, Isolation, Project
from toryo.domain.tasks import AcceptanceCheck, CheckEvidence, CheckFailure, CheckOutcome
from toryo.domain.worktrees import Kind, Worktree, WorktreeJob
from toryo.operations.calls.call import Call
from toryo.operations.calls.credential_verification import digest
from toryo.operations.tasks import due_checks
from toryo.operations.worktrees import session_jobs, worktree_locks


def begin(call: Call, worktree: Worktree, launch: Launch) -> None:
    """A task has a new worktree."""
    project, agent = call.project(worktree.project_id), call.tx.agents.find(launch.agent_id)
    checks, tried = _commands(project), project.checks_tried
    if not checks or agent is None or _known(call, project, worktree):
        return
    if worktree_locks.sources(call, worktree.task_id).bases:  # it begins with the work of others
        return
    now: ChecksTried = {
        "of": _of(project),
        "base": worktree.base_commit,
        "branch": worktree.base_branch or worktree.base_commit[:10],
        "failed": tried["failed"] if tried is not None and tried["of"] == _of(project) else [],
        "passed": False,
        "at": call.now,
    }
    options = {
        **session_jobs.as_launched(project, agent, launch.id, launch.provider),
        "checks": [{**each} for each in checks],
        "setup": project.settings.tree_setup,
        "tried": now,
    }
    worktree_locks.send(call, worktree, Kind.BASE_CHECKS, options)
    call.tx.projects.save(project, replace(project, checks_tried=now))


def settle(call: Call, job: WorktreeJob) -> None:
    """They have ended, or could not be run."""
    project = call.project(job.project_id)
    now: ChecksTried = (job.options or {})["tried"]
    if not job.done or project.checks_tried is None or project.checks_tried["at"] != now["at"]:
        return
    evidence = (job.answer or {}).get("evidence") or ()
    failed: list[CheckFailure] = [
        {"check": each["check"], "message": (each.get("output") or "")[-LONGEST_OUTPUT:]}
        for each in evidence
        if not CheckOutcome(each["outcome"]).counts
    ]
    _save(call, project, now, failed)


def note_result(call: Call, project: Project, evidence: Iterable[CheckEvidence]) -> None:
    """How checks have ended for a task."""
    tried = failing_checks(project)
    names = {each["check"] for each in evidence if CheckOutcome(each["outcome"]).counts}
    left = [each for each in tried["failed"] if each["check"] not in names] if tried is not None else []
    if tried is not None and len(left) < len(tried["failed"]):
        _save(call, project, tried, left)


def failing_checks(project: Project) -> ChecksTried | None:
    """What is known of the commands as they are set now, if some do not pass."""
    tried = project.checks_tried
    if tried is None or project.settings.isolation is not Isolation.WORKTREE:
        return None
    return tried if tried["failed"] and tried["of"] == _of(project) else None


def _known(call: Call, project: Project, worktree: Worktree) -> bool:
    tried = project.checks_tried
    if tried is None or tried["of"] != _of(project):
        return False
    moved = bool(tried["failed"]) and tried["base"] != worktree.base_commit
    return tried["passed"] or (not moved and call.now - tried["at"] < TRIED_AGAIN_AFTER)


def _save(call: Call, project: Project, tried: ChecksTried, failed: list[CheckFailure]) -> None:
    before, after = failing_checks(project), tried.copy()
    after["failed"], after["passed"] = failed, not failed
    call.tx.projects.save(project, replace(project, checks_tried=after))
    if failed or before is not None:
        data = {"branch": after["branch"], "checks": due_checks.names_of(failed), "commit": after["base"]}
        call.event("project.checks_tried", project_id=project.id, data=data)
        call.tx.hint(f"project:{project.id}")


def _commands(project: Project) -> list[AcceptanceCheck]:
    """Files may be for the work to bring, and limits are about changes."""
    return [each for each in review_checks.run_by_program(project.settings.required_checks) if "command" in each]


def _of(project: Project) -> str:
    """What decides on the result, but for the commit."""
    settings = project.settings
    place = (project.working_directory, settings.tree_setup, settings.network, settings.network_hosts)
    return digest(orjson.dumps([_commands(project), *place], default=list).decode())

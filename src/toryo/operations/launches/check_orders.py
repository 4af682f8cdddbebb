"""Acceptance checks for Coordinators: handed out with `claim_starts`. `check_results.py` takes their results."""

from __future__ import annotations

from functools import partial

from typing_extensions import TypedDict

from toryo.domain.coordinators import is_gone
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Check, Launch
from toryo.domain.tasks import AcceptanceCheck, Checks
from toryo.domain.times import SECOND, Millis
from toryo.operations.calls import rendering, schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.calls.results import JsonObject
from toryo.operations.launches.claim_request import CLAIM, ClaimStarts
from toryo.operations.tasks import due_checks, kept_artifacts
from toryo.operations.worktrees import worktree_locks

RENEWED_AFTER: Millis = 15 * SECOND
"""A claim does not write for each check each time."""


class CheckOrder(TypedDict):
    """Acceptance checks to run, as their launch was started. `worktree`: where its work is, if in one, which is that of
    `worktree_task_id`, at `worktree_path`. `required`: how many of the checks, the first ones, the project requires."""

    check_id: str
    launch_id: str
    agent_id: str
    project_id: str
    working_directory: str
    worktree: str | None
    worktree_task_id: str | None
    worktree_path: str | None
    ai_type: str | None
    provider_options: JsonObject
    network: schemas.AskedNetwork
    setup: dict[str, list[str]] | None
    checks: list[AcceptanceCheck]
    required: int


def checks_for(call: Call, asked: ClaimStarts) -> list[CheckOrder]:
    """Checks that nobody runs yet: of a worktree for the Coordinator that has it, others for the one whose launch asks
    for them, or for anybody after a while."""
    given: list[CheckOrder] = []
    waiting: list[Check] = []
    for check in call.tx.launches.checks_waiting():
        if _still_runs(check, asked):
            _renew(call, check)
        elif (check.taken_at is None or _lost(call, check) or _answer_lost(check, asked)) and _wanted(call, check):
            waiting.append(check)
    keepers = worktree_locks.keepers(call, waiting) if waiting else {}
    for check in waiting:
        launch = call.tx.launches.find(check.launch_id)
        project = call.tx.projects.find(check.project_id)
        if launch is None or project is None or not project.active:  # a check runs commands, as agents do
            continue
        runs_it = keepers.get(check.id) or (launch.coordinator_id if not _lost(call, check) else None)
        if runs_it in (None, asked.coordinator_id):
            given.extend(each_fenced(call, CLAIM, [check], partial(_hand_out_check, call, asked, launch)))
    return given


def _wanted(call: Call, check: Check) -> bool:
    """Whether its task waits for it. If not, because it was moved since or has other checks, the check is over."""
    task = call.tx.tasks.find(check.task_id)
    if task is not None and task.in_progress and task.check_id == check.id:
        return True
    call.tx.launches.save_check(check, replace(check, finished_at=call.now))
    if task is not None and task.check_id == check.id and task.checks is Checks.RUNNING:
        call.tx.tasks.save(task, replace(task, checks=Checks.NONE))
    return False


def _lost(call: Call, check: Check) -> bool:
    """Whether nobody has it, or says so, for as long as a Coordinator may be silent."""
    return is_gone(check.taken_at or check.created_at, call.now)


def _still_runs(check: Check, asked: ClaimStarts) -> bool:
    """Whether this Coordinator has it, and says so: however long it takes, nobody else is given it."""
    mine = check.taken_at is not None and check.coordinator_id == asked.coordinator_id
    return mine and asked.checking is not None and check.id in asked.checking


def _renew(call: Call, check: Check) -> None:
    if call.now - (check.taken_at or 0) >= RENEWED_AFTER:
        call.tx.launches.save_check(check, replace(check, taken_at=call.now))


def _hand_out_check(call: Call, asked: ClaimStarts, launch: Launch, check: Check) -> CheckOrder:
    kept_artifacts.forget_interrupted(call, check)
    taken = replace(check, taken_at=call.now, coordinator_id=asked.coordinator_id)
    call.tx.launches.save_check(check, taken)
    return _shown_check(call, check, launch)


def _answer_lost(check: Check, asked: ClaimStarts) -> bool:
    """It was handed to this Coordinator, which does not know of it: the answer was lost."""
    mine = check.coordinator_id == asked.coordinator_id
    return mine and asked.checking is not None and check.id not in asked.checking


def _shown_check(call: Call, check: Check, launch: Launch) -> CheckOrder:
    project, agent = call.tx.projects.find(check.project_id), call.tx.agents.find(launch.agent_id)
    assert project is not None and agent is not None
    task = call.tx.tasks.find(check.task_id)
    assert task is not None
    tree_state = call.tree_state(task)
    checks = due_checks.run_by_program(call, tree_state, task)
    worktree = worktree_locks.in_use(call, launch.task_id or check.task_id)
    return {
        "check_id": check.id,
        "launch_id": check.launch_id,
        "agent_id": launch.agent_id,
        "project_id": check.project_id,
        "working_directory": agent.directory or project.working_directory,
        "worktree": worktree.directory if worktree is not None else None,
        "worktree_task_id": worktree.task_id if worktree is not None else None,
        "worktree_path": worktree.path if worktree is not None else None,
        "ai_type": launch.provider,
        "provider_options": agent.started_with(launch.provider),
        "network": rendering.asked_network(project),
        "setup": project.settings.tree_setup if worktree is not None else None,
        "checks": [{**each} for each in checks],
        "required": due_checks.required_among(tree_state, task, checks),
    }

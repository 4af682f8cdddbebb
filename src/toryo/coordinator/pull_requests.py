"""Jobs of pull requests: pushes the work of a task, finds or opens its pull request, and looks later whether that was
merged.

A job may be ended at any time and given again: what was pushed is pushed, and a pull request that is there is used.
Nothing of the work is removed here before the service says that it was merged, and nothing that came after it.
`worktrees/remotes.py` has the git, `pull_request_programs.py` the programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from toryo.check_names import some
from toryo.coordinator import diff_limits, pull_request_programs, task_worktrees, worktrees
from toryo.coordinator.orders import WorktreeJob
from toryo.coordinator.pull_request_programs import Program, PullRequest
from toryo.coordinator.task_worktrees import trouble_answer, worktree_of
from toryo.coordinator.worktrees import Trouble, Worktree, commits_and_diffs, remotes
from toryo.coordinator.worktrees.paths import contains, tip
from toryo.coordinator.worktrees.repository import Checkout, open_checkout

Mask = Callable[[str], str]


def run(job: WorktreeJob, directory: Path, mask: Mask) -> dict[str, Any]:
    """Runs the job; returns the answer for `report_worktree_job`. Never raises."""
    try:
        look = job.options.get("look")
        return _looked(job, look, directory) if isinstance(look, Mapping) else _opened(job, directory, mask)
    except (Trouble, OSError) as trouble:
        return trouble_answer(job.task_id, str(trouble))


def _opened(job: WorktreeJob, directory: Path, mask: Mask) -> dict[str, Any]:
    works = _works(job, directory)
    own = works.get(job.task_id)
    if own is None:
        return trouble_answer(
            job.task_id, task_worktrees.gone_sentence(job.task_id), **task_worktrees.known_gone(job, job.task_id)
        )
    for each in works.values():
        kept = worktrees.keep(each, f"Work on {each.name}", job.asked_by)
        if kept.trouble:
            raise Trouble(kept.trouble)
    into = _base(job, own)
    parts = [each.branch for each in works.values() if each != own]
    left = [words for each in worktrees.bring(own, parts) if (words := each.words(own))] if parts else []
    if left:
        raise Trouble(" ".join(left))
    checkout = open_checkout(own.repository)
    last = tip(checkout.git, own.branch)  # read once: what is pushed is what was searched
    _refuse_secrets(job, own, last)
    remote = remotes.remote_of(checkout, into)
    remotes.refuse_other(remote, directory / job.project_id)
    program = pull_request_programs.program_for(remote.host)
    there = (remote.host, remote.path, own.branch)
    other = not job.options.get("into")
    found = _usable(
        program.find(*there), remote.branch, lambda head: last is not None and _has(checkout, head, last), other=other
    )
    if found is None or found.state == "open":
        remotes.push(checkout, remote, own.branch, last)
    if found is None:
        title, text = mask(str(job.options.get("title") or job.task_id)), mask(str(job.options.get("body") or ""))
        try:
            found = program.create(*there, remote.branch, title, text)
        except Trouble:  # somebody else may have opened it meanwhile
            found = _usable(program.find(*there), remote.branch, lambda _: False, other=other)
            if found is None:
                raise
    told = _report(program, remote, own, found)
    return _after_merge(job, directory, told) if found.state == "merged" else {"done": True, "pull_request": told}


def _refuse_secrets(job: WorktreeJob, own: Worktree, commit: str | None) -> None:
    """A pull request shows every commit, whatever was checked before the last one. Raises Trouble."""
    if not job.options.get("forbid_secrets") or commit is None:
        return
    history, truncated = commits_and_diffs.history_of(own, commit, task_worktrees.LARGEST_SEARCHED)
    if told := diff_limits.in_history(history, truncated=truncated):
        raise Trouble(told)


def _usable(found: list[PullRequest], base: str, has_all: Callable[[str], bool], *, other: bool) -> PullRequest | None:
    """The open one; else one that has merged all of this work. `other`: without one into this branch also one into
    another branch, where somebody may have changed that at the service."""
    found = sorted((each for each in found if other or each.base == base), key=lambda each: each.base != base)
    merged = (each for each in found if each.state == "merged" and has_all(each.head))
    return next((each for each in found if each.state == "open"), None) or next(merged, None)


def _report(program: Program, remote: remotes.Remote, own: Worktree, found: PullRequest) -> dict[str, Any]:
    return {
        "program": program.name,
        "host": remote.host,
        "repository": remote.path,
        "branch": own.branch,
        **_state(found),
    }


def _state(found: PullRequest) -> dict[str, Any]:
    return {
        "number": found.number,
        "url": found.url,
        "state": found.state,
        "head": found.head,
        "base": found.base,
        "merged_commit": found.merged_commit,
    }


def _looked(job: WorktreeJob, look: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """Asks the repository in which it was opened, whatever the configuration says by now."""
    program = pull_request_programs.program_named(str(look["program"]))
    found = program.view(str(look["host"]), str(look["repository"]), int(look["number"]))
    told = {**look, **_state(found)}
    if found.state == "merged":
        return _after_merge(job, directory, told)
    if found.state == "open":
        return {"done": True, "pull_request": told}
    words = (
        f"The pull request {found.url} was closed without being merged. The work is still on {look['branch']}. Open it "
        f"again (toryo task merge {job.task_id}), request changes, or discard the work."
    )
    return trouble_answer(job.task_id, words, pull_request=told)


# --- after it was merged ----------------------------------------------------------------------------------------------


def _after_merge(job: WorktreeJob, directory: Path, told: dict[str, Any]) -> dict[str, Any]:
    """Brings the base branch here up to date, and removes what was merged. As long as the base branch cannot be brought
    there, the work itself stays: later tasks would start without it, and nobody would know."""
    works = _works(job, directory)
    own = works.get(job.task_id)
    newest, note, behind = None, "", ""
    if own is not None:
        newest, note, behind = _caught_up(job, own, told, directory / job.project_id)
    into = str(told["base"])
    commit = str(told["merged_commit"] or newest or told["head"])
    merged: list[dict[str, str]] = []
    left: dict[str, str] = {}
    for task_id in _tasks(job):
        try:
            if task_id == job.task_id and behind:
                raise Trouble(behind)
            if task_id in works:
                _remove(works[task_id], [str(told["head"]), *filter(None, [newest])])
            merged.append({"task_id": task_id, "commit": commit, "into": into})
        except Trouble as trouble:
            left[task_id] = str(trouble)
    answer: dict[str, Any] = {"merged": merged, "pull_request": told, "answer": {"message": note}}
    return trouble_answer(next(reversed(left)), " ".join(left.values()), **answer) if left else {"done": True, **answer}


def _caught_up(
    job: WorktreeJob, own: Worktree, told: Mapping[str, Any], directory: Path
) -> tuple[str | None, str, str]:
    """The newest commit of the base branch; a note; and what prevents the base branch here from having what was merged,
    with the next step."""
    newest, into, checkout = None, _base(job, own), open_checkout(own.repository)
    try:
        remote = remotes.remote_of(checkout, into)
        if (remote.host, remote.path) != (told["host"], told["repository"]):
            raise Trouble("its remote is another one by now.")
        if not _known(checkout, str(told["head"])):  # somebody has added commits there
            program = pull_request_programs.program_named(str(told["program"]))
            remotes.fetch_objects(checkout, remote, program.ref(int(told["number"])))
        if remote.branch != told["base"]:
            return None, f"{into} was not updated: the pull request was merged into {told['base']}.", ""
        newest = remotes.fetch(checkout, remote)
        remotes.forward(checkout, into, newest, directory)
    except Trouble as trouble:
        here = tip(checkout.git, into)
        if here is not None and _has(checkout, here, str(told["merged_commit"] or told["head"])):
            return newest, "", ""
        behind = (
            f"The pull request {told['url']} was merged, but {into} was not updated, so other tasks start without that "
            f"work: {trouble} Update it by hand (git pull, in {checkout.top}), then: toryo task merge {job.task_id}"
        )
        return newest, "", behind
    return newest, "", ""


def _remove(worktree: Worktree, merged: list[str]) -> None:
    """Removes directory and branch, if all of it was merged. Raises Trouble otherwise."""
    checkout = open_checkout(worktree.repository)
    last = tip(checkout.git, worktree.branch)
    words = worktrees.unkept(worktree)
    if not words and (others := commits_and_diffs.others(worktree)):
        words = f"These files cannot be saved and exist nowhere else: {some(others)}. Move away what you need."
    if not words and last is not None and not any(_has(checkout, each, last) for each in merged):
        words = (
            f"{worktree.branch} has commits that were not in its pull request when that was merged: they came later, "
            "or somebody has rewritten the branch there."
        )
    if words:
        raise Trouble(f"{worktree.path} was not removed. {words} Merge the rest again, or discard it.")
    worktrees.discard(worktree)


def _has(checkout: Checkout, whole: str, part: str) -> bool:
    return whole == part or (_known(checkout, part) and contains(checkout.git, whole, part))


def _known(checkout: Checkout, commit: str) -> bool:
    return checkout.git.holds("cat-file", "-e", f"{commit}^{{commit}}")


# --- what is in a job -------------------------------------------------------------------------------------------------


def _order(job: WorktreeJob) -> list[Mapping[str, Any]]:
    """Without tasks that were started again from the base since: what is in their worktrees now is other work."""
    restarted = job.options.get("restarted") or ()
    return [each for each in job.options.get("order") or () if each["task_id"] not in restarted]


def _tasks(job: WorktreeJob) -> list[str]:
    return [str(each["task_id"]) for each in _order(job)]


def _works(job: WorktreeJob, directory: Path) -> dict[str, Worktree]:
    """What is left of the worktrees of the tasks, by task."""
    found = {
        str(each["task_id"]): worktree_of(job, str(each["task_id"]), str(each["path"]), directory)
        for each in _order(job)
    }
    return {task_id: worktree for task_id, worktree in found.items() if worktree is not None}


def _base(job: WorktreeJob, own: Worktree) -> str:
    into = job.options.get("into") or own.base_branch
    if into is None:
        raise Trouble(
            f"{own.branch} was not started from a branch (detached HEAD). Choose the branch to merge into: toryo task "
            f"merge {job.task_id} --into BRANCH"
        )
    return str(into)

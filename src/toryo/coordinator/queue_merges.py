"""Jobs of the merge queue: merges a batch onto the newest commit of its target, runs the required checks on the result,
and moves the target only if all of them passed and it has not moved meanwhile.

Until that moment nothing is changed that anybody uses: the result is checked out in a directory of its own, which is
removed in any case. A job may be ended at any time and given again: what the target already contains is merged, and is
not merged a second time. `worktrees/combining.py` has the git, `acceptance_checks.py` the checks.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from toryo.check_names import name_of
from toryo.coordinator import acceptance_checks, task_worktrees, tree_setup, worktrees
from toryo.coordinator.acceptance_checks import Evidence, Wall
from toryo.coordinator.orders import WorktreeJob
from toryo.coordinator.tree_setup import Setup, SetupFailed
from toryo.coordinator.whole_threads import to_its_end
from toryo.coordinator.worktrees import Grown, Trouble, Worktree, combining
from toryo.coordinator.worktrees.combining import Combined, Entry, Work
from toryo.coordinator.worktrees.paths import tip
from toryo.coordinator.worktrees.repository import Checkout, one_act, open_checkout
from toryo.output_redaction import Mask

ATTEMPTS = 3
"""How often a batch is merged and checked again because the target has moved."""
MOST_EVIDENCE = 1_000

Walled = Callable[..., Wall]
"""How commands are executed in a directory; `writes`: those that set it up."""


@dataclass
class Found:
    """What there is of a batch: entries whose work can be merged, and what is known of the others."""

    target: str
    entries: list[Entry] = field(default_factory=list)
    places: dict[str, Worktree] = field(default_factory=dict)
    """The worktrees of the works, by name."""
    tasks: dict[str, str] = field(default_factory=dict)
    """The task of each work, by name."""
    merged: dict[str, str] = field(default_factory=dict)
    """What is on the target, by task, and with which commit."""
    kept: dict[str, str] = field(default_factory=dict)
    """Why a worktree whose work is on the target was not removed, by task."""
    gone: list[str] = field(default_factory=list)
    unfit: dict[str, str] = field(default_factory=dict)
    """Why an entry cannot be merged, by its id."""


async def run(job: WorktreeJob, directory: Path, stop: asyncio.Event, walled: Walled, mask: Mask) -> dict[str, Any]:
    """Runs the job; returns the answer for `report_worktree_job`. Ends early, and changes nothing, after `stop`."""
    try:
        for _ in range(ATTEMPTS):
            answer = await _attempt(job, directory, stop, walled, mask)
            if answer is not None:
                return answer
    except (Trouble, OSError) as trouble:
        return trouble_answer(str(trouble)) | task_worktrees.moved_base_of(trouble)
    into = job.options.get("into")
    return trouble_answer(f"The branch {into} changed {ATTEMPTS} times while the checks ran. The queue tries again.")


async def _attempt(
    job: WorktreeJob, directory: Path, stop: asyncio.Event, walled: Walled, mask: Mask
) -> dict[str, Any] | None:
    """None if the target has moved."""
    target = str(job.options["into"])
    found, checkout, combined = await asyncio.to_thread(_combined, job, directory, target)
    told = partial(_answer, found, combined)
    if combined.commit == combined.base or stop.is_set():  # it may be given only to tell what an earlier attempt merged
        await asyncio.to_thread(_clear_up, found)
        return told("nothing" if not stop.is_set() else "prevented")
    since = min((each.made_at for each in found.places.values() if each.own), default=None)
    await asyncio.to_thread(combining.refuse_target, checkout, target, combined, since)
    path = combining.place(directory, job.project_id, target)
    try:
        result, evidence, trouble = await _judged(job, checkout, combined, path, stop, walled, mask)
        if result != "passed":
            return told(result, evidence, trouble=trouble)
    finally:
        with contextlib.suppress(Trouble, OSError):
            await asyncio.to_thread(combining.put_away, checkout, path)
    if stop.is_set():
        return told("prevented", evidence)
    try:
        landed = await asyncio.to_thread(combining.land, checkout, target, combined, directory / job.project_id)
    except Trouble as trouble:  # told with the evidence: what was checked is not checked again every minute
        return told("prevented", evidence, trouble=task_worktrees.short(str(trouble)))
    if not landed:
        return None
    for span in combined.spans:
        found.merged |= {found.tasks[name]: commit for name, commit in span.commits.items()}
    await asyncio.to_thread(_clear_up, found)
    return told("merged", evidence)


async def _judged(
    job: WorktreeJob,
    checkout: Checkout,
    combined: Combined,
    path: Path,
    stop: asyncio.Event,
    walled: Walled,
    mask: Mask,
) -> tuple[str, list[Evidence] | None, str | None]:
    """`passed`, or what is told of it; the evidence; what prevents the merge, if that is nobody's fault."""
    working = await asyncio.to_thread(combining.check_out, checkout, path, combined.commit)
    unready = await _unless(stop, _unready(job, checkout, working, walled, mask))
    evidence: list[Evidence] | None = acceptance_checks.all_failed(job.options.get("checks") or (), unready or "")
    if not unready:
        evidence = await _unless(stop, _checked(job, checkout, combined, path, working, walled, mask))
    if evidence is None or stop.is_set():
        return "prevented", None, None
    failed = [each for each in evidence if each.failed]
    if not failed:
        return "passed", evidence, None
    broken = len(combined.new) == 1 and await _unless(
        stop, _broken(job, checkout, combined, path, () if unready else failed, walled, mask)
    )
    if stop.is_set():
        return "prevented", None, None
    if not broken:
        return "failed", evidence, None
    target = job.options["into"]
    words = (
        f"The required checks fail on {target} itself (commit {combined.base[:10]}): "
        f"{', '.join(each.check for each in failed)[:500]}. Nothing is merged until they pass there. "
        "Fix the branch, or put the work that fixes it first in the queue."
    )
    if unready:
        first, _, _ = unready.partition("\n")
        words = (
            f"{first[:500]} It does so on {target} itself, too (commit {combined.base[:10]}). Nothing is merged until "
            "it succeeds there. Correct the project's worktree_setup or worktree_copy, or the branch."
        )
    return "target_broken", evidence, words


async def _unless(stop: asyncio.Event, work: Any) -> Any:
    """What the work answers, or None if it was stopped before."""
    doing, stopped = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((doing, stopped), return_when=asyncio.FIRST_COMPLETED)
        return await doing if doing.done() and not stop.is_set() else None
    finally:
        for each in (doing, stopped):
            each.cancel()
        await asyncio.gather(doing, stopped, return_exceptions=True)


# --- what is merged ---------------------------------------------------------------------------------------------------


@one_act()
def _combined(job: WorktreeJob, directory: Path, target: str) -> tuple[Found, Checkout, Combined]:
    found, project = _mergeable(job, directory)
    checkout = open_checkout(project)
    combined = combining.combine(checkout, target, found.entries, job.job_id)
    for span in combined.spans:
        if span.after == span.before:  # the target contains all of it, perhaps since an earlier attempt
            since = {name: _with(checkout, found, name, target) or commit for name, commit in span.commits.items()}
            found.merged |= {found.tasks[name]: commit for name, commit in since.items()}
    return found, checkout, combined


def _with(checkout: Checkout, found: Found, name: str, target: str) -> str | None:
    """The merge with which a work came to the target, if it was one of ours."""
    earlier = worktrees.merged_before(checkout.top, name, target, found.places[name].base_commit)
    return earlier.commit if earlier is not None else None


def _mergeable(job: WorktreeJob, directory: Path) -> tuple[Found, Path]:
    """What can be merged, and the project's directory in the repository that it is in. Commits what is left uncommitted
    in worktrees."""
    found, project = Found(str(job.options["into"])), Path(job.working_directory).expanduser()
    repository, first = project, True
    for each in job.options.get("entries") or ():
        works: list[Work] = []
        entry_id = str(each["entry_id"])
        items = [(item, covers) for covers in (False, True) for item in each["covered" if covers else "order"]]
        for item, covers in items:
            try:
                worktree = task_worktrees.worktree_of(job, str(item["task_id"]), str(item["path"]), directory)
                if worktree is not None and first:
                    repository, first = worktree.repository, False
                    project = repository / worktree.subdirectory
                work = _work(job, item, worktree, found, repository, covers=covers)
            except Trouble as trouble:
                if not covers:
                    found.unfit[entry_id] = str(trouble)
                continue
            if work is not None:
                works.append(work)
        if works and entry_id not in found.unfit and not all(work.covers for work in works):
            author = worktrees.person(str(each.get("by") or "toryo"), str(each.get("name") or ""), str(each["email"]))
            found.entries.append(Entry(entry_id, tuple(works), author))
    return found, project


def _work(
    job: WorktreeJob,
    item: Mapping[str, Any],
    worktree: Worktree | None,
    found: Found,
    repository: Path,
    *,
    covers: bool,
) -> Work | None:
    """None if it is gone, or merged already. Raises Trouble."""
    task_id = str(item["task_id"])
    if worktree is None:
        earlier = task_worktrees.merged_before(job, item)
        if earlier is not None:
            found.merged[task_id] = earlier.commit
        elif Path(job.working_directory).expanduser().is_dir():
            found.gone.append(task_id)
        else:
            raise Trouble(f"{job.working_directory} is missing. Is a disk not mounted?")
        return None
    if worktree.repository != repository:
        raise Trouble(f"{worktree.path} belongs to another repository: {worktree.repository}.")
    into = str(job.options["into"])
    if worktree.branch == into:
        raise Trouble(f"{into} cannot be merged into itself. Choose another branch.")
    there, words = worktree.path.is_dir(), f"Work on {worktree.name}"
    left = not covers and (worktrees.commit(worktree, words, "Toryo") if there else worktrees.unkept(worktree))
    if left:
        raise Trouble(left)
    commit = tip(open_checkout(repository).git, worktree.branch)
    if commit is None:
        raise Trouble(
            f"The branch {worktree.branch} was deleted. Restore it (git branch {worktree.branch} COMMIT, in "
            f"{repository}), or discard the work: toryo task discard {task_id}"
        )
    found.places[worktree.name], found.tasks[worktree.name] = worktree, task_id
    title = "".join(each if each.isprintable() else " " for each in str(item.get("title") or task_id))
    return Work(worktree.name, worktree.branch, commit, title, covers=covers)


@one_act()
def _clear_up(found: Found) -> None:
    """Removes the worktrees of what is merged. What cannot be removed stays where it is. Work that has grown since it
    was read is not done: it stays as it is, and a person decides about the rest."""
    merged = [
        (entry, work) for entry in found.entries for work in entry.works if found.tasks[work.name] in found.merged
    ]
    for entry, work in merged:
        worktree = found.places[work.name]
        try:
            worktrees.remove(worktree, merged=work.commit)
        except Grown:
            found.merged.pop(found.tasks[work.name], None)
            found.unfit[entry.id] = (
                f"{work.branch} was changed while it was checked. {found.target} has it up to commit "
                f"{work.commit[:10]}. Review what came after that, then add it to the merge queue again."
            )
        except (Trouble, OSError) as trouble:
            found.kept[found.tasks[work.name]] = task_worktrees.short(str(trouble))


# --- the checks -------------------------------------------------------------------------------------------------------


async def _checked(
    job: WorktreeJob, checkout: Checkout, combined: Combined, path: Path, working: Path, walled: Walled, mask: Mask
) -> list[Evidence]:
    """Files and commands on the result; limits on changes for each entry, because they limit the work of one task."""
    checks = tuple(job.options.get("checks") or ())
    whole = tuple(check for check in checks if "diff" not in check)
    limits = tuple(check for check in checks if "diff" in check)
    wall = walled(working)

    async def renew() -> None:
        await to_its_end(combining.check_out, checkout, path, combined.commit)
        if unready := await _unready(job, checkout, working, walled, mask):
            raise Trouble(unready)

    found = await acceptance_checks.evidence(whole, working, wall, _no_changes, mask, renew=renew)
    for span in combined.new if limits else ():
        changes = partial(combining.diff_of, checkout, span, task_worktrees.LARGEST_SEARCHED)
        found += await acceptance_checks.evidence(limits, working, wall, changes, mask)
    return found


def _no_changes() -> worktrees.Diff:
    raise Trouble("The changes of the whole are not limited.")


async def _unready(job: WorktreeJob, checkout: Checkout, working: Path, walled: Walled, mask: Mask) -> str:
    """Why the directory cannot be set up for commands; empty if it is."""
    setup = Setup.read(job.options.get("setup"))
    if setup and any("command" in check for check in job.options.get("checks") or ()):
        try:
            await tree_setup.run(
                setup, checkout.top / checkout.subdirectory, working, walled(working, setup=True), mask
            )
        except SetupFailed as failure:
            return str(failure)
    return ""


async def _broken(
    job: WorktreeJob,
    checkout: Checkout,
    combined: Combined,
    path: Path,
    failed: Sequence[Evidence],
    walled: Walled,
    mask: Mask,
) -> bool:
    """Whether all that failed are commands that fail on the target alone, too: then the work is not to blame. None has
    failed: the set-up did."""
    commands = [check for check in job.options.get("checks") or () if "command" in check]
    names = {each.check for each in failed}
    again = tuple(check for check in commands if name_of(check) in names)
    if len(again) < len(failed):
        return False
    working = await to_its_end(combining.check_out, checkout, path, combined.base)
    unready = await _unready(job, checkout, working, walled, mask)
    if unready or not failed:
        return bool(unready)
    found = await acceptance_checks.evidence(again, working, walled(working), _no_changes, mask)
    return all(each.failed for each in found)


async def try_commands(job: WorktreeJob, directory: Path, walled: Walled, mask: Mask) -> list[Evidence]:
    """The commands of a job on the commit that it names, in a directory of their own. Raises StartFailure, Trouble or
    OSError."""
    checkout = await asyncio.to_thread(_repository, job)
    checks, commit = tuple(job.options.get("checks") or ()), str(job.options["tried"]["base"])
    path = combining.place(directory, job.project_id, job.kind)

    async def made_ready() -> tuple[Path, str]:
        working = await to_its_end(combining.check_out, checkout, path, commit)
        return working, await _unready(job, checkout, working, walled, mask)

    async def renew() -> None:
        _, unready = await made_ready()
        if unready:
            raise Trouble(unready)

    try:
        working, unready = await made_ready()
        if unready:
            return acceptance_checks.all_failed(checks, unready)
        return await acceptance_checks.evidence(checks, working, walled(working), _no_changes, mask, renew=renew)
    finally:
        with contextlib.suppress(Trouble, OSError):
            await to_its_end(combining.put_away, checkout, path)


def _repository(job: WorktreeJob) -> Checkout:
    return open_checkout(Path(job.working_directory).expanduser())


# --- the answer -------------------------------------------------------------------------------------------------------


def _answer(
    found: Found, combined: Combined, result: str, evidence: list[Evidence] | None = None, *, trouble: str | None = None
) -> dict[str, Any]:
    clashes = [
        {
            "entry_id": entry_id,
            "task_id": found.tasks.get(clash.work),
            "within": clash.within,
            "files": list(clash.files)[: task_worktrees.MOST_FILES],
            "others": [
                {"commit": other.commit, "subject": other.subject[:500], "task_id": other.name}
                for other in clash.others
            ],
        }
        for entry_id, clash in combined.clashes.items()
    ]
    return {
        "done": result in ("merged", "nothing"),
        "merged": [
            {
                "task_id": task_id,
                "commit": commit,
                "into": found.target,
                **({"kept": found.kept[task_id]} if task_id in found.kept else {}),
            }
            for task_id, commit in found.merged.items()
        ],
        "gone": found.gone,
        "trouble": trouble,
        "queue": {
            "result": result,
            "base": combined.base,
            "conflicts": clashes,
            "left_out": list(combined.left_out),
            "unfit": [
                {"entry_id": entry_id, "trouble": task_worktrees.short(words)}
                for entry_id, words in {**found.unfit, **combined.unfit}.items()
            ],
            "evidence": [each.told() for each in evidence or ()][:MOST_EVIDENCE],
        },
    }


def trouble_answer(trouble: str) -> dict[str, Any]:
    """The answer where something that is nobody's fault prevents the merge."""
    return {
        "done": False,
        "trouble": task_worktrees.short(trouble),
        "queue": {"result": "prevented", "conflicts": [], "left_out": [], "unfit": [], "evidence": []},
    }

"""Worktrees as a Coordinator uses them: one per task if the project says so, committed when a process ends; and
worktree jobs.

`worktrees` handles git; this module maps tasks to directories and builds the reports to the server. All functions
block: `loop.py` calls them in threads.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from toryo.check_names import some
from toryo.coordinator import worktrees
from toryo.coordinator.orders import CheckOrder, Launch, WorktreeJob
from toryo.coordinator.provider import BadConfig, BadWorktree
from toryo.coordinator.tree_setup import Setup
from toryo.coordinator.worktrees import (
    BaseTrouble,
    Conflict,
    Merged,
    MovedBase,
    Nothing,
    Trouble,
    Worktree,
    clean_checkouts,
)
from toryo.coordinator.worktrees.paths import tip
from toryo.coordinator.worktrees.repository import one_act, open_checkout
from toryo.formats.yaml_documents import Mistake, Mistakes

Isolation = Literal["none", "worktree"]
LARGEST_ANSWER = 1_500_000
"""Bytes of JSON: a server accepts requests of 2 MB by default."""
LARGEST_PATCH = 1_000_000
"""Characters."""
LARGEST_SEARCHED = 20_000_000
"""Characters of a patch that is searched for secrets."""
MOST_FILES = 2_000
MOST_TOUCHED = 500
"""Changed paths that are reported of one worktree."""
LONGEST_PATH = 4_096
LONGEST_TROUBLE = 5_000


@dataclass(frozen=True, slots=True)
class Place:
    """What a launch needs of its worktree: its name, those it starts from, and those whose work it must see. `merges`:
    branches that its task is to merge: what conflicts is begun there."""

    name: str
    bases: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()
    merges: tuple[str, ...] = ()


def place_of(launch: Launch, own: Isolation | None) -> Place | None:
    """None if the launch works in the project's own directory, also if this Coordinator's file says `none`.

    Raises BadConfig for an unknown kind of isolation.
    """
    wanted: Mapping[str, Any] = launch.workspace if isinstance(launch.workspace, Mapping) else {}
    kind = wanted.get("isolation") or "none"
    if "none" in (kind, own) or launch.purpose != "task":
        return None
    if kind != "worktree":
        raise BadConfig(
            f"Project {launch.project_id} has isolation: {kind}, which this Coordinator does not know. Set it to "
            "none or worktree, or update the Coordinator."
        )
    if not wanted.get("name"):
        raise BadConfig(
            "The server named no task for the worktree (isolation: worktree). Update the server or the "
            "Coordinator, whichever is older."
        )
    bases, brings, merges = (tuple(wanted.get(each) or ()) for each in ("bases", "brings", "merges"))
    return Place(str(wanted["name"]), bases, brings, merges)


@one_act()
def make(place: Place, project_id: str, repository: Path, directory: Path) -> Worktree:
    """The launch's worktree; an existing one is unchanged. Raises BadConfig with the problem and the next step."""
    bases = [worktrees.branch_of(base) for base in place.bases]
    try:
        left = [_keep_what_was_left(repository, directory / project_id, base) for base in place.bases + place.brings]
        brings = [worktrees.branch_of(each) for each in place.brings]
        found = worktrees.make(repository, directory / project_id, place.name, bases, [*brings, *place.merges])
        clean_checkouts.forget(found)
        brought = worktrees.bring(found, brings) if brings else ()
        begun = worktrees.begin(found, place.merges) if place.merges else ()
    except Trouble as trouble:
        raise BadWorktree(f"No worktree could be created for the task (isolation: worktree). {trouble}") from trouble
    words = (each.words(found) for each in (*brought, *begun))
    return replace(found, notes=(*found.notes, *filter(None, [*left, *words])), brought=brought)


def _keep_what_was_left(repository: Path, directory: Path, name: str) -> str:
    """Commits work that other tasks build on to its branch, if its Coordinator died before it could. Otherwise a
    note."""
    found = worktrees.find(repository, directory, name)
    if found is None or not found.path.is_dir():
        return ""
    try:
        return worktrees.commit(found, f"Work on {name}", "toryo") if worktrees.unkept(found) else ""
    except Trouble as trouble:
        return str(trouble)


def merged_text(worktree: Worktree, name: str) -> str:
    """A file of the project on the branch that the work will be merged into. Raises Mistakes."""
    try:
        return worktrees.merged_text(worktree, name)
    except Trouble as trouble:
        raise Mistakes(name, [Mistake(str(trouble))]) from trouble


def first_report(worktree: Worktree) -> dict[str, Any]:
    """The report for `report_worktree` before any work in it."""
    return {
        **({"subtasks": _brought(worktree.brought)} if worktree.brought else {}),
        "path": str(worktree.path),
        "directory": str(worktree.working_directory),
        "branch": worktree.branch,
        "base_branch": worktree.base_branch,
        "base_commit": worktree.base_commit,
    }


def _brought(found: Iterable[worktrees.Brought]) -> list[dict[str, Any]]:
    """What became of the work of subtasks. Their ids are names of worktrees as they are."""
    name = operator.methodcaller("removeprefix", worktrees.PREFIX)
    return [
        {
            "task_id": name(each.branch),
            "commit": each.commit,
            "files": list(each.files[:MOST_FILES]),
            "others": list(map(name, each.others)),
            "trouble": short(each.trouble) or None,
        }
        for each in found
    ]


def is_watched(launch: Launch) -> bool:
    """Whether the server compares what tasks change while they run."""
    return isinstance(launch.workspace, Mapping) and bool(launch.workspace.get("watched"))


@one_act()
def touched_paths(worktree: Worktree) -> list[str] | None:
    """The paths that are changed in it; None where that cannot be said now."""
    try:
        return [path for path in worktrees.touched(worktree, MOST_TOUCHED) if len(path) <= LONGEST_PATH]
    except (Trouble, OSError):
        return None


CHANGED_LATE = (
    "The agent changed files after the checks had passed, so what is on the branch now has not been checked. Before "
    "you merge it, look at the changes, or send the task back to be checked again."
)


def _refuse_unchecked(worktree: Worktree, task_id: str, commit: str | None) -> None:
    """Raises Unchecked if what would be merged is not what has passed."""
    changed = clean_checkouts.changed_since(worktree, commit)
    if changed is not None:
        raise Unchecked(
            f"{worktree.branch} has changed since its checks passed ({some(changed) or 'its files are others now'}). "
            "Nothing was merged. Send the task back to be checked again, put it into the merge queue, which checks it, "
            f"or merge it as it is: toryo task merge {task_id} --anyway"
        )


class Unchecked(Trouble):
    """What would be merged has not passed its checks."""


@one_act()
def keep(worktree: Worktree, launch: Launch) -> dict[str, Any]:
    """Commits what a process left and returns the state; what prevents the commit is reported, too."""
    message = f"Work of {launch.agent_id} ({launch.launch_id})"
    try:
        found = worktrees.keep(worktree, message, launch.agent_id)
        late = CHANGED_LATE if clean_checkouts.changed_since(worktree) is not None else ""
    except (Trouble, OSError) as trouble:
        return {**first_report(worktree), "trouble": short(str(trouble))}
    figures = ("head_commit", "commits", "files_changed", "insertions", "deletions")
    left_out = f"Not saved (other repositories, or too large): {', '.join(found.left_out)}" if found.left_out else ""
    prevented = short(" ".join(filter(None, [found.trouble, late, left_out])))
    paths = {"touched": touched_paths(worktree)} if is_watched(launch) else {}
    known = {name: getattr(found, name) for name in figures}
    return {**first_report(worktree), **known, "trouble": prevented or None, **_moved(found.moved_base), **paths}


def _moved(found: MovedBase | None) -> dict[str, Any]:
    """What is reported of a base that nobody has moved; nothing if there is none."""
    return {} if found is None else {"moved_base": {"commit": found.commit, "words": short(found.words)}}


def short(words: str) -> str:
    return words if len(words) <= LONGEST_TROUBLE else f"{words[:LONGEST_TROUBLE]} …"


@one_act()
def run(job: WorktreeJob, directory: Path) -> dict[str, Any]:
    """Runs a worktree job; returns the answer for `report_worktree_job`. Never raises."""
    kinds = {
        "diff": _diff,
        "merge": _merge,
        "discard": _discard,
        "clean": _clean,
        "merge_subtasks": _merge_subtasks,
    }
    if job.kind not in kinds:
        return trouble_answer(job.task_id, f"This Coordinator does not know the worktree job {job.kind}. Update it.")
    try:
        return kinds[job.kind](job, directory)
    except (Trouble, OSError) as trouble:
        return trouble_answer(job.task_id, str(trouble), **moved_base_of(trouble))


def trouble_answer(task_id: str, words: str, **more: Any) -> dict[str, Any]:
    return {"done": False, "trouble": short(words), "task_id": task_id, **more}


def moved_base_of(trouble: Exception) -> dict[str, Any]:
    return _moved(trouble.found) if isinstance(trouble, BaseTrouble) else {}


def _may_go_on(trouble: Exception) -> dict[str, Any]:
    """Whether a person may merge anyway."""
    return {"answer": {"anyway": True}} if isinstance(trouble, (BaseTrouble, Unchecked)) else {}


def _diff(job: WorktreeJob, directory: Path) -> dict[str, Any]:
    """The changes in a worktree; of one that was merged and removed, those that came with the merge."""
    asked = job.options.get("context")
    context = asked if isinstance(asked, int) else 3
    merge = job.options.get("merged")
    if isinstance(merge, Mapping):
        return _bounded(job, lambda limit: _merged_diff(job, merge, directory, context, limit))
    worktree = worktree_of(job, job.task_id, job.path, directory)
    answer = _bounded(job, lambda limit: None if worktree is None else worktrees.diff(worktree, context, limit))
    return answer if worktree is None else {**answer, **_moved(worktrees.moved_base(worktree))}


def _merged_diff(
    job: WorktreeJob, merge: Mapping[str, Any], directory: Path, context: int, limit: int
) -> worktrees.Diff | None:
    commit, since, head = str(merge["commit"]), str(merge["base"]), merge.get("head")
    for repository in _repositories(job, _place(job, job.task_id, job.path, directory)):
        found = worktrees.merged_diff(
            repository, worktrees.safe(job.task_id), commit, since, str(head) if head else None, context, limit
        )
        if found is not None:
            return found
    raise Trouble(f"The repository no longer has the commit {commit[:10]}, so its changes cannot be shown.")


def _bounded(job: WorktreeJob, diff: Callable[[int], worktrees.Diff | None]) -> dict[str, Any]:
    """The answer, with as much of the patch as was asked for, and as a request has room for."""
    most = job.options.get("most")
    limit = min(most, LARGEST_PATCH) if isinstance(most, int) else LARGEST_PATCH
    while True:
        found = diff(limit)
        if found is None:
            return trouble_answer(job.task_id, gone_sentence(job.task_id))
        answer = asdict(found)
        del answer["history"], answer["history_truncated"]  # for checks only
        answer["files_in_all"] = len(answer["files"])
        answer["files"] = answer["files"][:MOST_FILES]
        if limit < 1_000 or len(json.dumps(answer)) <= LARGEST_ANSWER:
            return {"done": True, "answer": answer}
        limit //= 4


def _merge(job: WorktreeJob, directory: Path) -> dict[str, Any]:
    """Merges one after the other; stops at the first failure, and earlier merges are kept."""
    merged: list[dict[str, str]] = []
    order = list(job.options.get("order") or ())
    late: set[str] = set()
    while order:
        each = order.pop(0)
        task_id = str(each["task_id"])
        worktree = worktree_of(job, task_id, str(each["path"]), directory)
        if worktree is None:
            earlier = merged_before(job, each)
            if earlier is None:
                return trouble_answer(task_id, gone_sentence(task_id), merged=merged, **known_gone(job, task_id))
            merged.append({"task_id": task_id, "commit": earlier.commit, "into": earlier.into})
            continue
        try:
            outcome = _rest_of_a_merge(job, worktree, each) or _merged(job, worktree, each)
            stays = "" if isinstance(outcome, Conflict) else remove(worktree)
        except Trouble as trouble:
            return trouble_answer(task_id, str(trouble), merged=merged, **moved_base_of(trouble), **_may_go_on(trouble))
        if isinstance(outcome, Conflict):
            if task_id not in late and _has_it(job, worktree, order, directory):
                late.add(task_id)
                order.append(each)
                continue
            return trouble_answer(task_id, outcome.message, merged=merged, answer={"conflict": list(outcome.files)})
        merged.append(
            {
                "task_id": task_id,
                "commit": outcome.commit,
                "into": outcome.into,
                **({"kept": short(stays)} if stays else {}),
            }
        )
    return {"done": True, "merged": merged}


def remove(worktree: Worktree) -> str:
    """Removes what was merged. That it cannot be removed is another result, and changes nothing of the merge: why it
    stays; empty if it is gone."""
    try:
        worktrees.remove(worktree)
    except (Trouble, OSError) as trouble:
        return str(trouble)
    return ""


def _has_it(job: WorktreeJob, worktree: Worktree, order: Sequence[Mapping[str, Any]], directory: Path) -> bool:
    """Whether work that is merged later contains this: there its conflicts are resolved."""
    others = (worktree_of(job, str(each["task_id"]), str(each["path"]), directory) for each in order)
    return any(each is not None and worktrees.has_all_of(each, worktree) for each in others)


def _merged(job: WorktreeJob, worktree: Worktree, each: Mapping[str, Any]) -> Merged | Nothing | Conflict:
    """Merges into the branch that the person saw, even if the branch recorded here has changed since."""
    if trouble := worktrees.commit(worktree, f"Work on {worktree.name}", job.asked_by):
        raise Trouble(trouble)
    commit = tip(open_checkout(worktree.repository).git, worktree.branch)
    if not job.options.get("anyway"):
        _refuse_unchecked(worktree, str(each["task_id"]), commit)
    title = str(each.get("title") or each["task_id"])
    subject = "".join(each if each.isprintable() else " " for each in title)  # agents write titles; git reads lines
    words = str(job.options.get("message") or f"{subject} ({worktree.branch})")
    into = job.options.get("into") or each.get("into")
    author = worktrees.person(job.asked_by, job.name, job.email)
    return worktrees.merge(worktree, words, into, author, each.get("accepts"), only=commit)


def _rest_of_a_merge(job: WorktreeJob, worktree: Worktree, each: Mapping[str, Any]) -> Merged | None:
    """If a Coordinator died while it removed a merged worktree, its branch may be left without a directory."""
    return None if worktree.path.is_dir() else merged_before(job, each)


def merged_before(job: WorktreeJob, each: Mapping[str, Any]) -> Merged | None:
    """Even if a Coordinator died between a merge and its report, the merge has happened."""
    repository, into = Path(job.working_directory).expanduser(), job.options.get("into") or each.get("into")
    if not into or not each.get("base") or not repository.is_dir():
        return None
    return worktrees.merged_before(repository, str(each["task_id"]), str(into), str(each["base"]))


def known_gone(job: WorktreeJob, task_id: str) -> dict[str, list[str]]:
    """Whether nothing of it is left; False if the repository itself is missing now (an unmounted disk)."""
    return {"gone": [task_id]} if Path(job.working_directory).expanduser().is_dir() else {}


def _merge_subtasks(job: WorktreeJob, directory: Path) -> dict[str, Any]:
    """Merges the work of subtasks into the worktree of their task, as at its start: what becomes of each is told. And
    what a task has to merge that resolves a conflict: it is not done while something of it is left to resolve."""
    worktree = worktree_of(job, job.task_id, job.path, directory)
    if worktree is None:
        return trouble_answer(job.task_id, gone_sentence(job.task_id), **known_gone(job, job.task_id))
    if trouble := worktrees.commit(worktree, f"Work on {worktree.name}", job.asked_by):
        return trouble_answer(job.task_id, trouble)
    names = [str(each) for each in job.options.get("subtasks") or ()]
    for name in names:
        _keep_what_was_left(worktree.repository / worktree.subdirectory, worktree.path.parent, name)
    brought = worktrees.bring(worktree, list(map(worktrees.branch_of, names)))
    begun = worktrees.begin(worktree, [str(each) for each in job.options.get("merges") or ()])
    left = " ".join(filter(None, (each.words(worktree) for each in begun)))
    if left:
        return trouble_answer(job.task_id, left)
    return {"done": True, "answer": {"subtasks": _brought(brought)}}


def _discard(job: WorktreeJob, directory: Path) -> dict[str, Any]:
    worktree = worktree_of(job, job.task_id, job.path, directory)
    if worktree is None:
        return {"done": True, "gone": [job.task_id], "answer": {"message": "It was already gone."}}
    found = worktrees.discard(worktree, _passing(job))
    said = {"branch": found.branch, "commit": found.commit, "message": found.message}
    return {"done": True, "gone": [job.task_id], "answer": said}


def _clean(job: WorktreeJob, directory: Path) -> dict[str, Any]:
    """Removes only worktrees whose contents all exist elsewhere."""
    worktree = worktree_of(job, job.task_id, job.path, directory)
    if worktree is not None:
        worktrees.remove(worktree, passing=_passing(job))
    return {"done": True, "gone": [job.task_id]}


def _passing(job: WorktreeJob) -> list[str]:
    """The branches of reviews: they begin at the work that they review, and are removed by themselves."""
    return [worktrees.branch_of(str(each)) for each in job.options.get("reviews") or ()]


def worktree_of(job: WorktreeJob, task_id: str, path: str, directory: Path) -> Worktree | None:
    """Searches the repository recorded at its creation, else the project's; never one that only the directory itself
    names. Also found by its branch if the directory is missing.
    """
    place = _place(job, task_id, path, directory)
    for repository in _repositories(job, place):
        found = worktrees.find(repository, place.parent, place.name)
        if found is not None:
            return found
    return None


@dataclass(frozen=True, slots=True)
class CheckedOut:
    """`setup`: what is still to be done there before commands run."""

    worktree: Worktree
    clean: clean_checkouts.Clean
    setup: Setup

    @property
    def project(self) -> Path:
        """The person's directory."""
        return self.worktree.repository / self.worktree.subdirectory


@one_act()
def checked_out(order: CheckOrder, directory: Path) -> CheckedOut | None:
    """The commit that would be merged of the work that is checked, in a directory of its own; None if the task works in
    the project's directory. Raises Trouble or SetupFailed."""
    if not order.worktree:
        return None
    job = WorktreeJob(
        order.check_id,
        task_id=order.worktree_task_id,
        project_id=order.project_id,
        path=order.worktree_path,
        working_directory=order.working_directory,
    )
    worktree = worktree_of(job, job.task_id, job.path, directory)
    if worktree is None:
        raise Trouble(gone_sentence(job.task_id))
    limited = any("diff" in check for check in order.checks)
    runs = any("command" in check for check in order.checks)
    setup = Setup.read(order.setup) if runs else Setup()
    name = setup.name(worktree.repository / worktree.subdirectory) if setup else ""
    clean = clean_checkouts.check_out(worktree, LARGEST_SEARCHED if limited else None, name)
    return CheckedOut(worktree, clean, setup if clean.due else Setup())


def changes(found: CheckedOut | None) -> worktrees.Diff:
    """What is limited. Raises Trouble if there is no worktree."""
    if found is None or found.clean.changes is None:
        raise Trouble("The task has no worktree of its own. Set isolation of the project to worktree.")
    return found.clean.changes


def _place(job: WorktreeJob, task_id: str, path: str, directory: Path) -> Path:
    return Path(path) if path else directory / job.project_id / worktrees.safe(task_id)


def _repositories(job: WorktreeJob, place: Path) -> list[Path]:
    known = (worktrees.noted_repository(place), Path(job.working_directory).expanduser())
    return [each for each in known if each is not None and each.is_dir()]


def gone_sentence(task_id: str) -> str:
    return f"The worktree of task {task_id} is no longer on this machine: its directory and its branch are gone."
